/*
 * The command lines of `sluice report` and `sluice history`.
 */
#ifndef SLUICE_CLI_PAST_OPTIONS_H
#define SLUICE_CLI_PAST_OPTIONS_H

#include "cli/arguments.h"
#include "controller/past/past_query.h"

/* What --by wants, as flags.h notes it; of cost too. */
#define PAST_BY_VALUES "queue|namespace|owner|user|label=|..."

struct past_command_options {
	bool help, all_namespaces;
	struct past_words words;
	enum output output; /* table, csv or json */
	struct kube_config_options kube;
};

extern const struct flag_table report_flags, history_flags;

/* kind: PAST_REPORT or PAST_RUNS. now_ms is wall clock: the words are judged by it, though it is the
 * controller's clock that counts. Strings point into argv. 0 or ERR_INVALID. */
int past_command_options_parse(int argc, char **argv, enum past_kind kind, int64_t now_ms,
	struct past_command_options *ret, struct err *e);

#endif
