/* Times in sentences, as the user's own clock shows them. */
#include "cli/local_times.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define BERLIN "CET-1CEST,M3.5.0,M10.5.0/3"
#define KOLKATA "IST-5:30"

static void set_zone(const char *zone)
{
	setenv("TZ", zone, 1);
	tzset();
}

static void same(struct local_times *l, const char *text, const char *expected)
{
	struct buf out;
	buf_init(&out, 1 << 16);
	local_times_add(l, text, &out);
	assert_string_equal(buf_text(&out), expected);
	buf_done(&out);
}

static const struct row {
	const char *name, *zone, *text, *expected;
} rows[] = {
	{"an instant", BERLIN, "runs since 2026-11-27T01:00:00Z: holds",
		"runs since 2026-11-27 02:00 CET: holds"},
	{"in summer", BERLIN, "2026-07-01T22:30:00Z", "2026-07-02 00:30 CEST"},
	{"seconds, when there are any", BERLIN, "2026-11-27T01:00:07Z", "2026-11-27 02:00:07 CET"},
	{"a fraction, and an offset", BERLIN, "at 2026-11-27T01:00:00.5-03:30: why",
		"at 2026-11-27 05:30 CET: why"},
	{"an hour of the clock that comes twice", BERLIN,
		"2026-10-25T00:30:00Z, 2026-10-25T01:30:00Z",
		"2026-10-25 02:30 CEST, 2026-10-25 02:30 CET"},
	{"the zone once", BERLIN, "2026-11-27T01:00:00Z or 2026-11-27T02:00:00Z (2 min ago)",
		"2026-11-27 02:00 CET or 2026-11-27 03:00 (2 min ago)"},
	{"again where it is another", BERLIN,
		"2026-03-28T12:00:00Z, 2026-03-30T12:00:00Z, 2026-11-01T12:00:00Z",
		"2026-03-28 13:00 CET, 2026-03-30 14:00 CEST, 2026-11-01 13:00 CET"},
	{"UTC", "UTC", "2026-11-27T01:00:00Z", "2026-11-27 01:00 UTC"},
	{"a Calendar's, of the user's zone", BERLIN,
		"opens Mon 2026-11-23 19:00 CET; from 2026-11-24T18:00:00Z on",
		"opens Mon 2026-11-23 19:00 CET; from 2026-11-24 19:00 on"},
	{"a Calendar's, of another", "UTC", "opens Mon 2026-11-23 00:30 CET; it",
		"opens Sun 2026-11-22 23:30 UTC; it"},
	{"with seconds", BERLIN, "Mon 2026-11-23 19:00:30 UTC", "Mon 2026-11-23 20:00:30 CET"},
	{"of a zone without letters", "UTC", "Mon 2026-11-23 19:00 +0530, Mon 2026-11-23 19:00 -03",
		"Mon 2026-11-23 13:30 UTC, Mon 2026-11-23 22:00"},
	{"of a zone of several meanings", BERLIN, "Mon 2026-11-23 19:00 IST",
		"Mon 2026-11-23 19:00 IST"},
	{"which is the user's", KOLKATA, "Mon 2026-11-23 19:00 IST, 2026-11-23T13:30:00Z",
		"Mon 2026-11-23 19:00 IST, 2026-11-23 19:00"},
	{"of a zone that does not exist", BERLIN, "Mon 2026-11-23 19:00 EX",
		"Mon 2026-11-23 19:00 EX"},
	{"dates and names are no times", BERLIN,
		"2026-11-27, run-2026-11-27T01:00:00Zx, job2026-11-27T01:00:00Z, 2026-02-30T01:00:00Z, "
		"2026-11-27T01:00, Mon 2026-11-23 19:00, Mon, 2026-11-27T",
		"2026-11-27, run-2026-11-27T01:00:00Zx, job2026-11-27T01:00:00Z, 2026-02-30T01:00:00Z, "
		"2026-11-27T01:00, Mon 2026-11-23 19:00, Mon, 2026-11-27T"},
	{"what stands in quotes is as it was written", BERLIN,
		"\"2026-02-30T01:00:00Z\" is not a time, \"at 2026-11-27T01:00:00Z\" neither; write e.g. \"2026-11-27T01:00:00Z\", now 2026-11-27T01:00:00Z",
		"\"2026-02-30T01:00:00Z\" is not a time, \"at 2026-11-27T01:00:00Z\" neither; write e.g. \"2026-11-27T01:00:00Z\", now 2026-11-27 02:00 CET"},
	{"a Calendar's time, too", BERLIN, "\"Mon 2026-11-23 19:00:30 UTC\"",
		"\"Mon 2026-11-23 19:00:30 UTC\""},
	{"a quote that nothing closes quotes nothing", BERLIN, "of 5\": 2026-11-27T01:00:00Z",
		"of 5\": 2026-11-27 02:00 CET"},
	{"nothing", BERLIN, "", ""},
};

static void times_are_the_users_own(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct local_times l = {""};
		print_message("%s\n", rows[i].name);
		set_zone(rows[i].zone);
		same(&l, rows[i].text, rows[i].expected);
	}
}

/* A table has many cells. */
static void the_zone_is_named_once_an_answer(void **state)
{
	struct local_times l = {""};
	(void)state;
	set_zone(BERLIN);
	same(&l, "waits for quota", "waits for quota");
	same(&l, "2026-11-27T01:00:00Z", "2026-11-27 02:00 CET");
	same(&l, "queued 2026-11-26T01:00:00Z", "queued 2026-11-26 02:00");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_are_the_users_own),
		cmocka_unit_test(the_zone_is_named_once_an_answer),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
