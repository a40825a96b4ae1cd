/* What runs cost: the words of the question, and the answer. */
#include "base/instant.h"
#include "controller/past/cost.h"
#include "controller/past/answer.h"
#include "controller/answers/report.h"
#include "controller/answers/job_query.h"
#include "test/golden/golden.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define NOW INT64_C(1795255200000) /* 2026-11-21T10:00:00Z */
#define DAY_MS INT64_C(86400000)

static void words_of_the_question(void **state)
{
	static const struct {
		struct past_words words;
		enum cost_by by;
		const char *label;
		int64_t from_ms, to_ms;
	} rows[] = {
		{{NULL, NULL, NULL}, COST_BY_QUEUE, "", NOW - 30 * DAY_MS, NOW + 1},
		{{"namespace", "90m", "30m"}, COST_BY_NAMESPACE, "", NOW - 5400000, NOW - 1800000},
		{{"owner", "2w", "1d"}, COST_BY_OWNER, "", NOW - 14 * DAY_MS, NOW - DAY_MS},
		{{"label=acme.io/team", "2026-11-01", "2026-11-21"}, COST_BY_LABEL, "acme.io/team",
			INT64_C(1793491200000), NOW - 36000000},
		{{"user", "1d", NULL}, COST_BY_USER, "", NOW - DAY_MS, NOW + 1},
		{{"queue", "2026-11-21T10:00:00+01:00", NULL}, COST_BY_QUEUE, "", NOW - 3600000,
			NOW + 1},
		/* It is a Saturday. */
		{{"team", "day", NULL}, COST_BY_NAMESPACE, "", NOW - 10 * DAY_MS / 24, NOW + 1},
		{{"queue", "week", "day"}, COST_BY_QUEUE, "", INT64_C(1794787200000),
			NOW - 10 * DAY_MS / 24},
		{{"queue", "month", NULL}, COST_BY_QUEUE, "", INT64_C(1793491200000), NOW + 1},
		{{"queue", "yesterday", "today"}, COST_BY_QUEUE, "", NOW - 34 * DAY_MS / 24,
			NOW - 10 * DAY_MS / 24},
		{{"queue", "Fri 9:00", "9:00 UTC"}, COST_BY_QUEUE, "", NOW - 25 * DAY_MS / 24,
			NOW - DAY_MS / 24},
		{{"queue", "year", NULL}, COST_BY_QUEUE, "", INT64_C(1767225600000), NOW + 1},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct past_query q;
		struct err e = {""};
		assert_int_equal(past_query_parse(&rows[i].words, NOW, &q, &e), 0);
		assert_int_equal(q.question.by, rows[i].by);
		assert_string_equal(q.question.label, rows[i].label);
		assert_true(q.question.from_ms == rows[i].from_ms);
		assert_true(q.question.to_ms == rows[i].to_ms);
	}
}

static void wrong_words_get_a_sentence(void **state)
{
	static const struct {
		struct past_words words;
		const char *says;
	} rows[] = {
		{{"colour", NULL, NULL}, "queue, namespace, owner, user or label=KEY"},
		{{"label=", NULL, NULL}, "label=KEY"},
		{{"", NULL, NULL}, "label=KEY"},
		{{NULL, "a month", NULL}, "since is \"a month\""},
		{{NULL, "30", NULL}, "30d"},
		{{NULL, "d", NULL}, "since is \"d\""},
		{{NULL, "99999999999999999999d", NULL}, "since"},
		{{NULL, "2026-02-30", NULL}, "since"},
		{{NULL, NULL, "-1d"}, "until is \"-1d\""},
		{{NULL, "1d", "2d"}, "no time between"},
		{{NULL, "9:00 Europe/Berlin", NULL}, "since is"}, /* no zone is looked up */
		{{NULL, "1y", NULL}, "since is \"1y\""},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct past_query q;
		struct err e = {""};
		assert_int_equal(past_query_parse(&rows[i].words, NOW, &q, &e), ERR_INVALID);
		if (!strstr(e.text, rows[i].says))
			fail_msg("\"%s\" does not say \"%s\"", e.text, rows[i].says);
	}
}

