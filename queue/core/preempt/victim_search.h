/*
 * Victim search: chooses the victims among the candidates, so that they suffice and cost least.
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
 *
 * Victim cost, what it costs to stop a set of runs, is compared step by step. The first step in which
 * two costs differ decides:
 *
 *   reach        how far Kueue's order had to go: first runs that borrow the nominee's own quota,
 *                then other borrowers, then its own ClusterQueue;
 *   violations   pods that PodDisruptionBudgets do not allow to go;
 *   highest      the priority of the most important;
 *   sum          of the priorities of all pods, each plus 2^31 so that each pod counts;
 *   pods         their number;
 *   start        of the longest run among the most important: the later the better;
 *   work         that is lost: run time times pods.
 *
 * Steps two to six are kube-scheduler's (pickOneNodeForPreemption), and the pods beyond a budget
 * are counted as it does (filterPodsWithPDBViolation): the more important pods first, then those
 * that have run longer; each takes one from every budget that selects it; a pod is a violation if
 * any of these had none left. So a set never costs less than a part of it.
 *
 * Costs are pure numbers. Which runs they belong to, and whether a set suffices, the caller knows.
 */
#ifndef SLUICE_QUEUE_CORE_PREEMPT_VICTIM_SEARCH_H
#define SLUICE_QUEUE_CORE_PREEMPT_VICTIM_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct victim_cost_run { /* a candidate */
	uint32_t reach;
	int32_t priority;
	int32_t pods; /* counts as one at least */
	int64_t start_ms;
	const uint32_t *budget; /* indexes of the budgets that select its pods */
	size_t nbudgets;
};

struct victim_cost_book {
	const struct victim_cost_run *run;
	size_t nruns;
	const uint32_t *rank; /* indexes of all runs, in the order in which their pods are counted:
				   victim_cost_rank() */
	const int32_t *allowed; /* of each budget: so many pods may go; below 0 counts as 0 */
	int64_t *left;		/* scratch, one for each budget */
	size_t nbudgets;
};

struct victim_cost {
	uint32_t reach;
	int64_t violations;
	int64_t highest; /* INT64_MIN: of an empty set */
	__int128 sum, pods;
	int64_t start_ms; /* INT64_MAX: of an empty set */
	__int128 youth;	  /* the sum of starts times pods: the more, the less work is lost */
};

/* Writes n indexes: more important runs first, then earlier starts. */
void victim_cost_rank(const struct victim_cost_run *run, size_t n, uint32_t *ret_rank);

/* The cost of the runs that go. */
struct victim_cost victim_cost_of(const struct victim_cost_book *b, const bool *goes);

/* Below 0: a costs less. */
int victim_cost_cmp(const struct victim_cost *a, const struct victim_cost *b);

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
