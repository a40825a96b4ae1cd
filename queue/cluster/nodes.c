#include "queue/cluster/nodes.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "queue/cluster/fit_cache.h"
#include "queue/job/placement.h"
#include "queue/job/specs.h"
#include "queue/job/resources.h"

#define LOG_LEAST 1024 /* changes remembered, at least */

static bool node_has_name(const void *value, const void *key)
{
	return strcmp(((const struct node *)value)->name, key) == 0;
}

static bool node_pod_has_uid(const void *value, const void *key)
{
	return uid_cmp(&((const struct node_pod *)value)->uid, key) == 0;
}

static bool namespace_has_name(const void *value, const void *key)
{
	return strcmp(((const struct namespace *)value)->name, key) == 0;
}

struct nodes *nodes_new(void)
{
	struct nodes *n = mem_alloc(sizeof(*n));
	node_classes_init(&n->node_classes);
	map_init(&n->by_name, node_has_name);
	map_init(&n->node_pods, node_pod_has_uid);
	map_init(&n->namespaces, namespace_has_name);
	owners_init(n);
	runtimes_init(n);
	label_counts_init(n);
	node_sums_init(n);
	return n;
}

static void namespace_free(struct namespace *ns)
{
	arena_done(&ns->arena);
	free(ns);
}

void nodes_free(struct nodes *n)
{
	if (!n)
		return;
	while (n->first_fit_cache)
		fit_cache_free(n, n->first_fit_cache);
	owners_done(n);
	for (size_t i = 0; i < n->nslots; i++) {
		while (n->slot[i] && n->slot[i]->node_pods)
			node_pod_free(n, n->slot[i]->node_pods);
		if (n->slot[i])
			nodes_drop(n, n->slot[i]->name);
	}
	owners_free(n);
	map_free(&n->namespaces, namespace_free);
	runtimes_done(n);
	label_counts_done(n);
	node_sums_forget(n);
	map_done(&n->node_pods);
	map_done(&n->by_name);
	map_done(&n->anti_affinities);
	map_done(&n->fit_caches);
	node_classes_done(&n->node_classes);
	device_classes_done(&n->device_classes);
	free(n->slot);
	free(n->log.slot);
	free(n);
}

size_t nodes_count(const struct nodes *n)
{
	return n->nknown;
}

struct node_traffic nodes_traffic(const struct nodes *n)
{
	return n->traffic;
}

/* Shapes do not have the labels that are a node's own. */
bool nodes_have(struct nodes *n, const struct label *labels, size_t nlabels)
{
	struct pod seeker = {.node_name = "", .node_selector = labels, .nnode_selector = nlabels};
	const struct node_classes *c = &n->node_classes;
	if (node_classes_blind_to(c, &seeker)) {
		n->names_nodes = true;
		for (size_t i = 0; i < n->nslots; i++)
			if (n->slot[i] && n->slot[i]->known &&
				labels_have(
					n->slot[i]->labels, n->slot[i]->nlabels, labels, nlabels))
				return true;
		return false;
	}
	for (size_t i = 0; i < c->nslots; i++)
		if (c->slot[i] && c->slot[i]->nodes > 0 &&
			labels_have(
				c->slot[i]->site.labels, c->slot[i]->site.nlabels, labels, nlabels))
			return true;
	return false;
}

uint64_t nodes_vacated(const struct nodes *n)
{
	return n->vacated;
}

uint64_t nodes_version(const struct nodes *n)
{
	return n->facts;
}

/* NEVER depends on shapes and on nodes' own labels; once a pod that means single nodes was asked
 * about, on each node. */
uint64_t nodes_ground(const struct nodes *n)
{
	return n->node_classes.made + n->node_classes.gone + n->node_classes.own_moves + n->moves;
}

/* ---- nodes by name --------------------------------------------------------------------------- */

static uint32_t free_slot(struct nodes *n)
{
	if (n->by_name.count < n->nslots)
		for (size_t i = 0; i < n->nslots; i++)
			if (!n->slot[i])
				return (uint32_t)i;
	n->slot = mem_grow(n->slot, n->nslots + 1, sizeof(struct node *));
	n->slot[n->nslots] = NULL;
	return (uint32_t)n->nslots++;
}

struct node *nodes_node(struct nodes *n, const char *name)
{
	uint64_t hash = map_hash_string(name);
	struct node *node = map_get(&n->by_name, hash, name);
	if (node)
		return node;
	node = mem_alloc(sizeof(*node));
	node->name = mem_strdup(name);
	node->slot = free_slot(n);
	node->used = mem_array(n->node_classes.nresources + 1, sizeof(*node->used));
	n->slot[node->slot] = node;
	map_put(&n->by_name, hash, node);
	return node;
}

