/*
 * The candidates of one search for victims, once the plain order has found a set.
 *
 * Kueue's order finds one set that is legal and suffices. Other sets may cost less (victim_search.h).
 * So the candidates that the order went through are listed, and at most CANDIDATES_BEYOND that
 * would have come next. The best set of all these is chosen. Free candidates (promises, and runs that
 * end anyway) are not chosen among: they went first, and stay away.
 *
 * Mostly there is nothing to choose: the first candidate suffices and has a single pod, or all are
 * alike. Then the plain order has found the best set already.
 */
#ifndef SLUICE_QUEUE_PREEMPT_CANDIDATES_H
#define SLUICE_QUEUE_PREEMPT_CANDIDATES_H

#include "queue/preempt/victim_search.h"
#include "queue/preempt/victims.h"

#define CANDIDATES_BEYOND 32
/* ... and of one ClusterQueue, where there are many. */
#define CANDIDATES_BEYOND_EACH 8

struct preemption;
struct candidate_source;

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

void candidates_clear(struct candidates *l);
void candidates_done(struct candidates *l);

/* Added in the plain order. */
void candidates_add(struct candidates *l, const struct candidate *c);
/* How many more may be looked at of one ClusterQueue of nsources. */
size_t candidates_beyond_each(size_t nsources);

/* Marks the current victims as those that go. */
void candidates_mark(struct preemption *x);
/* No set can be better than the current one. */
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
