#include "queue/core/model/flavor.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "queue/job/specs.h"

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
		f->share_permille == s->share_permille && f->kubelet_limits == s->kubelet_limits &&
		provisioning_spec_same(&f->provisioning, &s->provisioning) &&
		node_group_same(&f->nodes, &s->nodes) && placement_same(&f->adds, &s->adds) &&
		pod_metadata_same(&f->metadata, &s->metadata))
		return false;
	struct arena old = f->memory;
	f->memory = (struct arena){0};
	f->nodes = node_group_copy(&f->memory, &s->nodes);
	f->metadata = pod_metadata_copy(&f->memory, &s->metadata);
	f->adds = placement_copy(&f->memory, &s->adds);
	f->lending = s->lending;
	f->share_permille = s->share_permille;
	f->kubelet_limits = s->kubelet_limits;
	f->pool = s->pool;
	f->provisioning = provisioning_spec_copy(&f->memory, &s->provisioning);
	arena_done(&old);
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
	f->kubelet_limits = false;
	f->pool = NODE_POOL_UNSAID;
	f->provisioning = (struct provisioning_spec){0};
	f->at_zero = false;
	f->exists = false;
	f->edits++;
	flavor_put(flavors, f);
}
