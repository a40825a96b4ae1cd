/*
 * The link of an agent and the port of a leader (controller/nodes), both as they are, over TLS: each
 * is the other's proof. The API server between them does as it is told.
 */
#include "../kube/test.h"

#include "../kube/scripted_server.h"
#include "agent/link.h"
#include "controller/nodes/node_agents.h"
#include "node/wire.h"

#define CONFIGMAP "/api/v1/namespaces/sluice-system/configmaps/sluice-nodes"
#define TOKENS "POST /apis/authentication.k8s.io/v1/tokenreviews"
#define POD "33333333-3333-4333-8333-333333333333"

static const char token_of_one[] =
	"{\"status\":{\"authenticated\":true,\"audiences\":[\"sluice-node\"],\"user\":{\"username\":"
	"\"system:serviceaccount:sluice-node:sluice-node\",\"extra\":{"
	"\"authentication.kubernetes.io/node-name\":[\"one\"]}}}}";

struct world {
	struct ev_loop *loop;
	struct scripted_server *api;
	struct kube_config *config;
	struct kube_client *client;
	struct node_agents *leader;
	struct link_to_leader *link;
	char *dir, token[256];
	int64_t tick_ms;
	/* The leader's side. */
	struct orders orders;
	struct ordered_pod pod;
	int64_t heard; /* the number of the newest sample */
	/* The agent's. */
	struct orders *got;
	int64_t made, acknowledged;
};

static const struct orders *orders_of(const char *node, void *ctx)
{
	struct world *w = ctx;
	return strcmp(node, "one") == 0 ? &w->orders : NULL;
}

static void on_deeds(const char *node, const struct sample *s, int64_t now_ms, void *ctx)
{
	(void)node;
	(void)s;
	(void)now_ms;
	(void)ctx;
}

static void on_heard(const char *node, const struct sample *s, int64_t now_ms, void *ctx)
{
	struct world *w = ctx;
	(void)now_ms;
	assert_string_equal(node, "one");
	assert_int_equal(s->npods, 1);
	assert_int_equal(s->pods[0].used.cpu_milli, 250);
	w->heard = s->number;
}

static void on_orders(struct orders *o, struct slice text, void *ctx)
{
	struct world *w = ctx;
	(void)text;
	orders_free(w->got);
	w->got = o;
}

static void on_sample(struct buf *out, void *ctx)
{
	struct world *w = ctx;
	struct sampled_pod pod = {.uid = w->pod.uid, .used = {250, 1 << 20}, .quota_milli = 1500};
	struct sample s = {.boot = "11111111-1111-4111-8111-111111111111",
		.number = ++w->made,
		.window_ms = 1000,
		.has_used = true,
		.used = {500, 1 << 30},
		.pods_used = {300, 1 << 29},
		.memory_total = INT64_C(16) << 30,
		.memory_available = INT64_C(8) << 30,
		.pressure_us = -1,
		.may_milli = -1,
		.orders = w->got ? w->got->generation : 0,
		.pods = &pod,
		.npods = 1};
	wire_put_sample(&s, out);
}

static void on_acknowledged(void *ctx)
{
	struct world *w = ctx;
	w->acknowledged = w->made;
}

static void answer(struct world *w, const char *line, const char *body)
{
	script_answer(scripted_server_expect(w->api, line), 200, "", body);
}

/* Counts what leaders wrote into the ConfigMap. */
static size_t written(const struct world *w)
{
	size_t n = 0;
	for (size_t i = 0; i < scripted_server_count(w->api); i++)
		n += strstr(scripted_server_request(w->api, i)->line, "PATCH " CONFIGMAP) != NULL;
	return n;
}

static void start_leader(struct world *w)
{
	size_t before = written(w);
	struct node_agents_options o = {
		.port = {.loop = w->loop,
			.client = w->client,
			.host = "127.0.0.1",
			.address = "127.0.0.1"},
		.namespace_name = "sluice-system",
		.events = {orders_of, on_deeds, on_heard, w},
		.seed = 7,
	};
	struct err e = {""};
	answer(w, "GET " CONFIGMAP, "{}");
	answer(w, "PATCH " CONFIGMAP, "{}");
	if (node_agents_open(&o, &w->leader, &e) != 0)
		fail_msg("%s", e.text);
	node_agents_tick(w->leader, true, ++w->tick_ms);
	run_until(w->loop, written(w) > before);
}

