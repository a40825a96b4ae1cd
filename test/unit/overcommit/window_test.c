/* What of an estimate may be published: lowered at once, raised with patience, never on old data.
 */
#include "table.h"

#include "overcommit/window.h"

#define S INT64_C(1000)
#define MIN (60 * S)
#define T0 INT64_C(1700000000000)
#define CPU(n) ((struct load){(n), (n)})

/* A node with nothing but 10000 of both, all of which may be lent but for what is taken. */
static struct estimate with(int64_t taken)
{
	struct estimate_node n = {.allocatable = {10000, 10000}, .system_used = {taken, taken}};
	struct strategy s = strategy_default(PROFILE_ACK);
	struct estimate e;
	s.cpu_percent = s.memory_percent = 100;
	estimate_make(&s, &n, &e);
	return e;
}

/* ---- freshness ------------------------------------------------------------------------------- */

static void how_fresh_it_is(void **state)
{
	static const struct {
		const char *name;
		int64_t newest_ms, now_ms;
		bool not_ready, none;
		int64_t interval_s, degrade_min; /* 0: 15 and 15 */
		enum freshness is;
		int64_t changes_ms; /* -1: never */
	} rows[] = {
		{"of now", T0, T0, .is = FRESH, .changes_ms = T0 + 30 * S},
		{"nearly two intervals old", T0, T0 + 30 * S - 1, .is = FRESH,
			.changes_ms = T0 + 30 * S},
		{"two intervals old", T0, T0 + 30 * S, .is = HELD, .changes_ms = T0 + 15 * MIN + 1},
		{"as old as it may be", T0, T0 + 15 * MIN, .is = HELD,
			.changes_ms = T0 + 15 * MIN + 1},
		{"older", T0, T0 + 15 * MIN + 1, .is = DEGRADED, .changes_ms = -1},
		{"an hour old", T0, T0 + 60 * MIN, .is = DEGRADED, .changes_ms = -1},
		{"60 s in the future", T0 + MIN, T0, .is = FRESH, .changes_ms = T0 + MIN + 30 * S},
		{"more than 60 s in the future", T0 + MIN + 1, T0, .is = HELD,
			.changes_ms = T0 + 1},
		{"years in the future", INT64_MAX, T0, .is = HELD, .changes_ms = INT64_MAX - MIN},
		{"the node is not Ready", T0, T0, .not_ready = true, .is = DEGRADED,
			.changes_ms = T0 + 30 * S},
		{"no sample", 0, T0, .none = true, .is = DEGRADED, .changes_ms = -1},
		{"longer intervals", T0, T0 + 119 * S, .interval_s = 60, .is = FRESH,
			.changes_ms = T0 + 120 * S},
		{"degraded before it is held", T0, T0 + MIN, .interval_s = 60, .degrade_min = 1,
			.is = FRESH, .changes_ms = T0 + MIN + 1},
		{"and then it is", T0, T0 + MIN + 1, .interval_s = 60, .degrade_min = 1,
			.is = DEGRADED, .changes_ms = -1},
		{"never", T0, INT64_MAX, .interval_s = INT64_MAX, .degrade_min = INT64_MAX,
			.is = DEGRADED, .changes_ms = -1},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct window w;
		struct strategy s = strategy_default(PROFILE_ACK);
		if (rows[i].interval_s)
			s.interval_s = rows[i].interval_s;
		if (rows[i].degrade_min)
			s.degrade_min = rows[i].degrade_min;
		window_begin(&w, 0);
		if (!rows[i].none)
			assert_true(window_add(&w, rows[i].newest_ms, CPU(1), rows[i].newest_ms));
		same(rows[i].name, "freshness",
			window_freshness(&w, &s, !rows[i].not_ready, rows[i].now_ms), rows[i].is);
		same(rows[i].name, "changes", window_changes_ms(&w, &s, rows[i].now_ms),
			rows[i].changes_ms < 0 ? INT64_MAX : rows[i].changes_ms);
	}
}

/* What window_changes_ms() says is when it changes, and nothing changes before. */
static void it_changes_when_it_says(void **state)
{
	(void)state;
	struct strategy s = strategy_default(PROFILE_ACK);
	for (int64_t ahead = -MIN; ahead <= 5 * MIN; ahead += 17 * S) {
		struct window w;
		window_begin(&w, 0);
		assert_true(window_add(&w, T0 + ahead, CPU(1), T0 + ahead));
		int64_t now_ms = T0, at_ms;
		while ((at_ms = window_changes_ms(&w, &s, now_ms)) != INT64_MAX) {
			enum freshness f = window_freshness(&w, &s, true, now_ms);
			assert_true(at_ms > now_ms);
			assert_int_equal(window_freshness(&w, &s, true, at_ms - 1), f);
			assert_int_not_equal(window_freshness(&w, &s, true, at_ms), f);
			now_ms = at_ms;
		}
		assert_int_equal(window_freshness(&w, &s, true, now_ms), DEGRADED);
	}
}

