/*
 * The quota tree: who may use how much of which flavor, and who does.
 *
 * A node is a name ("cq/batch") with rows, one for each (flavor, resource). Use lives here and not
 * in the ClusterQueue, because it outlives it: a Job that runs keeps its quota when the spec stops
 * listing its flavor, and the ledger may name a queue that is not here yet. Rows and nodes are
 * never freed before the queue; their number is that of what admins ever named.
 *
 * Cohorts join here: a node gets a parent, quota_available() looks upwards, quota_take() and
 * quota_give() pass on what exceeds the node's own part (reference 3.2).
 */
#ifndef SLUICE_QUEUE_QUOTA_H
#define SLUICE_QUEUE_QUOTA_H

#include "base/map.h"
#include "queue/list.h"

struct clusterqueue;

struct quota_node {
	const char *name;	    /* a symbol */
	struct clusterqueue *owner; /* NULL while there is none */
	struct quota_row **row;	    /* in the order of their making */
	size_t nrows, room;
};

/* Sums are 128 bits wide: lines adopted from the ledger may be absurd (INT64_MAX each), and what
 * was added must come off again exactly. */
struct quota_row {
	struct quota_node *node;
	const char *flavor, *resource; /* symbols */
	bool in_spec;		       /* the owner's spec in force lists it */
	int64_t nominal;	       /* 0 when it does not */
	__int128 reserved;	       /* by all workloads with room */
	__int128 used;		       /* of that, by confirmed ones */
	struct link changed;	       /* in quota.changed until queue_take_ceiling */
};

struct quota {
	struct map nodes, rows, *symbols;
	struct link changed; /* rows whose ceiling nobody has taken yet, oldest change first */
};

void quota_init(struct quota *quota, struct map *symbols);
void quota_done(struct quota *quota);

struct quota_node *quota_node_of(struct quota *quota, const char *name);
/* The row, made when there is none yet. Names become symbols. */
struct quota_row *quota_row_of(
	struct quota *quota, struct quota_node *node, const char *flavor, const char *resource);

void quota_set_nominal(struct quota *quota, struct quota_row *row, bool in_spec, int64_t nominal);
void quota_retake(struct quota *quota);

/* What is free for one more: never below 0. */
int64_t quota_available(const struct quota_row *row);

/* An amount that stopped at INT64_MAX is not known, so it fits nowhere. */
static inline bool quota_fits(int64_t amount, int64_t available)
{
	return amount <= available && amount != INT64_MAX;
}

/* A sum as the views show it. */
int64_t quota_shown(__int128 sum);

#endif
