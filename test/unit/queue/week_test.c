/*
 * The week of a ClusterQueue: openings, factors and quota, written as text and compared.
 *
 * The week is that of 2026-10-19, at whose end Berlin's clocks go back an hour.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "base/buf.h"
#include "queue/calendar/tzdata.h"
#include "sluice/week.h"
#include "worlds.h"

#define DAY_MS INT64_C(86400000)
#define FROM_MS INT64_C(1792368000000) /* Mon 2026-10-19T00:00:00Z */
#define UNTIL_MS (FROM_MS + 7 * DAY_MS)

/* ---- What admins describe ---- */

static void set_calendar(struct queue *q, const char *name, const char *zone_name,
	const struct window_spec *w, size_t n)
{
	struct zone *zone;
	struct err e = {""};
	assert_int_equal(tzdata_load(zone_name, &zone, &e), 0);
	struct calendar_spec s = {
		.name = name, .time_zone = zone_name, .zone = zone, .window = w, .nwindows = n};
	assert_int_equal(queue_set_calendar(q, &s, &e), 0);
	zone_free(zone);
}

/* As CronJobs are written: 12 hours from 19:00 on, each night. */
static void set_nights(struct queue *q)
{
	struct window_spec night = {.name = "night",
		.shape = WINDOW_CRON,
		.cron = "0 19 * * *",
		.duration_s = 12 * 3600};
	set_calendar(q, "nights", "Europe/Berlin", &night, 1);
}

/* Mon-Fri 08:00-18:00 is the day, 18:00-08:00 of each day the evening; both are open. */
static void set_hours(struct queue *q)
{
	struct window_spec w[] = {{.name = "day",
					  .shape = WINDOW_DAYS,
					  .days = 0x3e,
					  .from_minute = 8 * 60,
					  .to_minute = 18 * 60},
		{.name = "evening",
			.shape = WINDOW_DAYS,
			.days = 0x7f,
			.from_minute = 18 * 60,
			.to_minute = 8 * 60}};
	set_calendar(q, "hours", "UTC", w, 2);
}

static void set_policy(struct queue *q, const char *name, const char *calendar,
	const struct window_quota_spec *quota, size_t nquotas)
{
	static const char *const batch[] = {"bat*"};
	struct runpolicy_spec s = {.name = name,
		.queues = batch,
		.nqueues = 1,
		.calendar = calendar,
		.max_suspensions = RUNPOLICY_SUSPENSIONS_UNLIMITED,
		.quota = quota,
		.nquotas = nquotas};
	bool again;
	struct err e = {""};
	assert_int_equal(queue_set_runpolicy(q, &s, &again, &e), 0);
}

/* ---- The week as text ---- */

static void put_steps(struct buf *out, const struct week_steps *s)
{
	for (size_t i = 0; i < s->n; i++) {
		char at[32];
		struct tm tm;
		time_t t = (time_t)(s->step[i].from_ms / 1000);
		strftime(at, sizeof(at), "%a %H:%M", gmtime_r(&t, &tm));
		buf_printf(out, "  %s %" PRId64 " %s\n", at, s->step[i].value,
			s->step[i].label ? s->step[i].label : "-");
	}
	if (s->until_ms < UNTIL_MS)
		buf_puts(out, "  cut\n");
}

static void put_week(struct buf *out, const struct queue_week *w)
{
	for (size_t i = 0; i < w->nwindows; i++) {
		const struct week_window *x = &w->window[i];
		buf_printf(out, "%s %s %s\n", x->policy, x->calendar, x->zone ? x->zone : "-");
		put_steps(out, &x->open);
	}
	if (w->plan) {
		buf_printf(out, "%s %s\n", w->plan, w->currency);
		put_steps(out, &w->factor);
	}
	for (size_t i = 0; i < w->nquotas; i++) {
		buf_printf(out, "%s %s\n", w->quota[i].flavor, w->quota[i].resource);
		put_steps(out, &w->quota[i].nominal);
	}
}

