/*
 * From the wire to the facts of overcommit/facts.h: Nodes, Pods, metrics of both sources, and the
 * configuration in both of its forms. As decode.h: one block each, to be freed with free(); what a
 * user may write wrong in an annotation is a `fault` beside what is passed over, not an error.
 */
#ifndef SLUICE_CONTROLLER_WIRE_DECODE_NODE_H
#define SLUICE_CONTROLLER_WIRE_DECODE_NODE_H

#include "base/err.h"
#include "base/slice.h"
#include "overcommit/facts.h"

struct cJSON;

int decode_node(const struct cJSON *o, struct node_facts **ret, struct err *e);
int decode_pod(const struct cJSON *o, struct pod_facts **ret, struct err *e);

/* One NodeMetrics or PodMetrics of metrics.k8s.io/v1beta1. A usage with a resource missing has no
 * sample: ERR_INVALID, never zero. */
int decode_usage(const struct cJSON *o, struct usage_facts **ret, struct err *e);

/* What a kubelet serves under /metrics/resource (Prometheus text): counters of cpu seconds, memory
 * working sets. Calls each once for the node (ns "" and name "") and once for each pod of which
 * both are there; cpu_seconds is in nanoseconds since whenever. at_ms: of the sample where it has a
 * timestamp, else now_ms. */
struct kubelet_usage {
	const char *ns, *name;
	int64_t at_ms, cpu_ns, memory_bytes;
};
int decode_kubelet_usage(struct slice text, int64_t now_ms,
	void (*each)(const struct kubelet_usage *u, void *ctx), void *ctx, struct err *e);

/* The value of colocation-config, and of resource-threshold-config beside it where there is one
 * (text; length 0: absent): cluster layer and nodeConfigs. ERR_INVALID: not JSON, or the cluster's
 * layer is wrong: the last good configuration stays in force. An entry that is wrong is passed over
 * with its fault. */
int decode_overcommit_config(struct slice colocation, struct slice threshold,
	struct overcommit_config **ret, struct err *e);

/* A NodeOvercommit: its spec has the same fields, and the nodes it is for. */
struct node_overcommit {
	const char *name;
	struct uid uid;
	int64_t generation;
	bool deleting;
	struct selector_term selector; /* spec.nodeSelector; absent: every node */
	struct strategy_layer layer;   /* enable is true unless it says otherwise */
};
int decode_node_overcommit(const struct cJSON *o, struct node_overcommit **ret, struct err *e);

#endif
