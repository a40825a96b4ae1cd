#include "controller/nodes/node_port.h"

#include <ev.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/monotonic.h"
#include "base/must.h"
#include "controller/net/certificate.h"
#include "controller/nodes/node_callers.h"
#include "node/sample.h"

#define ORDERS_PATH "/v1/node/orders"
#define SAMPLE_PATH "/v1/node/sample"

enum {
	CONNECTIONS_MAX = 4096,
	CONNECTIONS_EACH = 512,
	WAITING_MAX = 2048,	/* to be let in: two of each agent of 1,000 nodes */
	CONNECTIONS_NODE = 8,	/* two agents while one takes over, and those that they have lost */
	FILES_OF_OTHERS = 2048, /* other ports, requests, the ledger; and connections that end */
	HEAD_MAX_BYTES = 4096,	/* an agent's token has 1,200; a connection costs this and 12 KB */
	LOOK_MS = 60000,
};

const char *const node_refusal_names[NODE_REFUSALS] = {
	[NODE_STRANGER] = "stranger",
	[NODE_NO_AGENT] = "no-agent",
	[NODE_MALFORMED] = "malformed",
	[NODE_TOO_LONG] = "too-long",
	[NODE_TOO_MUCH] = "too-much",
	[NODE_OLD] = "old",
	[NODE_IMPOSSIBLE] = "impossible",
};

struct node_port {
	struct node_port_options options;
	struct node_callers *callers;
	struct certificate *certificate;
	struct http *http; /* NULL: closed */
	bool outdated;	   /* it is to be opened with another certificate */
	int64_t look_ms;
	unsigned connections;
	uint64_t refused[NODE_REFUSALS];
	int64_t said_ms[NODE_REFUSALS];
	uint64_t said[NODE_REFUSALS]; /* how many had been refused then */
	char trouble[LOG_TROUBLE_MAX];
};

/* ---- what is refused ------------------------------------------------------------------------- */

void node_port_count(struct node_port *p, const struct http_question *q, enum node_refusal why,
	const char *node, const char *sentence)
{
	char from[HTTP_CLIENT_SIZE];
	p->refused[why]++;
	if (!log_again(&p->said_ms[why], monotonic_ms()))
		return;
	http_client(q, from);
	log_event(p->options.log, LEVEL_WARN, "agent-refused", "reason", node_refusal_names[why],
		"node", node, "from", from, "why", sentence, "#times",
		LOG_NUMBER((int64_t)(p->refused[why] - p->said[why])), NULL);
	p->said[why] = p->refused[why];
}

uint64_t node_port_refused(const struct node_port *p, enum node_refusal why)
{
	return p->refused[why];
}

static enum node_refusal reason_of(unsigned status)
{
	switch (status) {
	case 401:
		return NODE_STRANGER;
	case 403:
		return NODE_NO_AGENT;
	case 413:
		return NODE_TOO_LONG;
	case 429:
	case 503:
		return NODE_TOO_MUCH;
	default:
		return NODE_MALFORMED;
	}
}

static void on_refused(
	const struct http_question *q, unsigned status, const char *sentence, void *ctx)
{
	node_port_count(ctx, q, reason_of(status), NULL, sentence);
}

void node_port_refuse(struct node_port *p, struct http_question *q, unsigned status,
	enum node_refusal why, const char *node, const char *sentence)
{
	node_port_count(p, q, why, node, sentence);
	http_answer_error(q, status, sentence);
}

static void put_refusal(const struct right *r, struct buf *out)
{
	(void)r;
	buf_puts(out,
		"this token is of no agent: it must be of ServiceAccount " NODE_CALLERS_ACCOUNT
		" in namespace " NODE_CALLERS_NAMESPACE
		", in a pod on a node that the API server names (Kubernetes 1.32 and newer do)");
}

/* ---- who asks, and what ---------------------------------------------------------------------- */

static struct http_rights rights(const struct http_question *q, const char *path)
{
	(void)q;
	(void)path;
	return (struct http_rights){.must = {"report", "", "nodes", ""}};
}

static enum auth_verdict on_ask(const struct auth_caller *caller, const struct right *right,
	auth_verdict_fn *fn, void *fn_ctx, void *ctx)
{
	struct node_port *p = ctx;
	(void)right;
	if (caller->as) /* an agent names no user */
		return AUTH_REFUSED;
	return node_callers_ask(p->callers, caller, monotonic_ms(), fn, fn_ctx);
}

/* Reads the generation that an agent has; 0: none. */
static int64_t have_of(const struct http_question *q)
{
	const char *text = http_param(q, "have");
	char *end = NULL;
	long long n = text ? strtoll(text, &end, 10) : 0;
	return text && *end == '\0' && n > 0 ? n : 0;
}

