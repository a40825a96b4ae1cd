/*
 * The scan of a ClusterQueue in a pass: how far it has come, and what the strategies share, which is in
 * nominate.c. BestEffortFIFO is the search alone; StrictFIFO (strict.c) and Backfill (backfill_scan.c)
 * look at heads first.
 */
#ifndef SLUICE_QUEUE_CORE_ADMIT_SCAN_H
#define SLUICE_QUEUE_CORE_ADMIT_SCAN_H

#include "queue/core/admit/nominee.h"
#include "queue/core/model/group.h"
#include "queue/core/model/keys.h"
#include "queue/core/preempt/victims.h"

#define SCAN_TAKES_BACK_MAX 64

struct scan {
	struct clusterqueue *cq;
	bool over;	   /* nothing of it can start any more in this pass */
	enum answer stage; /* the groups that are asked now: ANSWER_YES, then ANSWER_LAST */
	bool scanned;	   /* ... behind this place: */
	struct group behind;
	int64_t free[KEYS_MAX], potential[KEYS_MAX]; /* of each key */
	int64_t displaces_from;			     /* victims_from() */

	/* Nothing came free: only groups that may displace are asked, at most so many more. */
	bool takes_back;
	size_t left;

	struct {
		struct group
			*head; /* groups behind it are not asked; NULL: only gap fillers wait */
		bool reserved_only; /* behind the head: only what is kept for its Jobs */
	} strict;

	/* Backfill with one head: it cannot start, and other groups must not delay it. */
	struct {
		struct group *blocked;
		int64_t spare[KEYS_MAX];
	} slot;

	/* Backfill with several heads: how far the walk along the Jobs has come. */
	struct {
		bool begun, over;
		bool still;		 /* nothing has changed for heads with a booking */
		struct localqueue *line; /* where usage orders */
		bool moved;		 /* past some Job of this line */
		struct order_key at;	 /* ... the last one's place, which it may have left */
		size_t looked, heads;	 /* Jobs; of these those that are booked */
		struct group *passed;	 /* its head is not to be asked again */
	} walk;

	struct nominee nominee;
};

/* A scan that asks groups: the context of a search. */
struct look {
	struct queue *q;
	struct scan *scan;
};

/* ---- What strategies share ---- */

/* Writes the nominee: can the head of g start, and may it pass? */
bool scan_judges(struct look *l, struct group *g);
/* As scan_judges(), but asks nothing and leaves the nominee if the amounts plainly do not fit. */
bool scan_asks(struct look *l, struct group *g);
/* Finds the first group behind the place of the scan that can start. Groups that features put last come
 * after all others. */
bool scan_searches(struct look *l);
/* Goes back to the first group, of those that are asked at this stage. */
void scan_restart(struct scan *scan, enum answer stage);
/* Sets the alarm for the end of the window in which g would fit, for then another group is first. With
 * several heads: for the earliest of these ends. */
void scan_watches_fit(struct queue *q, struct clusterqueue *cq, const struct group *g);

/* ---- Strategies ---- */

/* StrictFIFO: nominates the head, or a Job that may start before it. False: the nominee is the
 * head, with the choice with which it would start. */
bool strict_nominates(struct look *l);
/* Returns a preempted run that will wait before this place again, or NULL. Behind it a StrictFIFO queue
 * nominates nothing. */
const struct workload *workload_returning_before(
	const struct clusterqueue *cq, const struct order_key *key, int64_t now_ms);

/* Backfill: nominates a head that can start. False: heads keep what they have booked. */
bool backfill_nominates_head(struct look *l);
/* Bounds the search: could a Job with such wants and such a duration pass the blocked head? */
bool backfill_may_pass(const struct look *l, const int64_t *want, int64_t expected_ms);
/* Finds flavors for the nominee, which can start, in which it delays no head; true with any other
 * strategy. */
bool backfill_passes(struct look *l);

#endif
