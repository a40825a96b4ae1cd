/* Deep copies, in their owner's arena, of what queue/cluster/pod.h only borrows. */
#ifndef SLUICE_QUEUE_CLUSTER_COPY_H
#define SLUICE_QUEUE_CLUSTER_COPY_H

#include "queue/cluster/pod.h"
#include "base/arena.h"

/* The result of pod_requests(). */
struct resource_list copy_requests(struct arena *a, const struct pod_resources *of);
const struct affinity_term *copy_affinity_terms(
	struct arena *a, const struct affinity_term *from, size_t n);
const struct spread_constraint *copy_spread(
	struct arena *a, const struct spread_constraint *from, size_t n);
const struct host_port *copy_host_ports(struct arena *a, const struct host_port *from, size_t n);
struct resource_list copy_resource_list(struct arena *a, const struct resource_list *from);
/* A whole pod; names that are NULL become "". */
void copy_pod(struct arena *a, const struct pod *from, struct pod *ret);

#endif
