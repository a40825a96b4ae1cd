#include "queue/core/model/priority.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"

struct class_key {
	enum priority_kind kind;
	const char *name;
};

static bool class_is(const void *value, const void *key)
{
	const struct priority_class *c = value;
	const struct class_key *k = key;
	return c->kind == k->kind && strcmp(c->name, k->name) == 0;
}

static uint64_t class_hash(enum priority_kind kind, const char *name)
{
	return map_hash_string(name) + (uint64_t)kind;
}

void priorities_init(struct priorities *p)
{
	map_init(&p->classes, class_is);
	p->by_default = (struct priority_class){.kind = PRIORITY_POD, .exists = true};
	list_init(&p->by_default.members);
}

void priorities_done(struct priorities *p)
{
	struct priority_class *c;
	map_each(&p->classes, i, c) {
		free(c->name);
		free(c);
	}
	map_done(&p->classes);
}

struct priority_class *priority_find(
	const struct priorities *p, enum priority_kind kind, const char *name)
{
	struct class_key key = {kind, name};
	return map_get(&p->classes, class_hash(kind, name), &key);
}

static struct priority_class *class_of(
	struct priorities *p, enum priority_kind kind, const char *name)
{
	struct priority_class *c = priority_find(p, kind, name);
	if (!c) {
		c = mem_alloc(sizeof(*c));
		c->kind = kind;
		c->name = mem_strdup(name);
		list_init(&c->members);
		map_put(&p->classes, class_hash(kind, name), c);
	}
	return c;
}

struct priority_class *priority_of(
	struct priorities *p, const char *workload_class, const char *pod_class)
{
	if (*workload_class)
		return class_of(p, PRIORITY_WORKLOAD, workload_class);
	if (*pod_class)
		return class_of(p, PRIORITY_POD, pod_class);
	return &p->by_default;
}

struct priority_class *priority_set(
	struct priorities *p, const struct priority_spec *spec, bool *ret_changed)
{
	struct priority_class *c = class_of(p, spec->kind, spec->name);
	bool is_pod = spec->kind == PRIORITY_POD, never = is_pod && spec->never_preempts;
	*ret_changed = !c->exists || c->value != spec->value || c->never_preempts != never;
	c->exists = true;
	c->value = spec->value;
	c->global_default = is_pod && spec->global_default;
	c->never_preempts = never;
	return c;
}

void priority_unset(struct priority_class *c)
{
	c->exists = false;
	c->value = 0;
	c->global_default = c->never_preempts = false;
}

bool priority_usable(const struct priority_class *c)
{
	return c->exists && c->value <= PRIORITY_HIGHEST;
}

#define NAMES_SYSTEM(class)                                                                        \
	"spec.template.spec.priorityClassName names " class ", a class of the system, which is "   \
							    "for what keeps the cluster alive; "   \
							    "name another "                        \
							    "PriorityClass, or none"

const char *priority_system_fault(const char *pod_class)
{
	if (strcmp(pod_class, "system-node-critical") == 0)
		return NAMES_SYSTEM("system-node-critical");
	if (strcmp(pod_class, "system-cluster-critical") == 0)
		return NAMES_SYSTEM("system-cluster-critical");
	return NULL;
}

bool priority_is_lower(const struct priority_class *a, const struct priority_class *b)
{
	return a->value != b->value ? a->value < b->value : strcmp(a->name, b->name) < 0;
}

bool priority_default_changed(struct priorities *p)
{
	const struct priority_class *c, *lowest = NULL;
	struct priority_class *d = &p->by_default, old = *d;
	map_each(&p->classes, i, c)
		if (c->global_default && priority_usable(c) &&
			(!lowest || priority_is_lower(c, lowest)))
			lowest = c;
	d->value = lowest ? lowest->value : 0;
	d->never_preempts = lowest && lowest->never_preempts;
	return d->value != old.value || d->never_preempts != old.never_preempts;
}

/* Of several with the lowest value the API server takes any; here it is the first by name. */
const char *priority_default_name(const struct priorities *p)
{
	const struct priority_class *c, *best = NULL;
	map_each(&p->classes, i, c) {
		if (!c->global_default)
			continue;
		if (!best || c->value < best->value ||
			(c->value == best->value && strcmp(c->name, best->name) < 0))
			best = c;
	}
	return best ? best->name : NULL;
}

void priority_tidy(struct priorities *p, struct priority_class *c)
{
	if (!c || c == &p->by_default || c->exists || !list_empty(&c->members))
		return;
	struct class_key key = {c->kind, c->name};
	must(map_take(&p->classes, class_hash(c->kind, c->name), &key) == c);
	free(c->name);
	free(c);
}
