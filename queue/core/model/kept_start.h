/*
 * Kept starts: a Job that could start by quota, but would overlap what others have booked, gets a
 * booking of its own, at the earliest moment from which on it fits. So no Job is passed for ever:
 * from then on no other Job books over it. The heads of Backfill are kept here, too (backfill_heads.h).
 *
 * The Job need not wait for it: it starts as soon as it overlaps nothing but its own booking, which
 * may be sooner. At its time all Jobs of its ClusterQueue are asked again. It is dropped when the
 * Job leaves its place in the line, and made anew when facts have run into it. If the Job does not
 * start at that time, and is not booked anew, no booking keeps it any more: it waits for quota,
 * because a run lasts longer than expected. Then its booking goes, so that it keeps no other Job
 * from starting.
 */
#ifndef SLUICE_QUEUE_CORE_MODEL_KEPT_START_H
#define SLUICE_QUEUE_CORE_MODEL_KEPT_START_H

#include "queue/core/model/alarm.h"
#include "queue/core/model/quota_plan.h"

struct queue;
struct workload;

void kept_starts_init(struct map *all);

struct kept_start {
	struct workload *w;
	struct booking *booking;
	struct alarm alarm;
	struct link come;     /* in queue.come_starts: its time has come in this decision */
	struct link of_heads; /* in clusterqueue.heads: backfill_heads.h */
	uint64_t walk;	      /* ... that booked it last: clusterqueue.walks */
};

/* Returns the Job's kept start; NULL: it has none. */
struct kept_start *kept_start_get(const struct queue *q, const struct workload *w);
/* Returns the Job's booking; NULL: it has none. */
struct booking *kept_start_of(const struct queue *q, const struct workload *w);
/* Returns whether a Job that would overlap others has a booking for these lines and so long that
 * still stands. */
bool kept_start_stands(const struct queue *q, const struct workload *w, struct booking_lines lines,
	int64_t lasts_ms);
/* Books the Job at the earliest moment from which on it fits. False: the plan is full, or there is
 * no such moment; then no booking must keep the Job from starting. */
bool kept_start_book(
	struct queue *q, struct workload *w, struct booking_lines lines, int64_t lasts_ms);
void kept_start_drop(struct queue *q, struct workload *w);
/* Drops the Job's booking, because it leaves its place in the line, and has the Jobs asked that it
 * kept from starting. */
void kept_start_leave(struct queue *q, struct workload *w);

/* Books the Job at that moment, whether there is room or not, in place of what it had booked. NULL:
 * the plan is full. */
struct kept_start *kept_start_put(struct queue *q, struct workload *w, struct booking_lines lines,
	int64_t at_ms, int64_t lasts_ms);

/* Has the Jobs of the ClusterQueue asked: the alarm of a kept start rang, so its time has come. */
void kept_start_ring(struct queue *q, struct kept_start *k);
/* After edits of quotas: drops the bookings that do not fit any more. Their Jobs are asked again,
 * and may never fit. */
void kept_starts_heed_quotas(struct queue *q);
/* After a pass: drops the bookings whose time has come and whose Jobs wait for something else.
 * True: some were, and the Jobs that they kept from starting are to be asked. */
bool kept_starts_expire(struct queue *q);

#endif
