/*
 * A footprint: what ResourceQuotas look at of a pod, in one block.
 *
 * Pods of one template have one footprint, so many runs need few of them (quota_flight.h). With it
 * a quota that is made later can be asked about pods that were admitted before.
 */
#ifndef SLUICE_QUEUE_CLUSTER_FOOTPRINT_H
#define SLUICE_QUEUE_CLUSTER_FOOTPRINT_H

#include "queue/cluster/pod.h"
#include "queue/cluster/resource_quota.h"

struct footprint {
	bool may_be_best_effort, may_be_other; /* both: API servers differ (pod.h) */
	bool terminating, crosses_namespaces;
	const char *priority_class;
	struct resource_list requests, limits; /* of the whole pod, sorted by name */
};

struct footprint *footprint_new(const struct pod *p); /* free() */
bool footprint_same(const struct footprint *a, const struct footprint *b);
uint64_t footprint_hash(const struct footprint *f);

bool footprint_counts(const struct footprint *f, const struct resource_quota *q);
/* As resource_quota_usage(); does not write ret's name. */
bool footprint_usage(const struct footprint *f, const char *name, struct resource *ret);

#endif
