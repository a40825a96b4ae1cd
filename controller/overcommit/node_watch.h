/*
 * The node watch: follows the Nodes of the cluster, and the Pods on them, into the inventory.
 *
 * It subscribes, when it is wanted, to the two watches that it shares with the queue
 * (controller/watch/bound_pods.h): a cluster without lending has neither watch for it.
 */
#ifndef SLUICE_CONTROLLER_OVERCOMMIT_NODE_WATCH_H
#define SLUICE_CONTROLLER_OVERCOMMIT_NODE_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "controller/kube/shared_watch.h"
#include "controller/common/log.h"
#include "controller/overcommit/inventory.h"

struct node_watch;

/* Makes a node watch. pods: those that are bound and have not ended. */
struct node_watch *node_watch_new(struct kube_shared_watch *nodes, struct kube_shared_watch *pods,
	struct inventory *inventory, struct log *log);
void node_watch_free(struct node_watch *c);

void node_watch_want(struct node_watch *c, bool nodes, bool pods);
bool node_watch_has_nodes(const struct node_watch *c); /* a list of them is complete */
bool node_watch_has_pods(const struct node_watch *c);

/* Counts objects that could not be understood, so far. */
uint64_t node_watch_unreadable(const struct node_watch *c);

#endif
