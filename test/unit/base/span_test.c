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

static void a_guess_is_no_more_exact_than_it_is(void **state)
{
	static const struct row rows[] = {{-5000, "0s"}, {59999, "59s"}, {60000, "1m"},
		{89999, "1m"}, {90000, "2m"}, {282000, "5m"}, {HOUR - 30000, "1h"}, {HOUR, "1h"},
		{HOUR + 149999, "1h"}, {HOUR + 150000, "1h5m"}, {11565000, "3h15m"},
		{DAY - 1, "1d"}, {2 * DAY + 4 * HOUR, "2d4h"}, {INT64_MIN, "0s"},
		{INT64_MAX, "106751991167d"}};
	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++)
		assert_string_equal(span_about(rows[i].ms).s, rows[i].text);
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

enum form { PLAIN = 1, LONG = 2, SECONDS = 4, ALL = PLAIN | LONG | SECONDS };

static void what_people_write_is_read(void **state)
{
	static const struct {
		const char *text;
		int64_t ms;
		int forms; /* those that take it */
	} rows[] = {{"1h30m", HOUR + HOUR / 2, ALL}, {"1.5h", HOUR + HOUR / 2, ALL},
		{"90s", 90000, ALL}, {"500ms", 500, ALL}, {"1ns", 1, ALL},
		{"0.0000001s", 0, PLAIN | LONG}, {"0s", 0, PLAIN | LONG},
		{"5400", 5400000, SECONDS}, {"0", 0, 0}, {"400d", 400 * DAY, LONG},
		{"57w", 399 * DAY, LONG}, {"2d4h", 52 * HOUR, LONG},
		{"0.999999w", 7 * DAY - 604, LONG}, {"876000h", 36500 * DAY, ALL},
		{"876000h1s", 0, 0}, {"36501d", 0, 0}, {"99999999999999999999h", 0, 0}, {"", 0, 0},
		{"h", 0, 0}, {"1", 1000, SECONDS}, {"-1s", 0, 0}, {"1y", 0, 0}, {"1h ", 0, 0}};
	static const struct {
		bool (*parse)(const char *text, int64_t *ret_ms);
		enum form form;
	} parsers[] = {{span_parse, PLAIN}, {span_parse_long, LONG}, {span_parse_seconds, SECONDS}};
	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		for (size_t p = 0; p < ROWS(parsers); p++) {
			int64_t ms = 0;
			bool taken = parsers[p].parse(rows[i].text, &ms);
			assert_int_equal(taken, (rows[i].forms & parsers[p].form) != 0);
			assert_true(!taken || ms == rows[i].ms);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(people_read_two_units),
		cmocka_unit_test(a_guess_is_no_more_exact_than_it_is),
		cmocka_unit_test(settings_have_all_of_it),
		cmocka_unit_test(seconds_of_json_are_any_number),
		cmocka_unit_test(what_people_write_is_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
