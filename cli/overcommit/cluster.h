/*
 * A node as a cluster has it, read from its API server: the Node, its Pods, their use, and what
 * holds for it. That needs the rights to get the Node, list Pods, get nodes and pods of
 * metrics.k8s.io, get the ConfigMap and list nodeovercommits. The controller need not run; what it
 * knows of the node's agent is shown where it can be asked (get of overcommits).
 */
#ifndef SLUICE_CLI_OVERCOMMIT_CLUSTER_H
#define SLUICE_CLI_OVERCOMMIT_CLUSTER_H

#include "cli/overcommit/snapshot.h"
#include "controller/kube/config.h"

struct ev_loop;

struct overcommit_cluster {
	struct ev_loop *loop;
	const struct kube_config *config;
	const char *configmap; /* NAMESPACE/NAME; "": none */
};

/* Reads the node. ERR_GONE: there is no such node; ERR_BUSY: no answer; ERR_DENIED: we may not;
 * ERR_INVALID: what came makes no sense. Missing metrics are no error: the report tells that. */
int overcommit_cluster_read(
	const struct overcommit_cluster *c, const char *node, struct snapshot *s, struct err *e);

#endif
