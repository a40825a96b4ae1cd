/*
 * A claim: what one shape asks of one ClusterQueue, worked out once.
 *
 * It holds the amount of each covered resource for all pods together, and which flavors suit the
 * pods. Resources that nodes lend count as cpu and memory (lending.h), and where those are counted
 * a flavor suits only if the Job may run on what it lends, or does not; and only if there are nodes
 * that could take its pods (node_suitability.h). All of it follows from the shape, from the spec's
 * resources and flavors and from the nodes, not from amounts of quota: a claim is derived anew when
 * those change, and only then.
 */
#ifndef SLUICE_QUEUE_MODEL_CLAIM_H
#define SLUICE_QUEUE_MODEL_CLAIM_H

#include "queue/model/clusterqueue.h"
#include "queue/requests/shape.h"
#include "queue/rules/nodes/node_suitability.h"

struct need {
	uint16_t group, resource; /* indexes in the ClusterQueue's spec */
	int64_t each;		  /* of one pod */
	int64_t amount; /* of all; INT64_MAX: more than can be counted, fits nowhere. 0 fits
			   everywhere, and all the same it wants a flavor that suits */
	int64_t least;	/* of the fewest pods with which it would start */
};

struct claim {
	int64_t *least; /* of each key: the smallest want in the subtree below (group.h) */
	int64_t *want;	/* of each key: the amount (keys.h) */
	size_t nkeys;
	const char *uncovered; /* a resource asked for that no group covers, or NULL; the shape's */
	size_t nneeds;
	struct need *need; /* by group, then resource */
	uint64_t *suits;   /* of each group: the flavors that suit, a bit each */
	uint64_t *never;   /* of each group: those that would, had any node room for its pods */
	bool nowhere;	   /* that leaves none, be it only together with those of other groups */
	size_t bytes;	   /* of the one block behind these pointers, which `least` begins */
};

void claim_init(struct claim *c, const struct node_suitability *node_suitability,
	const struct clusterqueue *cq, const struct shape *shape);
void claim_done(struct claim *c);

/* The needs of one resource group: the first, and how many. */
const struct need *claim_needs(const struct claim *c, size_t group, size_t *ret_n);

/* Does it need cpu or memory of this group: is it of any moment there whose room a flavor is? */
bool claim_minds_lending(const struct clusterqueue *cq, const struct claim *c, size_t group);

/* For so many pods. */
int64_t need_amount(const struct need *n, int32_t pods);

static inline bool claim_suits(const struct claim *c, size_t group, size_t flavor)
{
	return c->suits[group] >> flavor & 1;
}

/* Of lent room nobody may ask for more in one pod than some node lends. */
static inline bool need_too_large(const struct quota_row *row, const struct need *n)
{
	return row->flavor_pool->lent && n->each > row->flavor_pool->most;
}

/* One pod's request of a resource, `pods` included, and of what counts as it; 0 when it asks for
 * none. */
int64_t shape_amount(const struct shape *s, const char *resource);

#endif
