/*
 * Victim search: chooses the victims among the candidates, so that they suffice and cost least
 * (victim_cost.h).
 *
 * The caller has found a set that suffices and of which none can be spared; this looks for a better
 * one. It takes candidates away and puts them back, and asks the caller's functions after each
 * step: is it enough, may this one go now? Two things must be true of these functions:
 *
 *   - what is enough stays enough when more are away;
 *   - a candidate that may not go may not go either when more are away. So a set may go if there is
 *     an order in which each one may, and then every part of it may, too.
 *
 * Up to VICTIM_SEARCH_EXACT_MAX candidates the answer is exact: no legal set that suffices costs
 * less. Among more it is the best of VICTIM_SEARCH_TRIES_MAX tries, and never worse than the
 * caller's set. A try is a set made in an order of least cost, one candidate alone, or one victim
 * exchanged for another candidate. Beyond VICTIM_SEARCH_TRIES_FOR candidates there are fewer tries,
 * so that it never takes longer. Of sets that cost the same the caller's stays; else the one with
 * the earliest candidates is taken.
 */
#ifndef SLUICE_QUEUE_PREEMPT_VICTIM_SEARCH_H
#define SLUICE_QUEUE_PREEMPT_VICTIM_SEARCH_H

#include "queue/preempt/victim_cost.h"

#define VICTIM_SEARCH_EXACT_MAX 12
#define VICTIM_SEARCH_TRIES_MAX 512
#define VICTIM_SEARCH_TRIES_FOR 64

struct victim_search {
	struct victim_cost_book book;
	const int64_t *worth; /* of each run: about how much of the shortage it holds */
	void *world;
	void (*take)(void *world, size_t run); /* it is away from here on */
	void (*put_back)(void *world, size_t run);
	bool (*enough)(void *world);
	bool (*may_go)(void *world, size_t run); /* now; NULL: each may, at any time */
};

/* goes: in, the caller's set; out, the best that was found. None is away before or after. */
void victim_search_ease(const struct victim_search *l, bool *goes);

#endif
