/*
 * The lender, against an API server that does as it is told.
 */
#include "overcommit_controller_stage.h"

#include "controller/overcommit/node_watch.h"
#include "test/golden/golden.h"

#define PATCH_N1 "PATCH /api/v1/nodes/n1/status"
#define SEED_CONFIG                                                                                \
	"{\"enable\":true,\"metricAggregateDurationSeconds\":60,"                                  \
	"\"cpuReclaimThresholdPercent\":60,\"memoryReclaimThresholdPercent\":70,"                  \
	"\"memoryCalculatePolicy\":\"usage\"}"

/* A node of 100 cores and 100 Gi with one ordinary pod on it. */
static void open_cluster(struct overcommit_controller_stage *s, const char *config,
	const char *annotations, const char *status)
{
	char *node = node_text("n1", "\"pool\":\"a\"", 100, 100, annotations, status);
	char *pod = pod_text("a", "web", "n1", "", "\"cpu\":\"20\",\"memory\":\"20Gi\"");
	stage_open(s, config);
	stage_list(s, "/api/v1/nodes", node);
	stage_list(s, "/api/v1/pods", pod);
	overcommit_controller_tick(s->overcommit_controller, s->now_ms, true);
	run_until(s->loop, inventory_nodes(s->overcommit_controller->inventory) == 1 &&
				   inventory_pods(s->overcommit_controller->inventory) == 1);
	run_a_little(s->loop);
	free(node);
	free(pod);
}

/* The pod uses so much, and the node so much with its system. */
static void measure(struct overcommit_controller_stage *s, int pod_milli, int pod_mi,
	int node_milli, int node_mi)
{
	char *pod = usage_text("a", "web", s->now_ms, pod_milli, pod_mi);
	char *node = usage_text("", "n1", s->now_ms, node_milli, node_mi);
	stage_round(s, pod, node);
	stage_tick(s); /* reads it */
	stage_tick(s); /* and makes something of it */
	free(pod);
	free(node);
}

static void figures_follow_what_is_used(void **state)
{
	(void)state;
	struct overcommit_controller_stage s;
	open_cluster(&s, SEED_CONFIG, "", "");
	measure(&s, 10000, 10 * 1024, 15000, 12 * 1024);
	assert_int_equal(stage_count(&s, "PATCH"), 0); /* one sample is none */
	s.now_ms += 15000;
	stage_patch(&s, "n1", 200);
	measure(&s, 10000, 10 * 1024, 15000, 12 * 1024);
	assert_int_equal(stage_count(&s, PATCH_N1), 1);
	/* 100 cores * 60 % - 10 - 5 = 45; 100 Gi * 70 % - 10 - 2 = 58 Gi */
	const char *body = stage_last_body(&s, PATCH_N1);
	char uid[UID_TEXT_SIZE], of[128];
	uid_format(&inventory_find(s.overcommit_controller->inventory, "n1")->facts->uid, uid);
	snprintf(of, sizeof(of), "{\"metadata\":{\"uid\":\"%s\",", uid); /* no other of its name */
	assert_memory_equal(body, of, strlen(of));
	assert_string_equal(body + strlen(of),
		"\"annotations\":{\"sluice.dev/overcommit-sample\":"
		"\"2026-11-21T10:00:15.000Z\"}},\"status\":{"
		"\"capacity\":{\"kubernetes.io/batch-cpu\":\"45000\","
		"\"kubernetes.io/batch-memory\":\"62277025792\"},"
		"\"allocatable\":{\"kubernetes.io/batch-cpu\":\"45000\","
		"\"kubernetes.io/batch-memory\":\"62277025792\"}}}");
	stage_close(&s);
}

static void nothing_is_written_when_nothing_changed(void **state)
{
	(void)state;
	struct overcommit_controller_stage s;
	open_cluster(&s, SEED_CONFIG, "", "");
	measure(&s, 10000, 10 * 1024, 15000, 12 * 1024);
	s.now_ms += 15000;
	stage_patch(&s, "n1", 200);
	measure(&s, 10000, 10 * 1024, 15000, 12 * 1024);
	for (int i = 0; i < 60; i++) { /* a quarter of an hour */
		s.now_ms += 15000;
		measure(&s, 10000, 10 * 1024, 15000, 12 * 1024);
	}
	assert_int_equal(stage_count(&s, "PATCH"), 1);
	stage_close(&s);
}

