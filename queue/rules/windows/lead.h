/*
 * Lead: shortly before a window opens, a queue gets its quota together (RunPolicy leadTime).
 *
 * From leadTime before the regime of a ClusterQueue opens, nothing of its nominal quota is lent any
 * more, and runs of other ClusterQueues that borrow it are stopped (WindowOpening) until what those
 * that wait in it will need is free, or all that is lent is back: as few as possible, those first
 * that would go first if it preempted (promises, those that end anyway, lower priority, later
 * start). Nothing protects them: it is the owner's quota, and they had it on loan.
 *
 * It ends when the window has opened and the owner's Jobs have had their turn; what they leave is
 * lent again.
 */
#ifndef SLUICE_QUEUE_RULES_WINDOWS_LEAD_H
#define SLUICE_QUEUE_RULES_WINDOWS_LEAD_H

#include "queue/model/alarm.h"
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

/* The regime is another one now, or the alarm rang: whether it is on may change, and with it the
 * ration. */
void lead_plan(struct queue *q, struct clusterqueue *cq);
/* Its alarm rang. */
void lead_turn(struct queue *q, struct clusterqueue *cq);
/* Where something happened: whoever has to give back becomes a suspect. */
void lead_recall(struct queue *q);
/* Of one that has to give back: the name of the policy for whose window. */
const char *lead_policy(const struct queue *q, const struct clusterqueue *borrower);
/* After the owners' turn: true when some lend again, so that others may start. */
bool lead_end(struct queue *q);

#endif
