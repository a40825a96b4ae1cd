#include "queue/core/model/clusterqueue.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "queue/job/specs.h"
#include "queue/core/model/group.h"
#include "queue/core/model/run_ends.h"
#include "queue/requests/lending.h"
#include "queue/core/model/feature.h"
#include "base/symbol.h"

static bool cq_is(const void *value, const void *key)
{
	return strcmp(((const struct clusterqueue *)value)->name, key) == 0;
}

static int cq_name_order(const struct tree_node *a, const struct tree_node *b)
{
	return strcmp(container_of_const(a, struct clusterqueue, by_name)->name,
		container_of_const(b, struct clusterqueue, by_name)->name);
}

void clusterqueues_init(struct clusterqueues *all, struct quota *quota, struct cohorts *cohorts,
	struct map *flavors)
{
	all->quota = quota;
	all->cohorts = cohorts;
	all->flavors = flavors;
	map_init(&all->map, cq_is);
	tree_init(&all->shown, cq_name_order, NULL);
	all->serials = 0;
}

static void spec_forget(struct clusterqueue *cq, struct map *flavors)
{
	for (size_t g = 0; g < cq->spec.ngroups; g++)
		for (size_t f = 0; f < cq->spec.groups[g].nflavors; f++)
			flavor_put(flavors, cq->spec.groups[g].flavors[f]);
	cq->spec.groups = NULL;
	cq->spec.ngroups = 0;
	arena_done(&cq->spec.memory);
}

static void cq_free(struct clusterqueue *cq)
{
	cq->node->owner = NULL;
	list_leave(&cq->of_cohort_tree);
	list_leave(&cq->lacks_nodes);
	free(cq->backfill_slot);
	each_feature(f, ALL_FEATURES, queue_freed)
		f->queue_freed(cq);
	free(cq->late_groups);
	free(cq->invalid);
	free(cq->name);
	free(cq);
}

void clusterqueues_done(struct clusterqueues *all)
{
	struct clusterqueue *cq;
	map_each(&all->map, i, cq) {
		spec_forget(cq, all->flavors);
		cq_free(cq);
	}
	map_done(&all->map);
}

struct clusterqueue *clusterqueue_find(const struct clusterqueues *all, const char *name)
{
	return map_get(&all->map, map_hash_string(name), name);
}

static int name_order(const void *a, const void *b)
{
	return strcmp((*(const struct clusterqueue *const *)a)->name,
		(*(const struct clusterqueue *const *)b)->name);
}

struct clusterqueue **clusterqueues_by_name(const struct clusterqueues *all, size_t *ret_n)
{
	struct clusterqueue **ret = mem_array(all->map.count + 1, sizeof(struct clusterqueue *));
	struct clusterqueue *cq;
	size_t n = 0;
	map_each(&all->map, i, cq)
		ret[n++] = cq;
	qsort(ret, n, sizeof(struct clusterqueue *), name_order);
	*ret_n = n;
	return ret;
}

static struct cq_spec no_spec(const struct clusterqueues *all)
{
	return (struct cq_spec){
		.cohort = "", .weight = 1, .ignores_undeclared = all->ignore_undeclared};
}

static struct clusterqueue *cq_new(struct clusterqueues *all, const char *name)
{
	struct clusterqueue *cq = mem_alloc(sizeof(*cq));
	cq->spec = no_spec(all);
	cq->name = mem_strdup(name);
	cq->serial = ++all->serials;
	cq->node = quota_node_under(all->quota, "cq", name);
	cq->node->owner = cq;
	each_feature(f, ALL_FEATURES, queue_made)
		f->queue_made(cq);
	group_trees_init(&cq->groups_waiting, &cq->order);
	run_ends_init(cq);
	list_init(&cq->localqueues);
	list_init(&cq->reservations);
	list_init(&cq->promised);
	list_init(&cq->fresh);
	list_init(&cq->heads);
	list_init(&cq->timed);
	list_init(&cq->budgets);
	list_init(&cq->reserved);
	map_put(&all->map, map_hash_string(name), cq);
	cohort_tree_join(cq);
	return cq;
}

struct clusterqueue *clusterqueue_keep(struct clusterqueues *all, const char *name)
{
	struct clusterqueue *cq = clusterqueue_find(all, name);
	if (!cq)
		cq = cq_new(all, name);
	cq->refs++;
	return cq;
}

void clusterqueue_put(struct clusterqueues *all, struct clusterqueue *cq)
{
	must(cq->refs > 0);
	if (--cq->refs > 0)
		return;
	must(!cq->exists && tree_count(&cq->order) == 0 && list_empty(&cq->reservations));
	must(list_empty(&cq->promised));
	must(map_take(&all->map, map_hash_string(cq->name), cq->name) == cq);
	cq_free(cq);
}

