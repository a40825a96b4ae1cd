/* What a Job's annotations say of time and money, what else of a Job the policies ask for, and the
 * times that only a zone can tell. */
#include "wire.h"

#include "base/instant.h"
#include "queue/calendar/tzdata.h"
#include "controller/wire/decode.h"
#include "controller/wire/job_times.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define UID "'uid':'123e4567-e89b-12d3-a456-426614174000'"
#define CREATED INT64_C(1795255110000) /* 2026-11-21T09:58:30Z */
#define HOUR INT64_C(3600000)

/* NULL: none but what a Job says itself. */
static const struct job_context *context;

static struct job *job_with(const char *meta, const char *spec)
{
	struct buf b;
	struct job *j = NULL;
	struct err e = {""};
	buf_init(&b, 1 << 20);
	buf_puts(&b, "{'kind':'Job','metadata':{'name':'train','namespace':'team-a',"
		     "'creationTimestamp':'2026-11-21T09:58:30Z'," UID);
	buf_printf(&b, "%s%s},'spec':{%s}}", *meta ? "," : "", meta, spec);
	if (decode_job(parsed(buf_text(&b)), context, &j, &e) < 0)
		fail_msg("%s: %s", buf_text(&b), e.text);
	buf_done(&b);
	return j;
}

static struct job *job_noted(const char *annotation, const char *value)
{
	char text[1000];
	snprintf(text, sizeof(text), "'annotations':{'sluice.dev/%s':'%s'}", annotation, value);
	return job_with(text, "");
}

/* ---- what becomes of it ---------------------------------------------------------------------- */

static void all_of_them(void **state)
{
	(void)state;
	struct job *j = job_with(
		"'annotations':{'sluice.dev/start-after':'2026-11-21T10:58:30+01:00',"
		"'sluice.dev/deadline':'2026-11-22T08:00:00.5Z',"
		"'sluice.dev/on-missed-deadline':'Hold','sluice.dev/start':'Cheapest',"
		"'sluice.dev/max-price':'2.50 nvidia.com/gpu',"
		"'sluice.dev/stopping-at':'2026-11-21T10:00:00Z',"
		"'sluice.dev/booked-start':'2026-11-21T10:00:00Z',"
		"'sluice.dev/admission':'{\\'attempt\\':2,\\'state\\':\\'Stopped\\',\\'history\\':{"
		"\\'suspensions\\':4}}'},"
		"'labels':{'tier':'gold','sluice.dev/queue-name':'main'},"
		"'generateName':'train-','ownerReferences':[{'kind':'Owner','name':'x'},"
		"{'apiVersion':'batch/v1','kind':'CronJob','name':'nightly','controller':true}]",
		"'activeDeadlineSeconds':7200");
	assert_null(j->invalid);
	assert_int_equal(j->terms.start_after_ms, CREATED);
	assert_int_equal(j->terms.deadline_ms, CREATED + 79290500);
	assert_null(j->start_after.zone);
	assert_true(j->terms.hold_when_missed && j->terms.cheapest && j->terms.has_max_price);
	assert_int_equal(j->terms.max_price, 2500000);
	assert_string_equal(j->terms.max_price_resource, "nvidia.com/gpu");
	assert_int_equal(j->annotations.stopping_at_ms, CREATED + 90000);
	assert_int_equal(j->annotations.booked_start_ms, CREATED + 90000);
	assert_int_equal(j->durations.active_deadline_ms, 7200000);
	assert_int_equal(j->admission.history.suspensions, 4);
	assert_string_equal(j->family, "CronJob/nightly");
	assert_int_equal(j->nlabels, 2);
	assert_string_equal(j->labels[0].key, "tier");
	assert_string_equal(j->labels[0].value, "gold");
	assert_string_equal(j->queue, "main");
	free(j);
}

