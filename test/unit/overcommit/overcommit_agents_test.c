/*
 * The lender with agents on its nodes: what it orders, and what it makes of their samples.
 */
#include "overcommit_controller_stage.h"

#include "node/orders.h"
#include "node/sample.h"
#include "test/golden/golden.h"

#define CONFIG                                                                                     \
	"{\"enable\":true,\"metricReportIntervalSeconds\":15,\"cpuReclaimThresholdPercent\":60}"
#define LENT "\"kubernetes.io/batch-cpu\":\"2k\",\"kubernetes.io/batch-memory\":\"4Gi\""

/* A node of 100 cores and 100 Gi with an ordinary pod and a lent one. Returns the watch of pods. */
static struct script *open_cluster(struct overcommit_controller_stage *s, const char *config)
{
	char *node = node_text("n1", "", 100, 100, "", "");
	char *web = pod_text("a", "web", "n1", "", "\"cpu\":\"20\",\"memory\":\"20Gi\"");
	char *low = pod_text("a", "low", "n1", "", LENT);
	struct buf pods;
	buf_init(&pods, 1 << 16);
	buf_printf(&pods, "%s\n%s", web, low);
	stage_open(s, config);
	stage_list(s, "/api/v1/nodes", node);
	struct script *p = stage_list(s, "/api/v1/pods", buf_text(&pods));
	buf_done(&pods);
	free(node);
	free(web);
	free(low);
	return p;
}

/* Ticks until the nodes and pods are listed, and what they lend is known. */
static void know(struct overcommit_controller_stage *s)
{
	overcommit_controller_tick(s->overcommit_controller, s->now_ms, true);
	run_until(s->loop, inventory_pods(s->overcommit_controller->inventory) == 2 &&
				   inventory_nodes(s->overcommit_controller->inventory) == 1);
	run_a_little(s->loop);
}

static const struct orders *orders_of(struct overcommit_controller_stage *s, const char *node)
{
	return overcommit_controller_orders(s->overcommit_controller, node);
}

/* ---- orders ---------------------------------------------------------------------------------- */

static void no_orders_before_all_is_known(void **state)
{
	(void)state;
	struct overcommit_controller_stage s;
	open_cluster(&s, CONFIG);
	assert_null(orders_of(&s, "n1"));
	know(&s);
	assert_null(orders_of(&s, "n1")); /* no strategy yet */
	stage_round(&s, "", "");
	stage_tick(&s);
	assert_non_null(orders_of(&s, "n1"));
	assert_null(orders_of(&s, "n2")); /* not in the cluster, as far as is known */
	overcommit_controller_tick(s.overcommit_controller, s.now_ms, false);
	assert_null(orders_of(&s, "n1")); /* another leads */
	stage_close(&s);
}

static void a_pod_that_is_bound_is_ordered_with_its_event(void **state)
{
	(void)state;
	struct overcommit_controller_stage s;
	struct script *pods = open_cluster(&s, CONFIG);
	char *bound = pod_text("a", "next", "n1", "", LENT);
	char *event = stage_event("ADDED", bound);
	script_hold(pods);
	script_chunk(pods, event);
	know(&s);
	stage_round(&s, "", "");
	stage_tick(&s);
	assert_int_equal(orders_of(&s, "n1")->npods, 1);
	assert_int_equal(s.orders_changes, 0);
	int64_t before = orders_of(&s, "n1")->generation;
	script_release(pods);
	run_until(s.loop, s.orders_changes == 1); /* and no tick */
	assert_string_equal(s.orders_node, "n1");
	assert_int_equal(orders_of(&s, "n1")->npods, 2);
	assert_true(orders_of(&s, "n1")->generation != before);
	free(bound);
	free(event);
	stage_close(&s);
}

/* An agent is told to take back what it did, also by a leader that never followed a node. */
static void where_nothing_is_lent_all_is_lifted(void **state)
{
	(void)state;
	struct overcommit_controller_stage s;
	stage_open(&s, "{\"enable\":false}");
	stage_list(&s, "/api/v1/nodes", "");
	stage_tick(&s);
	stage_tick(&s);
	assert_false(orders_of(&s, "n1")->lends);
	assert_int_equal(orders_of(&s, "n1")->npods, 0);
	assert_true(orders_of(&s, "n1")->generation > 0);
	stage_close(&s);
}

