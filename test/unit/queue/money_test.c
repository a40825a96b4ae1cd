/*
 * Money, to the last digit, in seeded random worlds:
 *
 *   bills     a run's cost is that of a model which adds up every millisecond's price in 128 bits
 *             and rounds once, whatever was asked, edited or cut meanwhile
 *   budgets   P6: what a Budget has spent is the sum of the bills of the runs that started in its
 *             period and have ended. This is so through edits, releases, drops and restarts (a
 *             second queue that is told by recall). With charge Expected and right estimates the
 *             amount is never exceeded
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

#define HOUR_MS INT64_C(3600000)
#define DAY_MS (24 * HOUR_MS)

static uint64_t roll(struct rng *rng, uint64_t n) /* 0 to n-1 */
{
	return (uint64_t)rng_between(rng, 0, (int64_t)n - 1);
}

/* ---- Bills ---- */

#define POINTS 40

/* A PricePlan and its price at each time. */
struct world {
	struct queue *q;
	struct rng rng;
	int64_t now_ms;
	struct price_base base[2];
	struct price_point point[POINTS];
	size_t npoints;
	int64_t stale_ms;
};

static void set_plan(struct world *w)
{
	struct priceplan_spec s = {.name = "plan",
		.currency = "EUR",
		.base = w->base,
		.nbases = 2,
		.has_series = true,
		.series = w->point,
		.nseries = w->npoints,
		.stale_after_ms = w->stale_ms};
	assert_int_equal(queue_set_priceplan(w->q, &s, NULL), 0);
}

static void draw_plan(struct world *w)
{
	int64_t at_ms = w->now_ms - (int64_t)roll(&w->rng, 5) * HOUR_MS;
	w->base[0] = (struct price_base){"cpu", false, (int64_t)roll(&w->rng, 2000000)};
	w->base[1] = (struct price_base){"memory", true, (int64_t)roll(&w->rng, 50000)};
	w->npoints = roll(&w->rng, POINTS);
	for (size_t i = 0; i < w->npoints; i++) {
		at_ms += 1 + (int64_t)roll(&w->rng, (uint64_t)(3 * HOUR_MS));
		w->point[i] = (struct price_point){at_ms, (int64_t)roll(&w->rng, 4000000) - 500000};
	}
	w->stale_ms = 1 + (int64_t)roll(&w->rng, (uint64_t)(6 * HOUR_MS));
	set_plan(w);
}

static int64_t factor_at(const struct world *w, int64_t at_ms)
{
	int64_t factor = PRICE_FACTOR_ONE;
	for (size_t i = 0; i < w->npoints && w->point[i].from_ms <= at_ms; i++) {
		bool last = i + 1 == w->npoints;
		factor = last && at_ms >= w->point[i].from_ms + w->stale_ms ? PRICE_FACTOR_ONE
									    : w->point[i].factor;
	}
	return factor;
}

#define GIB ((__int128)1 << 30)
/* Of a millionth of the currency: a thousandth of a core, and a byte of a GiB, are whole numbers. */
#define PARTS (1000 * GIB)

/* The hourly price at factor one, in PARTS of millionths, of pods with 0.3 cpu and 700 MB each. */
static __int128 base_per_hour(const struct world *w, int64_t pods)
{
	return 300 * pods * w->base[0].per_hour * GIB +
	       (__int128)700000000 * pods * w->base[1].per_hour * 1000;
}

/* Naively, by quarters of a second: all moments here are multiples of these. */
#define TICK_MS 250

struct naive {
	__int128 weight;
	int64_t at_ms;
};

static void naive_go(struct naive *n, const struct world *w, int64_t pods, int64_t to_ms)
{
	for (; n->at_ms < to_ms; n->at_ms += TICK_MS)
		n->weight += base_per_hour(w, pods) * factor_at(w, n->at_ms) * TICK_MS;
}

static int64_t naive_cost(const struct naive *n)
{
	__int128 hour = PARTS * HOUR_MS * PRICE_FACTOR_ONE, cost = n->weight / hour;
	return (int64_t)(cost + (n->weight % hour > 0));
}

static void round_points(struct world *w)
{
	for (size_t i = 0; i < w->npoints; i++)
		w->point[i].from_ms = (w->point[i].from_ms / TICK_MS + (int64_t)i) * TICK_MS;
	w->stale_ms = (w->stale_ms / TICK_MS + 1) * TICK_MS;
}

