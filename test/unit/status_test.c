/*
 * The status of queues: names and words are Kueue's, and the same view gives the same text.
 */
#include "controller/status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "controller/kube/json.h"

#define SINCE "2026-11-21T10:00:00Z"

static const struct usage_view usage[] = {
	{.flavor = "spot", .resource = "cpu", .nominal = 40000, .reserved = 12500, .used = 12000},
	{.flavor = "on-demand", .resource = "cpu", .nominal = 10000},
	/* more than there is: quota was lowered */
	{.flavor = "spot", .resource = "memory", .nominal = 68719476736, .reserved = 137438953472},
	{.flavor = "on-demand", .resource = "memory", .nominal = 1000},
};

static struct clusterqueue_view queue_view(void)
{
	struct clusterqueue_view v = {
		.name = "batch",
		.generation = 3,
		.active = true,
		.reason = "Ready",
		.message = "Can admit new workloads",
		.pending = 7,
		.reserving = 3,
		.admitted = 2,
		.usage = usage,
		.nusage = 4,
	};
	return v;
}

static const cJSON *member(const cJSON *list, const char *name)
{
	json_each(item, list) if (strcmp(json_text(item, "name"), name) == 0) return item;
	return NULL;
}

static int64_t count(const cJSON *status, const char *key)
{
	int64_t n = -1;
	assert_int_equal(json_i64(status, key, &n), 0);
	return n;
}

static void a_clusterqueue_tells_all(void **state)
{
	(void)state;
	struct clusterqueue_view v = queue_view();
	struct json *j = json_new(1 << 20);
	struct buf out;
	const cJSON *root;
	buf_init(&out, 65536);
	status_render_clusterqueue(&v, false, SINCE, &out);
	assert_int_equal(json_parse(j, buf_slice(&out), &root, NULL), 0);
	const cJSON *status = json_object(root, "status");
	const cJSON *active = json_array(status, "conditions")->child;
	assert_string_equal(json_text(active, "type"), "Active");
	assert_string_equal(json_text(active, "status"), "True");
	assert_string_equal(json_text(active, "reason"), "Ready");
	assert_string_equal(json_text(active, "lastTransitionTime"), SINCE);
	assert_int_equal(count(active, "observedGeneration"), 3);
	assert_int_equal(count(status, "pendingWorkloads"), 7);
	assert_int_equal(count(status, "reservingWorkloads"), 3);
	assert_int_equal(count(status, "admittedWorkloads"), 2);
	const cJSON *spot = member(json_array(status, "flavorsReservation"), "spot");
	const cJSON *cpu = member(json_array(spot, "resources"), "cpu");
	const cJSON *memory = member(json_array(spot, "resources"), "memory");
	assert_string_equal(json_text(cpu, "total"), "12500m");
	assert_string_equal(json_text(cpu, "borrowed"), "0");
	assert_string_equal(json_text(memory, "total"), "128Gi");
	assert_string_equal(json_text(memory, "borrowed"), "64Gi");
	spot = member(json_array(status, "flavorsUsage"), "spot");
	assert_string_equal(json_text(member(json_array(spot, "resources"), "cpu"), "total"), "12");
	assert_non_null(member(json_array(status, "flavorsUsage"), "on-demand"));
	json_free(j);
	buf_done(&out);
}

static void a_refused_spec_is_said_while_the_old_one_works(void **state)
{
	(void)state;
	struct clusterqueue_view v = queue_view();
	struct buf out;
	buf_init(&out, 65536);
	v.invalid = "ClusterQueue batch: nominalQuota \"1e400\" is no quantity";
	status_render_clusterqueue(&v, false, SINCE, &out);
	assert_non_null(strstr(buf_text(&out), "\"status\":\"True\""));
	assert_non_null(strstr(buf_text(&out), "\"reason\":\"InvalidSpec\""));
	assert_non_null(strstr(buf_text(&out), "1e400"));
	assert_non_null(strstr(buf_text(&out), "the last valid spec stays in force"));
	buf_done(&out);
}

static void the_same_view_gives_the_same_text(void **state)
{
	(void)state;
	struct clusterqueue_view v = queue_view();
	struct buf a, b;
	buf_init(&a, 65536);
	buf_init(&b, 65536);
	status_render_clusterqueue(&v, false, SINCE, &a);
	status_render_clusterqueue(&v, false, SINCE, &b);
	assert_string_equal(buf_text(&a), buf_text(&b));
	v.pending++;
	buf_reset(&b);
	status_render_clusterqueue(&v, false, SINCE, &b);
	assert_string_not_equal(buf_text(&a), buf_text(&b));
	buf_done(&a);
	buf_done(&b);
}

static void shares_are_told_while_they_count(void **state)
{
	(void)state;
	struct clusterqueue_view v = queue_view();
	struct cohort_view c = {.name = "all",
		.generation = 2,
		.parent = "top",
		.active = false,
		.reason = "CohortCycle",
		.message = "its parents form a ring",
		.weighted_share = 125};
	struct buf out;
	buf_init(&out, 65536);
	v.weighted_share = 250;
	status_render_clusterqueue(&v, true, SINCE, &out);
	assert_non_null(strstr(buf_text(&out), "\"fairSharing\":null")); /* it is in no cohort */
	v.cohort = "all";
	buf_reset(&out);
	status_render_clusterqueue(&v, true, SINCE, &out);
	assert_non_null(strstr(buf_text(&out), "\"fairSharing\":{\"weightedShare\":250}"));
	buf_reset(&out);
	status_render_clusterqueue(&v, false, SINCE, &out);
	assert_non_null(strstr(buf_text(&out), "\"fairSharing\":null"));
	buf_reset(&out);
	status_render_cohort(&c, true, SINCE, &out);
	assert_string_equal(buf_text(&out),
		"{\"status\":{\"conditions\":[{\"type\":\"Active\",\"status\":\"False\",\"reason\":"
		"\"CohortCycle\",\"message\":\"its parents form a "
		"ring\",\"lastTransitionTime\":\"" SINCE
		"\",\"observedGeneration\":2}],\"fairSharing\":{\"weightedShare\":125}}}");
	buf_done(&out);
}

static void a_localqueue_tells_its_counts(void **state)
{
	(void)state;
	struct localqueue_view v = {.ns = "team-a",
		.name = "main",
		.clusterqueue = "batch",
		.reason = "ClusterQueueDoesNotExist",
		.message = "says \"who?\"",
		.pending = 3};
	struct json *j = json_new(1 << 20);
	struct buf out;
	const cJSON *root;
	buf_init(&out, 65536);
	status_render_localqueue(&v, SINCE, &out);
	assert_int_equal(json_parse(j, buf_slice(&out), &root, NULL), 0);
	const cJSON *status = json_object(root, "status");
	const cJSON *active = json_array(status, "conditions")->child;
	assert_string_equal(json_text(active, "status"), "False");
	assert_string_equal(json_text(active, "message"), "says \"who?\"");
	assert_int_equal(count(status, "pendingWorkloads"), 3);
	json_free(j);
	buf_done(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_clusterqueue_tells_all),
		cmocka_unit_test(a_refused_spec_is_said_while_the_old_one_works),
		cmocka_unit_test(the_same_view_gives_the_same_text),
		cmocka_unit_test(shares_are_told_while_they_count),
		cmocka_unit_test(a_localqueue_tells_its_counts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
