/*
 * The quota tree: how much of which flavor each ClusterQueue and Cohort may use, and does use.
 *
 * A node has a name ("cq/batch", "cohort/research") and a row for each (flavor, resource). Use is
 * kept here and not in the ClusterQueue, because it outlives it. A running Job keeps its quota when
 * the spec stops listing its flavor, and the ledger may name a queue that is not here yet. Rows and
 * nodes are never freed before the queue. There are as many as admins ever named.
 *
 * A node may be the child of another, and its rows the children of the same rows there. The rules
 * are those of Kueue's resource_node.go:
 *
 *   subtree(n)  nominal(n) + the sum of subtree - local of its children
 *   local(n)    the part that only n and its descendants may use: subtree - lendingLimit
 *   use(n)      of a leaf, what its Jobs hold; else the sum of use beyond local of its children
 *   free(n)     what is left of local(n), and of free(parent) as much as borrowingLimit allows
 *
 * Use is kept twice. NOW is what is held. THEN is what will be held when all victims are gone and
 * all promises are kept. A Job that starts must fit both. So freed quota is kept for the Job that
 * it was freed for.
 */
#ifndef SLUICE_QUEUE_CORE_MODEL_QUOTA_H
#define SLUICE_QUEUE_CORE_MODEL_QUOTA_H

#include "base/map.h"
#include "base/list.h"
#include "base/tree.h"
#include "sluice/spec.h"

struct clusterqueue;
struct cohort;
struct cohort_tree;
struct row_plan;

/* SUPPOSED: in the middle of a question alone, which takes what it supposes to be used and gives it
 * back. */
enum quota_when { QUOTA_NOW, QUOTA_THEN, QUOTA_SUPPOSED };
#define QUOTA_WHENS 3

/* One flavor and resource throughout the tree. Where nodes lend the flavor, each row's quota is a
 * part of what they lend (effective_quota.h). */
struct flavor_pool {
	const char *flavor, *resource; /* symbols */
	struct link rows;	       /* quota_row.of_flavor_pool, in the order of their making */
	enum lending lent;	       /* LENDING_NONE: the quota is what the specs say */
	int32_t share_permille;
	int64_t pool, most; /* what all nodes lend, and the most of one; before share_permille */
	bool resized;	    /* most has changed */
	struct link stale;  /* in quota.stale: to be divided anew */
};

struct quota_node {
	const char *name;	    /* a symbol */
	struct clusterqueue *owner; /* of a leaf; NULL while there is none */
	struct cohort *cohort;	    /* of an inner node */
	struct quota_node *parent;  /* NULL: a root */
	struct cohort_tree
		*cohort_tree; /* of a root below which there are, or were, ClusterQueues */
	struct link children, of_parent;
	uint32_t height;	/* 0: no children; else one more than the highest child */
	struct quota_row **row; /* in the order of their making */
	size_t nrows, capacity;
	bool unsettled, grown; /* of a root, while pools are divided: effective_quota.c */
	size_t bookings; /* of a root: in its tree, beside runs (queue/core/model/quota_plan.h) */
};

struct quota_limits {
	int64_t nominal, borrowing, lending; /* QUOTA_UNLIMITED: no limit */
};

static inline bool quota_limits_same(const struct quota_limits *a, const struct quota_limits *b)
{
	return a->nominal == b->nominal && a->borrowing == b->borrowing && a->lending == b->lending;
}

/* Sums are 128 bits wide. Lines adopted from the ledger may be absurd (INT64_MAX each), and what
 * was added must come off again exactly. */
struct quota_row {
	struct quota_node *node;
	struct quota_row *up;	       /* the same pair in the parent; NULL at a root */
	const char *flavor, *resource; /* symbols */
	struct flavor_pool *flavor_pool;
	struct link of_flavor_pool;
	bool in_spec;		  /* the owner's spec in force lists it */
	struct quota_limits said; /* what that spec says */
	/* What of it counts now; a pool is divided by it. The next three lines are the effective
	 * quota (effective_quota.h). */
	struct quota_limits due;
	struct quota_limits timed; /* the same without a lead: what spec and windows say */
	int64_t nominal;	   /* 0 when not in the spec */
	int64_t borrowing_limit, lending_limit; /* QUOTA_UNLIMITED when there is none */
	int64_t subtree, local;
	__int128 use[QUOTA_WHENS];
	__int128
		owed; /* of what is used beyond its limits: so much by a window (smaller_quota.h) */
	__int128 used;	     /* of use[QUOTA_NOW], by confirmed reservations; of a leaf only */
	struct link changed; /* in quota.changed until queue_take_ceiling */
	bool told;	     /* the ledger knows: */
	int64_t told_ceiling, told_local;
	const struct quota_node *told_parent;

