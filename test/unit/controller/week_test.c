/*
 * Weeks and Budgets as they are told. It is Sat 2026-11-21T10:00:00Z; what weeks are is test/unit/queue's.
 */
#include "api_answer.h"

#include <stdio.h>

#include "queue/calendar/zone.h"
#include "queue/price/money.h"
#include "sluice/week.h"

#define HOUR_MS INT64_C(3600000)
#define DAY_MS (24 * HOUR_MS)
#define EUR INT64_C(1000000)

/* ---- What admins describe ---- */

static void set_calendar(struct world *w, const char *name, const char *cron, int64_t duration_s)
{
	struct zone *utc = zone_utc();
	struct window_spec night = {
		.name = "night", .shape = WINDOW_CRON, .cron = cron, .duration_s = duration_s};
	struct calendar_spec s = {
		.name = name, .time_zone = "UTC", .zone = utc, .window = &night, .nwindows = 1};
	struct err e = {""};
	assert_int_equal(queue_set_calendar(w->queue, &s, &e), 0);
	zone_free(utc);
}

static void set_policy(struct world *w, const char *name, const char *calendar)
{
	static const char *const all[] = {"*"};
	static const struct window_quota_spec quota = {
		.window = "night", .flavor = "spot", .resource = "cpu", .nominal = 60500};
	struct runpolicy_spec s = {.name = name,
		.queues = all,
		.nqueues = 1,
		.calendar = calendar,
		.max_suspensions = RUNPOLICY_SUSPENSIONS_UNLIMITED,
		.quota = &quota,
		.nquotas = 1};
	bool again;
	struct err e = {""};
	assert_int_equal(queue_set_runpolicy(w->queue, &s, &again, &e), 0);
}

static void set_plan(struct world *w)
{
	static const struct price_base base = {"cpu", false, EUR};
	static const struct price_rate rate = {"nights", "night", 450000};
	struct priceplan_spec s = {.name = "power",
		.currency = "EUR",
		.base = &base,
		.nbases = 1,
		.rate = &rate,
		.nrates = 1};
	struct err e = {""};
	assert_int_equal(queue_set_priceplan(w->queue, &s, &e), 0);
}

static void set_budget(struct world *w, const char *name, const char *clusterqueue, int64_t amount)
{
	struct zone *utc = zone_utc();
	bool of_team = !*clusterqueue;
	struct budget_spec s = {.name = name,
		.clusterqueue = clusterqueue,
		.localqueue_ns = of_team ? "team-a" : "",
		.localqueue = of_team ? "main" : "",
		.period = PERIOD_MONTHLY,
		.time_zone = "UTC",
		.zone = utc,
		.currency = "EUR",
		.amount = amount};
	struct err e = {""};
	assert_int_equal(queue_set_budget(w->queue, &s, &e), 0);
	zone_free(utc);
}

static void decide(struct world *w)
{
	struct decision d[8];
	int64_t next_ms;
	queue_decide(w->queue, w->reports.now_ms, d, 8, &next_ms);
}

/* 12 cpu since six hours ago: 72 EUR. */
static void run_job(struct world *w)
{
	static const struct quota_line lines[] = {{"cq/batch", "spot", "cpu", 12000}};
	const struct uid uid = {{1}};
	int64_t since_ms = w->reports.now_ms - 6 * HOUR_MS;
	world_add_job(w, 1, "one");
	assert_true(queue_adopt_job(w->queue, &uid, lines, 1, since_ms));
	queue_confirm_job(w->queue, &uid, since_ms);
}

/* ---- The week ---- */

static void ask_week(struct answer *a, const struct world *w, const char *clusterqueue)
{
	char path[300];
	snprintf(path, sizeof(path), "clusterqueues/%s/week", clusterqueue);
	ask_report(a, w, path, NULL);
}

/* The text of a member of the item at an index. */
static const char *text_at(const cJSON *list, int index, const char *key)
{
	const cJSON *x = cJSON_GetArrayItem(list, index);
	assert_non_null(x);
	return json_text(x, key);
}

