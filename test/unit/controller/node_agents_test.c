/*
 * The port of the agents of nodes: orders and samples over HTTPS on loopback, against an API server
 * that does as it is told; and callers who want more than they may. Time is the test's.
 */
#include "controller/nodes/node_agents.h"

#include "base/monotonic.h"
#include "node/wire.h"
#include "test/unit/kube/scripted_server.h"
#include "test/unit/kube/test.h"
#include "tls_client.h"

#include <sys/resource.h>

#define TOKENS "POST /apis/authentication.k8s.io/v1/tokenreviews"
#define CONFIGMAP "/api/v1/namespaces/sluice-system/configmaps/sluice-nodes"
#define BOOT "11111111-1111-4111-8111-111111111111"
#define OTHER_BOOT "22222222-2222-4222-8222-222222222222"
#define POD "33333333-3333-4333-8333-333333333333"

static int64_t ahead_us;
int64_t __real_monotonic_us(void);
int64_t __wrap_monotonic_us(void);
int64_t __wrap_monotonic_us(void)
{
	return __real_monotonic_us() + ahead_us;
}

/* ---- the owner ------------------------------------------------------------------------------- */

static struct {
	struct orders orders; /* of node "one"; generation 0: not known */
	struct ordered_pod pod;
	bool knows_two;
	unsigned asked, samples, deeds;
	char node[64]; /* of the last sample */
	int64_t number, cpu_milli, at_ms;
} owner;

static const struct orders *orders_of(const char *node, void *ctx)
{
	(void)ctx;
	owner.asked++;
	bool known = strcmp(node, "one") == 0 || (owner.knows_two && strcmp(node, "two") == 0);
	return known && owner.orders.generation ? &owner.orders : NULL;
}

static void on_deeds(const char *node, const struct sample *s, int64_t now_ms, void *ctx)
{
	(void)node;
	(void)ctx;
	assert_true(now_ms > 0);
	owner.deeds += (unsigned)s->ndeeds;
}

static void on_sample(const char *node, const struct sample *s, int64_t now_ms, void *ctx)
{
	(void)ctx;
	owner.samples++;
	snprintf(owner.node, sizeof(owner.node), "%s", node);
	owner.number = s->number;
	owner.cpu_milli = s->used.cpu_milli;
	owner.at_ms = now_ms;
}

struct stage {
	struct ev_loop *loop;
	struct scripted_server *server;
	struct kube_config *config;
	struct kube_client *client;
	struct log *log;
	FILE *written;
	struct node_agents *agents;
	int64_t tick_ms;
	const char *certificate, *key;
};

static void stage_begin(struct stage *s)
{
	struct node_agents_options o = {
		.port = {.loop = s->loop,
			.client = s->client,
			.log = s->log,
			.host = "127.0.0.1",
			.address = "127.0.0.1",
			.certificate = s->certificate,
			.key = s->key},
		.namespace_name = "sluice-system",
		.events = {orders_of, on_deeds, on_sample, NULL},
		.seed = 7,
	};
	struct err e = {""};
	if (node_agents_open(&o, &s->agents, &e) != 0)
		fail_msg("%s", e.text);
}

static void stage_prepare(struct stage *s)
{
	ahead_us = 0;
	memset(&owner, 0, sizeof(owner));
	owner.orders = (struct orders){.generation = 17,
		.lends = true,
		.capacity = {8000, INT64_C(16) << 30},
		.pods = &owner.pod,
		.npods = 1};
	uid_parse(POD, &owner.pod.uid);
	owner.pod.asked = (struct load){1500, 1 << 30};
	*s = (struct stage){.loop = ev_loop_new(EVFLAG_AUTO), .written = tmpfile()};
	s->server = scripted_server_new(s->loop);
	s->config = config_for(scripted_server_url(s->server), NULL);
	s->client = kube_client_new(s->loop, s->config, &(struct kube_client_options){0});
	s->log = log_new(fileno(s->written), LOG_JSON, LEVEL_INFO);
}

static void expect(struct stage *s, const char *line, const char *body)
{
	script_answer(scripted_server_expect(s->server, line), 200,
		"Content-Type: application/json\r\n", body);
}

static void leads(struct stage *s, bool leads)
{
	if (leads && s->tick_ms == 0) {
		expect(s, "GET " CONFIGMAP, "{}");
		expect(s, "PATCH " CONFIGMAP, "{}");
	}
	node_agents_tick(s->agents, leads, ++s->tick_ms);
}

static void settle(struct stage *s)
{
	const struct kube_client_stats *stats = kube_client_stats(s->client);
	run_until(s->loop, stats->in_flight + stats->queued == 0);
}

static void stage_open(struct stage *s)
{
	stage_prepare(s);
	stage_begin(s);
	leads(s, true);
	settle(s);
}

