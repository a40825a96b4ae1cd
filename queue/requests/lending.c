#include "queue/requests/lending.h"

#include <stddef.h>
#include <string.h>

#include "queue/job/resources.h"

/* Batch resources are milli-CPU and bytes; gocran's are whole cores and bytes. The legacy
 * protocol's names (controller/wire/resources.c) are batch resources under another name. */
static const struct {
	const char *name, *counts_as;
	int64_t times;
	enum lending lent; /* the kind that has this name; LENDING_NONE: read, never written */
} names[] = {
	{"kubernetes.io/batch-cpu", "cpu", 1, LENDING_BATCH},
	{"kubernetes.io/batch-memory", "memory", 1, LENDING_BATCH},
	{"gocran.io/cpu", "cpu", 1000, LENDING_GOCRAN},
	{"gocran.io/memory", "memory", 1, LENDING_GOCRAN},
	{"alibabacloud.com/reclaimed", "cpu", 1, LENDING_NONE},
	{"alibabacloud.com/reclaimed-cpu", "cpu", 1, LENDING_NONE},
	{"alibabacloud.com/reclaimed-memory", "memory", 1, LENDING_NONE},
};
#define NNAMES (sizeof(names) / sizeof(names[0]))

const char *lending_counts_as(const char *resource, int64_t *ret_times)
{
	for (size_t i = 0; i < NNAMES; i++) {
		if (strcmp(names[i].name, resource) != 0)
			continue;
		*ret_times = names[i].times;
		return names[i].counts_as;
	}
	return NULL;
}

bool is_lendable(const char *resource)
{
	return strcmp(resource, "cpu") == 0 || strcmp(resource, "memory") == 0;
}

const char *lending_name(enum lending l, const char *resource)
{
	for (size_t i = 0; l != LENDING_NONE && i < NNAMES; i++)
		if (names[i].lent == l && strcmp(names[i].counts_as, resource) == 0)
			return names[i].name;
	return resource;
}

/* ---- As a start writes it -------------------------------------------------------------------- */

static bool list_asks_lent(const struct resource_list *l)
{
	int64_t times;
	for (size_t i = 0; i < l->count; i++)
		if (lending_counts_as(l->item[i].name, &times))
			return true;
	return false;
}

static bool any_asks_lent(const struct container *c, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (list_asks_lent(&c[i].requests) || list_asks_lent(&c[i].limits))
			return true;
	return false;
}

/* The batch name for a legacy name; any other name is unchanged. */
static const char *published(const char *name)
{
	for (size_t i = 0; i < NNAMES; i++)
		if (names[i].lent == LENDING_NONE && strcmp(names[i].name, name) == 0)
			return lending_name(LENDING_BATCH, names[i].counts_as);
	return name;
}

static struct resource_list without_legacy(struct arena *a, const struct resource_list *from)
{
	struct resource *all = arena_take(a, from->count, sizeof(*all));
	for (size_t i = 0; i < from->count; i++) {
		all[i] = from->item[i];
		all[i].name = published(all[i].name);
	}
	return (struct resource_list){all, from->count};
}

/* Other resources stay. cpu and memory follow under their lent names. */
static struct resource_list lent_list(struct arena *a, enum lending l, const struct container *c,
	const struct resource_list *from)
{
	static const char *const counted[] = {"cpu", "memory"};
	struct resource *all = arena_take(a, from->count + 2, sizeof(*all));
	size_t n = 0;
	for (size_t i = 0; i < from->count; i++)
		if (!is_lendable(from->item[i].name))
			all[n++] = from->item[i];
	for (size_t i = 0; i < 2; i++) {
		int64_t times = 1;
		const struct resource *asked = resources_find(&c->requests, counted[i]);
		asked = asked ? asked : resources_find(&c->limits, counted[i]);
		if (!asked)
			continue;
		all[n] = *asked;
		all[n].name = lending_name(l, counted[i]);
		lending_counts_as(all[n].name, &times);
		all[n++].amount = asked->amount / times;
	}
	return (struct resource_list){all, n};
}

static const struct container *rename_containers(
	struct arena *a, enum lending l, const struct container *from, size_t n, bool asks_lent)
{
	struct container *all = arena_take(a, n, sizeof(*all));
	for (size_t i = 0; i < n; i++) {
		const struct container *c = &from[i];
		all[i] = *c;
		all[i].requests = asks_lent ? without_legacy(a, &c->requests)
					    : lent_list(a, l, c, &c->requests);
		all[i].limits =
			asks_lent ? without_legacy(a, &c->limits) : lent_list(a, l, c, &c->limits);
	}
	return all;
}

void lending_rename(struct arena *a, enum lending l, struct pod_resources *pod)
{
	bool asks_lent = any_asks_lent(pod->containers, pod->ncontainers) ||
			 any_asks_lent(pod->init_containers, pod->ninit_containers);
	if (l == LENDING_NONE && !asks_lent)
		return;
	pod->containers = rename_containers(a, l, pod->containers, pod->ncontainers, asks_lent);
	pod->init_containers =
		rename_containers(a, l, pod->init_containers, pod->ninit_containers, asks_lent);
}
