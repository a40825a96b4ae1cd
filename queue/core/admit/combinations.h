/*
 * Combinations of flavors: one flavor of each resource group that a Job needs. A Job that books a start
 * asks the plan for one combination after the other, and takes the best.
 *
 * Only flavors that suit its pods, and that have as much as it asks for. A ClusterQueue with many
 * groups has more combinations than anybody wants to ask for, so the first COMBINATIONS_MAX are tried.
 */
#ifndef SLUICE_QUEUE_CORE_ADMIT_COMBINATIONS_H
#define SLUICE_QUEUE_CORE_ADMIT_COMBINATIONS_H

#include "queue/core/model/claim.h"

#define COMBINATIONS_MAX 16

struct combinations {
	const struct claim *claim;
	bool fewest; /* with the fewest pods with which it would start; else with all */
};

int64_t combinations_amount(const struct combinations *of, const struct need *n);

/* Writes the first one: a flavor's index for each group; 0 for a group of which it needs nothing.
 * False: in some group no flavor can. */
bool combination_first(
	const struct clusterqueue *cq, const struct combinations *of, size_t *ret_flavor);
/* The next one, as a number is counted up, the last group first. False: that was the last. */
bool combination_next(const struct clusterqueue *cq, const struct combinations *of, size_t *flavor);

#endif
