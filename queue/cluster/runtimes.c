/* RuntimeClasses: adds to a template what the API server adds to its pods. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "queue/cluster/nodes_priv.h"
#include "queue/job/specs.h"

static bool has_name(const void *value, const void *key)
{
	return strcmp(((const struct runtime *)value)->spec.name, key) == 0;
}

void runtimes_init(struct nodes *n)
{
	map_init(&n->runtimes, has_name);
}

static void runtime_free(struct runtime *r)
{
	arena_done(&r->arena);
	free(r);
}

void runtimes_done(struct nodes *n)
{
	map_free(&n->runtimes, runtime_free);
}

static void classes_moved(struct nodes *n, const char *name)
{
	n->moves++;
	n->vacated++;
	nodes_told(n);
	owners_dress_anew(n, name);
}

void nodes_set_runtime_class(struct nodes *n, const struct runtime_class_spec *s)
{
	struct runtime *r = mem_alloc(sizeof(*r));
	nodes_drop_runtime_class(n, s->name);
	r->spec = runtime_class_spec_copy(&r->arena, s);
	map_put(&n->runtimes, map_hash_string(r->spec.name), r);
	classes_moved(n, r->spec.name);
}

void nodes_drop_runtime_class(struct nodes *n, const char *name)
{
	struct runtime *r = map_take(&n->runtimes, map_hash_string(name), name);
	if (!r)
		return;
	classes_moved(n, name);
	runtime_free(r);
}

/* Joins both arrays; equal labels in both do no harm. */
static const void *both(
	struct arena *a, const void *one, size_t none, const void *two, size_t ntwo, size_t size)
{
	char *all = arena_take(a, none + ntwo, size);
	if (none > 0)
		memcpy(all, one, none * size);
	if (ntwo > 0)
		memcpy(all + none * size, two, ntwo * size);
	return all;
}

const struct pod *runtimes_dress(
	const struct nodes *n, const struct pod *p, struct arena *a, struct pod *ret)
{
	const char *name = p->resources.runtime_class;
	if (!name || !*name)
		return p;
	const struct runtime *r = map_get(&n->runtimes, map_hash_string(name), name);
	if (!r)
		return p;
	const struct runtime_class_spec *s = &r->spec;
	*ret = *p;
	if (p->resources.overhead.count == 0)
		ret->resources.overhead = s->overhead;
	ret->node_selector = both(a, p->node_selector, p->nnode_selector, s->node_selector,
		s->nnode_selector, sizeof(*p->node_selector));
	ret->nnode_selector += s->nnode_selector;
	ret->tolerations = both(a, p->tolerations, p->ntolerations, s->tolerations, s->ntolerations,
		sizeof(*p->tolerations));
	ret->ntolerations += s->ntolerations;
	return ret;
}
