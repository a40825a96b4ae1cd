/*
 * Instants as text: in seconds, with ms, and as members.
 */
#include "base/instant.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/json_writer.h"

#define ROWS(array) (sizeof(array) / sizeof((array)[0]))

static void instants_are_written_without_the_environment(void **state)
{
	static const struct {
		int64_t ms;
		const char *seconds, *shortest;
	} rows[] = {
		{0, "1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z"},
		{999, "1970-01-01T00:00:00Z", "1970-01-01T00:00:00.999Z"},
		{-1, "1969-12-31T23:59:59Z", "1969-12-31T23:59:59.999Z"},
		{951782400000, "2000-02-29T00:00:00Z", "2000-02-29T00:00:00Z"},
		{1709251199999, "2024-02-29T23:59:59Z", "2024-02-29T23:59:59.999Z"},
		{1767225600000, "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"},
		{1795255110007, "2026-11-21T09:58:30Z", "2026-11-21T09:58:30.007Z"},
		{4107542399000, "2100-02-28T23:59:59Z", "2100-02-28T23:59:59Z"},
		{4107542400000, "2100-03-01T00:00:00Z", "2100-03-01T00:00:00Z"},
		{INT64_MAX, "9999-12-31T23:59:59Z", "9999-12-31T23:59:59.807Z"},
		{INT64_MIN, "0001-01-01T00:00:00Z", "0001-01-01T00:00:00.192Z"},
	};
	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		assert_string_equal(instant_seconds(rows[i].ms).s, rows[i].seconds);
		assert_string_equal(instant_shortest(rows[i].ms).s, rows[i].shortest);
	}
	assert_string_equal(instant_exact(0).s, "1970-01-01T00:00:00.000Z");
}

static void what_is_written_is_read(void **state)
{
	(void)state;
	for (int64_t ms = -86400001; ms < INT64_C(4200000000000); ms += 8675309123) {
		int64_t read_ms = 0;
		assert_true(instant_parse(slice_of(instant_exact(ms).s), &read_ms));
		assert_int_equal(read_ms, ms);
	}
}

static void a_member_is_there_where_it_is_known(void **state)
{
	struct buf b;
	(void)state;
	buf_init(&b, 1024);
	struct json_writer w = json_writer_object(&b);
	instant_put(&w, "none", 0);
	instant_put(&w, "never", INT64_MAX);
	instant_put(&w, "before", -1);
	instant_put(&w, "seconds", 1500);
	instant_put_shortest(&w, "shortest", 1500);
	jw_close(&w);
	assert_string_equal(buf_text(&b),
		"{\"seconds\":\"1970-01-01T00:00:01Z\",\"shortest\":\"1970-01-01T00:00:01.500Z\"}");
	buf_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instants_are_written_without_the_environment),
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(a_member_is_there_where_it_is_known),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
