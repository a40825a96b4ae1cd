/*
 * Lending: the resource names under which nodes lend idle resources, and what they count as.
 *
 * Idle resources are counted in cpu and memory, whatever names the pods use. So one quota counts
 * for a Job that asks for kubernetes.io/batch-cpu itself and for one that is rewritten to it at its
 * start. Only a ClusterQueue that covers such a name itself (a static quota, as with Kueue) counts
 * it under that name.
 */
#ifndef SLUICE_QUEUE_REQUESTS_LENDING_H
#define SLUICE_QUEUE_REQUESTS_LENDING_H

#include <stdbool.h>

#include "base/arena.h"
#include "sluice/job.h"
#include "sluice/spec.h"

/* "cpu" or "memory"; *ret_times: how many milli-CPU or bytes 1 of this resource is. NULL: it is no
 * lent resource. */
const char *lending_counts_as(const char *resource, int64_t *ret_times);

/* Returns whether the resource is cpu or memory. */
bool is_lendable(const char *resource);

/* Rewrites a pod's requests as a start does for a flavor that lends l: each container's cpu and
 * memory under the names of l, limits equal to requests. In a pod that asks for lent resources
 * itself only legacy names are replaced. Borrows from *pod. controller/wire/resources.h does the
 * same to JSON. */
void lending_rename(struct arena *a, enum lending l, struct pod_resources *pod);

/* job.lending as a set; 0 (the Job says nothing) is the ordinary flavors. */
static inline uint8_t lending_set(uint8_t set)
{
	return set ? set : 1u << LENDING_NONE;
}

static inline bool lending_suits(uint8_t set, enum lending l)
{
	return lending_set(set) >> l & 1;
}

#endif
