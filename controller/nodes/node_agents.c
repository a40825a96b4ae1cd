#include "controller/nodes/node_agents.h"

#include <ev.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/list.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/monotonic.h"
#include "controller/net/bucket.h"
#include "controller/net/http.h"
#include "controller/nodes/rendezvous.h"
#include "controller/nodes/sample_check.h"
#include "node/wire.h"

enum {
	HOLD_MS = 50000,
	HELD_EACH = 2,	    /* of one node: two agents, while one takes over from the other */
	FORGET_MS = 600000, /* an agent of a node that is not known any more */
	REFILL_MS = 100,    /* ten questions and ten samples a second of one node, */
	BURST = 40,	    /* and so many at once */
	TREE_MAX_BYTES = 64 * SAMPLE_BYTES_MAX,
};

/* A question for orders that waits. */
struct held {
	struct link link; /* agent->held, oldest first */
	struct http_question *question;
	int64_t have, until_ms;
};

struct agent {
	struct node_agent_view view;
	struct sample *newest; /* that was believed; NULL: none yet */
	/* The run of the agent, and its newest sample and deed, also of one that was not believed. */
	char boot[UID_TEXT_SIZE];
	int64_t number, deed;
	int64_t seen_ms; /* when it came last */
	struct bucket asks, reports;
	struct link held;
	char node[];
};

struct node_agents {
	struct node_agents_options options;
	struct node_port *port;
	struct rendezvous *rendezvous;
	struct map agents; /* by node */
	struct json *json;
	bool leads;
};

/* ---- agents ---------------------------------------------------------------------------------- */

static bool agent_has_node(const void *value, const void *key)
{
	return strcmp(((const struct agent *)value)->node, key) == 0;
}

static struct agent *find(const struct node_agents *a, const char *node)
{
	return map_get(&a->agents, map_hash_string(node), node);
}

static struct agent *find_or_add(struct node_agents *a, const char *node)
{
	struct agent *g = find(a, node);
	if (g)
		return g;
	size_t size = strlen(node) + 1;
	g = mem_alloc(sizeof(*g) + size);
	list_init(&g->held);
	memcpy(g->node, node, size);
	map_put(&a->agents, map_hash_string(node), g);
	return g;
}

static struct held *oldest_held(const struct agent *g)
{
	return container_of(g->held.next, struct held, link);
}

static void held_free(struct held *h)
{
	list_leave(&h->link);
	free(h);
}

static void forget_held(struct agent *g)
{
	list_each_entry_safe(&g->held, struct held, h, link)
		held_free(h);
}

static void agent_free(void *agent)
{
	struct agent *g = agent;
	forget_held(g);
	sample_free(g->newest);
	free(g);
}

/* ---- answers --------------------------------------------------------------------------------- */

static void answer_nothing(struct http_question *q)
{
	static const struct buf nothing;
	http_answer(q, (struct http_reply){204, "application/json"}, &nothing);
}

static void answer_orders(
	struct node_agents *a, struct http_question *q, const char *node, const struct orders *o)
{
	struct buf body;
	buf_init(&body, ORDERS_BYTES_MAX);
	wire_put_orders(o, &body);
	if (body.failed)
		node_port_refuse(a->port, q, 503, NODE_TOO_MUCH, node,
			"the orders of this node are too long to be sent: it has too many pods");
	else
		http_answer(q, (struct http_reply){200, "application/json"}, &body);
	buf_done(&body);
}

static void answer_not_now(const struct node_agents *a, struct http_question *q)
{
	http_answer_error(q, 503,
		a->leads ? "nothing is known of this node yet" : "another controller leads");
}

/* Answers a question that was held. */
static void release(struct node_agents *a, struct agent *g, struct held *h, const struct orders *o)
{
	struct http_question *q = h->question;
	held_free(h);
	if (!a->leads)
		answer_not_now(a, q);
	else if (o)
		answer_orders(a, q, g->node, o);
	else
		answer_nothing(q);
}

/* ---- who asks -------------------------------------------------------------------------------- */

