/* `sluice calendar`: its command line, the files it reads, what it prints. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "queue/calendar/civil.h"
#include "queue/calendar/tzdata.h"
#include "cli/calendar/import.h"
#include "cli/calendar/options.h"
#include "cli/calendar/report.h"
#include "cli/command_run.h"
#include "cli/commands.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))

#define NIGHTS                                                                                     \
	"apiVersion: sluice.dev/v1alpha1\n"                                                        \
	"kind: Calendar\n"                                                                         \
	"metadata: {name: nights}\n"                                                               \
	"spec:\n"                                                                                  \
	"  timeZone: Europe/Berlin\n"                                                              \
	"  open:\n"                                                                                \
	"  - {name: night, days: [Mon-Sun], from: \"19:00\", to: \"07:00\"}\n"
#define HOLIDAYS                                                                                   \
	"---\n"                                                                                    \
	"kind: ConfigMap\n"                                                                        \
	"apiVersion: v1\n"                                                                         \
	"metadata: {name: holidays}\n"                                                             \
	"data:\n"                                                                                  \
	"  dates: |\n"                                                                             \
	"    2026-12-25  # Christmas\n"                                                            \
	"  ics: |\n"                                                                               \
	"    BEGIN:VCALENDAR\n"                                                                    \
	"    BEGIN:VEVENT\n"                                                                       \
	"    DTSTART:20200501\n"                                                                   \
	"    RRULE:FREQ=YEARLY\n"                                                                  \
	"    END:VEVENT\n"                                                                         \
	"    BEGIN:VEVENT\n"                                                                       \
	"    DTSTART:20260601T100000\n"                                                            \
	"    END:VEVENT\n"                                                                         \
	"    END:VCALENDAR\n"
#define FROM(key)                                                                                  \
	"  except:\n"                                                                              \
	"  - name: days\n"                                                                         \
	"    treatAs: Closed\n"                                                                    \
	"    dates: [\"2026-01-01\"]\n"                                                            \
	"    datesFrom: {configMap: holidays, key: " key "}\n"

#define NOW_MS INT64_C(1780000000000) /* 2026-05-28 */

/* ---- the command line ------------------------------------------------------------------------ */

static int parse(const char *line, struct calendar_options *o, struct err *e)
{
	static char text[256];
	char *argv[16], *rest = text;
	int argc = 0;
	snprintf(text, sizeof(text), "%s", line);
	while ((argv[argc] = strsep(&rest, " ")))
		argc++;
	return flags_read(&calendar_flags, argc, argv, o, e);
}

static void the_command_line(void **state)
{
	(void)state;
	static const struct {
		const char *line, *says;
	} bad[] = {
		{"calendar shwo", "\"shwo\" is neither show, test nor import"},
		{"calendar show -f a --context b", "-f asks no API server"},
		{"calendar test -f a", "test wants a time"},
		{"calendar import", "import wants a file"},
		{"calendar show -f", "-f wants a value"},
		{"calendar show -f a --wat", "--wat is not a flag"},
		{"calendar show -f a x y", "\"y\" is one name too many"},
		{"calendar show -f a -o yaml", "-o is \"yaml\"; it must be table or json"},
		{"calendar import a -o json", "-o is \"json\"; it must be yaml or dates"},
		{"calendar import a --years 2026..", "--years is \"2026..\""},
		{"calendar import a --years 1900", "--years is \"1900\""},
		{"calendar import a --years 2030..2026", "--years is \"2030..2026\""},
		{"calendar import a --treat-as Holiday", "--treat-as is \"Holiday\""},
	};
	struct calendar_options o;
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct err e = {""};
		if (parse(bad[i].line, &o, &e) == 0)
			fail_msg("\"%s\" was taken", bad[i].line);
		if (strncmp(e.text, bad[i].says, strlen(bad[i].says)) != 0)
			fail_msg("\"%s\" says: %s", bad[i].line, e.text);
	}
	assert_int_equal(
		parse("calendar test nights -f a --at x -f b --tz UTC -o json", &o, NULL), 0);
	assert_true(o.verb == CALENDAR_TEST && o.files.count == 2 && o.output == CALENDAR_JSON);
	assert_string_equal(o.name, "nights");
	assert_int_equal(
		parse("calendar import --years 2026 --treat-as Open --name x a.ics", &o, NULL), 0);
	assert_true(o.verb == CALENDAR_IMPORT && o.output == CALENDAR_YAML);
	assert_true(o.first_year == 2026 && o.last_year == 2026);
	assert_string_equal(o.name, "a.ics");
	assert_int_equal(parse("calendar show nights --kubeconfig k --context c "
			       "--config-namespace n",
				 &o, NULL),
		0);
	assert_true(o.verb == CALENDAR_SHOW && o.files.count == 0);
	assert_string_equal(o.kube.kubeconfig, "k");
	assert_string_equal(o.kube.context, "c");
	assert_string_equal(o.config_namespace, "n");
	assert_int_equal(parse("calendar", &o, NULL), FLAGS_HELP);
	assert_int_equal(parse("calendar show --help", &o, NULL), FLAGS_HELP);
}

