/*
 * The command lines of `sluice cost`, `report` and `history`.
 */
#ifndef SLUICE_CLI_PAST_OPTIONS_H
#define SLUICE_CLI_PAST_OPTIONS_H

#include "cli/moment.h"
#include "cli/options.h"
#include "controller/past/past_query.h"

/* The values of --by, in the notation of base/flags.h. */
#define PAST_BY_VALUES "queue|namespace|owner|user|label=|..."

/* Two times of a question, resolved. */
struct past_times {
	char since[MOMENT_TEXT_SIZE], until[MOMENT_TEXT_SIZE];
};

/* Resolves w->since and w->until: a time of day, by the user's own clock, and what names a zone
 * become RFC 3339, and point into ret. All else stays as it is. An age counts from the controller's
 * clock; a day alone begins in UTC, as the months of the ledger do; past_query_parse() refuses what
 * is no time. ERR_INVALID with a sentence about the flag. */
int past_times_resolve(struct past_words *w, int64_t now_ms, struct past_times *ret, struct err *e);

struct past_command_options {
	bool all_namespaces;
	struct past_words words;
	struct past_times times;
	enum output output; /* table, csv or json */
	struct kube_config_options kube;
};

extern const struct flag_table cost_flags, report_flags, history_flags;

/* Finishes the options of each of the three commands. The words are judged by the wall clock at
 * now_ms, though it is the controller's clock that counts. *o must not move. */
int past_command_options_finish(struct past_command_options *o, enum past_kind kind, char **word,
	size_t nwords, int64_t now_ms, struct err *e);

#endif
