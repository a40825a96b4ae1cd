/*
 * Nomination: what a ClusterQueue would start next (nominee.h), found in one scan of its waiting
 * groups.
 *
 *   BestEffortFIFO  all groups in order. Quota only shrinks during a pass, so a group that did not
 *                   fit is not asked again, and the scan never goes back (nominate.c)
 *   StrictFIFO      the first group; others only where that takes nothing from it (strict.c)
 *   Backfill        as BestEffortFIFO, behind a first group that no other may delay, or behind
 *                   several Jobs with bookings (backfill_scan.c)
 *
 * After a complete pass nothing waiting fits. So Jobs that merely arrived need no scan: only their
 * groups, which are fresh, are judged. A start may enable Jobs of other ClusterQueues to take back
 * what it borrows (pass.h). That scan asks at most SCAN_TAKES_BACK_MAX groups, the first that might,
 * so its cost does not grow with the number of Jobs that wait; the next end of a run asks all.
 *
 * Features come first (feature.h): a group that one refuses is not asked, blocks nothing and
 * preempts nothing. Where a rule puts some groups last there is a second scan: they are asked when
 * no other group can start any more.
 */
#ifndef SLUICE_QUEUE_CORE_ADMIT_NOMINATE_H
#define SLUICE_QUEUE_CORE_ADMIT_NOMINATE_H

#include "queue/core/admit/scan.h"

/* Begins at the first group of cq. */
void scan_begin(struct queue *q, struct scan *scan, struct clusterqueue *cq);
/* Goes on behind this place; lq: its LocalQueue where usage orders, else NULL. */
void scan_on(struct scan *scan, struct localqueue *lq, const struct order_key *key);
/* Writes scan->nominee. False: nothing can start any more. For a StrictFIFO head that cannot start,
 * scan->nominee has the choice with which it would, so that its quota can be kept. */
bool scan_nominates(struct queue *q, struct scan *scan, struct victims_survey *s);

#endif