static void stage_close(struct stage *s)
{
	assert_int_equal(scripted_server_unexpected(s->server), 0);
	assert_int_equal(scripted_server_unused(s->server), 0);
	node_agents_close(s->agents);
	kube_client_free(s->client);
	kube_config_free(s->config);
	scripted_server_free(s->server);
	ev_loop_destroy(s->loop);
	log_free(s->log);
	fclose(s->written);
}

/* How often the log has said it. */
static size_t said(struct stage *s, const char *words)
{
	static char text[1 << 16];
	size_t n = 0;
	ssize_t len = pread(fileno(s->written), text, sizeof(text) - 1, 0);
	text[len > 0 ? len : 0] = '\0';
	for (const char *p = text; (p = strstr(p, words)); p++)
		n++;
	return n;
}

/* Where agents are told to come: what the leader wrote last. */
static uint16_t told_port(struct stage *s)
{
	for (size_t i = scripted_server_count(s->server); i > 0; i--) {
		const struct scripted_request *r = scripted_server_request(s->server, i - 1);
		const char *at = strstr(r->line, "PATCH " CONFIGMAP)
					 ? strstr(r->body, "\"address\":\"127.0.0.1:")
					 : NULL;
		if (at)
			return (uint16_t)atoi(strchr(strchr(at, ':') + 1, ':') + 1);
	}
	fail_msg("nothing was told");
	return 0;
}

/* ---- an agent -------------------------------------------------------------------------------- */

static void agent_open(struct client *c, struct stage *s)
{
	client_open(c, s->loop, told_port(s), NULL, NULL);
}

static void agent_say(struct client *c, const char *text, size_t len)
{
	ssize_t n;
	while (len > 0) {
		n = gnutls_record_send(c->session, text, len);
		if (n > 0)
			text += n, len -= (size_t)n;
		else if (!client_waits(c, n))
			fail_msg("%s", gnutls_strerror((int)n));
	}
}

static void agent_ask(struct client *c, const char *token, const char *line, const char *body)
{
	struct buf text;
	buf_init(&text, 1 << 20);
	buf_printf(&text, "%s HTTP/1.1\r\nHost: x\r\n", line);
	if (token)
		buf_printf(&text, "Authorization: Bearer %s\r\n", token);
	if (body)
		buf_printf(&text, "Content-Length: %zu\r\n", strlen(body));
	buf_printf(&text, "\r\n%s", body ? body : "");
	agent_say(c, buf_text(&text), text.len);
	buf_done(&text);
}

/* Waits for an answer. 0: the port closed the connection. */
static int agent_hear(struct client *c, char *ret, size_t size)
{
	size_t len = 0;
	ret[0] = '\0';
	while (!answer_is_whole(ret, len) && strncmp(ret, "HTTP/1.1 204", 12) != 0) {
		ssize_t n = gnutls_record_recv(c->session, ret + len, size - 1 - len);
		if (n > 0)
			len += (size_t)n;
		else if (n == 0 || !client_waits(c, n))
			return 0;
		ret[len] = '\0';
	}
	return atoi(ret + 9);
}

static bool agent_has_heard(struct client *c)
{
	for (int i = 0; i < 20; i++)
		ev_run(c->loop, EVRUN_NOWAIT);
	struct pollfd wait = {.fd = c->fd, .events = POLLIN};
	return gnutls_record_check_pending(c->session) > 0 || poll(&wait, 1, 10) == 1;
}

static void expect_token(struct stage *s, const char *node)
{
	char body[512];
	snprintf(body, sizeof(body),
		"{\"status\":{\"authenticated\":true,\"audiences\":[\"sluice-node\"],\"user\":{\"username\":"
		"\"system:serviceaccount:sluice-node:sluice-node\",\"extra\":{"
		"\"authentication.kubernetes.io/node-name\":[\"%s\"]}}}}",
		node);
	expect(s, TOKENS, body);
}

/* A new agent of a node, whose token is the node's name. */
static void agent_of(struct client *c, struct stage *s, const char *node)
{
	agent_open(c, s);
	expect_token(s, node);
}

/* After a refusal, which has ended its connection. */
static void come_again(struct client *c, struct stage *s)
{
	char text[16];
	assert_int_equal(agent_hear(c, text, sizeof(text)), 0);
	client_close(c);
	agent_open(c, s);
}

static int ask(struct client *c, const char *node, int64_t have, char *ret, size_t size)
{
	char line[100];
	snprintf(line, sizeof(line), "GET /v1/node/orders?have=%lld", (long long)have);
	agent_ask(c, node, line, NULL);
	return ret ? agent_hear(c, ret, size) : 0;
}

/* Asks for other orders than these, and waits until the port has the question. */
static void ask_and_wait(struct client *c, const char *node, int64_t have)
{
	unsigned before = owner.asked;
	ask(c, node, have, NULL, 0);
	run_until(c->loop, owner.asked > before);
}