/* A reader of the log that is too far behind looks at all nodes. */
static void log_trim(struct nodes *n)
{
	if (n->log.n < LOG_LEAST || n->log.n < 2 * n->nslots)
		return;
	n->log.base += n->log.n;
	n->log.n = 0;
}

void nodes_changed(struct nodes *n, struct node *node)
{
	log_trim(n);
	n->log.slot = mem_room(n->log.slot, n->log.n, &n->log.cap, LOG_LEAST, sizeof(*n->log.slot));
	node->changed = n->log.base + n->log.n;
	n->log.slot[n->log.n++] = node->slot;
	nodes_told(n);
}

void nodes_told(struct nodes *n)
{
	n->version++;
	n->facts += !n->quiet;
}

void nodes_bury(struct nodes *n, struct node *node)
{
	if (node->known || node->node_pods)
		return;
	map_take(&n->by_name, map_hash_string(node->name), node->name);
	n->slot[node->slot] = NULL;
	free(node->name);
	free(node->used);
	free(node);
}

struct site node_site(const struct node *node)
{
	struct site s = node->shape->site;
	s.name = node->name;
	s.labels = node->labels;
	s.nlabels = node->nlabels;
	return s;
}

/* ---- what a node says ------------------------------------------------------------------------ */

static void dress(struct nodes *n, struct node *node, const struct node_spec *spec)
{
	const struct site *shared = &node->shape->site;
	node->labels = mem_array(spec->nlabels, sizeof(*node->labels));
	for (node->nlabels = 0; node->nlabels < shared->nlabels; node->nlabels++)
		node->labels[node->nlabels] = shared->labels[node->nlabels];
	for (size_t i = 0; i < spec->nlabels; i++) {
		if (!node_classes_label_is_own(spec, &spec->labels[i]))
			continue;
		node->labels[node->nlabels++] = *label_copies(&node->own, &spec->labels[i], 1);
		node_classes_count_own(&n->node_classes, spec->labels[i].key);
	}
	node->nown = node->nlabels - shared->nlabels;
}

static void undress(struct nodes *n, struct node *node)
{
	for (size_t i = node->nlabels - node->nown; i < node->nlabels; i++)
		node_classes_uncount_own(&n->node_classes, node->labels[i].key);
	free(node->labels);
	arena_done(&node->own);
	node->labels = NULL;
	node->nlabels = node->nown = 0;
}

static void unset(struct nodes *n, struct node *node)
{
	owners_move_off(n, node);
	anti_affinities_unsettle(node);
	undress(n, node);
	node_classes_drop(&n->node_classes, node->shape);
	node->shape = NULL;
	node->known = false;
	n->nknown--;
}

static void forget_answers(struct nodes *n)
{
	while (n->first_fit_cache)
		fit_cache_free(n, n->first_fit_cache);
}

/* The numbers of resources have changed: all that uses them begins anew. */
static void renumber(struct nodes *n)
{
	forget_answers(n);
	for (size_t i = 0; i < n->nslots; i++)
		if (n->slot[i])
			node_pods_recount(n, n->slot[i]);
}

static bool same_own_labels(const struct node *node, const struct node_spec *spec)
{
	const struct label *own = node->labels + (node->nlabels - node->nown);
	size_t i = 0;
	for (size_t k = 0; k < spec->nlabels; k++) {
		if (!node_classes_label_is_own(spec, &spec->labels[k]))
			continue;
		if (i == node->nown || strcmp(own[i].key, spec->labels[k].key) != 0 ||
			strcmp(own[i].value, spec->labels[k].value) != 0)
			return false;
		i++;
	}
	return i == node->nown;
}

/* Of each node another resource may be its devices' now: expected pods are put anew. */
static void devices_moved(struct nodes *n)
{
	forget_answers(n);
	for (size_t i = 0; i < n->nslots; i++)
		if (n->slot[i])
			owners_move_off(n, n->slot[i]);
}

/* While device classes are not known it matters whether any node has a resource. One node among many
 * that have it changes nothing of that. */
static void node_moved(struct nodes *n)
{
	bool moved = n->have_moves != n->node_classes.have_moves;
	n->have_moves = n->node_classes.have_moves;
	if (moved && n->device_classes.unknown)
		devices_moved(n);
}