static void a_configuration_that_never_was_good_orders_nothing(void **state)
{
	(void)state;
	struct overcommit_controller_stage s;
	stage_open(&s, "{\"enable\":7}");
	stage_tick(&s);
	assert_null(orders_of(&s, "n1"));
	stage_close(&s);
}

/* ---- samples --------------------------------------------------------------------------------- */

/* The agent of n1 reports: the node, all its pods, and of these the lent one. In cores, and Gi. */
static void report(struct overcommit_controller_stage *s, int node, int pods, int low, int gi)
{
	struct sampled_pod pod = {.used = {low * 1000, GI}, .quota_milli = -1};
	pod.uid = inventory_find_pod(s->overcommit_controller->inventory, "a/low")->uid;
	struct sample sample = {.number = 1,
		.window_ms = 1000,
		.has_used = true,
		.used = {node * 1000, gi * GI},
		.pods_used = {pods * 1000, -1},
		.memory_available = -1,
		.memory_total = -1,
		.may_milli = -1,
		.pods = &pod,
		.npods = 1};
	overcommit_controller_take_sample(s->overcommit_controller, "n1", &sample, s->now_ms);
}

static const struct inventory_node *n1(const struct overcommit_controller_stage *s)
{
	return inventory_find(s->overcommit_controller->inventory, "n1");
}

#define AGENTS "{\"enable\":true,\"usageSource\":\"agent\",\"cpuReclaimThresholdPercent\":60}"
#define PATCH_N1 "PATCH /api/v1/nodes/n1/status"

/* Ordinary pods use 30 - 1 of what all pods do, the system 5 more; a metrics-server is not asked. */
static void figures_by_an_agent_alone(void **state)
{
	(void)state;
	struct overcommit_controller_stage s;
	open_cluster(&s, AGENTS);
	know(&s);
	stage_tick(&s);
	for (int i = 0; i <= 15; i++, s.now_ms += 1000) {
		if (i == 15)
			stage_patch(&s, "n1", 200);
		report(&s, 35, 30, 1, 50);
		stage_tick(&s);
	}
	assert_int_equal(stage_count(&s, "metrics.k8s.io"), 0);
	assert_int_equal(stage_count(&s, PATCH_N1), 1); /* once there are two in the window */
	const struct estimate *e = &n1(&s)->node_state.estimate;
	assert_int_equal(e->cpu.used, 29000);
	assert_int_equal(e->cpu.system, 5000);
	assert_int_equal(e->cpu.result, 60000 - 34000);
	assert_true(e->memory.used == 49 * GI); /* not measured together: all of it is theirs */
	assert_true(e->memory.system == 0);
	assert_int_equal(e->without_sample, 0);
	assert_non_null(
		strstr(stage_last_body(&s, PATCH_N1), "\"kubernetes.io/batch-cpu\":\"26000\""));
	stage_close(&s);
}

/* A second of rest raises nothing, a second of work lowers at once; the window has means. */
static void one_sample_lowers_and_the_mean_raises(void **state)
{
	(void)state;
	struct overcommit_controller_stage s;
	open_cluster(&s, AGENTS);
	know(&s);
	stage_tick(&s);
	for (int i = 0; i <= 15; i++, s.now_ms += 1000) {
		if (i == 15)
			stage_patch(&s, "n1", 200);
		report(&s, 35, 30, 1, 50);
		stage_tick(&s);
	}
	const struct node_state *a = &n1(&s)->node_state;
	assert_int_equal(a->window.count, 2);
	report(&s, 45, 40, 1, 50);
	stage_pass(&s, 1000);
	assert_int_equal(a->lent.cpu_milli, 16000);
	for (int i = 2; i < 15; i++) {
		report(&s, 15, 10, 1, 50);
		stage_pass(&s, 1000);
		assert_int_equal(a->lent.cpu_milli, 26000); /* as the window has it */
	}
	assert_int_equal(a->window.count, 2);
	report(&s, 15, 10, 1, 50);
	stage_pass(&s, 1000);
	assert_int_equal(a->window.count, 3);
	/* a second of 44, thirteen and a last one of 14, over fifteen */
	assert_int_equal(a->window.sample[2].taken.cpu_milli, 16000);
	stage_close(&s);
}

