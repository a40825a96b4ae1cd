/*
 * Precedence: who is before whom among the waiting workloads of one ClusterQueue.
 *
 * As a rule it is the order of their keys (workload.h), and one tree has them all. Where usage
 * orders (reference 7.3), the LocalQueue that used less goes first, whatever the priorities, and
 * what was used changes with each start and with time. So there each LocalQueue has trees of its
 * own, in which nothing moves, and only the LocalQueues are compared, when somebody asks.
 */
#ifndef SLUICE_QUEUE_ADMIT_PRECEDENCE_H
#define SLUICE_QUEUE_ADMIT_PRECEDENCE_H

#include "queue/core.h"

/* The tree of groups that g stands in. */
struct tree *precedence_line(const struct group *g);

/* LocalQueues of a ClusterQueue that orders by usage, those in which somebody waits, the first to
 * be asked first. */
struct precedence {
	struct localqueue *lq;
	double usage;
};
/* To be freed. */
struct precedence *precedence_lines(
	const struct queue *q, const struct clusterqueue *cq, size_t *ret_n);

bool precedence_before(const struct queue *q, const struct group *a, const struct group *b);
/* The first that rules let start (rules_group_may), and that could hold up others: what only fills
 * gaps is passed over. One that is to start last only where there is no other. NULL: there is none. */
struct group *precedence_head(const struct queue *q, const struct clusterqueue *cq);
/* The first of one kind that does not only fill gaps and for which is() holds too (NULL: any);
 * `may` (or NULL) says of a subtree's root that there is none. */
struct precedence_search {
	enum answer answer;
	bool (*may)(const struct group *root, void *ctx);
	bool (*is)(const struct group *g, void *ctx);
	void *ctx;
};
struct group *precedence_seek(
	const struct queue *q, const struct clusterqueue *cq, const struct precedence_search *s);
/* How many are before a workload that is ready. */
size_t precedence_rank(const struct queue *q, const struct workload *w);

#endif
