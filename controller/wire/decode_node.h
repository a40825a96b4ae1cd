/*
 * From the wire to the facts of overcommit/facts.h: Nodes, Pods, metrics of both sources, and the
 * configuration in both of its forms. As decode.h: one block each, to be freed with free(). A fault
 * of an annotation is kept in `fault`, and the annotation is passed over: that is no error.
 */
#ifndef SLUICE_CONTROLLER_WIRE_DECODE_NODE_H
#define SLUICE_CONTROLLER_WIRE_DECODE_NODE_H

#include "base/err.h"
#include "base/slice.h"
#include "overcommit/facts.h"

struct cJSON;

int decode_node(const struct cJSON *o, struct node_facts **ret, struct err *e);
int decode_pod(const struct cJSON *o, struct pod_facts **ret, struct err *e);

/* Decodes one NodeMetrics or PodMetrics of metrics.k8s.io/v1beta1. ERR_INVALID when a resource is
 * missing: unknown use is never zero. */
int decode_usage(const struct cJSON *o, struct usage_facts **ret, struct err *e);

/* What a kubelet counted of a pod, or of the node (ns "" and name ""). cpu_ns counts since
 * whenever; at_ms is that of the sample, or now_ms where it has no time. */
struct kubelet_usage {
	const char *ns, *name;
	int64_t at_ms, cpu_ns, memory_bytes;
};
int decode_kubelet_usage(struct slice text, int64_t now_ms,
	void (*each)(const struct kubelet_usage *u, void *ctx), void *ctx, struct err *e);

/* Decodes the values of colocation-config, and of resource-threshold-config and resource-qos-config
 * beside it (texts; length 0: absent). An entry that is wrong is passed over with its fault. ERR_INVALID: not JSON, or the
 * cluster's layer is wrong; then the last good configuration stays in force. */
int decode_overcommit_config(struct slice colocation, struct slice threshold, struct slice qos,
	struct overcommit_config **ret, struct err *e);

/* A NodeOvercommit: the fields of a layer, and which nodes it is for. */
struct node_overcommit {
	const char *name;
	struct uid uid;
	int64_t generation;
	bool deleting;
	struct selector_term selector; /* spec.nodeSelector; absent: every node */
	struct strategy_layer layer;   /* enable is true unless the spec says otherwise */
};
int decode_node_overcommit(const struct cJSON *o, struct node_overcommit **ret, struct err *e);

#endif
