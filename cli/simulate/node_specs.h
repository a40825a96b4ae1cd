/*
 * The fleet: the Nodes of the manifests. The queue is told what they lend (status.allocatable has
 * kubernetes.io/batch-cpu, gocran.io/cpu and the like), as the pools of the flavors that have
 * spec.idlePool. It is also told what they are for the pods
 * (queue/features/nodes/node_suitability.h). The fleet stays as the files have it.
 */
#ifndef SLUICE_CLI_SIMULATE_NODE_SPECS_H
#define SLUICE_CLI_SIMULATE_NODE_SPECS_H

#include "queue/cluster/nodes.h"
#include "overcommit/facts.h"
#include "sluice/spec.h"

struct queue;

struct node_specs {
	struct node_facts **node;
	size_t nnodes;
	struct flavor_spec **flavor; /* with an idle pool; the last of a name holds */
	size_t nflavors;
};

void node_specs_done(struct node_specs *f);

/* Add a Node, and a flavor; both are taken (one block). The last of a name holds. */
void node_specs_see(struct node_specs *f, struct node_facts *node);
void node_specs_see_flavor(struct node_specs *f, struct flavor_spec *flavor);

/* Tells the queue of a Node. If it is written by hand it does not name all that it has: of cpu,
 * memory, ephemeral-storage and pods that are missing it has as much as is asked for. */
void node_specs_tell(struct queue *q, const struct node_spec *s);

/* Tells the queue of the pools; once, when all is read. */
void node_specs_apply(const struct node_specs *f, struct queue *q);

#endif
