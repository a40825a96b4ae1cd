/* What the views hand out until the next call on the queue. */
#ifndef SLUICE_QUEUE_EXPLAIN_VIEW_H
#define SLUICE_QUEUE_EXPLAIN_VIEW_H

#include "sluice/queue.h"

struct budget;
struct clusterqueue;
struct localqueue;
struct plan;
struct runpolicy;
struct text;

struct scratch *scratch_new(void);
void scratch_free(struct scratch *s);

/* What is worked out when it is shown (periods, sums, steps) is remembered. */
static inline struct queue *view_working(const struct queue *q)
{
	return (struct queue *)(uintptr_t)q;
}

/* The name that the condition Active says is not there; NULL: it says that of none. What has two
 * conditions tells such a name in one of them. */
const char *view_missing_flavor(const struct clusterqueue *cq);
const char *view_missing_clusterqueue(const struct queue *q, const struct localqueue *lq);
const char *view_missing_calendar(const struct runpolicy *p);
const char *view_missing_calendar_of_rates(const struct plan *p);
const char *view_missing_queue(const struct queue *q, const struct budget *b);

/* Appends what still needs the ClusterQueue: "2 Jobs, one of them of LocalQueue team/main, hold
 * quota in it". False, and nothing is appended, when nothing does (users.c). */
bool users_of_clusterqueue(const struct clusterqueue *cq, struct text *t);

#endif
