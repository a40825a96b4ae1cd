/*
 * ResourceQuotas: would the API server let these pods in?
 *
 * A quota has what is hard, what is used, and scopes; it counts a pod when all its scopes match
 * (Terminating, NotTerminating, BestEffort, NotBestEffort, PriorityClass and
 * CrossNamespacePodAffinity, as scopes or in a scopeSelector with In, NotIn, Exists, DoesNotExist).
 * What a pod counts for is Kubernetes' own sum (pkg/quota/v1/evaluator/core/pods.go): cpu and
 * requests.cpu, memory, ephemeral-storage, limits.*, requests.<extended resource>, hugepages, pods
 * and count/pods; the larger of containers and init containers, and overhead.
 *
 * Refused is
 *   - a pod over the quota:    "exceeded quota: compute, requested: cpu=2, used: cpu=9, limited:
 * cpu=10"
 *   - a pod that does not say what the quota wants to know: "failed quota: compute: must specify
 *     limits.memory for: main"
 * in the API server's own words and figures. Of several quotas that refuse, the first in name
 * order.
 *
 * What the status of a quota does not show yet counts too: pods of runs that were let in and have
 * not been made, or have been made and not been counted (quota_ledger below), so that two Jobs that
 * are started together do not collide.
 */
#ifndef SLUICE_CLUSTER_RESOURCE_QUOTA_H
#define SLUICE_CLUSTER_RESOURCE_QUOTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cluster/pod.h"

enum quota_scope {
	SCOPE_TERMINATING,
	SCOPE_NOT_TERMINATING,
	SCOPE_BEST_EFFORT,
	SCOPE_NOT_BEST_EFFORT,
	SCOPE_PRIORITY_CLASS,
	SCOPE_CROSS_NAMESPACE_POD_AFFINITY,
	SCOPE_OTHER, /* VolumeAttributesClass and what may come: matches no pod */
};

struct quota_scope_term {
	enum quota_scope scope;
	enum selector_op op; /* EXISTS for all but PriorityClass */
	const char *const *values;
	size_t nvalues;
};

struct resource_quota {
	const char *ns, *name;
	/* Names as written: "requests.cpu", "count/pods", "limits.memory". Amounts in thousandths
	 * for those that count cpu, in whole units for all others. */
	struct resource_list hard, used;
	const struct quota_scope_term *scopes;
	size_t nscopes;
};

/* Does it count such a pod? */
bool resource_quota_counts(const struct resource_quota *q, const struct pod *p);

/* What one such pod counts for under the name of a hard limit; false: not at all. */
bool resource_quota_usage(const struct pod *p, const char *name, int64_t *ret_amount);

/* All of a namespace, in name order. reserved: for each quota, as many amounts as it has hard
 * limits, what was let in and does not show in used; NULL: nothing. True when `pods` such pods may
 * be made; else the sentence, in the API server's words, without its "pods "x" is forbidden: ". */
struct quota_state {
	const struct resource_quota *quota;
	const int64_t *reserved;
};
bool resource_quota_admits(const struct quota_state *all, size_t n, const struct pod *p,
	int32_t pods, char *ret_sentence, size_t size);

#endif
