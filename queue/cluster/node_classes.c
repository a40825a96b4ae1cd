#include "queue/cluster/node_classes.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "queue/job/placement.h"
#include "queue/job/specs.h"

#define HOSTNAME "kubernetes.io/hostname"

struct fingerprint {
	const void *ptr;
	size_t size;
};

static bool has_fingerprint(const void *value, const void *key)
{
	const struct node_shape *s = value;
	const struct fingerprint *p = key;
	return s->fingerprint_size == p->size && memcmp(s->fingerprint, p->ptr, p->size) == 0;
}

void node_classes_init(struct node_classes *s)
{
	*s = (struct node_classes){0};
	map_init(&s->by_fingerprint, has_fingerprint);
}

static void shape_free(struct node_shape *shape)
{
	arena_done(&shape->arena);
	free(shape->fingerprint);
	free(shape->amount);
	free(shape);
}

void node_classes_done(struct node_classes *s)
{
	for (size_t i = 0; i < s->nslots; i++)
		if (s->slot[i])
			shape_free(s->slot[i]);
	for (size_t i = 0; i < s->nown; i++)
		free(s->own[i].key);
	for (size_t i = 0; i < s->nresources; i++)
		free(s->resource[i]);
	free(s->slot);
	free(s->own);
	free(s->resource);
	free(s->having);
	map_done(&s->by_fingerprint);
}

/* ---- what is a node's own -------------------------------------------------------------------- */

bool node_classes_label_is_own(const struct node_spec *spec, const struct label *l)
{
	return strcmp(l->key, HOSTNAME) == 0 || strcmp(l->value, spec->name) == 0;
}

static struct own_key *own_find(const struct node_classes *s, const char *key)
{
	for (size_t i = 0; i < s->nown; i++)
		if (strcmp(s->own[i].key, key) == 0)
			return &s->own[i];
	return NULL;
}

void node_classes_count_own(struct node_classes *s, const char *key)
{
	struct own_key *k = own_find(s, key);
	if (!k) {
		s->own = mem_grow(s->own, s->nown + 1, sizeof(*s->own));
		k = &s->own[s->nown++];
		*k = (struct own_key){mem_strdup(key), 0};
		s->own_moves++;
	}
	k->nodes++;
}

void node_classes_uncount_own(struct node_classes *s, const char *key)
{
	struct own_key *k = own_find(s, key);
	must(k);
	if (--k->nodes > 0)
		return;
	free(k->key);
	*k = s->own[--s->nown];
	s->own_moves++;
}

static bool term_blind(const struct node_classes *s, const struct node_term *t)
{
	for (size_t i = 0; i < t->labels.nrequirements; i++)
		if (own_find(s, t->labels.requirements[i].key))
			return true;
	return t->fields.nrequirements > 0;
}

bool node_classes_blind_to(const struct node_classes *s, const struct pod *p)
{
	bool blind = *p->node_name;
	for (size_t i = 0; i < p->nnode_selector; i++)
		blind |= own_find(s, p->node_selector[i].key) != NULL;
	for (size_t i = 0; i < p->nterms; i++)
		blind |= term_blind(s, &p->terms[i]);
	for (size_t i = 0; i < p->naffinity; i++)
		blind |= own_find(s, p->affinity[i].topology_key) != NULL;
	for (size_t i = 0; i < p->nspread; i++)
		blind |= own_find(s, p->spread[i].topology_key) != NULL;
	return blind;
}

/* ---- resources ------------------------------------------------------------------------------- */

int32_t node_classes_resource(const struct node_classes *s, const char *name)
{
	for (size_t i = 0; i < s->nresources; i++)
		if (strcmp(s->resource[i], name) == 0)
			return (int32_t)i;
	return -1;
}

bool node_classes_have(const struct node_classes *s, const char *resource)
{
	int32_t number = node_classes_resource(s, resource);
	return number >= 0 && s->having[number] > 0;
}

/* The shape has come, or is about to go. */
static void count_having(struct node_classes *s, const struct node_shape *shape, bool came)
{
	for (size_t i = 0; i < s->nresources; i++) {
		if (shape->amount[i] <= 0)
			continue;
		size_t before = s->having[i];
		s->having[i] = came ? before + 1 : before - 1;
		s->have_moves += before == 0 || s->having[i] == 0;
	}
}

static bool add_resources(struct node_classes *s, const struct resource_list *list)
{
	size_t before = s->nresources;
	for (size_t i = 0; i < list->count; i++) {
		if (node_classes_resource(s, list->item[i].name) >= 0)
			continue;
		s->resource = mem_grow(s->resource, s->nresources + 1, sizeof(*s->resource));
		s->having = mem_grow(s->having, s->nresources + 1, sizeof(*s->having));
		s->having[s->nresources] = 0;
		s->resource[s->nresources++] = mem_strdup(list->item[i].name);
	}
	return s->nresources > before;
}

