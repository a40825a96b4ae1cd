#include "cluster/copy.h"

static struct selector_term copy_selector(struct arena *a, const struct selector_term *from)
{
	return *arena_terms(a, from, 1);
}

const struct node_term *copy_node_terms(struct arena *a, const struct node_term *from, size_t n)
{
	struct node_term *all = arena_take(a, n, sizeof(*all));
	for (size_t i = 0; i < n; i++) {
		all[i].labels = copy_selector(a, &from[i].labels);
		all[i].fields = copy_selector(a, &from[i].fields);
	}
	return all;
}

static const char *const *copy_names(struct arena *a, const char *const *from, size_t n)
{
	const char **all = arena_take(a, n, sizeof(*all));
	for (size_t i = 0; i < n; i++)
		all[i] = arena_string(a, from[i]);
	return all;
}

const struct affinity_term *copy_affinity_terms(
	struct arena *a, const struct affinity_term *from, size_t n)
{
	struct affinity_term *all = arena_take(a, n, sizeof(*all));
	for (size_t i = 0; i < n; i++) {
		all[i] = from[i];
		all[i].topology_key = arena_string(a, from[i].topology_key);
		all[i].selector = copy_selector(a, &from[i].selector);
		all[i].namespaces = copy_names(a, from[i].namespaces, from[i].nnamespaces);
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
