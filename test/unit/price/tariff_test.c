/* Tariffs: sums that can be checked by head, and 20,000 random ones against a plain reference: the
 * cost of every start that could matter, each summed by itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>

#include "queue/price/tariff.h"

#define HOUR INT64_C(3600000)

/* Night 0.40, day 1.00, from 7 to 19; hours since some midnight. */
static const struct tariff_step nights[] = {{-5 * HOUR, 400000}, {7 * HOUR, 1000000},
	{19 * HOUR, 400000}, {31 * HOUR, 1000000}, {43 * HOUR, 400000}};
static const struct tariff day_and_night = {nights, 5};

static void an_hour_costs_what_the_moment_says(void **state)
{
	(void)state;
	assert_int_equal(tariff_at(&day_and_night, -100 * HOUR), 400000);
	assert_int_equal(tariff_at(&day_and_night, 7 * HOUR - 1), 400000);
	assert_int_equal(tariff_at(&day_and_night, 7 * HOUR), 1000000);
	assert_int_equal(tariff_at(&day_and_night, 1000 * HOUR), 400000);
}

static void a_run_costs_the_sum_of_its_hours(void **state)
{
	(void)state;
	assert_int_equal(tariff_cost(&day_and_night, 0, 0), 0);
	assert_int_equal(tariff_cost(&day_and_night, 0, 10 * HOUR), 7 * 400000 + 3 * 1000000);
	assert_int_equal(tariff_cost(&day_and_night, 18 * HOUR, 20 * HOUR), 1400000);
	/* A millisecond is less than a millionth of it, which is rounded up. */
	assert_int_equal(tariff_cost(&day_and_night, 0, 1), 1);
	static const struct tariff_step dear[] = {{0, INT64_MAX}}, given[] = {{0, INT64_MIN}};
	assert_int_equal(tariff_cost(&(struct tariff){dear, 1}, INT64_MIN, INT64_MAX), INT64_MAX);
	assert_int_equal(tariff_cost(&(struct tariff){given, 1}, INT64_MIN, INT64_MAX), INT64_MIN);
}

static void the_cheapest_start_is_found(void **state)
{
	(void)state;
	struct tariff_start s = tariff_cheapest(&day_and_night, 8 * HOUR, 40 * HOUR, 4 * HOUR);
	assert_int_equal(s.at_ms, 19 * HOUR);
	assert_int_equal(s.cost, 4 * 400000);
	/* Longer than a night: the whole night is used, as early as that can be. */
	s = tariff_cheapest(&day_and_night, 8 * HOUR, 40 * HOUR, 14 * HOUR);
	assert_int_equal(s.at_ms, 17 * HOUR);
	assert_int_equal(s.cost, 12 * 400000 + 2 * 1000000);
	/* No time to wait for the night. */
	s = tariff_cheapest(&day_and_night, 8 * HOUR, 9 * HOUR, 4 * HOUR);
	assert_int_equal(s.at_ms, 8 * HOUR);
	/* Nearly: a later start has more of the night. */
	s = tariff_cheapest(&day_and_night, 8 * HOUR, 16 * HOUR, 4 * HOUR);
	assert_int_equal(s.at_ms, 16 * HOUR);
	assert_int_equal(s.cost, 3 * 1000000 + 400000);
}

static void what_never_ends_starts_at_once(void **state)
{
	(void)state;
	struct tariff_start s = tariff_cheapest(&day_and_night, 8 * HOUR, 40 * HOUR, INT64_MAX);
	assert_int_equal(s.at_ms, 8 * HOUR);
	assert_int_equal(s.cost, tariff_cost(&day_and_night, 8 * HOUR, INT64_MAX));
}

/* ---- Against a plain reference ---- */

static uint64_t seed = 20261121;

static int64_t dice(int64_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (int64_t)((seed >> 33) % (uint64_t)n);
}

/* Millisecond by millisecond; times are small. In HOUR-ths, so that nothing is rounded. */
static int64_t plain_weight(const struct tariff *t, int64_t from_ms, int64_t to_ms)
{
	int64_t sum = 0;
	for (int64_t ms = from_ms; ms < to_ms; ms++) {
		int64_t price = t->step[0].per_hour;
		for (size_t i = 0; i < t->n; i++)
			if (t->step[i].from_ms <= ms)
				price = t->step[i].per_hour;
		sum += price;
	}
	return sum;
}

static int64_t rounded_up(int64_t weight)
{
	return weight > 0 ? (weight + HOUR - 1) / HOUR : -(-weight / HOUR);
}

static void random_tariffs_agree_with_the_plain_way(void **state)
{
	(void)state;
	for (int round = 0; round < 20000; round++) {
		struct tariff_step step[8];
		struct tariff t = {step, (size_t)dice(8) + 1};
		int64_t at = dice(20);
		for (size_t i = 0; i < t.n; i++, at += dice(10) + 1)
			step[i] = (struct tariff_step){at, (dice(9) - 1) * HOUR / 4};
		int64_t earliest = dice(40), latest = earliest + dice(40), duration = dice(30);

		struct tariff_start want = {
			earliest, plain_weight(&t, earliest, earliest + duration)};
		for (int64_t start = earliest; start <= latest; start++) {
			int64_t weight = plain_weight(&t, start, start + duration);
			if (weight < want.cost)
				want = (struct tariff_start){start, weight};
		}
		struct tariff_start got = tariff_cheapest(&t, earliest, latest, duration);
		assert_int_equal(got.at_ms, want.at_ms);
		assert_int_equal(got.cost, rounded_up(want.cost));
		assert_int_equal(tariff_cost(&t, got.at_ms, got.at_ms + duration), got.cost);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_hour_costs_what_the_moment_says),
		cmocka_unit_test(a_run_costs_the_sum_of_its_hours),
		cmocka_unit_test(the_cheapest_start_is_found),
		cmocka_unit_test(what_never_ends_starts_at_once),
		cmocka_unit_test(random_tariffs_agree_with_the_plain_way),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
