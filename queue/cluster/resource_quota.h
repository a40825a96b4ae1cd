/*
 * ResourceQuotas: would the API server let these pods in?
 *
 * A quota has what is hard, what is used, and scopes; it counts a pod when all its scopes match
 * (Terminating, NotTerminating, BestEffort, NotBestEffort, PriorityClass and
 * CrossNamespacePodAffinity, as scopes or in a scopeSelector with In, NotIn, Exists, DoesNotExist),
 * and when it limits anything that pods have. What a pod counts for is Kubernetes' own sum
 * (pkg/quota/v1/evaluator/core/pods.go): cpu and requests.cpu, memory, ephemeral-storage, limits.*,
 * requests.<extended resource>, hugepages, pods and count/pods; the larger of containers and init
 * containers, or what the pod asks for as a whole, and overhead. Held against Kubernetes 1.36
 * itself by test/e2e/test_resource_quota.py.
 *
 * Refused is
 *   - a pod that does not say what the quota wants to know: "failed quota: compute: must specify
 *     limits.memory for: main"
 *   - any pod, while the quota's use has not been counted: "status unknown for quota: compute,
 *     resources: cpu,pods"
 *   - any pod, where a quota names a PriorityClass by what is no label's value: "error matching
 *     scopes of quota compute, err: ..." (that answer is a 500)
 *   - a pod over the quota: "exceeded quota: compute, requested: cpu=2, used: cpu=9, limited:
 *     cpu=10"
 * in the API server's own words and figures. Of several quotas that refuse, the first in name
 * order, but those that are exceeded after all others (the API server looks at each kind in no
 * order that can be known). Amounts are whole bytes: what is written in fractions of one is rounded
 * so that we rather wait.
 *
 * What has been done to the pod before quotas are asked must have been done to ours: defaults of
 * LimitRanges, overhead of its RuntimeClass, the default PriorityClass.
 *
 * What the status of a quota does not show yet counts too: pods of runs that were let in and have
 * not been made, or have been made and not been counted (quota_flight.h), so that two Jobs that
 * are started together do not collide.
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
	/* Of its status: what the API server enforces, which is nothing until the quota controller
	 * has looked at it. Names as written: "requests.cpu", "count/pods", "limits.memory".
	 * Amounts in quota_unit_of() them; what is too large to be counted is INT64_MAX. */
	struct resource_list hard, used;
	const struct quota_scope_term
		*scopes; /* spec.scopes and spec.scopeSelector; all must match */
	size_t nscopes;
};

/* Thousandths for those that count cpu, whole units for all others. */
enum quantity_unit quota_unit_of(const char *name);
/* Does a hard limit of this name limit pods at all? "services", or an extended resource without
 * "requests.", does not. */
bool quota_name_is_of_pods(const char *name);

/* Does it count such a pod? */
bool resource_quota_counts(const struct resource_quota *q, const struct pod *p);

/* What one such pod counts for under the name of a hard limit; false: not at all. */
bool resource_quota_usage(const struct pod *p, const char *name, int64_t *ret_amount);

/* A Job makes more pods than it has at one time. For count/pods those that have ended count as
 * well, as long as they are kept, and a Job keeps them. */
struct pod_count {
	int32_t at_once, in_all;
};

/* All of a namespace, in name order. reserved: for each quota, as many amounts as it has hard
 * limits, what was let in and does not show in used; NULL: nothing. True when that many such pods
 * may be made; else the sentence (of 80 pods "requested" is that of all of them, and "used" is with
 * what is reserved), in the API server's words, without its "pods "x" is forbidden: ". */
struct quota_state {
	const struct resource_quota *quota;
	const int64_t *reserved;
};
bool resource_quota_admits(const struct quota_state *all, size_t n, const struct pod *p,
	struct pod_count pods, char *ret_sentence, size_t size);

/* The most such pods that are admitted, at one time and in all (each by itself; both must be kept
 * to); INT32_MAX: any number. */
struct pod_count resource_quota_room(const struct quota_state *all, size_t n, const struct pod *p);

#endif
