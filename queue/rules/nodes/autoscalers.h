/*
 * Autoscalers: programs that make nodes, as they are seen in the cluster.
 *
 * A ResourceFlavor whose spec.nodes is absent counts as Autoscaled (nodes_to_come.h) where one is
 * seen that makes nodes of it:
 *
 *   Karpenter           a NodePool whose nodes can have all nodeLabels of the flavor
 *   cluster-autoscaler  it works. Which labels its node groups have its status does not tell, so
 *                       that holds for every flavor
 *
 * What spec.nodes says wins, and a flavor that lends idle resources has no nodes to come.
 *
 * The nodes of a NodePool can have a label that it gives them, or that its requirements admit, or
 * of which they say nothing and that a cloud gives each node (zone, instance type, architecture):
 * Karpenter's own rule. Taints are not compared: a flavor need not name them all.
 *
 * Whether the limits of a NodePool leave room for one more node is not asked: those change with
 * what runs. A pool that makes no nodes at all is not told of.
 */
#ifndef SLUICE_QUEUE_RULES_NODES_AUTOSCALERS_H
#define SLUICE_QUEUE_RULES_NODES_AUTOSCALERS_H

#include <stdbool.h>

#include "base/list.h"
#include "queue/model/flavor.h"

struct autoscalers {
	struct link pools; /* by name: the first that matches is named */
	bool cluster_autoscaler;
};

void autoscalers_init(struct autoscalers *a);
void autoscalers_done(struct autoscalers *a);

/* The flavor is another one: what makes nodes of it now? True when that is news. */
bool autoscalers_judge(const struct autoscalers *a, struct flavor *f);

#endif