/* ---- samples --------------------------------------------------------------------------------- */

static void which_samples_count(void **state)
{
	static const struct {
		const char *name;
		int64_t at_ms, now_ms;
		bool counts;
		uint8_t count;
	} steps[] = {
		{"none", 0, T0, false, 0},
		{"the first", T0, T0, true, 1},
		{"the same again", T0, T0 + 15 * S, false, 1},
		{"an older one, late", T0 - 15 * S, T0 + 15 * S, false, 1},
		{"the next", T0 + 15 * S, T0 + 16 * S, true, 2},
		{"one of the future", T0 + 90 * S, T0 + 29 * S, false, 2},
		{"without a time", 0, T0 + 30 * S, false, 2},
		{"years ahead", INT64_MAX, T0 + 30 * S, false, 2},
		{"the next after that, all the same", T0 + 30 * S, T0 + 31 * S, true, 3},
		{"a clock a minute ahead", T0 + 100 * S, T0 + 40 * S, true, 4},
		/* Now our clock is set back by an hour: what is known is of the future. */
		{"begins anew", T0 - 60 * MIN, T0 - 60 * MIN, true, 1},
		{"and goes on", T0 - 59 * MIN, T0 - 59 * MIN, true, 2},
	};
	(void)state;
	struct window w;
	window_begin(&w, 0);
	for (size_t i = 0; i < COUNT(steps); i++) {
		same(steps[i].name, "counts",
			window_add(&w, steps[i].at_ms, CPU(5), steps[i].now_ms), steps[i].counts);
		same(steps[i].name, "samples", w.count, steps[i].count);
		if (steps[i].counts)
			same(steps[i].name, "newest", w.newest_ms, steps[i].at_ms);
	}
}

static void the_newest_stays_however_many_there_are(void **state)
{
	(void)state;
	struct window w;
	window_begin(&w, 0);
	for (int64_t i = 0; i < 1000; i++) {
		assert_true(window_add(&w, T0 + i, CPU(i), T0 + i));
		assert_true(w.count >= 1 && w.count <= WINDOW_SAMPLES);
		assert_int_equal(w.sample[w.count - 1].at_ms, T0 + i);
		assert_int_equal(w.sample[w.count - 1].taken.cpu_milli, i);
		for (uint8_t k = 1; k < w.count; k++)
			assert_true(w.sample[k - 1].at_ms < w.sample[k].at_ms);
	}
}

/* ---- the figure ------------------------------------------------------------------------------ */

struct sample {
	int64_t s; /* seconds after T0 */
	int64_t taken;
};

static const struct {
	const char *name;
	struct sample samples[6];
	size_t n;
	int64_t now_s; /* after T0 */
	int64_t published;
	bool not_ready;
	int64_t raise_s; /* 0: 300; -1: none */
	int64_t figure;	 /* of 10000; of the newest sample: 10000 - taken */
} lendings[] = {
	{"use falls: raised to the mean", {{0, 6000}, {60, 2000}}, 2, 60, 4000, .figure = 6000},
	{"use rises: lowered at once", {{0, 2000}, {60, 6000}}, 2, 60, 8000, .figure = 4000},
	{"use is level", {{0, 2000}, {15, 2000}, {30, 2000}}, 3, 30, 5000, .figure = 8000},
	{"falls step by step", {{0, 6000}, {100, 2000}, {200, 2000}, {300, 2000}}, 4, 300, 4000,
		.figure = 7333},
	{"what is older than the window does not count",
		{{0, 9000}, {100, 2000}, {250, 2000}, {400, 2000}}, 4, 400, 4000, .figure = 8000},
	{"of a line that begins before it, its part", {{0, 8000}, {600, 2000}}, 2, 600, 100,
		.figure = 6500},
	{"no patience", {{0, 6000}, {60, 2000}}, 2, 60, 4000, .raise_s = -1, .figure = 8000},
	{"a peak is remembered", {{0, 1000}, {15, 9000}, {30, 1000}}, 3, 30, 1000, .figure = 5000},

	{"one sample since the start: not raised", {{0, 2000}}, 1, 0, 3000, .figure = 3000},
	{"but lowered", {{0, 8000}}, 1, 0, 3000, .figure = 2000},
	{"and where nothing was published, nothing is", {{0, 2000}}, 1, 0, -1, .figure = 0},
	{"two samples: raised", {{0, 2000}, {15, 2000}}, 2, 15, 3000, .figure = 8000},

	{"held: not raised", {{0, 2000}, {15, 2000}}, 2, 45, 3000, .figure = 3000},
	{"held: lowered", {{0, 2000}, {15, 8000}}, 2, 45, 3000, .figure = 2000},
	{"held until the last millisecond", {{0, 2000}, {15, 2000}}, 2, 15 + 900, 3000,
		.figure = 3000},
	{"degraded", {{0, 2000}, {15, 2000}}, 2, 15 + 901, 3000, .figure = 0},
	{"not Ready", {{0, 2000}, {15, 2000}}, 2, 15, 3000, .not_ready = true, .figure = 0},
	{"no sample at all", {{0, 0}}, 0, 0, 3000, .figure = 0},
	{"all of it is used", {{0, 10000}, {15, 12000}}, 2, 15, 3000, .figure = 0},
};

