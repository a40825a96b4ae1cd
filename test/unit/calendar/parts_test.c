/* The parts of calendar/: dates, what people write, schedules, the zone database, the bounds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "queue/calendar/civil.h"
#include "queue/calendar/cron.h"
#include "queue/calendar/notation.h"
#include "queue/calendar/tzdata.h"
#include "sluice/calendar.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* ---- dates ----------------------------------------------------------------------------------- */

static void days_are_numbers(void **state)
{
	(void)state;
	assert_int_equal(civil_days(1970, 1, 1), 0);
	assert_int_equal(civil_days(2000, 3, 1), 11017);
	assert_int_equal(civil_days(1969, 12, 31), -1);
	assert_int_equal(civil_weekday(0), 4);
	assert_int_equal(civil_weekday(-5), 6);
	/* Every date from 1600 to 2500 follows the one before, and comes back. */
	struct civil last = {1599, 12, 31};
	for (int32_t d = civil_days(1600, 1, 1); d < civil_days(2500, 1, 1); d++) {
		struct civil c = civil_of(d);
		bool next_day =
			c.year == last.year && c.month == last.month && c.day == last.day + 1;
		bool next_month = c.day == 1 && !civil_exists(last.year, last.month, last.day + 1);
		assert_true(next_day || next_month);
		assert_int_equal(civil_days(c.year, c.month, c.day), d);
		last = c;
	}
	assert_false(civil_exists(2026, 2, 29));
	assert_true(civil_exists(2024, 2, 29));
	assert_false(civil_exists(2100, 2, 29));
	assert_int_equal(civil_day_of(-1), -1);
	assert_int_equal(civil_second_of(-1), 86399);
}

/* ---- what people write ----------------------------------------------------------------------- */

static void times_of_day(void **state)
{
	(void)state;
	static const char *const bad[] = {"", ":00", "24:01", "007:00", "25:00", "12:60",
		"12:00:00", "noon", "12h00", " ", "1200", "-1:00", "12:0", "12:000"};
	int minute = -1;
	assert_int_equal(notation_clock(slice_of("19:00"), &minute, NULL), 0);
	assert_int_equal(minute, 1140);
	assert_int_equal(notation_clock(slice_of("7:05"), &minute, NULL), 0);
	assert_int_equal(minute, 425);
	assert_int_equal(notation_clock(slice_of(" 24:00 "), &minute, NULL), 0);
	assert_int_equal(minute, 1440);
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct err e = {""};
		assert_int_equal(notation_clock(slice_of(bad[i]), &minute, &e), ERR_INVALID);
		assert_non_null(strstr(e.text, "19:00"));
	}
}

static void weekdays(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		unsigned days;
	} good[] = {
		{"Mon", 0x02},
		{"monday", 0x02},
		{"Mon-Thu", 0x1E},
		{"Fri-Mon", 0x63},
		{"Sun-Fri", 0x3F},
		{"Sat, Sun", 0x41},
		{"Mon,Wed,Fri-Sun", 0x6B},
		{"Mon-Sun", 0x7F},
		{"Tue-Tue", 0x04},
	};
	static const char *const names[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
	static const char *const bad[] = {"", "Mo", "Mon-", "-Mon", "Mon,", ",Mon", "Mon--Tue",
		"Mon Tue", "1-5", "Montag", "*"};
	for (size_t i = 0; i < COUNT(good); i++) {
		unsigned days = 0;
		assert_int_equal(notation_days(slice_of(good[i].text), &days, NULL), 0);
		assert_int_equal(days, good[i].days);
	}
	for (size_t i = 0; i < COUNT(bad); i++) {
		unsigned days;
		struct err e = {""};
		if (notation_days(slice_of(bad[i]), &days, &e) == 0)
			fail_msg("\"%s\" was taken", bad[i]);
		assert_string_not_equal(e.text, "");
	}
	for (unsigned days = 1; days < 128; days++) {
		unsigned read = 0;
		char text[40] = "";
		for (size_t i = 0; i < COUNT(names); i++)
			if (days >> i & 1) {
				strcat(text, *text ? "," : "");
				strcat(text, names[i]);
			}
		assert_int_equal(notation_days(slice_of(text), &read, NULL), 0);
		assert_int_equal(read, days);
	}
}