/* A lent pod that has just started is in the use of all pods before the agent names it. That is no
 * ordinary use; where nobody ever names it, it is. */
static void a_lent_pod_that_starts_is_no_ordinary_one(void **state)
{
	(void)state;
	struct overcommit_controller_stage s;
	open_cluster(&s, AGENTS);
	know(&s);
	stage_tick(&s);
	n1(&s)->facts->capacity_lent.batch_cpu = n1(&s)->facts->allocatable_lent.batch_cpu = 8000;
	struct pod_facts young = {.ns = "a",
		.name = "young",
		.node = "n1",
		.phase = POD_RUNNING,
		.batch_asked = {INT64_MAX, GI}, /* no more is believed than what is published */
		.started_ms = s.now_ms - 2000,
		.looked_at = true};
	young.tier.asks_for_lent = true;
	young.uid.byte[0] = 9;
	inventory_see_pod(s.overcommit_controller->inventory, &young);
	report(&s, 35, 30, 1, 50); /* 7 of these are the young one's */
	stage_tick(&s);
	assert_int_equal(n1(&s)->node_state.estimate.cpu.used, 21000);
	s.now_ms += 13000;
	report(&s, 35, 30, 1, 50);
	stage_tick(&s);
	assert_int_equal(n1(&s)->node_state.estimate.cpu.used, 29000);
	stage_close(&s);
}

static void an_agent_that_falls_silent(void **state)
{
	(void)state;
	struct overcommit_controller_stage s;
	open_cluster(&s, CONFIG);
	know(&s);
	stage_round(&s, "", ""); /* nobody has reported yet */
	stage_tick(&s);
	for (int i = 0; i < 30; i++) {
		s.now_ms += 1000;
		report(&s, 35, 30, 1, 50);
		if (i == 15)
			stage_patch(&s, "n1", 200);
		stage_tick(&s);
	}
	assert_int_equal(stage_count(&s, "metrics.k8s.io"), 2); /* none meanwhile */
	int64_t last_ms = s.now_ms;
	char *node = usage_text("", "n1", last_ms + 5000, 40000, 50 * 1024);
	stage_pass(&s, 5000);
	assert_int_equal(stage_count(&s, "metrics.k8s.io"), 2);
	char *web = usage_text("a", "web", last_ms + 5000, 32000, 45 * 1024);
	stage_round(&s, web, node);
	stage_pass(&s, 1000);
	stage_tick(&s);
	assert_int_equal(stage_count(&s, "metrics.k8s.io"), 4);
	assert_false(n1(&s)->by_agent);
	assert_int_equal(n1(&s)->used.cpu_milli, 40000);
	s.now_ms += 1000; /* it is back */
	report(&s, 35, 30, 1, 50);
	stage_tick(&s);
	assert_true(n1(&s)->by_agent);
	free(web);
	free(node);
	stage_close(&s);
}

/* Where the admin wants another source, agents only limit. */
static void another_source_holds(void **state)
{
	(void)state;
	struct overcommit_controller_stage s;
	open_cluster(&s, "{\"enable\":true,\"usageSource\":\"metrics.k8s.io\"}");
	know(&s);
	stage_round(&s, "", "");
	stage_tick(&s);
	report(&s, 35, 30, 1, 50);
	assert_int_equal(n1(&s)->used_ms, 0);
	assert_int_equal(orders_of(&s, "n1")->npods, 1);
	stage_close(&s);
}

/* ---- what is told ---------------------------------------------------------------------------- */

/* The report of n1, or of all nodes; checked to be JSON. */
static void show(struct overcommit_controller_stage *s, const char *node, struct buf *b)
{
	const cJSON *o;
	struct json_writer w = json_writer_object(b);
	assert_true(overcommit_controller_show(s->overcommit_controller, node, &w));
	jw_close(&w);
	assert_int_equal(json_parse(s->json, buf_slice(b), &o, NULL), 0);
}

