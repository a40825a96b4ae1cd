/*
 * Victims: whom to stop so that somebody fits. Kueue's rules (reference 6) say who may go, whether
 * a set is legal, and whether there is one: candidates in a fixed order are taken away until the
 * demand fits, then those that turn out to be unnecessary are put back. That is the plain set. With
 * fair sharing (fair_victims.c) the order is another one.
 *
 * Where others would do as well, those go whom it hurts least (candidates.h, victim_cost.h), unless the
 * configuration says to take them as Kueue does. Whether anybody goes is never another answer.
 *
 *   classic  of all sets that are legal and enough, as far as Kueue's order had to go for one: from
 *            those who borrow what is the asker's by right, to other borrowers, to its own
 *            ClusterQueue
 *   fair     the strategies say how much each ClusterQueue gives back; of those in it that hold
 *            the same, these go whom it hurts least
 *
 * Gap fillers (negative priorities) displace nobody, and what they borrow may always be taken back
 * by whose nominal quota it is: towards them reclaimWithinCohort Never reads as LowerPriority, for
 * a demand that fits in the asker's own quota.
 *
 * What it costs: a look at a sum for each ClusterQueue of the tree of Cohorts says whether there
 * can be enough at all; who asks in vain costs no more, but for those who meet limits that sums do
 * not tell of. Then it is as many steps as there are victims and few others, each a look at the
 * next one of each ClusterQueue that may give something. Runs that do not come into question cost
 * nothing.
 *
 * All of it happens in the quota tree's THEN, which is the same again when the call returns. Rooms
 * that are leaving already are no candidates: THEN does not count them. A promise is one, and comes
 * first: taking it back costs nobody any work. Those that end anyway (room.stop_given) come next.
 * Those whose Jobs are being deleted (room.lingers) are none: a stop would do nothing to their
 * pods.
 */
#ifndef SLUICE_QUEUE_PREEMPT_VICTIMS_H
#define SLUICE_QUEUE_PREEMPT_VICTIMS_H

#include "queue/model/reservation.h"

struct demand_line {
	struct quota_row *row;
	int64_t amount;
	bool contested; /* it does not fit there: others would have to give it back */
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
/* The plain set, for who asks only whether there is one: it is found sooner. */
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