static void expect_week(struct queue *q, const char *text)
{
	struct queue_week w;
	struct buf out;
	buf_init(&out, 1 << 20);
	assert_true(queue_view_week(q, "batch", FROM_MS, UNTIL_MS, &w));
	put_week(&out, &w);
	assert_string_equal(buf_text(&out), text);
	buf_done(&out);
	queue_week_done(&w);
}

static void decide(struct queue *q, int64_t now_ms)
{
	struct decision d;
	int64_t next_ms;
	queue_decide(q, now_ms, &d, 1, &next_ms);
}

/* ---- Tests ---- */

#define SAME_QUOTA "spot cpu\n  Mon 00:00 5000 -\non-demand cpu\n  Mon 00:00 700 -\n"

static void a_queue_without_anything_is_always_the_same(void **state)
{
	(void)state;
	struct queue *q = fixture_new(5000, 700);
	struct queue_week w;
	expect_week(q, SAME_QUOTA);
	assert_false(queue_view_week(q, "none", FROM_MS, UNTIL_MS, &w));
	queue_drop_clusterqueue(q, "batch"); /* its LocalQueue names it yet */
	assert_false(queue_view_week(q, "batch", FROM_MS, UNTIL_MS, &w));
	queue_free(q);
}

static void nights_pass_midnight_and_the_change_of_clocks(void **state)
{
	(void)state;
	struct queue *q = fixture_new(5000, 700);
	set_nights(q);
	set_policy(q, "nights-only", "nights", NULL, 0);
	/* 19:00 CEST is 17:00Z, and on the last day 19:00 CET is 18:00Z. The night from Sat to Sun has
	 * 12 hours of elapsed time. */
	expect_week(q, "nights-only nights Europe/Berlin\n"
		       "  Mon 00:00 1 -\n  Mon 05:00 0 -\n  Mon 17:00 1 -\n"
		       "  Tue 05:00 0 -\n  Tue 17:00 1 -\n  Wed 05:00 0 -\n  Wed 17:00 1 -\n"
		       "  Thu 05:00 0 -\n  Thu 17:00 1 -\n  Fri 05:00 0 -\n  Fri 17:00 1 -\n"
		       "  Sat 05:00 0 -\n  Sat 17:00 1 -\n  Sun 05:00 0 -\n"
		       "  Sun 18:00 1 -\n" SAME_QUOTA);
	queue_free(q);
}

static void each_policy_has_its_own_openings(void **state)
{
	(void)state;
	struct queue *q = fixture_new(5000, 700);
	struct window_spec once = {.name = "sale",
		.shape = WINDOW_ONCE,
		.from_local_s = (FROM_MS + DAY_MS) / 1000,
		.to_local_s = (FROM_MS + 9 * DAY_MS) / 1000};
	set_calendar(q, "sale", "UTC", &once, 1);
	set_policy(q, "b-sale", "sale", NULL, 0);
	set_policy(q, "a-unknown", "nowhere", NULL, 0);
	expect_week(q, "a-unknown nowhere -\n  Mon 00:00 0 -\n"
		       "b-sale sale UTC\n  Mon 00:00 0 -\n  Tue 00:00 1 -\n" SAME_QUOTA);
	queue_drop_runpolicy(q, "b-sale");
	queue_drop_runpolicy(q, "a-unknown");
	expect_week(q, SAME_QUOTA);
	queue_free(q);
}

