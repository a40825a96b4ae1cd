/*
 * ResourceQuotas: would the API server admit these pods?
 *
 * A quota has hard limits, use, and scopes. It counts a pod when it limits anything that pods have
 * and all its scopes match: Terminating, NotTerminating, BestEffort, NotBestEffort, PriorityClass
 * and CrossNamespacePodAffinity, as scopes or in a scopeSelector with In, NotIn, Exists,
 * DoesNotExist.
 *
 * What a pod counts for is Kubernetes' own sum (pkg/quota/v1/evaluator/core/pods.go): cpu and
 * requests.cpu, memory, ephemeral-storage, limits.*, requests.<extended resource>, hugepages, pods
 * and count/pods. It is the larger of containers and init containers, or the pod-level resources,
 * plus overhead. Compared with Kubernetes 1.37 itself by test/e2e/test_resource_quota.py.
 *
 * Refused is
 *
 *   - a pod without a field that the quota requires: "failed quota: compute: must specify
 *     limits.memory for: main"
 *   - any pod, while the quota's use has not been counted: "status unknown for quota: compute,
 *     resources: cpu,pods"
 *   - any pod, if a quota names a PriorityClass by a text that is no valid label value: "error
 *     matching scopes of quota compute, err: ..." (that answer is a 500)
 *   - a pod over the quota: "exceeded quota: compute, requested: cpu=2, used: cpu=9, limited:
 *     cpu=10"
 *
 * in the API server's own words and figures. Of several quotas that refuse, it is the first in name
 * order, but exceeded quotas come last. (The API server looks at each kind in no known order.)
 * Amounts are whole bytes: fractions are rounded so that a Job rather waits.
 *
 * The pod must be as the API server has it when it asks quotas: with defaults of LimitRanges,
 * overhead of its RuntimeClass, and the default PriorityClass.
 *
 * Pods that the status does not show yet count, too: pods of admitted runs that are not made or not
 * counted yet (quota_flight.h). So two Jobs that start together do not collide.
 */
#ifndef SLUICE_QUEUE_CLUSTER_RESOURCE_QUOTA_H
#define SLUICE_QUEUE_CLUSTER_RESOURCE_QUOTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "queue/cluster/pod.h"
#include "sluice/quantity.h"

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
	int64_t version; /* metadata.resourceVersion as a number */
	/* Of its status, because the API server enforces that: nothing until the quota controller
	 * has looked at it. Names as written: "requests.cpu", "count/pods", "limits.memory".
	 * Amounts in quota_unit_of() them; INT64_MAX: too large to count. */
	struct resource_list hard, used;
	const struct quota_scope_term
		*scopes; /* spec.scopes and spec.scopeSelector; all must match */
	size_t nscopes;
};

/* Thousandths for names that count cpu, whole units for all others. */
enum quantity_unit quota_unit_of(const char *name);
/* Does a hard limit of this name limit pods? "services", or an extended resource without
 * "requests.", does not. */
bool quota_name_is_of_pods(const char *name);

/* Returns whether the quota counts such a pod. */
bool resource_quota_counts(const struct resource_quota *q, const struct pod *p);

/* What one such pod counts for under the name of a hard limit; false: not at all. */
bool resource_quota_usage(const struct pod *p, const char *name, int64_t *ret_amount);

/* A Job makes more pods than it has at one time. count/pods counts ended ones, too, as long as they
 * are kept, and a Job keeps them. */
struct pod_count {
	int32_t at_once, in_all;
};

/* All quotas of a namespace, in name order. reserved: for each hard limit, what is admitted and not
 * in `used` yet; NULL: nothing. resource_quota_admits() is true when that many such pods may be
 * made. Else it writes the sentence in the API server's words, without "pods "x" is forbidden: ".
 * There "requested" is that of all pods together, and "used" includes `reserved`. */
struct quota_state {
	const struct resource_quota *quota;
	const int64_t *reserved;
};
bool resource_quota_admits(const struct quota_state *all, size_t n, const struct pod *p,
	struct pod_count pods, char *ret_sentence, size_t size);

/* The most such pods that are admitted, at one time and in all. Both limits count. INT32_MAX: any
 * number. */
struct pod_count resource_quota_room(const struct quota_state *all, size_t n, const struct pod *p);

#endif