static const char *sample_text(const char *boot, int64_t number, int64_t cpu_milli)
{
	static char text[1000];
	snprintf(text, sizeof(text),
		"{\"boot\":\"%s\",\"number\":%lld,\"window_ms\":1000,\"cpu\":%lld,\"memory\":4096,"
		"\"memory_total\":17179869184,\"memory_available\":17179860000,\"orders\":17,"
		"\"deeds\":[{\"number\":1,\"kind\":\"limited\",\"uid\":\"" POD
		"\"},{\"number\":%lld,\"kind\":\"ended\",\"uid\":\"" POD "\"}]}",
		boot, (long long)number, (long long)cpu_milli, (long long)number + 1);
	return text;
}

static int report(struct client *c, const char *node, const char *body)
{
	char text[4096];
	agent_ask(c, node, "POST /v1/node/sample", body);
	return agent_hear(c, text, sizeof(text));
}

static struct node_agent_view view(const struct stage *s)
{
	struct node_agent_view v = {0};
	assert_true(node_agents_view(s->agents, "one", &v));
	return v;
}

/* ---- orders ---------------------------------------------------------------------------------- */

static void orders_come_when_they_are_others(void **state)
{
	struct stage s;
	struct client c;
	struct json *json = json_new(1 << 20);
	struct orders *o;
	struct err e = {""};
	char text[4096];
	(void)state;
	stage_open(&s);
	agent_of(&c, &s, "one");
	assert_int_equal(ask(&c, "one", 0, text, sizeof(text)), 200);
	assert_int_equal(wire_read_orders(json, slice_of(strstr(text, "\r\n\r\n") + 4), &o, &e), 0);
	assert_int_equal(o->generation, 17);
	assert_int_equal(o->npods, 1);
	assert_int_equal(o->pods[0].asked.cpu_milli, 1500);
	orders_free(o);
	json_free(json);
	assert_null(strstr(text, "ETag"));
	/* It has these: the question is held until there are others. */
	ask_and_wait(&c, "one", 17);
	node_agents_orders_changed(s.agents, "one"); /* they are not */
	leads(&s, true);
	assert_false(agent_has_heard(&c));
	owner.orders.generation = 18;
	node_agents_orders_changed(s.agents, "one");
	node_agents_orders_changed(s.agents, "two"); /* nobody asked for these */
	assert_int_equal(agent_hear(&c, text, sizeof(text)), 200);
	assert_non_null(strstr(text, "\"generation\":18"));
	/* Nobody tells of those that begin, as lending does: they are there at the next tick. */
	ask_and_wait(&c, "one", 18);
	owner.orders.generation = 19;
	assert_false(agent_has_heard(&c));
	leads(&s, true);
	assert_int_equal(agent_hear(&c, text, sizeof(text)), 200);
	client_close(&c);
	stage_close(&s);
}

static void a_hold_ends_after_fifty_seconds(void **state)
{
	struct stage s;
	struct client c;
	char text[4096];
	(void)state;
	stage_open(&s);
	agent_of(&c, &s, "one");
	ask_and_wait(&c, "one", 17);
	assert_false(agent_has_heard(&c));
	ahead_us += INT64_C(49000000);
	leads(&s, true);
	assert_false(agent_has_heard(&c));
	ahead_us += INT64_C(2000000);
	leads(&s, true);
	assert_int_equal(agent_hear(&c, text, sizeof(text)), 204);
	/* The connection goes on, and its token is still known. */
	assert_int_equal(ask(&c, "one", 16, text, sizeof(text)), 200);
	client_close(&c);
	stage_close(&s);
}

/* One agent takes over from another: of three that ask, the first is sent away. */
static void two_may_wait_for_the_orders_of_a_node(void **state)
{
	struct stage s;
	struct client c[3];
	char text[4096];
	(void)state;
	stage_open(&s);
	for (int i = 0; i < 3; i++) {
		if (i == 0)
			agent_of(&c[i], &s, "one");
		else
			agent_open(&c[i], &s);
		ask_and_wait(&c[i], "one", 17);
		if (i < 2)
			assert_false(agent_has_heard(&c[i]));
	}
	assert_int_equal(agent_hear(&c[0], text, sizeof(text)), 204);
	owner.orders.generation = 18;
	node_agents_orders_changed(s.agents, "one");
	for (int i = 1; i < 3; i++)
		assert_int_equal(agent_hear(&c[i], text, sizeof(text)), 200);
	for (int i = 0; i < 3; i++)
		client_close(&c[i]);
	stage_close(&s);
}

