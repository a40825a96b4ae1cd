#include "queue/core/model/named_object.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "queue/core/model/state.h"

static struct named_object *of_node(struct tree_node *n)
{
	return n ? container_of(n, struct named_object, by_name) : NULL;
}

static int name_order(const struct tree_node *a, const struct tree_node *b)
{
	return strcmp(container_of_const(a, struct named_object, by_name)->name,
		container_of_const(b, struct named_object, by_name)->name);
}

void named_objects_init(struct named_objects *all)
{
	tree_init(&all->by_name, name_order, NULL);
	all->serials = 0;
}

struct named_object *named_object_find(const struct named_objects *all, const char *name)
{
	struct named_object like = {.name = (char *)(uintptr_t)name};
	return of_node(tree_find(&all->by_name, &like.by_name));
}

struct named_object *named_object_at(const struct named_objects *all, size_t index)
{
	return of_node(tree_at(&all->by_name, index));
}

struct named_object *named_object_next(const struct named_object *o)
{
	return of_node(tree_next(&o->by_name));
}

void named_object_enter(struct named_objects *all, struct named_object *o, const char *name)
{
	o->name = mem_strdup(name);
	o->serial = ++all->serials;
	tree_insert(&all->by_name, &o->by_name, o->serial);
}

void named_object_leave(struct named_objects *all, struct named_object *o)
{
	tree_remove(&all->by_name, &o->by_name);
	free(o->name);
	free(o->invalid);
}

void named_object_set_invalid(struct named_object *o, const char *sentence)
{
	free(o->invalid);
	o->invalid = mem_strdup(sentence);
}

void named_object_refuse(struct queue *q, struct named_object *o, const char *sentence)
{
	named_object_set_invalid(o, sentence);
	q->counters.version++;
}
