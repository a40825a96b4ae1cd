/*
 * The orders of nodes (node/orders.h), made of the inventory and of each node's strategy, and kept
 * up to date for those whose agents ask for them. A cluster without agents has none.
 *
 * They are made anew
 *   - in the call of the watch in which a lent pod is bound, changes or goes, so that its limits
 *     are at its node before its first process is;
 *   - when the node or its strategy says something else, at the next tick;
 *   - each ten seconds, because the order of pods hangs on what their Jobs do; each two while the
 *     node uses memory from memoryEvictThresholdPercent on.
 *
 * Pods on their way out come first, and then the order is that of reclaim_compare(). It goes by
 * what pods use only while memory is that short, and by what they ask for else: so a calm node does
 * not get the same orders in another order each second.
 *
 * A tenant may ask for as much, and in as many containers, as he likes. So a pod counts as asking for
 * its node at most. Pods beyond ORDERS_CONTAINERS_ALL are named without their containers. Of more
 * pods than ORDERS_PODS_MAX the oldest are named that their kubelet has taken.
 *
 * The generation is a sum of the content. So it changes when, and only when, something else does,
 * and another leader that says the same says it under the same number.
 */
#ifndef SLUICE_CONTROLLER_OVERCOMMIT_NODE_ORDERS_H
#define SLUICE_CONTROLLER_OVERCOMMIT_NODE_ORDERS_H

#include <stdint.h>

#include "controller/overcommit/inventory.h"
#include "node/orders.h"
#include "sluice/queue.h"

struct node_orders;

struct node_orders_options {
	const struct inventory *inventory;
	const struct queue *queue;
	/* The orders of a node are others now, or there are none any more. */
	void (*changed)(const char *node, void *ctx);
	void *ctx;
};

struct node_orders *node_orders_new(const struct node_orders_options *o);
void node_orders_free(struct node_orders *m);

/* Gives the orders of a node, and keeps them up from now on. NULL: no strategy was found for it
 * yet. Borrowed until its orders change. */
const struct orders *node_orders_of(
	struct node_orders *m, const struct inventory_node *n, int64_t now_ms);

/* Gives those of all nodes where no configuration lends: nothing is known of a node then. */
const struct orders *node_orders_off(void);

/* Looks at a node whose lent pods changed. */
void node_orders_look(struct node_orders *m, const struct inventory_node *n, int64_t now_ms);

/* Looks at what is due, about once a second. Orders of nodes that are gone are dropped. */
void node_orders_tick(struct node_orders *m, int64_t now_ms);

/* Whether a generation is that of what is ordered of the node now. */
bool node_orders_is(
	const struct node_orders *m, const struct inventory_node *n, int64_t generation);

/* Counts nodes whose orders are kept up. */
size_t node_orders_count(const struct node_orders *m);

#endif
