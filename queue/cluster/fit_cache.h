/*
 * The fit cache: the answer of every node to one pod, kept up to date.
 *
 * For each node it has the obstacles of now, those of an empty node, and how many such pods fit;
 * and their counts over all nodes. The log of `struct nodes` says which nodes to look at again, so
 * an answer costs what changed since the last one. Pod affinity and anti-affinity are asked node by
 * node at the end (pod_affinity.h), once for each version of the nodes.
 */
#ifndef SLUICE_QUEUE_CLUSTER_FIT_CACHE_H
#define SLUICE_QUEUE_CLUSTER_FIT_CACHE_H

#include "queue/cluster/pod_affinity.h"
#include "queue/cluster/ranking.h"

struct outlook {
	uint32_t now, ever; /* sets of obstacles; 0: it fits */
	int32_t room;	    /* -1: not counted */
};

struct tally {
	size_t suitable, fitting; /* nodes without an obstacle: ever, now */
	size_t now[OBSTACLES], ever[OBSTACLES];
	int64_t room;
};

struct shape_outlook {	 /* what all nodes of a shape have in common */
	uint64_t serial; /* of the shape; if it differs, ask again */
	uint32_t now, ever;
};

struct asked_resource {
	const char *name;
	int32_t number; /* -1: no node has it */
	int64_t amount; /* more than 0 */
	bool devices;	/* a node that has none of it may have it in its devices */
};

struct fit_cache {
	struct arena arena;
	struct pod pod; /* its own copy, with the fields of fingerprint_wanted() only */
	struct asked_resource *resource;
	size_t nresources;
	bool blind; /* to shapes: asked node by node */
	uint64_t seen, own_moves, namespace_moves;
	struct shape_outlook *shape;
	size_t nshapes;
	struct outlook *outlook; /* by slot */
	size_t nslots;
	struct tally tally;		   /* without pod affinity */
	struct pod_affinity *pod_affinity; /* NULL: it looks at no other pods */
	struct ranking ranking; /* of the nodes by room, from the first question for it on */

	struct tally last; /* with pod affinity and anti-affinity; of last_version */
	uint64_t last_version;
	int32_t last_room, last_enough;
	uint64_t last_room_version;

	uint64_t asked, hash;
	void *fingerprint;
	size_t fingerprint_size;
	struct fit_cache *next, *previous;
};

/* The cache for such a pod, up to date. Valid until the next call of this, or a change of n. */
struct fit_cache *fit_cache_of(struct nodes *n, const struct pod *p);
void fit_cache_free(struct nodes *n, struct fit_cache *s);

/* repels: the anti-affinities that mean the pod (anti_affinity.c). */
struct tally fit_cache_tally(struct fit_cache *s, const struct nodes *n,
	struct anti_affinity *const *repels, size_t nrepels);
/* Kept up to date from now on. For pods that look at no other pods. */
struct ranking *fit_cache_ranking(struct fit_cache *s);
/* The node of that slot has changed for a question. Forgets kept answers. */
void fit_cache_recount(struct fit_cache *s, const struct nodes *n, uint32_t slot);

struct spot {
	struct node *node;
	int32_t left, placed;
};

/* Where so many of these pods would go (placing.c), or fewer if there is no room: spots, some with
 * no pod placed. The caller frees the array. */
struct spot *fit_cache_place(struct fit_cache *s, const struct nodes *n,
	struct anti_affinity *const *repels, size_t nrepels, int32_t pods, size_t *ret_n);
/* How many of these pods can be placed, where a pod's place depends on the pods placed before. */
int32_t fit_cache_place_all(struct fit_cache *s, const struct nodes *n,
	struct anti_affinity *const *repels, size_t nrepels, int32_t enough);
bool repelled(struct anti_affinity *const *repels, size_t nrepels, const struct node *node);

#endif
