/*
 * Cheapest against brute force, in small random worlds with prices in steps, windows, a deadline
 * and a ceiling. Every second at which the Job may start is tried. The queue's start must cost no
 * more than the best of these, and be no later than the first that costs as little.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "queue/calendar/zone.h"
#include "worlds.h"
#include "test/unit/searched.h"
#include "test/sim/rng.h"

#define WORLD_S 20000 /* so long is looked ahead at most */
#define SLACK_S 60    /* TERMS_SLACK_MS */
#define STEPS 12
#define WINDOWS 4

struct cheapest {
	struct rng rng;
	struct queue *q;
	struct zone *zone;
	int64_t now_s, after_s, deadline_s, lasts_s;
	bool cheapest, has_ceiling, holds, windows, require;
	int64_t ceiling; /* a factor: the base price is one */
	struct price_point point[STEPS];
	size_t npoints;
	struct window_spec window[WINDOWS];
	size_t nwindows;
	int64_t factor[WORLD_S];      /* of each second */
	__int128 sum[WORLD_S + 1];    /* of the factors before it */
	bool open[WORLD_S + SLACK_S]; /* the queue is */
};

static int64_t roll(struct cheapest *x, int64_t n)
{
	return rng_between(&x->rng, 0, n - 1);
}

static void draw_prices(struct cheapest *x)
{
	int64_t at_s = 0;
	x->npoints = (size_t)(1 + roll(x, STEPS));
	for (size_t i = 0; i < x->npoints; i++) {
		x->point[i] = (struct price_point){at_s * 1000, (roll(x, 9) - 1) * 250000};
		at_s += 1 + roll(x, 2 * WORLD_S / STEPS);
	}
	for (int64_t s = 0, i = 0; s < WORLD_S; s++) {
		while (i + 1 < (int64_t)x->npoints && x->point[i + 1].from_ms <= s * 1000)
			i++;
		x->factor[s] = x->point[i].factor;
		x->sum[s + 1] = x->sum[s] + x->factor[s];
	}
	struct price_base base = {"cpu", false, PRICE_FACTOR_ONE};
	struct priceplan_spec s = {.name = "plan",
		.currency = "EUR",
		.base = &base,
		.nbases = 1,
		.has_series = true,
		.series = x->point,
		.nseries = x->npoints};
	assert_int_equal(queue_set_priceplan(x->q, &s, NULL), 0);
}

static void draw_windows(struct cheapest *x)
{
	static const char *const name[] = {"a", "b", "c", "d"}, *const batch[] = {"batch"};
	int64_t at_s = 0;
	x->windows = roll(x, 2);
	x->require = roll(x, 2);
	x->nwindows = 0;
	for (size_t s = 0; s < WORLD_S + SLACK_S; s++)
		x->open[s] = !x->windows;
	if (!x->windows)
		return;
	while (x->nwindows < WINDOWS) {
		at_s += roll(x, 2 * WORLD_S / WINDOWS) / 60 * 60;
		int64_t to_s = at_s + 60 * (1 + roll(x, WORLD_S / WINDOWS / 60));
		x->window[x->nwindows] = (struct window_spec){.name = name[x->nwindows],
			.shape = WINDOW_ONCE,
			.from_local_s = at_s,
			.to_local_s = to_s};
		x->nwindows++;
		for (; at_s < to_s; at_s++)
			if (at_s < WORLD_S + SLACK_S)
				x->open[at_s] = true;
	}
	struct calendar_spec c = {.name = "windows",
		.time_zone = "UTC",
		.zone = x->zone,
		.window = x->window,
		.nwindows = x->nwindows};
	assert_int_equal(queue_set_calendar(x->q, &c, NULL), 0);
	struct runpolicy_spec p = {.name = "policy",
		.queues = batch,
		.nqueues = 1,
		.calendar = "windows",
		.fit = x->require ? FIT_REQUIRE : FIT_IGNORE,
		.max_suspensions = RUNPOLICY_SUSPENSIONS_UNLIMITED};
	bool again;
	assert_int_equal(queue_set_runpolicy(x->q, &p, &again, NULL), 0);
}

static void draw_job(struct cheapest *x)
{
	struct job j = fixture_job(1, ASKS_CPU(1000));
	x->now_s = roll(x, WORLD_S / 3);
	x->lasts_s = 1 + roll(x, WORLD_S / 4);
	x->after_s = roll(x, 3) ? 0 : x->now_s + roll(x, WORLD_S / 4);
	x->deadline_s = x->now_s + roll(x, WORLD_S - x->now_s);
	x->has_ceiling = roll(x, 2);
	x->cheapest = !x->has_ceiling || roll(x, 3);
	x->ceiling = (roll(x, 9) - 1) * 250000;
	if (x->ceiling < 0)
		x->ceiling = 0;
	x->holds = roll(x, 2);
	j.created_ms = x->now_s * 1000;
	j.durations.expected_ms = x->lasts_s * 1000;
	j.terms = (struct job_terms){.start_after_ms = x->after_s * 1000,
		.deadline_ms = x->deadline_s * 1000,
		.hold_when_missed = x->holds,
		.cheapest = x->cheapest,
		.has_max_price = x->has_ceiling,
		.max_price = x->ceiling,
		.max_price_resource = "cpu"};
	queue_set_job(x->q, &j);
}

