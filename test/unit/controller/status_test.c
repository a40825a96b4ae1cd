/*
 * The status of queues: names and words are Kueue's, and the same view gives the same text.
 */
#include "controller/write/status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "queue/calendar/zone.h"
#include "base/json.h"
#include "controller/wire/decode.h"
#include "test/golden/golden.h"

#define SINCE "2026-11-21T10:00:00Z"

/* Renders the object whose members `put` puts. */
#define RENDER(out, put, ...)                                                                      \
	do {                                                                                       \
		struct json_writer w = json_writer_object(out);                                    \
		put(&w, __VA_ARGS__);                                                              \
		jw_close(&w);                                                                      \
	} while (0)

static const struct usage_view usage[] = {
	{.flavor = "spot", .resource = "cpu", .nominal = 40000, .reserved = 12500, .used = 12000},
	{.flavor = "on-demand", .resource = "cpu", .nominal = 10000},
	/* more than there is, for quota was lowered; of that half a GiB less is borrowed */
	{.flavor = "spot",
		.resource = "memory",
		.nominal = 68719476736,
		.reserved = 137438953472,
		.used = 137438953472,
		.borrowed = 68182605824,
		.used_borrowed = 67645734912},
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
	json_each(item, list)
		if (strcmp(json_text(item, "name"), name) == 0)
			return item;
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
	RENDER(&out, status_put_clusterqueue, &v, false, SINCE, NULL);
	assert_int_equal(json_parse(j, buf_slice(&out), &root, NULL), 0);
	const cJSON *status = root;
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
	assert_string_equal(json_text(memory, "borrowed"), "65024Mi");
	assert_string_equal(json_text(cpu, "nominal"), "40");
	assert_string_equal(json_text(memory, "nominal"), "64Gi");
	spot = member(json_array(status, "flavorsUsage"), "spot");
	assert_string_equal(json_text(member(json_array(spot, "resources"), "cpu"), "total"), "12");
	assert_null(json_get(json_array(spot, "resources")->child, "nominal"));
	memory = member(json_array(spot, "resources"), "memory");
	assert_string_equal(json_text(memory, "borrowed"), "63Gi");
	assert_non_null(member(json_array(status, "flavorsUsage"), "on-demand"));
	json_free(j);
	GOLDEN_DONE(&out);
}

static void a_refused_spec_is_said_while_the_old_one_works(void **state)
{
	(void)state;
	struct clusterqueue_view v = queue_view();
	struct buf out;
	buf_init(&out, 65536);
	v.invalid = "ClusterQueue batch: nominalQuota \"1e400\" is no quantity";
	RENDER(&out, status_put_clusterqueue, &v, false, SINCE, NULL);
	assert_non_null(strstr(buf_text(&out), "\"status\":\"True\""));
	assert_non_null(strstr(buf_text(&out), "\"reason\":\"InvalidSpec\""));
	assert_non_null(strstr(buf_text(&out), "1e400"));
	assert_non_null(strstr(buf_text(&out), "the last valid spec stays in force"));
	GOLDEN_DONE(&out);
}

