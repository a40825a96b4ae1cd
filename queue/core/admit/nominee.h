/*
 * A nominee: the Job that a ClusterQueue would start next, and the choice with which it can start.
 *
 * The order of the nominees of one Cohort tree, one from each ClusterQueue:
 *
 * Classic: the lower borrow level, then the higher priority, then the older.
 * Fair sharing: a tournament from the leaves to the root. In each Cohort the
 * nominee wins with which its branch would have the lowest share.
 */
#ifndef SLUICE_QUEUE_CORE_ADMIT_NOMINEE_H
#define SLUICE_QUEUE_CORE_ADMIT_NOMINEE_H

#include "queue/core/admit/assign.h"
#include "queue/core/model/state.h"
#include "queue/core/preempt/victims.h"

struct nominee {
	struct clusterqueue *cq;
	struct group *group;
	struct workload *w;
	enum assign_verdict verdict; /* ASSIGN_FITS or ASSIGN_PREEMPTS */
	struct choice choice;
	bool keeps; /* the head of a StrictFIFO queue that cannot start: it only keeps its quota */
	bool done;  /* its turn is over */
};

/* What the nominee asks for; false: nothing. */
bool nominee_demand(const struct nominee *e, struct demand *ret);
/* Finds the nominee's victims; 0: there are none. Valid until the next search. */
size_t nominee_victims(struct queue *q, const struct nominee *e, const struct victim **ret);

/* By quota: tries flavors until one works with so many pods, or with fewer. False: *e is as for the
 * first of them. */
bool nominee_can_start(struct queue *q, struct nominee *e, int32_t pods);
/* By the rules, in the flavors from its choice on. A Job that can start with fewer pods takes as
 * many as the nodes have places for. False: *e is as after the first refusal. */
bool nominee_is_let(struct queue *q, struct nominee *e);

/* The index of the next nominee that is not done; n: all are. Quota may change between calls. */
size_t nominee_order_next(struct queue *q, const struct nominee *nominee, size_t n);

#endif
