/*
 * What all answers about the past share: the question that they answer, and a note on what the ledger has
 * forgotten. And the whole answer for reports, histories and usage, whose rows are the ledger's own words.
 * Pure: no sockets, no clock.
 */
#ifndef SLUICE_CONTROLLER_PAST_ANSWER_H
#define SLUICE_CONTROLLER_PAST_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json_writer.h"
#include "controller/past/past_query.h"

enum { PAST_ROWS_MAX = 1000 };

/* Puts the members by, since, until, more and what narrows the question, of the object that is open. */
void past_answer_put_head(const struct past_query *q, bool more, struct json_writer *w);
/* Puts forgottenUntil and note: nothing where nothing is missing. Of runs that ended until then the
 * ledger has sums at best; 0: it has all of all. */
void past_answer_put_forgotten(
	const struct past_query *q, int64_t forgotten_until_ms, struct json_writer *w);

/* The answer to PAST_RUNS, {...,"runs":[...]}, or PAST_REPORT, {...,"rows":[...],"totals":[...]}. Of more
 * than PAST_ROWS_MAX rows, totals included, the first are shown, and "more" is true. */
void past_answer_rows(const struct past_query *q, const struct ledger_row *rows, size_t n,
	int64_t forgotten_until_ms, struct buf *out);
/* The same to PAST_USAGE:
 * {"clusterQueue":...,"from":...,"until":...,"stepSeconds":n,"more":false,"flavors":[...]}. */
void past_answer_usage(const struct past_query *q, const struct ledger_row *rows, size_t n,
	int64_t forgotten_until_ms, struct buf *out);

#endif