/* Takes a question of a caller that is an agent. */
static bool on_question(struct http_question *q, const char *path, void *ctx)
{
	struct node_port *p = ctx;
	const struct node_port_events *to = &p->options.events;
	struct auth_caller caller;
	http_caller(q, &caller);
	const char *node = node_callers_node(p->callers, caller.token);
	if (!node) {
		node_port_refuse(p, q, 503, NODE_TOO_MUCH, NULL,
			"too many agents are known: ask again in a second");
		return true;
	}
	http_keep(q, map_hash_string(node));
	http_tag(q, "");
	if (strcmp(path, SAMPLE_PATH) == 0)
		to->reported(q, node, http_body(q), to->ctx);
	else if (strcmp(path, ORDERS_PATH) == 0)
		to->asked(q, node, have_of(q), to->ctx);
	else
		node_port_refuse(p, q, 404, NODE_MALFORMED, node,
			"here are GET " ORDERS_PATH " and POST " SAMPLE_PATH);
	return true;
}

/* ---- the port -------------------------------------------------------------------------------- */

/* Lets this process open as many files as it may, and gives how many connections that allows. */
static unsigned room_for_connections(struct log *log)
{
	struct rlimit files;
	must(getrlimit(RLIMIT_NOFILE, &files) == 0);
	rlim_t wanted = CONNECTIONS_MAX + WAITING_MAX + FILES_OF_OTHERS;
	if (files.rlim_cur < wanted) {
		files.rlim_cur = files.rlim_max < wanted ? files.rlim_max : wanted;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	if (files.rlim_cur >= wanted)
		return CONNECTIONS_MAX;
	unsigned room = (unsigned)files.rlim_cur / 4;
	log_event(log, LEVEL_WARN, "few-files", "#files", LOG_NUMBER((int64_t)files.rlim_cur),
		"effect", "fewer agents of nodes can be connected", "#connections",
		LOG_NUMBER(room), "cure", "raise the limit of open files (LimitNOFILE) to 8192",
		NULL);
	return room;
}

static int listen_anew(struct node_port *p, struct err *e)
{
	unsigned each = p->connections < CONNECTIONS_EACH ? p->connections : CONNECTIONS_EACH;
	struct listener_pace pace = HTTP_TLS_PACE;
	pace.room = p->connections < WAITING_MAX ? p->connections : WAITING_MAX;
	struct http_options o = {
		.host = p->options.host,
		.port = p->options.port,
		.flag = "node-listen",
		.trust_nobody = true,
		.limits = {p->connections, each, 10000, 60000, CONNECTIONS_NODE},
		.clients_stay = true,
		.head_max_bytes = HEAD_MAX_BYTES,
		.posts = {SAMPLE_PATH, SAMPLE_BYTES_MAX},
		.pace = pace,
		.tls = certificate_tls(p->certificate),
		.rights = rights,
		.defer = on_question,
		.refused = on_refused,
		.put_refusal = put_refusal,
		.ask = on_ask,
		.ctx = p,
	};
	int rc = http_new(p->options.loop, &o, &p->http, e);
	if (rc == 0)
		log_event(p->options.log, LEVEL_INFO, "listening", "address", p->options.host,
			"#port", LOG_NUMBER(http_port(p->http)), "for", "agents of nodes", "scheme",
			"https", NULL);
	return rc;
}

static void close_port(struct node_port *p)
{
	if (!p->http)
		return;
	p->options.events.closing(p->options.events.ctx);
	node_callers_drop(p->callers);
	http_free(p->http);
	p->http = NULL;
}

void node_port_tick(struct node_port *p, int64_t tick_ms)
{
	struct err e = {""};
	if (tick_ms >= p->look_ms) {
		p->look_ms = tick_ms + LOOK_MS;
		p->outdated |= certificate_look(p->certificate);
	}
	if (!p->outdated)
		return;
	close_port(p);
	if (listen_anew(p, &e) != 0) {
		log_trouble(p->options.log, p->trouble, "not-listening", e.text,
			"agents of nodes go on by their last orders; it is tried again");
		return;
	}
	p->trouble[0] = '\0';
	p->outdated = false;
}

uint16_t node_port_number(const struct node_port *p)
{
	return p->http ? http_port(p->http) : 0;
}

const char *node_port_certificate(const struct node_port *p)
{
	return certificate_tls(p->certificate)->certificate;
}

/* ---- its life -------------------------------------------------------------------------------- */

static int get_certificate(struct node_port *p, struct err *e)
{
	const struct node_port_options *o = &p->options;
	struct certificate_options certificate = {.log = o->log,
		.files = {"--node-cert-file", "--node-key-file", o->certificate, o->key},
		.names = &o->address,
		.nnames = 1,
		.flag = "--node-listen",
		.effect = "the port of --node-listen stays as it is; the files are read again"};
	return certificate_new(&certificate, &p->certificate, e);
}

int node_port_open(const struct node_port_options *o, struct node_port **ret, struct err *e)
{
	struct node_port *p = mem_alloc(sizeof(*p));
	p->options = *o;
	p->callers = node_callers_new(o->client, o->log);
	p->connections = room_for_connections(o->log);
	int rc = get_certificate(p, e);
	if (rc == 0)
		rc = listen_anew(p, e);
	if (rc) {
		node_port_close(p);
		return rc;
	}
	*ret = p;
	return 0;
}

void node_port_close(struct node_port *p)
{
	if (!p)
		return;
	close_port(p);
	node_callers_free(p->callers);
	certificate_free(p->certificate);
	free(p);
}
