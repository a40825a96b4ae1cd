/*
 * A pass: one realm, until nothing more fits.
 *
 * First those start whose promised room has come free. Then it goes in rounds, as Kueue's cycles
 * do: each ClusterQueue offers the first of its waiting groups that can start or may displace
 * others, and of these offers each has its turn, the better right first (nominee_order.h). A turn starts
 * the group's head, or promises it room and sends its victims away, or, when somebody before it
 * took what it counted on, comes to nothing until the next round. A round in which nothing came
 * about is the last.
 *
 * If a StrictFIFO head cannot start, what it could have taken back from its Cohort is kept from the
 * others meanwhile (reference 18, step 5d).
 */
#ifndef SLUICE_QUEUE_ADMIT_PASS_H
#define SLUICE_QUEUE_ADMIT_PASS_H

#include "queue/core.h"

/* Starts at most cap workloads and reports them; who has to go is in queue.suspects. *ret_done:
 * nothing more fits. */
size_t pass_run(struct queue *q, struct cohort_tree *cohort_tree, struct decision *out, size_t cap,
	bool *ret_done);

#endif