/* Finds the agent that comes, and its orders. NULL: the question was answered. */
static struct agent *admit(struct node_agents *a, struct http_question *q, const char *node,
	bool asks, const struct orders **ret_orders)
{
	int64_t now_ms = monotonic_ms();
	*ret_orders = a->leads ? a->options.events.orders(node, a->options.events.ctx) : NULL;
	if (!*ret_orders) {
		answer_not_now(a, q);
		return NULL;
	}
	struct agent *g = find_or_add(a, node);
	g->seen_ms = now_ms;
	if (bucket_take(asks ? &g->asks : &g->reports, REFILL_MS, BURST, now_ms))
		return g;
	node_port_refuse(
		a->port, q, 429, NODE_TOO_MUCH, node, "an agent may come ten times a second");
	return NULL;
}

static void hold(struct node_agents *a, struct agent *g, struct http_question *q, int64_t have)
{
	if (list_count(&g->held) >= HELD_EACH)
		release(a, g, oldest_held(g), NULL);
	struct held *h = mem_alloc(sizeof(*h));
	*h = (struct held){.question = q, .have = have, .until_ms = monotonic_ms() + HOLD_MS};
	list_add(&g->held, &h->link);
}

static void on_asked(struct http_question *q, const char *node, int64_t have, void *ctx)
{
	struct node_agents *a = ctx;
	const struct orders *orders;
	struct agent *g = admit(a, q, node, true, &orders);
	if (!g)
		return;
	if (orders->generation != have)
		answer_orders(a, q, node, orders);
	else
		hold(a, g, q, have);
}

void node_agents_orders_changed(struct node_agents *a, const char *node)
{
	struct agent *g = a && a->leads ? find(a, node) : NULL;
	if (!g || list_empty(&g->held))
		return;
	const struct orders *orders = a->options.events.orders(node, a->options.events.ctx);
	if (!orders)
		return;
	list_each_entry_safe(&g->held, struct held, h, link)
		if (h->have != orders->generation)
			release(a, g, h, orders);
}

/* ---- who reports ----------------------------------------------------------------------------- */

static int64_t loop_ms(const struct node_agents *a)
{
	return (int64_t)(ev_now(a->options.port.loop) * 1000.0);
}

static bool is_same_run(const struct agent *g, const struct sample *s)
{
	return strcmp(g->boot, s->boot) == 0;
}

/* Takes what was done, and counts what was not told before. */
static void take_deeds(struct node_agents *a, struct agent *g, const struct sample *s)
{
	if (!is_same_run(g, s))
		g->deed = 0;
	memcpy(g->boot, s->boot, sizeof(g->boot));
	g->number = s->number;
	for (size_t i = 0; i < s->ndeeds; i++) {
		if (s->deeds[i].number <= g->deed)
			continue;
		g->deed = s->deeds[i].number;
		g->view.deeds[s->deeds[i].kind]++;
	}
	a->options.events.deeds(g->node, s, loop_ms(a), a->options.events.ctx);
}

/* Takes a sample, which is the agent's from now on. */
static void take(struct node_agents *a, struct agent *g, struct sample *s)
{
	sample_free(g->newest);
	g->newest = s;
	g->view.newest = s;
	g->view.at_ms = loop_ms(a);
	a->options.events.sample(g->node, s, g->view.at_ms, a->options.events.ctx);
}

/* Whether nothing is lent in this cluster: then nothing is known of its nodes either, nor wanted. */
static bool lends_nothing(const struct orders *o)
{
	return !o->lends && o->capacity.cpu_milli == 0;
}

/* Reads a sample that is newer than the last and may be true. NULL: the question was answered. What
 * was done is taken in any case: an agent does not tell it again once it has its answer. */
static struct sample *read_sample(struct node_agents *a, struct agent *g, struct http_question *q,
	struct slice body, struct load capacity)
{
	struct sample *s = NULL;
	struct err e = {""};
	if (wire_read_sample(a->json, body, &s, &e) != 0) {
		node_port_refuse(a->port, q, 400, NODE_MALFORMED, g->node, e.text);
	} else if (is_same_run(g, s) && s->number <= g->number) {
		node_port_count(a->port, q, NODE_OLD, g->node,
			"a sample is not newer than the last one of this agent");
		answer_nothing(q);
	} else {
		take_deeds(a, g, s);
		if (sample_check(s, capacity, &e) == 0)
			return s;
		node_port_refuse(a->port, q, 422, NODE_IMPOSSIBLE, g->node, e.text);
	}
	sample_free(s);
	return NULL;
}

