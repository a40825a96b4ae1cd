/*
 * Backfill: the head gets a slot in time, and Jobs behind it may pass if they do not delay it.
 *
 * EASY backfill, with one slot per ClusterQueue (strategy Backfill, with one reservation; several are
 * bookings in the plan of quota, backfill_heads.h). The head is the first Job in
 * its order that could run but does not fit now. Its slot is the earliest moment at which it fits,
 * by the expected ends of the ClusterQueue's runs. What is left of the same quota beside it then is
 * spare. A Job behind the head starts if it fits now and either
 *
 *   asks for nothing of the head's quota, or
 *   is expected to end by that moment, or
 *   fits into the spare quota.
 *
 * A Job of unknown duration never passes on the head's quota, and none preempts to pass. So Jobs
 * with right estimates do not delay the head.
 *
 * When runs are expected to end: run_ends.h. If the head waits for a run of unknown duration, the slot
 * has no moment. Then each Job with an estimate may pass: the head cannot start before that run ends
 * anyway, and is then late by no more than the longest estimate of the Jobs that passed.
 *
 * In a Cohort only the ends of the ClusterQueue's own runs count, so the moment is rather too late
 * than too early. What other ClusterQueues borrow meanwhile is not known.
 *
 * The slot is no booking in the plan of quota. There a run of unknown duration ends after an hour,
 * so Jobs would pass on a guess; and each run of the tree would need a booking, which costs many
 * times the start that it belongs to.
 */
#ifndef SLUICE_QUEUE_CORE_ADMIT_BACKFILL_H
#define SLUICE_QUEUE_CORE_ADMIT_BACKFILL_H

#include "queue/core/model/state.h"
#include "queue/core/model/backfill_slot.h"

struct choice;
struct reservation;

/* The group's head cannot start: it gets the slot. */
void backfill_reserve(struct queue *q, struct clusterqueue *cq, const struct group *g);
/* There are several heads, which have bookings instead (backfill_heads.h): they are asked again
 * when a run first lasts longer than expected. */
void backfill_watch(struct queue *q, struct clusterqueue *cq);
/* There is no slot, and no head is booked (any more). */
void backfill_end(struct queue *q, struct clusterqueue *cq);

/* Returns whether the group's Job does not delay the head so. `displaces`: it preempts. */
bool backfill_lets(const struct clusterqueue *cq, const struct group *g,
	const struct choice *choice, bool displaces, int64_t now_ms);
/* Takes what the started Job of the group holds after the slot's moment off the spare quota. */
void backfill_started(struct queue *q, struct clusterqueue *cq, const struct group *g,
	const struct choice *choice);
/* Returns whether a run may have so many pods more without delaying its ClusterQueue's head. */
bool backfill_lets_grow(const struct reservation *r, int32_t more);
/* Takes what so many pods more of a run hold after the slot's moment off the spare quota. */
void backfill_grew(struct reservation *r, int32_t more);
/* What is free for each key, for Jobs that do not end by the slot. */
void backfill_keys(const struct clusterqueue *cq, int64_t ret_available[]);

#endif
