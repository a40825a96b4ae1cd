/*
 * An arena: a record and all it points to, in one block that free() returns whole.
 *
 * How large a record will be is only known when it is made, and it is full of pointers into itself,
 * so its block cannot move. So one is made with a guess; what goes beyond the guess is put aside,
 * in pieces of its own, and counted. Then the record is made again, in a block that is exactly
 * large enough. With a good guess that never happens (arena_short() says whether it did).
 */
#ifndef SLUICE_WIRE_ARENA_H
#define SLUICE_WIRE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct aside;

struct arena {
	char *block;
	size_t room;
	size_t used; /* what a block would need to have; more than room: the arena is short */
	struct aside *asides;
};

void arena_init(struct arena *a, size_t room);
void arena_done(struct arena *a);
void *arena_take(struct arena *a); /* the block, now the caller's; the arena is empty */

/* Zeroed memory for any type, never NULL; count 0 is fine. */
void *arena_array(struct arena *a, size_t count, size_t size);
/* Zeroed bytes, not aligned. */
char *arena_bytes(struct arena *a, size_t size);

bool arena_short(const struct arena *a);

#endif
