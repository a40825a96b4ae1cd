/*
 * The port at which agents of nodes ask and report (--node-listen): HTTPS, for agents alone.
 *
 *     GET  /v1/node/orders?have=17    held for as long as its owner likes
 *     POST /v1/node/sample            a body of SAMPLE_BYTES_MAX at most
 *
 * net/http.h is the port, node_callers.h says who asks; net/certificate.h what it shows. An agent
 * needs two connections, for HTTP/1.1 has one question at a time on each. They are kept: a flood of
 * strangers ends none of them, and a node has eight, so a stolen agent ends no other's. An address
 * has 512 of the 4,096: it may be that of many nodes, where something on the way translates
 * addresses. Of 2,048 that wait to be let in, addresses have their turns (net/waiting_room.h), at a
 * hundred a second: beside strangers of 200 addresses an agent waits for two seconds at most.
 *
 * What is refused is counted by its reason, and logged once a minute and reason.
 */
#ifndef SLUICE_CONTROLLER_NODES_NODE_PORT_H
#define SLUICE_CONTROLLER_NODES_NODE_PORT_H

#include <stdint.h>

#include "base/err.h"
#include "base/slice.h"
#include "controller/common/log.h"
#include "controller/kube/client.h"
#include "controller/net/http.h"

struct node_port;

enum node_refusal {
	NODE_STRANGER,	 /* a token that the API server does not know for sluice-node, or none */
	NODE_NO_AGENT,	 /* the token of another user, or of no node */
	NODE_MALFORMED,	 /* no such question, or a body that is none */
	NODE_TOO_LONG,	 /* a body that is too long */
	NODE_TOO_MUCH,	 /* an agent that comes too often, or more than there is room for */
	NODE_OLD,	 /* a sample that is not newer than the last one */
	NODE_IMPOSSIBLE, /* a sample that says more than its node can have */
	NODE_REFUSALS,
};
extern const char *const node_refusal_names[NODE_REFUSALS]; /* "stranger" ... */

struct node_port_events {
	/* Take a question of the agent of a node, and answer it, there or later. have: the generation
	 * that it has; 0: none. body is valid during the call. */
	void (*asked)(struct http_question *q, const char *node, int64_t have, void *ctx);
	void (*reported)(struct http_question *q, const char *node, struct slice body, void *ctx);
	/* Tells that the port is about to close: no question may be answered any more. */
	void (*closing)(void *ctx);
	void *ctx;
};

struct node_port_options {
	struct ev_loop *loop;
	struct kube_client *client;
	struct log *log;
	const char *host; /* "": all addresses; borrowed, as all texts */
	uint16_t port;
	const char *address; /* by which agents come: a certificate that is made is for it */
	const char *certificate, *key; /* files; NULL: made here */
	struct node_port_events events;
};

/* Opens it. ERR_INVALID names the flag. */
int node_port_open(const struct node_port_options *o, struct node_port **ret, struct err *e);
void node_port_close(struct node_port *p); /* NULL is fine */

/* Looks at the files of the certificate, about once a second. tick_ms: of a clock that only goes
 * on. */
void node_port_tick(struct node_port *p, int64_t tick_ms);

/* Gives where it listens; 0: nowhere just now. */
uint16_t node_port_number(const struct node_port *p);
/* Gives the certificate that it shows, until the next tick. */
const char *node_port_certificate(const struct node_port *p);

/* Answers with an error, and counts it. node: whose agent it is; NULL: of none. */
void node_port_refuse(struct node_port *p, struct http_question *q, unsigned status,
	enum node_refusal why, const char *node, const char *sentence);
/* Counts what is refused, and logs it, without an answer. */
void node_port_count(struct node_port *p, const struct http_question *q, enum node_refusal why,
	const char *node, const char *sentence);
uint64_t node_port_refused(const struct node_port *p, enum node_refusal why);

#endif
