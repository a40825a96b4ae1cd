#include "queue/cluster/pod.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "queue/job/placement.h"
#include "queue/job/specs.h"
#include "queue/job/resources.h"
#include "sluice/quantity.h"

#define FEW 16 /* resources that a fingerprint lists without memory of its own */

struct resource_list pod_amounts_new(pod_amounts of, const struct pod_resources *pod)
{
	size_t n = of(pod, NULL, 0);
	struct resource *all = mem_array(n, sizeof(*all));
	of(pod, all, n);
	return (struct resource_list){all, n};
}

/* ---- its class ------------------------------------------------------------------------------- */

/* Sums of what counts: 0 and absent are the same. */
struct totals {
	int64_t cpu, memory;
};

static void add_list(struct totals *t, const struct resource_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		const struct resource *r = &list->item[i];
		if (r->amount > 0 && strcmp(r->name, "cpu") == 0)
			t->cpu = quantity_add(t->cpu, r->amount);
		else if (r->amount > 0 && strcmp(r->name, "memory") == 0)
			t->memory = quantity_add(t->memory, r->amount);
	}
}

static bool has_both(const struct resource_list *list)
{
	struct totals t = {0};
	add_list(&t, list);
	return t.cpu > 0 && t.memory > 0;
}

/* True: all of them have limits of both. A limit stands in for a request that is missing. */
static bool add_containers(
	const struct container *c, size_t n, struct totals *requests, struct totals *limits)
{
	bool limited = true;
	for (size_t i = 0; i < n; i++) {
		add_list(requests, &c[i].requests);
		add_list(limits, &c[i].limits);
		limited &= has_both(&c[i].limits);
		for (size_t k = 0; k < c[i].limits.count; k++) {
			struct resource_list one = {&c[i].limits.item[k], 1};
			if (!resources_find(&c[i].requests, one.item->name))
				add_list(requests, &one);
		}
	}
	return limited;
}

static bool all_limit(const struct container *c, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!resources_find(&c[i].limits, name))
			return false;
	return true;
}

/* Has the pod a pod-level limit of it, its own or one that the API server fills in? */
static bool limits_as_a_whole(const struct pod_resources *r, const char *name)
{
	return resources_find(&r->pod_level_limits, name) ||
	       (all_limit(r->containers, r->ncontainers, name) &&
		       all_limit(r->init_containers, r->ninit_containers, name));
}

/* Adds what the pod counts for without its overhead. */
static void add_pod(pod_amounts of, const struct pod_resources *r, struct totals *to)
{
	struct pod_resources own = *r;
	own.overhead = (struct resource_list){NULL, 0};
	struct resource_list all = pod_amounts_new(of, &own);
	add_list(to, &all);
	free((void *)all.item);
}

/* The pod-level amounts, as the API server fills them in from those of the containers. */
static bool add_pod_level(
	const struct pod_resources *r, struct totals *requests, struct totals *limits)
{
	add_pod(pod_requests, r, requests);
	add_pod(pod_limits, r, limits);
	if (!limits_as_a_whole(r, "cpu"))
		limits->cpu = 0;
	if (!limits_as_a_whole(r, "memory"))
		limits->memory = 0;
	return limits->cpu > 0 && limits->memory > 0;
}

enum qos_class pod_qos_class(const struct pod *p)
{
	const struct pod_resources *r = &p->resources;
	struct totals requests = {0}, limits = {0};
	bool limited;
	if (r->has_pod_level && r->pod_level.count + r->pod_level_limits.count > 0) {
		limited = add_pod_level(r, &requests, &limits);
	} else {
		limited = add_containers(r->containers, r->ncontainers, &requests, &limits);
		limited &=
			add_containers(r->init_containers, r->ninit_containers, &requests, &limits);
	}
	if ((requests.cpu | limits.cpu | requests.memory | limits.memory) == 0)
		return QOS_BEST_EFFORT;
	bool same = requests.cpu == limits.cpu && requests.memory == limits.memory;
	return limited && same ? QOS_GUARANTEED : QOS_BURSTABLE;
}

