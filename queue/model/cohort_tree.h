/*
 * A realm: the ClusterQueues that share quota, which is all below one root Cohort, or one alone.
 * What happens to one of them may let any other start, so a pass decides for a realm.
 *
 * It belongs to the root of a quota tree and, like that node, is never freed before the queue.
 */
#ifndef SLUICE_QUEUE_MODEL_COHORT_TREE_H
#define SLUICE_QUEUE_MODEL_COHORT_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"

struct clusterqueue;
struct queue;

struct cohort_tree {
	struct link dirty;   /* in queue.dirty: something happened in it */
	bool search;	     /* ... that may let any waiting group of any member start */
	uint32_t news;	     /* how often anything was free that nobody had to stop for */
	struct link members; /* clusterqueue.of_cohort_tree, in the order of joining */
};

/* Puts the ClusterQueue into the realm of its quota tree's root. True when that is another one. */
bool cohort_tree_join(struct clusterqueue *cq);

/* After parents or ClusterQueues came, went or changed: links the quota trees, settles them, sorts
 * the ClusterQueues into realms, and touches them. */
void cohort_trees_form(struct queue *q);

/* The promises of what is being divided anew (quota.stale) are taken back. Returns any ClusterQueue
 * of the realm, or NULL. */
struct clusterqueue *cohort_tree_take_stale_back(struct queue *q, struct cohort_tree *cohort_tree);

/* After nothing but amounts changed in the tree of this ClusterQueue. */
void cohort_tree_settle(struct queue *q, struct clusterqueue *cq);

#endif