/* Whoever waits and goes leaves nothing behind. */
static void one_that_goes_is_forgotten(void **state)
{
	struct stage s;
	struct client c;
	char text[4096];
	(void)state;
	stage_open(&s);
	agent_of(&c, &s, "one");
	ask_and_wait(&c, "one", 17);
	assert_false(agent_has_heard(&c));
	client_close(&c);
	ahead_us += INT64_C(6000000);
	leads(&s, true);
	run_a_little(s.loop);
	owner.orders.generation = 18;
	node_agents_orders_changed(s.agents, "one");
	run_a_little(s.loop);
	agent_open(&c, &s);
	assert_int_equal(ask(&c, "one", 17, text, sizeof(text)), 200);
	client_close(&c);
	stage_close(&s);
}

static void a_node_that_is_not_known_waits(void **state)
{
	struct stage s;
	struct client c;
	struct node_agent_view v;
	char text[4096];
	(void)state;
	stage_open(&s);
	agent_of(&c, &s, "two");
	assert_int_equal(ask(&c, "two", 0, text, sizeof(text)), 503);
	assert_non_null(strstr(text, "nothing is known of this node yet"));
	assert_non_null(strstr(text, "Retry-After: 1"));
	come_again(&c, &s);
	assert_int_equal(report(&c, "two", sample_text(BOOT, 1, 100)), 503);
	assert_false(node_agents_view(s.agents, "two", &v));
	assert_int_equal(owner.samples, 0);
	client_close(&c);
	stage_close(&s);
}

/* ---- samples --------------------------------------------------------------------------------- */

static void a_sample_is_taken_once(void **state)
{
	struct stage s;
	struct client c;
	struct node_agent_view v;
	(void)state;
	stage_open(&s);
	assert_false(node_agents_view(s.agents, "one", &v));
	agent_of(&c, &s, "one");
	assert_int_equal(report(&c, "one", sample_text(BOOT, 1, 100)), 204);
	assert_int_equal(report(&c, "one", sample_text(BOOT, 2, 200)), 204);
	assert_int_equal(owner.samples, 2);
	assert_string_equal(owner.node, "one");
	assert_int_equal(owner.cpu_milli, 200);
	v = view(&s);
	assert_int_equal(v.at_ms, owner.at_ms);
	assert_int_equal(v.newest->number, 2);
	assert_int_equal(v.deeds[DEED_LIMITED], 1); /* told twice, done once */
	assert_int_equal(v.deeds[DEED_ENDED], 2);
	assert_int_equal(v.dropped, 0);
	/* Its answer was lost, so it comes again; and one that was late. */
	for (int number = 2; number >= 1; number--)
		assert_int_equal(report(&c, "one", sample_text(BOOT, number, 999)), 204);
	assert_int_equal(owner.samples, 2);
	v = view(&s);
	assert_int_equal(v.dropped, 2);
	assert_int_equal(v.deeds[DEED_ENDED], 2);
	assert_int_equal(node_agents_refused(s.agents, NODE_OLD), 2);
	assert_int_equal(said(&s, "\"reason\":\"old\""), 1);
	/* It begins anew. */
	assert_int_equal(report(&c, "one", sample_text(OTHER_BOOT, 1, 300)), 204);
	assert_int_equal(owner.samples, 3);
	assert_int_equal(view(&s).deeds[DEED_LIMITED], 2);
	client_close(&c);
	stage_close(&s);
}

struct sample_case {
	const char *name, *body;
	int status;
	enum node_refusal why;
};

#define SAMPLE(members) "{\"boot\":\"" BOOT "\",\"number\":1,\"window_ms\":1000," members "}"

static const struct sample_case samples[] = {
	{"no JSON", "x", 400, NODE_MALFORMED},
	{"nothing", "", 400, NODE_MALFORMED},
	{"half", "{\"boot\":\"" BOOT "\",", 400, NODE_MALFORMED},
	{"deep", "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", 400, NODE_MALFORMED},
	{"1e18 cores", SAMPLE("\"cpu\":1e21,\"memory\":1"), 400, NODE_MALFORMED},
	{"1e12 cores", SAMPLE("\"cpu\":1000000000000000,\"memory\":1"), 422, NODE_IMPOSSIBLE},
	{"less than none", SAMPLE("\"cpu\":-1,\"memory\":1"), 400, NODE_MALFORMED},
	{"a tenth more", SAMPLE("\"cpu\":8900,\"memory\":1"), 204, NODE_REFUSALS},
	{"a fifth more", SAMPLE("\"cpu\":9600,\"memory\":1"), 422, NODE_IMPOSSIBLE},
	{"more memory than there is", SAMPLE("\"cpu\":1,\"memory\":20000000000"), 422,
		NODE_IMPOSSIBLE},
	{"more in all than in total", SAMPLE("\"memory_total\":100,\"memory_available\":101"), 422,
		NODE_IMPOSSIBLE},
	{"more in total than there is", SAMPLE("\"memory_total\":20000000000"), 422,
		NODE_IMPOSSIBLE},
	{"pods", SAMPLE("\"pods_cpu\":10000"), 422, NODE_IMPOSSIBLE},
	{"a pod", SAMPLE("\"pods\":[{\"uid\":\"" POD "\",\"cpu\":10000,\"memory\":1}]"), 422,
		NODE_IMPOSSIBLE},
	{"pods together",
		SAMPLE("\"pods\":[{\"uid\":\"" POD "\",\"cpu\":5000,\"memory\":1},{\"uid\":\"" BOOT
		       "\",\"cpu\":5000,\"memory\":1}]"),
		422, NODE_IMPOSSIBLE},
	{"in no time",
		"{\"boot\":\"" BOOT "\",\"number\":1,\"window_ms\":0,\"cpu\":1,\"memory\":1}", 422,
		NODE_IMPOSSIBLE},
};