	/* Of a leaf: its reservations in victim_index.h's order, from the first question on. */
	bool ranked;
	struct tree victim_index;
	struct tree wishes; /* of a leaf: runs that lack quota here for more pods (growth.h) */
	struct row_plan *planned; /* its planned use (queue/core/model/quota_plan.h); NULL: none */
};

struct quota {
	struct map nodes, rows, flavor_pools, *symbols;
	struct link changed; /* rows of which the ledger is to be told, oldest change first */
	struct link stale;   /* flavor_pool.stale */
	uint64_t edits;	     /* how often quotas were settled anew */
};

void quota_init(struct quota *quota, struct map *symbols);
void quota_done(struct quota *quota);

struct quota_node *quota_node_of(struct quota *quota, const char *name);
/* quota_node_of() "cq/batch", "cohort/all". */
struct quota_node *quota_node_under(struct quota *quota, const char *kind, const char *name);
/* The row; it and the rows above it are made when there are none. Names become symbols. */
struct quota_row *quota_row_of(
	struct quota *quota, struct quota_node *node, const char *flavor, const char *resource);
struct flavor_pool *flavor_pool_of(struct quota *quota, const char *flavor, const char *resource);
/* The row of a node for the pair of another row; NULL when there is none. */
struct quota_row *quota_row_like(
	const struct quota *quota, const struct quota_node *node, const struct quota_row *like);

/* Edits. quota_settle() of the root afterwards derives subtree, local, use of inner nodes and
 * changed ceilings for the whole tree. */
void quota_set_limits(struct quota_row *row, const struct quota_limits *limits);
void quota_move(struct quota *quota, struct quota_node *node, struct quota_node *parent);
void quota_settle(struct quota *quota, struct quota_node *root);
struct quota_node *quota_root(struct quota_node *node);

/* The most that the node may use by its own limits. */
int64_t quota_ceiling(const struct quota_row *row);
/* By the names of node, flavor and resource. */
int quota_row_cmp(const struct quota_row *a, const struct quota_row *b);
/* The next row of which the ledger has another ceiling, guaranteed part or parent; NULL: none. */
struct quota_row *quota_take_changed(struct quota *quota);
void quota_retake(struct quota *quota); /* the ledger knows nothing: all rows are to be told */

/* ---- Use ---- */

void quota_take(struct quota_row *leaf, enum quota_when when, int64_t amount);
void quota_give(struct quota_row *leaf, enum quota_when when, int64_t amount);

/* What is free. Below 0 when more is used than there is. */
__int128 quota_free(const struct quota_row *row, enum quota_when when);
/* What is free THEN, never below 0. */
int64_t quota_available(const struct quota_row *row);
/* The most that it could ever have. */
int64_t quota_potential(const struct quota_row *row);

/* How much more the node uses than it may by its own limits; 0: no more. */
__int128 quota_over(const struct quota_row *row, enum quota_when when);
/* With `amount` more, would it use more than its own subtree's quota? */
bool quota_borrows_with(const struct quota_row *row, enum quota_when when, __int128 amount);
static inline bool quota_borrows(const struct quota_row *row, enum quota_when when)
{
	return row->use[when] > row->subtree;
}
/* What is left of the local part. */
__int128 quota_local_free(const struct quota_row *row, enum quota_when when);

/* From how far up the amount is borrowed: the height of the first node, from the leaf up, with a
 * quota in which it fits. 0: its own. The root's, when it fits nowhere. *ret_inside: that node is
 * not the root, so quota may be reclaimed from queues outside of it. */
uint32_t quota_borrow_level(
	const struct quota_row *leaf, enum quota_when when, int64_t amount, bool *ret_inside);

/* INT64_MAX is an amount too large to count: it fits nowhere. */
static inline bool quota_fits(int64_t amount, int64_t available)
{
	return amount <= available && amount != INT64_MAX;
}

/* Is so much free? An amount of 0 always is, even where more is used than there is. */
static inline bool quota_has(const struct quota_row *row, enum quota_when when, int64_t amount)
{
	return amount == 0 || amount <= quota_free(row, when);
}

/* A sum as the views show it. */
int64_t quota_shown(__int128 sum);

#endif
