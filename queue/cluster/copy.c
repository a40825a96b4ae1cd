#include "queue/cluster/copy.h"

#include <stdlib.h>

#include "base/mem.h"
#include "queue/job/placement.h"

static struct selector_term copy_selector(struct arena *a, const struct selector_term *from)
{
	return *terms_copy(a, from, 1);
}

const struct affinity_term *copy_affinity_terms(
	struct arena *a, const struct affinity_term *from, size_t n)
{
	struct affinity_term *all = arena_take(a, n, sizeof(*all));
	for (size_t i = 0; i < n; i++) {
		all[i] = from[i];
		all[i].topology_key = arena_string(a, from[i].topology_key);
		all[i].selector = copy_selector(a, &from[i].selector);
		all[i].namespaces = names_copy(a, from[i].namespaces, from[i].nnamespaces);
		all[i].namespace_selector = copy_selector(a, &from[i].namespace_selector);
	}
	return all;
}

const struct spread_constraint *copy_spread(
	struct arena *a, const struct spread_constraint *from, size_t n)
{
	struct spread_constraint *all = arena_take(a, n, sizeof(*all));
	for (size_t i = 0; i < n; i++) {
		all[i] = from[i];
		all[i].topology_key = arena_string(a, from[i].topology_key);
		all[i].selector = copy_selector(a, &from[i].selector);
	}
	return all;
}

const struct host_port *copy_host_ports(struct arena *a, const struct host_port *from, size_t n)
{
	struct host_port *all = arena_take(a, n, sizeof(*all));
	for (size_t i = 0; i < n; i++) {
		all[i].protocol = arena_string(a, from[i].protocol);
		all[i].ip = arena_string(a, from[i].ip);
		all[i].port = from[i].port;
	}
	return all;
}

struct resource_list copy_requests(struct arena *a, const struct pod_resources *of)
{
	size_t n = pod_requests(of, NULL, 0);
	struct resource *all = mem_array(n + 1, sizeof(*all));
	struct resource *item = arena_take(a, n, sizeof(*item));
	pod_requests(of, all, n);
	for (size_t i = 0; i < n; i++)
		item[i] = (struct resource){
			.name = arena_string(a, all[i].name), .amount = all[i].amount};
	free(all);
	return (struct resource_list){item, n};
}

/* ---- a whole pod ----------------------------------------------------------------------------- */

struct resource_list copy_resource_list(struct arena *a, const struct resource_list *from)
{
	struct resource *item = arena_take(a, from->count, sizeof(*item));
	for (size_t i = 0; i < from->count; i++) {
		item[i] = from->item[i];
		item[i].name = arena_string(a, from->item[i].name);
	}
	return (struct resource_list){item, from->count};
}

static const struct container *copy_containers(
	struct arena *a, const struct container *from, size_t n)
{
	struct container *all = arena_take(a, n, sizeof(*all));
	for (size_t i = 0; i < n; i++) {
		all[i] = from[i];
		all[i].requests = copy_resource_list(a, &from[i].requests);
		all[i].limits = copy_resource_list(a, &from[i].limits);
		all[i].name = from[i].name ? arena_string(a, from[i].name) : NULL;
	}
	return all;
}

static void copy_resources(
	struct arena *a, const struct pod_resources *from, struct pod_resources *ret)
{
	*ret = *from;
	ret->containers = copy_containers(a, from->containers, from->ncontainers);
	ret->init_containers = copy_containers(a, from->init_containers, from->ninit_containers);
	ret->overhead = copy_resource_list(a, &from->overhead);
	ret->pod_level = copy_resource_list(a, &from->pod_level);
	ret->pod_level_limits = copy_resource_list(a, &from->pod_level_limits);
	ret->runtime_class = arena_string(a, from->runtime_class);
}

void copy_pod(struct arena *a, const struct pod *from, struct pod *ret)
{
	*ret = *from;
	ret->ns = arena_string(a, from->ns);
	ret->labels = labels_copy(a, from->labels, from->nlabels);
	copy_resources(a, &from->resources, &ret->resources);
	ret->priority_class = arena_string(a, from->priority_class);
	ret->node_name = arena_string(a, from->node_name);
	ret->scheduler = arena_string(a, from->scheduler);
	ret->node_selector = labels_copy(a, from->node_selector, from->nnode_selector);
	ret->tolerations = tolerations_copy(a, from->tolerations, from->ntolerations);
	ret->terms = node_terms_copy(a, from->terms, from->nterms);
	ret->affinity = copy_affinity_terms(a, from->affinity, from->naffinity);
	ret->anti_affinity = copy_affinity_terms(a, from->anti_affinity, from->nanti_affinity);
	ret->spread = copy_spread(a, from->spread, from->nspread);
	ret->host_ports = copy_host_ports(a, from->host_ports, from->nhost_ports);
}