/* What was published before a restart stays until there are two samples, and falls at once. */
static void after_a_restart_nothing_is_raised_on_one_sample(void **state)
{
	(void)state;
	struct overcommit_controller_stage s;
	open_cluster(&s, SEED_CONFIG, "\"sluice.dev/overcommit-sample\":\"2026-11-21T09:59:45Z\"",
		",\"kubernetes.io/batch-cpu\":\"20k\",\"kubernetes.io/batch-memory\":\"20Gi\"");
	measure(&s, 10000, 10 * 1024, 15000, 12 * 1024);
	assert_int_equal(stage_count(&s, "PATCH"), 0); /* 45 would be more than 20 */
	s.now_ms += 15000;
	stage_patch(&s, "n1", 200);
	measure(&s, 10000, 10 * 1024, 15000, 12 * 1024);
	assert_non_null(
		strstr(stage_last_body(&s, PATCH_N1), "\"kubernetes.io/batch-cpu\":\"45000\""));
	stage_close(&s);
}

/* A figure that never changes is never written again, so how old it says it is means little: there
 * are two minutes to get a sample. Without one it is 0. */
static void after_a_restart_an_old_figure_has_two_minutes(void **state)
{
	(void)state;
	struct overcommit_controller_stage s;
	open_cluster(&s, SEED_CONFIG, "\"sluice.dev/overcommit-sample\":\"2026-11-21T02:00:00Z\"",
		",\"kubernetes.io/batch-cpu\":\"45k\",\"kubernetes.io/batch-memory\":\"58Gi\"");
	for (int64_t end = s.now_ms + 120000; s.now_ms <= end; s.now_ms += 15000) {
		script_answer(scripted_server_expect(s.server, "metrics.k8s.io/v1beta1/pods"), 503,
			"", "service unavailable");
		stage_tick(&s);
		assert_int_equal(stage_count(&s, "PATCH"), 0);
	}
	script_answer(scripted_server_expect(s.server, "metrics.k8s.io/v1beta1/pods"), 503, "",
		"service unavailable");
	stage_patch(&s, "n1", 200);
	stage_tick(&s);
	assert_non_null(strstr(stage_last_body(&s, PATCH_N1), "\"kubernetes.io/batch-cpu\":\"0\""));
	stage_close(&s);
}

static void after_a_restart_one_sample_is_enough_to_fall(void **state)
{
	(void)state;
	struct overcommit_controller_stage s;
	open_cluster(&s, SEED_CONFIG, "\"sluice.dev/overcommit-sample\":\"2026-11-21T09:59:45Z\"",
		",\"kubernetes.io/batch-cpu\":\"50k\",\"kubernetes.io/batch-memory\":\"80Gi\"");
	stage_patch(&s, "n1", 200);
	measure(&s, 40000, 10 * 1024, 50000, 12 * 1024);
	assert_non_null(
		strstr(stage_last_body(&s, PATCH_N1), "\"kubernetes.io/batch-cpu\":\"10000\""));
	stage_close(&s);
}

/* Killed between the PATCH and its answer: the next one sees it, and writes nothing again. */
static void a_write_without_an_answer_is_not_written_twice(void **state)
{
	(void)state;
	struct overcommit_controller_stage s;
	open_cluster(&s, SEED_CONFIG, "\"sluice.dev/overcommit-sample\":\"2026-11-21T09:59:45Z\"",
		",\"kubernetes.io/batch-cpu\":\"45k\",\"kubernetes.io/batch-memory\":\"58Gi\"");
	for (int i = 0; i < 3; i++) {
		measure(&s, 10000, 10 * 1024, 15000, 12 * 1024);
		s.now_ms += 15000;
	}
	assert_int_equal(stage_count(&s, "PATCH"), 0);
	stage_close(&s);
}

/* While a write is under way nothing else is written there, and what was made of the node meanwhile
 * is no reason to write it again. */
