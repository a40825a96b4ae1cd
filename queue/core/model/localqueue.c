#include "queue/core/model/localqueue.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "queue/job/placement.h"
#include "queue/job/specs.h"
#include "queue/core/model/clusterqueue.h"
#include "queue/core/model/group.h"
#include "queue/core/model/overflow.h"
#include "queue/core/model/user.h"
#include "queue/core/model/feature.h"

struct localqueue_key {
	const char *ns, *name;
};

static bool namespace_is(const void *value, const void *key)
{
	return strcmp(((const struct nspace *)value)->name, key) == 0;
}

static bool localqueue_is(const void *value, const void *key)
{
	const struct localqueue *lq = value;
	const struct localqueue_key *k = key;
	return strcmp(lq->name, k->name) == 0 && strcmp(lq->ns->name, k->ns) == 0;
}

static uint64_t localqueue_hash(const char *ns, const char *name)
{
	return map_hash_string(ns) * 31 + map_hash_string(name);
}

static int localqueue_order(const struct tree_node *a, const struct tree_node *b)
{
	const struct localqueue *x = container_of_const(a, struct localqueue, by_name);
	const struct localqueue *y = container_of_const(b, struct localqueue, by_name);
	int order = strcmp(x->ns->name, y->ns->name);
	return order ? order : strcmp(x->name, y->name);
}

void localqueues_init(struct localqueues *all)
{
	map_init(&all->map, localqueue_is);
	map_init(&all->namespaces, namespace_is);
	tree_init(&all->shown, localqueue_order, NULL);
}

static void namespace_free(struct nspace *ns)
{
	arena_done(&ns->memory);
	free(ns->name);
	free(ns);
}

static void localqueue_free(struct localqueue *lq)
{
	each_feature(f, ALL_FEATURES, line_freed)
		f->line_freed(lq);
	arena_done(&lq->memory);
	free(lq->invalid);
	free(lq->name);
	free(lq);
}

void localqueues_done(struct localqueues *all)
{
	struct localqueue *lq;
	map_each(&all->map, i, lq)
		localqueue_free(lq);
	map_free(&all->namespaces, namespace_free);
	map_done(&all->map);
}

struct nspace *namespace_find(const struct localqueues *all, const char *name)
{
	return map_get(&all->namespaces, map_hash_string(name), name);
}

struct nspace *namespace_of(struct localqueues *all, const char *name)
{
	struct nspace *ns = namespace_find(all, name);
	if (!ns) {
		ns = mem_alloc(sizeof(*ns));
		ns->name = mem_strdup(name);
		list_init(&ns->localqueues);
		map_put(&all->namespaces, map_hash_string(name), ns);
	}
	return ns;
}

void namespace_set(struct nspace *ns, const struct namespace_spec *s)
{
	struct arena memory = {0};
	const struct label *labels = label_copies(&memory, s->labels, s->nlabels);
	arena_done(&ns->memory);
	ns->memory = memory;
	ns->labels = labels;
	ns->nlabels = s->nlabels;
	ns->exists = true;
}

void namespace_unset(struct nspace *ns)
{
	arena_done(&ns->memory);
	ns->labels = NULL;
	ns->nlabels = 0;
	ns->exists = false;
}

void namespace_tidy(struct localqueues *all, struct nspace *ns)
{
	if (ns->exists || ns->refs > 0)
		return;
	must(map_take(&all->namespaces, map_hash_string(ns->name), ns->name) == ns);
	namespace_free(ns);
}

struct localqueue *localqueue_find(const struct localqueues *all, const char *ns, const char *name)
{
	struct localqueue_key key = {ns, name};
	return map_get(&all->map, localqueue_hash(ns, name), &key);
}

struct localqueue *localqueue_keep(struct localqueues *all, const char *ns, const char *name)
{
	struct localqueue *lq = localqueue_find(all, ns, name);
	if (!lq) {
		lq = mem_alloc(sizeof(*lq));
		lq->name = mem_strdup(name);
		lq->ns = namespace_of(all, ns);
		lq->ns->refs++;
		list_add(&lq->ns->localqueues, &lq->of_namespace);
		list_init(&lq->members);
		users_init(&lq->users);
		list_init(&lq->reservations);
		list_init(&lq->budgets);
		lq->weight = 1;
		group_trees_init(&lq->groups_waiting, &lq->order);
		tree_init(&lq->deferred, overflow_order, NULL);
		map_put(&all->map, localqueue_hash(ns, name), lq);
	}
	lq->refs++;
	return lq;
}

void localqueue_put(struct localqueues *all, struct localqueue *lq)
{
	must(lq->refs > 0);
	if (--lq->refs > 0)
		return;
	must(tree_count(&lq->order) == 0 && tree_count(&lq->users) == 0);
	must(!lq->exists && list_empty(&lq->members) && list_empty(&lq->reservations));
	struct localqueue_key key = {lq->ns->name, lq->name};
	must(map_take(&all->map, localqueue_hash(key.ns, key.name), &key) == lq);
	list_leave(&lq->of_namespace);
	lq->ns->refs--;
	namespace_tidy(all, lq->ns);
	localqueue_free(lq);
}

void localqueue_take_terms(struct localqueue *lq, const struct localqueue_limits *limits,
	const struct pod_metadata *metadata)
{
	arena_done(&lq->memory);
	lq->limits = localqueue_limits_copy(&lq->memory, limits);
	lq->metadata = pod_metadata_copy(&lq->memory, metadata);
}

size_t localqueue_pending(const struct localqueue *lq)
{
	return lq->nwaiting + tree_count(&lq->deferred);
}

bool clusterqueue_selects(const struct clusterqueue *cq, const struct nspace *ns)
{
	if (!cq->spec.has_namespace_selector)
		return false;
	if (!ns->exists)
		return cq->spec.namespace_selector.nrequirements == 0;
	return labels_match(ns->labels, ns->nlabels, &cq->spec.namespace_selector);
}

enum localqueue_gate localqueue_gate_now(const struct localqueue *lq)
{
	if (!lq->exists)
		return GATE_MISSING;
	if (!lq->cq->exists)
		return GATE_CLUSTERQUEUE_MISSING;
	if (!clusterqueue_selects(lq->cq, lq->ns))
		return GATE_NOT_SELECTED;
	if (lq->deleting || lq->stop_policy != STOP_NONE)
		return GATE_CLOSED;
	return GATE_OPEN;
}
