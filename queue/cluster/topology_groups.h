/*
 * Lots: nodes that are of the same domains, for placing many pods that look at others.
 *
 * A domain of which only one of the nodes is (a hostname, as a rule) tells no lots apart: what is
 * placed in it concerns that node alone. So the order of the nodes of a lot, least crowded first
 * and then most room left, moves only with the node on which one is placed, and the first of each
 * lot is all that has to be looked at for a pod: three for zones, not 5,000.
 *
 * Exact, for as pods of one kind are placed nodes are only closed: by anti-affinity, and by
 * affinity from the first pod on; those leave their lot for good. Spreading closes and opens again,
 * but in a lot nobody it closes is before somebody it does not; where a pod has several constraints
 * on hostnames that is not so, and each node is a lot.
 */
#ifndef SLUICE_QUEUE_CLUSTER_TOPOLOGY_GROUPS_H
#define SLUICE_QUEUE_CLUSTER_TOPOLOGY_GROUPS_H

#include "queue/cluster/fit_cache.h"

/* So many pods, the first of which has been placed already, onto the spots. */
void topology_groups_place(struct pod_affinity *c, struct spot *spots, size_t n, int32_t pods);

/* Less crowded, more room left, the first by name. */
bool spot_is_better(const struct pod_affinity *c, const struct spot *a, const struct spot *b);

#endif
