/* Holidays from iCalendar files: what is read, what is left out and why, what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "queue/calendar/civil.h"
#include "queue/calendar/ics.h"
#include "queue/calendar/notation.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

static struct date_range years(int first, int last)
{
	return (struct date_range){civil_days(first, 1, 1), civil_days(last, 12, 31)};
}

/* The events' lines between BEGIN and END of a calendar; | is the end of a line. */
static struct ics *read(const char *events, struct date_range horizon, struct err *e)
{
	struct buf b;
	struct ics *i = NULL;
	buf_init(&b, 1 << 20);
	buf_puts(&b, "BEGIN:VCALENDAR\r\nVERSION:2.0\r\n");
	for (const char *p = events; *p; p++)
		if (*p == '|')
			buf_puts(&b, "\r\n");
		else
			buf_putc(&b, *p);
	buf_puts(&b, "\r\nEND:VCALENDAR\r\n");
	int rc = ics_read(buf_slice(&b), horizon, &i, e);
	assert_true((rc == 0) == (i != NULL));
	buf_done(&b);
	return i;
}

/* "2026-12-24 Eve, 2026-12-25..2026-12-26 Christmas", and behind it what was left out. */
static const char *told(const struct ics *i)
{
	static char text[4096];
	char dates[NOTATION_TEXT_SIZE];
	size_t n = 0;
	text[0] = '\0';
	for (size_t k = 0; k < i->nholidays; k++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s %s", k ? ", " : "",
			notation_write_dates(i->holiday[k].dates, dates), i->holiday[k].summary);
	for (size_t k = 0; k < i->nskips && k < ICS_SKIPS_MAX; k++)
		n += (size_t)snprintf(
			text + n, sizeof(text) - n, "%s%s", n ? "; " : "", i->skip[k].text);
	return text;
}

