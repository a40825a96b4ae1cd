/*
 * A survey: what every node says to one pod, kept up to date.
 *
 * For each node the obstacles that it has now, those it would have were it empty, and how many such
 * pods it has room for; and their counts over all nodes. The log of the world says which nodes to
 * look at again; so an answer costs what changed since the last one, and nothing where nothing did.
 * Pods that look at other pods, and those that others repel, are asked node by node at the end
 * (company.h), once for each version of the world.
 */
#ifndef SLUICE_CLUSTER_SURVEY_H
#define SLUICE_CLUSTER_SURVEY_H

#include "cluster/company.h"
#include "cluster/ranking.h"

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
	uint64_t serial; /* of the shape; another one: to be asked again */
	uint32_t now, ever;
};

struct asked_resource {
	const char *name;
	int32_t number; /* -1: no node has it */
	int64_t amount; /* more than 0 */
};

struct survey {
	struct arena arena;
	struct pod pod; /* of its own; what print_wanted() does not say is not in it */
	struct asked_resource *resource;
	size_t nresources;
	bool blind; /* to shapes: asked node by node */
	uint64_t seen, own_moves, namespace_moves;
	struct shape_outlook *shape;
	size_t nshapes;
	struct outlook *outlook; /* by slot */
	size_t nslots;
	struct tally tally;	 /* without company */
	struct company *company; /* NULL: it looks at nobody */
	struct ranking ranking;	 /* of the nodes by room, from when it was first asked for on */

	struct tally last; /* with it, and what repels the pod; of last_version */
	uint64_t last_version;
	int32_t last_room, last_enough;
	uint64_t last_room_version;

	uint64_t asked, hash;
	void *print;
	size_t print_size;
	struct survey *next, *previous;
};

/* That of such a pod, up to date; valid until the next call of this or of what changes the world.
 */
struct survey *survey_of(struct nodes *n, const struct pod *p);
void survey_free(struct nodes *n, struct survey *s);

/* repels: those that mean the pod (repellents.c). */
struct tally survey_tally(
	struct survey *s, const struct nodes *n, struct repellent *const *repels, size_t nrepels);
/* Kept up to date from now on. For pods that look at nobody. */
struct ranking *survey_ranking(struct survey *s);
/* The node of that slot is another one for a question. What was kept of answers is forgotten. */
void survey_recount(struct survey *s, const struct nodes *n, uint32_t slot);

struct spot {
	struct node *node;
	int32_t left, placed;
};

/* Where so many of them would go (placing.c), fewer where there is no room: spots, some of which
 * have none placed; the caller frees. */
struct spot *survey_place(struct survey *s, const struct nodes *n, struct repellent *const *repels,
	size_t nrepels, int32_t pods, size_t *ret_n);
/* How many of so many, where company says that what a pod finds depends on those before it. */
int32_t survey_place_all(struct survey *s, const struct nodes *n, struct repellent *const *repels,
	size_t nrepels, int32_t enough);
bool repelled(struct repellent *const *repels, size_t nrepels, const struct node *node);

/* "0/20 nodes are available: 12 Insufficient cpu, 8 node(s) had untolerated taint(s)" */
void survey_sentence(const struct survey *s, size_t nodes, const size_t counts[OBSTACLES],
	char *ret, size_t size);

#endif
