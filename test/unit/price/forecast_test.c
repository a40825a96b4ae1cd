/* What a period will cost at the pace of its beginning. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>

#include "queue/price/forecast.h"
#include "queue/price/money.h"

#define HOUR INT64_C(3600000)
#define DAY (24 * HOUR)
#define BEGIN INT64_C(1795219200000) /* 2026-11-21T00:00:00Z */

/* Money in units, times from the beginning of the period; exhausted -1: no time is told. */
static const struct {
	const char *name;
	int64_t length, elapsed, amount, spent;
	bool tells;
	int64_t forecast, exhausted;
} rows[] = {
	{"half a day, half of it spent", DAY, 12 * HOUR, 100, 50, true, 100, -1},
	{"a little more than half", DAY, 12 * HOUR, 100, 60, true, 120, 20 * HOUR},
	{"less than half", DAY, 12 * HOUR, 100, 25, true, 50, -1},
	{"an hour before the end", DAY, 23 * HOUR, 100, 46, true, 48, -1},
	{"nothing spent", DAY, 12 * HOUR, 100, 0, true, 0, -1},
	{"prices below 0", DAY, 12 * HOUR, 100, -5, true, -10, -1},
	{"all is spent", DAY, 12 * HOUR, 100, 100, true, 200, -1},
	{"more than all", DAY, 12 * HOUR, 100, 130, true, 260, -1},
	{"nothing may be spent, and nothing is", DAY, 12 * HOUR, 0, 0, true, 0, -1},
	{"an hour less a millisecond", DAY, HOUR - 1, 100, 50, false, 0, 0},
	{"an hour", DAY, HOUR, 100, 50, true, 1200, 2 * HOUR},
	{"less than a hundredth of 30 days", 30 * DAY, 7 * HOUR, 100, 50, false, 0, 0},
	{"a hundredth of 25 days", 25 * DAY, 6 * HOUR, 100, 50, true, 5000, 12 * HOUR},
	{"before it begins", DAY, -HOUR, 100, 50, false, 0, 0},
	{"when it has ended", DAY, DAY, 100, 50, false, 0, 0},
	{"no period at all", 0, 0, 100, 50, false, 0, 0},
};

static void the_pace_goes_on(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct forecast_facts f = {.from_ms = BEGIN,
			.to_ms = BEGIN + rows[i].length,
			.now_ms = BEGIN + rows[i].elapsed,
			.amount = rows[i].amount * MONEY_UNIT,
			.spent = rows[i].spent * MONEY_UNIT};
		struct forecast x = {-7, -7};
		print_message("  %s\n", rows[i].name);
		assert_int_equal(forecast_spending(&f, &x), rows[i].tells);
		if (!rows[i].tells) {
			assert_int_equal(x.spent, -7);
			continue;
		}
		assert_int_equal(x.spent, rows[i].forecast * MONEY_UNIT);
		assert_int_equal(
			x.exhausted_ms, rows[i].exhausted < 0 ? 0 : BEGIN + rows[i].exhausted);
	}
}

static void it_is_exact_and_rounded_up(void **state)
{
	(void)state;
	struct forecast_facts f = {.from_ms = BEGIN,
		.to_ms = BEGIN + 30 * DAY,
		.now_ms = BEGIN + 7 * DAY,
		.amount = 5,
		.spent = 2};
	struct forecast x;
	assert_true(forecast_spending(&f, &x));
	assert_int_equal(x.spent, 9); /* 8.57 */
	assert_int_equal(x.exhausted_ms, BEGIN + 17 * DAY + 12 * HOUR);
	f.amount = 6;
	assert_true(forecast_spending(&f, &x));
	assert_int_equal(x.exhausted_ms, BEGIN + 21 * DAY);
	f.spent = 7;
	f.amount = 30; /* exactly the end is not within */
	assert_true(forecast_spending(&f, &x));
	assert_int_equal(x.spent, 30);
	assert_int_equal(x.exhausted_ms, 0);
}

static void amounts_without_end_do_not_wrap(void **state)
{
	(void)state;
	struct forecast_facts f = {.from_ms = BEGIN,
		.to_ms = BEGIN + 366 * DAY,
		.now_ms = BEGIN + 10 * DAY,
		.amount = INT64_MAX,
		.spent = INT64_MAX - 1};
	struct forecast x;
	assert_true(forecast_spending(&f, &x));
	assert_int_equal(x.spent, INT64_MAX);
	assert_int_equal(x.exhausted_ms, f.now_ms + 1);
	f.spent = INT64_MIN;
	assert_true(forecast_spending(&f, &x));
	assert_int_equal(x.spent, INT64_MIN);
	assert_int_equal(x.exhausted_ms, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_pace_goes_on),
		cmocka_unit_test(it_is_exact_and_rounded_up),
		cmocka_unit_test(amounts_without_end_do_not_wrap),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
