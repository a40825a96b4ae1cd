#include "queue/core/model/cohort.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"

static bool cohort_is(const void *value, const void *key)
{
	return strcmp(((const struct cohort *)value)->name, key) == 0;
}

static int name_order(const struct tree_node *a, const struct tree_node *b)
{
	return strcmp(container_of_const(a, struct cohort, by_name)->name,
		container_of_const(b, struct cohort, by_name)->name);
}

void cohorts_init(struct cohorts *all, struct quota *quota)
{
	map_init(&all->map, cohort_is);
	tree_init(&all->shown, name_order, NULL);
	all->serials = 0;
	all->quota = quota;
}

static void cohort_free(struct cohort *c)
{
	free(c->invalid);
	free(c->name);
	free(c);
}

void cohorts_done(struct cohorts *all)
{
	map_free(&all->map, cohort_free);
}

struct cohort *cohort_find(const struct cohorts *all, const char *name)
{
	return map_get(&all->map, map_hash_string(name), name);
}

struct cohort *cohort_keep(struct cohorts *all, const char *name)
{
	struct cohort *c = cohort_find(all, name);
	if (!c) {
		c = mem_alloc(sizeof(*c));
		c->name = mem_strdup(name);
		c->weight = 1;
		c->node = quota_node_under(all->quota, "cohort", name);
		c->node->cohort = c;
		map_put(&all->map, map_hash_string(name), c);
		tree_insert(&all->shown, &c->by_name, ++all->serials);
	}
	c->refs++;
	return c;
}

/* Nothing is below it any more: each child holds a reference. */
void cohort_put(struct cohorts *all, struct cohort *c)
{
	must(c->refs > 0);
	if (--c->refs > 0)
		return;
	must(!c->exists && list_empty(&c->node->children));
	quota_move(all->quota, c->node, NULL);
	quota_settle(all->quota, c->node);
	c->node->cohort = NULL;
	tree_remove(&all->shown, &c->by_name);
	must(map_take(&all->map, map_hash_string(c->name), c->name) == c);
	cohort_free(c);
}

static bool spec_lists(const struct cohort_spec *s, const struct quota_row *row)
{
	for (size_t g = 0; s && g < s->ngroups; g++)
		for (size_t f = 0; f < s->groups[g].nflavors; f++)
			for (size_t r = 0; r < s->groups[g].nresources; r++)
				if (strcmp(s->groups[g].flavors[f].flavor, row->flavor) == 0 &&
					strcmp(s->groups[g].resources[r], row->resource) == 0)
					return true;
	return false;
}

static void group_take(
	struct cohorts *all, const struct cohort *c, const struct resource_group_spec *g)
{
	for (size_t f = 0; f < g->nflavors; f++) {
		for (size_t r = 0; r < g->nresources; r++) {
			const struct quota_spec *quota = &g->flavors[f].quotas[r];
			struct quota_row *row = quota_row_of(
				all->quota, c->node, g->flavors[f].flavor, g->resources[r]);
			row->in_spec = true;
			row->said = (struct quota_limits){
				quota->nominal, quota->borrowing_limit, quota->lending_limit};
		}
	}
}

static void limits_take(struct cohorts *all, struct cohort *c, const struct cohort_spec *s)
{
	static const struct quota_limits none = {0, QUOTA_UNLIMITED, QUOTA_UNLIMITED};
	for (size_t i = 0; i < c->node->nrows; i++) {
		struct quota_row *row = c->node->row[i];
		if (spec_lists(s, row))
			continue;
		row->in_spec = false;
		row->said = none;
	}
	for (size_t g = 0; s && g < s->ngroups; g++)
		group_take(all, c, &s->groups[g]);
}

static void parent_take(struct cohorts *all, struct cohort *c, const char *parent)
{
	struct cohort *old = c->parent;
	c->parent = *parent ? cohort_keep(all, parent) : NULL;
	if (!old)
		return;
	if (c->node->parent == old->node) /* not below a Cohort that may be freed now */
		quota_move(all->quota, c->node, NULL);
	cohort_put(all, old);
}

void cohort_take_spec(struct cohorts *all, struct cohort *c, const struct cohort_spec *s)
{
	c->exists = true;
	c->generation = s->generation;
	c->weight = s->weight;
	parent_take(all, c, s->parent);
	limits_take(all, c, s);
}

void cohort_drop_spec(struct cohorts *all, struct cohort *c)
{
	c->exists = false;
	c->generation = 0;
	c->weight = 1;
	parent_take(all, c, "");
	limits_take(all, c, NULL);
}

/* Follows the parents for as many steps as there are Cohorts. */
static bool is_cyclic(const struct cohorts *all, const struct cohort *c)
{
	size_t steps = 0;
	while (c && steps++ <= all->map.count)
		c = c->parent;
	return c != NULL;
}

void cohorts_link(struct cohorts *all)
{
	for (struct tree_node *n = tree_first(&all->shown); n; n = tree_next(n)) {
		struct cohort *c = container_of(n, struct cohort, by_name);
		c->cyclic = is_cyclic(all, c);
		if (c->cyclic || !c->parent)
			quota_move(all->quota, c->node, NULL);
	}
	for (struct tree_node *n = tree_first(&all->shown); n; n = tree_next(n)) {
		struct cohort *c = container_of(n, struct cohort, by_name);
		if (!c->cyclic && c->parent)
			quota_move(all->quota, c->node, c->parent->node);
	}
}
