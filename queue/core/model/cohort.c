#include "queue/core/model/cohort.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"

static struct cohort *of_object(struct named_object *o)
{
	return o ? container_of(o, struct cohort, object) : NULL;
}

void cohorts_init(struct cohorts *all, struct quota *quota)
{
	named_objects_init(&all->all);
	all->quota = quota;
}

static void cohort_free(struct cohorts *all, struct cohort *c)
{
	named_object_leave(&all->all, &c->object);
	free(c);
}

void cohorts_done(struct cohorts *all)
{
	for (struct cohort *c; (c = of_object(named_object_at(&all->all, 0)));)
		cohort_free(all, c);
}

struct cohort *cohort_find(const struct cohorts *all, const char *name)
{
	return of_object(named_object_find(&all->all, name));
}

struct cohort *cohort_keep(struct cohorts *all, const char *name)
{
	struct cohort *c = cohort_find(all, name);
	if (!c) {
		c = mem_alloc(sizeof(*c));
		named_object_enter(&all->all, &c->object, name);
		c->weight = 1;
		c->node = quota_node_under(all->quota, "cohort", name);
		c->node->cohort = c;
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
	cohort_free(all, c);
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
	while (c && steps++ <= tree_count(&all->all.by_name))
		c = c->parent;
	return c != NULL;
}

void cohorts_link(struct cohorts *all)
{
	for (struct named_object *o = named_object_at(&all->all, 0); o; o = named_object_next(o)) {
		struct cohort *c = of_object(o);
		c->cyclic = is_cyclic(all, c);
		if (c->cyclic || !c->parent)
			quota_move(all->quota, c->node, NULL);
	}
	for (struct named_object *o = named_object_at(&all->all, 0); o; o = named_object_next(o)) {
		struct cohort *c = of_object(o);
		if (!c->cyclic && c->parent)
			quota_move(all->quota, c->node, c->parent->node);
	}
}