static void quota_changes_with_the_window_that_is_shown(void **state)
{
	(void)state;
	struct queue *q = fixture_new(5000, 700);
	struct window_quota_spec evening = {
		.window = "evening", .flavor = "spot", .resource = "cpu", .nominal = 20000};
	struct window_quota_spec later[] = {
		{.window = "evening", .flavor = "spot", .resource = "cpu", .nominal = 1},
		{.window = "day", .flavor = "spot", .resource = "memory", .nominal = 2}};
	set_hours(q);
	set_policy(q, "a", "hours", &evening, 1);
	set_policy(q, "b", "hours", later, 2); /* the first by name counts */
	struct queue_week w;
	assert_true(queue_view_week(q, "batch", FROM_MS, UNTIL_MS, &w));
	assert_int_equal(w.nquotas, 2);
	struct buf out;
	buf_init(&out, 1 << 20);
	put_steps(&out, &w.quota[0].nominal);
	assert_string_equal(buf_text(&out),
		"  Mon 00:00 20000 -\n  Mon 08:00 5000 -\n  Mon 18:00 20000 -\n"
		"  Tue 08:00 5000 -\n  Tue 18:00 20000 -\n  Wed 08:00 5000 -\n  Wed 18:00 20000 -\n"
		"  Thu 08:00 5000 -\n  Thu 18:00 20000 -\n  Fri 08:00 5000 -\n  Fri 18:00 20000 -\n"
		"  Sat 08:00 5000 -\n  Sat 18:00 20000 -\n  Sun 08:00 5000 -\n  Sun 18:00 20000 -\n");
	assert_int_equal(w.quota[1].nominal.n, 1);
	buf_done(&out);
	queue_week_done(&w);
	queue_free(q);
}

/* At every hour the week says what counts when that hour has come. */
static void the_week_is_what_comes(void **state)
{
	(void)state;
	struct queue *q = fixture_new(5000, 700);
	struct window_quota_spec evening = {
		.window = "evening", .flavor = "spot", .resource = "cpu", .nominal = 20000};
	struct queue_week w;
	struct clusterqueue_view v;
	size_t step = 0, opening = 0;
	set_hours(q);
	set_nights(q);
	set_policy(q, "quota", "hours", &evening, 1);
	set_policy(q, "nights-only", "nights", NULL, 0);
	assert_true(queue_view_week(q, "batch", FROM_MS, UNTIL_MS, &w));
	const struct week_steps *nominal = &w.quota[0].nominal, *open = &w.window[0].open;
	for (int64_t at_ms = FROM_MS; at_ms < UNTIL_MS; at_ms += 3600000) {
		struct runpolicy_view policy;
		decide(q, at_ms);
		while (step + 1 < nominal->n && nominal->step[step + 1].from_ms <= at_ms)
			step++;
		while (opening + 1 < open->n && open->step[opening + 1].from_ms <= at_ms)
			opening++;
		assert_true(queue_view_clusterqueue(q, 0, &v));
		assert_int_equal(v.usage[0].nominal, nominal->step[step].value);
		assert_true(queue_view_runpolicy(q, 0, &policy));
		assert_int_equal(policy.open, open->step[opening].value);
	}
	assert_int_equal(step, nominal->n - 1);
	assert_int_equal(opening, open->n - 1);
	queue_week_done(&w);
	queue_free(q);
}

static void set_plan(struct queue *q, const struct price_point *point, size_t n)
{
	static const struct price_base base = {"cpu", false, 40000};
	static const struct price_rate rates[] = {
		{"hours", "evening", 500000}, {"nights", "", 900000}};
	struct priceplan_spec s = {.name = "power",
		.currency = "EUR",
		.base = &base,
		.nbases = 1,
		.rate = rates,
		.nrates = 2,
		.has_series = n > 0,
		.series = point,
		.nseries = n,
		.stale_after_ms = 3600000};
	struct err e = {""};
	assert_int_equal(queue_set_priceplan(q, &s, &e), 0);
}

static void prices_have_two_rates(void **state)
{
	(void)state;
	struct queue *q = fixture_new(5000, 700);
	set_hours(q);
	set_nights(q);
	set_plan(q, NULL, 0);
	/* From 05:00Z on nights are closed, but the evening is open until 08:00Z, and goes first. */
	expect_week(q,
		"power EUR\n"
		"  Mon 00:00 500000 evening\n  Mon 08:00 1000000 base\n"
		"  Mon 17:00 900000 nights\n  Mon 18:00 500000 evening\n"
		"  Tue 08:00 1000000 base\n  Tue 17:00 900000 nights\n  Tue 18:00 500000 evening\n"
		"  Wed 08:00 1000000 base\n  Wed 17:00 900000 nights\n  Wed 18:00 500000 evening\n"
		"  Thu 08:00 1000000 base\n  Thu 17:00 900000 nights\n  Thu 18:00 500000 evening\n"
		"  Fri 08:00 1000000 base\n  Fri 17:00 900000 nights\n  Fri 18:00 500000 evening\n"
		"  Sat 08:00 1000000 base\n  Sat 17:00 900000 nights\n  Sat 18:00 500000 evening\n"
		"  Sun 08:00 1000000 base\n  Sun 18:00 500000 evening\n" SAME_QUOTA);
	queue_free(q);
}

