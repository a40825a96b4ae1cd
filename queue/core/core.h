/*
 * The life of the core, and its steps of a decision: back-offs end, runs stop, Jobs start.
 * queue_decide() in queue.c has all steps. Facts come in by the calls of include/sluice/queue.h
 * (facts.c, jobs.c). Features and explanations include the layers below this one themselves.
 */
#ifndef SLUICE_QUEUE_CORE_CORE_H
#define SLUICE_QUEUE_CORE_CORE_H

#include "queue/core/model/state.h"

/* ---- Its life ---- */

/* Makes the core's part of a zeroed queue. */
void core_init(struct queue *q);
void core_drop_jobs(struct queue *q);
/* Frees the core's part. No Job is left, and no feature keeps anything of the core. */
void core_done(struct queue *q);

/* ---- A decision ---- */

/* Jobs whose back-off is over stand in line again. */
void decide_back_offs_end(struct queue *q);
/* Shortens back-offs that end later than the longest that is allowed, by the clock of now. */
void decide_back_offs_shorten(struct queue *q);

/* Judges suspects: a run stops, gives pods, or gets notice of a stop. Returns how many decisions
 * were written. */
size_t decide_stops(struct queue *q, struct decision *out, size_t cap);
/* A pass of each Cohort tree that was touched. */
size_t decide_starts(struct queue *q, struct decision *out, size_t cap);

/* The next alarm, or the next end of a back-off; INT64_MAX: there is none. */
int64_t decide_next_ms(const struct queue *q);

#endif
