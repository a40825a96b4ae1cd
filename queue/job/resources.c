#include "queue/job/resources.h"

#include <string.h>

const struct resource *resources_find(const struct resource_list *l, const char *name)
{
	for (size_t i = 0; i < l->count; i++)
		if (strcmp(l->item[i].name, name) == 0)
			return &l->item[i];
	return NULL;
}

bool resource_list_same(const struct resource_list *a, const struct resource_list *b)
{
	bool same = a->count == b->count;
	for (size_t i = 0; same && i < a->count; i++) {
		const struct resource *other = resources_find(b, a->item[i].name);
		same = other && other->amount == a->item[i].amount;
	}
	return same;
}

bool resource_all_same(const struct resource *a, size_t na, const struct resource *b, size_t nb)
{
	return resource_list_same(&(struct resource_list){a, na}, &(struct resource_list){b, nb});
}

const struct resource *resource_copies(struct arena *a, const struct resource *from, size_t n)
{
	struct resource *to = arena_take(a, n, sizeof(*to));
	for (size_t i = 0; i < n; i++) {
		to[i].name = arena_string(a, from[i].name);
		to[i].amount = from[i].amount;
	}
	return to;
}

struct resource_list resource_list_copy(struct arena *a, const struct resource_list *from)
{
	return (struct resource_list){resource_copies(a, from->item, from->count), from->count};
}

struct resource_list resources_merge(
	struct arena *a, const struct resource_list *first, const struct resource_list *then)
{
	struct resource *all = arena_take(a, first->count + then->count, sizeof(*all));
	size_t n = 0;
	for (; n < first->count; n++)
		all[n] = first->item[n];
	for (size_t i = 0; i < then->count; i++)
		if (!resources_find(first, then->item[i].name))
			all[n++] = then->item[i];
	return (struct resource_list){all, n};
}