static struct queue *world_queue(void)
{
	struct quota_spec quota[] = {{"cpu", 1000000, QUOTA_UNLIMITED, QUOTA_UNLIMITED},
		{"memory", INT64_C(1) << 50, QUOTA_UNLIMITED, QUOTA_UNLIMITED}};
	struct queue *q = fixture_new(0, 0);
	make_queue_with(q, (struct clusterqueue_spec){.name = "batch"}, "spot", quota, 2);
	return q;
}

static void start_job(
	struct queue *q, uint32_t n, int32_t pods, int64_t expected_ms, int64_t now_ms)
{
	struct resource r[] = {{"cpu", 300}, {"memory", 700000000}};
	struct container c = {.requests = {r, 2}};
	struct job j = fixture_job(n, &c);
	j.parallelism = j.completions = pods;
	j.durations.expected_ms = expected_ms;
	j.created_ms = now_ms;
	queue_set_job(q, &j);
}

static void pass(struct queue *q, int64_t now_ms)
{
	struct decision d[64];
	int64_t next_ms;
	while (queue_decide(q, now_ms, d, 64, &next_ms) > 0)
		;
}

/* One run from start to end: asked, edited and made smaller at random moments. */
static void one_run(uint64_t seed)
{
	struct world w = {.q = world_queue(), .now_ms = 1000 * HOUR_MS};
	rng_seed(&w.rng, seed);
	struct run_bill bill;
	struct run_cost cost;
	struct uid uid = fixture_uid(1);
	int32_t pods = 8;
	pass(w.q, w.now_ms);
	draw_plan(&w);
	round_points(&w);
	set_plan(&w);
	start_job(w.q, 1, pods, HOUR_MS, w.now_ms);
	pass(w.q, w.now_ms);
	queue_confirm_job(w.q, &uid, w.now_ms);
	struct naive naive = {0, w.now_ms};
	for (int step = 0; step < 30; step++) {
		w.now_ms += TICK_MS * (int64_t)(1 + roll(&w.rng, 4 * 3600));
		naive_go(&naive, &w, pods, w.now_ms);
		assert_true(queue_job_bill(w.q, &uid, w.now_ms, &bill));
		assert_true(bill.priced);
		assert_true(bill.cost == naive_cost(&naive));
		assert_true(queue_job_cost(w.q, &uid, w.now_ms, &cost));
		assert_true(
			cost.priced && cost.cost == bill.cost && cost.currency == bill.currency);
		uint64_t what = roll(&w.rng, 4);
		if (what > 0)
			pass(w.q, w.now_ms);
		if (what == 2 && pods > 1) {
			pods = (int32_t)(1 + roll(&w.rng, (uint64_t)pods));
			queue_shrink_job(w.q, &uid, pods, w.now_ms);
		} else if (what == 3) {
			draw_plan(&w);
			round_points(&w);
			set_plan(&w);
		}
	}
	queue_free(w.q);
}

static void a_bill_is_the_sum_of_every_moment_rounded_once(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= searched(20, 60); seed++)
		one_run(seed);
}

/* ---- Budgets ---- */

#define JOBS 40

struct m_run {
	bool there, runs, ended;
	int64_t since_ms, expected_ms;
	int64_t cost;
	char lq;
};

struct ended {
	int64_t started_ms, cost;
	char lq;
};

struct p6 {
	struct world w;
	struct zone *zone;
	int64_t amount;
	bool right; /* estimates are right and no price moves */
	struct m_run run[JOBS];
	struct ended *ended; /* all bills, ever */
	size_t nended;
	uint32_t made;
	uint32_t number[JOBS];
};

static void set_budgets(struct p6 *x)
{
	struct budget_spec s = {.name = "all",
		.generation = 1,
		.clusterqueue = "batch",
		.localqueue_ns = "",
		.localqueue = "",
		.period = PERIOD_DAILY,
		.time_zone = "UTC",
		.zone = x->zone,
		.currency = "EUR",
		.amount = x->amount};
	assert_int_equal(queue_set_budget(x->w.q, &s, NULL), 0);
	s.name = "team";
	s.clusterqueue = "";
	s.localqueue_ns = "team-a";
	s.localqueue = "other";
	s.period = PERIOD_WEEKLY;
	s.amount = x->amount * 2;
	assert_int_equal(queue_set_budget(x->w.q, &s, NULL), 0);
}

