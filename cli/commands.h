/*
 * The commands, each with the options that its flags fill in (command_table.c), and what they
 * share: how a complaint and an answer are printed, how an answer is watched, how JSON is read.
 */
#ifndef SLUICE_CLI_COMMANDS_H
#define SLUICE_CLI_COMMANDS_H

#include "base/buf.h"
#include "base/flags.h"
#include "cli/table.h"
#include "base/json.h"

/* Exit codes; they are part of --help and never change. */
enum {
	CLI_OK = 0,
	CLI_NOT_FOUND = 1,
	CLI_FINDINGS = 1, /* of doctor */
	CLI_USAGE = 2,
	CLI_UNREACHABLE = 3,
};

/* Ask no server. */
int command_replay(void *options);
int command_completion(void *options);
int command_version(void *options);
int command_help(void *options);
/* Ask the API server at most; of calendar, overcommit, import and simulate only where no files
 * are given. */
int command_calendar(void *options);
int command_overcommit(void *options);
int command_import(void *options);
int command_simulate(void *options);
int command_jobs(void *options);
int command_start(void *options);
int command_whatif(void *options);
int command_cost(void *options);
int command_report(void *options);
int command_history(void *options);
/* Ask the API server; their options are struct arguments. */
int command_queue(void *options);
int command_explain(void *options);
int command_decisions(void *options);
/* Asks the API server and Postgres. */
int command_doctor(void *options);
/* Ask the API server, and change what is there. */
int command_adopt(void *options);
int command_reserve(void *options);
int command_hold(void *options); /* and release */
int command_move(void *options);
int command_priority(void *options);
int command_nice(void *options);

/* Of commands whose options nobody else knows. */
extern const struct flag_table completion_flags, hold_flags, release_flags, replay_flags,
	start_flags;

/* What the scripts of completion ask, and kubectl: argv are the words behind the program's name,
 * the last of which is to be completed. Asks the API server at most, for 2 seconds. Prints what
 * completion/candidates.h says. */
int command_complete(int argc, char **argv);

/* Writes the complaint to stderr and returns the exit code for this error. */
int command_fail(int error, const struct err *e);
/* The end of a command that asks the API server at most: its output, or the complaint. A fault of
 * what was given to it is one of usage; that there is none of that name is an answer. */
int command_end(int rc, const struct buf *out, const struct err *e);

/* Prints what a round shows (question.h). Watched on a terminal: as many lines as it has room for, each to its end. */
void command_print(bool watch, const char *text);

/* ---- rendering, for the commands and their tests ----------------------------------------------
 */

/* job: a QueuedJob; queues NULL: nothing is said of them. */
struct explain_queues;
void explain_render(const cJSON *job, const struct explain_queues *queues, int64_t now_ms,
	const struct style *style, struct buf *out);

/* root: a CostReport. */
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

/* A member as text, "" when absent; a number, 0 when absent. */
const char *text_of(const cJSON *object, const char *key);
int64_t number_of(const cJSON *object, const char *key);
bool truth_of(const cJSON *object, const char *key);
/* False: there is no time, or not one of RFC 3339. */
bool instant_of(const cJSON *object, const char *key, int64_t *ret_ms);

#endif
