/*
 * Topology groups: nodes of the same domains, for placing many pods with pod affinity or spread.
 *
 * A domain of one node (mostly a hostname) parts no groups: a pod placed in it concerns that node
 * alone. The nodes of a group are ordered: least crowded first, then most room left. Only the node
 * on which a pod is placed changes its place. So for each pod only the first node of each group is
 * looked at: three for zones, not 5,000.
 *
 * It is exact, because placing equal pods only closes nodes. Anti-affinity closes them, and
 * affinity from the first pod on; those leave their group for good. Spread constraints close nodes
 * and open them again, but in a group no closed node is before an open one. With several
 * constraints on hostnames that is not so, and each node is a group.
 */
#ifndef SLUICE_QUEUE_CLUSTER_TOPOLOGY_GROUPS_H
#define SLUICE_QUEUE_CLUSTER_TOPOLOGY_GROUPS_H

#include "queue/cluster/fit_cache.h"

/* Places so many pods onto the spots. The first has been placed already. */
void topology_groups_place(struct pod_affinity *c, struct spot *spots, size_t n, int32_t pods);

/* Less crowded, more room left, the first by name. */
bool spot_is_better(const struct pod_affinity *c, const struct spot *a, const struct spot *b);

#endif
