/*
 * A strategy: how much of a node may be lent, as its admin wants it. Fields, defaults and bounds
 * are those of Koordinator's colocation-config and of ACK's ConfigMap ack-slo-config; others are
 * ours.
 *
 * What holds for one node is made of layers, each of which may say any of the fields. A later one
 * goes over an earlier one:
 *
 *   - the profile's defaults;
 *   - what resource-qos-config says of the node, or of the cluster;
 *   - the cluster's;
 *   - the first entry of nodeConfigs that selects the node;
 *   - the node's annotation node.koordinator.sh/colocation-strategy;
 *   - its labels node.koordinator.sh/cpu-reclaim-ratio and memory-reclaim-ratio.
 *
 * A layer is a set of fields with a bit for each that it says. Layers are checked one at a time. A
 * wrong cluster layer refuses the whole: the last good configuration stays in force. A wrong entry
 * of nodeConfigs still stands for the nodes that it selects, but says nothing; one whose selector
 * is wrong selects none. A wrong annotation or label is passed over.
 */
#ifndef SLUICE_OVERCOMMIT_STRATEGY_H
#define SLUICE_OVERCOMMIT_STRATEGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "overcommit/cpu_idle.h"
#include "overcommit/tier.h"
#include "sluice/placement.h"

enum lending_policy {
	POLICY_USAGE,		  /* what high-priority pods do not use */
	POLICY_REQUEST,		  /* what high-priority pods do not ask for; memory only */
	POLICY_MAX_USAGE_REQUEST, /* what they neither use nor ask for */
};

enum usage_source {
	SOURCE_METRICS_API, /* metrics.k8s.io */
	SOURCE_KUBELET,	    /* /metrics/resource of each kubelet, through the API server */
	SOURCE_AGENT,	    /* the node's agent (sluice-node) */
	SOURCE_AUTO,	    /* the node's agent where it has just reported, else metrics.k8s.io */
};

enum suppress_policy {
	SUPPRESS_CFS_QUOTA,
	SUPPRESS_CPUSET, /* Koordinator's other one: taken as cfsQuota (strategy_note()) */
};

/* The names under which is lent; a set. */
enum { LEND_BATCH = 1, LEND_GOCRAN = 2 };

/* The fields, in the order of docs/reference.md. The name in YAML stands beside each. */
enum strategy_field {
	FIELD_ENABLE,		       /* enable */
	FIELD_PROFILE,		       /* profile: ack | koordinator (ours) */
	FIELD_NAMES,		       /* resourceNames: [batch, gocran] (ours) */
	FIELD_SOURCE,		       /* usageSource (ours) */
	FIELD_PERIOD,		       /* metricAggregateDurationSeconds */
	FIELD_INTERVAL,		       /* metricReportIntervalSeconds */
	FIELD_RAISE_WINDOW,	       /* raiseWindowSeconds (ours) */
	FIELD_CPU_PERCENT,	       /* cpuReclaimThresholdPercent */
	FIELD_MEMORY_PERCENT,	       /* memoryReclaimThresholdPercent */
	FIELD_CPU_POLICY,	       /* cpuCalculatePolicy */
	FIELD_MEMORY_POLICY,	       /* memoryCalculatePolicy */
	FIELD_CPU_CAP,		       /* batchCPUThresholdPercent; absent: no cap */
	FIELD_MEMORY_CAP,	       /* batchMemoryThresholdPercent */
	FIELD_DEGRADE,		       /* degradeTimeMinutes */
	FIELD_REWRITE,		       /* updateTimeThresholdSeconds */
	FIELD_DIFF,		       /* resourceDiffThreshold */
	FIELD_RESERVE_CPU,	       /* gocranReserveCPUPercent (ours, as Crane's reserve) */
	FIELD_RESERVE_MEMORY,	       /* gocranReserveMemoryPercent (ours) */
	FIELD_FORECAST_MARGIN,	       /* forecastMarginPercent (ours) */
	FIELD_RECLAIM,		       /* reclaim (ours): false takes nothing back */
	FIELD_EVICT_MEMORY,	       /* memoryEvictThresholdPercent */
	FIELD_EVICT_MEMORY_LOWER,      /* memoryEvictLowerPercent; absent: threshold - 2 */
	FIELD_EVICT_CPU_LOWER,	       /* cpuEvictBESatisfactionLowerPercent */
	FIELD_EVICT_CPU_UPPER,	       /* cpuEvictBESatisfactionUpperPercent */
	FIELD_EVICT_CPU_USAGE,	       /* cpuEvictBEUsageThresholdPercent */
	FIELD_EVICT_ALLOCATABLE,       /* allocatableEvictThresholdPercent */
	FIELD_EVICT_ALLOCATABLE_LOWER, /* allocatableEvictLowerPercent */
	FIELD_COOL_DOWN,	       /* reclaimCoolDownSeconds (ours) */
	FIELD_EVICT_CPU_WINDOW,	       /* cpuEvictTimeWindowSeconds */
	/* Absent: as allocatableEvict... */
	FIELD_EVICT_CPU_ALLOCATABLE,	      /* cpuAllocatableEvictThresholdPercent */
	FIELD_EVICT_CPU_ALLOCATABLE_LOWER,    /* cpuAllocatableEvictLowerPercent */
	FIELD_EVICT_MEMORY_ALLOCATABLE,	      /* memoryAllocatableEvictThresholdPercent */
	FIELD_EVICT_MEMORY_ALLOCATABLE_LOWER, /* memoryAllocatableEvictLowerPercent */
	/* What the node's agent does (node/orders.h). */
	FIELD_LIMITS,		/* limits (ours) */
	FIELD_SUPPRESS,		/* suppress (ours) */
	FIELD_SUPPRESS_PERCENT, /* cpuSuppressThresholdPercent */
	FIELD_SUPPRESS_MIN,	/* cpuSuppressMinPercent */
	FIELD_SUPPRESS_POLICY,	/* cpuSuppressPolicy */
	FIELD_CPU_IDLE,		/* cpuIdle: Never | Auto | Always (ours) */
	FIELD_HOLD,		/* memoryHoldPercent (ours) */
	FIELD_END,		/* memoryEndPercent (ours) */
	STRATEGY_FIELDS
};