static void none_of_them(void **state)
{
	(void)state;
	struct job *j = job_with("", "");
	assert_null(j->invalid);
	assert_int_equal(j->terms.start_after_ms + j->terms.deadline_ms, 0);
	assert_false(j->terms.hold_when_missed || j->terms.cheapest || j->terms.has_max_price);
	assert_int_equal(j->annotations.stopping_at_ms + j->durations.active_deadline_ms, 0);
	assert_string_equal(j->family, "");
	assert_int_equal(j->nlabels, 0);
	free(j);
	j = job_with("'annotations':{'sluice.dev/start':'Asap','sluice.dev/booked-start':'soon',"
		     "'sluice.dev/on-missed-deadline':'RunAnyway'}",
		"");
	assert_null(j->invalid);
	assert_int_equal(j->annotations.booked_start_ms, 0); /* it is looked for anew */
	assert_false(j->terms.hold_when_missed || j->terms.cheapest);
	free(j);
}

/* It said Fail before 0.2.0. */
static void the_old_word_for_hold_is_understood(void **state)
{
	(void)state;
	struct job *j = job_with("'annotations':{'sluice.dev/on-missed-deadline':'Fail'}", "");
	assert_null(j->invalid);
	assert_true(j->terms.hold_when_missed);
	free(j);
}

static const struct price_row {
	const char *text;
	int64_t micro;
	const char *unit;
} price_rows[] = {
	{"0.05", 50000, "cpu"},
	{"0", 0, "cpu"},
	{"0.05 cpu", 50000, "cpu"},
	{"0.005  memory-gib", 5000, "memory-gib"},
	{"1000000", INT64_C(1000000000000), "cpu"},
};

static void prices(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(price_rows); i++) {
		struct job *j = job_noted("max-price", price_rows[i].text);
		if (j->invalid)
			fail_msg("%s", j->invalid);
		assert_true(j->terms.has_max_price);
		assert_int_equal(j->terms.max_price, price_rows[i].micro);
		assert_string_equal(j->terms.max_price_resource, price_rows[i].unit);
		free(j);
	}
}

/* A deadline long past is no mistake of writing, and 0 means that there is none. */
static void the_past_is_a_time(void **state)
{
	(void)state;
	struct job *j = job_noted("deadline", "1970-01-01T00:00:00Z");
	assert_null(j->invalid);
	assert_int_equal(j->terms.deadline_ms, 1);
	free(j);
	j = job_noted("start-after", "0001-01-01T00:00:00Z");
	assert_null(j->invalid);
	assert_int_equal(j->terms.start_after_ms, 1);
	free(j);
}

static void families(void **state)
{
	static const struct {
		const char *meta, *family;
	} rows[] = {
		{"'generateName':'train-'", "train-"},
		{"'ownerReferences':[{'kind':'CronJob','name':'a','controller':false}],"
		 "'generateName':'b-'",
			"b-"},
		{"'ownerReferences':[{'kind':'Train','name':'a','controller':true}]", "Train/a"},
		{"'ownerReferences':[{'controller':true}],'generateName':'b-'", "b-"},
		{"'ownerReferences':'none'", ""},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct job *j = job_with(rows[i].meta, "");
		assert_string_equal(j->family, rows[i].family);
		assert_null(j->invalid);
		free(j);
	}
}

static void a_deadline_beyond_all_time_is_none(void **state)
{
	(void)state;
	struct job *j = job_with("", "'activeDeadlineSeconds':9223372036854775807");
	assert_null(j->invalid);
	assert_int_equal(j->durations.active_deadline_ms, 0);
	free(j);
}

/* ---- what is said ---------------------------------------------------------------------------- */

#define NO_TIME                                                                                       \
	"is not a time; write e.g. \"2026-11-22T08:00:00Z\", \"2026-11-22 08:00 Europe/Berlin\", or " \
	"\"Mon 8:00 Europe/Berlin\" or \"8:00 Europe/Berlin\" for the first one after the Job's creation"
#define NO_ZONE(time)                                                                              \
	"\"" time "\" names no time zone; write it behind, as in \"" time " Europe/Berlin\""
#define NO_PRICE                                                                                   \
	"is not a price; write that of an hour of one cpu, such as 0.05, or of another unit, "     \
	"such as \"2.50 nvidia.com/gpu\""

