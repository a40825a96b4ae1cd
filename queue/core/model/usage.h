/*
 * Usage over time: what each LocalQueue used lately. It orders the waiting Jobs of a ClusterQueue
 * with admission fair sharing (Kueue's KEP-4136).
 *
 * Consumption follows use with a half-life h: consumed' = (use - consumed) * ln 2 / h. Kueue
 * samples that every few minutes; here it is the closed form, exact between any two events:
 *
 *     consumed(t) = use + (consumed(t0) - use) * 2^(-(t - t0) / h)      while use does not change
 *
 * All resources decay alike, so their weighted sum does too, and one number per LocalQueue is
 * enough. A start counts five minutes of its use at once: Kueue's entry penalty, with its default
 * interval. Else many small Jobs could all come first before any of them counts.
 *
 * Past use may be reported at any time and in any order: contributions add up. A record lives as
 * long as the queue, because use outlives the object. Only a LocalQueue that ever ran a Job has
 * one.
 *
 * Doubles are enough, because only an order follows from them. Use itself is an integer, so that a
 * LocalQueue in which nothing runs uses exactly 0.
 */
#ifndef SLUICE_QUEUE_CORE_MODEL_USAGE_H
#define SLUICE_QUEUE_CORE_MODEL_USAGE_H

#include "base/map.h"
#include "base/list.h"
#include "sluice/queue.h"

struct localqueue;

struct usage {
	char *ns, *localqueue;
	int64_t at_ms;	 /* of consumed and use */
	double consumed; /* weighted, in millionths of a unit; so is: */
	__int128 use;
	__int128 change;     /* of use, at the next decision: for facts without a time */
	struct link changes; /* in usages.changes while there is one */
};

struct usages {
	struct map map;
	struct link changes;
	int64_t entry_half_life_ms; /* for which entry_part was computed */
	double entry_part;	    /* the part of a request that a start counts at once */
};

void usages_init(struct usages *all);
void usages_done(struct usages *all);

/* The LocalQueue holds `more` (below 0: less) from now_ms on. An earlier now_ms than the last one
 * counts from then. */
void usage_change(
	struct queue *q, struct localqueue *lq, const char *resource, int64_t more, int64_t now_ms);
/* Changes what the LocalQueue holds from the next decision on. */
void usage_change_next(struct queue *q, struct localqueue *lq, const char *resource, int64_t more);
void usages_decide(struct queue *q); /* the next decision is now */

/* The entry penalty of a start at now_ms, which may be long ago. */
void usage_enter(struct queue *q, struct localqueue *lq, const char *resource, int64_t amount,
	int64_t now_ms);

/* By what the LocalQueue is ordered at now_ms: the least first. Weight 0: infinite. */
double usage_of(const struct queue *q, const struct localqueue *lq, int64_t now_ms);

#endif