static void what_is_told_of_an_agent(void **state)
{
	static const struct sampled_pod none;
	struct overcommit_controller_stage s;
	struct buf b;
	struct sample newest = {.has_used = true,
		.used = {35000, 50 * GI},
		.pods_used = {30000, -1},
		.may_milli = 12400,
		.lacks = LACKS_HOLD | LACKS_END,
		.pods = &none};
	(void)state;
	buf_init(&b, 1 << 20);
	open_cluster(&s, AGENTS);
	know(&s);
	stage_tick(&s);
	show(&s, "n1", &b);
	assert_null(strstr(buf_text(&b), "\"agent\"")); /* it has none */
	buf_reset(&b);
	s.has_agent = true; /* it has asked, and not reported */
	show(&s, "n1", &b);
	assert_non_null(strstr(buf_text(&b), "\"agent\":{\"sampleTime\":\"\",\"isSource\":false,"));
	buf_reset(&b);
	newest.orders = orders_of(&s, "n1")->generation;
	struct sampled_pod low = {.used = {1000, GI}, .quota_milli = 1500, .over = true};
	low.uid = inventory_find_pod(s.overcommit_controller->inventory, "a/low")->uid;
	newest.pods = &low;
	newest.npods = 1;
	s.agent = (struct node_agent_view){.at_ms = s.now_ms,
		.newest = &newest,
		.deeds[DEED_ENDED] = 1,
		.deeds[DEED_UNDONE] = 2,
		.dropped = 3,
		.deeds[DEED_LIMITED] = 4,
		.deeds[DEED_HELD] = 5,
		.deeds[DEED_REFUSED] = 6};
	overcommit_controller_take_sample(s.overcommit_controller, "n1", &newest, s.now_ms);
	stage_pass(&s, 800);
	show(&s, "n1", &b);
	GOLDEN_RESET(&b);
	show(&s, "", &b);
	assert_non_null(strstr(buf_text(&b), "\"heldPods\":1,\"overPods\":1,\"usedCpuMilli\":1000,"
					     "\"askedCpuMilli\":2000,\"mayCpuMilli\":12400"));
	buf_reset(&b);
	overcommit_controller_put_metrics(s.overcommit_controller, &b);
	static const char *const lines[] = {
		"koordlet_node_used_cpu_cores{node=\"n1\"} 35.000\n",
		"koordlet_node_used_memory_bytes{node=\"n1\"} 53687091200\n",
		"koordlet_be_suppress_cpu_cores{type=\"cfsQuota\",node=\"n1\"} 12.400\n",
		"koordlet_be_suppress_ls_used_cpu_cores{node=\"n1\"} 29.000\n",
		"sluice_node_agents 1\n",
		"sluice_node_agent_age_seconds{node=\"n1\"} 0.800\n",
		"sluice_node_lent_pods{node=\"n1\"} 1\n",
		"sluice_node_held_pods{node=\"n1\"} 1\n",
		"sluice_node_ended_total{node=\"n1\"} 1\n",
		"sluice_node_writes_undone_total{node=\"n1\"} 2\n",
		"sluice_node_writes_refused_total{node=\"n1\"} 6\n",
	};
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		if (!strstr(buf_text(&b), lines[i]))
			fail_msg("%s", lines[i]);
	buf_done(&b);
	stage_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_orders_before_all_is_known),
		cmocka_unit_test(a_pod_that_is_bound_is_ordered_with_its_event),
		cmocka_unit_test(where_nothing_is_lent_all_is_lifted),
		cmocka_unit_test(a_configuration_that_never_was_good_orders_nothing),
		cmocka_unit_test(figures_by_an_agent_alone),
		cmocka_unit_test(one_sample_lowers_and_the_mean_raises),
		cmocka_unit_test(a_lent_pod_that_starts_is_no_ordinary_one),
		cmocka_unit_test(an_agent_that_falls_silent),
		cmocka_unit_test(another_source_holds),
		cmocka_unit_test(what_is_told_of_an_agent),
	};
	return cmocka_run_group_tests(tests, NULL, golden_close);
}
