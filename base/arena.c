#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"

struct arena_chunk {
	struct arena_chunk *older;
	size_t size, taken;
	_Alignas(max_align_t) char byte[];
};

#define CHUNK_LEAST 240

void arena_done(struct arena *a)
{
	while (a->chunk) {
		struct arena_chunk *c = a->chunk;
		a->chunk = c->older;
		free(c);
	}
	a->bytes = 0;
}

static void *take_bytes(struct arena *a, size_t size, size_t align)
{
	struct arena_chunk *c = a->chunk;
	size_t at = c ? (c->taken + align - 1) & ~(align - 1) : 0;
	if (!c || at > c->size || size > c->size - at) {
		size_t room = size > CHUNK_LEAST ? size : CHUNK_LEAST;
		c = mem_alloc(sizeof(*c) + room);
		c->size = room;
		c->older = a->chunk;
		a->chunk = c;
		a->bytes += sizeof(*c) + room;
		at = 0;
	}
	c->taken = at + size;
	return c->byte + at;
}

void *arena_take(struct arena *a, size_t count, size_t size)
{
	must(size == 0 || count <= (SIZE_MAX - 4096) / size);
	return count ? take_bytes(a, count * size, _Alignof(max_align_t)) : NULL;
}

const char *arena_string(struct arena *a, const char *s)
{
	size_t n = s ? strlen(s) : 0;
	if (n == 0)
		return "";
	return memcpy(take_bytes(a, n + 1, 1), s, n + 1);
}

const struct label *arena_labels(struct arena *a, const struct label *from, size_t n)
{
	struct label *to = arena_take(a, n, sizeof(*to));
	for (size_t i = 0; i < n; i++) {
		to[i].key = arena_string(a, from[i].key);
		to[i].value = arena_string(a, from[i].value);
	}
	return to;
}

const struct taint *arena_taints(struct arena *a, const struct taint *from, size_t n)
{
	struct taint *to = arena_take(a, n, sizeof(*to));
	for (size_t i = 0; i < n; i++) {
		to[i] = from[i];
		to[i].key = arena_string(a, from[i].key);
		to[i].value = arena_string(a, from[i].value);
	}
	return to;
}

const struct toleration *arena_tolerations(struct arena *a, const struct toleration *from, size_t n)
{
	struct toleration *to = arena_take(a, n, sizeof(*to));
	for (size_t i = 0; i < n; i++) {
		to[i] = from[i];
		to[i].key = arena_string(a, from[i].key);
		to[i].value = arena_string(a, from[i].value);
	}
	return to;
}

static const struct requirement *arena_requirements(
	struct arena *a, const struct requirement *from, size_t n)
{
	struct requirement *to = arena_take(a, n, sizeof(*to));
	for (size_t i = 0; i < n; i++) {
		const char **values = arena_take(a, from[i].nvalues, sizeof(*values));
		for (size_t v = 0; v < from[i].nvalues; v++)
			values[v] = arena_string(a, from[i].values[v]);
		to[i] = from[i];
		to[i].key = arena_string(a, from[i].key);
		to[i].values = values;
	}
	return to;
}

const struct selector_term *arena_terms(struct arena *a, const struct selector_term *from, size_t n)
{
	struct selector_term *to = arena_take(a, n, sizeof(*to));
	for (size_t i = 0; i < n; i++) {
		to[i].nrequirements = from[i].nrequirements;
		to[i].requirements =
			arena_requirements(a, from[i].requirements, from[i].nrequirements);
	}
	return to;
}

void arena_placement(struct arena *a, const struct placement *from, struct placement *ret)
{
	*ret = *from;
	ret->node_selector = arena_labels(a, from->node_selector, from->nnode_selector);
	ret->tolerations = arena_tolerations(a, from->tolerations, from->ntolerations);
	ret->terms = arena_terms(a, from->terms, from->nterms);
}

void arena_node_group(struct arena *a, const struct node_group *from, struct node_group *ret)
{
	*ret = *from;
	ret->labels = arena_labels(a, from->labels, from->nlabels);
	ret->taints = arena_taints(a, from->taints, from->ntaints);
	ret->tolerations = arena_tolerations(a, from->tolerations, from->ntolerations);
}
