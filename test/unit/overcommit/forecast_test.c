/* What is going to be used: the 99th percentile of a week, of which older samples weigh less. */
#include "table.h"

#include <stdlib.h>

#include "overcommit/forecast.h"

#define MIN INT64_C(60000)
#define HOUR (60 * MIN)
#define DAY (24 * HOUR)
#define T0 INT64_C(1700000000000)
#define MI (INT64_C(1) << 20)

static uint64_t seed;

/* 0 .. n - 1 */
static int64_t below(int64_t n)
{
	seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407U;
	return (int64_t)(seed >> 33) % n;
}

/* Not less than it is, and at most 5 % more. */
static void near(const char *name, int64_t is, int64_t shall)
{
	if (is < shall || is > shall + shall / 20 + 1)
		print_error("%s: %" PRId64 " for %" PRId64 "\n", name, is, shall);
	assert_true(is >= shall && is <= shall + shall / 20 + 1);
}

/* As many samples of the same as fill so long a time, up to `until`. */
static void fill(struct forecast *f, int64_t from_ms, int64_t until_ms, struct load taken)
{
	for (int64_t at_ms = from_ms; at_ms <= until_ms; at_ms += MIN)
		forecast_add(f, at_ms, taken);
}

static void a_level_use_is_its_own_forecast(void **state)
{
	static const struct load rows[] = {{100, 20 * MI}, {1000, GI}, {1025, GI + 1},
		{2047, 2 * GI - 1}, {2048, 2 * GI}, {33000, 33 * G}, {640000, 1024 * GI},
		{4194303, 16384 * GI - 1}};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct forecast *f = forecast_new();
		struct load l;
		fill(f, T0, T0 + DAY, rows[i]);
		assert_true(forecast_get(f, T0 + DAY, 0, &l));
		near("cpu", l.cpu_milli, rows[i].cpu_milli);
		near("memory", l.memory_bytes, rows[i].memory_bytes);
		forecast_free(f);
	}
}