static bool group_same(const struct resource_group *g, const struct resource_group_spec *s)
{
	if (g->nresources != s->nresources || g->nflavors != s->nflavors)
		return false;
	for (size_t i = 0; i < g->nresources; i++)
		if (strcmp(g->resources[i], s->resources[i]) != 0)
			return false;
	for (size_t i = 0; i < g->nflavors; i++)
		if (strcmp(g->flavors[i]->name, s->flavors[i].flavor) != 0)
			return false;
	return true;
}

static bool groups_same(const struct clusterqueue *cq, const struct clusterqueue_spec *s)
{
	if (!cq->exists || cq->spec.ngroups != s->ngroups)
		return false;
	for (size_t i = 0; i < s->ngroups; i++)
		if (!group_same(&cq->spec.groups[i], &s->groups[i]))
			return false;
	return true;
}

static void group_take(struct resource_group *g, const struct resource_group_spec *s,
	struct clusterqueue *cq, struct map *flavors, struct quota *quota)
{
	struct arena *a = &cq->spec.memory;
	g->nresources = s->nresources;
	g->nflavors = s->nflavors;
	g->resources = arena_take(a, s->nresources, sizeof(*g->resources));
	g->flavors = arena_take(a, s->nflavors, sizeof(*g->flavors));
	g->row = arena_take(a, s->nflavors * s->nresources, sizeof(*g->row));
	g->keys.shift = arena_take(a, s->nresources, sizeof(*g->keys.shift));
	for (size_t r = 0; r < s->nresources; r++)
		g->resources[r] = symbol_of(quota->symbols, s->resources[r]);
	for (size_t f = 0; f < s->nflavors; f++) {
		g->flavors[f] = flavor_keep(flavors, s->flavors[f].flavor);
		for (size_t r = 0; r < s->nresources; r++)
			g->row[f * s->nresources + r] = quota_row_of(
				quota, cq->node, s->flavors[f].flavor, s->resources[r]);
	}
}

static bool group_lists(const struct resource_group *g, const struct quota_row *row)
{
	for (size_t i = 0; i < g->nflavors * g->nresources; i++)
		if (g->row[i] == row)
			return true;
	return false;
}

static bool spec_lists(const struct clusterqueue *cq, const struct quota_row *row)
{
	for (size_t i = 0; i < cq->spec.ngroups; i++)
		if (group_lists(&cq->spec.groups[i], row))
			return true;
	return false;
}

/* effective_quota_apply() follows. */
static void row_take(struct quota_row *row, bool in_spec, const struct quota_limits *l)
{
	row->in_spec = in_spec;
	row->said = *l;
}

static void limits_drop(struct clusterqueue *cq)
{
	static const struct quota_limits none = {0, QUOTA_UNLIMITED, QUOTA_UNLIMITED};
	for (size_t i = 0; i < cq->node->nrows; i++)
		if (!spec_lists(cq, cq->node->row[i]))
			row_take(cq->node->row[i], false, &none);
}

static void limits_take(struct clusterqueue *cq, const struct clusterqueue_spec *s)
{
	limits_drop(cq);
	for (size_t i = 0; i < s->ngroups; i++) {
		const struct resource_group *g = &cq->spec.groups[i];
		for (size_t f = 0; f < g->nflavors; f++) {
			for (size_t r = 0; r < g->nresources; r++) {
				const struct quota_spec *l = &s->groups[i].flavors[f].quotas[r];
				struct quota_limits limits = {
					l->nominal, l->borrowing_limit, l->lending_limit};
				row_take(group_row(g, f, r), true, &limits);
			}
		}
	}
}

static bool cohort_take(struct clusterqueues *all, struct clusterqueue *cq, const char *name)
{
	struct cohort *old = cq->cohort;
	if (old ? strcmp(old->object.name, name) == 0 : !*name)
		return false;
	cq->cohort = *name ? cohort_keep(all->cohorts, name) : NULL;
	quota_move(all->quota, cq->node, NULL); /* not below a Cohort that may be freed now */
	if (old)
		cohort_put(all->cohorts, old);
	return true;
}

static void groups_take(
	struct clusterqueues *all, struct clusterqueue *cq, const struct clusterqueue_spec *s)
{
	cq->spec.memory = (struct arena){0};
	cq->spec.groups = arena_take(&cq->spec.memory, s->ngroups, sizeof(*cq->spec.groups));
	cq->spec.ngroups = s->ngroups;
	for (size_t i = 0; i < s->ngroups; i++)
		group_take(&cq->spec.groups[i], &s->groups[i], cq, all->flavors, all->quota);
}

