/*
 * An arena: the memory of one deep copy, freed at once. What placement.h and spec.h only borrow is
 * copied into one (queue/job/specs.h).
 */
#ifndef SLUICE_BASE_ARENA_H
#define SLUICE_BASE_ARENA_H

#include <stddef.h>

struct arena_chunk;

struct arena {
	struct arena_chunk *chunk; /* the newest; older ones hang behind it */
	size_t bytes;		   /* taken from the heap */
};

void arena_done(struct arena *a);

void *arena_take(struct arena *a, size_t count, size_t size); /* zeroed, aligned for anything */
const char *arena_string(struct arena *a, const char *s);

#endif
