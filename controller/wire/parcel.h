/*
 * A parcel: a record and all it points to, in one block that free() returns whole.
 *
 * The size of a record is known only when it is made, and a record is full of pointers into itself,
 * so its block cannot move. So it is made in a block of a guessed size; what goes beyond the guess
 * is put aside, in pieces of its own, and counted. Then the record is made again, in a block that
 * is exactly large enough. With a good guess that never happens (parcel_short() says whether it
 * did).
 */
#ifndef SLUICE_CONTROLLER_WIRE_PARCEL_H
#define SLUICE_CONTROLLER_WIRE_PARCEL_H

#include <stdbool.h>
#include <stddef.h>

struct aside;

struct parcel {
	char *block;
	size_t room;
	size_t used; /* the size that a block would need; more than room: the parcel is short */
	struct aside *asides;
};

void parcel_init(struct parcel *a, size_t room);
void parcel_done(struct parcel *a);
void *parcel_take(struct parcel *a); /* gives the block to the caller; the parcel is empty */

/* Gives zeroed memory for any type, never NULL; count 0 is fine. */
void *parcel_array(struct parcel *a, size_t count, size_t size);
/* Gives zeroed bytes, not aligned. */
char *parcel_bytes(struct parcel *a, size_t size);

bool parcel_short(const struct parcel *a);

#endif