static void a_week_is_told(void **state)
{
	(void)state;
	struct world w;
	struct answer a;
	world_open(&w, "batch");
	set_calendar(&w, "nights", "0 20 * * *", 12 * 3600);
	set_policy(&w, "nights-only", "nights");
	set_plan(&w);
	decide(&w);
	ask_week(&a, &w, "batch");
	assert_int_equal(a.rc, 0);
	assert_string_equal(json_text(a.root, "clusterQueue"), "batch");
	assert_string_equal(json_text(a.root, "from"), "2026-11-21T00:00:00Z");
	assert_string_equal(json_text(a.root, "until"), "2026-11-28T00:00:00Z");
	assert_string_equal(json_text(a.root, "now"), "2026-11-21T10:00:00Z");

	const cJSON *window = json_array(a.root, "windows")->child;
	const cJSON *open = json_array(window, "open");
	assert_string_equal(json_text(window, "policy"), "nights-only");
	assert_string_equal(json_text(window, "calendar"), "nights");
	assert_string_equal(json_text(window, "zone"), "UTC");
	assert_true(cJSON_IsTrue(json_get(window, "calendarKnown")));
	assert_null(json_get(window, "more"));
	assert_int_equal(cJSON_GetArraySize(open), 8); /* clipped at both ends */
	assert_string_equal(text_at(open, 0, "from"), "2026-11-21T00:00:00Z");
	assert_string_equal(text_at(open, 0, "until"), "2026-11-21T08:00:00Z");
	assert_string_equal(text_at(open, 1, "from"), "2026-11-21T20:00:00Z");
	assert_string_equal(text_at(open, 1, "until"), "2026-11-22T08:00:00Z");
	assert_string_equal(text_at(open, 7, "from"), "2026-11-27T20:00:00Z");
	assert_string_equal(text_at(open, 7, "until"), "2026-11-28T00:00:00Z");

	const cJSON *price = json_array(a.root, "prices")->child;
	const cJSON *steps = json_array(price, "steps");
	assert_string_equal(json_text(price, "plan"), "power");
	assert_string_equal(json_text(price, "currency"), "EUR");
	assert_int_equal(cJSON_GetArraySize(steps), 15);
	assert_string_equal(text_at(steps, 0, "factor"), "0.45");
	assert_string_equal(text_at(steps, 0, "rate"), "night");
	assert_string_equal(text_at(steps, 1, "from"), "2026-11-21T08:00:00Z");
	assert_string_equal(text_at(steps, 1, "factor"), "1");
	assert_string_equal(text_at(steps, 1, "rate"), "base");

	const cJSON *quotas = json_array(a.root, "quotas"), *spot = quotas->child;
	assert_int_equal(cJSON_GetArraySize(quotas), 4); /* 2 flavors, 2 resources */
	assert_string_equal(json_text(spot, "flavor"), "spot");
	assert_string_equal(json_text(spot, "resource"), "cpu");
	steps = json_array(spot, "steps");
	assert_int_equal(cJSON_GetArraySize(steps), 15);
	assert_string_equal(text_at(steps, 0, "nominal"), "60500m");
	assert_int_equal(count(steps->child, "nominalUnits"), 60500);
	assert_string_equal(text_at(steps, 1, "nominal"), "40");
	assert_int_equal(cJSON_GetArraySize(json_array(spot->next, "steps")), 1);
	done(&a);
	world_close(&w);
}

static void a_queue_without_anything_is_always_open(void **state)
{
	(void)state;
	struct world w;
	struct answer a;
	world_open(&w, "batch");
	ask_week(&a, &w, "batch");
	assert_int_equal(a.rc, 0);
	assert_null(json_array(a.root, "windows")->child);
	assert_null(json_array(a.root, "prices")->child);
	assert_string_equal(
		text_at(json_array(json_array(a.root, "quotas")->child, "steps"), 0, "from"),
		"2026-11-21T00:00:00Z");
	done(&a);
	set_policy(&w, "nights-only", "nowhere"); /* nothing starts by it */
	ask_week(&a, &w, "batch");
	const cJSON *window = json_array(a.root, "windows")->child;
	assert_true(cJSON_IsFalse(json_get(window, "calendarKnown")));
	assert_string_equal(json_text(window, "zone"), "");
	assert_null(json_array(window, "open")->child);
	done(&a);
	world_close(&w);
}

