/*
 * Kept starts: a Job that could start by quota, but would overlap what others have booked, gets a
 * booking of its own, at the earliest moment from which on it fits. So no Job is passed for ever:
 * from then on nobody books over it.
 *
 * It is no date: the Job starts as soon as it overlaps nothing but its own booking, which may be
 * sooner. At its time all of its ClusterQueue are asked again. It is dropped when the Job leaves its
 * place in the line, and made anew when facts have run into it.
 */
#ifndef SLUICE_QUEUE_RULES_BOOKINGS_KEPT_START_H
#define SLUICE_QUEUE_RULES_BOOKINGS_KEPT_START_H

#include "queue/model/alarm.h"
#include "queue/plan/quota_plan.h"

struct queue;
struct workload;

void kept_starts_init(struct map *all);

/* Its booking; NULL: none. */
struct booking *kept_start_of(const struct queue *q, const struct workload *w);
/* It would overlap. Has it a booking for these lines and so long that still stands? */
bool kept_start_stands(const struct queue *q, const struct workload *w, struct booking_lines lines,
	int64_t lasts_ms);
/* It gets one. False: the plan is full, or there is no such moment; then nothing must keep it. */
bool kept_start_book(
	struct queue *q, struct workload *w, struct booking_lines lines, int64_t lasts_ms);
void kept_start_drop(struct queue *q, struct workload *w);

struct kept_start;
/* Its alarm rang: its time has come. */
void kept_start_ring(struct queue *q, struct kept_start *k);

#endif