static struct cost_report *report_by(const char *by, struct past_query *q)
{
	struct err e;
	assert_int_equal(past_query_parse(&(struct past_words){by, "30d", NULL}, NOW, q, &e), 0);
	return cost_report_new(q);
}

static void assert_rows(struct cost_report *r, const char *expected)
{
	struct buf out;
	buf_init(&out, 1 << 20);
	cost_report_render(r, true, &out);
	const char *rows = strstr(buf_text(&out), "\"rows\":");
	assert_non_null(rows);
	assert_string_equal(rows, expected);
	GOLDEN_DONE(&out);
}

/* Only who asks for a time before is told that something is missing, and what to ask instead. */
static void what_was_forgotten_is_told(void **state)
{
	static const struct {
		const char *by;
		int64_t until_ms;
		const char *says; /* NULL: nothing */
	} rows[] = {
		{"queue", NOW - 20 * DAY_MS, "the months that lie whole between"},
		{"namespace", NOW - 20 * DAY_MS, "the months that lie whole between"},
		{"owner", NOW - 20 * DAY_MS, "Runs that ended by 2026-11-01T10:00:00.000Z are not"},
		{"user", NOW - 20 * DAY_MS, "Ask by queue or namespace"},
		{"label=team", NOW - 20 * DAY_MS, "Ask by queue or namespace"},
		{"label=team", NOW - 31 * DAY_MS, NULL},
		{"queue", 0, NULL},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct past_query q;
		struct cost_report *r = report_by(rows[i].by, &q);
		struct buf out;
		buf_init(&out, 1 << 20);
		cost_report_forgotten(r, rows[i].until_ms);
		cost_report_render(r, true, &out);
		const char *note = strstr(buf_text(&out), ",\"note\":\"");
		assert_true(!note == !rows[i].says);
		if (note) {
			assert_non_null(strstr(note, rows[i].says));
			assert_non_null(strstr(buf_text(&out), "\"forgottenUntil\":\"2026-11-01T"));
		}
		assert_string_equal(buf_text(&out) + strlen(buf_text(&out)) - 2, "}\n");
		GOLDEN_DONE(&out);
		cost_report_free(r);
	}
}

static struct gate_run run_of(int64_t cost)
{
	return (struct gate_run){.ns = "team",
		.name = "train",
		.owner = "CronJob/nightly",
		.submitted_by = "alice",
		.clusterqueue = "batch",
		.localqueue = "main",
		.started_ms = NOW - 60000,
		.ran_ms = 60000,
		.bill = {.priced = cost != 0, .currency = "EUR", .cost = cost}};
}

static void runs_that_go_on_join_those_that_ended(void **state)
{
	(void)state;
	struct past_query q;
	struct cost_report *r = report_by("queue", &q);
	cost_report_row(r,
		&(struct ledger_cost){true, NULL, "EUR", 2, 90500, 3000000, 1500, 30000, 1000000});
	cost_report_row(r, &(struct ledger_cost){
				   false, "batch", "EUR", 2, 90500, 3000000, 1500, 30000, 1000000});
	struct gate_run run = run_of(1250000), without = run_of(0), before = run_of(9);
	run.estimated = true;
	before.started_ms = NOW - 31 * DAY_MS;
	cost_report_run(&run, r);
	cost_report_run(&without, r);
	cost_report_run(&before, r);
	assert_rows(r, "\"rows\":["
		       "{\"currency\":\"EUR\",\"key\":\"batch\",\"runs\":2,\"running\":1,"
		       "\"runSeconds\":150.500,\"lostSeconds\":1.500,"
		       "\"estimatedSeconds\":90.000,\"cost\":\"4.25\","
		       "\"runningCost\":\"1.25\",\"estimatedCost\":\"2.25\"},"
		       "{\"currency\":null,\"key\":\"batch\",\"runs\":0,\"running\":1,"
		       "\"runSeconds\":60.000,\"lostSeconds\":0.000,"
		       "\"estimatedSeconds\":0.000}],\"totals\":["
		       "{\"currency\":\"EUR\",\"runs\":2,\"running\":1,\"runSeconds\":150.500,"
		       "\"lostSeconds\":1.500,\"estimatedSeconds\":90.000,\"cost\":\"4.25\","
		       "\"runningCost\":\"1.25\",\"estimatedCost\":\"2.25\"},"
		       "{\"currency\":null,\"runs\":0,\"running\":1,\"runSeconds\":60.000,"
		       "\"lostSeconds\":0.000,\"estimatedSeconds\":0.000}]}\n");
	cost_report_free(r);
}

