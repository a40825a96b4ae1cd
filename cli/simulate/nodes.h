/*
 * Nodes: what those in the manifests lend of themselves (status.allocatable has
 * kubernetes.io/batch-cpu, gocran.io/cpu and the like), told to the queue as the pools of the
 * flavors that have spec.idlePool; and what they are for the pods (queue/terrain.h). It stays as
 * the files have it.
 */
#ifndef SLUICE_SIMULATE_NODES_H
#define SLUICE_SIMULATE_NODES_H

#include "overcommit/facts.h"
#include "cluster/nodes.h"
#include "sluice/spec.h"

struct queue;

struct nodes {
	struct node_facts **node;
	size_t nnodes;
	struct flavor_spec **flavor; /* with an idle pool; the last of a name holds */
	size_t nflavors;
};

void nodes_done(struct nodes *n);

/* Both take what they are given (one block). The last of a name holds. */
void nodes_see(struct nodes *n, struct node_facts *node);
void nodes_see_flavor(struct nodes *n, struct flavor_spec *flavor);

/* One as somebody writes it by hand does not say how much it has of everything: of cpu, memory,
 * ephemeral-storage and pods that it does not name it has as much as anybody asks for. */
void nodes_tell(struct queue *q, const struct node_spec *s);

/* Once, when all is read. */
void nodes_apply(const struct nodes *n, struct queue *q);

#endif
