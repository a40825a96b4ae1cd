/* How many steps of prices a plan keeps: questions must not become slow with time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "queue/calendar/zone.h"
#include "test/unit/core/inside.h"
#include "worlds.h"
#include "queue/price/tariff.h"
#include "queue/features/money/plan.h"

#define HOUR_MS INT64_C(3600000)
#define DAY_MS (24 * HOUR_MS)
#define NOW INT64_C(1795219200000) /* 2026-11-21T00:00:00Z */
#define STEPS_MAX 300		   /* a night is two, and 35 days are kept on both sides */

static void set_nights(struct queue *q)
{
	struct zone *utc = zone_utc();
	struct window_spec night = {.name = "night",
		.shape = WINDOW_DAYS,
		.days = 0x7f,
		.from_minute = 19 * 60,
		.to_minute = 7 * 60};
	struct calendar_spec s = {
		.name = "nights", .time_zone = "UTC", .zone = utc, .window = &night, .nwindows = 1};
	assert_int_equal(queue_set_calendar(q, &s, NULL), 0);
	zone_free(utc);
}

static void set_plan(struct queue *q)
{
	struct price_base base = {"cpu", false, 1000000};
	struct price_rate rate = {"nights", "", PRICE_FACTOR_ONE / 2};
	struct priceplan_spec s = {.name = "plan",
		.currency = "EUR",
		.base = &base,
		.nbases = 1,
		.rate = &rate,
		.nrates = 1};
	struct err e;
	if (queue_set_priceplan(q, &s, &e) < 0)
		fail_msg("%s", e.text);
}

/* It waits for a price that never comes. */
static void set_job(struct queue *q)
{
	struct job j = fixture_job(1, ASKS_CPU(1000));
	j.created_ms = NOW;
	j.terms = (struct job_terms){
		.has_max_price = true, .max_price = 1, .max_price_resource = "cpu"};
	queue_set_job(q, &j);
}

static struct plan *the_plan(struct queue *q)
{
	return plan_of(q, inside_clusterqueue(q, "batch"));
}

static void decide(struct queue *q, int64_t now_ms)
{
	struct decision d;
	int64_t next_ms;
	assert_int_equal(queue_decide(q, now_ms, &d, 1, &next_ms), 0);
}

static void a_year_is_not_kept(void **state)
{
	(void)state;
	struct queue *q = fixture_new(4000, 0);
	set_nights(q);
	set_plan(q);
	set_job(q);
	for (int day = 0; day < 366; day++)
		decide(q, NOW + day * DAY_MS);
	struct plan *p = the_plan(q);
	assert_in_range(p->nsteps, 1, STEPS_MAX);
	/* Past prices are the same when they are asked for again. */
	struct tariff t = plan_factors(q, p, NOW, NOW + DAY_MS);
	assert_int_equal(tariff_at(&t, NOW + 6 * HOUR_MS), PRICE_FACTOR_ONE / 2);
	assert_int_equal(tariff_at(&t, NOW + 8 * HOUR_MS), PRICE_FACTOR_ONE);
	assert_int_equal(tariff_at(&t, NOW + 365 * DAY_MS + 20 * HOUR_MS), PRICE_FACTOR_ONE / 2);
	queue_free(q);
}

/* A Job or a wrong clock may ask for any time: behind what Calendars know nothing changes. */
static void the_end_of_time_has_a_price(void **state)
{
	(void)state;
	struct queue *q = fixture_new(4000, 0);
	set_nights(q);
	set_plan(q);
	decide(q, NOW);
	static const int64_t far[] = {INT64_C(253402300799000), INT64_C(1) << 52, INT64_MAX - 1};
	for (size_t i = 0; i < sizeof(far) / sizeof(*far); i++) {
		struct tariff t = plan_factors(q, the_plan(q), far[i], INT64_MAX);
		assert_in_range(tariff_at(&t, far[i]), PRICE_FACTOR_ONE / 2, PRICE_FACTOR_ONE);
	}
	queue_free(q);
}

/* A new leader bills what it takes over before it decides anything, and reads Calendars meanwhile. */
static void a_calendar_that_comes_before_the_first_decision_counts(void **state)
{
	(void)state;
	struct queue *q = fixture_new(4000, 0);
	const int64_t night_ms = NOW + 6 * HOUR_MS;
	set_plan(q);
	assert_int_equal(plan_factor_at(q, the_plan(q), night_ms), PRICE_FACTOR_ONE);
	set_nights(q);
	assert_int_equal(plan_factor_at(q, the_plan(q), night_ms), PRICE_FACTOR_ONE / 2);
	queue_free(q);
}

/* The bill of each run that a new leader takes over reaches back to another moment. */
static void earlier_prices_are_put_before_those_that_are_known(void **state)
{
	(void)state;
	struct queue *q = fixture_new(4000, 0);
	set_nights(q);
	set_plan(q);
	decide(q, NOW);
	struct plan *p = the_plan(q);
	int64_t until_ms = p->known_to_ms;
	for (int hours = 1; hours <= 40; hours += 13) {
		struct tariff t = plan_factors(q, p, NOW - hours * HOUR_MS, NOW);
		for (int h = 0; h < 48 + hours; h++) {
			const char *label;
			int64_t unused_ms, at_ms = NOW + (h - hours) * HOUR_MS;
			assert_int_equal(tariff_at(&t, at_ms),
				plan_spec_factor_at(p, at_ms, &label, &unused_ms));
		}
		for (size_t i = 1; i < t.n; i++)
			assert_true(t.step[i - 1].from_ms < t.step[i].from_ms &&
				    t.step[i - 1].per_hour != t.step[i].per_hour);
		assert_int_equal(p->known_from_ms, NOW - hours * HOUR_MS);
		assert_int_equal(p->known_to_ms, until_ms);
	}
	queue_free(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_year_is_not_kept),
		cmocka_unit_test(the_end_of_time_has_a_price),
		cmocka_unit_test(a_calendar_that_comes_before_the_first_decision_counts),
		cmocka_unit_test(earlier_prices_are_put_before_those_that_are_known),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
