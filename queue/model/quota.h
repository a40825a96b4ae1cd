/*
 * The quota tree: who may use how much of which flavor, and who does.
 *
 * A node is a name ("cq/batch", "cohort/research") with rows, one for each (flavor, resource). Use
 * lives here and not in the ClusterQueue, because it outlives it: a Job that runs keeps its quota
 * when the spec stops listing its flavor, and the ledger may name a queue that is not here yet.
 * Rows and nodes are never freed before the queue; their number is that of what admins ever named.
 *
 * A node may hang below another one, and its rows below the same rows there. The rules are Kueue's
 * (reference 3.2):
 *
 *   subtree(n)  the quota of n and all below: nominal + what each child does not keep to itself
 *   local(n)    the part that only n and those below may use: subtree - lendingLimit
 *   use(n)      of a leaf what its Jobs hold; above, the sum of what exceeds each child's local
 *   free(n)     what n can still take: its own local part, and of the parent's free as much as its
 *               borrowingLimit allows
 *
 * Use is kept twice. NOW is what is held. THEN is what will be held when everybody who is being
 * stopped is gone and everybody to whom their room was promised has it. Who wants to start must fit
 * NOW, and must fit THEN: that is how freed quota is kept for the one it was freed for.
 */
#ifndef SLUICE_QUEUE_MODEL_QUOTA_H
#define SLUICE_QUEUE_MODEL_QUOTA_H

#include "base/map.h"
#include "base/list.h"
#include "base/tree.h"
#include "sluice/spec.h"

struct clusterqueue;
struct cohort;
struct cohort_tree;

enum quota_when { QUOTA_NOW, QUOTA_THEN };
#define QUOTA_WHENS 2

/* A lot: one pair of flavor and resource throughout the tree. Where the flavor's room is lent, the
 * rows' quota is their part of what there is to lend (effective_quota.h). */
struct flavor_pool {
	const char *flavor, *resource; /* symbols */
	struct link rows;	       /* quota_row.of_flavor_pool, in the order of their making */
	enum lending lent;	       /* LENDING_NONE: what the specs say is what there is */
	int32_t share_permille;
	int64_t pool, most; /* what all nodes lend, and the most of one; share not taken yet */
	bool resized;	    /* most is another one */
	struct link stale;  /* in quota.stale: to be divided anew */
};

struct quota_node {
	const char *name;	    /* a symbol */
	struct clusterqueue *owner; /* of a leaf; NULL while there is none */
	struct cohort *cohort;	    /* of what is no leaf */
	struct quota_node *parent;  /* NULL: a root */
	struct cohort_tree
		*cohort_tree; /* of a root below which there are, or were, ClusterQueues */
	struct link children, of_parent;
	uint32_t height;	/* 0: nothing hangs below; else one more than the highest child */
	struct quota_row **row; /* in the order of their making */
	size_t nrows, capacity;
	bool unsettled, grown; /* of a root, while lots are divided: effective_quota.c */
};

struct quota_limits {
	int64_t nominal, borrowing, lending; /* QUOTA_UNLIMITED: no limit */
};

/* Sums are 128 bits wide: lines adopted from the ledger may be absurd (INT64_MAX each), and what
 * was added must come off again exactly. */
struct quota_row {
	struct quota_node *node;
	struct quota_row *up;	       /* the same pair in the parent; NULL at a root */
	const char *flavor, *resource; /* symbols */
	struct flavor_pool *flavor_pool;
	struct link of_flavor_pool;
	bool in_spec;				/* the owner's spec in force lists it */
	struct quota_limits said;		/* what that says */
	struct quota_limits due;		/* what of it counts now: by which a lot is divided;
						   the next three are what holds (effective_quota.h) */
	int64_t nominal;			/* 0 when it does not */
	int64_t borrowing_limit, lending_limit; /* QUOTA_UNLIMITED when there is none */
	int64_t subtree, local;
	__int128 use[QUOTA_WHENS];
	__int128 used;	     /* of use[QUOTA_NOW], by confirmed ones; of a leaf only */
	struct link changed; /* in quota.changed until queue_take_ceiling */
	bool told;	     /* what the ledger knows of it, if anything: */
	int64_t told_ceiling, told_local;
	const struct quota_node *told_parent;

