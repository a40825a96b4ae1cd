/*
 * Nomination: what a ClusterQueue would start next (nominee.h), found in one scan of its waiting groups.
 *
 *   BestEffortFIFO  all groups in order. Quota only shrinks during a pass, so a group that did not
 *                   fit is not asked again, and the scan never goes back
 *   StrictFIFO      the first group only
 *   Backfill        as BestEffortFIFO, behind a first group that no other may delay (backfill.h),
 *                   or behind several Jobs with bookings (backfill_heads.h)
 *
 * After a complete pass nothing waiting fits. So Jobs that merely arrived need no scan: only their
 * groups, which are fresh, are judged. A start may enable Jobs of other ClusterQueues to take back
 * what it borrows (pass.h). That scan asks at most SCAN_TAKES_BACK_MAX groups, the first that might,
 * so its cost does not grow with the number of Jobs that wait; the next finish asks all.
 *
 * Features come first (feature.h): a group that one refuses is not asked, blocks nothing and
 * preempts nothing. Where a rule puts some groups last there is a second scan: they are asked when
 * no other group can start any more.
 */
#ifndef SLUICE_QUEUE_CORE_ADMIT_NOMINATE_H
#define SLUICE_QUEUE_CORE_ADMIT_NOMINATE_H

#include "queue/core/admit/nominee.h"
#include "queue/core/model/group.h"
#include "queue/core/model/keys.h"
#include "queue/core/preempt/victims.h"

#define SCAN_TAKES_BACK_MAX 64

/* The scan of one ClusterQueue in a pass. */
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

	bool reserved_only; /* StrictFIFO, behind the head: only what is kept for its Jobs */
	struct group
		*head; /* StrictFIFO: groups behind it are not asked; NULL: only gap fillers wait */

	/* Backfill: the head, which cannot start; other groups must not delay it. */
	struct group *blocked;
	int64_t spare[KEYS_MAX];

	/* Backfill with several heads (backfill_heads.h): how far the walk along the Jobs has come. */
	bool walks, walk_over;
	bool walks_still;		/* nothing has changed for heads with a booking */
	struct localqueue *walked_line; /* where usage orders */
	bool walked;			/* some Job of this line */
	struct order_key walked_key;	/* ... the last one's place, which it may have left */
	size_t looked, heads;		/* Jobs; of these those that are booked */
	struct group *passed;		/* its head is not to be asked again */

	struct nominee nominee;
};

/* Begins at the first group of cq. */
void scan_begin(struct queue *q, struct scan *w, struct clusterqueue *cq);
/* Goes on behind this place; lq: its LocalQueue where usage orders, else NULL. */
void scan_on(struct scan *w, struct localqueue *lq, const struct order_key *key);
/* Writes w->nominee. False: nothing can start any more. For a StrictFIFO head that cannot start,
 * w->nominee has the choice with which it would, so that its quota can be kept. */
bool scan_nominates(struct queue *q, struct scan *w, struct victims_survey *s);

/* A preempted run that will wait before this place again, or NULL. Behind it a StrictFIFO queue
 * nominates nothing. */
const struct workload *workload_returning_before(
	const struct clusterqueue *cq, const struct order_key *key, int64_t now_ms);

#endif
