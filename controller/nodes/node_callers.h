/*
 * Callers: of which node is the agent that shows this token?
 *
 * An agent shows a projected token for the audience sluice-node, which no API server takes. A
 * TokenReview says that it is of the ServiceAccount sluice-node in namespace sluice-node, and to
 * which node its pod is bound (authentication.kubernetes.io/node-name, Kubernetes 1.32 and newer).
 * So an agent speaks for its own node alone.
 *
 * No token is kept, only a keyed hash of it (as in net/auth.h). An agent is remembered for ten
 * minutes at most: so long a token that was taken back is believed. What is no token of an agent is
 * not remembered.
 *
 * Strangers must not be able to make it ask much, nor keep agents out:
 *
 * - a token that is not known costs a question, and one that is bad its connection (http.h). So the
 *   pace at which the port lets clients in bounds the questions, and addresses have turns there
 *   (net/waiting_room.h): none is taken from an agent here;
 * - one question is asked of a token, however many requests wait for its answer;
 * - questions wait for each other, 256 at most, and go out behind everything else that the
 *   controller sends (kube_request.last). Beyond that the verdict is AUTH_UNKNOWN: try again in a
 *   second.
 */
#ifndef SLUICE_CONTROLLER_NODES_NODE_CALLERS_H
#define SLUICE_CONTROLLER_NODES_NODE_CALLERS_H

#include <stdint.h>

#include "controller/common/log.h"
#include "controller/kube/client.h"
#include "controller/net/auth.h"

#define NODE_CALLERS_NAMESPACE "sluice-node"
#define NODE_CALLERS_ACCOUNT "sluice-node"
#define NODE_CALLERS_AUDIENCE "sluice-node"

enum { NODE_NAME_SIZE = 254 };

struct node_callers;

struct node_callers *node_callers_new(struct kube_client *client, struct log *log);
/* Frees it; questions that are under way get no answer. NULL is fine. */
void node_callers_free(struct node_callers *c);
/* Drops the questions that are under way: those who ask will be there no more. */
void node_callers_drop(struct node_callers *c);

/* Asks whose token it is: AUTH_ALLOWED, an agent; AUTH_STRANGER, no token that the API server knows
 * for this audience; AUTH_REFUSED, of another user, or of a pod that is bound to no node. Only
 * AUTH_LATER is followed by one call of fn, from the loop. now_ms is of a clock that only goes on. */
enum auth_verdict node_callers_ask(struct node_callers *c, const struct auth_caller *caller,
	int64_t now_ms, auth_verdict_fn *fn, void *ctx);

/* Gives the node of an agent that was let in before. NULL: the token is not known any more. Borrowed
 * until the next question. */
const char *node_callers_node(const struct node_callers *c, const char *token);

#endif
