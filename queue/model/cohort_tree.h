/*
 * A Cohort tree: the ClusterQueues that share quota. They are all below one root Cohort; or it is
 * one ClusterQueue without a Cohort. What is freed in one may let Jobs of any other start, so a
 * pass decides for a whole tree.
 *
 * It belongs to the root of a quota tree and, like that node, is never freed before the queue.
 */
#ifndef SLUICE_QUEUE_MODEL_COHORT_TREE_H
#define SLUICE_QUEUE_MODEL_COHORT_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "queue/model/alarm.h"
#include "queue/model/displacements.h"

struct clusterqueue;
struct queue;

struct cohort_tree {
	struct link dirty; /* in queue.dirty: something happened in it */
	bool search;	   /* ... that may let any waiting group of any member start */
	uint32_t news;	   /* how often anything changed for the better other than by preemption:
				quota came free or was edited, a window changed */
	bool borrows_more; /* of a member: clusterqueue.borrows_more */
	/* smaller_quota.h: a window has made quota smaller, or runs were adopted; a row owes. */
	bool owes_anew, owes;
	struct link owing; /* in queue.owing: its runs are to be asked for pods */
	struct displacements displacements;
	bool plans; /* bookings are made in it, so runs are booked, too: booked_runs.h */
	struct link improvable; /* in queue.improvable: booked_start.h */
	struct alarm improve;	/* ... when that may be done again */
	int64_t improved_ms;	/* when its bookings were last made better */
	/* admin_objects.c: a sum over them, when that changed last, and at which counters.version it was right. */
	uint64_t admin_objects, edited, edited_as_of;
	struct link members; /* clusterqueue.of_cohort_tree, in the order of joining */
};

/* Puts the ClusterQueue into the Cohort tree of its quota root. True when that is another one. */
bool cohort_tree_join(struct clusterqueue *cq);

/* After parents or ClusterQueues came, went or changed: takes all promises back, links and settles
 * the quota trees, sorts the ClusterQueues into Cohort trees, and touches them. */
void cohort_trees_form(struct queue *q);

/* Takes back the promises of pools that are divided anew (quota.stale). Returns any ClusterQueue of
 * the Cohort tree, or NULL. */
struct clusterqueue *cohort_tree_take_stale_back(struct queue *q, struct cohort_tree *cohort_tree);

/* After only amounts changed in the tree of this ClusterQueue. */
void cohort_tree_settle(struct queue *q, struct clusterqueue *cq);

#endif