bool pod_level_is_nothing(const struct pod *p)
{
	const struct pod_resources *r = &p->resources;
	struct totals of_pod = {0};
	add_list(&of_pod, &r->pod_level);
	return r->has_pod_level && r->pod_level_limits.count == 0 &&
	       (of_pod.cpu | of_pod.memory) == 0;
}

const char *qos_class_name(enum qos_class c)
{
	static const char *const names[] = {"Guaranteed", "Burstable", "BestEffort"};
	return names[c];
}

/* ---- copies ---------------------------------------------------------------------------------- */

const struct affinity_term *copy_affinity_terms(
	struct arena *a, const struct affinity_term *from, size_t n)
{
	struct affinity_term *all = arena_take(a, n, sizeof(*all));
	for (size_t i = 0; i < n; i++) {
		all[i] = from[i];
		all[i].topology_key = arena_string(a, from[i].topology_key);
		all[i].selector = selector_term_copy(a, &from[i].selector);
		all[i].namespaces = names_copy(a, from[i].namespaces, from[i].nnamespaces);
		all[i].namespace_selector = selector_term_copy(a, &from[i].namespace_selector);
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
		all[i].selector = selector_term_copy(a, &from[i].selector);
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
	struct resource_list all = pod_amounts_new(pod_requests, of);
	struct resource_list copy = resource_list_copy(a, &all);
	free((void *)all.item);
	return copy;
}

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
	ret->labels = label_copies(a, from->labels, from->nlabels);
	copy_resources(a, &from->resources, &ret->resources);
	ret->priority_class = arena_string(a, from->priority_class);
	ret->node_name = arena_string(a, from->node_name);
	ret->scheduler = arena_string(a, from->scheduler);
	ret->node_selector = label_copies(a, from->node_selector, from->nnode_selector);
	ret->tolerations = toleration_copies(a, from->tolerations, from->ntolerations);
	ret->terms = node_term_copies(a, from->terms, from->nterms);
	ret->affinity = copy_affinity_terms(a, from->affinity, from->naffinity);
	ret->anti_affinity = copy_affinity_terms(a, from->anti_affinity, from->nanti_affinity);
	ret->spread = copy_spread(a, from->spread, from->nspread);
	ret->host_ports = copy_host_ports(a, from->host_ports, from->nhost_ports);
}

/* ---- fingerprints ---------------------------------------------------------------------------- */

static void fingerprint_amounts(
	struct buf *b, pod_amounts amounts, const struct pod_resources *of, bool styles)
{
	struct resource few[FEW], *all = few;
	size_t n = amounts(of, few, FEW);
	if (n > FEW) {
		all = mem_array(n, sizeof(*all));
		amounts(of, all, n);
	}
	key_number(b, (int64_t)n);
	for (size_t i = 0; i < n; i++) {
		key_string(b, all[i].name);
		key_number(b, all[i].amount);
		if (styles)
			buf_putc(b, (char)all[i].style);
	}
	if (all != few)
		free(all);
}

static void fingerprint_requests(struct buf *b, const struct pod_resources *of)
{
	fingerprint_amounts(b, pod_requests, of, false);
}

static void fingerprint_ports(struct buf *b, const struct pod *p)
{
	key_number(b, (int64_t)p->nhost_ports);
	for (size_t i = 0; i < p->nhost_ports; i++) {
		key_string(b, p->host_ports[i].protocol);
		key_string(b, p->host_ports[i].ip);
		key_number(b, p->host_ports[i].port);
	}
}

void fingerprint_affinity_term(struct buf *b, const char *ns, const struct affinity_term *t)
{
	key_string(b, t->topology_key);
	key_number(b, t->has_selector);
	key_selector(b, &t->selector);
	key_number(b, t->has_namespace_selector);
	key_selector(b, &t->namespace_selector);
	key_number(b, (int64_t)t->nnamespaces);
	for (size_t i = 0; i < t->nnamespaces; i++)
		key_string(b, t->namespaces[i]);
	if (t->nnamespaces == 0 && !t->has_namespace_selector)
		key_string(b, ns);
}

