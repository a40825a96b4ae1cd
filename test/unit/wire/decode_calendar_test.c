/* A Calendar as admins write it. What its windows mean together is tested in test/calendar/. */
#include "wire.h"

#include "queue/calendar/civil.h"
#include "controller/wire/decode.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define OPEN(window)                                                                               \
	"{'kind':'Calendar','metadata':{'name':'nights'},'spec':{'timeZone':'UTC','open':["        \
	"{'name':'w'," window "}]}}"
#define EXCEPT(exception)                                                                          \
	"{'kind':'Calendar','metadata':{'name':'nights'},'spec':{'timeZone':'UTC','except':["      \
	"{'name':'x'" exception "}]}}"

static void a_whole_calendar(void **state)
{
	(void)state;
	struct calendar_spec *s = NULL;
	struct err e = {""};
	int rc = decode_calendar(
		parsed("{'kind':'Calendar','metadata':{'name':'nights','generation':3},'spec':{"
		       "'timeZone':'Europe/Berlin','open':["
		       "{'name':'night','days':['Mon-Wed','Thu'],'from':'19:00','to':'07:00'},"
		       "{'name':'weekend','from':'Fri 19:00','to':'Mon 07:00'},"
		       "{'name':'closing','cron':'0 18 28-31 * *','duration':'6h'},"
		       "{'name':'load-test','at':{'from':'2026-09-12T08:00','to':"
		       "'2026-09-13T20:00'}}],"
		       "'except':[{'name':'xmas','dates':['2026-12-24..2026-12-26','2026-12-31'],"
		       "'treatAs':'Sunday'},"
		       "{'name':'de','datesFrom':{'configMap':'holidays-de','key':'dates'}}]}}"),
		&s, &e);
	if (rc < 0)
		fail_msg("%s", e.text);
	assert_string_equal(s->name, "nights");
	assert_int_equal(s->generation, 3);
	assert_string_equal(s->time_zone, "Europe/Berlin");
	assert_null(s->zone);
	assert_int_equal(s->nwindows, 4);
	const struct window_spec *w = s->window;
	assert_true(w[0].shape == WINDOW_DAYS && w[0].days == 0x1E);
	assert_true(w[0].from_minute == 1140 && w[0].to_minute == 420);
	assert_true(w[1].shape == WINDOW_WEEK && w[1].from.weekday == 5 && w[1].to.weekday == 1);
	assert_true(w[2].shape == WINDOW_CRON && w[2].duration_s == 21600);
	assert_string_equal(w[2].cron, "0 18 28-31 * *");
	assert_true(w[3].shape == WINDOW_ONCE);
	assert_int_equal(w[3].to_local_s - w[3].from_local_s, 36 * 3600);
	assert_int_equal(s->nexceptions, 2);
	assert_true(s->exception[0].treat_as == 0 && s->exception[0].ndates == 2);
	assert_int_equal(s->exception[0].date[1].first_day, civil_days(2026, 12, 31));
	assert_string_equal(s->exception[0].dates_configmap, "");
	assert_int_equal(s->exception[1].treat_as, TREAT_AS_CLOSED);
	assert_string_equal(s->exception[1].dates_configmap, "holidays-de");
	assert_string_equal(s->exception[1].dates_key, "dates");
	free(s);
}