/* ---- the files ------------------------------------------------------------------------------- */

static int read(struct calendar_specs *s, const char *text, struct err *e)
{
	calendar_specs_init(s);
	int rc = calendar_specs_read_text(s, "in.yaml", slice_of(text), e);
	return rc < 0 ? rc : calendar_specs_close(s, NOW_MS, e);
}

static void files_are_read_and_faults_have_lines(void **state)
{
	(void)state;
	static const struct {
		const char *text, *says;
	} bad[] = {
		{"kind: Calendar\nmetadata: {name: a}\nspec:\n  timeZone: Mars\n",
			"in.yaml:4: Calendar a: spec.timeZone: \"Mars\" is not in this machine's"},
		{"kind: Calendar\nmetadata: {name: a}\nspec: {}\n",
			"in.yaml:3: Calendar a: spec.timeZone: is missing"},
		{NIGHTS "  - {name: x, days: [Mon], from: \"19:00\", to: \"19:00\"}\n",
			"in.yaml:8: Calendar nights: spec.open[1].to: is 19:00 as `from` is"},
		{NIGHTS "  - {name: x, days: [Mon], from: noon, to: \"19:00\"}\n",
			"in.yaml:8: Calendar nights: spec.open[1].from: \"noon\" is not a time"},
		{"kind: List\nitems:\n- kind: Calendar\n  metadata: {name: a}\n  spec:\n    "
		 "timeZone: "
		 "x y\n",
			"in.yaml:6: Calendar a: spec.timeZone: \"x y\" is not the name of a time"},
		{NIGHTS "---\n" NIGHTS, "in.yaml:11: Calendar nights: metadata.name: is that of "
					"another one at in.yaml:1"},
		{NIGHTS FROM("dates"), "in.yaml:1: Calendar nights: spec.except[0].datesFrom: "
				       "there is no ConfigMap "
				       "\"holidays\" with key \"dates\"; create it"},
		{"kind: ConfigMap\nmetadata: {name: holidays}\ndata: {dates: Xmas}\n---\n" NIGHTS
				FROM("dates"),
			"in.yaml:5: Calendar nights: spec.except[0].datesFrom: ConfigMap "
			"\"holidays\": line 1: \"Xmas\" is neither"},
		{"a: [\n", "in.yaml:"},
	};
	struct calendar_specs s;
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct err e = {""};
		if (read(&s, bad[i].text, &e) == 0)
			fail_msg("case %zu was taken", i);
		if (strncmp(e.text, bad[i].says, strlen(bad[i].says)) != 0)
			fail_msg("case %zu says: %s", i, e.text);
		calendar_specs_done(&s);
	}
	assert_int_equal(read(&s, "kind: Job\nmetadata: {name: a}\n---\n" NIGHTS, NULL), 0);
	assert_int_equal(s.n, 1);
	calendar_specs_done(&s);
}

/* As --at is read. */
static int take_time(const char *text, const struct zone *z, struct moment *ret, struct err *e)
{
	return moment_read(text, &(struct moment_basis){NOW_MS, z, .takes_gaps = true}, ret, e);
}

static bool open_at(const struct calendar_specs *s, const char *when)
{
	struct moment t;
	assert_int_equal(take_time(when, s->item[0].zone, &t, NULL), 0);
	moment_done(&t);
	return calendar_at(s->item[0].calendar, t.at_ms).open;
}

static void dates_come_from_configmaps(void **state)
{
	(void)state;
	struct calendar_specs s;
	struct err e = {""};
	assert_int_equal(read(&s, NIGHTS FROM("dates") HOLIDAYS, &e), 0);
	assert_false(open_at(&s, "2026-12-25T23:00"));
	assert_true(open_at(&s, "2026-12-26T23:00"));
	assert_false(open_at(&s, "2026-01-01T23:00")); /* its own dates stay */
	assert_string_equal(s.item[0].note.text, "");
	calendar_specs_done(&s);
	assert_int_equal(read(&s, NIGHTS FROM("ics") HOLIDAYS, &e), 0);
	assert_false(open_at(&s, "2027-05-01T23:00"));
	assert_true(open_at(&s, "2026-06-01T23:00"));
	assert_string_equal(s.item[0].note.text, "line 6: an event has a time of day; only events "
						 "of whole days can be exceptions");
	calendar_specs_done(&s);
}

/* ---- what is printed ------------------------------------------------------------------------- */

