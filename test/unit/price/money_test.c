/* Money: which texts are amounts, and that writing gives back what was read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "queue/price/money.h"

static void what_is_money(void **state)
{
	static const struct {
		const char *text;
		int64_t micro;
	} rows[] = {
		{"0", 0},
		{"5000", 5000000000},
		{"5000.00", 5000000000},
		{"0.040", 40000},
		{"0.000001", 1},
		{"007.5", 7500000},
		{"9000000000000", INT64_C(9000000000000000000)},
		{"0000000000000000000000000000012", 12000000},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct err e = {""};
		int64_t micro = -1;
		assert_int_equal(money_parse(slice_of(rows[i].text), &micro, &e), 0);
		assert_int_equal(micro, rows[i].micro);
	}
}

static void what_is_none(void **state)
{
	static const char *const rows[] = {"", ".", ".5", "5.", "-1", "+1", "1,50", "1e3",
		"0.0000001", " 1", "1 ", "EUR", "1.2.3", "NaN", "0x10"};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct err e = {""};
		int64_t micro = 77;
		assert_int_equal(money_parse(slice_of(rows[i]), &micro, &e), ERR_INVALID);
		assert_int_equal(micro, 77);
		assert_string_not_equal(e.text, "");
	}
	int64_t micro;
	struct err e;
	assert_int_equal(money_parse(slice_of("9000000000001"), &micro, &e), ERR_LIMIT);
	assert_string_equal(
		e.text, "\"9000000000001\" is more than can be counted, which is 9 * 10^12");
	assert_int_equal(
		money_parse(slice_of("99999999999999999999999999999999999999"), &micro, &e),
		ERR_LIMIT);
	money_parse(slice_of("about 3"), &micro, &e);
	assert_string_equal(e.text,
		"\"about 3\" is not an amount of money; write digits, and at most six "
		"of them behind a point, such as 5000 or 0.040");
}

static void it_is_written_exactly(void **state)
{
	static const struct {
		int64_t micro;
		const char *text;
	} rows[] = {{0, "0.00"}, {1, "0.000001"}, {40500, "0.0405"}, {5000000000, "5000.00"},
		{-3200000, "-3.20"}, {-1, "-0.000001"}, {INT64_MIN, "-9223372036854.775808"},
		{INT64_MAX, "9223372036854.775807"}};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char text[MONEY_TEXT_SIZE];
		money_format(rows[i].micro, text);
		assert_string_equal(text, rows[i].text);
	}
}

static void for_people_it_has_two_digits(void **state)
{
	static const struct {
		int64_t micro;
		const char *text;
	} rows[] = {{0, "0.00"}, {1, "<0.01"}, {4999, "<0.01"}, {5000, "0.01"}, {166414, "0.17"},
		{1994999, "1.99"}, {1995000, "2.00"}, {5000000000, "5000.00"}, {-3200000, "-3.20"},
		{-1, ">-0.01"}, {INT64_MIN, "-9223372036854.78"}, {INT64_MAX, "9223372036854.78"}};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char text[MONEY_TEXT_SIZE];
		money_short(rows[i].micro, text);
		assert_string_equal(text, rows[i].text);
	}
}

static void sums_stop_at_the_limits(void **state)
{
	(void)state;
	assert_int_equal(money_add(2, -3), -1);
	assert_int_equal(money_add(INT64_MAX, 1), INT64_MAX);
	assert_int_equal(money_add(INT64_MIN, -1), INT64_MIN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_money),
		cmocka_unit_test(what_is_none),
		cmocka_unit_test(it_is_written_exactly),
		cmocka_unit_test(for_people_it_has_two_digits),
		cmocka_unit_test(sums_stop_at_the_limits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
