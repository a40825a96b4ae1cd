/*
 * Recall: what a new leader reads back of the runs that have ended, before it loads the open holds.
 *
 *   runs       what LocalQueues used lately, as far back as it counts in an order by use
 *              (queue_recall_ms()), page by page;
 *   spent      what was spent since the beginning of the longest period of any Budget
 *              (queue_recall_spent_since_ms()), or in five weeks, since an admin may make a Budget of a
 *              month; a week at a time;
 *   durations  how long the last runs of each family took, for the queue and for forecasts.
 *
 * A ClusterQueue that is told to order by use later on begins with what is seen from then.
 *
 * Each run is told once: a recall that fails on the way goes on behind the last page that was
 * answered. What is read is all there is: with the epoch taken no other leader writes, and a run
 * that ends from now on is released by us.
 */
#ifndef SLUICE_CONTROLLER_WRITE_RECALL_H
#define SLUICE_CONTROLLER_WRITE_RECALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "controller/forecast/forecasts.h"
#include "controller/ledger/pg.h"
#include "sluice/queue.h"

enum recall_stage {
	RECALL_NEW,
	RECALL_RUNS,
	RECALL_SPENT,
	RECALL_DURATIONS,
	RECALL_OVER,
};

struct recall {
	enum recall_stage stage;			    /* what is asked for next */
	struct ledger_mark mark;			    /* of the last run that was told */
	int64_t spent_since_ms, spent_from_ms, spent_to_ms; /* the stretch that is asked for */
	int64_t durations_since_ms;
	size_t runs, spent, durations; /* how many were told */
};

/* Returns since when runs must have ended to be read by a leader that comes now. */
int64_t recall_since_ms(const struct queue *q, int64_t now_ms);

/* Asks for the next page. False: there is nothing (more) to read. */
bool recall_ask(struct recall *r, const struct queue *q, struct pg *pg,
	const struct pg_asker *asker, int64_t epoch, int64_t now_ms);
/* Takes the answer to what was asked last, with LEDGER_DONE. f may be NULL. */
void recall_take(struct recall *r, struct queue *q, struct forecasts *f, const struct pg_answer *a);

#endif