static const struct bad_row {
	const char *annotation, *value, *says;
} bad_rows[] = {
	{"deadline", "soon", "\"soon\" " NO_TIME},
	{"deadline", "tomorrow",
		"\"tomorrow\" names no time zone and no time of day; write both, as in \"tomorrow 8:00 Europe/Berlin\""},
	{"deadline", "", "\"\" " NO_TIME},
	{"deadline", "08:00", NO_ZONE("08:00")},
	{"deadline", "2026-11-22T08:00", NO_ZONE("2026-11-22T08:00")},
	{"deadline", "08:00 Zürich",
		"\"08:00 Zürich\" names no time zone; write it behind, as in \"08:00 Europe/Berlin\""},
	{"deadline", "2026-02-30T08:00:00Z", "\"2026-02-30T08:00:00Z\" " NO_TIME},
	{"deadline", "25:00 Europe/Berlin", "\"25:00 Europe/Berlin\" " NO_TIME},
	{"deadline", "Mon 25:00", "\"Mon 25:00\" " NO_TIME},
	{"deadline", "08:00 Europe/Berlin or so", "\"08:00 Europe/Berlin or so\" " NO_TIME},
	{"start-after", "1h", "\"1h\" " NO_TIME},
	{"start-after", "1796000000", "\"1796000000\" " NO_TIME},
	{"start", "cheapest", "\"cheapest\" is unknown; write Asap or Cheapest"},
	{"start", "", "\"\" is unknown; write Asap or Cheapest"},
	{"on-missed-deadline", "Cancel", "\"Cancel\" is unknown; write RunAnyway or Hold"},
	{"max-price", "cheap", "\"cheap\" " NO_PRICE},
	{"max-price", "", "\"\" " NO_PRICE},
	{"max-price", "-1", "\"-1\" " NO_PRICE},
	{"max-price", "0,05", "\"0,05\" " NO_PRICE},
	{"max-price", "cpu 0.05", "\"cpu 0.05\" " NO_PRICE},
	{"max-price", "0.05 memory",
		"\"memory\" has no price of its own, for a byte costs next to nothing; write the "
		"price of a GiB, as memory-gib"},
	{"max-price", "0.05 EUR an hour",
		"\"EUR an hour\" is not a resource; write e.g. cpu or memory-gib"},
	{"stopping-at", "soon", "is not a time; remove it, only Sluice writes it"},
};

static void sentences_name_job_annotation_and_cure(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(bad_rows); i++) {
		const struct bad_row *r = &bad_rows[i];
		char want[512];
		struct job *j = job_noted(r->annotation, r->value);
		snprintf(want, sizeof(want),
			"Job team-a/train: metadata.annotations.sluice.dev/%s: %s", r->annotation,
			r->says);
		if (!j->invalid)
			fail_msg("taken: %s: %s", r->annotation, r->value);
		assert_string_equal(j->invalid, want);
		assert_int_equal(j->terms.start_after_ms + j->terms.deadline_ms, 0);
		assert_false(j->terms.has_max_price || j->terms.cheapest);
		free(j);
	}
}

static void no_number_of_seconds(void **state)
{
	static const char *const bad[] = {"-1", "1.5", "'1h'", "true"};
	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		char spec[64];
		snprintf(spec, sizeof(spec), "'activeDeadlineSeconds':%s", bad[i]);
		struct job *j = job_with("", spec);
		assert_string_equal(j->invalid,
			"Job team-a/train: spec.activeDeadlineSeconds: must be a whole number of "
			"seconds, e.g. 3600");
		free(j);
	}
}

/* ---- times of a zone ------------------------------------------------------------------------- */

static const struct zone *find(const char *name, void *ctx)
{
	static struct zone *last;
	(void)ctx;
	zone_free(last);
	last = NULL;
	tzdata_load(name, &last, NULL);
	return last;
}

static int64_t at(const char *text)
{
	int64_t ms = 0;
	if (!instant_parse(slice_of(text), &ms))
		fail_msg("%s", text);
	return ms;
}