	/* Of a leaf: the room lines that stand in victim_index.h's order, if anybody ever asked. */
	bool ranked;
	struct tree victim_index;
};

struct quota {
	struct map nodes, rows, flavor_pools, *symbols;
	struct link changed; /* rows whose ceiling nobody has taken yet, oldest change first */
	struct link stale;   /* flavor_pool.stale */
};

void quota_init(struct quota *quota, struct map *symbols);
void quota_done(struct quota *quota);

struct quota_node *quota_node_of(struct quota *quota, const char *name);
/* The row, made when there is none yet, and those above it. Names become symbols. */
struct quota_row *quota_row_of(
	struct quota *quota, struct quota_node *node, const char *flavor, const char *resource);
struct flavor_pool *flavor_pool_of(struct quota *quota, const char *flavor, const char *resource);
/* The row of a node for the pair of another row; NULL when there is none. */
struct quota_row *quota_row_like(
	const struct quota *quota, const struct quota_node *node, const struct quota_row *like);

/* Edits, and quota_settle() of a root afterwards: it makes what follows from them right for the
 * whole tree below (subtree, local, use of inner nodes, ceilings that changed). */
void quota_set_limits(struct quota_row *row, const struct quota_limits *limits);
void quota_move(struct quota *quota, struct quota_node *node, struct quota_node *parent);
void quota_settle(struct quota *quota, struct quota_node *root);
struct quota_node *quota_root(struct quota_node *node);

/* What the node may use at most, by its own limits. */
int64_t quota_ceiling(const struct quota_row *row);
/* The next row whose ceiling, guaranteed part or parent the ledger does not know; NULL: none. */
struct quota_row *quota_take_changed(struct quota *quota);
void quota_retake(struct quota *quota); /* it knows nothing */

/* ---- Use ---- */

void quota_take(struct quota_row *leaf, enum quota_when when, int64_t amount);
void quota_give(struct quota_row *leaf, enum quota_when when, int64_t amount);

/* What is free for one more, below 0 when more is used than there is. */
__int128 quota_free(const struct quota_row *row, enum quota_when when);
/* The same of THEN, never below 0: what can be had now or when those who leave are gone. */
int64_t quota_available(const struct quota_row *row);
/* The most it could ever have. */
int64_t quota_potential(const struct quota_row *row);

/* Would it use more than its own subtree's quota with so much more? */
bool quota_borrows_with(const struct quota_row *row, enum quota_when when, __int128 amount);
static inline bool quota_borrows(const struct quota_row *row, enum quota_when when)
{
	return row->use[when] > row->subtree;
}
/* What is left of the local part. */
__int128 quota_local_free(const struct quota_row *row, enum quota_when when);

/* How far from its own quota somebody has to go for so much: the height of the lowest node above
 * in whose quota it fits, 0 for its own, the root's when it fits nowhere. *ret_inside: that node is
 * not the root, so that those outside of it may be asked to give back (reference 4.3). */
uint32_t quota_borrow_level(
	const struct quota_row *leaf, enum quota_when when, int64_t amount, bool *ret_inside);

/* An amount that stopped at INT64_MAX is not known, so it fits nowhere. */
static inline bool quota_fits(int64_t amount, int64_t available)
{
	return amount <= available && amount != INT64_MAX;
}

/* Is so much free? Nothing is, also where more is used than there is. */
static inline bool quota_has(const struct quota_row *row, enum quota_when when, int64_t amount)
{
	return amount == 0 || amount <= quota_free(row, when);
}

/* A sum as the views show it. */
int64_t quota_shown(__int128 sum);

#endif
