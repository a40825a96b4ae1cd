/*
 * Lead: shortly before a window opens, a ClusterQueue gets its quota back (RunPolicy leadTime).
 *
 * From leadTime before its window opens, a ClusterQueue lends nothing of its nominal quota any
 * more. Runs of other ClusterQueues that borrow it are stopped (WindowOpening), until what its
 * waiting Jobs will need is free or all that was lent is back. As few as possible are stopped, in
 * the order of preemption: promises, runs that end anyway, lower priority, later start. Nothing
 * protects them, because they borrowed the quota. One that can do with fewer pods gives pods, if that
 * suffices (pods_first.h).
 *
 * It ends when the window has opened and the owner's Jobs have had their turn. What they leave is
 * lent again.
 */
#ifndef SLUICE_QUEUE_FEATURES_WINDOWS_LEAD_H
#define SLUICE_QUEUE_FEATURES_WINDOWS_LEAD_H

#include "queue/core/model/alarm.h"
#include "base/list.h"

struct clusterqueue;
struct queue;

struct lead {
	bool on;
	struct alarm alarm;  /* when it begins */
	struct link leading; /* in queue.leading, while on */
};

bool lead_is_on(const struct clusterqueue *cq);
void lead_free(struct clusterqueue *cq);

/* The window state has changed, or the alarm rang: turns the lead on or off. The caller applies the
 * effective quota. */
void lead_plan(struct queue *q, struct clusterqueue *cq);
/* The alarm of the lead of cq rang. */
void lead_ring(struct queue *q, struct clusterqueue *cq);
/* In Cohort trees in which something happened: runs that have to give back become suspects. */
void lead_recall(struct queue *q);
/* The name of the policy for which the borrower has to give back. */
const char *lead_policy(const struct queue *q, const struct clusterqueue *borrower);
/* After the owners' turn: true when some lend again, so that other Jobs may start. */
bool lead_end(struct queue *q);

#endif
