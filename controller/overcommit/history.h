/*
 * The history: what was taken of each node, minute by minute, kept in Postgres for the forecast, so
 * that a restart does not have to wait a day for one.
 *
 * A row is an hour of a node (migration 004): two arrays of sixty, null for minutes without a
 * sample. The overcommit controller notes a sample a minute. Every five minutes what is new is
 * written, behind the leader's epoch, in one statement, and what is older than
 * FORECAST_RETENTION_MS is deleted. A loss of the last minutes is a loss of minutes: nothing waits
 * for a write.
 *
 * The background's connection serves it (ledger/pg.h). A week of 5,000 nodes is 840,000 rows, and
 * no admission is to wait for their reading; after each page others there have their turn. While
 * Postgres is away, samples are kept for an hour, then the oldest go.
 */
#ifndef SLUICE_CONTROLLER_OVERCOMMIT_HISTORY_H
#define SLUICE_CONTROLLER_OVERCOMMIT_HISTORY_H

#include <stdint.h>

#include "controller/common/log.h"
#include "overcommit/load.h"

struct history;
struct pg;

struct history_options {
	struct pg *pg; /* of the background; goes first, or is not turned meanwhile */
	struct log *log;
};

struct history *history_new(const struct history_options *o);
void history_free(struct history *h);

/* Takes each minute that is kept, from the loop, in pages; node "" with at_ms 0: that was all.
 * history_recall() asks for them, once for each epoch. */
typedef void history_told_fn(const char *node, int64_t at_ms, struct load taken, void *ctx);
void history_recall(struct history *h, int64_t epoch, history_told_fn *told, void *ctx);

/* Notes a sample. Of several in a minute the largest counts. */
void history_note(struct history *h, const char *node, int64_t at_ms, struct load taken);

/* Writes what is due, about once a second, while leading under that epoch. */
void history_tick(struct history *h, int64_t epoch, int64_t now_ms);

#endif
