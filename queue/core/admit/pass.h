/*
 * A pass: one tree of Cohorts is decided, until nothing more fits.
 *
 * First it keeps promises that fit now. Then it goes in rounds, like Kueue's cycles. In a round:
 *
 *   1. each ClusterQueue nominates the first of its waiting groups that can start or may preempt;
 *   2. the nominees take turns, in the order of nominee.h;
 *   3. a turn starts the head of the group, or promises it quota and stops its victims. If an
 *      earlier turn took the quota, the nominee waits for the next round.
 *
 * A round without a start or a promise is the last. Then there is another look at all groups if
 * runs were preempted; if a start made its ClusterQueue or a Cohort borrow, then at those of other
 * ClusterQueues that may take that back.
 *
 * Where preemption.minRun spared a run there is an alarm: when the next run of that ClusterQueue has
 * run for so long, all that wait are looked at again.
 *
 * If the head of a StrictFIFO queue cannot start, the quota that it could reclaim from its Cohort
 * is kept from the other ClusterQueues meanwhile, as in Kueue.
 */
#ifndef SLUICE_QUEUE_CORE_ADMIT_PASS_H
#define SLUICE_QUEUE_CORE_ADMIT_PASS_H

#include "queue/core/model/state.h"

/* Starts at most cap workloads and reports them; runs that must stop are in queue.suspects.
 * *ret_done: nothing more fits. */
size_t pass_run(struct queue *q, struct cohort_tree *cohort_tree, struct decision *out, size_t cap,
	bool *ret_done);

#endif
