/*
 * Nodes to come: nodes that are not there yet, and can be made.
 *
 * An autoscaler makes nodes for pods that wait for one. A Job that is held because no present node
 * could take its pods has no pods, so for a pool at zero none would ever come. What is not there
 * cannot be refuted by what is. So nodes can be made of a flavor
 *
 *   - whose spec.nodes is Autoscaled: also larger ones than those that are up;
 *   - whose spec.nodes is absent, where an autoscaler is seen that makes such: also larger ones;
 *   - whose spec.nodes is absent, and that has spec.provisioning: an autoscaler is asked before a
 *     start, and knows better than we what nodes there can be;
 *   - whose spec.nodes is absent, as long as no node has all of its nodeLabels.
 *
 * Never are nodes made of a flavor whose spec.nodes is Fixed, or that lends idle resources: a node
 * lends what it has, once it is there. A flavor without nodeLabels is of all nodes.
 *
 * Of several flavors (one for each resource group) a node can be made if one of any of them can,
 * unless they contradict each other. A pod that names its node asks no autoscaler.
 *
 * It is a reason to start only with clusterFit Possible. With Now a Job starts where there is room
 * now, and gap fillers make no autoscaler add nodes (node_fit.h).
 *
 * Of the autoscalers, as they are seen in the cluster, these make nodes of a flavor:
 *
 *   Karpenter           with a NodePool whose nodes can have all nodeLabels of the flavor.
 *   cluster-autoscaler  when it works. Its status does not tell the labels of its node groups, so
 *                       that holds for every flavor.
 *
 * By Karpenter's own rule, nodes of a NodePool can have a label that it gives them or that its
 * requirements admit. They can also have a label that a cloud gives each node (zone, instance type,
 * architecture) where requirements say nothing of it. Taints are not compared: a flavor need not
 * name them all.
 *
 * Whether the limits of a NodePool leave room for one more node is not asked: those change with
 * what runs. A pool that makes no nodes at all is not told of.
 */
#ifndef SLUICE_QUEUE_FEATURES_NODES_NODES_TO_COME_H
#define SLUICE_QUEUE_FEATURES_NODES_NODES_TO_COME_H

#include <stdbool.h>
#include <stddef.h>

#include "base/list.h"
#include "base/map.h"
#include "queue/cluster/nodes.h"
#include "queue/core/model/flavor.h"
#include "queue/requests/pod_template.h"

/* Judges anew whether a node of the flavor is there, because the flavor or the nodes are others. */
void nodes_to_come_judge(struct nodes *n, struct flavor *f);
/* Judges all flavors anew; each is told whether that became another answer (flavor.pool_moved). */
void nodes_to_come_judge_all(struct nodes *n, const struct map *flavors);

/* Returns whether a node can be made of the flavor. */
bool nodes_to_come_of(const struct flavor *f);
/* Returns whether a node can be made that is of all these flavors, for pods of the template. */
bool nodes_to_come_for(
	const struct pod_template *template, const struct flavor *const *flavors, size_t n);

/* ---- What is seen to make nodes ---- */

struct autoscalers {
	struct link pools; /* by name: the first that matches is named */
	bool cluster_autoscaler;
};

void autoscalers_init(struct autoscalers *a);
void autoscalers_done(struct autoscalers *a);

/* Finds what makes nodes of the flavor now. True when that is news. */
bool autoscalers_judge(const struct autoscalers *a, struct flavor *f);

#endif