static void a_series_goes_before_rates(void **state)
{
	(void)state;
	struct queue *q = fixture_new(5000, 700);
	const struct price_point points[] = {{FROM_MS - DAY_MS, 1200000},
		{FROM_MS + DAY_MS, 1200000}, {FROM_MS + 2 * DAY_MS, -300000}};
	set_plan(q, points, 3);
	expect_week(q, "power EUR\n"
		       "  Mon 00:00 1200000 series\n  Wed 00:00 -300000 series\n"
		       "  Wed 01:00 1000000 base\n" SAME_QUOTA);
	queue_free(q);
}

static void what_lends_has_no_quota_to_show(void **state)
{
	(void)state;
	struct queue *q = queue_new();
	struct flavor_spec idle = {.name = "idle", .lending = true, .share_permille = 1000};
	struct quota_spec quota[] = {{"cpu", 1, QUOTA_UNLIMITED, QUOTA_UNLIMITED},
		{"memory", 1, QUOTA_UNLIMITED, QUOTA_UNLIMITED}};
	struct err e = {""};
	assert_int_equal(queue_set_flavor(q, &idle, &e), 0);
	make_queue_with(q, (struct clusterqueue_spec){.name = "batch"}, "idle", quota, 2);
	expect_week(q, "");
	queue_free(q);
}

/* A Calendar that opens every other minute, in a policy with quota and in a price. */
static void what_changes_all_the_time_is_cut(void **state)
{
	(void)state;
	struct queue *q = fixture_new(5000, 700);
	struct window_spec often = {
		.name = "often", .shape = WINDOW_CRON, .cron = "*/2 * * * *", .duration_s = 60};
	struct window_quota_spec quota = {
		.window = "often", .flavor = "spot", .resource = "cpu", .nominal = 9};
	static char names[30][8];
	struct queue_week w;
	size_t looks = 0;
	set_calendar(q, "often", "UTC", &often, 1);
	for (size_t i = 0; i < 30; i++) {
		snprintf(names[i], sizeof(names[i]), "p%02zu", i);
		set_policy(q, names[i], "often", &quota, 1);
	}
	assert_true(queue_view_week(q, "batch", FROM_MS, UNTIL_MS, &w));
	assert_int_equal(w.nwindows, 30);
	assert_int_equal(w.window[0].open.n, WEEK_LOOKS_MAX);
	assert_true(w.window[0].open.until_ms == FROM_MS + WEEK_LOOKS_MAX * INT64_C(60000));
	for (size_t i = 0; i < w.nwindows; i++) {
		assert_string_equal(w.window[i].policy, names[i]);
		assert_true(w.window[i].open.until_ms < UNTIL_MS);
		looks += w.window[i].open.n;
	}
	assert_int_equal(looks, WEEK_ALL_LOOKS_MAX);
	assert_int_equal(w.quota[0].nominal.n, 0); /* nothing was left for it */
	assert_true(w.quota[0].nominal.until_ms == FROM_MS);
	assert_int_equal(w.quota[1].nominal.n, 1);
	assert_true(w.quota[1].nominal.until_ms == UNTIL_MS);
	queue_week_done(&w);
	queue_free(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_queue_without_anything_is_always_the_same),
		cmocka_unit_test(nights_pass_midnight_and_the_change_of_clocks),
		cmocka_unit_test(each_policy_has_its_own_openings),
		cmocka_unit_test(quota_changes_with_the_window_that_is_shown),
		cmocka_unit_test(the_week_is_what_comes),
		cmocka_unit_test(prices_have_two_rates),
		cmocka_unit_test(a_series_goes_before_rates),
		cmocka_unit_test(what_lends_has_no_quota_to_show),
		cmocka_unit_test(what_changes_all_the_time_is_cut),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
