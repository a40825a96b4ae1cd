/*
 * An arena: the memory of one deep copy, freed at once. The copies of what placement.h and spec.h
 * only borrow live in one.
 */
#ifndef SLUICE_BASE_ARENA_H
#define SLUICE_BASE_ARENA_H

#include <stddef.h>

#include "sluice/placement.h"

struct arena_chunk;

struct arena {
	struct arena_chunk *chunk; /* the newest; older ones hang behind it */
	size_t bytes;		   /* taken from the heap */
};

void arena_done(struct arena *a);

void *arena_take(struct arena *a, size_t count, size_t size); /* zeroed, aligned for anything */
const char *arena_string(struct arena *a, const char *s);

const struct label *arena_labels(struct arena *a, const struct label *from, size_t n);
const struct taint *arena_taints(struct arena *a, const struct taint *from, size_t n);
const struct toleration *arena_tolerations(
	struct arena *a, const struct toleration *from, size_t n);
const struct selector_term *arena_terms(
	struct arena *a, const struct selector_term *from, size_t n);
void arena_placement(struct arena *a, const struct placement *from, struct placement *ret);
void arena_node_group(struct arena *a, const struct node_group *from, struct node_group *ret);

#endif
