/*
 * When the runs of a ClusterQueue with strategy Backfill are expected to end (clusterqueue.ends).
 *
 * A run is expected to end after its expected duration; if it goes on, after twice that, four
 * times, and so on (as Tsafrir, Etsion and Feitelson correct wrong estimates). A run of unknown
 * duration never ends.
 */
#ifndef SLUICE_QUEUE_CORE_MODEL_RUN_ENDS_H
#define SLUICE_QUEUE_CORE_MODEL_RUN_ENDS_H

#include <stdint.h>

struct clusterqueue;
struct queue;
struct reservation;

void run_ends_init(struct clusterqueue *cq);

/* Put the run at its place, or take it out. Called after each change of its expected end, or of the
 * strategy (run observers: runs.h). */
void run_ends_expect(struct queue *q, struct reservation *r);
void run_ends_forget(struct queue *q, struct reservation *r);

/* Doubles the expected durations of runs that should have ended. Afterwards no end is past. */
void run_ends_put_off(const struct clusterqueue *cq, int64_t now_ms);
/* Return the run that is expected to end first, and the next one; NULL: there is none. */
struct reservation *run_ends_first(const struct clusterqueue *cq);
const struct reservation *run_ends_next(const struct reservation *r);

/* Returns when a Job that starts at from_ms is expected to end; INT64_MAX: unknown. */
int64_t run_ends_at(int64_t expected_ms, int64_t from_ms);

#endif
