/*
 * A parcel: a record and all it points to, in one block that free() returns whole.
 *
 * How large a record will be is only known when it is made, and it is full of pointers into itself,
 * so its block cannot move. So one is made with a guess; what goes beyond the guess is put aside,
 * in pieces of its own, and counted. Then the record is made again, in a block that is exactly
 * large enough. With a good guess that never happens (parcel_short() says whether it did).
 */
#ifndef SLUICE_CONTROLLER_WIRE_PARCEL_H
#define SLUICE_CONTROLLER_WIRE_PARCEL_H

#include <stdbool.h>
#include <stddef.h>

struct aside;

struct parcel {
	char *block;
	size_t room;
	size_t used; /* what a block would need to have; more than room: the parcel is short */
	struct aside *asides;
};

void parcel_init(struct parcel *a, size_t room);
void parcel_done(struct parcel *a);
void *parcel_take(struct parcel *a); /* the block, now the caller's; the parcel is empty */

/* Zeroed memory for any type, never NULL; count 0 is fine. */
void *parcel_array(struct parcel *a, size_t count, size_t size);
/* Zeroed bytes, not aligned. */
char *parcel_bytes(struct parcel *a, size_t size);

bool parcel_short(const struct parcel *a);

#endif
