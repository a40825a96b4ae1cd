/*
 * The lineup: who might go in one search for victims, once the plain order has found some.
 *
 * Kueue's rules say who may be displaced, and whether a set is legal and enough; its order comes
 * upon one such set. Others may do as well, and hurt less (victim_cost.h). So those whom the order went
 * through are lined up, and with them at most CANDIDATES_BEYOND of those who would have come next; of
 * all these the best set is chosen (victim_search.h). Who costs nothing is no part of it: that one went
 * first, and is away while the others are chosen.
 *
 * Mostly there is nothing to choose: the first one in order does and has a single pod, or all are
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
	size_t likeness; /* for who needs it: of those alike so many go (fair_victims.c) */
};

struct candidates {
	struct candidate *free, *who; /* who costs nothing and goes first; who costs something */
	bool *goes;		      /* of those */
	size_t nfree, n, free_capacity, capacity;
	bool may_borrow;
};

void candidates_clear(struct candidates *l);
void candidates_done(struct candidates *l);

/* By what it costs, in the plain order. */
void candidates_add(struct candidates *l, const struct candidate *c);
/* So many more may be looked at of this offer's ClusterQueue, one of noffers. */
size_t candidates_beyond_each(size_t nsources);

/* Those go who are victims now. */
void candidates_mark(struct preemption *x);
/* No set can be better than the one that goes. */
bool candidates_is_settled(const struct preemption *x);
bool candidates_is_alike(const struct preemption *x);
bool reservations_alike(
	const struct reservation *a, const struct reservation *b); /* hold the same amounts */

/* Chooses who goes. The functions of l, its world x, are asked about indexes of who. */
void candidates_ease(struct preemption *x, struct victim_search *l);
/* They are the victims, and away: the free ones first. Nobody was away before. */
void candidates_displace(struct preemption *x);

#endif
