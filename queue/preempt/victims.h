/*
 * Victims: the runs that stop so that a nominee fits. Kueue's rules (reference 6) say which runs
 * are candidates, whether a set of them is legal, and whether there is one at all:
 *
 *   1. candidates are taken away in a fixed order until the demand fits;
 *   2. those that turn out to be unnecessary are put back.
 *
 * That is the plain set. With fair sharing (fair_victims.c) the order is another one.
 *
 * Where other runs would do as well, the set that costs least is taken (candidates.h,
 * victim_cost.h), unless the configuration says to take Kueue's. Whether there is a set is never
 * another answer.
 *
 *   classic  of all sets that are legal and enough, as far as Kueue's order had to go for one: from
 *            runs that borrow what is the nominee's by right, to other borrowers, to its own
 *            ClusterQueue
 *   fair     the strategies say how much each ClusterQueue gives back; of its runs that hold the
 *            same, those that cost least
 *
 * Gap fillers (negative priorities) preempt nothing. What they borrow may always be taken back for
 * the ClusterQueue whose nominal quota it is: towards them reclaimWithinCohort Never reads as
 * LowerPriority, for a demand that fits in the nominee's own quota.
 *
 * What it costs: a look at a sum for each ClusterQueue of the tree of Cohorts says whether there
 * can be enough at all. A search in vain costs no more, but for limits that sums do not tell of.
 * Else it takes as many steps as there are victims and few more, each a look at the next run of
 * each ClusterQueue that may give something. Runs that are no candidates cost nothing.
 *
 * All of it happens in the quota tree's THEN, which is the same again when the call returns:
 *
 *   a run that is leaving already       is no candidate: THEN does not count it
 *   a promise                           comes first: taking it back costs no work
 *   a run that ends anyway              comes next (reservation.stop_given)
 *   a run whose Job is being deleted    is no candidate: a stop would do nothing to its pods
 *                                       (reservation.lingers)
 */
#ifndef SLUICE_QUEUE_PREEMPT_VICTIMS_H
#define SLUICE_QUEUE_PREEMPT_VICTIMS_H

#include "queue/model/reservation.h"

struct demand_line {
	struct quota_row *row;
	int64_t amount;
	bool contested; /* it does not fit there: other runs would have to give it back */
};

struct demand {
	const struct workload *w;
	struct clusterqueue *cq;
	size_t nlines;
	struct demand_line line[QUEUE_LINES_MAX];
};

/* What the choice takes of each row. */
void demand_init(struct demand *d, const struct workload *w, struct clusterqueue *cq,
	const struct claim *c, const struct choice *choice);

struct victim {
	struct reservation *reservation;
	enum preemption_reason reason;
};

/* The victims, in the order in which they are to go; at least one. 0: no set of those that may be
 * displaced would do. *ret belongs to the queue and is valid until the next call. */
size_t victims_find(struct queue *q, const struct demand *d, const struct victim **ret);
/* The plain set, for a question that is only whether there is one: it is found sooner. */
size_t victims_plain(struct queue *q, const struct demand *d, const struct victim **ret);
void victims_done(struct queue *q); /* frees what is kept for that */

#define PREEMPTION_POLICIES (PREEMPT_ANY + 1)

/* What the others of a realm have to offer, by the policy of who asks: each ClusterQueue of a
 * hundred asks the other ninety-nine. Of zeroes to begin with; good while nothing changes. */
struct victims_survey {
	bool made[PREEMPTION_POLICIES];
	int64_t least[PREEMPTION_POLICIES], second[PREEMPTION_POLICIES];
	const struct clusterqueue *least_of[PREEMPTION_POLICIES];
};

/* The lowest priority with which anybody in cq could displace somebody; beyond INT32_MAX: nobody
 * could. A quick look, which sees neither what is asked for nor who is newer: too low a number, but
 * never too high a one. */
int64_t victims_from(
	const struct queue *q, const struct clusterqueue *cq, struct victims_survey *s);

#endif