static void a_slow_answer_is_one_write(void **state)
{
	(void)state;
	struct overcommit_controller_stage s;
	open_cluster(&s, SEED_CONFIG, "", "");
	measure(&s, 10000, 10 * 1024, 15000, 12 * 1024);
	s.now_ms += 15000;
	struct script *p = scripted_server_expect(s.server, PATCH_N1);
	script_hold(p);
	script_answer(p, 200, "Content-Type: application/json\r\n", "{}");
	char *pod = usage_text("a", "web", s.now_ms, 10000, 10 * 1024);
	char *node = usage_text("", "n1", s.now_ms, 15000, 12 * 1024);
	stage_round(&s, pod, node);
	overcommit_controller_tick(s.overcommit_controller, s.now_ms, true);
	run_until(s.loop, !usage_poller_busy(s.overcommit_controller->usage_poller));
	for (int i = 0; i < 3; i++) {
		inventory_find(s.overcommit_controller->inventory, "n1")->dirty = true;
		overcommit_controller_tick(s.overcommit_controller, s.now_ms += 1000, true);
		run_a_little(s.loop);
	}
	script_release(p);
	stage_pass(&s, 1000);
	stage_pass(&s, 1000);
	assert_int_equal(stage_count(&s, "PATCH"), 1);
	free(pod);
	free(node);
	stage_close(&s);
}

static void what_fails_is_due_again(void **state)
{
	(void)state;
	struct overcommit_controller_stage s;
	open_cluster(&s, SEED_CONFIG, "", "");
	measure(&s, 10000, 10 * 1024, 15000, 12 * 1024);
	s.now_ms += 15000;
	stage_patch(&s, "n1", 503);
	measure(&s, 10000, 10 * 1024, 15000, 12 * 1024);
	assert_int_equal(stage_count(&s, "PATCH"), 1);
	stage_tick(&s); /* not in the same second */
	assert_int_equal(stage_count(&s, "PATCH"), 1);
	stage_patch(&s, "n1", 200);
	stage_pass(&s, 1000);
	assert_int_equal(stage_count(&s, "PATCH"), 2);
	assert_int_equal(publisher_count(s.overcommit_controller->publisher).failed, 1);
	stage_close(&s);
}

/* Metrics away: held, then 0. */
static void without_metrics_it_is_held_then_nothing(void **state)
{
	(void)state;
	struct overcommit_controller_stage s;
	open_cluster(&s, SEED_CONFIG, "", "");
	measure(&s, 10000, 10 * 1024, 15000, 12 * 1024);
	s.now_ms += 15000;
	stage_patch(&s, "n1", 200);
	measure(&s, 10000, 10 * 1024, 15000, 12 * 1024);
	int64_t last_ms = s.now_ms;
	for (s.now_ms += 15000; s.now_ms <= last_ms + 15 * 60000; s.now_ms += 15000) {
		script_answer(scripted_server_expect(s.server, "metrics.k8s.io/v1beta1/pods"), 503,
			"", "service unavailable");
		stage_tick(&s);
		stage_tick(&s);
		assert_int_equal(stage_count(&s, "PATCH"), 1);
	}
	assert_non_null(strstr(
		usage_poller_trouble(s.overcommit_controller->usage_poller), "metrics-server"));
	s.now_ms = last_ms + 15 * 60000 + 1000;
	stage_patch(&s, "n1", 200);
	stage_tick(&s);
	assert_int_equal(stage_count(&s, "PATCH"), 2);
	assert_non_null(strstr(stage_last_body(&s, PATCH_N1), "\"kubernetes.io/batch-cpu\":\"0\""));
	stage_close(&s);
}

static void see_configmap(struct overcommit_controller_stage *s, const char *config)
{
	const cJSON *o;
	bool news;
	struct err e = {""};
	char *text = configmap_text(config);
	assert_int_equal(json_parse(s->json, slice_of(text), &o, NULL), 0);
	overcommit_configs_see_configmap(
		s->overcommit_controller->overcommit_configs, o, &news, &e);
	free(text);
}

static void disabled_is_nothing(void **state)
{
	(void)state;
	struct overcommit_controller_stage s;
	open_cluster(&s, SEED_CONFIG, "\"sluice.dev/overcommit-sample\":\"2026-11-21T09:59:45Z\"",
		",\"kubernetes.io/batch-cpu\":\"45k\",\"kubernetes.io/batch-memory\":\"58Gi\"");
	see_configmap(&s, "{\"enable\":false}");
	stage_patch(&s, "n1", 200);
	stage_tick(&s);
	assert_non_null(strstr(stage_last_body(&s, PATCH_N1),
		"\"allocatable\":{\"kubernetes.io/batch-cpu\":\"0\",\"kubernetes.io/batch-memory\":"
		"\"0\"}"));
	stage_pass(&s, 1000);
	stage_pass(&s, 1000);
	assert_int_equal(stage_count(&s, "PATCH"), 1);
	/* Nobody lends and nothing is left: nothing is followed any more. */
	assert_false(node_watch_has_nodes(s.overcommit_controller->node_watch));
	assert_int_equal(inventory_nodes(s.overcommit_controller->inventory), 0);
	stage_close(&s);
}

