/*
 * The lender, against an API server that does as it is told.
 */
#include "test/unit/lender_stage.h"

#include "controller/overcommit/gauge.h"

#define PATCH_N1 "PATCH /api/v1/nodes/n1/status"
#define SEED_CONFIG                                                                                \
	"{\"enable\":true,\"metricAggregateDurationSeconds\":60,"                                  \
	"\"cpuReclaimThresholdPercent\":60,\"memoryReclaimThresholdPercent\":70,"                  \
	"\"memoryCalculatePolicy\":\"usage\"}"

/* A node of 100 cores and 100 Gi with one ordinary pod on it. */
static void open_cluster(
	struct lender_stage *s, const char *config, const char *annotations, const char *status)
{
	char *node = node_text("n1", "\"pool\":\"a\"", 100, 100, annotations, status);
	char *pod = pod_text("a", "web", "n1", "", "\"cpu\":\"20\",\"memory\":\"20Gi\"");
	stage_open(s, config);
	stage_list(s, "/api/v1/nodes", node);
	stage_list(s, "/api/v1/pods", pod);
	lender_tick(s->lender, s->now_ms, true);
	run_until(s->loop, inventory_nodes(s->lender->inventory) == 1 &&
				   inventory_pods(s->lender->inventory) == 1);
	run_a_little(s->loop);
	free(node);
	free(pod);
}

/* The pod uses so much, and the node so much with its system. */
static void measure(struct lender_stage *s, int pod_milli, int pod_mi, int node_milli, int node_mi)
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
	struct lender_stage s;
	open_cluster(&s, SEED_CONFIG, "", "");
	measure(&s, 10000, 10 * 1024, 15000, 12 * 1024);
	assert_int_equal(stage_count(&s, "PATCH"), 0); /* one sample is none */
	s.now_ms += 15000;
	stage_patch(&s, "n1", 200);
	measure(&s, 10000, 10 * 1024, 15000, 12 * 1024);
	assert_int_equal(stage_count(&s, PATCH_N1), 1);
	/* 100 cores * 60 % - 10 - 5 = 45; 100 Gi * 70 % - 10 - 2 = 58 Gi */
	const char *body = stage_last_body(&s, PATCH_N1);
	assert_string_equal(body,
		"{\"metadata\":{\"annotations\":{\"sluice.dev/overcommit-sample\":"
		"\"2026-11-21T10:00:15.000Z\"}},\"status\":{"
		"\"capacity\":{\"kubernetes.io/batch-cpu\":\"45000\","
		"\"kubernetes.io/batch-memory\":\"62277025792\"},"
		"\"allocatable\":{\"kubernetes.io/batch-cpu\":\"45000\","
		"\"kubernetes.io/batch-memory\":\"62277025792\"}}}");
	stage_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figures_follow_what_is_used),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
