/* A text of prices: its points, and the sentence about a wrong line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/buf.h"
#include "queue/price/series.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define TEN INT64_C(1795255200000) /* 2026-11-21T10:00:00Z */
#define HOUR INT64_C(3600000)

static struct err said;

static int read_text(const char *text, int64_t reference, struct price_point **ret, size_t *n)
{
	*ret = NULL;
	*n = 0;
	said = (struct err){""};
	return series_read(slice_of(text), reference, ret, n, &said);
}

static void points_in_order_of_time(void **state)
{
	struct price_point *p;
	size_t n;
	(void)state;
	int rc = read_text("# day-ahead, EUR/MWh\n\n"
			   "2026-11-21T12:00:00+01:00 -2.5\r\n"
			   "\t2026-11-21T10:00:00Z   83.12 # the dear one\n"
			   "2026-11-21T12:00:00Z 0",
		80000000, &p, &n);
	if (rc < 0)
		fail_msg("%s", said.text);
	assert_int_equal(n, 3);
	assert_int_equal(p[0].from_ms, TEN);
	assert_int_equal(p[0].factor, 1039000);
	assert_int_equal(p[1].from_ms, TEN + HOUR);
	assert_int_equal(p[1].factor, -31250);
	assert_int_equal(p[2].from_ms, TEN + 2 * HOUR);
	assert_int_equal(p[2].factor, 0);
	free(p);
}

static void a_factor_is_rounded_once(void **state)
{
	static const struct {
		const char *value;
		int64_t reference, factor;
	} rows[] = {
		{"1", 3000000, 333333},
		{"2", 3000000, 666667},
		{"-2", 3000000, -666667},
		{"0.000001", 2000000, 1},
		{"-0.000001", 2000000, -1},
		{"0.000001", 2000001, 0},
		{"1000000000", 100000000000, INT64_C(10000000000)},
		{"-0.01", 1, INT64_C(-10000000000)},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct price_point *p;
		size_t n;
		char text[80];
		snprintf(text, sizeof(text), "2026-11-21T10:00:00Z %s", rows[i].value);
		if (read_text(text, rows[i].reference, &p, &n) < 0)
			fail_msg("%s", said.text);
		assert_int_equal(p[0].factor, rows[i].factor);
		free(p);
	}
}

static void nothing_at_all(void **state)
{
	struct price_point *p;
	size_t n;
	(void)state;
	assert_int_equal(read_text("", 1, &p, &n), 0);
	assert_true(n == 0 && p == NULL);
	assert_int_equal(read_text("\n  # only words\n\n", 1, &p, &n), 0);
	assert_true(n == 0 && p == NULL);
}

#define AT "2026-11-21T10:00:00Z "

static void sentences_name_the_line(void **state)
{
	static const struct {
		const char *text, *says;
	} rows[] = {
		{AT "1\ntomorrow 5\n",
			"line 2: \"tomorrow\" is not a time; write a point a line, such as "
			"\"2026-11-21T00:00:00Z 83.12\""},
		{"2026-11-21 5", "line 1: \"2026-11-21\" is not a time"},
		{"\n\n2026-11-21T10:00:00 5", "line 3: \"2026-11-21T10:00:00\" is not a time"},
		{AT, "line 1: \"\" is not a number; write digits, and at most six of them"},
		{AT "cheap", "line 1: \"cheap\" is not a number"},
		{AT "1,5", "line 1: \"1,5\" is not a number"},
		{AT "--1", "line 1: \"--1\" is not a number"},
		{AT "+1", "line 1: \"+1\" is not a number"},
		{AT "1e3", "line 1: \"1e3\" is not a number"},
		{AT "NaN", "line 1: \"NaN\" is not a number"},
		{AT "0.1234567", "line 1: \"0.1234567\" is not a number"},
		{AT "1 EUR", "line 1: has more than a time and a value; write one point a line"},
		{AT "1000000000.000001",
			"line 1: \"1000000000.000001\" is beyond 1000000000, the largest value"},
		{AT "-99999999999999999999", "line 1: \"-99999999999999999999\" is beyond"},
		{AT "10000.000001",
			"line 1: \"10000.000001\" is more than 10000 times the reference; write a "
			"larger reference"},
		{AT "1\n2026-11-21T09:00:00Z 2\n\n2026-11-21T11:00:00+01:00 3",
			"line 4: has the time of line 1; remove one of them"},
		{AT "1\n" AT "1", "line 2: has the time of line 1"},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct price_point *p;
		size_t n;
		int rc = read_text(rows[i].text, 1000000, &p, &n);
		assert_true(rc == ERR_INVALID || rc == ERR_LIMIT);
		assert_true(p == NULL && n == 0);
		if (strncmp(said.text, rows[i].says, strlen(rows[i].says)) != 0)
			fail_msg("case %zu says: %s", i, said.text);
	}
}

