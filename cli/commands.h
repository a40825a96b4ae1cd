/*
 * The commands: those that ask the controller, and those that ask no server. Each returns an exit
 * code (see arguments.h) and prints its own complaint.
 */
#ifndef SLUICE_CLI_COMMANDS_H
#define SLUICE_CLI_COMMANDS_H

#include "base/buf.h"
#include "cli/arguments.h"
#include "cli/table.h"
#include "controller/kube/json.h"

/* These ask the API server, or a controller that --server names; with --watch they repeat themselves. */
int command_queue(const struct arguments *a);
int command_explain(const struct arguments *a);
int command_decisions(const struct arguments *a);
int command_cost(const struct arguments *a);
/* Asks the API server at most. argv[0] is "simulate"; see simulate/options.h. */
int command_simulate(int argc, char **argv);
/* Asks no server. argv[0] is "replay". */
int command_replay(int argc, char **argv);
extern const struct flag_table replay_flags;
/* Asks no server. argv[0] is "calendar"; see calendar/options.h. */
int command_calendar(int argc, char **argv);
/* Asks the API server at most. argv[0] is "overcommit"; see overcommit/options.h. */
int command_overcommit(int argc, char **argv);
/* Asks the API server and Postgres. argv[0] is "doctor"; see doctor/options.h. */
int command_doctor(int argc, char **argv);
/* Asks the API server at most. argv[0] is "import"; see import/options.h. */
int command_import(int argc, char **argv);

/* Asks the API server, and changes Jobs. argv[0] is "adopt"; see adopt/options.h. */
int command_adopt(int argc, char **argv);

/* Asks the API server, and creates an AdvanceReservation. argv[0] is "reserve"; see reserve/options.h. */
int command_reserve(int argc, char **argv);

/* Asks the API server. argv[0] is "jobs"; see jobs/options.h. */
int command_jobs(int argc, char **argv);
/* The same of one Job; argv[0] is "start". */
int command_start(int argc, char **argv);
extern const struct flag_table start_flags;
/* The same of all that wait; argv[0] is "whatif"; see whatif/options.h. */
int command_whatif(int argc, char **argv);

/* The same of the past. argv[0] is "report"; see past/options.h. And "history". */
int command_report(int argc, char **argv);
int command_history(int argc, char **argv);

/* Asks the API server, and changes a Job. argv[0] is "hold" or "release". */
int command_hold(int argc, char **argv);
extern const struct flag_table hold_flags, release_flags;
/* The same; argv[0] is "move". And "priority". And "nice". */
int command_move(int argc, char **argv);
int command_priority(int argc, char **argv);
int command_nice(int argc, char **argv);

/* Asks no server. argv[0] is "completion"; prints a shell's script. */
int command_completion(int argc, char **argv);
extern const struct flag_table completion_flags;
/* What those scripts ask, and kubectl: argv are the words behind the program's name, the last of which
 * is to be completed. Asks the API server at most, for 2 seconds. Prints what
 * completion/candidates.h says. */
int command_complete(int argc, char **argv);

/* Writes the complaint to stderr and returns the exit code for this error. */
int command_fail(int error, const struct err *e);
/* The end of a command that asks the API server at most: its output, or the complaint. A fault of
 * what was given to it is one of usage; that there is none of that name is an answer. */
int command_end(int rc, const struct buf *out, const struct err *e);

/* Runs show once; with watch, every 2 seconds until it returns anything but CLI_OK, on a terminal each
 * time over what it showed before. Returns what show returned last. */
typedef int command_show(void *ctx);
int command_repeat(bool watch, command_show *show, void *ctx);
/* What show has to print. Watched on a terminal: as many lines as it has room for, each to its end. */
void command_print(bool watch, const char *text);

/* ---- rendering, for the commands and their tests ----------------------------------------------
 */

/* job: of /api/v1/jobs; queues: of /api/v1/queues, or NULL. */
void explain_render(const cJSON *job, const cJSON *queues, int64_t now_ms,
	const struct style *style, struct buf *out);

/* root: of /api/v1/cost, or a CostReport. */
void cost_render_table(const cJSON *root, const struct style *style, struct buf *out);
void cost_render_csv(const cJSON *root, struct buf *out);

/* root: a UsageReport. */
void report_render_table(const cJSON *root, const struct style *style, struct buf *out);
void report_render_csv(const cJSON *root, struct buf *out);

/* root: a JobHistory. Of one Job's name it is a story of each Job that had it; else a table. */
void history_render(const cJSON *root, const struct style *style, struct buf *out);
void history_render_csv(const cJSON *root, struct buf *out);
/* ERR_GONE with a sentence: a Job was named, and the ledger has no run of it. */
int history_check(const cJSON *root, struct err *e);

/* A ClusterQueue's quotas, a row for each; lead: what stands in front of each row. */
void quota_rows(struct table *t, const cJSON *clusterqueue, const struct style *style,
	void (*lead)(struct table *t, bool first, const cJSON *clusterqueue));

/* A member as text, "" when absent; a number, 0 when absent. */
const char *text_of(const cJSON *object, const char *key);
int64_t number_of(const cJSON *object, const char *key);
bool truth_of(const cJSON *object, const char *key);
/* False: there is no time, or not one of RFC 3339. */
bool instant_of(const cJSON *object, const char *key, int64_t *ret_ms);

/* The ClusterQueue of that name, or NULL. */
const cJSON *find_clusterqueue(const cJSON *queues, const char *name);
const cJSON *find_localqueue(const cJSON *queues, const char *ns, const char *name);

#endif
