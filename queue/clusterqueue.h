/*
 * ClusterQueues: the spec in force, its quota, and who waits in it.
 *
 * A record is made by whoever names the queue first (the object, a LocalQueue, a Job adopted from
 * the ledger) and goes when nobody does. It is active while it exists, is not stopped or being
 * deleted, and all its flavors exist; in an inactive queue nothing starts.
 */
#ifndef SLUICE_QUEUE_CLUSTERQUEUE_H
#define SLUICE_QUEUE_CLUSTERQUEUE_H

#include "base/err.h"
#include "queue/arena.h"
#include "queue/flavor.h"
#include "queue/keys.h"
#include "queue/list.h"
#include "queue/quota.h"
#include "queue/tree.h"
#include "sluice/queue.h"

#define CQ_GROUPS_MAX 16    /* resource groups */
#define CQ_RESOURCES_MAX 64 /* in a group */
#define CQ_FLAVORS_MAX 64   /* in a group; a claim keeps them as 64 bits */
#define CQ_PAIRS_MAX 512    /* flavors x resources in a group */

struct resource_group {
	size_t nresources, nflavors;
	const char **resources; /* symbols */
	struct flavor **flavors;
	struct quota_row **row; /* [flavor * nresources + resource] */
	struct group_keys keys;
};

struct clusterqueue {
	char *name;
	uint64_t serial; /* of its making: seeds hashes in place of an address */
	uint32_t refs;	 /* LocalQueues and rooms that name it, the object, a refused spec */
	struct tree_node by_name;
	struct quota_node *node;

	/* The spec in force; everything zero while the object does not exist. */
	bool exists, deleting;
	int64_t generation;
	const char *cohort;
	enum queueing_strategy strategy;
	enum stop_policy stop_policy;
	bool has_selector;
	struct selector_term selector;
	struct resource_group *groups;
	size_t ngroups;
	struct arena memory;
	char *invalid; /* the sentence about a newer spec that was refused */

	size_t nkeys; /* what a search through the waiting groups compares: keys.h */

	struct tree groups_waiting; /* struct group, in queue order of their heads */
	struct tree order;	    /* every workload in those groups: ranks */
	struct link localqueues;    /* localqueue.of_clusterqueue */
	struct link rooms;	    /* room.of_clusterqueue */
	struct link dirty;	    /* in queue.dirty: something happened to it */
	bool search;		    /* ... that may let any group start, not only fresh ones */
	struct link fresh;	    /* group.fresh: those that no pass has judged yet */
	size_t nfresh;
	size_t nwaiting, nreserving, nadmitted;
	uint64_t started_total;
};

struct clusterqueues {
	struct map map;
	struct tree shown; /* those that exist or were refused, by name */
	uint64_t serials;
};

void clusterqueues_init(struct clusterqueues *all);
void clusterqueues_done(struct clusterqueues *all, struct map *flavors);

struct clusterqueue *clusterqueue_find(const struct clusterqueues *all, const char *name);
struct clusterqueue *clusterqueue_keep(struct clusterqueues *all, const char *name);
void clusterqueue_put(struct clusterqueues *all, struct clusterqueue *cq);

/* 0, or ERR_INVALID with object, field and cure. */
int clusterqueue_check(const struct clusterqueue_spec *s, struct err *e);

/* Takes over a checked spec. *ret_reshaped: resources or flavors are other ones or in another
 * order, or quotas of another size, so that what was derived from them (claims) is stale. */
void clusterqueue_take_spec(struct clusterqueue *cq, const struct clusterqueue_spec *s,
	struct map *flavors, struct quota *quota, bool *ret_reshaped);
void clusterqueue_drop_spec(struct clusterqueue *cq, struct map *flavors, struct quota *quota);

/* The first flavor it names that does not exist; NULL when all do. */
const struct flavor *clusterqueue_missing_flavor(const struct clusterqueue *cq);
bool clusterqueue_names_flavor(const struct clusterqueue *cq, const struct flavor *f);
bool clusterqueue_active(const struct clusterqueue *cq);

#endif