static void dates(void **state)
{
	(void)state;
	static const char *const bad[] = {"", "2026-12-24..", "..2026-12-24", "2026-02-30",
		"1969-12-31", "2101-01-01", "24.12.2026", "2026-12-24...2026-12-26",
		"2026-12-24-2026-12-26", "2026-12-24 2026-12-26", "2026-1-1"};
	struct date_range r;
	struct err e = {""};
	char text[NOTATION_TEXT_SIZE];
	assert_int_equal(notation_dates(slice_of("2026-12-24..2026-12-26"), &r, NULL), 0);
	assert_int_equal(r.last_day - r.first_day, 2);
	assert_string_equal(notation_write_dates(r, text), "2026-12-24..2026-12-26");
	assert_int_equal(notation_dates(slice_of("2100-12-31"), &r, NULL), 0);
	assert_string_equal(notation_write_dates(r, text), "2100-12-31");
	for (size_t i = 0; i < COUNT(bad); i++)
		if (notation_dates(slice_of(bad[i]), &r, NULL) == 0)
			fail_msg("\"%s\" was taken", bad[i]);
	assert_int_equal(notation_dates(slice_of("2026-12-26..2026-12-24"), &r, &e), ERR_INVALID);
	assert_string_equal(e.text, "\"2026-12-26..2026-12-24\" ends before it begins; write the "
				    "earlier date first");
}

static void local_times_and_points_of_the_week(void **state)
{
	(void)state;
	int64_t s;
	struct week_point p;
	assert_int_equal(notation_local(slice_of("2026-09-12T08:00"), &s, NULL), 0);
	assert_int_equal(s, 1789200000);
	assert_int_equal(notation_local(slice_of("2026-09-12  8:00"), &s, NULL), 0);
	assert_int_equal(s, 1789200000);
	assert_int_equal(notation_local(slice_of("2026-09-12T24:00"), &s, NULL), 0);
	assert_int_equal(s, 1789257600);
	assert_int_not_equal(notation_local(slice_of("2026-09-12"), &s, NULL), 0);
	assert_int_not_equal(notation_local(slice_of("2026-09-12T08:00Z"), &s, NULL), 0);
	assert_int_not_equal(notation_local(slice_of("2026-09-12T08:00+02:00"), &s, NULL), 0);
	assert_int_equal(notation_week_point(slice_of("Fri  19:00"), &p, NULL), 0);
	assert_true(p.weekday == 5 && p.minute == 1140);
	assert_int_not_equal(notation_week_point(slice_of("Fri"), &p, NULL), 0);
	assert_int_not_equal(notation_week_point(slice_of("19:00"), &p, NULL), 0);
	assert_int_not_equal(notation_week_point(slice_of("Fri 25:00"), &p, NULL), 0);
}

static void a_list_of_dates(void **state)
{
	(void)state;
	struct date_range *date = NULL;
	size_t n = 0;
	struct err e = {""};
	const char *text = "# holidays\r\n2026-12-25  # Christmas\n\n2026-12-31..2027-01-01\n";
	assert_int_equal(notation_date_list(slice_of(text), 2, &date, &n, &e), 0);
	assert_int_equal(n, 2);
	assert_int_equal(date[0].first_day, civil_days(2026, 12, 25));
	assert_int_equal(date[1].last_day, civil_days(2027, 1, 1));
	free(date);
	assert_int_equal(notation_date_list(slice_of(text), 1, &date, &n, &e), ERR_LIMIT);
	assert_int_equal(
		notation_date_list(slice_of("2026-12-25\nXmas\n"), 9, &date, &n, &e), ERR_INVALID);
	assert_memory_equal(e.text, "line 2: \"Xmas\" is neither", 25);
	assert_int_equal(notation_date_list(slice_of(""), 9, &date, &n, &e), 0);
	assert_true(n == 0 && !date);
}

/* ---- schedules ------------------------------------------------------------------------------- */

static int64_t instant(const char *text)
{
	int64_t s = 0;
	assert_int_equal(notation_local((struct slice){text, strlen(text) - 1}, &s, NULL), 0);
	return s * 1000;
}

