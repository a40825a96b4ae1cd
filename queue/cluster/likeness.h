/* How much a node is like those of a flavor: which of several it belongs to. */
#ifndef SLUICE_QUEUE_CLUSTER_LIKENESS_H
#define SLUICE_QUEUE_CLUSTER_LIKENESS_H

#include "queue/cluster/nodes.h"

/* How many labels and taints of the group the node has, which must be all of them but for taints that keep
 * no pod away. -1: it lacks one, or is not known. */
int node_likeness(const struct nodes *n, const char *name, const struct node_group *g);

#endif
