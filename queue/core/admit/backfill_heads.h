/*
 * Backfill with several heads (backfill: {reservations: N}, N from 2 on): the first N Jobs in order
 * that could run but cannot start have a booking each in the plan of quota. A Job starts if it
 * overlaps none but its own (bookings_rule.c). With many heads this is conservative backfill.
 * One head is EASY backfill, beside the plan: backfill.h.
 *
 * When the ClusterQueue is searched, its Jobs are walked in their order. Each is asked whether it
 * can start. If not, it is booked at the earliest moment from which on the plan has room for it,
 * until there are N.
 *
 *   Earlier   a head that was booked before is booked anew beside all others, also those behind it.
 *             So when a run ends early all move up, and none to a later start than it had.
 *   Later     only if its booking does not stand any more (a run lasts longer than expected, quota
 *             is smaller), or if a Job that is before it in order comes. Then all, or all behind
 *             that Job, are booked from the beginning.
 *
 * A Job of unknown duration passes where there is room for it for ever. Its own booking lasts
 * PLAN_ASSUMED_MS, so that Jobs behind it have a start; when its time has come it need not fit for
 * longer. No Job preempts to pass a head on the head's quota.
 *
 * A head that has quota now and is kept by a rule (nodes, say) is booked from now on.
 *
 * Gap fillers are never heads, nor Jobs that a rule does not let start now, or puts last. In a
 * Cohort heads may be booked on what they would borrow. A Job of another ClusterQueue that borrows
 * nothing starts over such a booking.
 */
#ifndef SLUICE_QUEUE_CORE_ADMIT_BACKFILL_HEADS_H
#define SLUICE_QUEUE_CORE_ADMIT_BACKFILL_HEADS_H

#include "queue/core/model/state.h"
#include "queue/core/model/kept_start.h"

/* The most waiting Jobs that are walked. Jobs behind them are no heads. */
#define BACKFILL_WALK_MAX 10000

/* Returns whether the ClusterQueue has several heads. Else none of its Jobs is walked. */
bool backfills_several_heads(const struct clusterqueue *cq);

/* A walk begins. `searched`: bookings may not stand any more, or could be earlier. */
void backfill_heads_begin(struct queue *q, struct clusterqueue *cq, bool searched);
/* Drops the heads that the walk has not come to: a Job before them has no booking, or the walk is
 * over. */
void backfill_heads_drop_rest(struct queue *q, struct clusterqueue *cq);
/* Returns whether the Job is a head that this walk has booked or kept. */
bool backfill_heads_walked(const struct queue *q, const struct workload *w);
/* Books a Job that cannot start as a head. False: it cannot be booked, so that it keeps nothing
 * from others. */
bool backfill_heads_book(struct queue *q, struct workload *w);
/* Keeps a head with its booking as it is. False: the Job is no head. */
bool backfill_heads_keep(struct queue *q, const struct workload *w);
/* Drops all heads of the ClusterQueue. */
void backfill_heads_end(struct queue *q, struct clusterqueue *cq);

/* Returns whether there is a head before w in the order that needs what w needs. */
bool backfill_heads_before(const struct workload *w);
/* If w started now, until when would it overlap no booking but its own? With the flavors with which
 * that is longest; 0: it fits now with none. *ret_head: the head that it would run into; NULL:
 * none. */
int64_t backfill_heads_room_until(
	struct queue *q, const struct workload *w, const struct kept_start **ret_head);

#endif
