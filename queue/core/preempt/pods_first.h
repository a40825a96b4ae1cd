/*
 * Pods first: where runs with a minimum must give room, they give pods before any whole run of the
 * same rank is stopped.
 *
 * The search has found victims by Kueue's rules. This looks at the same candidates once more. Each
 * run that can do with fewer pods (sluice.dev/min-parallelism) may give a part. Of one rank are runs
 * of one ClusterQueue with the same priority, or a lower one. In three steps:
 *
 *   1. all victims go, and all other runs of their ranks give what they can;
 *   2. from the most important victim to the least, each that need not go stays, whole or with its
 *      fewest pods;
 *   3. in the same order each run keeps as many pods as it can.
 *
 * A run that a PodDisruptionBudget guards gives pods only if it is a victim itself. So the least
 * important give first. Whether there is a set at all was decided before, by whole
 * runs; and a set that is not legal as a whole (still_borrows() in classic_victims.c) is dropped for
 * the one that was found. With fair sharing, where each victim is weighed against shares, it is done
 * only where all victims are of one ClusterQueue.
 *
 * It is not done where the nodes are asked (clusterFit Now): which pods go, and from which nodes, is
 * the Job controller's choice, and not known before. Nor with victims_as_kueue.
 */
#ifndef SLUICE_QUEUE_CORE_PREEMPT_PODS_FIRST_H
#define SLUICE_QUEUE_CORE_PREEMPT_PODS_FIRST_H

#include "queue/core/preempt/victims.h"

struct preemption;

/* The most victims among which pods are given for one Job, and the most candidates of a
 * ClusterQueue that are looked at. With runs of their ranks, up to twice as many runs give pods. */
#define PODS_FIRST_MAX 64

/* After victims_find() for the same demand, with the victims that it found: the runs that stop or
 * give pods (victim.keeps). `takes_back`: what is its own, so it must not borrow in the end. Valid
 * until the next search. THEN is left as it was. */
size_t pods_first(struct queue *q, const struct demand *d, bool takes_back,
	const struct victim **ret, size_t n);

/* Does what pods_first() does for a ClusterQueue whose window opens soon (lead.h): x has the
 * demand, and the victims, all of which may go. */
void pods_first_for_window(struct preemption *x);

#endif
