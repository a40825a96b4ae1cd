#include "queue/priority.h"

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
	map_each (&p->classes, i, c) {
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
	*ret_changed = !c->exists || c->value != spec->value;
	c->exists = true;
	c->value = spec->value;
	c->global_default = spec->kind == PRIORITY_POD && spec->global_default;
	return c;
}

void priority_unset(struct priority_class *c)
{
	c->exists = false;
	c->value = 0;
	c->global_default = false;
}

bool priority_default_changed(struct priorities *p)
{
	const struct priority_class *c;
	bool found = false;
	int32_t value = 0;
	map_each (&p->classes, i, c) {
		if (c->global_default && (!found || c->value < value)) {
			found = true;
			value = c->value;
		}
	}
	bool changed = p->by_default.value != value;
	p->by_default.value = value;
	return changed;
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
