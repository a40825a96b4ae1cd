/*
 * What admins describe of time and money is made complete before the queue hears of it: dates and
 * prices of ConfigMaps, zones; and told again when those change. The queue's calls are caught.
 */
#include "controller/watch/time_specs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/must.h"
#include "queue/calendar/notation.h"
#include "queue/calendar/tzdata.h"
#include "controller/common/clock.h"
#include "base/json.h"

/* What the queue was told last, and how often. */
static struct {
	unsigned calendars, priceplans, budgets, rejects, drops;
	size_t ndates;	    /* of the calendar's first exception */
	bool has_zone;	    /* of the calendar or budget */
	size_t npoints;	    /* of the priceplan */
	char fault[512];    /* its series_fault */
	char sentence[512]; /* of the reject */
} told;

int __wrap_queue_set_calendar(struct queue *q, const struct calendar_spec *s, struct err *e);
int __wrap_queue_set_calendar(struct queue *q, const struct calendar_spec *s, struct err *e)
{
	(void)q;
	(void)e;
	told.calendars++;
	told.ndates = s->nexceptions > 0 ? s->exception[0].ndates : 0;
	told.has_zone = s->zone != NULL;
	return 0;
}

int __wrap_queue_set_priceplan(struct queue *q, const struct priceplan_spec *s, struct err *e);
int __wrap_queue_set_priceplan(struct queue *q, const struct priceplan_spec *s, struct err *e)
{
	(void)q;
	(void)e;
	told.priceplans++;
	told.npoints = s->nseries;
	snprintf(told.fault, sizeof(told.fault), "%s", s->series_fault ? s->series_fault : "");
	return 0;
}

int __wrap_queue_set_budget(struct queue *q, const struct budget_spec *s, struct err *e);
int __wrap_queue_set_budget(struct queue *q, const struct budget_spec *s, struct err *e)
{
	(void)q;
	(void)e;
	told.budgets++;
	told.has_zone = s->zone != NULL;
	return 0;
}

void __wrap_queue_reject_calendar(struct queue *q, const char *name, const char *sentence);
void __wrap_queue_reject_calendar(struct queue *q, const char *name, const char *sentence)
{
	(void)q;
	(void)name;
	told.rejects++;
	snprintf(told.sentence, sizeof(told.sentence), "%s", sentence);
}

void __wrap_queue_drop_calendar(struct queue *q, const char *name);
void __wrap_queue_drop_calendar(struct queue *q, const char *name)
{
	(void)q;
	(void)name;
	told.drops++;
}

struct world {
	struct time_specs *t;
	struct zones *zones;
	struct log *log;
	struct json *json;
};

static void world_open(struct world *w)
{
	memset(&told, 0, sizeof(told));
	w->zones = zones_new();
	w->log = log_new(STDERR_FILENO, LOG_TEXT, LEVEL_ERROR);
	w->json = json_new(1 << 20);
	struct time_specs_options o = {.zones = w->zones, .log = w->log};
	w->t = time_specs_new(&o);
}

static void world_close(struct world *w)
{
	time_specs_free(w->t);
	zones_free(w->zones);
	log_free(w->log);
	json_free(w->json);
}

static const cJSON *parse(struct world *w, const char *text)
{
	const cJSON *root;
	struct err e = {""};
	json_reset(w->json);
	if (json_parse(w->json, slice_of(text), &root, &e) != 0)
		fail_msg("%s", e.text);
	return root;
}

static int see(struct world *w, enum time_specs_kind kind, const char *text)
{
	struct err e = {""};
	return time_specs_see(w->t, kind, parse(w, text), &e);
}

static void configmap(struct world *w, const char *text)
{
	time_specs_see_configmap(w->t, parse(w, text));
}

static void list_of(struct world *w, const char *text)
{
	time_specs_begin_list(w->t);
	if (text)
		configmap(w, text);
	time_specs_end_list(w->t);
}

#define PLAIN                                                                                      \
	"{\"apiVersion\":\"sluice.dev/v1alpha1\",\"kind\":\"Calendar\",\"metadata\":{\"name\":"    \
	"\"nights\",\"generation\":1},\"spec\":{\"timeZone\":\"UTC\",\"open\":[{\"name\":"         \
	"\"night\",\"days\":[\"Mon\"],\"from\":\"19:00\",\"to\":\"07:00\"}]}}"
#define FROM_CONFIGMAP                                                                             \
	"{\"apiVersion\":\"sluice.dev/v1alpha1\",\"kind\":\"Calendar\",\"metadata\":{\"name\":"    \
	"\"nights\",\"generation\":2},\"spec\":{\"timeZone\":\"UTC\",\"open\":[{\"name\":"         \
	"\"night\",\"days\":[\"Mon\"],\"from\":\"19:00\",\"to\":\"07:00\"}],\"except\":[{"         \
	"\"name\":"                                                                                \
	"\"off\",\"datesFrom\":{\"configMap\":\"holidays\",\"key\":\"dates\"},\"treatAs\":"        \
	"\"Closed\"}]}}"