static const struct zoned_row {
	const char *created, *text, *means;
} zoned_rows[] = {
	{"2026-11-21T09:58:30Z", "2026-11-22T19:00 Europe/Berlin", "2026-11-22T18:00:00Z"},
	{"2026-11-21T09:58:30Z", "2026-07-22T19:00 Europe/Berlin", "2026-07-22T17:00:00Z"},
	{"2026-11-21T09:58:30Z", "08:00 UTC", "2026-11-22T08:00:00Z"},
	{"2026-11-21T06:58:30Z", "08:00 Europe/Berlin", "2026-11-21T07:00:00Z"},
	/* At that very time it is the next one. */
	{"2026-11-21T07:00:00Z", "08:00 Europe/Berlin", "2026-11-22T07:00:00Z"},
	{"2026-11-21T06:59:59Z", "08:00 Europe/Berlin", "2026-11-21T07:00:00Z"},
	/* Where it is tomorrow already, and where it still is yesterday. */
	{"2026-11-21T11:30:00Z", "00:15 Pacific/Auckland", "2026-11-22T11:15:00Z"},
	{"2026-11-21T11:00:00Z", "00:15 Pacific/Auckland", "2026-11-21T11:15:00Z"},
	{"2026-11-21T03:00:00Z", "23:00 America/New_York", "2026-11-21T04:00:00Z"},
	/* The hour that is skipped is the moment of the jump; the one that comes twice the first.
	 */
	{"2026-03-28T12:00:00Z", "02:30 Europe/Berlin", "2026-03-29T01:00:00Z"},
	{"2026-03-29T01:00:00Z", "02:30 Europe/Berlin", "2026-03-30T00:30:00Z"},
	{"2026-10-24T12:00:00Z", "02:30 Europe/Berlin", "2026-10-25T00:30:00Z"},
	{"2026-10-25T01:00:00Z", "02:30 Europe/Berlin", "2026-10-26T01:30:00Z"},
	/* As everywhere: a day of the week, a near one, a day that begins. */
	{"2026-11-21T09:58:30Z", "Mon 9:00 Europe/Berlin", "2026-11-23T08:00:00Z"},
	{"2026-11-21T09:58:30Z", "Saturday 11:00 Europe/Berlin", "2026-11-21T10:00:00Z"},
	{"2026-11-21T09:58:30Z", "sat 10:00 Europe/Berlin", "2026-11-28T09:00:00Z"},
	{"2026-11-21T09:58:30Z", "today 21:00 Europe/Berlin", "2026-11-21T20:00:00Z"},
	{"2026-11-21T09:58:30Z", "tomorrow Europe/Berlin", "2026-11-21T23:00:00Z"},
	{"2026-11-21T09:58:30Z", "2026-11-22 19:00 Europe/Berlin", "2026-11-22T18:00:00Z"},
	{"2026-11-21T09:58:30Z", "2026-11-22 Europe/Berlin", "2026-11-21T23:00:00Z"},
	{"2026-11-21T09:58:30Z", "24:00 Europe/Berlin", "2026-11-21T23:00:00Z"},
	/* A date that there never was. */
	{"2011-12-30T11:00:00Z", "12:00 Pacific/Apia", "2011-12-30T22:00:00Z"},
};

static void a_time_of_a_zone(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(zoned_rows); i++) {
		const struct zoned_row *r = &zoned_rows[i];
		struct job *j = job_noted(i % 2 ? "deadline" : "start-after", r->text);
		int64_t *ms = i % 2 ? &j->terms.deadline_ms : &j->terms.start_after_ms;
		assert_non_null(j->invalid);
		assert_int_equal(*ms, 0);
		j->created_ms = at(r->created);
		job_times_resolve(j, find, NULL);
		if (j->invalid)
			fail_msg("%s", j->invalid);
		if (*ms != at(r->means))
			fail_msg("%s after %s is not %lld", r->text, r->created, (long long)*ms);
		free(j);
	}
}