static void a_bad_configuration_keeps_the_last_good_one(void **state)
{
	(void)state;
	struct overcommit_controller_stage s;
	open_cluster(&s, SEED_CONFIG, "", "");
	measure(&s, 10000, 10 * 1024, 15000, 12 * 1024);
	see_configmap(&s, "{\"enable\":true,\"cpuReclaimThresholdPercent\":-5}");
	assert_non_null(overcommit_configs_fault(s.overcommit_controller->overcommit_configs));
	s.now_ms += 15000;
	stage_patch(&s, "n1", 200);
	measure(&s, 10000, 10 * 1024, 15000, 12 * 1024);
	assert_non_null(
		strstr(stage_last_body(&s, PATCH_N1), "\"kubernetes.io/batch-cpu\":\"45000\""));
	stage_close(&s);
}

static void see_rule(struct overcommit_controller_stage *s, const char *name, const char *spec)
{
	const cJSON *o;
	struct err e = {""};
	struct buf b;
	buf_init(&b, 1 << 16);
	buf_printf(&b,
		"{\"metadata\":{\"name\":\"%s\",\"generation\":1,\"uid\":"
		"\"00000000-0000-0000-0000-0000000000aa\"},\"spec\":%s}",
		name, spec);
	assert_int_equal(json_parse(s->json, buf_slice(&b), &o, NULL), 0);
	overcommit_controller_see(s->overcommit_controller, o, &e);
	buf_done(&b);
}

static void expect_status(struct overcommit_controller_stage *s, const char *name)
{
	struct buf b;
	buf_init(&b, 1 << 12);
	buf_printf(&b, "PATCH /apis/sluice.dev/v1alpha1/nodeovercommits/%s/status", name);
	script_answer(scripted_server_expect(s->server, buf_text(&b)), 200,
		"Content-Type: application/json\r\n", "{}");
	buf_done(&b);
}

/* Bad from the start: nobody knows what was meant, so nothing is touched. */
static void a_configuration_that_never_was_good_changes_nothing(void **state)
{
	(void)state;
	struct overcommit_controller_stage s;
	stage_open(&s, "{\"enable\":tru");
	see_rule(&s, "a", "{}");
	expect_status(&s, "a");
	stage_tick(&s);
	assert_non_null(strstr(stage_last_body(&s, "/a/status"), "ConfigMapInUse"));
	assert_int_equal(stage_count(&s, "/api/v1/nodes"), 0);
	assert_false(overcommit_configs_known(s.overcommit_controller->overcommit_configs));
	stage_close(&s);
}

static void the_configmap_wins(void **state)
{
	(void)state;
	struct overcommit_controller_stage s;
	open_cluster(&s, SEED_CONFIG, "", "");
	see_rule(&s, "a", "{\"cpuReclaimThresholdPercent\":90}");
	expect_status(&s, "a");
	measure(&s, 10000, 10 * 1024, 15000, 12 * 1024);
	const char *status = stage_last_body(&s, "nodeovercommits/a/status");
	assert_non_null(strstr(status, "\"status\":\"False\",\"reason\":\"ConfigMapInUse\""));
	assert_ptr_equal(status,
		strstr(status, "[{\"op\":\"test\",\"path\":\"/metadata/uid\",\"value\":"
			       "\"00000000-0000-0000-0000-0000000000aa\"},"
			       "{\"op\":\"add\",\"path\":\"/status\",\"value\":{\"nodes\":"));
	s.now_ms += 15000;
	stage_patch(&s, "n1", 200);
	measure(&s, 10000, 10 * 1024, 15000, 12 * 1024);
	assert_non_null(
		strstr(stage_last_body(&s, PATCH_N1), "\"kubernetes.io/batch-cpu\":\"45000\""));
	assert_int_equal(stage_count(&s, "nodeovercommits/a/status"), 1);
	stage_close(&s);
}

