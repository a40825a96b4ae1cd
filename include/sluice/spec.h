/*
 * What admins describe: the specs of ClusterQueue, Cohort, LocalQueue, ResourceFlavor and the
 * priority classes, decoded; and the configuration that holds for all of them. Fields that Kueue
 * v1beta2 also has have its names and meaning; cli/import/ has a table of Kueue's.
 *
 * Records of one moment, like struct job: borrowed by the call they are passed to.
 */
#ifndef SLUICE_SPEC_H
#define SLUICE_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sluice/job.h"
#include "sluice/placement.h"

#define QUOTA_UNLIMITED INT64_MAX

/* What a flavor gives: the nodes' own resources, or idle ones that they lend out, under one of the
 * names for that (overcommit/publication.h). struct job has a set of these (1 << this). */
enum lending {
	LENDING_NONE,
	LENDING_BATCH,	/* kubernetes.io/batch-cpu, kubernetes.io/batch-memory */
	LENDING_GOCRAN, /* gocran.io/cpu, gocran.io/memory */
};

/* Returns the name under which pods in such a flavor ask for "cpu" or "memory"; `resource` itself
 * for LENDING_NONE and for all other resources. */
const char *lending_name(enum lending l, const char *resource);

/* spec.nodes of a ResourceFlavor: which nodes there can be. */
enum node_pool {
	NODE_POOL_UNSAID, /* those that are up; some can be made while there is none, or where an
			     autoscaler is seen (queue/features/nodes/nodes_to_come.h) */
	NODE_POOL_FIXED,  /* those that are up */
	NODE_POOL_AUTOSCALED, /* whatever its pods need can be made */
};

/* spec.provisioning of a ResourceFlavor: how an autoscaler is asked for nodes, before a Job starts
 * (controller/gate/provision.h). */
struct provisioning_spec {
	const char *class_name; /* NULL: none is asked */
	const struct label *parameters;
	size_t nparameters;
	int64_t timeout_ms; /* the longest that a start waits */
};

struct flavor_spec {
	const char *name;
	struct node_group nodes;
	/* spec.idlePool: the flavor's quota is a part of what its nodes lend out now
	 * (queue_set_idle_pool()), in cpu and memory, whatever names the pods use. */
	enum lending lending;
	int32_t share_permille; /* spec.idlePool.share: "80%" is 800; 1 to 1000 */
	/* spec.idlePool.limits is Kubelet: pods have limits of cpu and memory beside requests of 0,
	 * so that their kubelet holds them to what they ask for, without an agent. */
	bool kubelet_limits;
	/* spec.podTemplate: what else a start adds (queue/core/model/directives.h). */
	struct pod_metadata metadata;
	struct placement adds;
	enum node_pool pool; /* queue/features/nodes/nodes_to_come.h */
	struct provisioning_spec provisioning;
};

/* A NodePool of Karpenter: which nodes it makes for pods that wait. */
struct made_nodes_spec {
	const char *name;
	const struct label *labels; /* of each of its nodes */
	size_t nlabels;
	struct selector_term requirements; /* on other labels of its nodes */
};

/* What the nodes of a flavor lend out now, less what pods that are not the queue's ask of it. */
struct idle_pool {
	const char *flavor;
	int64_t cpu_milli, memory_bytes; /* of all its nodes */
	int64_t most_cpu_milli,
		most_memory_bytes; /* the most of one node: no pod may ask for more */
};

#include "sluice/fields/members.h"

struct quota_spec {
#include "sluice/fields/quota.def"
};

struct flavor_quota_spec {
#include "sluice/fields/flavor_quota.def"
};

struct resource_group_spec {
#include "sluice/fields/resource_group.def"
};

enum queueing_strategy {
	BEST_EFFORT_FIFO, /* a Job that does not fit lets the others pass */
	STRICT_FIFO,	  /* a Job that does not fit blocks those behind */
	BACKFILL, /* a Job that does not fit gets a time; the others pass if they do not delay it */
};

enum stop_policy {
	STOP_NONE,
	STOP_HOLD,	     /* nothing starts; what runs goes on */
	STOP_HOLD_AND_DRAIN, /* nothing starts; what runs is stopped */
};

/* When the search through the flavors of a group goes on. Zero is Kueue's default. */
struct fungibility_spec {
#include "sluice/fields/fungibility.def"
};

enum preemption_policy {
	PREEMPT_NEVER,
	PREEMPT_LOWER_PRIORITY,
	PREEMPT_LOWER_OR_NEWER_EQUAL_PRIORITY, /* withinClusterQueue only */
	PREEMPT_ANY,			       /* reclaimWithinCohort only */
};

/* Which Jobs a Job of this ClusterQueue may preempt, and for how long its own runs are
 * spared. Zero is Kueue's default: none. */
struct preemption_spec {
#include "sluice/fields/preemption.def"
};

#define MIN_RUN_MAX_MS (INT64_C(31) * 24 * 3600 * 1000)

struct cohort_spec {
	META;
#include "sluice/fields/groups.def"
#include "sluice/fields/cohort.def"
};

/* spec.clusterFit: what a ClusterQueue asks of the nodes before it starts a Job
 * (queue/cluster/nodes.h).
 */
enum cluster_fit {
	CLUSTER_FIT_POSSIBLE, /* a pod of the Job fits some node, were that empty: the default */
	CLUSTER_FIT_IGNORE,   /* nothing */
	CLUSTER_FIT_NOW,      /* all pods with which it would start fit now, beside each other */
};

