/*
 * The nominee: what a ClusterQueue would start next, found in one scan of its waiting groups.
 *
 *   BestEffortFIFO  all groups in order. Quota only shrinks during a pass: a group that did not fit
 *                   is not asked again, and the scan never goes back
 *   StrictFIFO      the first group only
 *   Backfill        as BestEffortFIFO, behind a first group that no other may delay (backfill.h)
 *
 * After a complete pass nothing waiting fits. So Jobs that merely arrived need no scan: only their
 * groups, which are fresh, are judged.
 *
 * Rules come first (rules/rule.h): a group that a rule refuses is not asked, blocks nothing and
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
		*head; /* StrictFIFO: groups behind it are not asked; NULL: only gap fillers wait */

	/* Backfill: the first, which cannot start; other groups must not delay it. */
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

/* A run that is preempted and will wait before this place again; or NULL. Behind it
 * a StrictFIFO queue offers nothing. */
const struct workload *workload_returning_before(
	const struct clusterqueue *cq, const struct order_key *key, int64_t now_ms);

/* What an entry asks for; false: nothing. */
bool nominee_demand(const struct nominee *e, struct demand *ret);
/* How many would have to go for it; valid until the next search. */
size_t nominee_victims(struct queue *q, const struct nominee *e, const struct victim **ret);

#endif