static void the_first_by_name_holds_and_all_say_so(void **state)
{
	(void)state;
	struct overcommit_controller_stage s;
	char *node = node_text("n1", "\"pool\":\"a\"", 100, 100, "", "");
	stage_open(&s, NULL);
	see_rule(&s, "b", "{\"cpuReclaimThresholdPercent\":90}");
	see_rule(&s, "a",
		"{\"cpuReclaimThresholdPercent\":80,\"nodeSelector\":{\"matchLabels\":"
		"{\"pool\":\"a\"}}}");
	see_rule(&s, "c", "{\"nodeSelector\":{\"matchLabels\":{\"pool\":\"z\"}}}");
	see_rule(&s, "d", "{\"enable\":false}");
	stage_list(&s, "/api/v1/nodes", node);
	stage_list(&s, "/api/v1/pods", "");
	for (const char *c = "abcd"; *c; c++)
		expect_status(&s, (char[2]){*c, '\0'});
	overcommit_controller_tick(s.overcommit_controller, s.now_ms, true);
	run_until(s.loop, node_watch_has_nodes(s.overcommit_controller->node_watch) &&
				  node_watch_has_pods(s.overcommit_controller->node_watch));
	expect_status(&s, "a"); /* once more: there is a sample */
	measure(&s, 0, 0, 15000, 12 * 1024);
	assert_non_null(
		strstr(stage_last_body(&s, "/a/status"), "\"nodes\":1,\"degradedNodes\":0"));
	assert_non_null(strstr(stage_last_body(&s, "/a/status"), "\"reason\":\"Active\""));
	assert_non_null(strstr(stage_last_body(&s, "/b/status"), "\"reason\":\"Overshadowed\""));
	assert_non_null(strstr(stage_last_body(&s, "/c/status"), "\"reason\":\"NoNodes\""));
	assert_non_null(strstr(stage_last_body(&s, "/d/status"), "\"reason\":\"Disabled\""));
	const struct node_state *l =
		&inventory_find(s.overcommit_controller->inventory, "n1")->node_state;
	assert_int_equal(l->strategy.cpu_percent, 80);
	assert_string_equal(l->whose, "a");
	free(node);
	stage_close(&s);
}

/* Nobody lends: the nodes are looked through once, and then nothing is followed. */
static void nothing_is_followed_while_nobody_lends(void **state)
{
	(void)state;
	struct overcommit_controller_stage s;
	char *node = node_text("n1", "", 100, 100, "", "");
	stage_open(&s, NULL);
	stage_list(&s, "/api/v1/nodes", node);
	overcommit_controller_tick(s.overcommit_controller, s.now_ms, true);
	run_until(s.loop, node_watch_has_nodes(s.overcommit_controller->node_watch));
	stage_pass(&s, 1000);
	stage_pass(&s, 1000);
	stage_pass(&s, 1000);
	assert_false(node_watch_has_nodes(s.overcommit_controller->node_watch));
	assert_int_equal(stage_count(&s, "/api/v1/pods"), 0);
	assert_int_equal(stage_count(&s, "metrics.k8s.io"), 0);
	free(node);
	stage_close(&s);
}

static void a_standby_reads_and_writes_nothing(void **state)
{
	(void)state;
	struct overcommit_controller_stage s;
	stage_open(&s, SEED_CONFIG);
	for (int i = 0; i < 5; i++) {
		overcommit_controller_tick(s.overcommit_controller, s.now_ms += 1000, false);
		run_a_little(s.loop);
	}
	assert_int_equal(scripted_server_count(s.server), 1); /* the ConfigMap */
	stage_close(&s);
}

static void put_flavor(struct overcommit_controller_stage *s, enum lending l)
{
	struct flavor_spec *f = mem_alloc(sizeof(*f));
	*f = (struct flavor_spec){.name = "idle", .lending = l, .share_permille = 1000};
	overcommit_controller_see_flavor(s->overcommit_controller, f);
}

