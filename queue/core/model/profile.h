/*
 * A profile: how much of one thing is planned to be used over time. A step function.
 *
 * Before the first step nothing is used; a step's use lasts until the next one, that of the last for
 * ever. Two neighbours never have the same use, so a profile is the same whatever the order in which
 * its parts were added.
 *
 * Steps lie in blocks of PROFILE_BLOCK, in the order of time. Each block knows the least and the most
 * of its steps, and an amount that is added to all of them. So adding to a long time touches two
 * blocks and the heads of those between, and a search passes over a block whose steps are all on the
 * same side of the limit.
 *
 * Not a tree: a question goes forward in time and may have to look at each step (ten thousand short
 * gaps, and none is long enough). Over steps side by side in memory that takes a nanosecond or two
 * each; over nodes of a tree, each found from its root, a hundred times as long.
 */
#ifndef SLUICE_QUEUE_CORE_MODEL_PROFILE_H
#define SLUICE_QUEUE_CORE_MODEL_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROFILE_BLOCK 64

struct profile_block {
	int64_t from_ms[PROFILE_BLOCK];
	__int128 use[PROFILE_BLOCK]; /* less profile_head.more */
};

struct profile_head {
	int64_t first_ms;	    /* of its first step */
	size_t n;		    /* steps; never 0 */
	__int128 more, least, most; /* least and most of what its steps really are */
	struct profile_block *block;
};

struct profile {
	struct profile_head *head;
	size_t nheads, room;
};

/* The place of a step. A search that goes on from its last place is cheap; a change of the profile
 * makes all places worthless. {0}: the first step. */
struct profile_place {
	size_t head, step;
};

void profile_init(struct profile *p);
void profile_done(struct profile *p);

/* Adds an amount, which may be negative, to [from_ms, until_ms); INT64_MAX: for ever. */
void profile_add(struct profile *p, int64_t from_ms, int64_t until_ms, __int128 amount);

/* Is nothing used at any time? */
bool profile_is_empty(const struct profile *p);
size_t profile_steps(const struct profile *p);

/* What is used at at_ms. *ret_until_ms: when the next step begins; INT64_MAX: there is none.
 * *place is moved there. */
__int128 profile_at(
	const struct profile *p, struct profile_place *place, int64_t at_ms, int64_t *ret_until_ms);

/* The first moment at or after at_ms at which more than `limit` is used (above), or no more than
 * that (not above). INT64_MAX: there is none. *place is moved to that step, or left anywhere. */
int64_t profile_first(const struct profile *p, struct profile_place *place, int64_t at_ms,
	__int128 limit, bool above);

/* The first moment from at_ms to latest_ms from which on no more than `limit` is used for length_ms
 * (INT64_MAX: for ever); INT64_MAX: there is none. *ret_until_ms: until when no more is. */
int64_t profile_window(const struct profile *p, struct profile_place *place, int64_t at_ms,
	int64_t latest_ms, int64_t length_ms, __int128 limit, int64_t *ret_until_ms);

#endif
