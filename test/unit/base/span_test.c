/*
 * Durations as text: the form for people, and the one for settings.
 */
#include "base/span.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define ROWS(array) (sizeof(array) / sizeof((array)[0]))
#define HOUR INT64_C(3600000)
#define DAY (24 * HOUR)

struct row {
	int64_t ms;
	const char *text;
};

static void people_read_two_units(void **state)
{
	static const struct row rows[] = {{-5000, "0s"}, {0, "0s"}, {999, "0s"}, {45999, "45s"},
		{60000, "1m"}, {119000, "1m59s"}, {540000, "9m"}, {543000, "9m3s"},
		{599999, "9m59s"}, {600000, "10m"}, {659999, "10m"}, {HOUR, "1h"},
		{HOUR + 59999, "1h"}, {HOUR + 300000, "1h5m"}, {11565000, "3h12m"},
		{DAY - 1, "23h59m"}, {DAY, "1d"}, {DAY + HOUR - 1, "1d"},
		{2 * DAY + 4 * HOUR, "2d4h"}, {10 * DAY - 1, "9d23h"}, {10 * DAY + 2 * HOUR, "10d"},
		{INT64_MIN, "0s"}, {INT64_MAX, "106751991167d"}};
	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++)
		assert_string_equal(span_short(rows[i].ms).s, rows[i].text);
}

static void settings_have_all_of_it(void **state)
{
	static const struct row rows[] = {{-1, "0s"}, {0, "0s"}, {1, "1s"}, {45000, "45s"},
		{90000, "1m30s"}, {HOUR + 1800000, "1h30m"}, {48 * HOUR, "48h"},
		{HOUR + 5000, "1h5s"}, {HOUR - 1, "1h"}, {INT64_MAX, "2562047788015h12m56s"}};
	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++)
		assert_string_equal(span_exact(rows[i].ms).s, rows[i].text);
}

static void seconds_of_json_are_any_number(void **state)
{
	(void)state;
	assert_string_equal(span_of_seconds(-3).s, "0s");
	assert_string_equal(span_of_seconds(59.9).s, "59s");
	assert_string_equal(span_of_seconds(7261).s, "2h1m");
	assert_string_equal(span_of_seconds(1e300).s, "11574074074d");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(people_read_two_units),
		cmocka_unit_test(settings_have_all_of_it),
		cmocka_unit_test(seconds_of_json_are_any_number),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
