/*
 * The player: makes the calls of a record again, on a queue of its own, and compares what they give.
 *
 * What a call gives is written as the recorder writes it, and must be the same line to the byte. So a
 * difference is one of the queue: another version of Sluice, or a queue that is not a function of its
 * calls, which would be a fault.
 */
#ifndef SLUICE_RECORD_PLAYER_H
#define SLUICE_RECORD_PLAYER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/slice.h"

#define PLAYED_BEFORE 5 /* so many facts are kept, to be shown before a difference */

struct player;

struct player *player_new(void);
void player_free(struct player *p); /* NULL is fine */

/* Makes the call that this line says. 1: it gives what the line has. 0: it gives another thing, see
 * player_now(). ERR_INVALID: it is no line of a record; the sentence says why. */
int player_line(struct player *p, struct slice line, struct err *e);

/* After 0: the line as it is now. */
struct slice player_now(const struct player *p);
/* The facts before it, the oldest first; false past the last. Long ones are cut. */
bool player_before(const struct player *p, unsigned index, struct slice *ret);

struct player_counts {
	uint64_t facts;	    /* calls that give nothing */
	uint64_t decisions; /* that were given */
};
struct player_counts player_counts(const struct player *p);

#endif