static void the_same_view_gives_the_same_text(void **state)
{
	(void)state;
	struct clusterqueue_view v = queue_view();
	struct buf a, b;
	buf_init(&a, 65536);
	buf_init(&b, 65536);
	RENDER(&a, status_put_clusterqueue, &v, false, SINCE, NULL);
	RENDER(&b, status_put_clusterqueue, &v, false, SINCE, NULL);
	assert_string_equal(buf_text(&a), buf_text(&b));
	v.pending++;
	GOLDEN_RESET(&b);
	RENDER(&b, status_put_clusterqueue, &v, false, SINCE, NULL);
	assert_string_not_equal(buf_text(&a), buf_text(&b));
	GOLDEN_DONE(&a);
	GOLDEN_DONE(&b);
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
	RENDER(&out, status_put_clusterqueue, &v, true, SINCE, NULL);
	assert_null(strstr(buf_text(&out), "fairSharing")); /* it is in no cohort */
	v.cohort = "all";
	GOLDEN_RESET(&out);
	RENDER(&out, status_put_clusterqueue, &v, true, SINCE, NULL);
	assert_non_null(strstr(buf_text(&out), "\"fairSharing\":{\"weightedShare\":250}"));
	GOLDEN_RESET(&out);
	RENDER(&out, status_put_clusterqueue, &v, false, SINCE, NULL);
	assert_null(strstr(buf_text(&out), "fairSharing"));
	GOLDEN_RESET(&out);
	RENDER(&out, status_put_cohort, &c, true, SINCE, NULL);
	assert_string_equal(buf_text(&out),
		"{\"conditions\":[{\"type\":\"Active\",\"status\":\"False\",\"reason\":"
		"\"CohortCycle\",\"message\":\"its parents form a "
		"ring\",\"lastTransitionTime\":\"" SINCE
		"\",\"observedGeneration\":2}],\"fairSharing\":{\"weightedShare\":125}}");
	GOLDEN_DONE(&out);
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
	RENDER(&out, status_put_localqueue, &v, SINCE, NULL);
	assert_int_equal(json_parse(j, buf_slice(&out), &root, NULL), 0);
	const cJSON *status = root;
	const cJSON *active = json_array(status, "conditions")->child;
	assert_string_equal(json_text(active, "status"), "False");
	assert_string_equal(json_text(active, "message"), "says \"who?\"");
	assert_int_equal(count(status, "pendingWorkloads"), 3);

	v.invalid = "LocalQueue team-a/main: spec.podTemplate is wrong";
	v.active = true;
	GOLDEN_RESET(&out);
	RENDER(&out, status_put_localqueue, &v, SINCE, NULL);
	assert_int_equal(json_parse(j, buf_slice(&out), &root, NULL), 0);
	active = json_array(root, "conditions")->child;
	assert_string_equal(json_text(active, "status"), "True");
	assert_string_equal(json_text(active, "reason"), "InvalidSpec");
	assert_string_equal(json_text(active, "message"),
		"LocalQueue team-a/main: spec.podTemplate is wrong; the last valid spec stays in force");
	json_free(j);
	GOLDEN_DONE(&out);
}

/* ---- time and money -------------------------------------------------------------------------- */

#define NINE INT64_C(1795251600000) /* 2026-11-21T09:00:00Z */
#define HOUR INT64_C(3600000)

/* Renders, parses, and gives the status. */
static const cJSON *parse(struct json *j, struct buf *out)
{
	const cJSON *root;
	assert_int_equal(json_parse(j, buf_slice(out), &root, NULL), 0);
	return root;
}

static const cJSON *condition(const cJSON *status, const char *type)
{
	json_each(item, json_array(status, "conditions"))
		if (strcmp(json_text(item, "type"), type) == 0)
			return item;
	fail_msg("no condition %s", type);
	return NULL;
}

static struct status_conditions since(void)
{
	return (struct status_conditions){.since = {SINCE, SINCE}};
}

static void a_calendar_tells_its_next_turns(void **state)
{
	(void)state;
	struct zone *zone = zone_utc();
	struct calendar_view v = {.name = "nights",
		.generation = 2,
		.valid = {.ok = true, .reason = "Valid", .message = "understood"},
		.state = {.open = true, .window = "night"},
		.zone = zone,
		.next_ms = {
			NINE, NINE + 12 * HOUR, CALENDAR_NEVER, CALENDAR_NEVER, CALENDAR_NEVER}};
	struct status_conditions c = since();
	struct json *j = json_new(1 << 20);
	struct buf out;
	buf_init(&out, 65536);
	status_judge_calendar(&v, &c);
	RENDER(&out, status_put_calendar, &v, "2026f", &c);
	const cJSON *status = parse(j, &out);
	assert_string_equal(json_text(status, "state"), "Open");
	assert_string_equal(json_text(status, "window"), "night");
	assert_string_equal(json_text(status, "closesAt"), "2026-11-21T09:00:00Z");
	assert_string_equal(json_text(status, "tzdata"), "2026f");
	const cJSON *next = json_array(status, "next")->child;
	assert_string_equal(json_text(next, "state"), "Closed");
	assert_string_equal(json_text(next, "at"), "2026-11-21T09:00:00Z");
	assert_string_equal(json_text(next, "local"), "Sat 2026-11-21 09:00 UTC");
	assert_string_equal(json_text(next->next, "state"), "Open");
	assert_null(next->next->next);
	assert_string_equal(json_text(condition(status, "Valid"), "status"), "True");
	assert_string_equal(json_text(condition(status, "NeverOpens"), "status"), "False");
	json_free(j);
	GOLDEN_DONE(&out);
	zone_free(zone);
}