/* As a CronJob fires, not as a window opens. */
static void a_cronjob_fires_when_the_wall_shows_it(void **state)
{
	(void)state;
	static const struct {
		const char *schedule, *zone, *after, *fires;
	} cases[] = {
		{"* * * * *", "UTC", "2026-01-01T00:00Z", "2026-01-01T00:01Z"},
		{"*/15 * * * *", "UTC", "2026-01-01T00:15Z", "2026-01-01T00:30Z"},
		{"0 3 * * *", "UTC", "2026-01-01T03:00Z", "2026-01-02T03:00Z"},
		{"30 9-17/4 * * *", "UTC", "2026-01-01T10:00Z", "2026-01-01T13:30Z"},
		{"5/20 * * * *", "UTC", "2026-01-01T10:30Z", "2026-01-01T10:45Z"},
		{"5-5/20 * * * *", "UTC", "2026-01-01T10:30Z", "2026-01-01T11:05Z"},
		{"0 0 29 2 *", "UTC", "2026-01-01T00:00Z", "2028-02-29T00:00Z"},
		{"0 0 31 2 *", "UTC", "2026-01-01T00:00Z", NULL},
		{"0 0 * * Mon,fri", "UTC", "2026-01-01T00:00Z", "2026-01-02T00:00Z"},
		{"0 0 15 * mon", "UTC", "2026-01-01T00:00Z", "2026-01-05T00:00Z"},
		{"0 0 15 * */2", "UTC", "2026-01-01T00:00Z", "2026-01-03T00:00Z"},
		{"0 0 15 * *", "UTC", "2026-01-01T00:00Z", "2026-01-15T00:00Z"},
		{"@weekly", "UTC", "2026-01-01T00:00Z", "2026-01-04T00:00Z"},
		{"0 9 * * *", "Europe/Berlin", "2026-07-01T00:00Z", "2026-07-01T07:00Z"},
		/* the clocks skip that hour: not that day */
		{"30 2 * * *", "Europe/Berlin", "2026-03-28T12:00Z", "2026-03-30T00:30Z"},
		/* the clocks repeat it: twice */
		{"30 2 * * *", "Europe/Berlin", "2026-10-24T12:00Z", "2026-10-25T00:30Z"},
		{"30 2 * * *", "Europe/Berlin", "2026-10-25T00:30Z", "2026-10-25T01:30Z"},
		{"30 2 * * *", "Europe/Berlin", "2026-10-25T01:30Z", "2026-10-26T01:30Z"},
		{"0 0 * * *", "Asia/Kathmandu", "2026-01-01T00:00Z", "2026-01-01T18:15Z"},
		{"45 1 * * *", "Australia/Lord_Howe", "2026-04-04T14:45Z", "2026-04-04T15:15Z"},
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct cron c;
		struct zone *z;
		struct err e = {""};
		if (cron_parse(cases[i].schedule, &c, &e) != 0)
			fail_msg("case %zu: %s", i, e.text);
		assert_int_equal(tzdata_load(cases[i].zone, &z, &e), 0);
		int64_t want_ms = cases[i].fires ? instant(cases[i].fires) : INT64_MAX;
		int64_t after_ms = instant(cases[i].after);
		if (cron_next_ms(&c, z, after_ms, INT64_MAX) != want_ms)
			fail_msg("case %zu fires at %lld", i,
				(long long)cron_next_ms(&c, z, after_ms, INT64_MAX));
		if (want_ms != INT64_MAX) {
			assert_int_equal(cron_next_ms(&c, z, after_ms, want_ms), want_ms);
			assert_true(cron_next_ms(&c, z, after_ms, want_ms - 1) == INT64_MAX);
			assert_int_equal(cron_next_ms(&c, z, want_ms - 1, INT64_MAX), want_ms);
		}
		zone_free(z);
	}
}

static void a_bad_schedule_gets_a_sentence(void **state)
{
	(void)state;
	static const char *const bad[] = {"", "* * * *", "60 * * * *", "* * 0 * *", "5-1 * * * *",
		"*/0 * * * *", "* * * * * *", "x * * * *", "1- * * * *", "1,,2 * * * *",
		",1 * * * *", "1, * * * *", "@every 5m", "* * * * monday", "* * * * 7",
		"1\n2 * * * *", "99999999999999999999 * * * *", "*/99999999999999999999x * * * *"};
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct cron c;
		struct err e = {""};
		if (cron_parse(bad[i], &c, &e) == 0)
			fail_msg("\"%s\" was taken", bad[i]);
		assert_string_not_equal(e.text, "");
		for (const char *p = e.text; *p; p++)
			assert_true(*p >= ' ');
	}
}

