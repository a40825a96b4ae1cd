/*
 * The gauge, against an API server that is away, half there, or very large.
 */
#include "controller/overcommit/usage_poller.h"

#include "controller/overcommit/prom_text.h"
#include "test/unit/kube/test.h"
#include "test/unit/kube/scripted_server.h"

#define NOW_MS INT64_C(1795255200000)
#define PODS "GET /apis/metrics.k8s.io/v1beta1/pods "
#define NODES "GET /apis/metrics.k8s.io/v1beta1/nodes "
#define NODE(name, cpu)                                                                            \
	"{\"metadata\":{\"name\":\"" name "\"},\"timestamp\":\"2026-11-21T10:00:00Z\",\"window\":" \
	"\"15s\",\"usage\":{\"cpu\":\"" cpu "\",\"memory\":\"1Gi\"}}"
#define POD(name, cpu)                                                                             \
	"{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"a\"},\"timestamp\":"                 \
	"\"2026-11-21T10:00:00Z\",\"window\":\"15s\",\"containers\":[{\"name\":\"c\",\"usage\":{"  \
	"\"cpu\":\"" cpu "\",\"memory\":\"1Gi\"}}]}"
#define LIST(items) "{\"kind\":\"List\",\"metadata\":{},\"items\":[" items "]}"

struct stage {
	struct ev_loop *loop;
	struct scripted_server *server;
	struct kube_config *config;
	struct kube_client *client;
	struct usage_poller *usage_poller;
	struct buf told; /* "ns/name=cpu " each */
	size_t samples;
	int rounds, complete;
	int64_t now_ms;
};

static void on_sample(const struct usage_facts *u, void *ctx)
{
	struct stage *s = ctx;
	s->samples++;
	if (s->samples < 100)
		buf_printf(&s->told, "%s/%s=%d ", u->ns, u->name, (int)u->used.cpu_milli);
}

static void on_round(bool complete, void *ctx)
{
	struct stage *s = ctx;
	s->rounds++;
	s->complete += complete;
}

static void stage_open(struct stage *s)
{
	*s = (struct stage){.loop = ev_loop_new(EVFLAG_AUTO), .now_ms = NOW_MS};
	s->server = scripted_server_new(s->loop);
	s->config = config_for(scripted_server_url(s->server), NULL);
	s->client = kube_client_new(s->loop, s->config, NULL);
	s->usage_poller = usage_poller_new(
		s->client, NULL, &(struct usage_poller_events){on_sample, on_round, s});
	buf_init(&s->told, 1 << 20);
}

static void stage_close(struct stage *s)
{
	usage_poller_free(s->usage_poller);
	assert_int_equal(scripted_server_unexpected(s->server), 0);
	assert_int_equal(scripted_server_unused(s->server), 0);
	kube_client_free(s->client);
	kube_config_free(s->config);
	scripted_server_free(s->server);
	ev_loop_destroy(s->loop);
	buf_done(&s->told);
}

static void answer(struct stage *s, const char *line, int status, const char *body)
{
	script_answer(scripted_server_expect(s->server, line), status,
		"Content-Type: application/json\r\n", body);
}

static void pass(struct stage *s, bool api, const struct usage_poller_node *kubelets, size_t n)
{
	int rounds = s->rounds;
	usage_poller_tick(s->usage_poller, s->now_ms, 15000, api, kubelets, n);
	run_until(s->loop, s->rounds > rounds);
	s->now_ms += 15000;
}

static void pods_come_before_nodes(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	answer(&s, PODS, 200, LIST(POD("p", "250m") "," POD("q", "10999722340n")));
	answer(&s, NODES, 200, LIST(NODE("n1", "21003u")));
	pass(&s, true, NULL, 0);
	assert_string_equal(buf_text(&s.told), "a/p=250 a/q=11000 /n1=22 ");
	assert_int_equal(s.complete, 1);
	usage_poller_tick(s.usage_poller, s.now_ms - 1, 15000, true, NULL, 0); /* not due yet */
	run_a_little(s.loop);
	assert_int_equal(scripted_server_count(s.server), 2);
	stage_close(&s);
}