static void a_calendar_that_never_opens_or_makes_no_sense_says_so(void **state)
{
	(void)state;
	struct zone *zone = zone_utc();
	struct calendar_view v = {.name = "nights",
		.valid = {.ok = false, .reason = "NeverOpens", .message = "it never opens"},
		.zone = zone,
		.next_ms = {CALENDAR_NEVER}};
	struct status_conditions c = since();
	struct json *j = json_new(1 << 20);
	struct buf out;
	buf_init(&out, 65536);
	status_judge_calendar(&v, &c);
	RENDER(&out, status_put_calendar, &v, "2026f", &c);
	const cJSON *status = parse(j, &out);
	assert_string_equal(json_text(condition(status, "Valid"), "status"), "True");
	assert_string_equal(json_text(condition(status, "NeverOpens"), "status"), "True");
	assert_string_equal(
		json_text(condition(status, "NeverOpens"), "message"), "it never opens");

	v.valid = (struct condition_view){.reason = "InvalidZone", .message = "no such zone"};
	v.zone = NULL;
	GOLDEN_RESET(&out);
	status_judge_calendar(&v, &c);
	RENDER(&out, status_put_calendar, &v, "2026f", &c);
	status = parse(j, &out);
	assert_string_equal(json_text(condition(status, "Valid"), "status"), "False");
	assert_string_equal(json_text(condition(status, "Valid"), "reason"), "InvalidZone");
	assert_null(json_text(status, "state"));
	json_free(j);
	GOLDEN_DONE(&out);
	zone_free(zone);
}

static void a_policy_and_a_plan_tell_what_holds_now(void **state)
{
	(void)state;
	struct runpolicy_view p = {.name = "p",
		.active = {.ok = true, .reason = "Active", .message = "in force"},
		.open = true,
		.until_ms = NINE,
		.queues = 2,
		.runs = 5,
		.exempt_runs = 1};
	struct priceplan_view plan = {.name = "grid",
		.active = {.reason = "SeriesStale", .message = "the last point is old"},
		.factor = 600000,
		.rate = "nights",
		.until_ms = CALENDAR_NEVER,
		.queues = 3};
	struct status_conditions c = since();
	struct json *j = json_new(1 << 20);
	struct buf out;
	buf_init(&out, 65536);
	status_judge_runpolicy(&p, &c);
	RENDER(&out, status_put_runpolicy, &p, &c);
	const cJSON *status = parse(j, &out);
	assert_string_equal(json_text(status, "state"), "Open");
	assert_string_equal(json_text(status, "until"), "2026-11-21T09:00:00Z");
	assert_int_equal(count(status, "runs"), 5);
	assert_int_equal(count(status, "exempt"), 1);

	p.active = (struct condition_view){.reason = "CalendarNotFound", .message = "no Calendar"};
	GOLDEN_RESET(&out);
	status_judge_runpolicy(&p, &c);
	RENDER(&out, status_put_runpolicy, &p, &c);
	assert_null(json_text(parse(j, &out), "state"));

	GOLDEN_RESET(&out);
	status_judge_priceplan(&plan, &c);
	RENDER(&out, status_put_priceplan, &plan, &c);
	status = parse(j, &out);
	assert_string_equal(json_text(status, "factor"), "0.60");
	assert_string_equal(json_text(status, "rate"), "nights");
	assert_null(json_text(status, "until"));
	assert_string_equal(json_text(condition(status, "Active"), "reason"), "SeriesStale");
	json_free(j);
	GOLDEN_DONE(&out);
}

static void a_budget_that_is_used_up_is_in_force_all_the_same(void **state)
{
	(void)state;
	struct budget_view v = {.name = "b",
		.active = {.ok = false, .reason = "Exhausted", .message = "5,000 EUR are spent"},
		.amount = 5000000000,
		.spent = 5200000000,
		.remaining = -200000000,
		.period_from_ms = NINE,
		.period_to_ms = NINE + HOUR};
	struct status_conditions c = since();
	struct json *j = json_new(1 << 20);
	struct buf out;
	buf_init(&out, 65536);
	status_judge_budget(&v, &c);
	RENDER(&out, status_put_budget, &v, &c);
	const cJSON *status = parse(j, &out);
	assert_string_equal(json_text(status, "spent"), "5200.00");
	assert_string_equal(json_text(status, "remaining"), "-200.00");
	assert_string_equal(json_text(condition(status, "Active"), "status"), "True");
	assert_string_equal(json_text(condition(status, "Exhausted"), "status"), "True");
	assert_string_equal(
		json_text(condition(status, "Exhausted"), "message"), "5,000 EUR are spent");
	assert_string_equal(json_text(condition(status, "Exhausted"), "lastTransitionTime"), SINCE);
	json_free(j);
	GOLDEN_DONE(&out);
}