/* Has the ConfigMap say what the leader wrote into it last. */
static void show_configmap(struct world *w)
{
	size_t i = scripted_server_count(w->api);
	while (!strstr(scripted_server_request(w->api, i - 1)->line, "PATCH " CONFIGMAP))
		i--;
	answer(w, "GET " CONFIGMAP, scripted_server_request(w->api, i - 1)->body);
}

static void begin(struct world *w)
{
	*w = (struct world){.loop = ev_loop_new(EVFLAG_AUTO)};
	w->orders = (struct orders){.generation = 17,
		.lends = true,
		.limits = true,
		.capacity = {8000, INT64_C(16) << 30},
		.pods = &w->pod,
		.npods = 1};
	uid_parse(POD, &w->pod.uid);
	w->pod.asked = (struct load){1500, 1 << 30};
	w->api = scripted_server_new(w->loop);
	w->config = config_for(scripted_server_url(w->api), NULL);
	w->client = kube_client_new(w->loop, w->config, &(struct kube_client_options){0});
	w->dir = make_dir();
	write_file(w->dir, "token", "of-node-one\n", 0600);
	snprintf(w->token, sizeof(w->token), "%s/token", w->dir);
	start_leader(w);
}

static void start_link(struct world *w)
{
	struct link_options o = {.loop = w->loop,
		.api = w->config,
		.leader = {"sluice-system", w->token},
		.seed = 7,
		.pause_ms = 5,
		.events = {on_orders, on_sample, on_acknowledged, w}};
	w->link = link_new(&o);
}

static void end(struct world *w)
{
	assert_int_equal(scripted_server_unexpected(w->api), 0);
	link_free(w->link);
	node_agents_close(w->leader);
	orders_free(w->got);
	kube_client_free(w->client);
	kube_config_free(w->config);
	scripted_server_free(w->api);
	ev_loop_destroy(w->loop);
	remove_dir(w->dir);
}

static bool has(const struct world *w, int64_t generation)
{
	return w->got && w->got->generation == generation;
}

/* Both connections show a token, and each may be asked about. */
static void expect_tokens(struct world *w, int n)
{
	for (int i = 0; i < n; i++)
		answer(w, TOKENS, token_of_one);
}

static void orders_out_and_samples_in(void **state)
{
	struct world w;
	struct node_agent_view view;
	(void)state;
	begin(&w);
	show_configmap(&w);
	expect_tokens(&w, 2);
	start_link(&w);
	run_until(w.loop, has(&w, 17) && w.acknowledged == 1);
	assert_int_equal(w.got->npods, 1);
	assert_int_equal(w.got->pods[0].asked.cpu_milli, 1500);
	assert_true(w.got->limits);
	assert_int_equal(w.heard, 1);
	/* Orders that change answer the held question. */
	w.orders.generation = 18;
	w.pod.asked.cpu_milli = 700;
	node_agents_orders_changed(w.leader, "one");
	run_until(w.loop, has(&w, 18));
	assert_int_equal(w.got->pods[0].asked.cpu_milli, 700);
	link_report(w.link, false);
	run_until(w.loop, w.acknowledged == 2);
	assert_true(node_agents_view(w.leader, "one", &view));
	assert_int_equal(view.newest->orders, 18);
	end(&w);
}

/* Another replica leads: the old one refuses, and the ConfigMap names the new one, whose certificate
 * is another. */
static void another_leader(void **state)
{
	struct world w;
	(void)state;
	begin(&w);
	show_configmap(&w);
	expect_tokens(&w, 2);
	start_link(&w);
	run_until(w.loop, has(&w, 17) && w.acknowledged == 1);
	struct node_agents *old = w.leader;
	start_leader(&w);
	w.orders.generation = 4;
	show_configmap(&w);
	expect_tokens(&w, 2);
	node_agents_tick(old, false, ++w.tick_ms);
	link_report(w.link, false); /* which the old one refuses, if it is asked still */
	run_until(w.loop, has(&w, 4) && w.acknowledged == w.made && w.made >= 2);
	node_agents_close(old);
	end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(orders_out_and_samples_in),
		cmocka_unit_test(another_leader),
	};
	return cmocka_run_group_tests_name("agent/leader", tests, NULL, NULL);
}
