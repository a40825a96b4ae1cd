/*
 * A claim: what one shape asks of one ClusterQueue, worked out once.
 *
 * It has the amount of each covered resource for all pods together, and the flavors that suit. A
 * flavor suits when
 *
 *   its labels, taints and podTemplate match the pods' directives (directives.h),
 *   some node could take the pods (node_suitability.h), and
 *   its kind of lending is one that the Job may run on; asked only where the claim needs cpu or
 *   memory of the group (lending.h)
 *
 * Resources that nodes lend count as cpu and memory. A claim follows from the shape, from the nodes
 * and from the spec's resources and flavors, not from amounts of quota. It is derived anew only
 * when one of these changes.
 */
#ifndef SLUICE_QUEUE_CORE_MODEL_CLAIM_H
#define SLUICE_QUEUE_CORE_MODEL_CLAIM_H

#include "queue/core/model/clusterqueue.h"
#include "queue/requests/shape.h"

struct need {
	uint16_t group, resource; /* indexes in the ClusterQueue's spec */
	int64_t each;		  /* of one pod */
	int64_t amount; /* of all; INT64_MAX: too large to count, fits nowhere. 0 fits everywhere,
			   but still needs a flavor that suits */
	int64_t least;	/* of the fewest pods with which it would start */
};

/* Returns the row in which it takes quota with that flavor of its group. */
static inline struct quota_row *need_row(
	const struct clusterqueue *cq, const struct need *n, size_t flavor)
{
	return group_row(&cq->spec.groups[n->group], flavor, n->resource);
}

struct claim {
	int64_t *least; /* of each key: the smallest want in the subtree below (group.h) */
	int64_t *want;	/* of each key: the amount (keys.h) */
	size_t nkeys;
	const char *uncovered; /* a requested resource that no group covers, or NULL; the shape's */
	size_t nneeds;
	struct need *need; /* by group, then resource */
	uint64_t *suits;   /* of each group: the flavors that suit, a bit each */
	uint64_t *never;   /* of each group: flavors that do not suit only for want of a node */
	bool nowhere;	   /* for want of nodes no combination of flavors of all groups is left */
	size_t bytes;	   /* of the one block behind these pointers, which `least` begins */
};

/* A flavor for each resource group of the claim, and so many pods (assign.h). */
struct choice {
	int32_t pods;			   /* for so many */
	uint8_t flavor[CQ_GROUPS_MAX];	   /* its index; only of groups that the claim needs */
	uint8_t next[CQ_GROUPS_MAX];	   /* where the search goes on if this choice fails: behind
					  the last flavor tried; 0: all were tried */
	uint64_t contested[CQ_GROUPS_MAX]; /* resources (a bit each) for which it must preempt */
	uint32_t tries;			   /* how often the search went on, this time included */
	uint32_t level; /* how far it borrows: the largest of its resources' borrow levels */
};

void claim_init(struct claim *c, const struct queue *q, const struct clusterqueue *cq,
	const struct shape *shape);
void claim_done(struct claim *c);

/* The needs of one resource group: the first, and how many. */
const struct need *claim_needs(const struct claim *c, size_t group, size_t *ret_n);
/* Writes the flavors of the groups that the claim needs, given the index of one for each group. Returns
 * how many. */
size_t claim_flavors(const struct clusterqueue *cq, const struct claim *c,
	const uint8_t flavor[CQ_GROUPS_MAX], const struct flavor *ret[CQ_GROUPS_MAX]);

/* Returns whether the claim needs cpu or memory of this group, so that a flavor's lending
 * matters. */
bool claim_minds_lending(const struct clusterqueue *cq, const struct claim *c, size_t group);

int64_t need_amount(const struct need *n, int32_t pods);

static inline bool claim_suits(const struct claim *c, size_t group, size_t flavor)
{
	return c->suits[group] >> flavor & 1;
}

/* Of a flavor that nodes lend, no pod may ask for more than the most that one node lends. */
static inline bool need_too_large(const struct quota_row *row, const struct need *n)
{
	return row->flavor_pool->lent && n->each > row->flavor_pool->most;
}

/* One pod's request of a resource and of what counts as it. Of `pods` it is 1. 0: it asks for none.
 */
int64_t shape_amount(const struct shape *s, const char *resource);

#endif
