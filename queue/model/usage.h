/*
 * Usage over time: what a LocalQueue used lately, which orders the waiting Jobs of a ClusterQueue
 * that asks for it (admission fair sharing, reference 7.3).
 *
 * Consumption follows use with a half-life h: consumed' = (use - consumed) * ln 2 / h. Kueue
 * samples that every few minutes; here it is the closed form, exact between any two events:
 *
 *     consumed(t) = use + (consumed(t0) - use) * 2^(-(t - t0) / h)      while use does not change
 *
 * All resources decay alike, so their weighted sum decays like each of them, and one number per
 * LocalQueue is enough. Who is given room pays for five minutes of it at once (the entry penalty:
 * Kueue's, with its default interval), so that many small Jobs cannot all come first before any of
 * them counts.
 *
 * What was used in the past can be told at any time and in any order: contributions add up. A
 * record lives as long as the queue, because use outlives the object; only a LocalQueue that ever
 * had a Job running has one.
 *
 * Doubles on purpose: only an order follows from them, nothing is owed. Use itself is an integer,
 * so that a LocalQueue in which nothing runs uses exactly nothing.
 */
#ifndef SLUICE_QUEUE_MODEL_USAGE_H
#define SLUICE_QUEUE_MODEL_USAGE_H

#include "base/map.h"
#include "base/list.h"
#include "sluice/queue.h"

struct localqueue;

struct usage {
	char *ns, *localqueue;
	int64_t at_ms;	 /* the rest is true then */
	double consumed; /* weighted, in thousandths of thousandths of a unit, as is: */
	__int128 use;
	__int128 change;     /* of use, at the next decision: some facts come without a time */
	struct link changes; /* in usages.changes while there is one */
};

struct usages {
	struct map map;
	struct link changes;
	int64_t entry_half_life_ms; /* of the half-life is */
	double entry_part;	    /* the part of a request that a start costs at once */
};

void usages_init(struct usages *all);
void usages_done(struct usages *all);

/* The LocalQueue holds so much more (or less) from now_ms on. Times that run backwards are taken
 * for the latest one seen. */
void usage_change(
	struct queue *q, struct localqueue *lq, const char *resource, int64_t more, int64_t now_ms);
/* The same from whatever moment the next decision is made at. */
void usage_change_next(struct queue *q, struct localqueue *lq, const char *resource, int64_t more);
void usages_decide(struct queue *q); /* it is made now */

/* A Job was given so much at now_ms, which may be long ago. */
void usage_enter(struct queue *q, struct localqueue *lq, const char *resource, int64_t amount,
	int64_t now_ms);

/* What the LocalQueue is ordered by at now_ms: the least goes first. Weight 0: infinite. */
double usage_of(const struct queue *q, const struct localqueue *lq, int64_t now_ms);

#endif