static void on_reported(struct http_question *q, const char *node, struct slice body, void *ctx)
{
	struct node_agents *a = ctx;
	const struct orders *orders;
	struct agent *g = admit(a, q, node, false, &orders);
	if (!g)
		return;
	if (lends_nothing(orders)) {
		answer_nothing(q);
		return;
	}
	struct sample *s = read_sample(a, g, q, body, orders->capacity);
	if (!s) {
		g->view.dropped++;
		return;
	}
	answer_nothing(q);
	take(a, g, s);
}

/* ---- time ------------------------------------------------------------------------------------ */

/* Ends what is held too long, or for nobody. */
static void look_at_held(struct node_agents *a, struct agent *g, int64_t now_ms)
{
	list_each_entry_safe(&g->held, struct held, h, link)
		if (now_ms >= h->until_ms || http_gone(h->question))
			release(a, g, h, NULL);
}

/* Forgets an agent of a node that is not known any more. One a look: they are few. */
static void forget_one(struct node_agents *a, int64_t now_ms)
{
	struct agent *g, *found = NULL;
	map_each(&a->agents, i, g)
		if (now_ms - g->seen_ms >= FORGET_MS && list_empty(&g->held) &&
			!a->options.events.orders(g->node, a->options.events.ctx))
			found = g;
	if (!found)
		return;
	map_take(&a->agents, map_hash_string(found->node), found->node);
	agent_free(found);
}

/* Forgets all agents: another controller leads. */
static void resign(struct node_agents *a)
{
	struct agent *g;
	a->leads = false;
	map_each(&a->agents, i, g)
		list_each_entry_safe(&g->held, struct held, h, link)
			release(a, g, h, NULL);
	map_free(&a->agents, agent_free);
	map_init(&a->agents, agent_has_node);
	rendezvous_pause(a->rendezvous);
}

void node_agents_tick(struct node_agents *a, bool leads, int64_t tick_ms)
{
	struct agent *g;
	if (!a)
		return;
	node_port_tick(a->port, tick_ms);
	if (!leads) {
		if (a->leads)
			resign(a);
		return;
	}
	a->leads = true;
	map_each(&a->agents, i, g) {
		look_at_held(a, g, monotonic_ms());
		/* Where nothing was lent no orders were kept, and nobody tells that there are some. */
		node_agents_orders_changed(a, g->node);
	}
	forget_one(a, monotonic_ms());
	uint16_t port = node_port_number(a->port);
	if (port)
		rendezvous_tick(a->rendezvous, port, node_port_certificate(a->port), tick_ms);
}

/* ---- what is known --------------------------------------------------------------------------- */

bool node_agents_view(const struct node_agents *a, const char *node, struct node_agent_view *ret)
{
	const struct agent *g = a ? find(a, node) : NULL;
	if (!g)
		return false;
	*ret = g->view;
	return true;
}

uint64_t node_agents_refused(const struct node_agents *a, enum node_refusal why)
{
	return a ? node_port_refused(a->port, why) : 0;
}

/* ---- its life -------------------------------------------------------------------------------- */

/* Forgets what is held: the port ends it. */
static void on_closing(void *ctx)
{
	struct node_agents *a = ctx;
	struct agent *g;
	map_each(&a->agents, i, g)
		forget_held(g);
}

int node_agents_open(const struct node_agents_options *o, struct node_agents **ret, struct err *e)
{
	struct node_agents *a = mem_alloc(sizeof(*a));
	struct node_port_options port = o->port;
	struct rendezvous_options rendezvous = {.client = port.client,
		.log = port.log,
		.namespace_name = o->namespace_name,
		.address = port.address,
		.seed = o->seed};
	a->options = *o;
	map_init(&a->agents, agent_has_node);
	port.events = (struct node_port_events){on_asked, on_reported, on_closing, a};
	int rc = node_port_open(&port, &a->port, e);
	if (rc) {
		free(a);
		return rc;
	}
	a->json = json_new(TREE_MAX_BYTES);
	a->rendezvous = rendezvous_new(&rendezvous);
	*ret = a;
	return 0;
}

void node_agents_close(struct node_agents *a)
{
	if (!a)
		return;
	node_port_close(a->port);
	rendezvous_free(a->rendezvous);
	map_free(&a->agents, agent_free);
	json_free(a->json);
	free(a);
}
