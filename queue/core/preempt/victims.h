/*
 * Victims: the runs that stop so that a nominee fits. Kueue's rules say which runs
 * are candidates, whether a set of them is legal, and whether there is one at all:
 *
 *   1. candidates are taken away in a fixed order until the demand fits;
 *   2. unnecessary ones are put back.
 *
 * That is the plain set. With fair sharing (fair_victims.c) the order is another one.
 *
 * If other sets suffice, too, the one that costs least is taken (candidates.c, victim_search.h),
 * unless the configuration says to take Kueue's. A set is found exactly when Kueue's order finds
 * one.
 *
 *   classic  Kueue's order goes from runs that borrow the nominee's own quota to other borrowers,
 *            and then to its own ClusterQueue. The cheapest legal set is taken of the kinds that
 *            the order had to go to
 *   fair     the strategies say how much each ClusterQueue gives back. Of its runs that hold the
 *            same, the cheapest are taken
 *
 * Gap fillers (negative priorities) preempt nothing. Nominal quota that they borrow may always be
 * reclaimed: for a demand within its own nominal quota, a nominee with reclaimWithinCohort Never
 * may preempt them.
 *
 * minRun: a run is no victim until it has run for so long, by its own ClusterQueue, but for quota
 * that its owner takes back with reclaimWithinCohort Any (preemption.h).
 *
 * Cost: a sum for each ClusterQueue of the Cohort tree says whether there can be enough at all. So
 * a search in vain is cheap, unless it fails by limits that sums do not show. Else there are a few
 * more steps than victims; each looks at the next run of each ClusterQueue with candidates. Other
 * runs cost nothing.
 *
 * All of it happens in the quota tree's THEN, which is the same again when the call returns:
 *
 *   a run that is leaving already       is no candidate: THEN does not count it
 *   a promise                           comes first: taking it back costs no work
 *   a run that ends anyway              comes next (reservation.stop_given)
 *   a run with a Job in deletion        is no candidate: a stop would do nothing to its pods
 *                                       (reservation.lingers)
 *   a work queue with a pod that         is no candidate: Kubernetes would call it Complete
 *   succeeded                            (reservation.ends_when_stopped). But where no set without
 *                                        such runs suffices, a nominee takes its own quota back from
 *                                        them, too
 */
#ifndef SLUICE_QUEUE_CORE_PREEMPT_VICTIMS_H
#define SLUICE_QUEUE_CORE_PREEMPT_VICTIMS_H

#include "queue/core/model/keys.h"
#include "queue/core/model/reservation.h"

struct demand_line {
	struct quota_row *row;
	int64_t amount;
	bool contested; /* it does not fit there: runs would have to be preempted */
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
	int32_t keeps; /* so many pods (pods_first.h); 0: it stops */
};

/* The victims, in the order in which they are to go; at least one. 0: no set of candidates
 * suffices. *ret belongs to the queue and is valid until the next call. */
size_t victims_find(struct queue *q, const struct demand *d, const struct victim **ret);
/* The plain set. It is found sooner, and suffices to know whether there is one. */
size_t victims_plain(struct queue *q, const struct demand *d, const struct victim **ret);
/* When a set of candidates first suffices, if nothing happens but that runs grow older (minRun). *ret:
 * the last one of it to have run its minimum. INT64_MAX: there is no such set. */
int64_t victims_grown(struct queue *q, const struct demand *d, const struct reservation **ret);
void victims_done(struct queue *q); /* frees what is kept for that */

#define PREEMPTION_POLICIES (PREEMPT_ANY + 1)

/* How much ClusterQueues that borrow hold of one flavor and resource, in runs that a Job of such a
 * policy and priority may displace. */
struct victims_lent {
	const struct flavor_pool *flavor_pool;
	enum preemption_policy policy;
	int32_t priority;
	__int128 most;
};
#define VICTIMS_LENT_MAX 32

/* What is known of the other ClusterQueues of a Cohort tree: the answers of victims_from() for each
 * policy, and the sums of victims_reach(). It is kept because of a hundred ClusterQueues each asks
 * about ninety-nine. Begins as zeroes; valid while nothing changes. */
struct victims_survey {
	bool made[PREEMPTION_POLICIES];
	int64_t least[PREEMPTION_POLICIES], second[PREEMPTION_POLICIES];
	const struct clusterqueue *least_of[PREEMPTION_POLICIES];
	struct victims_lent lent[VICTIMS_LENT_MAX]; /* the first ones that were asked for */
	size_t nlent;
};

/* A bound: the lowest priority with which a Job of cq could preempt; beyond INT32_MAX: none could.
 * It ignores demands and the age of Jobs, so it may be too low, but never too high. */
int64_t victims_from(
	const struct queue *q, const struct clusterqueue *cq, struct victims_survey *s);

/* Could what others borrow be for Jobs of cq? Not where cq itself uses all that is its own, unless it
 * may displace in order to borrow. */
bool victims_may_take_back(const struct queue *q, const struct clusterqueue *cq);
/* A bound: how much of each key Jobs of cq could have if all went that they may displace. It
 * ignores which Job asks for what, so it may be too much, but never too little. */
void victims_reach(struct queue *q, struct clusterqueue *cq, struct victims_survey *s,
	int64_t ret_reach[KEYS_MAX]);

#endif