static void away_is_said_once_with_the_cure(void **state)
{
	static const struct {
		int status;
		const char *cure;
	} rows[] = {{503, "apiservice"}, {404, "install metrics-server"},
		{403, "components/idle-resources"}};
	(void)state;
	struct stage s;
	stage_open(&s);
	for (size_t i = 0; i < ROWS(rows); i++) {
		answer(&s, PODS, rows[i].status, "no");
		pass(&s, true, NULL, 0);
		if (!strstr(usage_poller_trouble(s.usage_poller), rows[i].cure))
			fail_msg("%d: %s", rows[i].status, usage_poller_trouble(s.usage_poller));
	}
	assert_int_equal(s.complete, 0);
	assert_int_equal(s.samples, 0);
	answer(&s, PODS, 200, LIST(""));
	answer(&s, NODES, 200, LIST(""));
	pass(&s, true, NULL, 0);
	assert_string_equal(usage_poller_trouble(s.usage_poller), "");
	assert_int_equal(s.complete, 1);
	stage_close(&s);
}

/* Cut in the middle: what came counts, the round does not, and no node is asked for. */
static void half_an_answer_is_no_round(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	struct script *p = scripted_server_expect(s.server, PODS);
	script_stream(p);
	script_chunk(p, "{\"items\":[" POD("p", "1") "," POD("q", "1"));
	script_end(p);
	pass(&s, true, NULL, 0);
	assert_int_equal(s.complete, 0);
	assert_non_null(strstr(usage_poller_trouble(s.usage_poller), "broke off"));
	assert_int_equal(scripted_server_count(s.server), 1);
	answer(&s, PODS, 200, "{\"kind\":\"Status\"}");
	answer(&s, NODES, 200, "[]");
	pass(&s, true, NULL, 0);
	assert_int_equal(s.complete, 0);
	stage_close(&s);
}

/* What cannot be read is missing, never zero. */
static void a_bad_item_is_passed_over(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	answer(&s, PODS, 200,
		LIST(POD("p", "x") ",{},{\"metadata\":{\"name\":\"r\",\"namespace\":\"a\"}}," POD(
			"q", "1")));
	answer(&s, NODES, 200, LIST(""));
	pass(&s, true, NULL, 0);
	assert_string_equal(buf_text(&s.told), "a/q=1000 ");
	assert_int_equal(s.complete, 1);
	stage_close(&s);
}

static void a_huge_list_is_read_item_by_item(void **state)
{
	enum { MANY = 20000 };
	(void)state;
	struct stage s;
	struct buf body;
	stage_open(&s);
	buf_init(&body, 64 << 20);
	buf_puts(&body, "{\"kind\":\"PodMetricsList\",\"items\":[");
	for (int i = 0; i < MANY; i++)
		buf_printf(&body, "%s" POD("p", "1"), i ? "," : "");
	buf_puts(&body, "]}");
	answer(&s, PODS, 200, buf_text(&body));
	answer(&s, NODES, 200, LIST(""));
	pass(&s, true, NULL, 0);
	assert_int_equal(s.samples, MANY);
	assert_int_equal(s.complete, 1);
	buf_done(&body);
	stage_close(&s);
}

#define KUBELET(path) "GET /api/v1/nodes/n1/proxy" path " "

static const char *counters(char text[1000], int node, int pod, int64_t at_ms)
{
	snprintf(text, 1000,
		"# TYPE node_cpu_usage_seconds_total counter\n"
		"node_cpu_usage_seconds_total %d %lld\n"
		"node_memory_working_set_bytes 2000 %lld\n"
		"pod_cpu_usage_seconds_total{namespace=\"a\",pod=\"p\"} %d %lld\n"
		"pod_memory_working_set_bytes{namespace=\"a\",pod=\"p\"} 1000 %lld\n",
		node, (long long)at_ms, (long long)at_ms, pod, (long long)at_ms, (long long)at_ms);
	return text;
}

