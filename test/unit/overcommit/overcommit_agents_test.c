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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_orders_before_all_is_known),
		cmocka_unit_test(a_pod_that_is_bound_is_ordered_with_its_event),
		cmocka_unit_test(where_nothing_is_lent_all_is_lifted),
		cmocka_unit_test(a_configuration_that_never_was_good_orders_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, golden_close);
}