static void what_may_be_lent(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(lendings); i++) {
		struct strategy s = strategy_default(PROFILE_ACK);
		struct window w;
		int64_t taken = 0;
		s.raise_window_s = lendings[i].raise_s < 0   ? 0
				   : lendings[i].raise_s > 0 ? lendings[i].raise_s
							     : 300;
		window_begin(&w, 0);
		for (size_t k = 0; k < lendings[i].n; k++) {
			int64_t at_ms = T0 + lendings[i].samples[k].s * S;
			taken = lendings[i].samples[k].taken;
			assert_true(window_add(&w, at_ms, CPU(taken), at_ms));
		}
		struct estimate e = with(taken);
		same_load(lendings[i].name, "figure",
			window_figure(&w, &s, &e, CPU(lendings[i].published),
				!lendings[i].not_ready, T0 + lendings[i].now_s * S),
			CPU(lendings[i].figure));
	}
}

/* What is known from before: the time of the sample behind what is published. */
static void after_a_restart(void **state)
{
	static const struct {
		const char *name;
		int64_t known_ms;
		enum freshness before;
		int64_t lent_before; /* of 3000 that are published; by an estimate of 8000 */
	} rows[] = {
		{"a moment ago", T0 - 20 * S, FRESH, 3000},
		{"five minutes ago", T0 - 5 * MIN, HELD, 3000},
		{"an hour ago", T0 - 60 * MIN, DEGRADED, 0},
		{"never", 0, DEGRADED, 0},
		{"somebody wrote the year 9999 there", INT64_C(253370764800000), DEGRADED, 0},
	};
	(void)state;
	struct strategy s = strategy_default(PROFILE_ACK);
	struct estimate e = with(2000);
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *name = rows[i].name;
		struct window w;
		window_begin(&w, rows[i].known_ms);
		same(name, "freshness", window_freshness(&w, &s, true, T0), rows[i].before);
		same_load(name, "before any sample", window_figure(&w, &s, &e, CPU(3000), true, T0),
			CPU(rows[i].lent_before));
		assert_true(window_add(&w, T0, CPU(2000), T0));
		same_load(name, "after one", window_figure(&w, &s, &e, CPU(3000), true, T0),
			CPU(3000));
		assert_true(window_add(&w, T0 + 15 * S, CPU(2000), T0 + 15 * S));
		same_load(name, "after two",
			window_figure(&w, &s, &e, CPU(3000), true, T0 + 15 * S), CPU(8000));
	}
}

/* A sample that is known from before the restart does not count twice. */
static void a_known_sample_is_no_news(void **state)
{
	(void)state;
	struct window w;
	window_begin(&w, T0);
	assert_false(window_add(&w, T0, CPU(1), T0));
	assert_true(window_add(&w, T0 + 1, CPU(1), T0));
}

static void any_numbers(void **state)
{
	static const int64_t ends[] = {INT64_MIN, -1, 0, 1, T0, INT64_MAX};
	(void)state;
	for (size_t i = 0; i < 6 * 6 * 6; i++) {
		int64_t a = ends[i % 6], b = ends[i / 6 % 6], now_ms = ends[i / 36 % 6];
		struct strategy s = strategy_default(PROFILE_ACK);
		struct window w;
		struct estimate e = with(2000);
		s.interval_s = s.degrade_min = s.raise_window_s = a;
		window_begin(&w, b);
		window_add(&w, a, CPU(b), now_ms);
		window_add(&w, b, CPU(a), now_ms);
		window_changes_ms(&w, &s, now_ms);
		struct load l = window_figure(&w, &s, &e, CPU(b), true, now_ms);
		assert_true(l.cpu_milli >= 0 && l.cpu_milli <= 8000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(how_fresh_it_is),
		cmocka_unit_test(it_changes_when_it_says), cmocka_unit_test(which_samples_count),
		cmocka_unit_test(the_newest_stays_however_many_there_are),
		cmocka_unit_test(what_may_be_lent), cmocka_unit_test(after_a_restart),
		cmocka_unit_test(a_known_sample_is_no_news), cmocka_unit_test(any_numbers)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
