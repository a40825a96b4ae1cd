/*
 * Flavor choice: in each resource group the first flavor, in the spec's order, in which everything
 * that the claim needs of the group fits beside what is used. Groups choose independently.
 *
 * flavorFungibility, borrowing and preemption join here (reference 1.5, 4.3): the choice then also
 * carries how the fit is made.
 */
#ifndef SLUICE_QUEUE_ASSIGN_H
#define SLUICE_QUEUE_ASSIGN_H

#include "queue/claim.h"

struct choice {
	uint8_t flavor[CQ_GROUPS_MAX]; /* its index; only of groups that the claim needs */
};

/* How good a claim's case is, worst first. */
enum assign_verdict {
	ASSIGN_UNCOVERED,      /* asks for a resource without quota */
	ASSIGN_NO_FLAVOR,      /* no flavor suits its pods */
	ASSIGN_FLAVOR_MISSING, /* none suits of those that exist, and some do not exist */
	ASSIGN_EXCEEDS,	       /* asks for more than the whole quota, in each flavor that suits */
	ASSIGN_BUSY,	       /* does not fit beside what is used */
	ASSIGN_FITS,
};

enum assign_verdict assign_flavors(
	const struct clusterqueue *cq, const struct claim *c, struct choice *ret_choice);

/* The same for one resource group; ASSIGN_FITS when nothing of it is needed. */
enum assign_verdict assign_group(
	const struct clusterqueue *cq, const struct claim *c, size_t group, uint8_t *ret_flavor);

#endif