static void what_is_no_queue_is_said_so(void **state)
{
	(void)state;
	struct world w;
	struct answer a;
	world_open(&w, "batch");
	ask_week(&a, &w, "other");
	assert_int_equal(a.rc, ERR_GONE);
	assert_string_equal(a.e.text, "there is no ClusterQueue other");
	done(&a);
	world_close(&w);
}

static void a_list_that_was_cut_says_until_when_it_is_right(void **state)
{
	(void)state;
	struct world w;
	struct answer a;
	world_open(&w, "batch");
	set_calendar(&w, "often", "*/2 * * * *", 60);
	set_policy(&w, "often", "often");
	ask_week(&a, &w, "batch");
	const cJSON *window = json_array(a.root, "windows")->child;
	assert_true(cJSON_IsTrue(json_get(window, "more")));
	assert_int_equal(cJSON_GetArraySize(json_array(window, "open")), WEEK_LOOKS_MAX / 2);
	assert_string_equal(json_text(window, "until"), "2026-11-22T09:20:00Z");
	done(&a);
	world_close(&w);
}

/* ---- What queue reports say of windows and classes ---- */

/* The member "open" of the first item. */
static const cJSON *open_of(const cJSON *root, const char *list)
{
	return json_object(json_array(root, list)->child, "open");
}

static void a_report_of_queues_says_until_when_they_are_open(void **state)
{
	(void)state;
	static const char *const paths[] = {"queuereports", "namespaces/team-a/queuereports"};
	struct world w;
	struct answer a;
	world_open(&w, "batch");
	decide(&w);
	for (size_t i = 0; i < 2; i++) {
		ask_report(&a, &w, paths[i], NULL);
		assert_true(cJSON_IsTrue(json_get(open_of(a.root, "clusterQueues"), "isOpen")));
		assert_null(json_get(open_of(a.root, "clusterQueues"), "until"));
		done(&a);
	}
	set_calendar(&w, "nights", "0 20 * * *", 12 * 3600);
	set_policy(&w, "nights-only", "nights");
	decide(&w);
	for (size_t i = 0; i < 2; i++) {
		ask_report(&a, &w, paths[i], NULL);
		assert_string_equal(json_text(a.root, "asOf"), "2026-11-21T10:00:00Z");
		const cJSON *of[] = {
			open_of(a.root, "clusterQueues"), open_of(a.root, "localQueues")};
		for (size_t k = 0; k < 2; k++) {
			assert_true(cJSON_IsFalse(json_get(of[k], "isOpen")));
			assert_string_equal(json_text(of[k], "until"), "2026-11-21T20:00:00Z");
		}
		done(&a);
	}
	w.reports.now_ms += 11 * HOUR_MS;
	decide(&w);
	ask_report(&a, &w, paths[1], NULL);
	assert_true(cJSON_IsTrue(json_get(open_of(a.root, "clusterQueues"), "isOpen")));
	assert_string_equal(
		json_text(open_of(a.root, "clusterQueues"), "until"), "2026-11-22T08:00:00Z");
	done(&a);
	world_close(&w);
}

/* ---- Budgets ---- */