struct strategy {
	bool enable;
	enum profile profile;
	unsigned names; /* LEND_* */
	enum usage_source source;
	int64_t period_s;	/* 60: a node is not written more often, but for its safety */
	int64_t interval_s;	/* 15: how often usage is read */
	int64_t raise_window_s; /* 300: what is raised is raised to the mean of this time */
	int64_t cpu_percent, memory_percent; /* 65 and 65; koordinator 60 and 65; may exceed 100 */
	enum lending_policy cpu_policy, memory_policy;
	int64_t cpu_cap, memory_cap;		  /* percent of the base; -1: none */
	int64_t degrade_min;			  /* 15 */
	int64_t rewrite_s;			  /* 300: what is older is written again */
	int64_t diff_permille;			  /* 100: what differs by no more is not */
	int64_t reserve_cpu, reserve_memory;	  /* percent: 0 */
	int64_t forecast_margin;		  /* percent: 10 */
	bool reclaim;				  /* true */
	int64_t evict_memory, evict_memory_lower; /* percent: 70 and 68 */
	int64_t evict_cpu_lower, evict_cpu_upper, evict_cpu_usage; /* 60, 80, 90 */
	int64_t evict_allocatable, evict_allocatable_lower;	   /* 110, 100 */
	int64_t cool_down_s;					   /* 60 */
	int64_t evict_cpu_window_s; /* 20: so long an agent's samples must all say it */
	int64_t evict_cpu_allocatable, evict_cpu_allocatable_lower; /* as evict_allocatable... */
	int64_t evict_memory_allocatable, evict_memory_allocatable_lower;
	bool limits, suppress;			/* true, true */
	int64_t suppress_percent, suppress_min; /* percent of capacity: 65 and 2 */
	enum suppress_policy suppress_policy;
	enum cpu_idle cpu_idle;
	int64_t hold, end; /* percent of memory in use: 90 and 96; 0: never */
};

struct strategy_layer {
	uint64_t says; /* 1 << enum strategy_field */
	struct strategy value;
};

/* Returns the name of a field in JSON and YAML, static. */
const char *strategy_field_name(enum strategy_field f);

struct strategy strategy_default(enum profile profile);

/* Checks a layer: ERR_INVALID with a sentence that begins with the field's name and ends with the
 * cure. Of several faults the first in the order of the fields. */
int strategy_check(const struct strategy_layer *l, struct err *e);

/* Says what of a strategy is not done as it stands there, and what is done instead; NULL: nothing. */
const char *strategy_note(const struct strategy *s);

/* Takes over what the layer says, and no more: strategy_for() settles ends that do not agree. */
void strategy_put(struct strategy *s, const struct strategy_layer *l);

struct node_strategy { /* an entry of nodeConfigs */
	const char *name;
	struct selector_term selector; /* of the node's labels */
	struct strategy_layer layer;
	const char *fault; /* NULL, or why it is passed over */
};

/* What resource-qos-config says (controller/wire/decode_qos.h): below all other layers. */
enum { QOS_NOTES_MAX = 64 };
struct qos_config {
	struct strategy_layer cluster;
	const struct node_strategy *nodes; /* the first that selects a node holds */
	size_t nnodes;
	const char *const *notes; /* what of it is passed over, or taken as something else */
	size_t nnotes;
};

struct overcommit_config {
	struct strategy_layer cluster;
	const struct node_strategy *nodes; /* the first that selects a node holds */
	size_t nnodes;
	struct qos_config qos;
};

/* Returns what holds for a node with these labels; own is what its annotation and labels say
 * together. The profile of the layers decides the defaults. *ret_name: of the entry that holds, or
 * NULL. */
struct strategy strategy_for(const struct overcommit_config *c, const struct label *labels,
	size_t nlabels, const struct strategy_layer *own, const char **ret_name);

/* Reads a ratio label: "0.29" is 28 percent, cut off as upstream's float is, and at 2147483647
 * percent. False: not a number from 0 on. */
bool strategy_ratio(const char *text, int64_t *ret_percent);

#endif