static void keys_of_runs_that_go_on(void **state)
{
	static const struct {
		const char *by, *key;
	} rows[] = {
		{"namespace", "\"team\""},
		{"owner", "\"team/CronJob/nightly\""},
		{"user", "\"alice\""},
		{"label=team", "\"red \\\"1\\\"\""},
		{"label=unit", "null"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct past_query q;
		struct cost_report *r = report_by(rows[i].by, &q);
		struct gate_run run = run_of(1);
		struct buf out;
		char expected[64];
		run.labels = "{\"team\":\"red \\\"1\\\"\"}";
		buf_init(&out, 4096);
		cost_report_run(&run, r);
		cost_report_render(r, false, &out);
		snprintf(expected, sizeof(expected), "\"key\":%s,", rows[i].key);
		assert_non_null(strstr(buf_text(&out), expected));
		assert_non_null(strstr(buf_text(&out), "\"leading\":false"));
		GOLDEN_DONE(&out);
		cost_report_free(r);
	}
}

/* The other's run would be a row, and part of the total. */
static void a_question_of_one_namespace_has_nothing_of_another(void **state)
{
	static const char *const bys[] = {"queue", "namespace", "owner", "user", "label=team"};
	(void)state;
	for (size_t i = 0; i < sizeof(bys) / sizeof(*bys); i++) {
		struct past_query q;
		struct err e;
		struct gate_run hers = run_of(1250000), others = run_of(7000000);
		struct buf out;
		const struct past_words words = {.by = bys[i], .ns = "team"};
		hers.labels = "{\"team\":\"red\"}";
		others.ns = "team-other";
		others.owner = others.clusterqueue = others.submitted_by = "secret";
		others.labels = "{\"team\":\"secret\"}";
		assert_int_equal(past_query_parse(&words, NOW, &q, &e), 0);
		struct cost_report *r = cost_report_new(&q);
		cost_report_run(&others, r);
		cost_report_run(&hers, r);
		buf_init(&out, 4096);
		cost_report_render(r, true, &out);
		assert_null(strstr(buf_text(&out), "secret"));
		assert_null(strstr(buf_text(&out), "team-other"));
		assert_null(strstr(buf_text(&out), "7.00"));
		assert_non_null(strstr(buf_text(&out), "\"namespace\":\"team\","));
		assert_non_null(strstr(buf_text(&out),
			"\"totals\":[{\"currency\":\"EUR\",\"runs\":0,\"running\":1,"
			"\"runSeconds\":60.000,\"lostSeconds\":0.000,\"estimatedSeconds\":0.000,"
			"\"cost\":\"1.25\","));
		GOLDEN_DONE(&out);
		cost_report_free(r);
	}
}

/* "" would be all of them. */
static void a_namespace_has_a_name(void **state)
{
	static const char *const wrong[] = {
		"", "0123456789012345678901234567890123456789012345678901234567890123"};
	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct past_query q;
		struct err e = {""};
		assert_int_equal(
			past_query_parse(&(struct past_words){.ns = wrong[i]}, NOW, &q, &e),
			ERR_INVALID);
		assert_non_null(strstr(e.text, "namespace is \""));
	}
}