/* ---- AdvanceReservations --------------------------------------------------------------------- */

static const struct advance_use reserved[] = {
	{"batch", "gpu", "nvidia.com/gpu", 64, 56, 48, 12}, /* 8 are given back once this is read */
	{"batch", "gpu", "cpu", 16000, 8500, 8500, 500},
	{"batch", "spot", "memory", INT64_C(64) << 30, INT64_C(64) << 30, INT64_C(64) << 30, 0},
};

static struct advance_reservation_view reservation_view(void)
{
	struct advance_reservation_view v = {.name = "demonstration",
		.clusterqueue = "batch",
		.generation = 2,
		.state = ADVANCE_ACTIVE,
		.accepted = {true, "Accepted", ""},
		.kept = {true, "Kept", ""},
		.from_ms = NINE,
		.until_ms = NINE + HOUR,
		.left_from_ms = NINE,
		.has_cost = true,
		.cost = 1234560000,
		.currency = "EUR",
		.use = reserved,
		.nuse = 3,
		.stopped_total = 2};
	return v;
}

/* The status of v as the API server gets it. */
static const cJSON *reservation_status(
	struct json *j, struct buf *out, const struct advance_reservation_view *v)
{
	struct status_conditions c = since();
	status_judge_advance_reservation(v, &c);
	RENDER(out, status_put_advance_reservation, v, &c);
	return parse(j, out);
}

static void a_reservation_tells_its_window(void **state)
{
	(void)state;
	struct advance_reservation_view v = reservation_view();
	struct json *j = json_new(1 << 20);
	struct buf out;
	buf_init(&out, 65536);
	const cJSON *status = reservation_status(j, &out, &v);
	assert_string_equal(json_text(status, "state"), "Active");
	assert_string_equal(json_text(status, "from"), json_text(status, "leftFrom"));
	assert_non_null(json_text(status, "until"));
	assert_null(json_text(status, "possibleFrom"));
	assert_string_equal(json_text(status, "cost"), "1234.56");
	assert_string_equal(json_text(status, "currency"), "EUR");
	assert_int_equal(count(status, "stoppedRuns"), 2);
	assert_string_equal(json_text(condition(status, "Accepted"), "status"), "True");
	assert_int_equal(count(condition(status, "Accepted"), "observedGeneration"), 2);
	assert_string_equal(json_text(condition(status, "Accepted"), "message"),
		"the requested quota is reserved");
	assert_string_equal(json_text(condition(status, "Kept"), "lastTransitionTime"), SINCE);
	const cJSON *gpu = member(json_array(status, "flavors"), "gpu");
	const cJSON *cpu = member(json_array(gpu, "resources"), "cpu");
	assert_string_equal(json_text(cpu, "amount"), "16");
	assert_string_equal(json_text(cpu, "left"), "8500m");
	assert_string_equal(json_text(cpu, "used"), "500m");
	const cJSON *spot = member(json_array(status, "flavors"), "spot");
	assert_string_equal(
		json_text(member(json_array(spot, "resources"), "memory"), "amount"), "64Gi");
	json_free(j);
	GOLDEN_DONE(&out);
}

static void a_refused_reservation_tells_when_it_could_be_kept(void **state)
{
	(void)state;
	struct advance_reservation_view v = reservation_view();
	struct json *j = json_new(1 << 20);
	struct buf out;
	buf_init(&out, 65536);
	v.state = ADVANCE_REFUSED;
	v.accepted = (struct condition_view){false, "NotFree", "64 gpu are reserved by monday"};
	v.possible_from_ms = NINE + 2 * HOUR;
	v.left_from_ms = 0;
	v.has_cost = false;
	const cJSON *status = reservation_status(j, &out, &v);
	assert_string_equal(json_text(status, "state"), "Refused");
	assert_non_null(json_text(status, "possibleFrom"));
	assert_null(json_text(status, "leftFrom"));
	assert_null(json_text(status, "cost"));
	assert_string_equal(json_text(condition(status, "Accepted"), "status"), "False");
	assert_string_equal(json_text(condition(status, "Accepted"), "reason"), "NotFree");
	assert_null(strstr(buf_text(&out), "\"Kept\""));
	json_free(j);
	GOLDEN_DONE(&out);
}