/* ---- the zone database ----------------------------------------------------------------------- */

static void the_processs_own_zone_is_put_back(void **state)
{
	(void)state;
	struct zone *z;
	time_t now = 1780000000;
	struct tm tm;
	setenv("TZ", "Asia/Kathmandu", 1);
	tzset();
	assert_int_equal(tzdata_load("America/New_York", &z, NULL), 0);
	zone_free(z);
	assert_string_equal(getenv("TZ"), "Asia/Kathmandu");
	localtime_r(&now, &tm);
	assert_int_equal(tm.tm_gmtoff, 20700);
	unsetenv("TZ");
	tzset();
	assert_int_equal(tzdata_load("America/New_York", &z, NULL), 0);
	zone_free(z);
	assert_null(getenv("TZ"));
}

static void write_file(const char *directory, const char *name, const char *bytes, size_t n)
{
	char path[256];
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	FILE *f = fopen(path, "wb");
	assert_non_null(f);
	fwrite(bytes, 1, n, f);
	fclose(f);
}

/* KEDA #932: an image without the package. */
static void no_database_is_said(void **state)
{
	(void)state;
	struct zone *z = NULL;
	struct err e = {""};
	char version[TZDATA_VERSION_SIZE];
	setenv("TZDIR", "/nowhere", 1);
	assert_int_equal(tzdata_load("Europe/Berlin", &z, &e), ERR_GONE);
	assert_string_equal(e.text,
		"\"Europe/Berlin\" cannot be looked up: there is no zone database "
		"in /nowhere; install the package tzdata, or write UTC");
	assert_string_equal(tzdata_version(version), "unknown");
	assert_int_equal(tzdata_load("UTC", &z, &e), 0);
	assert_int_equal(zone_local_s(z, 5), 5);
	zone_free(z);
	unsetenv("TZDIR");
}

/* For each of these the C library would silently use UTC. */
static void what_is_no_zone_file_is_refused(void **state)
{
	(void)state;
	static const char *const bad[] = {"", "Berlin", "europe/berlin/x", "Europe/", "../zone.tab",
		"zone.tab", "tzdata.zi", "posixrules", "right/Europe/Berlin", "Europe/Berlin ",
		"Europe\\Berlin", ":UTC", "UTC+3\n"};
	char directory[] = "/tmp/sluice-tz-XXXXXX", version[TZDATA_VERSION_SIZE], path[64];
	struct zone *z = NULL;
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct err e = {""};
		if (tzdata_load(bad[i], &z, &e) != ERR_INVALID)
			fail_msg("\"%s\" was taken", bad[i]);
		assert_non_null(strstr(e.text, "Europe/Berlin"));
	}
	assert_non_null(mkdtemp(directory));
	setenv("TZDIR", directory, 1);
	write_file(directory, "Cut", "TZif2\0\0\0\0\0", 10);
	write_file(directory, "Text", "Europe/Berlin\n", 14);
	write_file(directory, "tzdata.zi", "# version 2027c\n# more\n", 23);
	assert_int_equal(tzdata_load("Cut", &z, NULL), ERR_INVALID);
	assert_int_equal(tzdata_load("Text", &z, NULL), ERR_INVALID);
	assert_string_equal(tzdata_version(version), "2027c");
	unsetenv("TZDIR");
	for (const char *const *n = (const char *const[]){"Cut", "Text", "tzdata.zi", NULL}; *n;
		n++) {
		snprintf(path, sizeof(path), "%s/%s", directory, *n);
		remove(path);
	}
	rmdir(directory);
}

/* What a longer edition of the database does while the program runs. */
static void a_new_edition_is_read(void **state)
{
	(void)state;
	char directory[] = "/tmp/sluice-tz-XXXXXX", path[64], bytes[4096];
	static const char *const zones[] = {"Asia/Tokyo", "Asia/Kathmandu"};
	int32_t offset[2];
	assert_non_null(mkdtemp(directory));
	for (int i = 0; i < 2; i++) {
		struct zone *z;
		snprintf(path, sizeof(path), "/usr/share/zoneinfo/%s", zones[i]);
		FILE *f = fopen(path, "rb");
		assert_non_null(f);
		size_t n = fread(bytes, 1, sizeof(bytes), f);
		fclose(f);
		write_file(directory, "Leaping", bytes, n);
		setenv("TZDIR", directory, 1);
		assert_int_equal(tzdata_load("Leaping", &z, NULL), 0);
		unsetenv("TZDIR");
		offset[i] = zone_span_at(z, 1780000000)->offset_s;
		zone_free(z);
	}
	assert_int_equal(offset[0], 32400);
	assert_int_equal(offset[1], 20700);
	snprintf(path, sizeof(path), "%s/Leaping", directory);
	remove(path);
	rmdir(directory);
}

