/*
 * The lineup: who might go in one search for victims, once the plain order has found some.
 *
 * Kueue's rules say who may be displaced, and whether a set is legal and enough; its order comes
 * upon one such set. Others may do as well, and hurt less (toll.h). So those whom the order went
 * through are lined up, and with them at most LINEUP_BEYOND of those who would have come next; of
 * all these the best set is chosen (levy.h). Who costs nothing is no part of it: that one went
 * first, and is away while the others are chosen.
 *
 * Mostly there is nothing to choose: the first one in order does and has a single pod, or all are
 * alike. Then the plain order has found the best set already.
 */
#ifndef SLUICE_QUEUE_LINEUP_H
#define SLUICE_QUEUE_LINEUP_H

#include "queue/levy.h"
#include "queue/victims.h"

#define LINEUP_BEYOND 32
/* ... and of one ClusterQueue, where there are many. */
#define LINEUP_BEYOND_EACH 8

struct displacement;
struct offer;

struct candidate {
	struct reservation *reservation;
	struct offer *offer;
	enum preemption_reason reason;
	size_t likeness; /* for who needs it: of those alike so many go (fair_victims.c) */
};

struct lineup {
	struct candidate *free, *who; /* who costs nothing and goes first; who costs something */
	bool *goes;		      /* of those */
	size_t nfree, n, free_capacity, capacity;
	bool may_borrow;
};

void lineup_clear(struct lineup *l);
void lineup_done(struct lineup *l);

/* By what it costs, in the plain order. */
void lineup_add(struct lineup *l, const struct candidate *c);
/* So many more may be looked at of this offer's ClusterQueue, one of noffers. */
size_t lineup_beyond_each(size_t noffers);

/* Those go who are victims now. */
void lineup_mark(struct displacement *x);
/* No set can be better than the one that goes. */
bool lineup_is_settled(const struct displacement *x);
bool lineup_is_alike(const struct displacement *x);
bool reservations_alike(
	const struct reservation *a, const struct reservation *b); /* hold the same amounts */

/* Chooses who goes. The functions of l, its world x, are asked about indexes of who. */
void lineup_ease(struct displacement *x, struct levy *l);
/* They are the victims, and away: the free ones first. Nobody was away before. */
void lineup_displace(struct displacement *x);

#endif
