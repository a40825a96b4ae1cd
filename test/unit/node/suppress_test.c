/* How much cpu lent pods may have: second by second, and what holds for any load. */
#include "draw.h"

#include "node/suppress.h"

#define SEEDS 3000
#define TICKS 200

/* A node of ten cores of which 65 percent may be used, and a core of system. */
static const struct orders ten_cores = {.suppress = true,
	.capacity = {10000, 0},
	.suppress_percent = 65,
	.suppress_min_percent = 2,
	.suppress_rise_percent = 10};

static void tick_by_tick(void **state)
{
	enum { MISSING = -1 };
	static const struct {
		const char *name;
		struct {
			int64_t at_ms, ordinary, lent, npods, may;
		} tick[10]; /* up to one at 0 that is not the first */
	} rows[] = {
		{"the formula", {{0, 2000, 500, 3, 3500}}},
		{"no less than 2 percent", {{0, 9000, 0, 3, 200}}},
		{"no less than 50 each", {{0, 9000, 0, 30, 1500}}},
		{"down at once",
			{{0, 1000, 0, 1, 4500}, {1000, 3000, 0, 1, 2500}, {1001, 5000, 0, 1, 500}}},
		{"not up in the first three seconds", {{0, 5000, 0, 1, 500}, {2999, 0, 0, 1, 500}}},
		{"up by a tenth of the node a second",
			{{0, 1000, 0, 1, 4500}, {1000, 5000, 0, 1, 500}, {2000, 3000, 0, 1, 500},
				{3000, 1000, 0, 1, 500}, {4000, 1000, 0, 1, 1500},
				{5000, 1000, 0, 1, 2500}, {5250, 1000, 0, 1, 2750},
				{6000, 1000, 0, 1, 3500}, {7000, 1000, 0, 1, 4500}}},
		{"up to the least of three seconds",
			{{0, 5000, 0, 1, 500}, {1000, 4500, 0, 1, 500}, {2000, 4800, 0, 1, 500},
				{3000, 1000, 0, 1, 700}, {4000, 1000, 0, 1, 700},
				{5000, 1000, 0, 1, 1700}}},
		{"slight changes are none",
			{{0, 2000, 0, 1, 3500}, {1000, 2099, 3401, 1, 3500},
				{2000, 2050, 0, 1, 3500}, {3000, 1950, 0, 1, 3500},
				{4000, 1901, 0, 1, 3500}, {5000, 1910, 0, 1, 3500},
				{6000, 2100, 0, 1, 3400}}},
		{"a slight fall below what is used counts",
			{{0, 2000, 3500, 1, 3500}, {1000, 2010, 3500, 1, 3490}}},
		{"missing: as was said last", {{0, 2000, 0, 1, 3500}, {1000, MISSING, 0, 1, 3500},
						      {2000, 3000, 0, 1, 2500}}},
		{"missing at the start: not divided",
			{{0, MISSING, 0, 1, -1}, {1000, 3000, 0, 1, 2500}}},
		{"long without a sample: patience anew",
			{{0, 5000, 0, 1, 500}, {3000, 1000, 0, 1, 1500}, {6001, 1000, 0, 1, 1500},
				{9000, 1000, 0, 1, 1500}, {9001, 1000, 0, 1, 1501}}},
		{"more pods: 50 more each, at once",
			{{0, 9000, 0, 10, 500}, {1, 9000, 0, 20, 1000}}},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct suppress s = {0};
		for (size_t k = 0; k < 10 && (!k || rows[i].tick[k].at_ms); k++) {
			char what[32];
			int64_t ordinary = rows[i].tick[k].ordinary, lent = rows[i].tick[k].lent;
			struct suppress_use use = {ordinary + lent + 1000, ordinary + lent, lent,
				(size_t)rows[i].tick[k].npods};
			if (ordinary == MISSING)
				*(once_in(2) ? &use.node : once_in(2) ? &use.pods : &use.lent) = -1;
			snprintf(what, sizeof(what), "tick %zu", k);
			same(rows[i].name, what,
				suppress_tick(&s, &ten_cores, &use, rows[i].tick[k].at_ms),
				rows[i].tick[k].may);
		}
	}
}

