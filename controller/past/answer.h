/*
 * What all answers about the past share: the question that they answer, and a note on what the
 * ledger has forgotten. Also the whole answer for reports, histories and usage, whose rows are the
 * ledger's own words. Pure: no sockets, no clock.
 */
#ifndef SLUICE_CONTROLLER_PAST_ANSWER_H
#define SLUICE_CONTROLLER_PAST_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "controller/common/view.h"
#include "controller/past/past_query.h"

enum { PAST_ROWS_MAX = 1000, PAST_SPANS_MAX = 2000, PAST_NOTE_SIZE = 400 };

/* Returns how many rows are shown at most. */
size_t past_rows_max(enum past_kind kind);

/* What all answers say of their question, as their views want it: NULL and VIEW_NONE are absent. */
struct past_head {
	const char *by, *label, *ns, *job, *user;
	int64_t since_ms, until_ms, forgotten_until_ms;
	bool more;
	const char *note; /* NULL, or note_here: what is missing */
	char note_here[PAST_NOTE_SIZE];
};

/* Makes the head. Of runs that ended until forgotten_until_ms the ledger has sums at best; 0: it
 * has everything. *ret must not move. */
void past_head_of(
	const struct past_query *q, bool more, int64_t forgotten_until_ms, struct past_head *ret);

extern const struct view usage_report_view, job_history_view, run_spans_view;

/* Writes the answer to PAST_RUNS, {...,"runs":[...]}, or PAST_REPORT, {...,"rows":[...],
 * "totals":[...]}. At most PAST_ROWS_MAX rows are shown, totals included; "more": there are
 * others. */
void past_answer_rows(const struct past_query *q, const struct ledger_row *rows, size_t n,
	int64_t forgotten_until_ms, struct buf *out);
/* Writes the answer to PAST_SPANS, {...,"spans":[...]}, at most PAST_SPANS_MAX. */
void past_answer_spans(const struct past_query *q, const struct ledger_row *rows, size_t n,
	int64_t forgotten_until_ms, struct buf *out);
/* Writes the answer to PAST_USAGE:
 * {"clusterQueue":...,"from":...,"until":...,"stepSeconds":n,"more":false,"flavors":[...]}. */
void past_answer_usage(const struct past_query *q, const struct ledger_row *rows, size_t n,
	int64_t forgotten_until_ms, struct buf *out);

#endif