static void budgets_have_a_forecast(void **state)
{
	(void)state;
	struct world w;
	struct answer a;
	world_open(&w, "batch");
	set_plan(&w);
	run_job(&w);
	set_budget(&w, "month", "batch", 200 * EUR);
	set_budget(&w, "team", "", 1000 * EUR);
	queue_recall_spent(w.queue, "batch", "team-a", "main", "EUR",
		w.reports.now_ms - 10 * DAY_MS, 100 * EUR);
	decide(&w);
	ask_report(&a, &w, "budgetreports", NULL);
	assert_int_equal(a.rc, 0);
	const cJSON *month = json_array(a.root, "budgets")->child;
	assert_string_equal(json_text(month, "name"), "month");
	assert_string_equal(json_text(month, "clusterQueue"), "batch");
	assert_string_equal(json_text(month, "namespace"), "");
	assert_string_equal(json_text(month, "currency"), "EUR");
	assert_string_equal(json_text(month, "amount"), "200.00");
	assert_string_equal(json_text(month, "spent"), "100.00");
	assert_string_equal(json_text(month, "reserved"), "84.00"); /* and an hour more */
	assert_string_equal(json_text(month, "remaining"), "16.00");
	assert_string_equal(json_text(month, "from"), "2026-11-01T00:00:00Z");
	assert_string_equal(json_text(month, "until"), "2026-12-01T00:00:00Z");
	assert_true(cJSON_IsTrue(json_get(month, "active")));
	assert_string_equal(json_text(month, "reason"), "Active");
	/* 172 EUR in 490 hours of 720 */
	assert_string_equal(json_text(month, "forecast"), "252.734694");
	assert_string_equal(json_text(month, "exhaustedAt"), "2026-11-24T17:46:02Z");
	const cJSON *team = month->next;
	assert_string_equal(json_text(team, "clusterQueue"), "");
	assert_string_equal(json_text(team, "namespace"), "team-a");
	assert_string_equal(json_text(team, "localQueue"), "main");
	assert_string_equal(json_text(team, "forecast"), "252.734694");
	assert_null(json_get(team, "exhaustedAt"));
	done(&a);
	world_close(&w);
}

static void what_is_not_known_of_a_budget_is_left_out(void **state)
{
	(void)state;
	struct world w;
	struct answer a;
	world_open(&w, "batch");
	ask_report(&a, &w, "budgetreports", NULL);
	assert_null(json_array(a.root, "budgets")->child);
	done(&a);
	set_budget(&w, "month", "batch", 200 * EUR);
	queue_reject_budget(w.queue, "wrong", "spec is wrong");
	w.reports.now_ms =
		INT64_C(1793491200000) + 7 * HOUR_MS; /* of 2026-11-01; 1 % is 7.2 hours */
	decide(&w);
	ask_report(&a, &w, "budgetreports", NULL);
	const cJSON *month = json_array(a.root, "budgets")->child, *wrong = month->next;
	assert_string_equal(json_text(month, "from"), "2026-11-01T00:00:00Z");
	assert_null(json_get(month, "forecast"));
	assert_null(json_get(month, "exhaustedAt"));
	assert_string_equal(json_text(wrong, "reason"), "InvalidSpec");
	assert_string_equal(json_text(wrong, "message"), "spec is wrong");
	assert_true(cJSON_IsFalse(json_get(wrong, "active")));
	assert_null(json_get(wrong, "from"));
	assert_null(json_get(wrong, "forecast"));
	done(&a);
	w.reports.now_ms += HOUR_MS;
	decide(&w);
	ask_report(&a, &w, "budgetreports", NULL);
	assert_string_equal(json_text(json_array(a.root, "budgets")->child, "forecast"), "0.00");
	done(&a);
	world_close(&w);
}

static void a_budget_that_is_used_up_says_so(void **state)
{
	(void)state;
	struct world w;
	struct answer a;
	world_open(&w, "batch");
	set_plan(&w);
	set_budget(&w, "month", "batch", 90 * EUR);
	queue_recall_spent(w.queue, "batch", "team-a", "main", "EUR",
		w.reports.now_ms - 10 * DAY_MS, 98 * EUR);
	decide(&w);
	ask_report(&a, &w, "budgetreports", NULL);
	const cJSON *month = json_array(a.root, "budgets")->child;
	assert_string_equal(json_text(month, "reason"), "Exhausted");
	assert_string_equal(json_text(month, "remaining"), "-8.00");
	assert_string_equal(json_text(month, "forecast"), "144.00");
	assert_null(json_get(month, "exhaustedAt")); /* it was, and nobody knows when */
	done(&a);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_week_is_told),
		cmocka_unit_test(a_queue_without_anything_is_always_open),
		cmocka_unit_test(what_is_no_queue_is_said_so),
		cmocka_unit_test(a_list_that_was_cut_says_until_when_it_is_right),
		cmocka_unit_test(a_report_of_queues_says_until_when_they_are_open),
		cmocka_unit_test(budgets_have_a_forecast),
		cmocka_unit_test(what_is_not_known_of_a_budget_is_left_out),
		cmocka_unit_test(a_budget_that_is_used_up_says_so),
	};
	return cmocka_run_group_tests(tests, NULL, golden_close);
}
