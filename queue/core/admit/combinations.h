/*
 * Combinations: one flavor of each resource group that a claim needs, counted through like the
 * digits of a number, the last group first.
 *
 * A Job that books a start asks the plan for one combination after the other, and takes the best. Only
 * flavors that suit its pods, and that have as much as it asks for, are among these. A ClusterQueue
 * with many groups has more combinations than anybody wants to ask for, so the first
 * COMBINATIONS_BOOKABLE are tried. Whether some node could take the pods is asked of others
 * (node_suitability.h).
 */
#ifndef SLUICE_QUEUE_CORE_ADMIT_COMBINATIONS_H
#define SLUICE_QUEUE_CORE_ADMIT_COMBINATIONS_H

#include "queue/core/model/claim.h"
#include "queue/core/model/quota_plan.h"

#define COMBINATIONS_BOOKABLE 16

struct combination {
	const struct clusterqueue *cq;
	const struct claim *claim;
	uint8_t flavor[CQ_GROUPS_MAX]; /* of each group its index; 0 where nothing is needed */
	uint64_t among[CQ_GROUPS_MAX]; /* of each group the flavors to go through, a bit each */
};

/* Begins with the first combination of these flavors, a bit each for each group. False: in some group
 * that the claim needs there is none. */
bool combination_first(struct combination *k, const struct clusterqueue *cq, const struct claim *c,
	const uint64_t among[CQ_GROUPS_MAX]);
/* Begins with the first that may be booked. fewest: with the fewest pods with which the Job would
 * start; else with all. */
bool combination_first_bookable(
	struct combination *k, const struct clusterqueue *cq, const struct claim *c, bool fewest);
/* Goes on to the next. False: that was the last. */
bool combination_next(struct combination *k);

/* Writes what it would hold, and returns of how many lines that is. */
size_t combination_lines(
	const struct combination *k, bool fewest, struct booking_line ret[QUEUE_LINES_MAX]);

#endif