static void fingerprint_terms(
	struct buf *b, const char *ns, const struct affinity_term *all, size_t n)
{
	key_number(b, (int64_t)n);
	for (size_t i = 0; i < n; i++)
		fingerprint_affinity_term(b, ns, &all[i]);
}

static void fingerprint_spread(struct buf *b, const struct pod *p)
{
	key_number(b, (int64_t)p->nspread);
	for (size_t i = 0; i < p->nspread; i++) {
		const struct spread_constraint *c = &p->spread[i];
		key_string(b, c->topology_key);
		key_number(b, c->max_skew);
		key_number(b, c->min_domains);
		key_number(b, c->has_selector);
		key_selector(b, &c->selector);
		key_number(b, c->honor_affinity);
		key_number(b, c->honor_taints);
	}
}

static void fingerprint_tolerations(struct buf *b, const struct pod *p)
{
	key_number(b, (int64_t)p->ntolerations);
	for (size_t i = 0; i < p->ntolerations; i++) {
		key_string(b, p->tolerations[i].key);
		key_string(b, p->tolerations[i].value);
		key_number(b, p->tolerations[i].op);
		key_number(b, p->tolerations[i].effect);
	}
}

static void fingerprint_node_terms(struct buf *b, const struct pod *p)
{
	key_number(b, p->has_terms);
	key_node_terms(b, p->terms, p->nterms);
}

bool pod_is_sociable(const struct pod *p)
{
	return p->naffinity + p->nanti_affinity + p->nspread > 0;
}

void fingerprint_wanted(struct buf *b, const struct pod *p)
{
	key_string(b, p->node_name);
	key_labels(b, p->node_selector, p->nnode_selector);
	fingerprint_tolerations(b, p);
	fingerprint_node_terms(b, p);
	fingerprint_ports(b, p);
	fingerprint_requests(b, &p->resources);
	if (!pod_is_sociable(p))
		return;
	key_string(b, p->ns);
	key_labels(b, p->labels, p->nlabels);
	fingerprint_terms(b, p->ns, p->affinity, p->naffinity);
	fingerprint_terms(b, p->ns, p->anti_affinity, p->nanti_affinity);
	fingerprint_spread(b, p);
}

void fingerprint_bound(struct buf *b, const struct pod *p)
{
	key_string(b, p->ns);
	key_labels(b, p->labels, p->nlabels);
	fingerprint_ports(b, p);
	fingerprint_requests(b, &p->resources);
	fingerprint_terms(b, p->ns, p->anti_affinity, p->nanti_affinity);
}

/* A quota may require limits of each container, and its refusal names the containers without. */
static void fingerprint_silence(struct buf *b, const struct container *c, size_t n)
{
	static const char *const asked[] = {"cpu", "memory"};
	for (size_t i = 0; i < n; i++) {
		int64_t said = 0;
		for (size_t k = 0; k < 2; k++)
			said = said << 2 | (resources_find(&c[i].requests, asked[k]) != NULL) << 1 |
			       (resources_find(&c[i].limits, asked[k]) != NULL);
		key_number(b, said);
		key_string(b, said == 15 || !c[i].name ? "" : c[i].name);
	}
	key_number(b, -1);
}

void fingerprint_counted(struct buf *b, const struct pod *p)
{
	fingerprint_silence(b, p->resources.containers, p->resources.ncontainers);
	fingerprint_silence(b, p->resources.init_containers, p->resources.ninit_containers);
	key_number(b, p->resources.has_pod_level);
	key_string(b, p->ns);
	fingerprint_amounts(b, pod_requests, &p->resources, true);
	fingerprint_amounts(b, pod_limits, &p->resources, true);
	key_number(b, pod_qos_class(p));
	key_number(b, p->terminating);
	key_number(b, p->crosses_namespaces);
	key_string(b, p->priority_class);
}
