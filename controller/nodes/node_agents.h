/*
 * The agents of nodes (sluice-node, docs/idle.md), as the leader sees them: who has reported what,
 * and who waits for which orders.
 *
 *     GET /v1/node/orders?have=17   200 and orders, when they are others than 17; 204 after 50 s
 *     POST /v1/node/sample          204; also where it is known already, and is not taken again
 *
 * Else an agent is told why not: 400 (it cannot be read) and 422 (it cannot be true), which are not
 * to be sent again; 429, it comes too often; 503, another replica leads, or nothing is known of the
 * node yet.
 *
 * node_port.h is the port, node_callers.h says of which node a token is, rendezvous.h tells agents
 * where the leader is. This module joins them, and knows nothing of lending: whose pods are lent
 * and what a sample is good for is its owner's affair (controller/overcommit).
 *
 * Always true:
 *   - only the leader answers, and what is known of agents is of its time alone;
 *   - an agent speaks for the node of its token alone;
 *   - a sample that is not newer than the last of the same run of that agent is dropped, and
 *     counted; so is one that says more than its node can have (sample_check.h). A deed is counted
 *     once, however often it is told.
 */
#ifndef SLUICE_CONTROLLER_NODES_NODE_AGENTS_H
#define SLUICE_CONTROLLER_NODES_NODE_AGENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "controller/common/log.h"
#include "controller/kube/client.h"
#include "controller/nodes/node_agent_view.h"
#include "controller/nodes/node_port.h"
#include "node/orders.h"
#include "node/sample.h"

struct node_agents;

/* What the owner answers, from the loop. */
struct node_agents_events {
	/* Gives the orders of a node. NULL: nothing is known of it yet, and the agent is told to wait
	 * (503). Borrowed until the next call. */
	const struct orders *(*orders)(const char *node, void *ctx);
	/* Takes the deeds of a sample, of which nothing else is to be believed. Before sample(). */
	void (*deeds)(const char *node, const struct sample *s, int64_t now_ms, void *ctx);
	/* Takes a sample, which is the newest of its node; valid during the call. now_ms: the clock
	 * on the wall. */
	void (*sample)(const char *node, const struct sample *s, int64_t now_ms, void *ctx);
	void *ctx;
};

/* Texts are borrowed as long as there are the agents. */
struct node_agents_options {
	struct node_port_options port; /* but for its events; address is told to agents, too */
	const char *namespace_name;    /* of the ConfigMap sluice-nodes */
	struct node_agents_events events;
	uint64_t seed;
};

/* Opens the port. ERR_INVALID names the flag. */
int node_agents_open(const struct node_agents_options *o, struct node_agents **ret, struct err *e);
void node_agents_close(struct node_agents *a); /* NULL is fine */

/* Goes on, about once a second: holds that are over, the rendezvous while it leads. tick_ms: of a
 * clock that only goes on. NULL is fine. */
void node_agents_tick(struct node_agents *a, bool leads, int64_t tick_ms);

/* Tells that the orders of a node are other ones now: who waits for them is answered. NULL is
 * fine. */
void node_agents_orders_changed(struct node_agents *a, const char *node);

/* Gives what is known of the agent of a node. False: it has neither asked nor reported. a NULL is
 * fine. */
bool node_agents_view(const struct node_agents *a, const char *node, struct node_agent_view *ret);
/* Counts what was refused since this process began. NULL is fine. */
uint64_t node_agents_refused(const struct node_agents *a, enum node_refusal why);

#endif
