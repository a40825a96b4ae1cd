/*
 * What of its flavors a claim could have by quota alone, for the fewest pods with which its Job would
 * start: no run is preempted, and no feature is asked. For explanations, and for callers that only want
 * to know whether a Job could run at some time.
 */
#ifndef SLUICE_QUEUE_CORE_MODEL_PLAIN_FIT_H
#define SLUICE_QUEUE_CORE_MODEL_PLAIN_FIT_H

#include "queue/core/model/claim.h"

/* Worst first. */
enum assign_verdict {
	ASSIGN_UNCOVERED,      /* asks for a resource without quota */
	ASSIGN_NO_FLAVOR,      /* no flavor suits its pods */
	ASSIGN_FLAVOR_MISSING, /* no existing flavor suits, and some do not exist */
	ASSIGN_EXCEEDS,	       /* asks for more than could ever be had, in each flavor that suits */
	ASSIGN_BUSY,	       /* does not fit beside what is used, and may not preempt */
	ASSIGN_PREEMPTS,       /* fits if victims can be found, which is still to be tried */
	ASSIGN_FITS,
};

/* Returns the verdict on all resource groups in quota THEN: the worst of them, each in its best
 * flavor. */
enum assign_verdict plain_fit(const struct clusterqueue *cq, const struct claim *c);
/* Returns the verdict of plain_fit() where quota NOW has to suffice, too. */
enum assign_verdict plain_fit_now(const struct clusterqueue *cq, const struct claim *c);
/* Returns plain_fit() of one resource group; ASSIGN_FITS when nothing of it is needed. */
enum assign_verdict plain_fit_group(
	const struct clusterqueue *cq, const struct claim *c, size_t group, uint8_t *ret_flavor);
/* Returns the verdict on a group of which no flavor suits. */
enum assign_verdict plain_fit_untried(const struct resource_group *g);

/* Returns whether Jobs with this claim could run at some time. */
static inline bool plain_fit_possible(const struct clusterqueue *cq, const struct claim *c)
{
	return plain_fit(cq, c) >= ASSIGN_BUSY;
}

#endif
