/*
 * Groups: waiting workloads of one ClusterQueue, priority (and whether they may displace others),
 * shape and regime (window_state.h), and, where
 * usage orders, of one LocalQueue, and with strategy Backfill, or where the regime looks at when
 * they end or Budgets at what they cost, of one expected duration; where a LocalQueue has Budgets
 * of its own, of that one.
 *
 * They differ only in who is first, so a pass decides them as one: if the head does not fit, none
 * does. A ClusterQueue's groups stand in a tree in the order of their heads; each node knows the
 * least that any group below it wants (claim.least), so that a search passes over a subtree in
 * which nothing can fit.
 */
#ifndef SLUICE_QUEUE_MODEL_GROUP_H
#define SLUICE_QUEUE_MODEL_GROUP_H

#include "queue/model/claim.h"
#include "queue/rules/windows/window_state.h"
#include "queue/model/workload.h"

struct group {
	struct tree_node node; /* in clusterqueue.groups_waiting, or its LocalQueue's */
	struct claim claim;    /* next to the node: a search reads both */
	struct order_key key;  /* its head's */
	struct clusterqueue *cq;
	struct localqueue *lq; /* whose alone it is, where usage orders; else NULL */
	struct shape *shape;
	bool displaces;				 /* each member: workload_displaces() */
	const struct window_state *window_state; /* of each member */
	const struct localqueue *payer; /* whose alone it is, where that has Budgets; else NULL */
	int64_t expected_ms; /* of each member, where the strategy is Backfill or the regime times
				its fit; else 0 */
	int32_t in_all;	     /* pods of each member: namespace_quota_in_all() */
	int64_t least_expected_ms; /* the least in the subtree; unknown is INT64_MAX */
	int64_t least_timed_ms;	   /* the same; unknown is 0 */
	uint64_t hash;
	struct tree waiting;   /* workload.in_group; never empty */
	struct workload *head; /* its first */
	struct link fresh;     /* in clusterqueue.fresh: no pass has judged it yet */
};

struct groups {
	const struct terrain *terrain;
	struct map map;
	size_t bytes;
};

void groups_init(struct groups *all, const struct terrain *terrain);
void groups_done(struct groups *all);

void group_trees_init(struct tree *groups_waiting, struct tree *order);

/* Do groups of its Jobs differ in what is expected of them? */
bool group_expects(const struct localqueue *lq);

/* The workload stands in the order of cq from now on, at its key. A group that is new by this is
 * fresh. */
void group_join(struct groups *all, struct clusterqueue *cq, struct workload *w);
void group_leave(struct groups *all, struct workload *w);

/* What its regime says of a start now: a closed window or one that is too short keeps all of it,
 * and it blocks nobody. So it is too when no node could ever take its pods, and while the quotas of
 * its namespace refuse them. */
enum window_fit group_fit(const struct queue *q, const struct group *g);
/* Could some group of a subtree start by time, as far as can be told from its root? */
bool group_tree_fits(const struct group *root, int64_t now_ms);

/* A pass has judged it: it is fresh no longer. */
void group_judged(struct group *g);

struct workload *group_head(const struct group *g);

/* Derives the claims anew: the spec's resources or flavors changed. */
void groups_rederive(struct groups *all, struct clusterqueue *cq);
/* Those of which the nodes say something else (template.moved). True: there are some. */
bool groups_rederive_moved(struct groups *all, struct clusterqueue *cq);

#endif
