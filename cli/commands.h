/*
 * The commands, each with the options that its flags fill in (command_table.c), and what they
 * share: how a complaint and an answer are printed, how JSON is read.
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
	CLI_FINDINGS = 1, /* it ran, and found something to look at */
	CLI_USAGE = 2,
	CLI_UNREACHABLE = 3,
};

/* Commands that ask no server. */
int command_replay(void *options);
int command_completion(void *options);
int command_version(void *options);
int command_help(void *options);
/* Commands that ask the API server at most; calendar, overcommit, import and simulate only where no
 * files are given. */
int command_calendar(void *options);
int command_overcommit(void *options);
int command_import(void *options);
int command_simulate(void *options);
int command_jobs(void *options);
int command_top(void *options);
int command_start(void *options);
int command_whatif(void *options);
int command_cost(void *options);
int command_report(void *options);
int command_history(void *options);
/* Commands that ask the API server, with struct arguments as options. */
int command_queue(void *options);
int command_explain(void *options);
int command_decisions(void *options);
/* The command that asks the API server and Postgres. */
int command_doctor(void *options);
/* Commands that ask the API server, and change what is there. */
int command_adopt(void *options);
int command_reserve(void *options);
int command_hold(void *options); /* and release */
int command_move(void *options);
int command_priority(void *options);
int command_nice(void *options);

/* The flags of commands whose options no other file knows. */
extern const struct flag_table completion_flags, hold_flags, release_flags, replay_flags,
	start_flags;

/* Completes a command line, for shells and for kubectl. argv: the words behind the program's name,
 * the last of which is to be completed. Asks the API server at most, for 2 seconds. Prints what
 * completion/candidates.h describes. */
int command_complete(int argc, char **argv);

/* Writes the complaint to stderr and returns the exit code for this error. */
int command_fail(int error, const struct err *e);
/* Prints a command's output, or its complaint, and returns the exit code. A fault of what the user
 * gave is one of usage; that there is no object of that name is an answer. */
int command_end(int rc, const struct buf *out, const struct err *e);

/* Prints what a round shows (question.h). Watched on a terminal: as many lines as fit, each to its
 * end. */
void command_print(bool watch, const char *text);

/* ---- rendering, for the commands and their tests ----------------------------------------------
 */

/* Renders a QueuedJob. queues NULL: nothing is said of them. */
struct explain_queues;
void explain_render(const cJSON *job, const struct explain_queues *queues, int64_t now_ms,
	const struct style *style, struct buf *out);

/* Render a CostReport. */
void cost_render_table(const cJSON *root, const struct style *style, struct buf *out);
void cost_render_csv(const cJSON *root, struct buf *out);

/* Render a UsageReport. */
void report_render_table(const cJSON *root, const struct style *style, struct buf *out);
void report_render_csv(const cJSON *root, struct buf *out);

/* Render a JobHistory. If it is of one Job's name: the story of each Job that had it; else a
 * table. */
void history_render(const cJSON *root, const struct style *style, struct buf *out);
void history_render_csv(const cJSON *root, struct buf *out);
/* Checks that a Job that was named has runs in the ledger. ERR_GONE with a sentence: it has
 * none. */
int history_check(const cJSON *root, struct err *e);

/* Return a member: as text, "" when absent; as a number, 0 when absent; as a truth value. */
const char *text_of(const cJSON *object, const char *key);
int64_t number_of(const cJSON *object, const char *key);
bool truth_of(const cJSON *object, const char *key);
/* Reads a time. False: there is none, or it is not of RFC 3339. */
bool instant_of(const cJSON *object, const char *key, int64_t *ret_ms);

#endif
