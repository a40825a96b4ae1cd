#include "queue/core/model/flavor.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/must.h"
#include "queue/job/placement.h"

static bool flavor_is(const void *value, const void *key)
{
	return strcmp(((const struct flavor *)value)->name, key) == 0;
}

void flavors_init(struct map *flavors)
{
	map_init(flavors, flavor_is);
}

static void flavor_free(struct flavor *f)
{
	arena_done(&f->memory);
	free(f->invalid);
	free(f->maker);
	free(f->name);
	free(f);
}

void flavors_done(struct map *flavors)
{
	map_free(flavors, flavor_free);
}

struct flavor *flavor_find(const struct map *flavors, const char *name)
{
	return map_get(flavors, map_hash_string(name), name);
}

struct flavor *flavor_keep(struct map *flavors, const char *name)
{
	struct flavor *f = flavor_find(flavors, name);
	if (!f) {
		f = mem_alloc(sizeof(*f));
		f->name = mem_strdup(name);
		map_put(flavors, map_hash_string(name), f);
	}
	f->refs++;
	return f;
}

void flavor_put(struct map *flavors, struct flavor *f)
{
	must(f->refs > 0);
	if (--f->refs > 0)
		return;
	must(map_take(flavors, map_hash_string(f->name), f->name) == f);
	flavor_free(f);
}

static bool labels_same(const struct label *a, size_t na, const struct label *b, size_t nb)
{
	if (na != nb)
		return false;
	for (size_t i = 0; i < na; i++)
		if (strcmp(a[i].key, b[i].key) != 0 || strcmp(a[i].value, b[i].value) != 0)
			return false;
	return true;
}

static bool taints_same(const struct node_group *a, const struct node_group *b)
{
	if (a->ntaints != b->ntaints)
		return false;
	for (size_t i = 0; i < a->ntaints; i++) {
		const struct taint *x = &a->taints[i], *y = &b->taints[i];
		if (x->effect != y->effect || strcmp(x->key, y->key) != 0 ||
			strcmp(x->value, y->value) != 0)
			return false;
	}
	return true;
}

static bool tolerations_same(const struct node_group *a, const struct node_group *b)
{
	if (a->ntolerations != b->ntolerations)
		return false;
	for (size_t i = 0; i < a->ntolerations; i++) {
		const struct toleration *x = &a->tolerations[i], *y = &b->tolerations[i];
		if (x->op != y->op || x->effect != y->effect || x->has_seconds != y->has_seconds ||
			x->seconds != y->seconds || strcmp(x->key, y->key) != 0 ||
			strcmp(x->value, y->value) != 0)
			return false;
	}
	return true;
}

/* podTemplate is compared as it is kept in shapes: by its bytes. */
static bool adds_same(const struct flavor *f, const struct flavor_spec *s)
{
	struct buf now, then;
	buf_init(&now, SIZE_MAX / 4);
	buf_init(&then, SIZE_MAX / 4);
	placement_key(&f->adds, &now);
	pod_metadata_key(&f->metadata, &now);
	placement_key(&s->adds, &then);
	pod_metadata_key(&s->metadata, &then);
	bool same =
		now.len == then.len && (now.len == 0 || memcmp(now.ptr, then.ptr, now.len) == 0);
	buf_done(&now);
	buf_done(&then);
	return same;
}

static bool nodes_same(const struct node_group *a, const struct node_group *b)
{
	return labels_same(a->labels, a->nlabels, b->labels, b->nlabels) && taints_same(a, b) &&
	       tolerations_same(a, b);
}

static bool provisioning_same(const struct provisioning_spec *a, const struct provisioning_spec *b)
{
	if (!a->class_name || !b->class_name)
		return a->class_name == b->class_name;
	return strcmp(a->class_name, b->class_name) == 0 && a->timeout_ms == b->timeout_ms &&
	       labels_same(a->parameters, a->nparameters, b->parameters, b->nparameters);
}

static void provisioning_copy(
	struct arena *a, const struct provisioning_spec *from, struct provisioning_spec *ret)
{
	*ret = (struct provisioning_spec){0};
	if (!from->class_name)
		return;
	ret->class_name = arena_string(a, from->class_name);
	ret->parameters = labels_copy(a, from->parameters, from->nparameters);
	ret->nparameters = from->nparameters;
	ret->timeout_ms = from->timeout_ms;
}

/* The record, with the object's one reference. */
static struct flavor *object_keep(struct map *flavors, const char *name)
{
	struct flavor *f = flavor_keep(flavors, name);
	if (f->exists || f->invalid)
		f->refs--;
	return f;
}

bool flavor_set(struct map *flavors, const struct flavor_spec *s)
{
	struct flavor *f = object_keep(flavors, s->name);
	free(f->invalid);
	f->invalid = NULL;
	if (f->exists && f->pool == s->pool && f->lending == s->lending &&
		f->share_permille == s->share_permille &&
		provisioning_same(&f->provisioning, &s->provisioning) &&
		nodes_same(&f->nodes, &s->nodes) && adds_same(f, s))
		return false;
	struct arena memory = {0};
	struct node_group copy;
	node_group_copy(&memory, &s->nodes, &copy);
	arena_done(&f->memory);
	f->memory = memory;
	f->nodes = copy;
	pod_metadata_copy(&f->memory, &s->metadata, &f->metadata);
	placement_copy(&f->memory, &s->adds, &f->adds);
	f->lending = s->lending;
	f->share_permille = s->share_permille;
	f->pool = s->pool;
	provisioning_copy(&f->memory, &s->provisioning, &f->provisioning);
	f->exists = true;
	f->edits++;
	return true;
}

void flavor_refuse(struct map *flavors, const char *name, const char *sentence)
{
	struct flavor *f = object_keep(flavors, name);
	free(f->invalid);
	f->invalid = mem_strdup(sentence);
}

void flavor_unset(struct map *flavors, struct flavor *f)
{
	if (!f->exists && !f->invalid)
		return;
	arena_done(&f->memory);
	free(f->invalid);
	f->invalid = NULL;
	f->nodes = (struct node_group){0};
	f->metadata = (struct pod_metadata){0};
	f->adds = (struct placement){0};
	f->lending = LENDING_NONE;
	f->share_permille = 0;
	f->pool = NODE_POOL_UNSAID;
	f->provisioning = (struct provisioning_spec){0};
	f->at_zero = false;
	f->exists = false;
	f->edits++;
	flavor_put(flavors, f);
}