static void as_many_as_allowed(void **state)
{
	struct buf b;
	struct price_point *p;
	size_t n;
	(void)state;
	buf_init(&b, 8 << 20);
	for (int i = SERIES_POINTS_MAX; i > 0; i--)
		buf_printf(&b, "%04d-%02d-%02dT%02d:00:00Z 1\n", 2000 + i / 8064, i / 672 % 12 + 1,
			i / 24 % 28 + 1, i % 24);
	assert_int_equal(read_text(buf_text(&b), 1000000, &p, &n), 0);
	assert_int_equal(n, SERIES_POINTS_MAX);
	for (size_t i = 1; i < n; i++)
		assert_true(p[i - 1].from_ms < p[i].from_ms);
	free(p);
	buf_puts(&b, "1999-01-01T00:00:00Z 1");
	assert_int_equal(read_text(buf_text(&b), 1000000, &p, &n), ERR_LIMIT);
	assert_string_equal(said.text,
		"line 50001: is one more than the 50000 points there may be; remove past ones");
	buf_done(&b);
}

/* ---- of a plan ------------------------------------------------------------------------------- */

static struct priceplan_spec plan(void)
{
	return (struct priceplan_spec){.has_series = true,
		.series_configmap = "day-ahead",
		.series_key = "prices",
		.series_reference = 100000000};
}

static void a_plan_gets_its_points(void **state)
{
	struct series held;
	struct priceplan_spec s = plan();
	(void)state;
	series_resolve(&s, slice_of(AT "50"), &held);
	assert_null(s.series_fault);
	assert_int_equal(s.nseries, 1);
	assert_int_equal(s.series[0].factor, 500000);
	series_done(&held);
	s = (struct priceplan_spec){.has_series = false};
	series_resolve(&s, (struct slice){NULL, 0}, &held);
	assert_true(s.nseries == 0 && s.series_fault == NULL);
	series_done(&held);
}

static void or_a_sentence_why_not(void **state)
{
	static const struct {
		const char *text, *says;
	} rows[] = {
		{NULL, "spec.series: there is no ConfigMap \"day-ahead\" with key \"prices\"; "
		       "create it, or remove series"},
		{"", "spec.series: ConfigMap \"day-ahead\", key \"prices\": has no point; write "
		     "e.g. \"2026-11-21T00:00:00Z 83.12\""},
		{"\nx", "spec.series: ConfigMap \"day-ahead\", key \"prices\": line 2: \"x\" is "
			"not a time"},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct series held;
		struct priceplan_spec s = plan();
		series_resolve(&s, slice_of(rows[i].text), &held);
		assert_true(s.nseries == 0 && s.series == NULL);
		assert_non_null(s.series_fault);
		if (strncmp(s.series_fault, rows[i].says, strlen(rows[i].says)) != 0)
			fail_msg("case %zu says: %s", i, s.series_fault);
		series_done(&held);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(points_in_order_of_time),
		cmocka_unit_test(a_factor_is_rounded_once),
		cmocka_unit_test(nothing_at_all),
		cmocka_unit_test(sentences_name_the_line),
		cmocka_unit_test(as_many_as_allowed),
		cmocka_unit_test(a_plan_gets_its_points),
		cmocka_unit_test(or_a_sentence_why_not),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