/* ---- Brute force ---- */

/* All seconds from s to the end of the run are open; with Require the whole run. */
static bool is_open(const struct cheapest *x, int64_t s)
{
	if (!x->open[s] || !x->windows)
		return x->open[s];
	int64_t lasts_s = x->require ? x->lasts_s : 1;
	for (int64_t i = s; i < s + lasts_s; i++)
		if (i >= WORLD_S + SLACK_S || !x->open[i])
			return false;
	return true;
}

/* May it start at each second? Within a minute of the last possible start only if there was none
 * before in the same open time. */
static void allowed_seconds(const struct cheapest *x, int64_t from_s, bool *ret)
{
	memset(ret, 0, WORLD_S * sizeof(*ret));
	for (int64_t s = from_s; s < WORLD_S; s++) {
		int64_t end_s = s;
		while (end_s < WORLD_S && is_open(x, end_s))
			end_s++;
		bool closes = end_s < WORLD_S;
		/* With Require it may still start at the last second. */
		int64_t slack_s = !closes ? 1 : x->windows && x->require ? SLACK_S + 1 : SLACK_S;
		int64_t last_s = end_s - slack_s;
		for (int64_t i = s; i < end_s; i++)
			ret[i] = i <= last_s || i == s;
		s = end_s;
	}
}

static __int128 cost_at(const struct cheapest *x, int64_t s)
{
	return x->sum[s + x->lasts_s] - x->sum[s];
}

struct answer {
	int64_t latest_s; /* -1: unreachable */
	int64_t best_s;	  /* -1: none */
	__int128 best_cost;
};

static struct answer brute(const struct cheapest *x)
{
	static bool allowed[WORLD_S];
	struct answer a = {-1, -1, 0};
	int64_t from_s = x->after_s > x->now_s ? x->after_s : x->now_s;
	allowed_seconds(x, from_s, allowed);
	for (int64_t s = from_s; s + x->lasts_s <= x->deadline_s; s++) {
		if (!allowed[s])
			continue;
		a.latest_s = s;
		if (x->has_ceiling && x->factor[s] > x->ceiling)
			continue;
		if (a.best_s < 0 || (x->cheapest && cost_at(x, s) < a.best_cost)) {
			a.best_s = s;
			a.best_cost = cost_at(x, s);
		}
	}
	return a;
}

/* ---- The comparison ---- */

static void compare(struct cheapest *x)
{
	struct decision d;
	int64_t next_ms;
	struct explanation e;
	struct uid uid = fixture_uid(1);
	struct answer a = brute(x);
	queue_decide(x->q, x->now_s * 1000, &d, 1, &next_ms);
	assert_true(queue_explain(x->q, &uid, x->now_s * 1000, &e));
	assert_int_equal(e.unreachable, a.latest_s < 0);
	if (a.latest_s < 0) {
		assert_int_equal(e.reason == WAIT_DEACTIVATED, x->holds);
		return;
	}
	int64_t told_s = e.not_before_ms / 1000;
	if (a.best_s < 0) { /* never below the ceiling in time */
		if (x->holds && a.latest_s > x->now_s)
			assert_int_equal(e.reason, x->after_s > x->now_s   ? WAIT_START_AFTER
						   : !x->open[x->now_s]	   ? e.reason
						   : !is_open(x, x->now_s) ? WAIT_WINDOW_FIT
									   : WAIT_PRICE);
		else if (!x->holds && a.latest_s > x->now_s)
			assert_int_equal(told_s, a.latest_s);
		return;
	}
	if (a.best_s <= x->now_s) {
		assert_true(e.reason != WAIT_PRICE && e.reason != WAIT_START_AFTER);
		return;
	}
	assert_int_equal(told_s, a.best_s);
	assert_true(cost_at(x, told_s) == a.best_cost);
}

static void one_world(uint64_t seed)
{
	static struct cheapest x;
	struct decision d;
	int64_t next_ms;
	x = (struct cheapest){.q = fixture_new(100000, 100000), .zone = zone_utc()};
	rng_seed(&x.rng, seed);
	draw_prices(&x);
	draw_windows(&x);
	draw_job(&x);
	queue_decide(x.q, x.now_s * 1000, &d, 0, &next_ms);
	compare(&x);
	queue_free(x.q);
	zone_free(x.zone);
}

static void the_start_is_the_cheapest_of_all_seconds(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= searched(500, 1500); seed++)
		one_world(seed * 7919);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_start_is_the_cheapest_of_all_seconds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