static const struct {
	const char *events, *told;
} what_is_read[] = {
	{"BEGIN:VEVENT|DTSTART;VALUE=DATE:20261003|SUMMARY:Unity|END:VEVENT", "2026-10-03 Unity"},
	{"BEGIN:VEVENT|DTSTART;VALUE=DATE:20261225|DTEND;VALUE=DATE:20261227|SUMMARY:Xmas|"
	 "END:VEVENT",
		"2026-12-25..2026-12-26 Xmas"},
	{"BEGIN:VEVENT|DTSTART;VALUE=DATE:20261225|DTEND;VALUE=DATE:20261225|END:VEVENT",
		"2026-12-25 "},
	{"BEGIN:VEVENT|DTSTART:20261225|DURATION:P2D|END:VEVENT", "2026-12-25..2026-12-26 "},
	{"BEGIN:VEVENT|DTSTART:20261225|DURATION:P1W|END:VEVENT", "2026-12-25..2026-12-31 "},
	/* in the order of dates, then of the file */
	{"BEGIN:VEVENT|DTSTART:20260501|SUMMARY:b|END:VEVENT|"
	 "BEGIN:VEVENT|DTSTART:20260501|SUMMARY:a|END:VEVENT|"
	 "BEGIN:VEVENT|DTSTART:20260101|SUMMARY:c|END:VEVENT",
		"2026-01-01 c, 2026-05-01 b, 2026-05-01 a"},
	/* yearly */
	{"BEGIN:VEVENT|DTSTART:20200501|RRULE:FREQ=YEARLY|SUMMARY:M|END:VEVENT",
		"2026-05-01 M, 2027-05-01 M, 2028-05-01 M"},
	{"BEGIN:VEVENT|DTSTART:20200501|RRULE:FREQ=YEARLY;COUNT=8|END:VEVENT",
		"2026-05-01 , 2027-05-01 "},
	{"BEGIN:VEVENT|DTSTART:20200501|RRULE:FREQ=YEARLY;UNTIL=20270501|END:VEVENT",
		"2026-05-01 , 2027-05-01 "},
	{"BEGIN:VEVENT|DTSTART:20200501|RRULE:UNTIL=20270430T235959Z;FREQ=YEARLY|END:"
	 "VEVENT",
		"2026-05-01 "},
	{"BEGIN:VEVENT|DTSTART:20210501|RRULE:FREQ=YEARLY;INTERVAL=3|END:VEVENT", "2027-05-01 "},
	{"BEGIN:VEVENT|RRULE:FREQ=YEARLY;BYMONTH=5;BYMONTHDAY=1;WKST=MO|DTSTART:20260501|"
	 "END:VEVENT",
		"2026-05-01 , 2027-05-01 , 2028-05-01 "},
	{"BEGIN:VEVENT|DTSTART:20260501|RRULE:FREQ=YEARLY|EXDATE;VALUE=DATE:20270501,"
	 "20290501|"
	 "END:VEVENT",
		"2026-05-01 , 2028-05-01 "},
	/* the 29th of February; only existing dates are counted */
	{"BEGIN:VEVENT|DTSTART:20200229|RRULE:FREQ=YEARLY|END:VEVENT", "2028-02-29 "},
	{"BEGIN:VEVENT|DTSTART:20200229|RRULE:FREQ=YEARLY;COUNT=3|END:VEVENT", "2028-02-29 "},
	{"BEGIN:VEVENT|DTSTART:20200229|RRULE:FREQ=YEARLY;COUNT=2|END:VEVENT", ""},
	{"BEGIN:VEVENT|DTSTART:18000501|RRULE:FREQ=YEARLY;UNTIL=20260501|END:VEVENT",
		"2026-05-01 "},
	/* what touches the horizon from outside is kept whole */
	{"BEGIN:VEVENT|DTSTART:20251231|DTEND:20260102|END:VEVENT", "2025-12-31..2026-01-01 "},
	{"BEGIN:VEVENT|DTSTART:20251231|DTEND:20260101|END:VEVENT", ""},
	/* other ways to write it */
	{"begin:vevent|dtstart;value=date:20260501|summary;language=\"a:b;c\":x|end:vevent",
		"2026-05-01 x"},
	{"BEGIN:VEVENT|DTSTA| RT;VALUE=DA| TE:2026| 0501|SUMMARY:Lab|\tour Day|END:VEVENT",
		"2026-05-01 Labour Day"},
	{"BEGIN:VEVENT|DTSTART:20260501|SUMMARY:a\\, b\\; c\\nd \\\\ "
	 "\x01\xC3\xBC\xFF\xC2\x9B|"
	 "END:VEVENT",
		"2026-05-01 a, b; c d \\ ?\xC3\xBC??"},
	/* files that were joined, each with a byte order mark */
	{"BEGIN:VEVENT|DTSTART:20260501|END:VEVENT|END:VCALENDAR|\xEF\xBB\xBF"
	 "BEGIN:VCALENDAR|"
	 "BEGIN:VEVENT|DTSTART:20260502|END:VEVENT",
		"2026-05-01 , 2026-05-02 "},
	{"BEGIN:VTIMEZONE|BEGIN:STANDARD|DTSTART:19701025T030000|END:STANDARD|END:"
	 "VTIMEZONE|"
	 "BEGIN:VEVENT|DTSTART:20260501|BEGIN:VALARM|DTSTART:x|END:VALARM|END:VEVENT",
		"2026-05-01 "},
	/* an occurrence that is cancelled is none, wherever that stands */
	{"BEGIN:VEVENT|UID:a|DTSTART:20250501|RRULE:FREQ=YEARLY|SUMMARY:M|END:VEVENT|"
	 "BEGIN:VEVENT|UID:a|RECURRENCE-ID;VALUE=DATE:20260501|DTSTART:20260501|STATUS:CANCELLED|"
	 "END:VEVENT",
		"2027-05-01 M, 2028-05-01 M"},
	{"BEGIN:VEVENT|UID:a|RECURRENCE-ID:20270501|DTSTART:20270501|STATUS:CANCELLED|END:VEVENT|"
	 "BEGIN:VEVENT|UID:b|DTSTART:20250501|RRULE:FREQ=YEARLY|SUMMARY:b|END:VEVENT|"
	 "BEGIN:VEVENT|UID:a|DTSTART:20250501|RRULE:FREQ=YEARLY;COUNT=3|SUMMARY:a|END:VEVENT",
		"2026-05-01 b, 2026-05-01 a, 2027-05-01 b, 2028-05-01 b"},
	/* one that is moved moves, one that gets another name keeps its date; the last word counts */
	{"BEGIN:VEVENT|UID:a|DTSTART:20250501|RRULE:FREQ=YEARLY|SUMMARY:M|END:VEVENT|"
	 "BEGIN:VEVENT|UID:a|RECURRENCE-ID:20260501|DTSTART:20260504|SUMMARY:May|END:VEVENT|"
	 "BEGIN:VEVENT|UID:a|RECURRENCE-ID:20270501|DTSTART:20270501|SUMMARY:x|END:VEVENT|"
	 "BEGIN:VEVENT|UID:a|RECURRENCE-ID:20270501|SEQUENCE:1|DTSTART:20270501|SUMMARY:y|"
	 "END:VEVENT|"
	 "BEGIN:VEVENT|UID:a|RECURRENCE-ID:20270501|DTSTART:20270502|SUMMARY:z|END:VEVENT",
		"2026-05-04 May, 2027-05-01 y, 2028-05-01 M"},
	/* an event that is cancelled, or there in a newer version; one that shares its UID is two */
	{"BEGIN:VEVENT|DTSTART:20260501|STATUS:CANCELLED|END:VEVENT", ""},
	{"BEGIN:VEVENT|UID:a|DTSTART:20260501|END:VEVENT|"
	 "BEGIN:VEVENT|UID:a|SEQUENCE:1|DTSTART:20260501|STATUS:CANCELLED|END:VEVENT|"
	 "BEGIN:VEVENT|UID:a|RECURRENCE-ID:20260501|DTSTART:20260502|END:VEVENT",
		""},
	{"BEGIN:VEVENT|UID:a|SEQUENCE:2|DTSTART:20260503|END:VEVENT|"
	 "BEGIN:VEVENT|UID:a|SEQUENCE:1|DTSTART:20260501|END:VEVENT|"
	 "BEGIN:VEVENT|UID:b|DTSTART:20260504|END:VEVENT|"
	 "BEGIN:VEVENT|UID:b|DTSTART:20260505|END:VEVENT",
		"2026-05-03 , 2026-05-04 , 2026-05-05 "},
	{"", ""},
};