static void a_question_about_runs_may_name_a_job_and_a_user(void **state)
{
	(void)state;
	struct past_query q;
	struct err e = {""};
	struct past_words w = {
		.ns = "team", .job = "train", .submitter = "alice", .kind = PAST_RUNS};
	assert_int_equal(past_query_parse(&w, NOW, &q, &e), 0);
	assert_string_equal(q.question.job, "train");
	assert_string_equal(q.question.submitter, "alice");
	assert_true(q.question.from_ms == 0); /* all that are kept */
	w.ns = NULL;
	assert_int_equal(past_query_parse(&w, NOW, &q, &e), 0);
	assert_true(q.question.from_ms == NOW - 7 * DAY_MS);
	w.by = "user";
	assert_int_equal(past_query_parse(&w, NOW, &q, &e), ERR_INVALID);
	w.by = NULL;
	w.kind = PAST_REPORT;
	assert_int_equal(past_query_parse(&w, NOW, &q, &e), ERR_INVALID);
	w = (struct past_words){.job = "", .kind = PAST_RUNS};
	assert_int_equal(past_query_parse(&w, NOW, &q, &e), ERR_INVALID);
	assert_non_null(strstr(e.text, "job is \"\""));
}

static void spans_are_of_what_was(void **state)
{
	(void)state;
	struct past_query q;
	struct err e = {""};
	struct past_words w = {.kind = PAST_SPANS};
	assert_int_equal(past_query_parse(&w, NOW, &q, &e), 0);
	assert_true(q.question.from_ms == NOW - DAY_MS && q.question.to_ms == NOW);
	assert_int_equal(q.question.step_ms, 15 * 60000);
	assert_null(q.question.clusterqueue);
	w = (struct past_words){
		.kind = PAST_SPANS, .since = "6h", .until = "1d", .clusterqueue = "batch"};
	assert_int_equal(past_query_parse(&w, NOW, &q, &e), ERR_INVALID); /* no time between */
	w.until = "2030-01-01";
	assert_int_equal(past_query_parse(&w, NOW, &q, &e), 0);
	assert_true(q.question.to_ms == NOW);
	assert_string_equal(q.question.clusterqueue, "batch");
	w.since = "1s";
	assert_int_equal(past_query_parse(&w, NOW, &q, &e), 0);
	assert_int_equal(q.question.step_ms, 10);
	static const struct past_words wrong[] = {{.kind = PAST_SPANS, .job = "a"},
		{.kind = PAST_SPANS, .submitter = "a"}, {.kind = PAST_SPANS, .by = "user"},
		{.kind = PAST_SPANS, .clusterqueue = ""},
		{.kind = PAST_RUNS, .clusterqueue = "batch"},
		{.kind = PAST_SPANS, .since = "nonsense"}};
	static const char *const says[] = {"job and user are parameters of histories without fold",
		"job and user are", "by is a parameter of costs and reports only",
		"clusterQueue is \"\"", "clusterQueue is a parameter of histories with fold=true",
		"since is \"nonsense\""};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(past_query_parse(&wrong[i], NOW, &q, &e), ERR_INVALID);
		assert_non_null(strstr(e.text, says[i]));
	}
}

static int ask_usage(const char *queue, const char *since, const char *until, struct past_query *q,
	struct err *e)
{
	struct past_words w = {
		.clusterqueue = queue, .since = since, .until = until, .kind = PAST_USAGE};
	return past_query_parse(&w, NOW, q, e);
}

static void usage_is_of_a_queue_that_is_named(void **state)
{
	static const char *const wrong[] = {NULL, ""};
	(void)state;
	struct past_query q;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct err e = {""};
		assert_int_equal(ask_usage(wrong[i], NULL, NULL, &q, &e), ERR_INVALID);
		assert_non_null(strstr(e.text, "clusterQueue is "));
	}
	char name[300];
	struct err e = {""};
	memset(name, 'x', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(ask_usage(name, NULL, NULL, &q, &e), ERR_INVALID);
	assert_int_equal(ask_usage("night", NULL, NULL, &q, &e), 0);
	assert_string_equal(q.question.clusterqueue, "night");
}

