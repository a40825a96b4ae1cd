/*
 * A preemption: one search for victims. This is what the classic search (classic_victims.c) and the
 * fair one (fair_victims.c) have in common: the candidate sources, the victims so far, and the
 * candidates among which the cheapest set is chosen (candidates.c).
 *
 * A candidate source yields the candidates of one ClusterQueue in the order in which they would
 * have to go (reservation_cmp): promises, runs that end anyway, other runs. A candidate holds
 * something of a contested row, and the policy allows to preempt it. Candidates are looked up one
 * by one (victim_index.h), because a ClusterQueue may run 100,000 Jobs and few have to go.
 *
 * preemption.minRun of a ClusterQueue spares its runs until they have run for so long, but for runs
 * on quota that a nominee takes back as its own with reclaimWithinCohort Any. Where a run is spared
 * its ClusterQueue remembers it (clusterqueue.spared), so that the pass sets an alarm.
 */
#ifndef SLUICE_QUEUE_CORE_PREEMPT_PREEMPTION_H
#define SLUICE_QUEUE_CORE_PREEMPT_PREEMPTION_H

#include "queue/core/model/victim_index.h"
#include "queue/core/preempt/victim_search.h"
#include "queue/core/preempt/victims.h"

enum candidate_kind {	     /* in the order in which they are taken */
	CANDIDATE_HIERARCHY, /* borrows quota that is nearer to the nominee, in which it fits */
	CANDIDATE_PRIORITY,  /* another borrower */
	CANDIDATE_OWN,	     /* of the nominee's ClusterQueue */
};

struct candidate_source {
	struct clusterqueue *cq;
	enum candidate_kind kind;
	const struct quota_node *shared; /* the lowest node above both; NULL for its own */
	struct reservation *next;	 /* NULL: none is left */
	size_t cursor;			 /* its first, in preemption.cursor */
	bool dropped;			 /* none of the rest may go */
	int64_t by_ms;			 /* runs that started later are spared */
	size_t beyond;			 /* how many were listed behind the victims */
};

/* The most candidates that are looked at behind the victims, of all ClusterQueues together, */
#define CANDIDATES_BEYOND 32
/* ... and of one ClusterQueue, where there are many. */
#define CANDIDATES_BEYOND_EACH 8

struct candidate {
	struct reservation *reservation;
	struct candidate_source *source;
	enum preemption_reason reason;
	size_t likeness; /* which kind of equal candidates it is of (fair_victims.c) */
};

struct candidates {
	struct candidate *free, *who; /* free ones, which go first; the others */
	bool *goes;		      /* of each of the others */
	size_t nfree, n, free_capacity, capacity;
	bool may_borrow;
};

struct likes;

struct preemption {
	struct queue *q;
	const struct demand *d;
	int64_t at_ms;	 /* when they would have to go: now, unless it is only asked */
	bool asks_only;	 /* for an explanation: nothing is remembered */
	bool takes_back; /* what is its own: with reclaimWithinCohort Any nothing is spared */
	bool last_resort; /* no other runs suffice: from those that go last it takes its own back, too */
	bool leaves_out; /* there are such that are no candidates */
	size_t ncontested;
	const struct quota_row *contested[QUEUE_LINES_MAX];
	struct candidate_source *source;
	size_t nsources, sources_capacity;
	struct tree_node *
		*cursor; /* ncontested for each source: the next in each row's victim index */
	size_t cursors_capacity;
	struct victim *victim;
	size_t nvictims, victims_capacity;
	bool lenient; /* the cheapest set is taken, not the plain one */
	struct candidates candidates;
	struct likes *likes;			/* of fair_victims.c, while it chooses */
	struct uid through[DISPLACEMENTS_KEPT]; /* these may not go (cohort_tree.h) */
	size_t nthrough;
};

/* Adds cq as a source, if it has candidates. False: it has none. */
bool candidate_source_add(struct preemption *x, struct clusterqueue *cq, enum candidate_kind kind,
	const struct quota_node *shared);
/* Returns the source of cq; NULL: it is none. */
struct candidate_source *candidate_source_of(
	const struct preemption *x, const struct clusterqueue *cq);
/* A bound: how much of contested row i the candidates of cq hold at most. */
int64_t candidate_source_most(const struct preemption *x, struct clusterqueue *cq, size_t i);
/* Bounds how much the candidates of cq hold of its row that is like this one, as if cq were not the
 * nominee's own, and minRun spared no run. */
int64_t candidate_source_lent(
	const struct preemption *x, struct clusterqueue *cq, const struct quota_row *like);
/* Begins the source again with its first candidate. */
void candidate_source_rewind(struct preemption *x, struct candidate_source *o);
/* Takes the next candidate. */
struct reservation *candidate_source_take(struct preemption *x, struct candidate_source *o);

/* Does the node use more than its own quota of some contested row? */
bool borrows_contested(const struct preemption *x, const struct quota_node *node);

/* Returns whether a stop would end the run's Job as Complete. False of a run that ends anyway: it
 * is waited for. */
bool reservation_goes_last(const struct reservation *r);

void victim_add(struct preemption *x, struct reservation *r, enum preemption_reason reason);
/* Is the reservation among the victims so far? */
bool victims_have(const struct preemption *x, const struct reservation *r);
bool demand_fits(const struct demand *d, bool may_borrow);
/* Puts unnecessary victims back, from the last but one to the first. */
void victims_spare(struct preemption *x, bool may_borrow);
/* Puts all back in THEN; they stay victims. */
void victims_put_back(const struct preemption *x);

/* By the rules of the classic search: may a candidate of o go now? */
bool classic_may_give(const struct preemption *x, const struct candidate_source *o,
	const struct reservation *r, bool may_borrow);
/* By the strategies of fair sharing. What is to go of cq, and of no other ClusterQueue, is away: may
 * all of it go? Or, if all that the demand takes is its own: may more of cq go, after that? */
bool fair_may_give(const struct preemption *x, const struct clusterqueue *cq);
bool fair_still_borrows(const struct preemption *x, const struct clusterqueue *cq);
/* Searches. Both leave THEN as it was. The result is x->victim; x->nvictims 0: none. */
void find_classic(struct preemption *x);
void find_fair(struct preemption *x);

/* ---- The candidates, once the plain order has found a set (candidates.c) ---- */

void candidates_clear(struct candidates *l);
void candidates_done(struct candidates *l);

/* Adds a candidate. They are added in the plain order. */
void candidates_add(struct candidates *l, const struct candidate *c);
/* How many more may be looked at of one ClusterQueue of nsources. */
size_t candidates_beyond_each(size_t nsources);

/* Marks the current victims as those that go. */
void candidates_mark(struct preemption *x);
/* Can no set be better than the current one? */
bool candidates_is_settled(const struct preemption *x);
bool candidates_is_alike(const struct preemption *x);
bool reservations_alike(
	const struct reservation *a, const struct reservation *b); /* hold the same amounts */

/* Chooses the set that goes. The functions of l get x as their world, and candidates by index. */
void candidates_ease(struct preemption *x, struct victim_search *l);
/* Makes the chosen set the victims and takes them away, the free ones first. None may be away
 * before. */
void candidates_displace(struct preemption *x);

#endif
