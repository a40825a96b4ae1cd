/*
 * Precedence: the order of the waiting workloads of one ClusterQueue.
 *
 * Normally it is the order of their keys (workload.h), and one tree has them all. With admission
 * fair sharing (Kueue's KEP-4136) the LocalQueue that used less goes first, whatever the
 * priorities. Usage changes with each start and with time. So there each LocalQueue has trees of
 * its own, in which nothing moves, and the LocalQueues are compared at each question.
 */
#ifndef SLUICE_QUEUE_CORE_MODEL_PRECEDENCE_H
#define SLUICE_QUEUE_CORE_MODEL_PRECEDENCE_H

#include "queue/core/model/state.h"

/* The tree of groups in which g stands. */
struct tree *precedence_line(const struct group *g);

/* A LocalQueue of a ClusterQueue that orders by usage. */
struct precedence {
	struct localqueue *lq;
	double usage;
};
/* The LocalQueues with waiting groups, the least usage first. The caller frees the array. */
struct precedence *precedence_lines(
	const struct queue *q, const struct clusterqueue *cq, size_t *ret_n);

bool precedence_before(const struct queue *q, const struct group *a, const struct group *b);
/* The first group that rules let start (features_group_may) and that is no gap filler. One that a rule
 * puts last only if there is no other. NULL: there is none. */
struct group *precedence_head(const struct queue *q, const struct clusterqueue *cq);
/* The first group that is no gap filler, gets this answer from the rules, and for which is() holds
 * (NULL: any). `may` (or NULL) is a bound: false when no group of a subtree can. */
struct precedence_search {
	enum answer answer;
	bool (*may)(const struct group *root, void *ctx);
	bool (*is)(const struct group *g, void *ctx);
	void *ctx;
};
struct group *precedence_seek(
	const struct queue *q, const struct clusterqueue *cq, const struct precedence_search *s);
/* How many workloads are before a ready one. */
size_t precedence_rank(const struct queue *q, const struct workload *w);

#endif
