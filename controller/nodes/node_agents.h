/*
 * The agents of nodes (sluice-node, docs/idle.md), as the leader sees them: who has reported what,
 * and who waits for which orders.
 *
 *     sluice-node  -- GET /v1/node/orders?have=17 (held, 50 s at most) -->  orders, when they differ
 *                  -- POST /v1/node/sample                            -->  204
 *
 * node_port.h is the port, node_callers.h says of which node a token is, rendezvous.h tells agents
 * where the leader is. This module joins them, and knows nothing of lending: whose pods are lent
 * and what a sample is good for is its owner's affair (controller/overcommit).
 *
 * Only the leader answers. Another replica, and one that does not know the cluster yet, says 503.
 * An agent speaks for the node of its token alone. A sample that is not newer than the last of the
 * same run of that agent is dropped, and counted; so is one that says more than its node can have.
 */
#ifndef SLUICE_CONTROLLER_NODES_NODE_AGENTS_H
#define SLUICE_CONTROLLER_NODES_NODE_AGENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "controller/common/log.h"
#include "controller/kube/client.h"
#include "node/orders.h"
#include "node/sample.h"

struct ev_loop;
struct node_agents;

/* What the owner answers, from the loop. */
struct node_agents_events {
	/* Gives the orders of a node. NULL: nothing is known of it yet, and the agent is told to wait
	 * (503). Borrowed until the next call. */
	const struct orders *(*orders)(const char *node, void *ctx);
	/* Takes a sample, which is the newest of its node; valid during the call. now_ms: the clock
	 * on the wall. */
	void (*sample)(const char *node, const struct sample *s, int64_t now_ms, void *ctx);
	void *ctx;
};

struct node_agents_options {
	struct ev_loop *loop;
	struct kube_client *client;
	struct log *log;
	const char *listen;	    /* --node-listen; borrowed */
	const char *address;	    /* an IP address of this replica, told to agents; borrowed */
	const char *namespace_name; /* of the ConfigMap sluice-nodes; borrowed */
	/* Files of the certificate to show, and its key; NULL: one is made. Borrowed. */
	const char *certificate, *key;
	struct node_agents_events events;
	uint64_t seed;
};

/* Opens the port. ERR_INVALID names the flag. */
int node_agents_open(const struct node_agents_options *o, struct node_agents **ret, struct err *e);
void node_agents_close(struct node_agents *a); /* NULL is fine */

/* Goes on, about once a second: holds that are over, the rendezvous while it leads. tick_ms: of a
 * clock that only goes on. NULL is fine. */
void node_agents_tick(struct node_agents *a, bool leads, int64_t now_ms, int64_t tick_ms);

/* Tells that the orders of a node are other ones now: who waits for them is answered. NULL is
 * fine. */
void node_agents_orders_changed(struct node_agents *a, const char *node);

/* What is known of the agent of a node. */
struct node_agent_view {
	int64_t at_ms;		     /* when its newest sample came; 0: never since this leader began */
	const struct sample *newest; /* or NULL; borrowed until the loop goes on */
	uint64_t ended, undone, dropped; /* deeds of those kinds, and samples that were dropped */
	uint64_t limited, held, refused; /* deeds of those kinds */
};
/* False: none has asked or reported. a NULL is fine. */
bool node_agents_view(const struct node_agents *a, const char *node, struct node_agent_view *ret);
/* Counts agents that have reported since this leader began. */
size_t node_agents_count(const struct node_agents *a);
void node_agents_forget(struct node_agents *a, const char *node); /* the node is gone */

#endif