static const struct {
	const char *text, *says;
} sentences[] = {
	{OPEN("'days':['Mon'],'from':'7pm','to':'07:00'"),
		"spec.open[0].from: \"7pm\" is not a time of day; write 00:00 to 24:00, as "
		"in \"19:00\""},
	{OPEN("'days':['Mon'],'from':'19:00'"), "spec.open[0].to: \"\" is not a time of day"},
	{OPEN("'days':['Mon'],'from':19,'to':'07:00'"), "spec.open[0].from: must be a string"},
	{OPEN("'days':['Mon','Mittwoch'],'from':'19:00','to':'07:00'"),
		"spec.open[0].days[1]: \"Mittwoch\" does not name weekdays"},
	{OPEN("'days':[],'from':'19:00','to':'07:00'"), "spec.open[0].days: names no weekday"},
	{OPEN("'days':'Mon','from':'19:00','to':'07:00'"), "spec.open[0].days: must be a list"},
	{OPEN("'days':[1],'from':'19:00','to':'07:00'"),
		"spec.open[0].days[0]: \"\" does not name weekdays"},
	{OPEN("'from':'19:00','to':'07:00'"),
		"spec.open[0].from: \"19:00\" is not a time of the week; write e.g. \"Fri "
		"19:00\""},
	{OPEN("'cron':'0 18 * * *','duration':'1y'"),
		"spec.open[0].duration: \"1y\" is not a duration of whole seconds; write "
		"e.g. 6h or 90m"},
	{OPEN("'cron':'0 18 * * *'"), "spec.open[0].duration: \"\" is not a duration"},
	{OPEN("'cron':'0 18 * * *','duration':'6h','to':'07:00'"),
		"spec.open[0].to: does not go with cron; write duration"},
	{OPEN("'at':{'from':'2026-09-12T08:00','to':'tomorrow'}"),
		"spec.open[0].at.to: \"tomorrow\" is not a local time"},
	{OPEN("'at':{'from':'2026-09-12T08:00Z','to':'2026-09-12T09:00Z'}"),
		"spec.open[0].at.from: \"2026-09-12T08:00Z\" is not a local time of the "
		"years 1970 to 2100; write it without a zone"},
	{OPEN("'at':'noon'"), "spec.open[0].at: must be an object"},
	{OPEN("'days':['Mon'],'cron':'0 0 * * *','duration':'1h'"),
		"spec.open[0]: has more than one of days, cron and at; make a window of "
		"each"},
	{OPEN("'days':['Mon'],'from':'19:00','to':'20:00','duration':'1h'"),
		"spec.open[0].duration: goes with cron only; write to"},
	{OPEN("'x':1"), "spec.open[0]: says no time; write days"},
	{EXCEPT(",'dates':['2026-12-24'],'treatAs':'Holiday'"),
		"spec.except[0].treatAs: \"Holiday\" is neither Open, Closed nor a "
		"weekday"},
	{EXCEPT(",'dates':['24.12.'],'treatAs':'Open'"),
		"spec.except[0].dates[0]: \"24.12.\" is neither a date nor a range"},
	{EXCEPT(",'treatAs':'Open'"), "spec.except[0].dates: names no date"},
	{EXCEPT(",'treatAs':'Open','datesFrom':{'configMap':'x'}"),
		"spec.except[0].datesFrom: names no ConfigMap and key"},
	{"{'metadata':{'name':'nights'},'spec':{'open':{}}}", "spec.open: must be a list"},
	{"{'metadata':{'name':'nights'},'spec':{'open':[7]}}", "spec.open[0]: must be an object"},
};

static void sentences_name_object_field_and_cure(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(sentences); i++) {
		struct calendar_spec *s = NULL;
		struct err e = {""};
		char want[256];
		if (decode_calendar(parsed(sentences[i].text), &s, &e) != ERR_INVALID)
			fail_msg("case %zu was taken", i);
		snprintf(want, sizeof(want), "Calendar nights: %s", sentences[i].says);
		if (strncmp(e.text, want, strlen(want)) != 0)
			fail_msg("case %zu says: %s", i, e.text);
		assert_null(s);
	}
	struct calendar_spec *s = NULL;
	assert_int_equal(
		decode_calendar(parsed("{'kind':'Job','metadata':{'name':'a'}}"), &s, NULL),
		ERR_INVALID);
}

/* The API server refuses nothing of this by itself; whoever makes the calendar does. */
static void what_may_be_missing(void **state)
{
	(void)state;
	struct calendar_spec *s = NULL;
	struct calendar *c = NULL;
	struct err e = {""};
	assert_int_equal(decode_calendar(parsed("{'metadata':{'name':'a'}}"), &s, &e), 0);
	assert_string_equal(s->time_zone, "");
	assert_int_equal(s->nwindows + s->nexceptions, 0);
	assert_int_equal(calendar_new(s, &c, &e), ERR_INVALID);
	assert_memory_equal(e.text, "spec.timeZone: is missing", 25);
	free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_calendar),
		cmocka_unit_test(sentences_name_object_field_and_cure),
		cmocka_unit_test(what_may_be_missing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
