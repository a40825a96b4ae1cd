/*
 * Until when minRun spares the runs that a waiting Job would preempt. For explanations: a pass finds
 * no victims meanwhile, and has an alarm.
 */
#ifndef SLUICE_QUEUE_ADMIT_SPARED_H
#define SLUICE_QUEUE_ADMIT_SPARED_H

#include "queue/preempt/victims.h"

/* When w could preempt with the fewest pods with which it starts, if nothing happened but that runs
 * grow older. *ret_last: the last of its victims to have run its minimum. INT64_MAX: minRun does not
 * keep it. */
int64_t spared_until(struct queue *q, const struct workload *w, struct clusterqueue *cq,
	const struct claim *c, int64_t now_ms, const struct reservation **ret_last);

#endif