static int64_t sum_between(const struct p6 *x, int64_t from_ms, int64_t to_ms, char lq)
{
	int64_t sum = 0;
	for (size_t i = 0; i < x->nended; i++) {
		const struct ended *e = &x->ended[i];
		if (e->started_ms >= from_ms && e->started_ms < to_ms && (!lq || e->lq == lq))
			sum += e->cost;
	}
	return sum;
}

static void check(struct p6 *x)
{
	struct budget_view v;
	for (size_t i = 0; queue_view_budget(x->w.q, i, &v); i++) {
		bool all = strcmp(v.name, "all") == 0;
		int64_t length_ms = all ? DAY_MS : 7 * DAY_MS;
		assert_true(v.period_to_ms - v.period_from_ms == length_ms);
		assert_true(x->w.now_ms >= v.period_from_ms && x->w.now_ms < v.period_to_ms);
		assert_true(
			v.spent == sum_between(x, v.period_from_ms, v.period_to_ms, all ? 0 : 'o'));
		if (x->right) {
			assert_true(v.spent <= v.amount);
			assert_true(v.remaining >= 0);
		}
	}
}

static void tell_job(struct p6 *x, size_t i)
{
	struct resource r[] = {{"cpu", 300}, {"memory", 700000000}};
	struct container c = {.requests = {r, 2}};
	struct job j = fixture_job(x->number[i], &c);
	j.queue = x->run[i].lq == 'o' ? "other" : "main";
	j.durations.expected_ms = x->run[i].expected_ms;
	queue_set_job(x->w.q, &j);
}

static void step_create(struct p6 *x, size_t i)
{
	if (x->run[i].there)
		return;
	x->run[i] = (struct m_run){.there = true, .lq = roll(&x->w.rng, 2) ? 'o' : 'm'};
	if (x->right || roll(&x->w.rng, 2))
		x->run[i].expected_ms = TICK_MS * (int64_t)(1 + roll(&x->w.rng, 8 * 4 * 3600));
	x->number[i] = ++x->made;
	tell_job(x, i);
}

static size_t find_run(const struct p6 *x, const struct uid *uid)
{
	size_t i = 0;
	for (; i < JOBS; i++) {
		struct uid mine = fixture_uid(x->number[i]);
		if (x->run[i].there && memcmp(&mine, uid, sizeof(mine)) == 0)
			break;
	}
	assert_true(i < JOBS);
	return i;
}

static void step_pass(struct p6 *x)
{
	struct decision d[8];
	int64_t next_ms;
	size_t n;
	while ((n = queue_decide(x->w.q, x->w.now_ms, d, 8, &next_ms)) > 0) {
		for (size_t k = 0; k < n; k++) {
			assert_int_equal(d[k].kind, DECISION_START);
			struct m_run *r = &x->run[find_run(x, &d[k].uid)];
			r->runs = true;
			r->since_ms = x->w.now_ms;
			queue_confirm_job(x->w.q, &d[k].uid, x->w.now_ms);
		}
	}
}

/* Its bill goes to the ledger first, then its quota is given back. */
static void end_run(struct p6 *x, size_t i, int64_t at_ms)
{
	struct m_run *r = &x->run[i];
	struct uid uid = fixture_uid(x->number[i]);
	struct run_bill bill;
	assert_true(queue_job_bill(x->w.q, &uid, at_ms, &bill));
	assert_true(bill.priced);
	queue_release_job(x->w.q, &uid, at_ms, 0);
	queue_drop_job(x->w.q, &uid);
	x->ended = realloc(x->ended, (x->nended + 1) * sizeof(*x->ended));
	x->ended[x->nended++] = (struct ended){r->since_ms, bill.cost, r->lq};
	r->there = false;
}

static void step_end(struct p6 *x, size_t i)
{
	struct m_run *r = &x->run[i];
	if (r->there && r->runs && (!x->right || x->w.now_ms - r->since_ms >= r->expected_ms))
		end_run(x, i, x->w.now_ms);
}