static void events_become_dates(void **state)
{
	(void)state;
	for (size_t k = 0; k < COUNT(what_is_read); k++) {
		struct err e = {""};
		struct ics *i = read(what_is_read[k].events, years(2026, 2028), &e);
		if (!i)
			fail_msg("case %zu: %s", k, e.text);
		if (strcmp(told(i), what_is_read[k].told) != 0)
			fail_msg("case %zu: %s", k, told(i));
		ics_free(i);
	}
}

static void what_is_not_understood_is_left_out_and_said(void **state)
{
	(void)state;
	static const struct {
		const char *lines, *told;
	} cases[] = {
		{"DTSTART;TZID=Europe/Berlin:20260501T100000",
			"has a time of day; only events of whole days can be exceptions"},
		{"DTSTART:20260231", "has the date \"20260231\", which is none"},
		{"SUMMARY:x", "has no DTSTART"},
		{"DTSTART:20260501|DTEND:20260430", "ends before it begins"},
		{"DTSTART:20260501|DTEND:20270601", "lasts for more than 366 days"},
		{"DTSTART:20260501|DURATION:PT4H",
			"has a DURATION that is not in days; write DTEND"},
		{"DTSTART:20260501|RRULE:FREQ=WEEKLY", "repeats by \"FREQ=WEEKLY\"; only yearly on "
						       "the same date is understood, so "
						       "add its dates by hand"},
		{"DTSTART:20260501|RRULE:FREQ=YEARLY;BYMONTH=11;BYDAY=4TH",
			"repeats by \"FREQ=YEARLY;BYMONTH=11;BYDAY=4TH\"; only yearly on the same "
			"date is understood, so add its dates by hand"},
		{"DTSTART:20260501|RRULE:FREQ=YEARLY;BYMONTH=6",
			"repeats on another date than it begins; add its dates by hand"},
		{"DTSTART:20260501|RRULE:FREQ=YEARLY;COUNT=0",
			"repeats by \"FREQ=YEARLY;COUNT=0\"; only yearly on the same date is "
			"understood, so add its dates by hand"},
		{"DTSTART:20260501|RRULE:",
			"repeats by \"\"; only yearly on the same date is understood, so add its "
			"dates by hand"},
		{"DTSTART:20260501|EXDATE:20260501T000000", "has an EXDATE that is not a date"},
		{"DTSTART:20260501|RDATE:20260601",
			"has RDATE, which is not understood; add its dates by hand"},
		{"DTSTART:20260501|RECURRENCE-ID:20260601",
			"has RECURRENCE-ID and no UID, so what it changes is not known"},
		{"DTSTART:20260501|UID:a|RECURRENCE-ID:20260501T080000Z",
			"has RECURRENCE-ID \"20260501T080000Z\", which is not the date of one "
			"occurrence; add its dates by hand"},
	};
	for (size_t k = 0; k < COUNT(cases); k++) {
		char events[512], want[512];
		struct err e = {""};
		snprintf(events, sizeof(events), "X:1|BEGIN:VEVENT|SUMMARY:Day|%s|END:VEVENT",
			cases[k].lines);
		snprintf(want, sizeof(want), "line 4: \"%s\" %s",
			strncmp(cases[k].lines, "SUMMARY", 7) == 0 ? "x" : "Day", cases[k].told);
		struct ics *i = read(events, years(2026, 2028), &e);
		if (!i)
			fail_msg("case %zu: %s", k, e.text);
		assert_int_equal(i->nskips, 1);
		assert_string_equal(told(i), want);
		ics_free(i);
	}
}