static void times_may_be_written_in_many_ways(void **state)
{
	(void)state;
	struct zone *z;
	struct moment t;
	struct err e = {""};
	assert_int_equal(tzdata_load("Europe/Berlin", &z, &e), 0);
	static const char *const same[] = {"2026-07-01T12:00", "2026-07-01T10:00Z",
		"2026-07-01T10:00:00Z", "2026-07-01T06:00:00-04:00"};
	for (size_t i = 0; i < COUNT(same); i++) {
		assert_int_equal(take_time(same[i], z, &t, &e), 0);
		assert_true(t.at_ms == INT64_C(1782900000000));
		assert_string_equal(t.note, "");
		moment_done(&t);
	}
	assert_int_equal(take_time("2026-07-01", z, &t, &e), 0);
	assert_true(t.at_ms == INT64_C(1782856800000));
	moment_done(&t);
	assert_int_equal(take_time("2026-03-29T02:30", z, &t, &e), 0);
	assert_string_equal(t.note, "the clocks of Europe/Berlin skip that time; what is set to it "
				    "happens at Sun 2026-03-29 03:00 CEST");
	moment_done(&t);
	assert_int_equal(take_time("2026-10-25T02:30", z, &t, &e), 0);
	assert_string_equal(t.note,
		"02:30 on 2026-10-25 comes twice in Europe/Berlin; the first is "
		"taken, Sun 2026-10-25 02:30 CEST. The second is "
		"2026-10-25T02:30:00+01:00.");
	moment_done(&t);
	assert_int_equal(take_time("2026-10-25T03:00", z, &t, &e), 0);
	assert_string_equal(t.note, "");
	moment_done(&t);
	assert_int_equal(take_time("soon", z, &t, &e), ERR_INVALID);
	zone_free(z);
}

static void a_calendar_is_shown(void **state)
{
	(void)state;
	struct calendar_specs s;
	struct buf out;
	struct style plain = {false, false};
	struct moment t;
	assert_int_equal(read(&s, NIGHTS, NULL), 0);
	struct calendar_specs_calendar *c = &s.item[0];
	buf_init(&out, 1 << 16);
	assert_int_equal(take_time("2026-03-28T20:00", c->zone, &t, NULL), 0);
	report_show(c, c->zone, t.at_ms, "2026f", &plain, &out);
	assert_string_equal(buf_text(&out),
		"nights  Europe/Berlin, tzdata 2026f\n"
		"  at Sat 2026-03-28 20:00 CET open by window night, until Sun 2026-03-29 07:00 "
		"CEST\n"
		"  closes  Sun 2026-03-29 07:00 CEST  2026-03-29T05:00:00Z\n"
		"  opens   Sun 2026-03-29 19:00 CEST  2026-03-29T17:00:00Z\n"
		"  closes  Mon 2026-03-30 07:00 CEST  2026-03-30T05:00:00Z\n"
		"  opens   Mon 2026-03-30 19:00 CEST  2026-03-30T17:00:00Z\n"
		"  closes  Tue 2026-03-31 07:00 CEST  2026-03-31T05:00:00Z\n");
	buf_reset(&out);
	report_test(c, c->zone, &t, &out);
	assert_string_equal(buf_text(&out),
		"nights at Sat 2026-03-28 20:00 CET (2026-03-28T19:00:00Z) is open by window "
		"night, until Sun 2026-03-29 07:00 CEST\n");
	buf_reset(&out);
	report_json(c, c->zone, &t, "2026f", &out);
	static const char start[] =
		"{\"name\":\"nights\",\"timeZone\":\"Europe/Berlin\",\"tzdata\":\"2026f\","
		"\"at\":\"2026-03-28T19:00:00Z\",\"atLocal\":\"Sat 2026-03-28 20:00 CET\","
		"\"state\":\"Open\",\"window\":\"night\",\"exception\":null,"
		"\"until\":\"2026-03-29T05:00:00Z\",\"untilLocal\":\"Sun 2026-03-29 07:00 CEST\","
		"\"note\":null,\"next\":[{\"state\":\"Closed\",\"at\":\"2026-03-29T05:00:00Z\",";
	moment_done(&t);
	assert_memory_equal(buf_text(&out), start, sizeof(start) - 1);
	buf_done(&out);
	calendar_specs_done(&s);
}

