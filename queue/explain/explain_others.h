/* What runs of other Jobs have to do with why a Job waits. Each adds a part of a sentence. */
#ifndef SLUICE_QUEUE_EXPLAIN_EXPLAIN_OTHERS_H
#define SLUICE_QUEUE_EXPLAIN_EXPLAIN_OTHERS_H

#include "queue/job/text.h"
#include "queue/core.h"

/* Another Job, for the owner of w: its name is told in its own namespace only. */
void explain_other(const struct workload *w, const struct workload *other, struct text *t);

/* It fills gaps, and displaces no Job. Nothing, if it does not. */
void explain_fills_gaps(const struct clusterqueue *cq, const struct workload *w, struct text *t);

/* Until when preemption.minRun spares those that w would preempt. Nothing, if it does not. */
void explain_spared(struct queue *q, struct clusterqueue *cq, const struct workload *w,
	const struct claim *claim, int64_t now_ms, struct text *t);

#endif
