/*
 * A Cohort tree: the ClusterQueues that share quota. They are all below one root Cohort; or it is
 * one ClusterQueue without a Cohort. What is freed in one may let Jobs of any other start, so a
 * pass decides for a whole tree.
 *
 * It belongs to the root of a quota tree and, like that node, is never freed before the queue.
 *
 * Displacements: which Job was displaced for which, since quota last came free otherwise
 * (cohort_tree.news). One book for each Cohort tree.
 *
 * With fair sharing A may displace B, B displace C and C displace A for ever, with no work done:
 * priorities, reclaim and shares of different resources can form a circle. So a Job never displaces
 * one of another ClusterQueue through which it was displaced itself: that for which it was stopped,
 * that for which this one was stopped, and so on. In its own ClusterQueue priority and age form no
 * circle. What is forbidden closes circles and nothing else, so every chain ends.
 *
 * The book is bounded. When it is full a Job that was displaced asks no other ClusterQueue.
 */
#ifndef SLUICE_QUEUE_CORE_MODEL_COHORT_TREE_H
#define SLUICE_QUEUE_CORE_MODEL_COHORT_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/uid.h"
#include "queue/core/model/alarm.h"

struct clusterqueue;
struct queue;

#define DISPLACEMENTS_KEPT 128

struct displacement {
	struct uid by, victim;
};

struct displacements {
	uint32_t news; /* the cohort_tree.news of all of them */
	bool full;     /* some were not entered */
	size_t n;
	struct displacement *all; /* NULL: there never was one */
};

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
	/* admin_objects.c: a sum over them, when that changed last, and at which counters.version
	 * it was right. */
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

void displacements_done(struct displacements *d);

void displacements_enter(
	struct displacements *d, uint32_t news, const struct uid *by, const struct uid *victim);

/* Writes the Jobs through which this one was displaced, none twice. False: not all are known. */
bool displacements_through(const struct displacements *d, uint32_t news, const struct uid *victim,
	struct uid ret[DISPLACEMENTS_KEPT], size_t *ret_n);

#endif