/* Each is refused, counted, and logged, and nobody hears of it. */
static void what_cannot_be_true_is_dropped(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROWS(samples); i++) {
		const struct sample_case *x = &samples[i];
		struct stage s;
		struct client c;
		stage_open(&s);
		agent_of(&c, &s, "one");
		int status = report(&c, "one", x->body);
		if (status != x->status)
			fail_msg("%s: %d", x->name, status);
		assert_int_equal(owner.samples, x->status == 204);
		assert_int_equal(view(&s).dropped, x->status != 204);
		if (x->why != NODE_REFUSALS) {
			assert_int_equal(node_agents_refused(s.agents, x->why), 1);
			assert_int_equal(said(&s, "agent-refused"), 1);
			assert_int_equal(said(&s, "\"node\":\"one\""), 1);
		}
		/* The next one is taken, on the same connection. */
		assert_int_equal(report(&c, "one", sample_text(BOOT, 2, 1)), 204);
		assert_int_equal(owner.number, 2);
		client_close(&c);
		stage_close(&s);
	}
}

static void a_node_without_capacity_has_no_sample(void **state)
{
	struct stage s;
	struct client c;
	(void)state;
	stage_open(&s);
	owner.orders.capacity = (struct load){0, 0};
	agent_of(&c, &s, "one");
	assert_int_equal(report(&c, "one", sample_text(BOOT, 1, 1)), 422);
	assert_int_equal(view(&s).dropped, 1);
	assert_int_equal(owner.deeds, 2); /* of a sample that is not believed, too, and once */
	assert_int_equal(report(&c, "one", sample_text(BOOT, 1, 1)), 204);
	assert_int_equal(owner.deeds, 2);
	assert_int_equal(view(&s).deeds[DEED_ENDED], 1);
	assert_int_equal(view(&s).dropped, 2);
	/* Where nothing is lent at all, none is wanted. */
	owner.orders.lends = false;
	assert_int_equal(report(&c, "one", sample_text(BOOT, 2, 1)), 204);
	assert_int_equal(view(&s).dropped, 2);
	assert_int_equal(owner.samples, 0);
	client_close(&c);
	stage_close(&s);
}

static void an_agent_comes_ten_times_a_second(void **state)
{
	struct stage s;
	struct client c;
	(void)state;
	stage_open(&s);
	agent_of(&c, &s, "one");
	unsigned taken = 0;
	for (int i = 1; i <= 100; i++) {
		if (report(&c, "one", sample_text(BOOT, i, 1)) == 204)
			taken++;
		else
			come_again(&c, &s);
	}
	assert_in_range(taken, 40, 90);
	assert_int_equal(node_agents_refused(s.agents, NODE_TOO_MUCH), 100 - taken);
	assert_int_equal(said(&s, "ten times a second"), 1);
	assert_int_equal(owner.samples, taken);
	client_close(&c);
	stage_close(&s);
}

/* A stolen agent that sends without a pause what is refused has to come anew for each of it, at the
 * pace of the port. */
static void each_refusal_ends_its_connection(void **state)
{
	static const struct {
		const char *name, *line, *body;
		int status;
	} refusals[] = {
		{"nowhere", "GET /v1/node/else", NULL, 404},
		{"no POST", "GET /v1/node/sample", NULL, 405},
		{"no length", "POST /v1/node/sample", NULL, 411},
	};
	(void)state;
	for (size_t i = 0; i < ROWS(refusals); i++) {
		struct stage s;
		struct client c;
		char text[4096];
		stage_open(&s);
		agent_of(&c, &s, "one");
		assert_int_equal(report(&c, "one", sample_text(BOOT, 1, 1)), 204);
		for (int n = 0; n < 20; n++)
			agent_ask(&c, "one", refusals[i].line, refusals[i].body);
		if (agent_hear(&c, text, sizeof(text)) != refusals[i].status)
			fail_msg("%s: %s", refusals[i].name, text);
		assert_int_equal(node_agents_refused(s.agents, NODE_MALFORMED), 1);
		come_again(&c, &s);
		assert_int_equal(report(&c, "one", sample_text(BOOT, 2, 1)), 204);
		client_close(&c);
		stage_close(&s);
	}
}

