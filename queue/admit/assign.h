/*
 * Flavor choice: in each resource group one flavor for everything that the claim needs of it.
 * Groups choose independently (reference 4.3), looking at quota as it will be (THEN), because what
 * is being freed may be promised to somebody and what was promised is not to be had.
 *
 * A flavor can be had in one of several ways, and flavorFungibility says which is better and when
 * the search stops (reference 1.5). The worst way of the group's resources is the flavor's, the
 * worst of the groups is the choice's.
 */
#ifndef SLUICE_QUEUE_ADMIT_ASSIGN_H
#define SLUICE_QUEUE_ADMIT_ASSIGN_H

#include "queue/model/claim.h"

struct queue;
struct workload;

/* How good a claim's case is, worst first. */
enum assign_verdict {
	ASSIGN_UNCOVERED,      /* asks for a resource without quota */
	ASSIGN_NO_FLAVOR,      /* no flavor suits its pods */
	ASSIGN_FLAVOR_MISSING, /* none suits of those that exist, and some do not exist */
	ASSIGN_EXCEEDS,	       /* asks for more than could ever be had, in each flavor that suits */
	ASSIGN_BUSY,	       /* does not fit beside what is used, nor may anybody be displaced */
	ASSIGN_PREEMPTS,       /* would fit if others were displaced, which is still to be seen */
	ASSIGN_FITS,
};

struct choice {
	int32_t pods;		       /* for so many */
	uint8_t flavor[CQ_GROUPS_MAX]; /* its index; only of groups that the claim needs */
	uint8_t next[CQ_GROUPS_MAX];   /* where the search goes on if this comes to nothing: past
					  the last flavor tried; 0: all were tried */
	uint64_t contested[CQ_GROUPS_MAX]; /* resources (a bit each) of the group that others have
					      to give back */
	uint32_t tries;			   /* how often the search went on, this time included */
	uint32_t level; /* how far it borrows: the largest of its resources' borrow levels */
};

/* Can the search go on behind this choice? */
bool choice_goes_on(const struct clusterqueue *cq, const struct choice *c);

/* For `pods` of the claim's pods, w being who asks. `after`: the choice that came to nothing, or
 * NULL. The quota tree is the same before and after. */
enum assign_verdict assign_flavors(struct queue *q, struct clusterqueue *cq, const struct claim *c,
	const struct workload *w, int32_t pods, const struct choice *after,
	struct choice *ret_choice);

/* The same among all flavors, beside what is used: no Job is displaced. The search of
 * assign_flavors() passes over a flavor that fits where it prefers one that others have to give
 * back. When it has come to nothing, this finds what was passed over. */
enum assign_verdict assign_beside(struct queue *q, struct clusterqueue *cq, const struct claim *c,
	const struct workload *w, int32_t pods, struct choice *ret_choice);

/* For explanations: for the fewest pods with which it would start, and without displacing anybody.
 */
enum assign_verdict assign_plainly(const struct clusterqueue *cq, const struct claim *c);
/* The same beside those who are leaving still. */
enum assign_verdict assign_now(const struct clusterqueue *cq, const struct claim *c);
/* The same for one resource group; ASSIGN_FITS when nothing of it is needed. */
enum assign_verdict assign_group(
	const struct clusterqueue *cq, const struct claim *c, size_t group, uint8_t *ret_flavor);

#endif