/* growInterval: the default, and its bounds. */
#define GROW_INTERVAL_MS 30000
#define GROW_INTERVAL_MIN_MS 1000
#define GROW_INTERVAL_MAX_MS (INT64_C(24) * 3600 * 1000)

/* The most Jobs of a ClusterQueue that have a booking because they cannot start. A pass looks at
 * all. */
#define BACKFILL_RESERVATIONS_MAX 1000

struct clusterqueue_spec {
	META;
#include "sluice/fields/groups.def"
#include "sluice/fields/clusterqueue.def"
};

/* The bound below which no priority is, so that no Job fills gaps: as in Kueue. */
#define GAP_FILLERS_NONE INT32_MIN

/* spec.maxWaiting of a LocalQueue that does not say, as the CRD has it: no honest team meets it. */
#define MAX_WAITING_DEFAULT 20000

/* What the Jobs of one user may do in a LocalQueue. 0, or not in the list: no limit. */
struct user_limits {
#include "sluice/fields/user_limits.def"
	struct resource_list quota; /* held, over all flavors */
};

/* Tells whether any of the limits is on what runs, rather than on what waits. */
static inline bool user_limits_runs(const struct user_limits *l)
{
	return l->running > 0 || l->quota.count > 0;
}

/* How many Jobs of a LocalQueue may wait, and run. 0: no limit. */
struct localqueue_limits {
#include "sluice/fields/localqueue_limits.def"
};

struct localqueue_spec {
	const char *ns;
	META;
#include "sluice/fields/localqueue.def"
};

#include "sluice/fields/end.h"

enum priority_kind {
	PRIORITY_WORKLOAD, /* sluice.dev WorkloadPriorityClass, named by the Job's label */
	PRIORITY_POD,	   /* scheduling.k8s.io PriorityClass, named by the pod template */
};

/* The highest priority that is not the system's own: Kubernetes' HighestUserDefinablePriority. */
#define PRIORITY_HIGHEST 1000000000

struct priority_spec {
	enum priority_kind kind;
	const char *name;
	int32_t value;
	/* PRIORITY_POD only */
	bool global_default;
	bool never_preempts; /* preemptionPolicy Never */
};

/* How requests are counted before they meet a quota. */
struct transformation_spec {
	const char *input;	       /* resource */
	bool replace;		       /* strategy Replace: the input itself is not counted */
	const char *multiply_by;       /* resource whose amount multiplies too; "" when absent */
	const struct resource *output; /* for each 1 of the input (1 cpu, not 1m): quantities in
					  thousandths, whatever the resource; may be negative */
	size_t noutputs;
};

enum fair_strategy {
	FAIR_LESS_THAN_OR_EQUAL_TO_FINAL_SHARE,
	FAIR_LESS_THAN_INITIAL_SHARE,
};

/* What holds for all queues: flags of the controller and of simulate. Zero is the default, but for
 * what queue_config_default() sets. */
struct queue_config {
	bool fair_sharing;
	enum fair_strategy fair_strategy[2]; /* tried in this order */
	size_t nfair_strategies;
	/* Jobs to preempt are the first in Kueue's order, not those that lose the least. */
	bool victims_as_kueue;

	int64_t usage_half_life_ms;	     /* decay of the usage that orders LocalQueues; 24 h */
	const struct resource *usage_weight; /* resourceWeights in thousandths; absent: 1 */
	size_t nusage_weights;

	const char *const *excluded_prefixes; /* resources that are not counted */
	size_t nexcluded_prefixes;
	const struct transformation_spec *transformation;
	size_t ntransformations;
	bool ignore_undeclared; /* quotaCheckStrategy IgnoreUndeclared */

	int64_t pods_ready_timeout_ms; /* 0: not watched */
	int64_t recovery_timeout_ms;   /* pods were ready and are not any more; 0: not watched */
	int64_t back_off_base_ms;      /* 60 s */
	int64_t back_off_max_ms;       /* 1 h */
	int32_t back_off_limit;	       /* requeues before deactivation; negative: no limit */
	bool requeue_at_creation;      /* requeuingStrategy.timestamp Creation; else Eviction */
};

/* A limit of a LimitRange: defaults and bounds for the pods of its namespace. Lists may be
 * empty. */
struct limit_range_item {
	bool is_pod; /* type Pod; else Container */
	struct resource_list defaults, default_requests, min, max;
};

struct limit_range_spec {
	const char *ns, *name;
	const struct limit_range_item *item;
	size_t nitems;
};

struct runtime_class_spec {
	const char *name;
	struct resource_list overhead; /* overhead.podFixed */
	/* scheduling: where pods of the class may run, and what they tolerate, beside their own */
	const struct label *node_selector;
	size_t nnode_selector;
	const struct toleration *tolerations;
	size_t ntolerations;
};

/* A DeviceClass: its devices are requested by deviceclass.resource.kubernetes.io/NAME, and by an
 * extended resource where it names one. */
struct device_class_spec {
	const char *name;
	const char *resource; /* spec.extendedResourceName; "" when absent */
};

/* A PodDisruptionBudget: it weighs in the choice of victims (queue/core/model/disruption.h). */
struct disruption_budget_spec {
	const char *ns, *name;
	struct selector_term selector; /* an empty one: every pod of the namespace */
	int32_t allowed;	       /* status.disruptionsAllowed */
};

struct namespace_spec {
	const char *name;
	const struct label *labels;
	size_t nlabels;
};

#endif