/* ---- who may not ----------------------------------------------------------------------------- */

#define ANSWER(audience, user, extra)                                                              \
	"{\"status\":{\"authenticated\":true,\"audiences\":[\"" audience                           \
	"\"],\"user\":{\"username\":\"" user "\",\"extra\":{" extra "}}}}"
#define OF_ONE "\"authentication.kubernetes.io/node-name\":[\"one\"]"
#define OURS "system:serviceaccount:sluice-node:sluice-node"

struct caller_case {
	const char *name, *token, *review, *line, *more, *body;
	int status;
	enum node_refusal why;
};

static const struct caller_case callers[] = {
	{"without a token", NULL, NULL, "GET /v1/node/orders", "", NULL, 401, NODE_STRANGER},
	{"of nobody", "x", "{\"status\":{\"authenticated\":false}}", "GET /v1/node/orders", "",
		NULL, 401, NODE_STRANGER},
	{"of another audience", "x", ANSWER("kubernetes", OURS, OF_ONE), "GET /v1/node/orders", "",
		NULL, 401, NODE_STRANGER},
	{"of another user", "x", ANSWER("sluice-node", "system:node:one", OF_ONE),
		"GET /v1/node/orders", "", NULL, 403, NODE_NO_AGENT},
	{"of no node", "x", ANSWER("sluice-node", OURS, ""), "GET /v1/node/orders", "", NULL, 403,
		NODE_NO_AGENT},
	{"that names a user", "x", ANSWER("sluice-node", OURS, OF_ONE), "GET /v1/node/orders",
		"X-Remote-User: admin\r\n", NULL, 403, NODE_NO_AGENT},
	{"with another path", "x", ANSWER("sluice-node", OURS, OF_ONE), "GET /metrics", "", NULL,
		404, NODE_MALFORMED},
	{"with orders of its own", "x", NULL, "POST /v1/node/orders", "", "{}", 405,
		NODE_MALFORMED},
	{"with 10 MB", "x", NULL, "POST /v1/node/sample", "Content-Length: 10000000\r\n", NULL, 413,
		NODE_TOO_LONG},
	{"in chunks", "x", NULL, "POST /v1/node/sample", "Transfer-Encoding: chunked\r\n", NULL,
		411, NODE_MALFORMED},
	{"from a page", "x", NULL, "GET /v1/node/orders", "Sec-Fetch-Site: cross-site\r\n", NULL,
		403, NODE_NO_AGENT},
};

static void each_caller_that_is_no_agent_is_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROWS(callers); i++) {
		const struct caller_case *x = &callers[i];
		struct stage s;
		struct client c;
		char text[4096], line[300];
		stage_open(&s);
		agent_open(&c, &s);
		if (x->review)
			expect(&s, TOKENS, x->review);
		snprintf(line, sizeof(line), "%s HTTP/1.1\r\n%sX:", x->line, x->more);
		agent_ask(&c, x->token, line, x->body);
		int status = agent_hear(&c, text, sizeof(text));
		if (status != x->status || node_agents_refused(s.agents, x->why) != 1)
			fail_msg("%s: %s", x->name, text);
		assert_int_equal(said(&s, "agent-refused"), 1);
		assert_int_equal(said(&s, "\"from\":\"127.0.0.1\""), 1);
		assert_int_equal(owner.samples, 0);
		client_close(&c);
		stage_close(&s);
	}
}

/* Room for a head is what a connection costs most: it is for tokens twice as long as any that is
 * known. */
static void a_long_token_is_taken(void **state)
{
	struct stage s;
	struct client c;
	static char token[2800 + 1];
	(void)state;
	memset(token, 'x', sizeof(token) - 1);
	stage_open(&s);
	agent_of(&c, &s, "one");
	assert_int_equal(report(&c, token, sample_text(BOOT, 1, 100)), 204);
	assert_int_equal(report(&c, token, sample_text(BOOT, 2, 100)), 204);
	assert_int_equal(owner.samples, 2);
	client_close(&c);
	stage_close(&s);
}

/* An agent cannot speak for another node: nothing that it says names one. */
static void an_agent_speaks_for_its_own_node(void **state)
{
	struct stage s;
	struct client c;
	char text[4096];
	(void)state;
	stage_open(&s);
	agent_of(&c, &s, "two");
	agent_ask(&c, "two", "POST /v1/node/sample?node=one", sample_text(BOOT, 1, 7000));
	assert_int_equal(agent_hear(&c, text, sizeof(text)), 503);
	come_again(&c, &s);
	agent_ask(&c, "two", "GET /v1/node/orders?node=one&have=0", NULL);
	assert_int_equal(agent_hear(&c, text, sizeof(text)), 503);
	assert_int_equal(owner.samples, 0);
	client_close(&c);
	stage_close(&s);
}