static void what_is_beyond_its_scale(void **state)
{
	static const struct {
		const char *name;
		struct load taken, forecast;
	} rows[] = {
		{"nothing", {0, 0}, {31, 16 * MI - 1}},
		{"less than nothing", {INT64_MIN, -1}, {31, 16 * MI - 1}},
		{"very little", {31, 16 * MI - 1}, {31, 16 * MI - 1}},
		{"more than any machine has", {4194304, 16384 * GI}, {INT64_MAX, INT64_MAX}},
		{"more than can be", {INT64_MAX, INT64_MAX}, {INT64_MAX, INT64_MAX}},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct forecast *f = forecast_new();
		struct load l;
		fill(f, T0, T0 + DAY, rows[i].taken);
		assert_true(forecast_get(f, T0 + DAY, 0, &l));
		same_load(rows[i].name, "forecast", l, rows[i].forecast);
		assert_true(forecast_get(f, T0 + DAY, 100, &l)); /* and no overflow */
		forecast_free(f);
	}
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

/* All of one hour, so that age makes no difference to speak of; the day before is level and low. */
static void it_is_the_99th_percentile(void **state)
{
	enum { N = 20000 };
	static int64_t cpu[N], memory[N];
	(void)state;
	for (seed = 1; seed <= 20;) {
		uint64_t run = seed;
		struct forecast *f = forecast_new();
		int64_t spread = 1 + below(300);
		for (int64_t at_ms = T0 - DAY; at_ms < T0; at_ms += HOUR)
			forecast_add(f, at_ms, (struct load){100, 100 * MI});
		for (size_t i = 0; i < N; i++) {
			int64_t r = below(1000);
			cpu[i] = 500 + r * r / 100 * spread;
			memory[i] = (64 + below(4000)) * MI;
			forecast_add(
				f, T0 + (int64_t)i * HOUR / N, (struct load){cpu[i], memory[i]});
		}
		qsort(cpu, N, sizeof(*cpu), by_value);
		qsort(memory, N, sizeof(*memory), by_value);
		struct load l;
		assert_true(forecast_get(f, T0 + HOUR, 0, &l));
		/* A few ranks to either side: the day before weighs a little, too. */
		assert_true(l.cpu_milli >= cpu[N * 988 / 1000]);
		assert_true(l.cpu_milli <= cpu[N * 992 / 1000] * 105 / 100 + 1);
		assert_true(l.memory_bytes >= memory[N * 988 / 1000]);
		assert_true(l.memory_bytes <= memory[N * 992 / 1000] / 100 * 105 + 100);
		forecast_free(f);
		seed = run + 1;
	}
}

/* So many minutes of a peak, so long ago, among a level use: does it count? */
static void a_peak_is_remembered_and_fades(void **state)
{
	static const struct {
		const char *name;
		int64_t ago_ms, minutes;
		bool counts;
	} rows[] = {
		/* A week of minutes weighs as much as 2062 of now: 1 % are 21. */
		{"a short one of now", 0, 15, false},
		{"a longer one of now", 0, 30, true},
		{"it weighs half after a day", DAY, 30, false},
		{"one twice as long", DAY, 60, true},
		{"a quarter after two", 2 * DAY, 60, false},
		{"and twice that", 2 * DAY, 120, true},
		{"one of six days ago", 6 * DAY, 20 * 60, false},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct forecast *f = forecast_new();
		struct load l, low = {1000, GI}, high = {8000, 8 * GI};
		int64_t now_ms = T0 + 7 * DAY, to_ms = now_ms - rows[i].ago_ms;
		for (int64_t at_ms = T0; at_ms <= now_ms; at_ms += MIN) {
			bool peak = at_ms <= to_ms && at_ms > to_ms - rows[i].minutes * MIN;
			forecast_add(f, at_ms, peak ? high : low);
		}
		assert_true(forecast_get(f, now_ms, 0, &l));
		near(rows[i].name, l.cpu_milli, rows[i].counts ? 8000 : 1000);
		near(rows[i].name, l.memory_bytes, rows[i].counts ? 8 * GI : GI);
		forecast_free(f);
	}
}

static void the_margin(void **state)
{
	(void)state;
	struct forecast *f = forecast_new();
	struct load plain, more;
	fill(f, T0, T0 + DAY, (struct load){1000, GI});
	assert_true(forecast_get(f, T0 + DAY, 0, &plain));
	assert_true(forecast_get(f, T0 + DAY, 10, &more));
	assert_int_equal(more.cpu_milli, plain.cpu_milli + (plain.cpu_milli + 9) / 10);
	assert_int_equal(more.memory_bytes, plain.memory_bytes + (plain.memory_bytes + 9) / 10);
	assert_true(forecast_get(f, T0 + DAY, -50, &more));
	assert_int_equal(more.cpu_milli, plain.cpu_milli);
	forecast_free(f);
}

static void how_much_history_it_takes(void **state)
{
	static const struct {
		const char *name;
		int64_t first_ms, last_ms, step_ms, now_ms;
		bool is;
	} rows[] = {
		{"a day of minutes", T0, T0 + DAY, MIN, T0 + DAY, true},
		{"ten minutes less", T0, T0 + DAY - 10 * MIN, MIN, T0 + DAY - 10 * MIN, false},
		{"the newest a minute ago", T0, T0 + DAY - MIN, MIN, T0 + DAY, true},
		{"an hour each", T0, T0 + DAY, HOUR, T0 + DAY, true},
		{"two samples a day apart", T0, T0 + DAY, DAY, T0 + DAY, false},
		{"none since yesterday", T0, T0 + DAY, MIN, T0 + 2 * DAY, true},
		{"none since longer than that", T0, T0 + DAY, MIN, T0 + 2 * DAY + 1, false},
		{"all of it is in the future", T0, T0 + DAY, MIN, T0 - DAY, false},
		{"a month", T0, T0 + 30 * DAY, 10 * MIN, T0 + 30 * DAY, true},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct forecast *f = forecast_new();
		struct load l = {-7, -7};
		assert_false(forecast_get(f, T0, 0, &l));
		for (int64_t at_ms = rows[i].first_ms; at_ms <= rows[i].last_ms;
			at_ms += rows[i].step_ms)
			forecast_add(f, at_ms, (struct load){1000, GI});
		bool is = forecast_get(f, rows[i].now_ms, 0, &l);
		same(rows[i].name, "forecast", is, rows[i].is);
		if (!is)
			same_load(rows[i].name, "untouched", l, (struct load){-7, -7});
		forecast_free(f);
	}
}

static void what_is_older_than_a_week_does_not_count(void **state)
{
	(void)state;
	struct forecast *f = forecast_new();
	struct load l, low = {1000, GI}, high = {8000, 8 * GI};
	/* Old ones that come after the new ones. */
	fill(f, T0, T0 + DAY, low);
	fill(f, T0 + DAY - FORECAST_RETENTION_MS - DAY, T0 + DAY - FORECAST_RETENTION_MS - 1, high);
	assert_true(forecast_get(f, T0 + DAY, 0, &l));
	near("late", l.cpu_milli, 1000);
	/* New ones after so long that all of those are old. */
	fill(f, T0 + 20 * DAY, T0 + 20 * DAY + HOUR, high);
	assert_false(forecast_get(f, T0 + 20 * DAY + HOUR, 0, &l));
	fill(f, T0 + 20 * DAY, T0 + 21 * DAY, high);
	assert_true(forecast_get(f, T0 + 21 * DAY, 0, &l));
	near("anew", l.cpu_milli, 8000);
	forecast_free(f);
}

static void the_order_does_not_matter(void **state)
{
	enum { N = 3 * 24 * 60 };
	static int64_t at_ms[N];
	(void)state;
	seed = 99;
	struct forecast *straight = forecast_new(), *mixed = forecast_new();
	for (int64_t i = 0; i < N; i++)
		at_ms[i] = T0 + i * MIN;
	for (size_t i = 0; i < N; i++)
		forecast_add(straight, at_ms[i], (struct load){at_ms[i] / MIN % 997 * 10, GI});
	for (size_t i = N - 1; i > 0; i--) {
		size_t k = (size_t)below((int64_t)i + 1);
		int64_t other = at_ms[k];
		at_ms[k] = at_ms[i];
		at_ms[i] = other;
	}
	for (size_t i = 0; i < N; i++)
		forecast_add(mixed, at_ms[i], (struct load){at_ms[i] / MIN % 997 * 10, GI});
	struct load a, b;
	assert_true(forecast_get(straight, T0 + N * MIN, 0, &a));
	assert_true(forecast_get(mixed, T0 + N * MIN, 0, &b));
	same_load("mixed", "forecast", b, a);
	forecast_free(straight);
	forecast_free(mixed);
}

/* Years of samples: weights are scaled down on the way, and it stays what it is. */
static void it_goes_on_for_years(void **state)
{
	(void)state;
	struct forecast *f = forecast_new();
	struct load l;
	for (int64_t at_ms = T0; at_ms < T0 + 1000 * DAY; at_ms += 10 * MIN)
		forecast_add(
			f, at_ms, (struct load){at_ms < T0 + 900 * DAY ? 16000 : 2000, 4 * GI});
	assert_true(forecast_get(f, T0 + 1000 * DAY, 0, &l));
	near("cpu", l.cpu_milli, 2000);
	near("memory", l.memory_bytes, 4 * GI);
	forecast_free(f);
}

static void any_times(void **state)
{
	static const int64_t ends[] = {INT64_MIN, -1, 0, 1, T0, INT64_MAX};
	(void)state;
	struct forecast *f = forecast_new();
	struct load l;
	for (size_t i = 0; i < 6 * 6 * 6; i++) {
		forecast_add(f, ends[i % 6], (struct load){ends[i / 6 % 6], ends[i / 36]});
		forecast_get(f, ends[i / 36], ends[i % 6], &l);
	}
	forecast_free(f);
	forecast_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(a_level_use_is_its_own_forecast),
		cmocka_unit_test(what_is_beyond_its_scale),
		cmocka_unit_test(it_is_the_99th_percentile),
		cmocka_unit_test(a_peak_is_remembered_and_fades), cmocka_unit_test(the_margin),
		cmocka_unit_test(how_much_history_it_takes),
		cmocka_unit_test(what_is_older_than_a_week_does_not_count),
		cmocka_unit_test(the_order_does_not_matter), cmocka_unit_test(it_goes_on_for_years),
		cmocka_unit_test(any_times)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