static void system_and_reserved(void **state)
{
	static const struct {
		const char *name;
		int64_t node, pods, lent, reserved, may;
	} rows[] = {
		{"the system uses more than is reserved", 3000, 2000, 500, 500, 4000},
		{"less than is reserved", 3000, 2000, 500, 2500, 2500},
		{"pods are read after the node: no system", 2000, 2100, 500, 0, 4900},
		{"lent pods are read after all pods: nothing ordinary", 2000, 1000, 1100, 0, 5500},
		{"more than the node has", 90000, 90000, 0, 0, 200},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct suppress s = {0};
		struct orders o = ten_cores;
		struct suppress_use use = {rows[i].node, rows[i].pods, rows[i].lent, 1};
		o.reserved.cpu_milli = rows[i].reserved;
		same(rows[i].name, "may", suppress_tick(&s, &o, &use, 0), rows[i].may);
	}
}

static void it_begins_with_what_it_finds(void **state)
{
	struct suppress s;
	struct suppress_use use = {2000, 1000, 0, 1};
	(void)state;
	suppress_begin(&s, 600);
	assert_int_equal(suppress_tick(&s, &ten_cores, &use, 0), 600);
	assert_int_equal(suppress_tick(&s, &ten_cores, &use, 2999), 600);
	assert_int_equal(suppress_tick(&s, &ten_cores, &use, 3000), 601);
	suppress_begin(&s, 600);
	use.node = -1;
	assert_int_equal(suppress_tick(&s, &ten_cores, &use, 0), 600);
	suppress_begin(&s, -1);
	assert_int_equal(suppress_tick(&s, &ten_cores, &use, 0), -1);
}

/* Looks more often than can be remembered: it waits for longer then, and never for less. */
static void more_looks_than_are_remembered(void **state)
{
	struct suppress s = {0};
	struct suppress_use use = {.npods = 1};
	int64_t now_ms = 0;
	(void)state;
	for (int64_t i = 0; i < 100; i++, now_ms += 50) {
		use.pods = 5000 - 20 * i; /* of which more is free with each look: 1500 at first */
		use.node = use.pods;
		int64_t is = suppress_tick(&s, &ten_cores, &use, now_ms);
		assert_in_range(is, 1500, i < 60 ? 1500 : 1500 + 20 * (i - 60 + 1));
	}
	for (int i = 0; i < 100; i++, now_ms += 1000)
		suppress_tick(&s, &ten_cores, &use, now_ms);
	assert_int_equal(suppress_tick(&s, &ten_cores, &use, now_ms), 1500 + 20 * 99);
}

static void orders_that_do_not_suppress(void **state)
{
	struct suppress s = {0};
	struct suppress_use use = {6000, 5000, 0, 1};
	struct orders o = ten_cores;
	(void)state;
	assert_int_equal(suppress_tick(&s, &o, &use, 0), 500);
	o.suppress = false;
	assert_int_equal(suppress_tick(&s, &o, &use, 1000), -1);
	o.suppress = true;
	o.capacity.cpu_milli = 0;
	assert_int_equal(suppress_tick(&s, &o, &use, 2000), -1);
	o = ten_cores;
	use.pods = 1000;
	use.node = 2000;
	assert_int_equal(suppress_tick(&s, &o, &use, 3000), 4500);
}