bool nodes_set(struct nodes *n, const struct node_spec *spec)
{
	bool new_resource;
	struct node_shape *shape = node_classes_take(&n->node_classes, spec, &new_resource);
	struct node *node = nodes_node(n, spec->name);
	if (new_resource)
		renumber(n);
	if (node->known && node->shape == shape && same_own_labels(node, spec)) {
		node_classes_drop(&n->node_classes, shape);
		return false;
	}
	if (node->known)
		unset(n, node);
	else
		n->traffic.came++;
	node->known = true;
	n->nknown++;
	node->shape = shape;
	dress(n, node, spec);
	n->moves += n->names_nodes;
	n->vacated++;
	anti_affinities_settle(node);
	node_sums_forget(n);
	node_moved(n);
	nodes_changed(n, node);
	return true;
}

bool nodes_drop(struct nodes *n, const char *name)
{
	struct node *node = map_get(&n->by_name, map_hash_string(name), name);
	if (!node || !node->known)
		return false;
	unset(n, node);
	n->traffic.went++;
	n->moves += n->names_nodes;
	n->vacated++; /* for spread constraints and anti-affinity */
	node_sums_forget(n);
	node_moved(n);
	nodes_changed(n, node);
	nodes_bury(n, node);
	return true;
}

/* ---- device classes -------------------------------------------------------------------------- */

/* True when they have. Room may be there now, and a NEVER may begin or end. */
static bool device_classes_moved(struct nodes *n, bool moved)
{
	if (!moved)
		return false;
	devices_moved(n);
	n->moves++;
	n->vacated++;
	nodes_told(n);
	return true;
}

bool nodes_set_device_class(struct nodes *n, const struct device_class_spec *s)
{
	return device_classes_moved(n, device_classes_set(&n->device_classes, s));
}

bool nodes_drop_device_class(struct nodes *n, const char *name)
{
	return device_classes_moved(n, device_classes_drop(&n->device_classes, name));
}

bool nodes_know_device_classes(struct nodes *n, bool known)
{
	bool moved = n->device_classes.unknown == known;
	n->device_classes.unknown = !known;
	return device_classes_moved(n, moved);
}

bool nodes_devices_may_have(const struct nodes *n, const char *resource)
{
	if (n->device_classes.unknown)
		return resource_is_extended(resource) &&
		       !node_classes_have(&n->node_classes, resource);
	return device_classes_offer(&n->device_classes, resource);
}

/* ---- namespaces ------------------------------------------------------------------------------ */

static struct namespace *namespace_of(const struct nodes *n, const char *name)
{
	return map_get(&n->namespaces, map_hash_string(name), name);
}

static bool same_labels(const struct namespace *ns, const struct label *labels, size_t nlabels)
{
	if (ns->nlabels != nlabels)
		return false;
	for (size_t i = 0; i < nlabels; i++)
		if (strcmp(ns->labels[i].key, labels[i].key) != 0 ||
			strcmp(ns->labels[i].value, labels[i].value) != 0)
			return false;
	return true;
}

static void namespaces_moved(struct nodes *n)
{
	n->namespace_moves++;
	n->vacated++;
	nodes_told(n);
}

void nodes_set_namespace(
	struct nodes *n, const char *name, const struct label *labels, size_t nlabels)
{
	struct namespace *ns = namespace_of(n, name);
	if (ns && same_labels(ns, labels, nlabels))
		return;
	if (ns)
		nodes_drop_namespace(n, name);
	ns = mem_alloc(sizeof(*ns));
	ns->name = arena_string(&ns->arena, name);
	ns->labels = label_copies(&ns->arena, labels, nlabels);
	ns->nlabels = nlabels;
	map_put(&n->namespaces, map_hash_string(name), ns);
	namespaces_moved(n);
}

void nodes_drop_namespace(struct nodes *n, const char *name)
{
	struct namespace *ns = map_take(&n->namespaces, map_hash_string(name), name);
	if (!ns)
		return;
	namespace_free(ns);
	namespaces_moved(n);
}

/* An unknown namespace has no labels. */
bool nodes_term_covers(
	const struct nodes *n, const struct affinity_term *t, const char *ns, const char *other)
{
	if (t->nnamespaces == 0 && !t->has_namespace_selector)
		return strcmp(ns, other) == 0;
	if (names_have(t->namespaces, t->nnamespaces, other))
		return true;
	if (!t->has_namespace_selector)
		return false;
	const struct namespace *of = namespace_of(n, other);
	return labels_match(of ? of->labels : NULL, of ? of->nlabels : 0, &t->namespace_selector);
}
