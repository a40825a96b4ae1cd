/*
 * Filters: one pod and one node, by themselves. Facts in, a verdict out. The other pods of the node
 * and its free resources are the business of fit_cache.h and pod_affinity.h.
 *
 * The rules are kube-scheduler's (v1.37: nodeunschedulable, nodename, tainttoleration,
 * nodeaffinity, nodeports), and so is their order: a node counts under the first that it fails.
 */
#ifndef SLUICE_QUEUE_CLUSTER_FILTER_H
#define SLUICE_QUEUE_CLUSTER_FILTER_H

#include "queue/cluster/nodes.h"

/* Why a node does not fit. In the fit cache of a pod it is a set (OBSTACLE_BIT). */
enum obstacle {
	OBSTACLE_NOT_NAMED, /* each term of the affinity names nodes, and none names this one */
	OBSTACLE_CORDON,
	OBSTACLE_NODE_NAME,
	OBSTACLE_TAINT,
	OBSTACLE_NODE_AFFINITY, /* or selector */
	OBSTACLE_PORTS,
	OBSTACLE_PODS,
	OBSTACLE_SPREAD_LABEL, /* the node is in no domain */
	OBSTACLE_SPREAD,
	OBSTACLE_AFFINITY,
	OBSTACLE_ANTI_AFFINITY,
	OBSTACLE_OTHERS_ANTI_AFFINITY,
	OBSTACLE_RESOURCE, /* the first that the pod asks for; the next ones follow */
};
#define OBSTACLES 32 /* further resources are counted as the last one */
#define OBSTACLE_BIT(o) (UINT32_C(1) << (o))

/* A node, or all nodes of a shape. */
struct site {
	const char *name; /* "" for a shape */
	bool unschedulable;
	const struct label *labels;
	size_t nlabels;
	const struct taint *taints;
	size_t ntaints;
};

/* Node selector and required affinity. */
bool filter_affinity(const struct pod *p, const struct site *s);
/* Taints that keep new pods out: NoSchedule and NoExecute. */
bool filter_taints(const struct pod *p, const struct site *s);

/* The first of the filters above ports that the site fails, as a set of one; 0: none. */
uint32_t filter_now(const struct pod *p, const struct site *s);
/* Returns the first of these filters that the site fails for good, as a set of one; 0: none. What
 * passes does not count: cordons, and the taints that Kubernetes sets for a node's condition
 * (not-ready, memory-pressure ...). */
uint32_t filter_ever(const struct pod *p, const struct site *s);

/* Every term names nodes, and no node is named by all of one term: none can be meant. */
bool filter_names_conflict(const struct pod *p);

bool host_port_taken(const struct host_port *wanted, const struct host_port *used);

#endif