/* ---- bounds ---------------------------------------------------------------------------------- */

struct wide {
	struct window_spec window[CALENDAR_WINDOWS_MAX + 1];
	struct exception_spec exception[CALENDAR_EXCEPTIONS_MAX + 1];
	struct date_range date[CALENDAR_DATES_MAX + 1];
	char name[CALENDAR_WINDOWS_MAX + 1][16];
	struct zone *zone;
	struct calendar_spec spec;
};

static struct wide *widest(void)
{
	struct wide *w = mem_alloc(sizeof(*w));
	for (int i = 0; i <= CALENDAR_WINDOWS_MAX; i++) {
		snprintf(w->name[i], sizeof(w->name[i]), "n%d", i);
		w->window[i] = (struct window_spec){.name = w->name[i],
			.shape = WINDOW_CRON,
			.cron = "0 0 30 2 *",
			.duration_s = 86400};
		w->exception[i] = (struct exception_spec){
			.name = w->name[i], .treat_as = TREAT_AS_CLOSED, .date = w->date + i * 64};
		w->exception[i].ndates = 64;
	}
	for (int i = 0; i <= CALENDAR_DATES_MAX; i++)
		w->date[i] = (struct date_range){20000 + i % 97, 20000 + i * 10};
	w->zone = zone_utc();
	w->spec = (struct calendar_spec){.zone = w->zone,
		.window = w->window,
		.nwindows = CALENDAR_WINDOWS_MAX,
		.exception = w->exception,
		.nexceptions = CALENDAR_EXCEPTIONS_MAX};
	for (int i = 0; i <= CALENDAR_DATES_MAX; i++)
		if (w->date[i].last_day > 47000)
			w->date[i].last_day = 47000;
		else if (w->date[i].last_day < w->date[i].first_day)
			w->date[i].last_day = w->date[i].first_day;
	return w;
}

static void the_widest_calendar_is_taken_and_one_more_is_not(void **state)
{
	(void)state;
	struct wide *w = widest();
	struct calendar *c = NULL;
	struct err e = {""};
	char long_name[CALENDAR_NAME_MAX + 2];
	assert_int_equal(calendar_new(&w->spec, &c, &e), 0);
	assert_true(calendar_never_opens(c, INT64_C(1780000000000)));
	calendar_free(c);
	w->spec.nwindows++;
	assert_int_equal(calendar_new(&w->spec, &c, &e), ERR_LIMIT);
	assert_string_equal(e.text, "spec.open: has 65 windows; at most 64 are supported");
	w->spec.nwindows--;
	w->spec.nexceptions++;
	assert_int_equal(calendar_new(&w->spec, &c, &e), ERR_LIMIT);
	assert_string_equal(e.text, "spec.except: has 65 items; at most 64 are supported");
	w->spec.nexceptions--;
	w->exception[63].ndates++;
	assert_int_equal(calendar_new(&w->spec, &c, &e), ERR_LIMIT);
	assert_memory_equal(e.text, "spec.except: has more than 4096 dates", 37);
	w->exception[63].ndates--;
	memset(long_name, 'n', sizeof(long_name));
	long_name[CALENDAR_NAME_MAX + 1] = '\0';
	w->window[7].name = long_name;
	assert_int_equal(calendar_new(&w->spec, &c, &e), ERR_INVALID);
	assert_string_equal(e.text, "spec.open[7].name: has more than 63 bytes; shorten it");
	zone_free(w->zone);
	free(w);
}

