/*
 * Backfill: who does not fit gets a time, and the others may pass if they do not delay it.
 *
 * EASY, with one reservation per ClusterQueue (strategy Backfill): for the first Job in its order
 * that could run but does not fit now. From when its Jobs are expected to end follows the earliest
 * moment at which it fits, and what of the same quota is left beside it then (spare). Anybody
 * behind it starts if it fits now and either
 *
 *   asks for nothing of the quota that is reserved, or
 *   is expected to have ended by that moment, or
 *   does with what is spare.
 *
 * Who has no annotation sluice.dev/expected-duration never passes on reserved quota; nobody
 * displaces others to pass. So Jobs whose estimates are right delay the head by nothing.
 *
 * What is expected of a run (what Tsafrir, Etsion and Feitelson did for wrong estimates): it ends
 * when it said; one that goes on longer, after twice that time, four times, and so on. One that
 * says nothing never ends. If the head waits for such a one the reservation has no moment; then
 * whoever has any estimate may pass, because the head cannot start before that run ends anyway, and
 * from then on is late by no more than the longest estimate of those who passed.
 *
 * In a Cohort only the ends of the ClusterQueue's own Jobs count, so the moment is late rather than
 * early; and what others borrow meanwhile nobody can promise.
 */
#ifndef SLUICE_QUEUE_RULES_BACKFILL_H
#define SLUICE_QUEUE_RULES_BACKFILL_H

#include "queue/model/alarm.h"
#include "queue/core.h"

struct choice;
struct reservation;

/* A reservation as the last pass left it; one of each ClusterQueue that has the strategy. */
struct reserved_row {
	struct quota_row *row;
	__int128 spare;
};

struct backfill_slot {
	bool on;
	struct uid head;
	int64_t at_ms; /* INT64_MAX: nobody can say */
	size_t nrows;
	struct reserved_row row[QUEUE_LINES_MAX];
	struct alarm alarm; /* when the next run goes on longer than expected */
};

void backfill_init(struct clusterqueue *cq);

/* The room, which may hold quota for a Job whose end matters, stands at its place among the ends of
 * its ClusterQueue, or nowhere: after everything that changes when it is expected to end, or
 * whether that matters. */
void backfill_expect(struct reservation *r);
void backfill_forget(struct reservation *r);

/* Is it a Job that could run at some time? Others get no reservation and block nobody. */
bool backfill_possible(const struct clusterqueue *cq, const struct group *g);

/* The group's head cannot start: the reservation is for it from here on. */
void backfill_reserve(struct queue *q, struct clusterqueue *cq, const struct group *g);
/* There is none (any more). */
void backfill_end(struct queue *q, struct clusterqueue *cq);
void backfill_free(struct clusterqueue *cq);
bool backfill_is_head(const struct clusterqueue *cq, const struct workload *w);

/* Would this delay the head? `displaces`: others would have to stop for it. */
bool backfill_lets(const struct clusterqueue *cq, const struct group *g,
	const struct choice *choice, bool displaces, int64_t now_ms);
/* It started: what it took of the spare is gone. */
void backfill_started(struct queue *q, struct clusterqueue *cq, const struct group *g,
	const struct choice *choice);
/* What is free for each key for those who do not end in time. */
void backfill_keys(const struct clusterqueue *cq, int64_t ret_available[]);

/* When a Job that starts now is expected to end; INT64_MAX: unknown. */
int64_t backfill_end_ms(int64_t expected_ms, int64_t now_ms);

#endif
