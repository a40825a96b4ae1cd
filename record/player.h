/*
 * The player: makes the calls of a record again, on a queue of its own, and compares the answers.
 *
 * A call with its answer is written as the recorder writes it, and must be the same line to the
 * byte. A difference means another version of Sluice, or a queue that is not a function of its
 * calls, which would be a fault.
 */
#ifndef SLUICE_RECORD_PLAYER_H
#define SLUICE_RECORD_PLAYER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/slice.h"

#define PLAYED_BEFORE 5 /* facts that are kept, to be shown before a difference */

struct player;

struct player *player_new(void);
void player_free(struct player *p); /* NULL is fine */

/* Makes the call of a line. 1: the answer is that of the line. 0: it is another, see player_now().
 * ERR_INVALID: it is no line of a record; the sentence says why. */
int player_line(struct player *p, struct slice line, struct err *e);

/* Returns the line as it is now, after player_line() returned 0. */
struct slice player_now(const struct player *p);
/* Gives the facts before the difference, the oldest first; false past the last. Long ones are
 * cut. */
bool player_before(const struct player *p, unsigned index, struct slice *ret);

struct player_counts {
	uint64_t facts;	    /* calls without an answer */
	uint64_t decisions; /* in the answers */
};
struct player_counts player_counts(const struct player *p);

#endif
