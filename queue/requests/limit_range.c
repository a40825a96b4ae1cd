#include "queue/requests/limit_range.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "queue/job/resources.h"
#include "queue/job/specs.h"

struct limit_range {
	char *name;
	const struct limit_range_item *item;
	size_t nitems;
	struct arena memory;
};

static bool namespace_is(const void *value, const void *key)
{
	return strcmp(((const struct namespace_limits *)value)->ns, key) == 0;
}

void limit_ranges_init(struct limit_ranges *all)
{
	map_init(&all->namespaces, namespace_is);
}

static void range_free(struct limit_range *r)
{
	arena_done(&r->memory);
	free(r->name);
	free(r);
}

static void namespace_free(struct namespace_limits *n)
{
	for (size_t i = 0; i < n->nranges; i++)
		range_free(n->range[i]);
	arena_done(&n->memory);
	free(n->range);
	free(n->ns);
	free(n);
}

void limit_ranges_done(struct limit_ranges *all)
{
	map_free(&all->namespaces, namespace_free);
}

static struct limit_range *range_new(const struct limit_range_spec *s)
{
	struct limit_range *r = mem_alloc(sizeof(*r));
	r->name = mem_strdup(s->name);
	r->item = limit_range_item_copies(&r->memory, s->item, s->nitems);
	r->nitems = s->nitems;
	return r;
}

/* ---- The sum ---- */

/* sign 1: the highest counts; -1: the lowest. */
static void add_bounds(struct arena *a, struct bounds *sum, const struct resource_list *l,
	const char *range, int sign)
{
	struct bound *all = arena_take(a, sum->count + l->count, sizeof(*all));
	size_t n = 0;
	for (; n < sum->count; n++)
		all[n] = sum->item[n];
	for (size_t i = 0; i < l->count; i++) {
		const struct resource *r = &l->item[i];
		size_t at = 0;
		while (at < n && strcmp(all[at].resource, r->name) != 0)
			at++;
		bool counts = at == n ||
			      (sign > 0 ? r->amount > all[at].amount : r->amount < all[at].amount);
		if (counts)
			all[at] = (struct bound){r->name, r->amount, range};
		n += at == n;
	}
	*sum = (struct bounds){all, n};
}

static void sum_ranges(struct namespace_limits *n)
{
	arena_done(&n->memory);
	n->container = n->pod = (struct limits){0};
	for (size_t r = 0; r < n->nranges; r++) {
		for (size_t i = 0; i < n->range[r]->nitems; i++) {
			const struct limit_range_item *item = &n->range[r]->item[i];
			struct limits *sum = item->is_pod ? &n->pod : &n->container;
			const char *name = n->range[r]->name;
			sum->defaults =
				resources_merge(&n->memory, &sum->defaults, &item->defaults);
			sum->default_requests = resources_merge(
				&n->memory, &sum->default_requests, &item->default_requests);
			add_bounds(&n->memory, &sum->min, &item->min, name, 1);
			add_bounds(&n->memory, &sum->max, &item->max, name, -1);
		}
	}
}

/* ---- The facts ---- */

const struct namespace_limits *limit_ranges_of(const struct limit_ranges *all, const char *ns)
{
	return map_get(&all->namespaces, map_hash_string(ns), ns);
}

const char *limit_range_with_default(
	const struct namespace_limits *n, bool of_pod, const char *resource)
{
	for (size_t r = 0; r < n->nranges; r++) {
		for (size_t i = 0; i < n->range[r]->nitems; i++) {
			const struct limit_range_item *item = &n->range[r]->item[i];
			if (item->is_pod == of_pod && resources_find(&item->defaults, resource))
				return n->range[r]->name;
		}
	}
	must_not_get_here(); /* there is such a default */
	return "";
}

static struct namespace_limits *namespace_of(struct limit_ranges *all, const char *ns)
{
	struct namespace_limits *n = map_get(&all->namespaces, map_hash_string(ns), ns);
	if (!n) {
		n = mem_alloc(sizeof(*n));
		n->ns = mem_strdup(ns);
		map_put(&all->namespaces, map_hash_string(ns), n);
	}
	return n;
}

/* The index of the name, or where it would be inserted. */
static size_t place_of(const struct namespace_limits *n, const char *name, bool *ret_there)
{
	size_t at = 0;
	while (at < n->nranges && strcmp(n->range[at]->name, name) < 0)
		at++;
	*ret_there = at < n->nranges && strcmp(n->range[at]->name, name) == 0;
	return at;
}

bool limit_range_set(struct limit_ranges *all, const struct limit_range_spec *s)
{
	bool there;
	struct namespace_limits *n = namespace_of(all, s->ns);
	size_t at = place_of(n, s->name, &there);
	if (there && limit_range_item_all_same(
			     n->range[at]->item, n->range[at]->nitems, s->item, s->nitems))
		return false;
	if (there) {
		range_free(n->range[at]);
	} else {
		n->range = mem_grow(n->range, n->nranges + 1, sizeof(*n->range));
		memmove(n->range + at + 1, n->range + at, (n->nranges - at) * sizeof(*n->range));
		n->nranges++;
	}
	n->range[at] = range_new(s);
	sum_ranges(n);
	return true;
}

bool limit_range_unset(struct limit_ranges *all, const char *ns, const char *name)
{
	bool there;
	struct namespace_limits *n = map_get(&all->namespaces, map_hash_string(ns), ns);
	size_t at = n ? place_of(n, name, &there) : 0;
	if (!n || !there)
		return false;
	range_free(n->range[at]);
	n->nranges--;
	memmove(n->range + at, n->range + at + 1, (n->nranges - at) * sizeof(*n->range));
	if (n->nranges > 0) {
		sum_ranges(n);
	} else {
		must(map_take(&all->namespaces, map_hash_string(ns), ns) == n);
		namespace_free(n);
	}
	return true;
}