#define HOLIDAYS(dates)                                                                            \
	"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"holidays\"},"      \
	"\"data\":{\"dates\":\"" dates "\"}}"

static void a_plain_calendar_is_told_at_once(void **state)
{
	struct world w;
	(void)state;
	world_open(&w);
	assert_int_equal(see(&w, TIME_SPECS_CALENDAR, PLAIN), 0);
	assert_int_equal(told.calendars, 1);
	assert_true(told.has_zone);
	assert_false(time_specs_wants_list(w.t));
	time_specs_drop(w.t, TIME_SPECS_CALENDAR, "nights");
	assert_int_equal(told.drops, 1);
	world_close(&w);
}

static void dates_come_from_a_configmap_and_follow_it(void **state)
{
	struct world w;
	(void)state;
	world_open(&w);
	assert_int_equal(see(&w, TIME_SPECS_CALENDAR, FROM_CONFIGMAP), 0);
	assert_int_equal(told.calendars, 0); /* nobody has listed for it */
	list_of(&w, HOLIDAYS("2026-12-24\\n2026-12-25"));
	assert_true(told.calendars > 0);
	assert_int_equal(told.ndates, 2);
	configmap(&w, HOLIDAYS("2026-12-24"));
	assert_int_equal(told.ndates, 1);
	unsigned before = told.calendars;
	configmap(&w, "{\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"other\"},\"data\":{}}");
	assert_int_equal(told.calendars, before); /* nobody's */
	assert_int_equal(told.rejects, 0);
	configmap(&w, HOLIDAYS("on Christmas"));
	assert_int_equal(told.rejects, 1);
	assert_non_null(strstr(told.sentence, "holidays"));
	time_specs_drop_configmap(w.t, "holidays");
	assert_int_equal(told.rejects, 2);
	assert_non_null(strstr(told.sentence, "there is no ConfigMap"));
	assert_int_equal(told.calendars, before);
	world_close(&w);
}

static void one_that_is_not_there_is_missed_only_after_a_list(void **state)
{
	struct world w;
	(void)state;
	world_open(&w);
	list_of(&w, HOLIDAYS("2026-12-24")); /* nobody names it: not kept */
	assert_int_equal(see(&w, TIME_SPECS_CALENDAR, PLAIN), 0);
	assert_int_equal(see(&w, TIME_SPECS_CALENDAR, FROM_CONFIGMAP), 0);
	assert_int_equal(told.calendars, 1); /* stays as it was */
	assert_true(time_specs_wants_list(w.t));
	assert_false(time_specs_wants_list(w.t)); /* once */
	list_of(&w, NULL);
	assert_int_equal(told.rejects, 1);
	list_of(&w, HOLIDAYS("2026-12-24"));
	assert_int_equal(told.ndates, 1);
	world_close(&w);
}

static void one_that_is_named_while_a_list_goes_on_is_listed_for_again(void **state)
{
	struct world w;
	(void)state;
	world_open(&w);
	time_specs_begin_list(w.t);
	assert_int_equal(see(&w, TIME_SPECS_CALENDAR, FROM_CONFIGMAP), 0);
	time_specs_end_list(w.t);
	assert_int_equal(told.rejects, 0);
	assert_true(time_specs_wants_list(w.t));
	list_of(&w, HOLIDAYS("2026-12-24"));
	assert_int_equal(told.ndates, 1);
	world_close(&w);
}

static void a_spec_that_was_refused_is_not_brought_back_by_a_configmap(void **state)
{
	struct world w;
	(void)state;
	world_open(&w);
	assert_int_equal(see(&w, TIME_SPECS_CALENDAR, FROM_CONFIGMAP), 0);
	list_of(&w, HOLIDAYS("2026-12-24"));
	assert_int_equal(see(&w, TIME_SPECS_CALENDAR,
				 "{\"apiVersion\":\"sluice.dev/v1alpha1\",\"kind\":\"Calendar\","
				 "\"metadata\":{\"name\":\"nights\"},\"spec\":{\"open\":[{}]}}"),
		ERR_INVALID);
	unsigned before = told.calendars;
	assert_int_equal(told.rejects, 1);
	configmap(&w, HOLIDAYS("2026-12-24\\n2026-12-26"));
	assert_int_equal(told.calendars, before);
	world_close(&w);
}