/* It opens when the weekend is over, not when the reason for which it is closed is another one. */
static void until_when_is_until_it_opens(void **state)
{
	static const struct {
		const char *at, *says;
	} rows[] = {
		{"2026-11-19T23:30", "is closed, until Mon 2026-11-23 19:00 CET\n"},
		{"2026-11-20 20:00",
			"is closed by exception maintenance, until Mon 2026-11-23 19:00 CET\n"},
		{"2026-11-18 20:00", "is open by window night, until Wed 2026-11-18 23:00 CET\n"},
	};
	(void)state;
	struct calendar_specs s;
	struct buf out;
	struct moment t;
	assert_int_equal(
		read(&s,
			"kind: Calendar\nmetadata: {name: nights}\nspec:\n"
			"  timeZone: Europe/Berlin\n"
			"  open: [{name: night, days: [Mon-Fri], from: \"19:00\", to: \"23:00\"}]\n"
			"  except: [{name: maintenance, dates: [\"2026-11-20\"], treatAs: Closed}]\n",
			NULL),
		0);
	const struct calendar_specs_calendar *c = &s.item[0];
	buf_init(&out, 1 << 16);
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(take_time(rows[i].at, c->zone, &t, NULL), 0);
		buf_reset(&out);
		report_test(c, c->zone, &t, &out);
		if (!strstr(buf_text(&out), rows[i].says))
			fail_msg("%s", buf_text(&out));
		moment_done(&t);
	}
	buf_done(&out);
	calendar_specs_done(&s);
}

static void what_never_changes_says_so(void **state)
{
	(void)state;
	struct calendar_specs s;
	struct buf out;
	struct moment t = {.at_ms = NOW_MS};
	assert_int_equal(
		read(&s, "kind: Calendar\nmetadata: {name: a}\nspec: {timeZone: UTC}\n", NULL), 0);
	buf_init(&out, 1 << 16);
	report_test(&s.item[0], s.item[0].zone, &t, &out);
	assert_non_null(
		strstr(buf_text(&out), " is closed, and never opens (within five years)\n"));
	buf_reset(&out);
	report_json(&s.item[0], s.item[0].zone, &t, "2026f", &out);
	assert_non_null(strstr(buf_text(&out), "\"until\":null,\"note\":null,\"next\":[]}"));
	buf_done(&out);
	calendar_specs_done(&s);
}

static void holidays_become_an_exception(void **state)
{
	(void)state;
	struct ics *i = NULL;
	struct buf out;
	struct date_range horizon = {civil_days(2026, 1, 1), civil_days(2026, 12, 31)};
	const char *text = "BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:20261225\nDTEND:20261227\n"
			   "SUMMARY:Christmas\nEND:VEVENT\nBEGIN:VEVENT\nDTSTART:20261003\n"
			   "END:VEVENT\nEND:VCALENDAR\n";
	assert_int_equal(ics_read(slice_of(text), horizon, &i, NULL), 0);
	buf_init(&out, 1 << 16);
	import_yaml(i, "de", "Sunday", &out);
	assert_string_equal(buf_text(&out), "except:\n- name: \"de\"\n  treatAs: Sunday\n  dates:\n"
					    "  - \"2026-10-03\"\n"
					    "  - \"2026-12-25..2026-12-26\"  # Christmas\n");
	buf_reset(&out);
	import_dates(i, &out);
	assert_string_equal(buf_text(&out), "2026-10-03\n2026-12-25..2026-12-26  # Christmas\n");
	buf_done(&out);
	ics_free(i);
}

/* The exit code of `sluice calendar import` of a file with these events. */
static int import(const char *events)
{
	char path[] = "/tmp/sluice-ics-XXXXXX";
	char *argv[] = {(char *)"calendar", (char *)"import", path, (char *)"--years=2026", NULL};
	FILE *f = fdopen(mkstemp(path), "w");
	assert_non_null(f);
	fprintf(f, "BEGIN:VCALENDAR\n%sEND:VCALENDAR\n", events);
	fclose(f);
	int code = command_run(command_find("calendar"), 4, argv);
	remove(path);
	return code;
}

#define EVENT(lines) "BEGIN:VEVENT\n" lines "END:VEVENT\n"
#define ONE EVENT("DTSTART:20260501\n")

/* A list of no dates is none that a Calendar takes; what is cancelled is not missing. */
static void an_import_that_left_something_out_says_so_by_its_exit_code(void **state)
{
	(void)state;
	assert_int_equal(import(ONE), CLI_OK);
	assert_int_equal(import(ONE EVENT("DTSTART:20260601\nSTATUS:CANCELLED\n")), CLI_OK);
	assert_int_equal(import(ONE EVENT("DTSTART:20260601T100000\n")), CLI_FINDINGS);
	assert_int_equal(import(EVENT("DTSTART:20250501\n")), CLI_NOT_FOUND);
	assert_int_equal(import("X"), CLI_USAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_command_line),
		cmocka_unit_test(files_are_read_and_faults_have_lines),
		cmocka_unit_test(dates_come_from_configmaps),
		cmocka_unit_test(times_may_be_written_in_many_ways),
		cmocka_unit_test(a_calendar_is_shown),
		cmocka_unit_test(until_when_is_until_it_opens),
		cmocka_unit_test(what_never_changes_says_so),
		cmocka_unit_test(holidays_become_an_exception),
		cmocka_unit_test(an_import_that_left_something_out_says_so_by_its_exit_code),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
