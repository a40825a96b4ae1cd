/*
 * Shapes of nodes: nodes of equal taints, allocatable, cordon and labels have one shape.
 *
 * Labels that are a node's own (its hostname, and any that equals the node's name) are not in the
 * shape. Their keys are counted, so that a pod that asks for one of them is asked node by node. If
 * every node has another unique label, there are as many shapes as nodes. Then the first answer to
 * a pod looks at all nodes, and nothing else changes.
 */
#ifndef SLUICE_QUEUE_CLUSTER_NODE_CLASSES_H
#define SLUICE_QUEUE_CLUSTER_NODE_CLASSES_H

#include "base/buf.h"
#include "base/map.h"
#include "queue/cluster/filter.h"
#include "base/arena.h"

struct node_shape {
	struct arena arena;
	struct site site; /* its labels are the shared ones */
	struct resource_list allocatable;
	int64_t *amount; /* allocatable by number of the resource */
	uint64_t serial; /* unique among all shapes ever */
	uint32_t id;	 /* small; used again */
	size_t nodes;
	uint64_t hash;
	void *fingerprint;
	size_t fingerprint_size;
};

struct own_key {
	char *key;
	size_t nodes;
};

struct node_classes {
	struct map by_fingerprint;
	struct node_shape **slot; /* by id; NULL: free */
	size_t nslots;
	uint64_t made, gone; /* shapes, so far */
	struct own_key *own;
	size_t nown;
	uint64_t own_moves; /* how often a key became one, or ceased to be one */
	/* The resources of nodes, numbered in the order of their first sight. Never freed: only
	 * admins add some. */
	char **resource;
	size_t *having; /* by number: how many shapes have some of it */
	size_t nresources;
	uint64_t have_moves; /* how often node_classes_have() changed its answer for a resource */
};

void node_classes_init(struct node_classes *s);
void node_classes_done(struct node_classes *s);

/* The shape of such a node, with one node more. *ret_new_resource: it has a resource that was not
 * numbered before. */
struct node_shape *node_classes_take(
	struct node_classes *s, const struct node_spec *spec, bool *ret_new_resource);
void node_classes_drop(struct node_classes *s, struct node_shape *shape);

bool node_classes_label_is_own(const struct node_spec *spec, const struct label *l);
void node_classes_count_own(struct node_classes *s, const char *key);
void node_classes_uncount_own(struct node_classes *s, const char *key);
/* Does the pod ask for labels that are not in shapes? */
bool node_classes_blind_to(const struct node_classes *s, const struct pod *p);

/* -1: no node has it. */
int32_t node_classes_resource(const struct node_classes *s, const char *name);
/* Has some node any of it? */
bool node_classes_have(const struct node_classes *s, const char *resource);

#endif
