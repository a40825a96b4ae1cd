/*
 * Partial admission (reference 9.5): with how many pods fewer can a Job start that says it can do
 * with fewer? Asked only when all its pods neither fit nor find victims.
 *
 * The largest number is found by halving, as Kueue finds it: it takes for granted that who fits
 * with so many pods fits with fewer. Where that is not so (another flavor, other victims), the
 * answer still is a number that fits, but may not be the largest.
 */
#ifndef SLUICE_QUEUE_ADMIT_PARTIAL_H
#define SLUICE_QUEUE_ADMIT_PARTIAL_H

#include "queue/admit/assign.h"

/* Of `most` pods or fewer (its own, or what the quotas of its namespace let in). `after` as of
 * assign_flavors(). ASSIGN_FITS or ASSIGN_PREEMPTS, and the choice; for the latter victims_find()
 * finds some. Otherwise there is no such number. */
enum assign_verdict partial_find(struct queue *q, struct clusterqueue *cq, const struct claim *c,
	const struct workload *w, int32_t most, const struct choice *after,
	struct choice *ret_choice);

#endif