static void when_the_tier_is_idle(void **state)
{
	static const struct {
		enum cpu_idle idle;
		int major, minor;
		bool wants;
	} rows[] = {
		{CPU_IDLE_NEVER, 6, 1, false},
		{CPU_IDLE_ALWAYS, 6, 12, true},
		{CPU_IDLE_AUTO, 6, 1, true},
		{CPU_IDLE_AUTO, 5, 14, false},
		{CPU_IDLE_AUTO, 5, 15, true},
		{CPU_IDLE_AUTO, 6, 5, true},
		{CPU_IDLE_AUTO, 6, 6, false},
		{CPU_IDLE_AUTO, 7, 0, false},
		{CPU_IDLE_AUTO, 4, 18, false},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_int_equal(suppress_wants_idle(rows[i].idle, rows[i].major, rows[i].minor),
			rows[i].wants);
}

/* ---- any load -------------------------------------------------------------------------------- */

/* What the test knows of a node: all that was free since it began to look. */
struct past {
	int64_t at_ms[TICKS], fits[TICKS];
	size_t n;
};

static int64_t more(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t floor_of(const struct orders *o, const struct suppress_use *use)
{
	return more(
		o->capacity.cpu_milli * o->suppress_min_percent / 100, (int64_t)use->npods * 50);
}

static int64_t fits_of(const struct orders *o, const struct suppress_use *use)
{
	int64_t system = more(more(use->node - use->pods, o->reserved.cpu_milli), 0);
	int64_t free = o->capacity.cpu_milli * o->suppress_percent / 100 -
		       more(use->pods - use->lent, 0) - system;
	return more(free, floor_of(o, use));
}

/* The least since three seconds; -1: samples do not go back that far without a hole. */
static int64_t lately(const struct past *p, int64_t now_ms)
{
	int64_t least = INT64_MAX, later_ms = now_ms;
	for (size_t i = p->n; i > 0; i--) {
		if (later_ms - p->at_ms[i - 1] > 3000)
			return -1;
		later_ms = p->at_ms[i - 1];
		if (now_ms - later_ms < 3000 && p->fits[i - 1] < least)
			least = p->fits[i - 1];
		if (now_ms - later_ms >= 3000)
			return least;
	}
	return -1;
}

static void check_tick(const struct orders *o, const struct suppress_use *use, const struct past *p,
	int64_t was, int64_t is, int64_t now_ms)
{
	int64_t fits = p->fits[p->n - 1], floor = floor_of(o, use);
	int64_t gone_ms = p->n > 1 ? now_ms - p->at_ms[p->n - 2] : 0;
	holds(is >= floor);
	/* Never more than the newest sample allows, but for slight changes. */
	holds(is <= fits + more(o->capacity.cpu_milli / 100 - 1, 0));
	holds(is <= fits || is == was);
	holds(is <= fits || is >= use->lent || fits >= use->lent);
	if (was < 0 || is <= was || is == floor)
		return;
	holds(lately(p, now_ms) >= is);
	holds((is - was) * 100000 <=
		o->capacity.cpu_milli * o->suppress_rise_percent * more(gone_ms, 0));
}

static void live(void)
{
	static struct past p;
	struct suppress s = {0};
	struct orders o = {.suppress = true,
		.capacity = {1000 + below(100000), 0},
		.reserved = {below(3) * 500, 0},
		.suppress_percent = below(120),
		.suppress_min_percent = below(6),
		.suppress_rise_percent = below(30)};
	int64_t now_ms = below(5000), was = -1, fast = once_in(3) ? 300 : 1500;
	struct suppress_use use = {0, 0, 0, 1};
	int64_t ordinary = 0;
	p.n = 0;
	for (int i = 0; i < TICKS; i++) {
		now_ms += 1 + below(fast) + (once_in(40) ? below(10000) : 0);
		if (once_in(3))
			ordinary = below(o.capacity.cpu_milli);
		use.npods = (size_t)(once_in(20) ? below(20) : (int64_t)use.npods);
		use.lent = below(o.capacity.cpu_milli / 2);
		use.pods = ordinary + use.lent;
		use.node = use.pods + below(o.capacity.cpu_milli / 10);
		if (once_in(10)) {
			struct suppress_use less = use;
			*(once_in(2) ? &less.node : once_in(2) ? &less.pods : &less.lent) = -1;
			holds(suppress_tick(&s, &o, &less, now_ms) == was);
			continue;
		}
		p.at_ms[p.n] = now_ms;
		p.fits[p.n++] = fits_of(&o, &use);
		int64_t is = suppress_tick(&s, &o, &use, now_ms);
		check_tick(&o, &use, &p, was, is, now_ms);
		was = is;
	}
}

static void whatever_is_used(void **state)
{
	(void)state;
	play_seeds(SEEDS, live);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tick_by_tick),
		cmocka_unit_test(system_and_reserved),
		cmocka_unit_test(it_begins_with_what_it_finds),
		cmocka_unit_test(more_looks_than_are_remembered),
		cmocka_unit_test(orders_that_do_not_suppress),
		cmocka_unit_test(when_the_tier_is_idle),
		cmocka_unit_test(whatever_is_used),
	};
	take_seed(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
