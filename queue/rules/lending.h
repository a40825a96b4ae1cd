/*
 * Lending: the names under which nodes lend out what nobody uses, and what they count as.
 *
 * Idle room is counted in cpu and memory, whatever the pods ask for it under, so that one quota
 * holds for a Job that asks for kubernetes.io/batch-cpu itself and for one that is rewritten to it
 * at its start. Only a ClusterQueue that covers such a name itself (a static quota, as with Kueue)
 * counts it as it is.
 */
#ifndef SLUICE_QUEUE_RULES_LENDING_H
#define SLUICE_QUEUE_RULES_LENDING_H

#include <stdbool.h>

#include "base/arena.h"
#include "sluice/job.h"
#include "sluice/spec.h"

/* "cpu" or "memory", of which 1 of this resource is so many (milli-CPU, bytes); NULL: it is nothing
 * that is lent. */
const char *lending_counts_as(const char *resource, int64_t *ret_times);

/* Is it what idle room is counted in? */
bool lending_counts(const char *resource);

/* What a pod asks for as a start writes it for a flavor that lends l (controller/wire/resources.h,
 * where the same is done to JSON): each container's cpu and memory by the names of l, limits equal
 * to requests; one that asks for lent resources itself only loses legacy names. Borrows. */
void lending_rename(struct arena *a, enum lending l, struct pod_resources *pod);

/* job.lending as it is kept: 0, for those that do not care, is the ordinary flavors. */
static inline uint8_t lending_set(uint8_t set)
{
	return set ? set : 1u << LENDING_NONE;
}

static inline bool lending_suits(uint8_t set, enum lending l)
{
	return lending_set(set) >> l & 1;
}

#endif