/* However long: at most 96 of them, at round times, and never of what is to come. */
static void usage_is_divided_into_steps(void **state)
{
	static const struct {
		const char *since, *until;
		int64_t step_s, steps;
		const char *from, *to;
	} rows[] = {
		{NULL, NULL, 900, 96, "2026-11-20T10:00:00Z", "2026-11-21T10:00:00Z"},
		{"24h", "2027-01-01", 900, 96, "2026-11-20T10:00:00Z", "2026-11-21T10:00:00Z"},
		{"day", NULL, 600, 60, "2026-11-21T00:00:00Z", "2026-11-21T10:00:00Z"},
		{"1h", NULL, 60, 60, "2026-11-21T09:00:00Z", "2026-11-21T10:00:00Z"},
		{"2026-11-21T09:59:50Z", NULL, 60, 1, "2026-11-21T09:59:50Z",
			"2026-11-21T10:00:00Z"},
		{"2026-11-20T10:00:01Z", "2026-11-21T09:50:00Z", 900, 95, "2026-11-20T10:15:00Z",
			"2026-11-21T09:50:00Z"},
		{"7d", NULL, 7200, 84, "2026-11-14T10:00:00Z", "2026-11-21T10:00:00Z"},
		{"30d", NULL, 28800, 90, "2026-10-22T16:00:00Z", "2026-11-21T10:00:00Z"},
		{"1000d", NULL, 11 * 86400, 91, "2024-02-26T00:00:00Z", "2026-11-21T10:00:00Z"},
		{"1900-01-01", NULL, 217 * 86400, 96, "1970-01-01T00:00:00Z",
			"2026-11-21T10:00:00Z"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct past_query q;
		struct err e = {""};
		print_message("  %s\n", rows[i].since ? rows[i].since : "nothing");
		assert_int_equal(ask_usage("q", rows[i].since, rows[i].until, &q, &e), 0);
		const struct past_question *p = &q.question;
		assert_int_equal(p->step_ms, rows[i].step_s * 1000);
		assert_string_equal(instant_seconds(p->from_ms).s, rows[i].from);
		assert_string_equal(instant_seconds(p->to_ms).s, rows[i].to);
		assert_int_equal(
			(p->to_ms - p->from_ms + p->step_ms - 1) / p->step_ms, rows[i].steps);
	}
	struct past_query q;
	struct err e = {""};
	assert_int_equal(ask_usage("q", "2026-12-01", "2026-12-02", &q, &e), ERR_INVALID);
	assert_non_null(strstr(e.text, "since must be earlier"));
}

static void usage_names_its_queue_and_its_steps(void **state)
{
	(void)state;
	static const struct ledger_row rows[] = {
		{.json = "{\"units\":[1]}"}, {.json = "{\"units\":[2]}"}};
	struct past_query q;
	struct err e = {""};
	struct buf out;
	assert_int_equal(ask_usage("night", "1d", NULL, &q, &e), 0);
	buf_init(&out, 4096);
	past_answer_usage(&q, rows, 2, NOW - DAY_MS - 1, &out);
	assert_string_equal(buf_text(&out),
		"{\"clusterQueue\":\"night\",\"from\":\"2026-11-20T10:00:00Z\",\"until\":\"2026-11-21T10:00:00Z\","
		"\"stepSeconds\":900,\"more\":false,\"flavors\":[{\"units\":[1]},{\"units\":[2]}]}\n");
	GOLDEN_RESET(&out);
	past_answer_usage(&q, rows, 0, NOW - DAY_MS, &out);
	assert_non_null(strstr(buf_text(&out),
		"\"flavors\":[],\"forgottenUntil\":\"2026-11-20T10:00:00.000Z\",\"note\":\"Runs that ended by"));
	GOLDEN_DONE(&out);
}

/* The rows are the ledger's words. */
static void rows_of_the_ledger_are_put_into_an_answer(void **state)
{
	(void)state;
	static const struct ledger_row rows[] = {{.is_total = true, .json = "{\"jobs\":2}"},
		{.json = "{\"key\":\"a\"}"}, {.json = "{\"key\":\"b\"}"}};
	struct past_query q;
	struct err e = {""};
	struct buf out;
	struct past_words w = {
		.by = "label=x", .since = "2026-11-01", .until = "2026-11-02", .kind = PAST_REPORT};
	assert_int_equal(past_query_parse(&w, NOW, &q, &e), 0);
	buf_init(&out, 4096);
	past_answer_rows(&q, rows, 3, 0, &out);
	assert_string_equal(buf_text(&out),
		"{\"by\":\"label\",\"label\":\"x\",\"since\":\"2026-11-01T00:00:00.000Z\",\"until\":\"2026-11-02T00:00:00.000Z\","
		"\"more\":false,\"rows\":[{\"key\":\"a\"},{\"key\":\"b\"}],\"totals\":[{\"jobs\":2}]}\n");
	GOLDEN_RESET(&out);
	w = (struct past_words){.job = "j", .since = "1d", .ns = "team", .kind = PAST_RUNS};
	assert_int_equal(past_query_parse(&w, NOW, &q, &e), 0);
	past_answer_rows(&q, rows + 1, 1, NOW, &out);
	assert_non_null(strstr(buf_text(&out), "{\"namespace\":\"team\",\"job\":\"j\",\"since\":"));
	assert_non_null(strstr(buf_text(&out), ",\"runs\":[{\"key\":\"a\"}],\"forgottenUntil\":"));
	assert_null(strstr(buf_text(&out), "totals"));
	GOLDEN_DONE(&out);
}

static void spans_are_told_with_their_question(void **state)
{
	(void)state;
	static struct ledger_row rows[PAST_SPANS_MAX + 1];
	struct past_query q;
	struct err e = {""};
	struct buf out;
	struct past_words w = {.ns = "team", .clusterqueue = "batch", .kind = PAST_SPANS};
	assert_int_equal(past_query_parse(&w, NOW, &q, &e), 0);
	for (size_t i = 0; i < PAST_SPANS_MAX + 1; i++)
		rows[i] = (struct ledger_row){.json = "{}"};
	buf_init(&out, 1 << 20);
	past_answer_spans(&q, rows, 2, 0, &out);
	assert_string_equal(buf_text(&out),
		"{\"asOf\":\"2026-11-21T10:00:00Z\",\"namespace\":\"team\",\"clusterQueue\":\"batch\","
		"\"since\":\"2026-11-20T10:00:00.000Z\",\"until\":\"2026-11-21T10:00:00.000Z\","
		"\"more\":false,\"spans\":[{},{}]}\n");
	GOLDEN_RESET(&out);
	past_answer_spans(&q, rows, PAST_SPANS_MAX + 1, NOW, &out);
	assert_non_null(strstr(buf_text(&out), "\"more\":true"));
	assert_non_null(strstr(buf_text(&out), "\"forgottenUntil\":"));
	size_t n = 0;
	for (const char *at = buf_text(&out); (at = strstr(at, "{}")); at++)
		n++;
	assert_int_equal(n, PAST_SPANS_MAX);
	buf_done(&out);
}

static void too_many_rows_are_cut_and_it_is_said(void **state)
{
	(void)state;
	struct ledger_row rows[PAST_ROWS_MAX + 1];
	struct past_query q;
	struct err e = {""};
	struct buf out;
	size_t n = 0;
	assert_int_equal(past_query_parse(&(struct past_words){.kind = PAST_RUNS}, NOW, &q, &e), 0);
	for (size_t i = 0; i < PAST_ROWS_MAX + 1; i++)
		rows[i] = (struct ledger_row){.json = "{}"};
	buf_init(&out, 1 << 20);
	past_answer_rows(&q, rows, PAST_ROWS_MAX + 1, 0, &out);
	assert_non_null(strstr(buf_text(&out), "\"more\":true"));
	for (const char *at = buf_text(&out); (at = strstr(at, "{}")); at++)
		n++;
	assert_int_equal(n, PAST_ROWS_MAX);
	GOLDEN_RESET(&out);
	past_answer_rows(&q, rows, PAST_ROWS_MAX, 0, &out);
	assert_non_null(strstr(buf_text(&out), "\"more\":false"));
	GOLDEN_DONE(&out);
}

static void paths_of_reports(void **state)
{
	static const struct {
		const char *path, *ns; /* NULL: it is none */
		enum report report;
		const char *name; /* of an object; NULL: none */
	} rows[] = {
		{VISIBILITY_ROOT "/costs", "", REPORT_COSTS},
		{VISIBILITY_ROOT "/reports", "", REPORT_REPORTS},
		{VISIBILITY_ROOT "/histories", "", REPORT_HISTORIES},
		{VISIBILITY_ROOT "/namespaces/team-a/costs", "team-a", REPORT_COSTS},
		{VISIBILITY_ROOT "/namespaces/team-a/reports", "team-a", REPORT_REPORTS},
		{VISIBILITY_ROOT "/namespaces/team-a/histories", "team-a", REPORT_HISTORIES},
		{VISIBILITY_ROOT
			"/namespaces/"
			"012345678901234567890123456789012345678901234567890123456789012/costs",
			"012345678901234567890123456789012345678901234567890123456789012"},
		{VISIBILITY_ROOT
			"/namespaces/"
			"0123456789012345678901234567890123456789012345678901234567890123/costs",
			NULL},
		{VISIBILITY_ROOT "/decisions", "", REPORT_DECISIONS},
		{VISIBILITY_ROOT "/namespaces/team-a/decisions", "team-a", REPORT_DECISIONS},
		{VISIBILITY_ROOT "/timelines", "", REPORT_TIMELINES},
		{VISIBILITY_ROOT "/namespaces/team-a/timelines", "team-a", REPORT_TIMELINES},
		{VISIBILITY_ROOT "/timelines/day", NULL},
		{VISIBILITY_ROOT "/queuereports", "", REPORT_QUEUES},
		{VISIBILITY_ROOT "/budgetreports", "", REPORT_BUDGETS},
		{VISIBILITY_ROOT "/nodereports", "", REPORT_NODES},
		{VISIBILITY_ROOT "/nodereports/n1", NULL},
		{VISIBILITY_ROOT "/namespaces/team-a/nodereports", NULL},
		{VISIBILITY_ROOT "/overcommits", "", REPORT_OVERCOMMITS},
		{VISIBILITY_ROOT "/overcommits/n1.example", "", REPORT_OVERCOMMITS, "n1.example"},
		{VISIBILITY_ROOT "/clusterqueues/night/week", "", REPORT_WEEK, "night"},
		{VISIBILITY_ROOT "/clusterqueues/a.b-c/usage", "", REPORT_USAGE, "a.b-c"},
		{VISIBILITY_ROOT "/clusterqueues/week/week", "", REPORT_WEEK, "week"},
		{VISIBILITY_ROOT "/clusterqueues/week", NULL},
		{VISIBILITY_ROOT "/clusterqueues//week", NULL},
		{VISIBILITY_ROOT "/clusterqueues/a/b/week", NULL},
		{VISIBILITY_ROOT "/clusterqueues/night/queuedjobs", NULL},
		{VISIBILITY_ROOT "/clusterqueuesnight/week", NULL},
		{VISIBILITY_ROOT "/clusterqueues/Night/week", NULL},
		{VISIBILITY_ROOT "/namespaces/team-a/clusterqueues/night/week", NULL},
		{VISIBILITY_ROOT "/namespaces/team-a/queuereports", "team-a", REPORT_QUEUES},
		{VISIBILITY_ROOT "/namespaces/team-a/queuereports/night", NULL},
		{VISIBILITY_ROOT "/namespaces/team-a/budgetreports", NULL},
		{VISIBILITY_ROOT "/namespaces/team-a/overcommits/n1", NULL},
		{VISIBILITY_ROOT "/queuereports/night", NULL},
		{VISIBILITY_ROOT "/overcommits/n1/x", NULL},
		{VISIBILITY_ROOT "/overcommits/", NULL},
		{VISIBILITY_ROOT "/overcommitsn1", NULL},
		{VISIBILITY_ROOT, NULL},
		{"/apis", NULL},
		{"/", NULL},
		{VISIBILITY_ROOT "/costs/", NULL},
		{VISIBILITY_ROOT "/costs/team", NULL},
		{VISIBILITY_ROOT "/namespaces//costs", NULL},
		{VISIBILITY_ROOT "/namespaces/costs", NULL},
		{VISIBILITY_ROOT "/namespaces/team/costs/x", NULL},
		{VISIBILITY_ROOT "/namespaces/Team/costs", NULL},
		{VISIBILITY_ROOT "/namespaces/a/b/costs", NULL},
		{VISIBILITY_ROOT "/queuedjobs", NULL},
		{"/api/v1/cost", NULL},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct report_path r;
		if (report_path(rows[i].path, &r) != (rows[i].ns != NULL))
			fail_msg("%s", rows[i].path);
		if (!rows[i].ns)
			continue;
		assert_string_equal(r.ns, rows[i].ns);
		assert_int_equal(r.report, rows[i].report);
		assert_string_equal(r.name, rows[i].name ? rows[i].name : "");
	}
}

static void a_run_of_an_unknown_user_has_no_key(void **state)
{
	(void)state;
	struct past_query q;
	struct cost_report *r = report_by("user", &q);
	struct gate_run run = run_of(0);
	run.submitted_by = NULL;
	cost_report_run(&run, r);
	assert_rows(r,
		"\"rows\":[{\"currency\":null,\"key\":null,\"runs\":0,\"running\":1,"
		"\"runSeconds\":60.000,\"lostSeconds\":0.000,\"estimatedSeconds\":0.000}],"
		"\"totals\":[{\"currency\":null,\"runs\":0,\"running\":1,\"runSeconds\":60.000,"
		"\"lostSeconds\":0.000,\"estimatedSeconds\":0.000}]}\n");
	cost_report_free(r);
}

static void rows_are_bounded_and_totals_are_of_all(void **state)
{
	(void)state;
	struct past_query q;
	struct cost_report *r = report_by("owner", &q);
	for (int i = 0; i < 3000; i++) {
		char name[16];
		struct gate_run run = run_of(1 + i);
		snprintf(name, sizeof(name), "job-%d", i);
		run.owner = name;
		cost_report_run(&run, r);
	}
	struct buf out;
	buf_init(&out, 1 << 20);
	cost_report_render(r, true, &out);
	assert_non_null(strstr(buf_text(&out), "\"more\":true"));
	assert_non_null(strstr(
		buf_text(&out), "\"totals\":[{\"currency\":\"EUR\",\"runs\":0,\"running\":3000,"));
	size_t rows = 0;
	for (const char *p = buf_text(&out); (p = strstr(p, "\"key\"")); p++)
		rows++;
	assert_in_range(rows, PAST_ROWS_MAX - 1, PAST_ROWS_MAX);
	buf_done(&out);
	cost_report_free(r);
}

/* kubectl get prints <unknown> for an object that has no Table. */
static void a_table_is_not_to_be_had(void **state)
{
	(void)state;
	assert_true(report_wants_table("application/json;as=Table;v=v1;g=meta.k8s.io,"
				       "application/json;as=Table;v=v1beta1;g=meta.k8s.io,"
				       "application/json"));
	assert_false(report_wants_table("application/json"));
	assert_false(report_wants_table("*/*"));
	assert_false(report_wants_table(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_table_is_not_to_be_had),
		cmocka_unit_test(words_of_the_question),
		cmocka_unit_test(wrong_words_get_a_sentence),
		cmocka_unit_test(what_was_forgotten_is_told),
		cmocka_unit_test(runs_that_go_on_join_those_that_ended),
		cmocka_unit_test(keys_of_runs_that_go_on),
		cmocka_unit_test(a_run_of_an_unknown_user_has_no_key),
		cmocka_unit_test(a_question_of_one_namespace_has_nothing_of_another),
		cmocka_unit_test(a_namespace_has_a_name),
		cmocka_unit_test(a_question_about_runs_may_name_a_job_and_a_user),
		cmocka_unit_test(usage_is_of_a_queue_that_is_named),
		cmocka_unit_test(usage_is_divided_into_steps),
		cmocka_unit_test(usage_names_its_queue_and_its_steps),
		cmocka_unit_test(rows_of_the_ledger_are_put_into_an_answer),
		cmocka_unit_test(too_many_rows_are_cut_and_it_is_said),
		cmocka_unit_test(spans_are_of_what_was),
		cmocka_unit_test(spans_are_told_with_their_question),
		cmocka_unit_test(paths_of_reports),
		cmocka_unit_test(rows_are_bounded_and_totals_are_of_all),
	};
	return cmocka_run_group_tests(tests, NULL, golden_close);
}
