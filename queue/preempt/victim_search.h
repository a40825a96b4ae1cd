/*
 * Levy: which of those who may go do go, so that it is enough and hurts least (victim_cost.h).
 *
 * The caller has found a set that is enough, and of which nobody can be spared; a better one is
 * looked for. What is enough, and who may go when others are away already, only the caller knows:
 * its functions are asked about the world as the search makes it, by taking runs away and putting
 * them back. Two things must be true of them:
 *   - what is enough stays enough when more are away;
 *   - who may not go does not when more are away either. So a set may go if there is an order in
 * which each may when its turn comes, and then every part of it may, too.
 *
 * Among VICTIM_SEARCH_EXACT_MAX candidates the answer is exact: of all sets that may go and are enough, none
 * costs less. Among more it is the best that VICTIM_SEARCH_TRIES_MAX tries come upon, and never worse than
 * what the caller had: sets made in the orders of least hurt, each alone, one exchanged for
 * another. Among more than VICTIM_SEARCH_TRIES_FOR there are fewer tries, so that it never takes longer. Of
 * two sets that cost the same the caller's stays, then the one with the earliest candidates is
 * taken.
 */
#ifndef SLUICE_QUEUE_PREEMPT_VICTIM_SEARCH_H
#define SLUICE_QUEUE_PREEMPT_VICTIM_SEARCH_H

#include "queue/preempt/victim_cost.h"

#define VICTIM_SEARCH_EXACT_MAX 12
#define VICTIM_SEARCH_TRIES_MAX 512
#define VICTIM_SEARCH_TRIES_FOR 64

struct victim_search {
	struct victim_cost_book book;
	const int64_t *worth; /* of each run: about how much of what lacks it holds */
	void *world;
	void (*take)(void *world, size_t run); /* it is away from here on */
	void (*put_back)(void *world, size_t run);
	bool (*enough)(void *world);
	bool (*may_go)(void *world, size_t run); /* now; NULL: anybody may, at any time */
};

/* goes: in, the caller's set, while nobody is away; out, the best that was found, and nobody is. */
void victim_search_ease(const struct victim_search *l, bool *goes);

#endif