/* What is refused again and again is counted each time, and logged once a minute. */
static void refusals_are_counted_and_logged_once(void **state)
{
	struct stage s;
	(void)state;
	stage_open(&s);
	for (int i = 0; i < 5; i++) {
		struct client c;
		char text[4096];
		agent_open(&c, &s);
		agent_ask(&c, NULL, "GET /v1/node/orders", NULL);
		assert_int_equal(agent_hear(&c, text, sizeof(text)), 401);
		assert_int_equal(agent_hear(&c, text, sizeof(text)), 0); /* it must come anew */
		client_close(&c);
		if (i == 3)
			ahead_us += INT64_C(61000000);
	}
	assert_int_equal(node_agents_refused(s.agents, NODE_STRANGER), 5);
	assert_int_equal(said(&s, "agent-refused"), 2);
	assert_int_equal(said(&s, "\"times\":4"), 1);
	stage_close(&s);
}

/* From 127.0.N.2, without waiting for the other end. */
static int connect_from(uint16_t port, unsigned n)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};
	struct sockaddr_in from = {.sin_family = AF_INET};
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	from.sin_addr.s_addr = htonl(0x7F000002u + (n << 8));
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&from, sizeof(from)), 0);
	connect(fd, (struct sockaddr *)&a, sizeof(a));
	return fd;
}

/* Gives how many connections of strangers there may be in this process. */
static unsigned strangers_max(unsigned wanted)
{
	struct rlimit files;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	/* An accepted one has two. */
	return files.rlim_max / 3 < wanted ? (unsigned)files.rlim_max / 3 : wanted;
}

/* Connections of strangers that say nothing, or half of something, end none of an agent's, and make
 * it wait for nothing. */
static void strangers_end_no_connection_of_an_agent(void **state)
{
	enum { STRANGERS = 1000, EACH = 250 };
	static int fd[STRANGERS];
	struct stage s;
	struct client c;
	(void)state;
	unsigned strangers = strangers_max(STRANGERS), reports = 1;
	stage_open(&s);
	agent_of(&c, &s, "one");
	assert_int_equal(report(&c, "one", sample_text(BOOT, 1, 1)), 204);
	uint16_t port = told_port(&s);
	for (unsigned i = 0; i < strangers; i++) {
		fd[i] = connect_from(port, i % 100);
		if (i % 2)
			send(fd[i], "\x16\x03\x01\x02", 4, MSG_NOSIGNAL);
		ev_run(s.loop, EVRUN_NOWAIT);
		if (i % EACH != EACH - 1)
			continue;
		ahead_us += 1000000;
		assert_int_equal(report(&c, "one", sample_text(BOOT, ++reports, 1)), 204);
	}
	assert_int_equal(owner.samples, reports);
	for (unsigned i = 0; i < strangers; i++)
		close(fd[i]);
	client_close(&c);
	stage_close(&s);
}

/* A stolen agent that opens one connection after the other ends its own, and no other node's. */
static void a_node_has_eight_connections(void **state)
{
	enum { EACH = 8, MORE = 4 };
	struct stage s;
	struct client other, c[EACH + MORE];
	char text[16];
	(void)state;
	stage_open(&s);
	owner.knows_two = true;
	agent_of(&other, &s, "two");
	assert_int_equal(report(&other, "two", sample_text(BOOT, 1, 1)), 204);
	for (int i = 0; i < EACH + MORE; i++) {
		if (i == 0)
			agent_of(&c[i], &s, "one");
		else
			agent_open(&c[i], &s);
		assert_int_equal(report(&c[i], "one", sample_text(BOOT, 1 + i, 1)), 204);
	}
	for (int i = 0; i < MORE; i++)
		assert_int_equal(agent_hear(&c[i], text, sizeof(text)), 0);
	for (int i = MORE; i < EACH + MORE; i++)
		assert_int_equal(report(&c[i], "one", sample_text(BOOT, 100 + i, 1)), 204);
	assert_int_equal(report(&other, "two", sample_text(BOOT, 2, 1)), 204);
	for (int i = 0; i < EACH + MORE; i++)
		client_close(&c[i]);
	client_close(&other);
	stage_close(&s);
}

/* ---- who leads ------------------------------------------------------------------------------- */