/* No more than nodes publish; less what others ask for. */
static void pools_are_what_nodes_publish(void **state)
{
	(void)state;
	struct overcommit_controller_stage s;
	char *node = node_text("n1", "", 100, 100,
		"\"sluice.dev/overcommit-sample\":\"2026-11-21T09:59:45Z\"",
		",\"kubernetes.io/batch-cpu\":\"50k\",\"kubernetes.io/batch-memory\":\"80Gi\"");
	char *others = pod_text("a", "be", "n1", "",
		"\"kubernetes.io/batch-cpu\":\"8k\",\"kubernetes.io/batch-memory\":\"8Gi\"");
	char *ours = pod_text("a", "ours", "n1", "\"sluice.dev/cluster-queue-name\":\"q\"",
		"\"kubernetes.io/batch-cpu\":\"5k\",\"kubernetes.io/batch-memory\":\"5Gi\"");
	struct buf pods;
	buf_init(&pods, 1 << 16);
	buf_printf(&pods, "%s\n%s", others, ours);
	stage_open(&s, SEED_CONFIG);
	stage_list(&s, "/api/v1/nodes", node);
	stage_list(&s, "/api/v1/pods", buf_text(&pods));
	put_flavor(&s, LENDING_BATCH);
	overcommit_controller_tick(s.overcommit_controller, s.now_ms, true);
	run_until(s.loop, node_watch_has_nodes(s.overcommit_controller->node_watch) &&
				  node_watch_has_pods(s.overcommit_controller->node_watch));
	stage_round(&s, "", "");
	stage_tick(&s);
	const struct idle_pool *p = pools_at(s.overcommit_controller->pools, 0);
	assert_int_equal(p->cpu_milli, 42000);
	assert_int_equal(p->memory_bytes, 72 * GI);
	assert_int_equal(p->most_cpu_milli, 42000);
	assert_int_equal(s.changes, 1);
	stage_pass(&s, 1000);
	assert_int_equal(s.changes, 1);
	buf_done(&pods);
	free(node);
	free(others);
	free(ours);
	stage_close(&s);
}

/* What falls by less than a tenth is not written; no Job is to start in it all the same. */
static void a_pool_shrinks_with_the_sample(void **state)
{
	(void)state;
	struct overcommit_controller_stage s;
	open_cluster(&s, SEED_CONFIG, "", "");
	put_flavor(&s, LENDING_BATCH);
	const struct idle_pool *p = pools_at(s.overcommit_controller->pools, 0);
	measure(&s, 10000, 10 * 1024, 15000, 12 * 1024);
	assert_int_equal(p->cpu_milli, 0); /* one sample is none */
	s.now_ms += 15000;
	stage_patch(&s, "n1", 200);
	measure(&s, 10000, 10 * 1024, 15000, 12 * 1024);
	stage_tick(&s);
	assert_int_equal(p->cpu_milli, 45000);
	s.now_ms += 15000;
	measure(&s, 12000, 10 * 1024, 17000, 12 * 1024);
	assert_int_equal(p->cpu_milli, 43000);
	s.now_ms += 15000;
	measure(&s, 10000, 10 * 1024, 15000, 12 * 1024); /* it rises to the mean of all samples */
	assert_in_range(p->cpu_milli, 43001, 44999);
	assert_int_equal(stage_count(&s, PATCH_N1), 1);
	stage_close(&s);
}

static const char *written_cpu(const struct overcommit_controller_stage *s)
{
	const char *body = stage_last_body(s, PATCH_N1);
	const char *cpu =
		body ? strstr(body, "\"allocatable\":{\"kubernetes.io/batch-cpu\":") : NULL;
	return cpu ? cpu : "";
}