static void absurd_records_are_refused(void **state)
{
	(void)state;
	static const struct window_spec windows[] = {
		{.name = NULL, .days = 1, .to_minute = 60},
		{.name = "", .days = 1, .to_minute = 60},
		{.name = "w", .days = 0, .to_minute = 60},
		{.name = "w", .days = 128, .to_minute = 60},
		{.name = "w", .days = 1, .from_minute = -1, .to_minute = 60},
		{.name = "w", .days = 1, .from_minute = 60, .to_minute = 1441},
		{.name = "w", .shape = WINDOW_WEEK, .to = {7, 0}},
		{.name = "w", .shape = WINDOW_WEEK, .to = {1, -5}},
		{.name = "w", .shape = WINDOW_CRON, .cron = NULL, .duration_s = 60},
		{.name = "w", .shape = WINDOW_CRON, .cron = "* * * * *", .duration_s = -1},
		{.name = "w", .shape = WINDOW_CRON, .cron = "* * * * *", .duration_s = INT64_MAX},
		{.name = "w", .shape = WINDOW_ONCE, .from_local_s = INT64_MIN, .to_local_s = 5},
		{.name = "w", .shape = WINDOW_ONCE, .from_local_s = 5, .to_local_s = INT64_MAX},
		{.name = "w", .shape = (enum window_shape)9},
	};
	static const struct date_range backwards = {10, 9}, early = {-1, 9}, late = {0, INT32_MAX};
	const struct exception_spec exceptions[] = {
		{.name = "x", .treat_as = 9},
		{.name = "x", .treat_as = -1},
		{.name = "x", .date = &backwards, .ndates = 1},
		{.name = "x", .date = &early, .ndates = 1},
		{.name = "x", .date = &late, .ndates = 1},
	};
	struct zone *z = zone_utc();
	struct calendar *c = NULL;
	for (size_t i = 0; i < COUNT(windows) + COUNT(exceptions); i++) {
		struct err e = {""};
		struct calendar_spec s = {.zone = z};
		if (i < COUNT(windows))
			s.window = &windows[i], s.nwindows = 1;
		else
			s.exception = &exceptions[i - COUNT(windows)], s.nexceptions = 1;
		if (calendar_new(&s, &c, &e) != ERR_INVALID)
			fail_msg("case %zu was taken", i);
		assert_string_not_equal(e.text, "");
		assert_int_equal(calendar_new(&s, &c, NULL), ERR_INVALID);
	}
	assert_null(c);
	zone_free(z);
}

static void any_time_may_be_asked_for(void **state)
{
	(void)state;
	static const int64_t times[] = {
		INT64_MIN, -1, 0, 1, INT64_C(4133980800000), INT64_C(253402300799999), INT64_MAX};
	static const struct window_spec night = {
		.name = "night", .days = 0x7F, .from_minute = 1140, .to_minute = 420};
	struct zone *z;
	struct calendar *c = NULL;
	assert_int_equal(tzdata_load("Europe/Berlin", &z, NULL), 0);
	struct calendar_spec s = {.zone = z, .window = &night, .nwindows = 1};
	assert_int_equal(calendar_new(&s, &c, NULL), 0);
	zone_free(z); /* it was copied */
	for (size_t i = 0; i < COUNT(times); i++) {
		struct calendar_state a = calendar_at(c, times[i]);
		assert_true(a.until_ms > 0);
		assert_int_equal(calendar_next_change(c, times[i]), a.until_ms);
	}
	/* ms within a second, on both sides of an edge */
	int64_t edge_ms = calendar_next_change(c, INT64_C(1767700000000));
	assert_true(calendar_at(c, edge_ms).open != calendar_at(c, edge_ms - 1).open);
	assert_int_equal(calendar_at(c, edge_ms - 1).until_ms, edge_ms);
	calendar_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(days_are_numbers),
		cmocka_unit_test(times_of_day),
		cmocka_unit_test(weekdays),
		cmocka_unit_test(dates),
		cmocka_unit_test(local_times_and_points_of_the_week),
		cmocka_unit_test(a_list_of_dates),
		cmocka_unit_test(a_cronjob_fires_when_the_wall_shows_it),
		cmocka_unit_test(a_bad_schedule_gets_a_sentence),
		cmocka_unit_test(the_processs_own_zone_is_put_back),
		cmocka_unit_test(no_database_is_said),
		cmocka_unit_test(what_is_no_zone_file_is_refused),
		cmocka_unit_test(a_new_edition_is_read),
		cmocka_unit_test(the_widest_calendar_is_taken_and_one_more_is_not),
		cmocka_unit_test(absurd_records_are_refused),
		cmocka_unit_test(any_time_may_be_asked_for),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