static void a_series_is_filled_in_or_missed(void **state)
{
	static const char plan[] =
		"{\"apiVersion\":\"sluice.dev/v1alpha1\",\"kind\":\"PricePlan\",\"metadata\":"
		"{\"name\":\"grid\"},\"spec\":{\"currency\":\"EUR\",\"base\":{\"cpu\":\"0.04\"},"
		"\"series\":{\"configMap\":\"day-ahead\",\"key\":\"prices\",\"reference\":\"100\","
		"\"staleAfter\":\"36h\"}}}";
	struct world w;
	(void)state;
	world_open(&w);
	assert_int_equal(see(&w, TIME_SPECS_PRICEPLAN, plan), 0);
	assert_int_equal(told.priceplans, 0);
	list_of(&w, NULL);
	assert_int_equal(told.priceplans, 1);
	assert_int_equal(told.npoints, 0);
	assert_true(told.fault[0] != '\0');
	configmap(&w, "{\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"day-ahead\"},\"data\":{"
		      "\"prices\":\"2026-11-21T00:00:00Z 83.12\\n2026-11-21T01:00:00Z 90\"}}");
	assert_int_equal(told.npoints, 2);
	assert_string_equal(told.fault, "");
	world_close(&w);
}

static void a_budget_in_a_zone_that_is_not_known_is_told_without_one(void **state)
{
	static const char budget[] =
		"{\"apiVersion\":\"sluice.dev/"
		"v1alpha1\",\"kind\":\"Budget\",\"metadata\":{\"name\":"
		"\"b\"},\"spec\":{\"queue\":\"batch\",\"period\":\"Monthly\",\"timeZone\":\"%s\","
		"\"currency\":\"EUR\",\"amount\":\"5000\"}}";
	char text[512];
	struct world w;
	(void)state;
	world_open(&w);
	snprintf(text, sizeof(text), budget, "Europe/Atlantis");
	assert_int_equal(see(&w, TIME_SPECS_BUDGET, text), 0);
	assert_int_equal(told.budgets, 1);
	assert_false(told.has_zone);
	snprintf(text, sizeof(text), budget, "UTC");
	assert_int_equal(see(&w, TIME_SPECS_BUDGET, text), 0);
	assert_true(told.has_zone);
	time_specs_tell_all(w.t);
	assert_int_equal(told.budgets, 3);
	world_close(&w);
}

/* ---- the zone database ----------------------------------------------------------------------- */

static char directory[] = "/tmp/sluice-zones-XXXXXX";

static void write_version(const char *version)
{
	char path[128];
	snprintf(path, sizeof(path), "%s/tzdata.zi", directory);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "# version %s\n", version);
	fclose(f);
}

/* A zone that is so many hours east of UTC. */
static void write_zone(const char *name, int hours)
{
	char path[128], zone[64];
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	snprintf(zone, sizeof(zone), "/usr/share/zoneinfo/Etc/GMT-%d", hours);
	FILE *from = fopen(zone, "r");
	if (!from) {
		skip(); /* no database here */
		return;
	}
	FILE *to = fopen(path, "w");
	must(to);
	char bytes[4096];
	for (size_t n; (n = fread(bytes, 1, sizeof(bytes), from)) > 0;)
		must(fwrite(bytes, 1, n, to) == n);
	fclose(from);
	fclose(to);
}

static void another_edition_is_believed_at_the_second_look(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(directory));
	setenv("TZDIR", directory, 1);
	write_version("2026a");
	write_zone("Town", 2);
	struct zones *z = zones_new();
	struct err e = {""};
	const struct zone *town = zones_get(z, "Town", &e);
	assert_non_null(town);
	assert_ptr_equal(zones_get(z, "Town", &e), town); /* loaded once */
	assert_int_equal(zone_local_s(town, 0), 7200);
	assert_null(zones_get(z, "Village", &e));
	assert_non_null(strstr(e.text, "Village"));
	assert_false(zones_look(z));
	write_version("2026b");
	write_zone("Town", 3);
	assert_false(zones_look(z)); /* the upgrade may still be going on */
	assert_string_equal(zones_edition(z), "2026a");
	assert_true(zones_look(z));
	assert_string_equal(zones_edition(z), "2026b");
	assert_int_equal(zone_local_s(zones_get(z, "Town", &e), 0), 10800);
	assert_false(zones_look(z));
	zones_free(z);
	unsetenv("TZDIR");
}

static int remove_directory(void **state)
{
	char path[128];
	(void)state;
	snprintf(path, sizeof(path), "%s/tzdata.zi", directory);
	unlink(path);
	snprintf(path, sizeof(path), "%s/Town", directory);
	unlink(path);
	rmdir(directory);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plain_calendar_is_told_at_once),
		cmocka_unit_test(dates_come_from_a_configmap_and_follow_it),
		cmocka_unit_test(one_that_is_not_there_is_missed_only_after_a_list),
		cmocka_unit_test(one_that_is_named_while_a_list_goes_on_is_listed_for_again),
		cmocka_unit_test(a_spec_that_was_refused_is_not_brought_back_by_a_configmap),
		cmocka_unit_test(a_series_is_filled_in_or_missed),
		cmocka_unit_test(a_budget_in_a_zone_that_is_not_known_is_told_without_one),
		cmocka_unit_test_teardown(
			another_edition_is_believed_at_the_second_look, remove_directory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