static void number_amounts(const struct node_classes *s, struct node_shape *shape)
{
	free(shape->amount);
	shape->amount = mem_array(s->nresources + 1, sizeof(*shape->amount));
	for (size_t i = 0; i < shape->allocatable.count; i++) {
		const struct resource *r = &shape->allocatable.item[i];
		shape->amount[node_classes_resource(s, r->name)] = r->amount;
	}
}

/* ---- shapes ---------------------------------------------------------------------------------- */

/* Labels and resources are taken in the order given. The API server sorts them; any other order
 * only makes more shapes. */
static void fingerprint_shape(struct buf *b, const struct node_spec *spec)
{
	buf_putc(b, spec->unschedulable ? 1 : 0);
	for (size_t i = 0; i < spec->nlabels; i++) {
		if (node_classes_label_is_own(spec, &spec->labels[i]))
			continue;
		key_string(b, spec->labels[i].key);
		key_string(b, spec->labels[i].value);
	}
	buf_putc(b, 2);
	for (size_t i = 0; i < spec->ntaints; i++) {
		key_string(b, spec->taints[i].key);
		key_string(b, spec->taints[i].value);
		buf_putc(b, (char)('0' + spec->taints[i].effect));
	}
	buf_putc(b, 3);
	for (size_t i = 0; i < spec->allocatable.count; i++) {
		key_string(b, spec->allocatable.item[i].name);
		key_number(b, spec->allocatable.item[i].amount);
	}
}

static void copy_spec(struct node_shape *shape, const struct node_spec *spec)
{
	struct arena *a = &shape->arena;
	struct label *labels = arena_take(a, spec->nlabels, sizeof(*labels));
	struct resource *item = arena_take(a, spec->allocatable.count, sizeof(*item));
	size_t n = 0;
	for (size_t i = 0; i < spec->nlabels; i++)
		if (!node_classes_label_is_own(spec, &spec->labels[i]))
			labels[n++] = *label_copies(a, &spec->labels[i], 1);
	for (size_t i = 0; i < spec->allocatable.count; i++)
		item[i] = (struct resource){arena_string(a, spec->allocatable.item[i].name),
			spec->allocatable.item[i].amount};
	shape->site = (struct site){
		.name = "",
		.unschedulable = spec->unschedulable,
		.labels = labels,
		.nlabels = n,
		.taints = taint_copies(a, spec->taints, spec->ntaints),
		.ntaints = spec->ntaints,
	};
	shape->allocatable = (struct resource_list){item, spec->allocatable.count};
}

static uint32_t free_id(struct node_classes *s)
{
	for (size_t i = 0; i < s->nslots; i++)
		if (!s->slot[i])
			return (uint32_t)i;
	s->slot = mem_grow(s->slot, s->nslots + 1, sizeof(struct node_shape *));
	return (uint32_t)s->nslots++;
}

static struct node_shape *shape_new(
	struct node_classes *s, const struct node_spec *spec, struct buf *b)
{
	struct node_shape *shape = mem_alloc(sizeof(*shape));
	copy_spec(shape, spec);
	shape->id = free_id(s);
	shape->serial = ++s->made;
	shape->hash = map_hash_bytes(b->ptr, b->len);
	shape->fingerprint_size = b->len;
	shape->fingerprint = buf_take(b);
	s->slot[shape->id] = shape;
	map_put(&s->by_fingerprint, shape->hash, shape);
	number_amounts(s, shape);
	count_having(s, shape, true);
	return shape;
}

struct node_shape *node_classes_take(
	struct node_classes *s, const struct node_spec *spec, bool *ret_new_resource)
{
	struct buf b;
	buf_init(&b, SIZE_MAX / 2);
	fingerprint_shape(&b, spec);
	*ret_new_resource = add_resources(s, &spec->allocatable);
	for (size_t i = 0; *ret_new_resource && i < s->nslots; i++)
		if (s->slot[i])
			number_amounts(s, s->slot[i]);
	struct fingerprint key = {b.ptr, b.len};
	struct node_shape *shape = map_get(&s->by_fingerprint, map_hash_bytes(b.ptr, b.len), &key);
	if (!shape)
		shape = shape_new(s, spec, &b);
	buf_done(&b);
	shape->nodes++;
	return shape;
}

void node_classes_drop(struct node_classes *s, struct node_shape *shape)
{
	struct fingerprint key = {shape->fingerprint, shape->fingerprint_size};
	if (--shape->nodes > 0)
		return;
	count_having(s, shape, false);
	map_take(&s->by_fingerprint, shape->hash, &key);
	s->slot[shape->id] = NULL;
	s->gone++;
	shape_free(shape);
}