static void of_two_readings_a_sample_is_made(void **state)
{
	(void)state;
	char text[1000];
	struct stage s;
	const struct usage_poller_node n = {"n1", ""};
	stage_open(&s);
	answer(&s, KUBELET("/metrics/resource"), 200, counters(text, 100, 50, NOW_MS));
	pass(&s, false, &n, 1);
	assert_string_equal(buf_text(&s.told), "");
	answer(&s, KUBELET("/metrics/resource"), 200, counters(text, 130, 65, NOW_MS + 15000));
	pass(&s, false, &n, 1);
	assert_string_equal(buf_text(&s.told), "/n1=2000 a/p=1000 ");
	/* A counter that went back begins anew. */
	answer(&s, KUBELET("/metrics/resource"), 200, counters(text, 145, 3, NOW_MS + 30000));
	pass(&s, false, &n, 1);
	assert_string_equal(buf_text(&s.told), "/n1=2000 a/p=1000 /n1=1000 ");
	answer(&s, KUBELET("/metrics/resource"), 503, "no");
	pass(&s, false, &n, 1);
	assert_non_null(strstr(usage_poller_trouble(s.usage_poller), "1 of 1 kubelets"));
	assert_int_equal(s.complete, 4); /* the others are not held up by it */
	stage_close(&s);
}

/* The path is the node's own word. */
static void a_path_leads_to_its_kubelet_alone(void **state)
{
	static const struct usage_poller_node rows[] = {
		{"n1", "/metrics/nodes/n1/metrics/resource"},
		{"n1", "/../../../namespaces/kube-system/secrets"}, {"n1", "/a?b"}, {"n1", "x"}};
	(void)state;
	struct stage s;
	stage_open(&s);
	for (size_t i = 0; i < ROWS(rows); i++) {
		answer(&s,
			i == 0 ? KUBELET("/metrics/nodes/n1/metrics/resource")
			       : KUBELET("/metrics/resource"),
			200, "");
		pass(&s, false, &rows[i], 1);
	}
	stage_close(&s);
}

static void on_item(struct slice item, void *ctx)
{
	buf_add(ctx, item.ptr, item.len);
	buf_putc(ctx, '|');
}

static void items_are_cut_wherever_the_pieces_end(void **state)
{
	static const char text[] =
		"{\"metadata\":{\"x\":[{}]},\"items\":[{\"a\":\"}]\\\"{\",\"b\":[{}]},"
		"{}, {\"c\":{\"d\":{}}}],\"z\":[1,[{}]]}";
	(void)state;
	for (size_t size = 1; size < sizeof(text); size++) {
		struct prom_text i;
		struct buf out;
		buf_init(&out, 4096);
		prom_text_init(&i, 4096, on_item, &out);
		for (size_t at = 0; at < sizeof(text) - 1; at += size) {
			size_t left = sizeof(text) - 1 - at;
			assert_false(prom_text_complete(&i));
			prom_text_feed(&i, (struct slice){text + at, left < size ? left : size});
		}
		assert_true(prom_text_complete(&i));
		assert_string_equal(
			buf_text(&out), "{\"a\":\"}]\\\"{\",\"b\":[{}]}|{}|{\"c\":{\"d\":{}}}|");
		prom_text_done(&i);
		buf_done(&out);
	}
}

static void what_is_no_list_never_ends(void **state)
{
	static const char *const rows[] = {"", "[]", "[{}]", "}", "{}{}", "]", "{\"items\":["};
	(void)state;
	for (size_t r = 0; r < ROWS(rows); r++) {
		struct prom_text i;
		struct buf out;
		buf_init(&out, 4096);
		prom_text_init(&i, 4096, on_item, &out);
		prom_text_feed(&i, slice_of(rows[r]));
		assert_false(prom_text_complete(&i));
		prom_text_done(&i);
		buf_done(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pods_come_before_nodes),
		cmocka_unit_test(away_is_said_once_with_the_cure),
		cmocka_unit_test(half_an_answer_is_no_round),
		cmocka_unit_test(a_bad_item_is_passed_over),
		cmocka_unit_test(a_huge_list_is_read_item_by_item),
		cmocka_unit_test(of_two_readings_a_sample_is_made),
		cmocka_unit_test(a_path_leads_to_its_kubelet_alone),
		cmocka_unit_test(items_are_cut_wherever_the_pieces_end),
		cmocka_unit_test(what_is_no_list_never_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
