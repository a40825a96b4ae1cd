/* Charges: sums that can be checked by head, and products that need more than 128 bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "queue/price/charge.h"

#define HOUR ((__int128)3600000 * PRICE_FACTOR_ONE) /* at factor one */

/* 100 MiB at 0.005 a GiB: 488 millionths, and 0.28125 of one. */
static const struct hourly_price memory = {488, PRICE_PARTS / 32 * 9};
static const struct hourly_price least = {0, 1};

static void only_the_end_is_rounded(void **state)
{
	(void)state;
	assert_int_equal(charge_told(charge_of(memory, HOUR)), 489);
	assert_int_equal(charge_told(charge_of(memory, 32 * HOUR)), 32 * 488 + 9);
	assert_int_equal(charge_told(charge_of(memory, 1000 * HOUR)), 488282);
	struct charge sum = {0};
	for (int i = 0; i < 32; i++)
		sum = charge_add(sum, charge_of(memory, HOUR));
	assert_int_equal(charge_cmp(sum, charge_of(memory, 32 * HOUR)), 0);
}

static void nothing_is_nothing_and_the_least_is_a_millionth(void **state)
{
	(void)state;
	assert_int_equal(charge_told((struct charge){0}), 0);
	assert_int_equal(charge_told(charge_of(memory, 0)), 0);
	assert_int_equal(charge_told(charge_of(least, 1)), 1);
	assert_true(charge_cmp(charge_of(least, 1), (struct charge){0}) > 0);
}

/* Power may have a price below 0: what is given back is never more than it is. */
static void a_negative_factor_gives_back(void **state)
{
	(void)state;
	assert_int_equal(charge_told(charge_of(memory, -32 * HOUR)), -32 * 488 - 9);
	assert_int_equal(charge_told(charge_of(memory, -HOUR)), -488);
	struct charge sum = charge_add(charge_of(memory, 7), charge_of(memory, -7));
	assert_int_equal(charge_cmp(sum, (struct charge){0}), 0);
}

/* A hundred years at a factor of 10,000 of a price that is a part short of a millionth more. */
static void long_dear_runs_are_exact_too(void **state)
{
	(void)state;
	__int128 factors = (__int128)100 * 366 * 24 * 10000 * HOUR;
	struct charge c = charge_of((struct hourly_price){0, PRICE_PARTS - 1}, factors);
	assert_true(c.weight == factors - factors / PRICE_PARTS - 1);
	assert_true(c.parts == PRICE_PARTS - (int64_t)(factors % PRICE_PARTS));
	c = charge_of((struct hourly_price){INT64_C(1000000000000000), 0}, factors);
	assert_true(charge_told(c) == INT64_MAX);
}

static void the_price_of_an_hour_is_told_to_the_nearest_millionth(void **state)
{
	(void)state;
	assert_int_equal(hourly_price_told(memory, PRICE_FACTOR_ONE), 488);
	assert_int_equal(hourly_price_told(memory, 2 * PRICE_FACTOR_ONE), 977);
	assert_int_equal(hourly_price_told(least, PRICE_FACTOR_ONE), 0);
	assert_true(hourly_price_cmp(least, memory) < 0);
	assert_true(hourly_price_cmp((struct hourly_price){0, 2}, least) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_the_end_is_rounded),
		cmocka_unit_test(nothing_is_nothing_and_the_least_is_a_millionth),
		cmocka_unit_test(a_negative_factor_gives_back),
		cmocka_unit_test(long_dear_runs_are_exact_too),
		cmocka_unit_test(the_price_of_an_hour_is_told_to_the_nearest_millionth),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
