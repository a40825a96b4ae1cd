/*
 * Toll: what it costs to stop a set of runs.
 *
 * Tolls are compared step by step; the first step in which they differ decides:
 *
 *   reach        how far Kueue's order had to go for them: who borrows what is the asker's by right
 *                before other borrowers, these before the asker's own ClusterQueue
 *   violations   pods that PodDisruptionBudgets do not allow to go
 *   highest      the priority of the most important
 *   sum          of all priorities, a pod each; so that each pod counts, 2^31 is added to each
 *   pods
 *   start        of the one that has run longest among the most important: the later the better
 *   work         that is lost: run time times pods
 *
 * Steps two to six are kube-scheduler's (pickOneNodeForPreemption), and the pods beyond a budget
 * are counted as it does (filterPodsWithPDBViolation): the more important pods first, then those
 * that have run longer; each takes one from every budget that selects it; a pod is a violation if
 * any of these had none left. So a set never costs less than a part of it.
 *
 * Pure numbers: who they are of, and whether the set is enough, is not known here (victim_search.h).
 */
#ifndef SLUICE_QUEUE_PREEMPT_VICTIM_COST_H
#define SLUICE_QUEUE_PREEMPT_VICTIM_COST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct victim_cost_run { /* one that might go */
	uint32_t reach;
	int32_t priority;
	int32_t pods; /* counts as one at least */
	int64_t start_ms;
	const uint32_t *budget; /* indexes of those that select its pods */
	size_t nbudgets;
};

struct victim_cost_book {
	const struct victim_cost_run *run;
	size_t nruns;
	const uint32_t *rank;	/* indexes of all runs, those first whose pods are counted first:
				   victim_cost_rank() */
	const int32_t *allowed; /* of each budget: so many pods may go; below 0 counts as 0 */
	int64_t *left;		/* as many: scratch */
	size_t nbudgets;
};

struct victim_cost {
	uint32_t reach;
	int64_t violations;
	int64_t highest; /* INT64_MIN: of nobody */
	__int128 sum, pods;
	int64_t start_ms; /* INT64_MAX: of nobody */
	__int128 youth; /* the sum of starts times pods: at one moment, the more of it the less work
			   is lost */
};

/* Writes as many indexes as there are runs. */
void victim_cost_rank(const struct victim_cost_run *run, size_t n, uint32_t *ret_rank);

/* Of those that go. */
struct victim_cost victim_cost_of(const struct victim_cost_book *b, const bool *goes);

/* Below 0: a hurts less. */
int victim_cost_cmp(const struct victim_cost *a, const struct victim_cost *b);

#endif
