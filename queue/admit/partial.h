/*
 * Partial admission (Kueue's KEP-420): the most pods with which a Job can start that may start with
 * fewer. Asked only when all its pods neither fit nor find victims.
 *
 * The number is found by bisection, as in Kueue. That assumes that if some number fits, fewer fit,
 * too. Where that is not so (another flavor, other victims), the answer fits but may not be the
 * largest.
 */
#ifndef SLUICE_QUEUE_ADMIT_PARTIAL_H
#define SLUICE_QUEUE_ADMIT_PARTIAL_H

#include "queue/admit/assign.h"

/* At most `most` pods (all of its own, or what rules let start). `after` as in assign_flavors().
 * ASSIGN_FITS or ASSIGN_PREEMPTS, and the choice; for the latter victims_find() finds some. Any
 * other verdict: there is no such number. */
enum assign_verdict partial_find(struct queue *q, struct clusterqueue *cq, const struct claim *c,
	const struct workload *w, int32_t most, const struct choice *after,
	struct choice *ret_choice);

#endif