/* What the next leader reads: decode_advance_reservation(). */
static void what_is_left_outlives_a_leader(void **state)
{
	(void)state;
	struct advance_reservation_view v = reservation_view();
	struct advance_reservation_spec *s = NULL;
	struct json *j = json_new(1 << 20);
	struct buf out, object;
	const cJSON *root;
	struct err e = {""};
	buf_init(&out, 65536);
	buf_init(&object, 65536);
	v.left_from_ms = NINE + 250; /* times have fractions, if their authors write them */
	reservation_status(j, &out, &v);
	buf_printf(&object,
		"{\"kind\":\"AdvanceReservation\",\"metadata\":{\"name\":\"demonstration\","
		"\"generation\":2},\"spec\":{\"clusterQueue\":\"batch\",\"calendar\":\"nights\","
		"\"flavors\":[{\"name\":\"gpu\"},{\"name\":\"spot\"}]},\"status\":%s}",
		buf_text(&out));
	assert_int_equal(json_parse(j, buf_slice(&object), &root, NULL), 0);
	if (decode_advance_reservation(root, &s, &e) != 0)
		fail_msg("%s", e.text);
	assert_true(s->accepted && s->left_from_ms == NINE + 250);
	assert_int_equal(s->nleft, 3);
	for (size_t i = 0; i < s->nleft; i++) {
		assert_string_equal(s->left[i].flavor, reserved[i].flavor);
		assert_string_equal(s->left[i].resource, reserved[i].resource);
		assert_true(s->left[i].amount == reserved[i].offered);
	}
	free(s);
	json_free(j);
	GOLDEN_DONE(&out);
	GOLDEN_DONE(&object);
}

/* Maintenance of all ClusterQueues: their rows are added up. More than fits is cut, and then nothing is
 * said of what was given back. */
static void rows_of_all_queues_are_added_up(void **state)
{
	(void)state;
	static char names[300][16];
	static struct advance_use many[300];
	struct advance_reservation_view v = reservation_view();
	struct json *j = json_new(1 << 20);
	struct buf out;
	buf_init(&out, 65536);
	for (size_t i = 0; i < 300; i++) {
		snprintf(names[i], sizeof(names[i]), "queue-%zu", i);
		many[i] = (struct advance_use){names[i], "gpu", "cpu", 2000, 1000, 1000, 0};
	}
	many[299].amount = INT64_MAX;
	v.use = many;
	v.nuse = 300;
	const cJSON *status = reservation_status(j, &out, &v);
	const cJSON *gpu = json_array(status, "flavors")->child;
	assert_null(gpu->next);
	assert_string_equal(json_text(json_array(gpu, "resources")->child, "left"), "300");
	assert_string_equal(
		json_text(json_array(gpu, "resources")->child, "amount"), "9223372036854775807m");
	for (size_t i = 0; i < 300; i++)
		many[i].resource = names[i];
	GOLDEN_RESET(&out);
	status = reservation_status(j, &out, &v);
	size_t rows = 0;
	json_each(row, json_array(json_array(status, "flavors")->child, "resources"))
		rows++;
	assert_int_equal(rows, 256);
	assert_null(json_text(status, "leftFrom"));
	json_free(j);
	GOLDEN_DONE(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_clusterqueue_tells_all),
		cmocka_unit_test(a_refused_spec_is_said_while_the_old_one_works),
		cmocka_unit_test(the_same_view_gives_the_same_text),
		cmocka_unit_test(a_calendar_tells_its_next_turns),
		cmocka_unit_test(a_calendar_that_never_opens_or_makes_no_sense_says_so),
		cmocka_unit_test(a_policy_and_a_plan_tell_what_holds_now),
		cmocka_unit_test(a_budget_that_is_used_up_is_in_force_all_the_same),
		cmocka_unit_test(a_reservation_tells_its_window),
		cmocka_unit_test(a_refused_reservation_tells_when_it_could_be_kept),
		cmocka_unit_test(what_is_left_outlives_a_leader),
		cmocka_unit_test(rows_of_all_queues_are_added_up),
		cmocka_unit_test(shares_are_told_while_they_count),
		cmocka_unit_test(a_localqueue_tells_its_counts),
	};
	return cmocka_run_group_tests(tests, NULL, golden_close);
}
