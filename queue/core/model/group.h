/*
 * Groups: waiting workloads that differ only in their order. Alike in all members of a group are
 *
 *   - ClusterQueue, priority and shape, and whether they may preempt others;
 *   - LocalQueue, where usage orders;
 *   - expected duration, with strategy Backfill or where a rule looks at it;
 *   - whether they stand before their time of queueing, where runs are displaced by that;
 *   - whatever else a rule looks at (struct parting).
 *
 * So a pass decides them as one: if the head does not fit, none does. Where it may displace newer runs,
 * and another head was queued before it, the group is judged again.
 *
 * The groups of a ClusterQueue stand in a tree in the order of their heads. Each node knows the
 * least that any group below it asks for (claim.least), so that a search passes over a subtree in
 * which nothing can fit.
 */
#ifndef SLUICE_QUEUE_CORE_MODEL_GROUP_H
#define SLUICE_QUEUE_CORE_MODEL_GROUP_H

#include "queue/core/model/claim.h"
#include "queue/core/model/feature.h"
#include "queue/core/model/workload.h"

/* What parts groups beside shape and priority: what rules look at of a Job (feature.parts), each
 * once, in the order of FEATURES. Jobs of a group get the same answers. */
#define PARTING_WORDS 6
struct parting {
	uint64_t word[PARTING_WORDS]; /* which object it is, or a number */
	size_t n;
	uint64_t hash; /* of their names: one for equal words */
};

/* Adds that a rule looks at `what`, an object of that name, or of that hash, or at a number. */
void parting_add(struct parting *p, const void *what, const char *name);
void parting_add_hashed(struct parting *p, const void *what, uint64_t hash);
void parting_add_number(struct parting *p, int32_t number);

struct group {
	struct tree_node node; /* in clusterqueue.groups_waiting, or its LocalQueue's */
	struct claim claim;    /* next to the node: a search reads both */
	struct order_key key;  /* its head's, where that stands (workload_standing()) */
	struct clusterqueue *cq;
	struct localqueue *lq; /* of all members, where usage orders; else NULL */
	struct shape *shape;
	bool displaces;		   /* each member: workload_displaces() */
	bool early;		   /* each member, where group_looks_at_age() */
	struct parting parting;	   /* of each member: what rules look at */
	int64_t expected_ms;	   /* of each member, where group_expects(); else 0 */
	int64_t least_expected_ms; /* the least in the subtree; unknown is INT64_MAX */
	int64_t least_timed_ms;	   /* the same; unknown is 0 */
	uint64_t hash;
	struct tree waiting;   /* workload.in_group; never empty */
	struct workload *head; /* its first */
	struct link fresh;     /* in clusterqueue.fresh: no pass has judged it yet */
};

struct groups {
	const struct queue *queue;
	struct map map;
	size_t bytes;
	uint64_t edits; /* how often claims were derived anew */
};

void groups_init(struct groups *all, const struct queue *q);
void groups_done(struct groups *all);

void group_trees_init(struct tree *groups_waiting, struct tree *order);

/* Does the expected duration part its Jobs into groups? */
bool group_expects(const struct queue *q, const struct localqueue *lq);

/* By such a preemption.withinClusterQueue, does its time of queueing tell which runs a Job may
 * displace? */
bool group_looks_at_age(enum preemption_policy within);

/* Puts the workload into the order of cq, where it stands. A group made by this is fresh. */
void group_join(struct groups *all, struct clusterqueue *cq, struct workload *w);
/* True: its group is fresh, because the next head may displace more. */
bool group_leave(struct groups *all, struct workload *w);

/* A pass has judged it: it is fresh no longer. */
void group_judged(struct group *g);

struct workload *group_head(const struct group *g);

/* Derives all claims anew: the spec's resources or flavors changed. */
void groups_rederive(struct groups *all, struct clusterqueue *cq);
/* Only claims for which other nodes suit now (pod_template.moved). True: there are some. */
bool groups_rederive_moved(struct groups *all, struct clusterqueue *cq);

#endif