/* A pod is bound, its kubelet has not looked at it yet, and use rises: it must not be rejected. */
static void a_figure_waits_for_pods_in_flight(void **state)
{
	(void)state;
	struct overcommit_controller_stage s;
	char *node = node_text("n1", "", 100, 100,
		"\"sluice.dev/overcommit-sample\":\"2026-11-21T09:59:45Z\"",
		",\"kubernetes.io/batch-cpu\":\"45000\",\"kubernetes.io/batch-memory\":\"62277025792\"");
	char *web = pod_text("a", "web", "n1", "", "\"cpu\":\"20\",\"memory\":\"20Gi\"");
	char *bound = pod_text("a", "bound", "n1", "",
		"\"kubernetes.io/batch-cpu\":\"40k\",\"kubernetes.io/batch-memory\":\"1Gi\"");
	struct buf pods;
	buf_init(&pods, 1 << 16);
	buf_printf(&pods, "%s\n%s", web, bound);
	stage_open(&s, SEED_CONFIG);
	stage_list(&s, "/api/v1/nodes", node);
	stage_list(&s, "/api/v1/pods", buf_text(&pods));
	overcommit_controller_tick(s.overcommit_controller, s.now_ms, true);
	run_until(s.loop, inventory_nodes(s.overcommit_controller->inventory) == 1 &&
				  inventory_pods(s.overcommit_controller->inventory) == 2);
	measure(&s, 10000, 10 * 1024, 15000, 12 * 1024);
	s.now_ms += 15000;
	measure(&s, 10000, 10 * 1024, 15000, 12 * 1024);
	assert_int_equal(stage_count(&s, PATCH_N1), 0); /* as it is there */
	s.now_ms += 15000;
	stage_patch(&s, "n1", 200);
	measure(&s, 20000, 10 * 1024, 27000, 12 * 1024); /* 60 - 20 - 7 = 33 */
	assert_int_equal(stage_count(&s, PATCH_N1), 1);
	assert_non_null(strstr(written_cpu(&s), ":\"40000\""));
	stage_pass(&s, 9000);
	assert_int_equal(stage_count(&s, PATCH_N1), 1);
	/* The kubelet takes longer than that. */
	stage_patch(&s, "n1", 200);
	stage_pass(&s, 1000);
	assert_int_equal(stage_count(&s, PATCH_N1), 2);
	assert_non_null(strstr(written_cpu(&s), ":\"33000\""));
	buf_done(&pods);
	free(node);
	free(web);
	free(bound);
	stage_close(&s);
}

/* False: there is no such Node, and out is an empty object. */
static bool show(const struct overcommit_controller_stage *s, const char *node, struct buf *out)
{
	struct json_writer w = json_writer_object(out);
	bool is_known = overcommit_controller_show(s->overcommit_controller, node, &w);
	jw_close(&w);
	buf_putc(out, '\n');
	return is_known;
}

static void the_page_of_a_node_is_json(void **state)
{
	(void)state;
	struct overcommit_controller_stage s;
	struct buf b;
	const cJSON *o;
	open_cluster(&s, SEED_CONFIG, "", "");
	measure(&s, 10000, 10 * 1024, 15000, 12 * 1024);
	buf_init(&b, 1 << 20);
	assert_true(show(&s, "n1", &b));
	assert_int_equal(json_parse(s.json, buf_slice(&b), &o, NULL), 0);
	int64_t result = 0;
	json_i64(json_object(json_object(o, "terms"), "cpu"), "result", &result);
	assert_int_equal(result, 45000);
	GOLDEN_RESET(&b);
	assert_true(show(&s, "", &b));
	assert_int_equal(json_parse(s.json, buf_slice(&b), &o, NULL), 0);
	GOLDEN_RESET(&b);
	assert_false(show(&s, "n2", &b));
	buf_reset(&b);
	overcommit_controller_put_metrics(s.overcommit_controller, &b);
	assert_non_null(strstr(buf_text(&b), "sluice_overcommit_node_calculated{resource="
					     "\"kubernetes.io/batch-cpu\",node=\"n1\"} "));
	buf_done(&b);
	stage_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figures_follow_what_is_used),
		cmocka_unit_test(nothing_is_written_when_nothing_changed),
		cmocka_unit_test(after_a_restart_nothing_is_raised_on_one_sample),
		cmocka_unit_test(after_a_restart_one_sample_is_enough_to_fall),
		cmocka_unit_test(after_a_restart_an_old_figure_has_two_minutes),
		cmocka_unit_test(a_write_without_an_answer_is_not_written_twice),
		cmocka_unit_test(a_slow_answer_is_one_write),
		cmocka_unit_test(what_fails_is_due_again),
		cmocka_unit_test(without_metrics_it_is_held_then_nothing),
		cmocka_unit_test(disabled_is_nothing),
		cmocka_unit_test(a_bad_configuration_keeps_the_last_good_one),
		cmocka_unit_test(a_configuration_that_never_was_good_changes_nothing),
		cmocka_unit_test(the_configmap_wins),
		cmocka_unit_test(the_first_by_name_holds_and_all_say_so),
		cmocka_unit_test(nothing_is_followed_while_nobody_lends),
		cmocka_unit_test(a_standby_reads_and_writes_nothing),
		cmocka_unit_test(pools_are_what_nodes_publish),
		cmocka_unit_test(a_pool_shrinks_with_the_sample),
		cmocka_unit_test(a_figure_waits_for_pods_in_flight),
		cmocka_unit_test(the_page_of_a_node_is_json),
	};
	return cmocka_run_group_tests(tests, NULL, golden_close);
}