static void only_the_leader_answers(void **state)
{
	struct stage s;
	struct client c;
	struct node_agent_view v;
	char text[4096];
	(void)state;
	stage_open(&s);
	agent_of(&c, &s, "one");
	assert_int_equal(report(&c, "one", sample_text(BOOT, 1, 1)), 204);
	ask_and_wait(&c, "one", 17);
	assert_false(agent_has_heard(&c));
	leads(&s, false);
	assert_int_equal(agent_hear(&c, text, sizeof(text)), 503);
	assert_non_null(strstr(text, "another controller leads"));
	come_again(&c, &s);
	assert_int_equal(report(&c, "one", sample_text(BOOT, 2, 1)), 503);
	come_again(&c, &s);
	assert_int_equal(owner.samples, 1);
	/* What was known is of another time. */
	assert_false(node_agents_view(s.agents, "one", &v));
	leads(&s, false);
	expect(&s, "GET " CONFIGMAP, "{}");
	expect(&s, "PATCH " CONFIGMAP, "{}");
	leads(&s, true);
	settle(&s);
	assert_int_equal(report(&c, "one", sample_text(BOOT, 2, 1)), 204);
	client_close(&c);
	stage_close(&s);
}

/* The port opens anew with a renewed certificate, and drops who waits. */
static void a_renewed_certificate_is_shown(void **state)
{
	struct stage s;
	struct client c;
	char text[4096], *dir = make_dir(), crt[100], key[100];
	struct tls *first, *second;
	struct err e = {""};
	(void)state;
	assert_int_equal(tls_make(NULL, 0, &first, &e), 0);
	assert_int_equal(tls_make(NULL, 0, &second, &e), 0);
	snprintf(crt, sizeof(crt), "%s/tls.crt", dir);
	snprintf(key, sizeof(key), "%s/tls.key", dir);
	write_file(dir, "tls.crt", first->certificate, 0600);
	write_file(dir, "tls.key", first->key, 0600);
	stage_prepare(&s);
	s.certificate = crt;
	s.key = key;
	stage_begin(&s);
	leads(&s, true);
	settle(&s);
	agent_of(&c, &s, "one");
	ask_and_wait(&c, "one", 17);
	assert_false(agent_has_heard(&c));
	write_file(dir, "tls.crt", second->certificate, 0600);
	write_file(dir, "tls.key", second->key, 0600);
	s.tick_ms += 60000;
	expect(&s, "GET " CONFIGMAP, "{}");
	expect(&s, "PATCH " CONFIGMAP, "{}");
	leads(&s, true);
	settle(&s);
	agent_hear(&c, text, sizeof(text));
	client_close(&c);
	owner.orders.generation = 18;
	node_agents_orders_changed(s.agents, "one"); /* nobody waits */
	assert_non_null(
		strstr(scripted_server_request(s.server, scripted_server_count(s.server) - 1)->body,
			"127.0.0.1:"));
	agent_open(&c, &s);
	assert_int_equal(ask(&c, "one", 0, text, sizeof(text)), 200);
	client_close(&c);
	stage_close(&s);
	tls_free(first);
	tls_free(second);
	unlink(crt);
	unlink(key);
	rmdir(dir);
	free(dir);
}

static void an_address_that_cannot_be_had_names_its_flag(void **state)
{
	struct stage s;
	struct err e = {""};
	(void)state;
	stage_prepare(&s);
	struct node_agents_options o = {
		.port = {.loop = s.loop,
			.client = s.client,
			.log = s.log,
			.host = "192.0.2.1",
			.port = 1,
			.address = "127.0.0.1"},
		.namespace_name = "sluice-system",
	};
	assert_int_equal(node_agents_open(&o, &s.agents, &e), ERR_INVALID);
	assert_non_null(strstr(e.text, "--node-listen"));
	o.port.host = "127.0.0.1";
	o.port.certificate = o.port.key = "/nowhere/tls.crt";
	assert_int_equal(node_agents_open(&o, &s.agents, &e), ERR_INVALID);
	assert_non_null(strstr(e.text, "--node-cert-file"));
	stage_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(orders_come_when_they_are_others),
		cmocka_unit_test(a_hold_ends_after_fifty_seconds),
		cmocka_unit_test(two_may_wait_for_the_orders_of_a_node),
		cmocka_unit_test(one_that_goes_is_forgotten),
		cmocka_unit_test(a_node_that_is_not_known_waits),
		cmocka_unit_test(a_sample_is_taken_once),
		cmocka_unit_test(what_cannot_be_true_is_dropped),
		cmocka_unit_test(a_node_without_capacity_has_no_sample),
		cmocka_unit_test(an_agent_comes_ten_times_a_second),
		cmocka_unit_test(each_refusal_ends_its_connection),
		cmocka_unit_test(each_caller_that_is_no_agent_is_refused),
		cmocka_unit_test(a_long_token_is_taken),
		cmocka_unit_test(an_agent_speaks_for_its_own_node),
		cmocka_unit_test(refusals_are_counted_and_logged_once),
		cmocka_unit_test(strangers_end_no_connection_of_an_agent),
		cmocka_unit_test(a_node_has_eight_connections),
		cmocka_unit_test(only_the_leader_answers),
		cmocka_unit_test(a_renewed_certificate_is_shown),
		cmocka_unit_test(an_address_that_cannot_be_had_names_its_flag),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