/* Everything that the spec says but for its groups. */
static void fields_take(struct cq_spec *to, const struct clusterqueue_spec *from)
{
	struct arena *a = &to->memory;
#define VALUE(m) to->m = from->m;
#define ENUM(m, last) to->m = from->m;
#define TEXT(m) to->m = from->m ? arena_string(a, from->m) : "";
#define PART(m, tag) to->m = tag##_copy(a, &from->m);
#include "sluice/fields/plain.h"
#include "sluice/fields/clusterqueue.def"
#include "sluice/fields/end.h"
#undef VALUE
#undef ENUM
#undef TEXT
#undef PART
}

void clusterqueue_take_spec(struct clusterqueues *all, struct clusterqueue *cq,
	const struct clusterqueue_spec *s, struct spec_change *ret)
{
	bool same = groups_same(cq, s), existed = cq->exists;

	/* The new arena first: flavors in both specs must not be freed. */
	struct clusterqueue old = {.spec.memory = cq->spec.memory,
		.spec.groups = cq->spec.groups,
		.spec.ngroups = cq->spec.ngroups};
	groups_take(all, cq, s);
	cq->exists = true;
	cq->deleting = s->deleting;
	cq->generation = s->generation;
	fields_take(&cq->spec, s);
	ret->moved = cohort_take(all, cq, s->cohort) || !existed;
	limits_take(cq, s);
	ret->reshaped = keys_choose(cq, same ? &old : NULL);
	spec_forget(&old, all->flavors);
}

void clusterqueue_drop_spec(struct clusterqueues *all, struct clusterqueue *cq)
{
	spec_forget(cq, all->flavors);
	cq->exists = cq->deleting = false;
	cq->generation = 0;
	cq->spec = no_spec(all);
	cq->nkeys = 0;
	limits_drop(cq);
	cohort_take(all, cq, "");
}

const struct flavor *clusterqueue_missing_flavor(const struct clusterqueue *cq)
{
	for (size_t g = 0; g < cq->spec.ngroups; g++)
		for (size_t f = 0; f < cq->spec.groups[g].nflavors; f++)
			if (!cq->spec.groups[g].flavors[f]->exists)
				return cq->spec.groups[g].flavors[f];
	return NULL;
}

static const struct flavor *lent_flavor(const struct resource_group *g)
{
	for (size_t f = 0; f < g->nflavors; f++)
		if (g->flavors[f]->lending != LENDING_NONE)
			return g->flavors[f];
	return NULL;
}

/* How many of its resources idle resources count as (cpu, memory). */
static size_t count_counted(const struct resource_group *g)
{
	size_t n = 0;
	for (size_t r = 0; r < g->nresources; r++)
		n += is_lendable(g->resources[r]);
	return n;
}

const struct flavor *clusterqueue_misplaced_flavor(const struct clusterqueue *cq, size_t *ret_group)
{
	size_t counted = 0;
	for (size_t g = 0; g < cq->spec.ngroups; g++)
		counted += count_counted(&cq->spec.groups[g]);
	for (size_t g = 0; g < cq->spec.ngroups; g++) {
		const struct flavor *f = lent_flavor(&cq->spec.groups[g]);
		size_t n = count_counted(&cq->spec.groups[g]);
		if (!f || (n == counted && n == cq->spec.groups[g].nresources))
			continue;
		*ret_group = g;
		return f;
	}
	return NULL;
}

bool clusterqueue_names_flavor(const struct clusterqueue *cq, const struct flavor *f)
{
	for (size_t g = 0; g < cq->spec.ngroups; g++)
		for (size_t i = 0; i < cq->spec.groups[g].nflavors; i++)
			if (cq->spec.groups[g].flavors[i] == f)
				return true;
	return false;
}

enum clusterqueue_state clusterqueue_state(const struct clusterqueue *cq)
{
	size_t group;
	if (!cq->exists)
		return CLUSTERQUEUE_ABSENT;
	if (cq->deleting)
		return CLUSTERQUEUE_DELETING;
	if (cq->spec.stop_policy != STOP_NONE)
		return CLUSTERQUEUE_STOPPED;
	if (cq->cohort && cq->cohort->cyclic)
		return CLUSTERQUEUE_CYCLIC;
	if (clusterqueue_missing_flavor(cq))
		return CLUSTERQUEUE_FLAVOR_MISSING;
	if (clusterqueue_misplaced_flavor(cq, &group))
		return CLUSTERQUEUE_FLAVOR_MISPLACED;
	return CLUSTERQUEUE_ACTIVE;
}