/* A second queue takes over: it is told from the ledger what ran. */
static void step_restart(struct p6 *x)
{
	struct quota_line line[QUEUE_LINES_MAX];
	struct queue *old = x->w.q;
	x->w.q = world_queue();
	make_localqueue(x->w.q, "team-a", "other", "batch");
	set_plan(&x->w);
	set_budgets(x);
	int64_t since_ms = queue_recall_spent_since_ms(x->w.q, x->w.now_ms);
	for (size_t i = 0; i < x->nended; i++) {
		const struct ended *e = &x->ended[i];
		if (e->started_ms >= since_ms)
			queue_recall_spent(x->w.q, "batch", "team-a",
				e->lq == 'o' ? "other" : "main", "EUR", e->started_ms, e->cost);
	}
	for (size_t i = 0; i < JOBS; i++) {
		struct m_run *r = &x->run[i];
		struct uid uid = fixture_uid(x->number[i]);
		if (!r->there)
			continue;
		size_t n = queue_job_lines(old, &uid, line);
		tell_job(x, i);
		if (!r->runs)
			continue;
		assert_true(n > 0);
		queue_adopt_job(x->w.q, &uid, line, n, r->since_ms);
		queue_confirm_job(x->w.q, &uid, r->since_ms);
	}
	queue_free(old);
	step_pass(x);
}

/* With right estimates runs end in time: none is overdue at a question. */
static void advance(struct p6 *x, int64_t ms)
{
	int64_t to_ms = x->w.now_ms + ms;
	while (x->right) {
		size_t first = JOBS;
		for (size_t i = 0; i < JOBS; i++) {
			const struct m_run *r = &x->run[i], *f = &x->run[first % JOBS];
			if (r->there && r->runs && r->since_ms + r->expected_ms <= to_ms &&
				(first == JOBS || r->since_ms + r->expected_ms <
							  f->since_ms + f->expected_ms))
				first = i;
		}
		if (first == JOBS)
			break;
		x->w.now_ms = x->run[first].since_ms + x->run[first].expected_ms;
		end_run(x, first, x->w.now_ms);
		step_pass(x);
		check(x);
	}
	x->w.now_ms = to_ms;
}

static void step(struct p6 *x)
{
	size_t i = roll(&x->w.rng, JOBS);
	switch (roll(&x->w.rng, 12)) {
	case 0:
	case 1:
	case 2:
		step_create(x, i);
		break;
	case 3:
	case 4:
	case 5:
		step_end(x, i);
		break;
	case 6:
	case 7:
		advance(x, TICK_MS * (int64_t)roll(&x->w.rng, 6 * 3600 * 4));
		break;
	case 8:
		step_restart(x);
		break;
	case 9:
		if (x->right)
			break;
		draw_plan(&x->w);
		x->w.npoints = 0;
		set_plan(&x->w);
		break;
	case 10:
		if (!x->right && roll(&x->w.rng, 4) == 0)
			x->amount = (int64_t)roll(&x->w.rng, 20000000);
		set_budgets(x);
		break;
	default:
		step_pass(x);
	}
	if (roll(&x->w.rng, 2))
		step_pass(x);
}

static void one_world(uint64_t seed, bool right)
{
	struct p6 x = {.w = {.q = world_queue(), .now_ms = 20000 * DAY_MS},
		.zone = zone_utc(),
		.right = right,
		.amount = 3000000};
	rng_seed(&x.w.rng, seed);
	make_localqueue(x.w.q, "team-a", "other", "batch");
	draw_plan(&x.w);
	x.w.base[0].per_hour = 500000;
	x.w.base[1].per_hour = 30000;
	x.w.npoints = 0;
	set_plan(&x.w);
	set_budgets(&x);
	step_pass(&x);
	for (int i = 0; i < 1500; i++) {
		step(&x);
		step_pass(&x);
		check(&x);
	}
	assert_true(x.nended > 20);
	queue_free(x.w.q);
	zone_free(x.zone);
	free(x.ended);
}

static void what_was_spent_is_the_sum_of_the_bills(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= searched(14, 40); seed++)
		one_world(seed, false);
}

static void with_right_estimates_the_amount_is_never_exceeded(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= searched(14, 40); seed++)
		one_world(seed, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_bill_is_the_sum_of_every_moment_rounded_once),
		cmocka_unit_test(what_was_spent_is_the_sum_of_the_bills),
		cmocka_unit_test(with_right_estimates_the_amount_is_never_exceeded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
