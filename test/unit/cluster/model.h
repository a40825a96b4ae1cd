/*
 * A small world of nodes and pods, and the scheduler's rules written a second time, as plainly as
 * possible: a pod is tried on a node, against each present pod. Nothing is cached, nothing is fast.
 * The answers of queue/cluster must be the same (property_test.c).
 */
#ifndef SLUICE_TEST_CLUSTER_MODEL_H
#define SLUICE_TEST_CLUSTER_MODEL_H

#include "queue/cluster/nodes.h"
#include "queue/cluster/nodes_priv.h"

#define NODES 6
#define PODS 24 /* bound, at most */
#define ENOUGH 4
#define OWNERS 4
#define WANTED 3 /* of each, at most */
#define PUT (OWNERS * WANTED)
#define ALL (PODS + PUT + ENOUGH)
#define ASKED 8
#define TEXT 400
#define GPU "e.io/gpu"

struct m_node {
	bool there;
	char text[TEXT];
	struct arena arena;
	struct node_spec *spec;
};

struct m_pod {
	bool there, deleting;
	size_t node;
	char text[TEXT];
	struct arena arena;
	const struct pod *pod;
	struct uid uid;
	size_t owner; /* OWNERS: none */
};

struct m_owner {
	int32_t wanted;
	struct arena arena;
	struct pod *pod;
};

struct world {
	uint64_t state;
	struct nodes *nodes;
	struct m_node node[NODES];
	/* Bound; expected, where queue/cluster put them; placed for a while. */
	struct m_pod pod[ALL];
	struct m_owner owner[OWNERS];
	uint64_t ground;
	bool never[ASKED];    /* of the pods that are asked about, at that nodes_ground() */
	const char *tier[3];  /* label of each namespace; NULL: unknown */
	bool gpu_class;	      /* a DeviceClass has them */
	bool classes_unknown; /* whether there is one is not known */
};

extern const char *const model_spaces[3]; /* the namespaces */

/* On node i, as it is now; ever: if it were empty, and without cordons and condition taints. */
bool model_fits_now(const struct world *w, const struct pod *p, size_t i);
bool model_fits_ever(const struct world *w, const struct pod *p, size_t i);
/* Is there an order of placing that ends after exactly `wanted` pods, because no more fit (or that
 * is enough)? */
bool model_reaches(struct world *w, struct pod *p, int32_t placed, int32_t wanted);
/* Is its node over-full, of pods or of a resource that the pod asks for? */
bool model_over_full(const struct world *w, const struct m_pod *p);

#endif