static void there_is_no_such_zone(void **state)
{
	(void)state;
	struct job *j = job_with("'annotations':{'sluice.dev/start-after':'08:00 Europe/Berlim',"
				 "'sluice.dev/deadline':'09:00 Europe/Berlin'}",
		"");
	static const char says[] =
		"Job team-a/train: metadata.annotations.sluice.dev/start-after: there is no time "
		"zone \"Europe/Berlim\" where Sluice runs; write an IANA name such as "
		"Europe/Berlin, or UTC";
	assert_string_equal(j->invalid, says);
	job_times_resolve(j, find, NULL);
	assert_string_equal(j->invalid, says);
	assert_int_equal(j->terms.start_after_ms, 0);
	/* The zone has come meanwhile. */
	j->start_after.zone = "UTC";
	job_times_resolve(j, find, NULL);
	assert_null(j->invalid);
	assert_int_equal(j->terms.start_after_ms, CREATED + 22 * HOUR + 90000);
	/* And went again. */
	j->deadline.zone = "../../etc/passwd";
	job_times_resolve(j, find, NULL);
	assert_string_equal(j->invalid, j->deadline.unknown);
	free(j);
}

static void what_else_is_wrong_stays(void **state)
{
	(void)state;
	struct job *j = job_with("'annotations':{'sluice.dev/start-after':'08:00 UTC',"
				 "'sluice.dev/start':'x'}",
		"");
	const char *says = j->invalid;
	job_times_resolve(j, find, NULL);
	assert_true(j->invalid == says && strstr(says, "Cheapest"));
	free(j);
	j = job_with("", "'parallelism':-1");
	says = j->invalid;
	job_times_resolve(j, find, NULL);
	assert_true(says && j->invalid == says);
	free(j);
}

/* By the API server's clock 08:00 of that day is past, by ours it is not. */
static void an_hour_or_so_back(struct job *j)
{
	j->created_ms -= 3 * HOUR;
}

static void the_decoder_finishes_them_by_our_clock(void **state)
{
	static const struct row {
		struct job_context context;
		const char *means; /* NULL: it is invalid */
	} rows[] = {
		{{NULL, NULL, NULL}, NULL},
		{{NULL, NULL, an_hour_or_so_back}, NULL},
		{{find, NULL, NULL}, "2026-11-22T07:00:00Z"},
		{{find, NULL, an_hour_or_so_back}, "2026-11-21T07:00:00Z"},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		context = &rows[i].context;
		struct job *j = job_noted("deadline", "08:00 Europe/Berlin");
		assert_true((j->invalid == NULL) == (rows[i].means != NULL));
		assert_int_equal(j->terms.deadline_ms, rows[i].means ? at(rows[i].means) : 0);
		free(j);
		/* What else is wrong stays. */
		j = job_with(
			"'annotations':{'sluice.dev/deadline':'08:00 UTC'}", "'parallelism':-1");
		assert_non_null(strstr(j->invalid, "parallelism"));
		free(j);
	}
	context = NULL;
}

/* What a CronJob makes has a creation of its own. */
static void asked_again_of_another_creation(void **state)
{
	(void)state;
	struct job *j = job_noted("deadline", "08:00 Europe/Berlin");
	for (int day = 0; day < 3; day++) {
		struct job copy = *j;
		copy.created_ms = CREATED + day * 24 * HOUR;
		job_times_resolve(&copy, find, NULL);
		assert_null(copy.invalid);
		assert_int_equal(
			copy.terms.deadline_ms, at("2026-11-22T07:00:00Z") + day * 24 * HOUR);
	}
	free(j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_them),
		cmocka_unit_test(none_of_them),
		cmocka_unit_test(the_old_word_for_hold_is_understood),
		cmocka_unit_test(prices),
		cmocka_unit_test(the_past_is_a_time),
		cmocka_unit_test(families),
		cmocka_unit_test(a_deadline_beyond_all_time_is_none),
		cmocka_unit_test(sentences_name_job_annotation_and_cure),
		cmocka_unit_test(no_number_of_seconds),
		cmocka_unit_test(a_time_of_a_zone),
		cmocka_unit_test(there_is_no_such_zone),
		cmocka_unit_test(what_else_is_wrong_stays),
		cmocka_unit_test(the_decoder_finishes_them_by_our_clock),
		cmocka_unit_test(asked_again_of_another_creation),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