/* What would be corrected, had the correction been understood, is no holiday either. */
static void what_a_change_may_concern_is_left_out(void **state)
{
	(void)state;
	struct err e = {""};
	struct ics *i = read("BEGIN:VEVENT|UID:a|DTSTART:20250501|RRULE:FREQ=YEARLY|END:VEVENT|"
			     "BEGIN:VEVENT|UID:a|RECURRENCE-ID;RANGE=THISANDFUTURE:20260501|"
			     "DTSTART:20260504|END:VEVENT|"
			     "BEGIN:VEVENT|UID:b|DTSTART:20250601|RRULE:FREQ=YEARLY|END:VEVENT|"
			     "BEGIN:VEVENT|UID:b|RECURRENCE-ID:20260601|"
			     "DTSTART:20260601T080000|END:VEVENT",
		years(2026, 2027), &e);
	assert_non_null(i);
	assert_string_equal(told(i),
		"2027-06-01 ; "
		"line 3: an event is changed by the event of line 8, whose RECURRENCE-ID is not the date of one occurrence; add its dates by hand; "
		"line 8: an event has RECURRENCE-ID \"20260501\", which is not the date of one occurrence; add its dates by hand; "
		"line 18: an event has a time of day; only events of whole days can be exceptions");
	ics_free(i);
}

static void what_is_no_icalendar_is_refused(void **state)
{
	(void)state;
	static const struct {
		const char *text, *told;
	} cases[] = {
		{"", "has no BEGIN:VCALENDAR; give a file that was exported as .ics"},
		{"\n\n", "has no BEGIN:VCALENDAR; give a file that was exported as .ics"},
		{"<html>",
			"line 1: is not iCalendar, which begins with BEGIN:VCALENDAR; give a file "
			"that was exported as .ics"},
		{"BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:20260501\n",
			"is cut off: END:VCALENDAR is missing; get it again"},
		{"BEGIN:VCALENDAR\nEND:VCALENDAR\nEND:VCALENDAR\n",
			"line 3: ends something that did not begin"},
	};
	for (size_t k = 0; k < COUNT(cases); k++) {
		struct ics *i = NULL;
		struct err e = {""};
		assert_int_equal(
			ics_read(slice_of(cases[k].text), years(2026, 2028), &i, &e), ERR_INVALID);
		assert_string_equal(e.text, cases[k].told);
	}
}

static void everything_is_bounded(void **state)
{
	(void)state;
	struct err e = {""};
	struct buf b;
	struct ics *i = NULL;
	char *large = mem_alloc(ICS_BYTES_MAX + 1);
	memset(large, 'x', ICS_BYTES_MAX + 1);
	assert_int_equal(
		ics_read((struct slice){large, ICS_BYTES_MAX + 1}, years(2026, 2028), &i, &e),
		ERR_LIMIT);
	assert_string_equal(e.text, "has more than 4 MiB; give a smaller one");
	buf_init(&b, 1 << 23);
	buf_puts(&b, "BEGIN:VCALENDAR\n");
	for (int k = 0; k < 32; k++)
		buf_puts(&b, "BEGIN:VEVENT\nDTSTART:19700101\nRRULE:FREQ=YEARLY\nEND:VEVENT\n");
	/* a description of 100 kB is ignored, a summary of that length is cut */
	buf_puts(&b, "BEGIN:VEVENT\nDTSTART:20260501\nDESCRIPTION:");
	buf_add(&b, large, 100000);
	buf_puts(&b, "\nSUMMARY:");
	buf_add(&b, large, 1000);
	buf_puts(&b, "\nEND:VEVENT\nEND:VCALENDAR\n");
	assert_int_equal(ics_read(buf_slice(&b), years(2026, 2026), &i, &e), 0);
	assert_int_equal(i->nholidays, 33);
	assert_int_equal(strlen(i->holiday[32].summary), ICS_SUMMARY_SIZE - 1);
	ics_free(i);
	assert_int_equal(ics_read(buf_slice(&b), years(1970, 2100), &i, &e), ERR_LIMIT);
	assert_string_equal(e.text, "has more than 4096 dates; ask for fewer years");
	buf_done(&b);
	free(large);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_become_dates),
		cmocka_unit_test(what_is_not_understood_is_left_out_and_said),
		cmocka_unit_test(what_a_change_may_concern_is_left_out),
		cmocka_unit_test(what_is_no_icalendar_is_refused),
		cmocka_unit_test(everything_is_bounded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
