/*
 * A pass: one ClusterQueue, until nothing more fits.
 *
 * BestEffortFIFO walks the groups in order and starts the head of each that fits. Quota only
 * shrinks during a pass, so who did not fit once need not be asked again, and the walk never goes
 * back. For the same reason Jobs that merely arrived need no walk: after a complete pass nobody
 * else fits, so only the fresh groups are judged. StrictFIFO looks at the first group only: if that
 * cannot start, nobody may.
 *
 * With cohorts the ClusterQueues of one tree share quota and are walked side by side; then
 * pass_next() is what each of them offers.
 */
#ifndef SLUICE_QUEUE_PASS_H
#define SLUICE_QUEUE_PASS_H

#include "queue/core.h"

/* Starts at most cap workloads and reports them. *ret_done: nothing more fits. */
size_t pass_run(
	struct queue *q, struct clusterqueue *cq, struct decision *out, size_t cap, bool *ret_done);

#endif
