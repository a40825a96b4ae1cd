/*
 * The order of the nominees of one Cohort tree, one from each ClusterQueue.
 *
 * Classic: the lower borrow level, then the higher priority, then the older.
 * Fair sharing: a tournament from the leaves to the root. In each Cohort the
 * nominee wins with which its branch would have the lowest share.
 */
#ifndef SLUICE_QUEUE_ADMIT_NOMINEE_ORDER_H
#define SLUICE_QUEUE_ADMIT_NOMINEE_ORDER_H

#include "queue/admit/assign.h"
#include "queue/core.h"

struct nominee {
	struct clusterqueue *cq;
	struct group *group;
	struct workload *w;
	enum assign_verdict verdict; /* ASSIGN_FITS or ASSIGN_PREEMPTS */
	struct choice choice;
	bool keeps; /* the head of a StrictFIFO queue that cannot start: it only keeps its quota */
	bool done;  /* its turn is over */
};

/* The index of the next nominee that is not done; n: all are. Quota may change between calls. */
size_t nominee_order_next(struct queue *q, const struct nominee *nominee, size_t n);

#endif
