/*
 * An offer: what a ClusterQueue would start next, in one walk through its waiting groups.
 *
 * BestEffortFIFO walks the groups in order. Quota only shrinks during a pass, so who did not fit
 * once need not be asked again, and the walk never goes back. For the same reason Jobs that merely
 * arrived need no walk: after a complete pass nobody else fits, so only the fresh groups are
 * judged. StrictFIFO looks at the first group only. Backfill is BestEffortFIFO behind a first one
 * that nobody may delay (backfill.h).
 *
 * Rules come first (rules/rule.h): a group that one refuses is not asked, blocks nothing, and
 * preempts nothing. Where a rule puts some groups last there are two scans: those are asked when
 * none of the others can start any more.
 */
#ifndef SLUICE_QUEUE_ADMIT_NOMINATE_H
#define SLUICE_QUEUE_ADMIT_NOMINATE_H

#include "queue/admit/nominee_order.h"
#include "queue/model/group.h"
#include "queue/model/keys.h"
#include "queue/preempt/victims.h"

/* Where one ClusterQueue stands in the pass. */
struct scan {
	struct clusterqueue *cq;
	bool over;	   /* nothing of it can start any more in this pass */
	enum answer stage; /* the groups that are asked now: ANSWER_YES, then ANSWER_LAST */
	bool scanned;	   /* ... behind this place: */
	struct group behind;
	int64_t free[KEYS_MAX], potential[KEYS_MAX]; /* of each key */
	int64_t displaces_from;			     /* victims_from() */

	struct group
		*head; /* StrictFIFO: behind whom nobody is asked; NULL: only gap fillers wait */

	/* Backfill: who is first and cannot start, so that others have to let it pass. */
	struct group *blocked;
	int64_t spare[KEYS_MAX];

	struct nominee nominee;
};

/* From the first of its groups. */
void scan_begin(struct queue *q, struct scan *w, struct clusterqueue *cq);
/* Whoever stood at this place had its turn; lq: the LocalQueue it was in where usage orders, else
 * NULL. */
void scan_on(struct scan *w, struct localqueue *lq, const struct order_key *key);
/* Writes w->nominee. False: there is nothing any more; a StrictFIFO head that cannot start is told
 * all the same, with what it would take. */
bool scan_nominates(struct queue *q, struct scan *w, struct victims_survey *s);

/* One that makes room for somebody, and will wait before this place again; NULL: nobody. Behind it
 * a StrictFIFO queue offers nothing. */
const struct workload *workload_returning_before(
	const struct clusterqueue *cq, const struct order_key *key, int64_t now_ms);

/* What an entry asks for; false: nothing. */
bool nominee_demand(const struct nominee *e, struct demand *ret);
/* How many would have to go for it; valid until the next search. */
size_t nominee_victims(struct queue *q, const struct nominee *e, const struct victim **ret);

#endif
