/* `sluice report` and `sluice history`: their command lines, and what they make of answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "cli/commands.h"
#include "cli/past/options.h"

enum { WORDS_MAX = 8, OUTPUT_MAX = 1 << 16, TREE_MAX = 1 << 20 };

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))
#define NOW_MS INT64_C(1795773600000) /* 2026-11-27T10:00:00Z */

static const struct style plain = {false, false};

/* ---- command lines ----------------------------------------------------------------------------- */

static int parse(enum past_kind kind, const char *const *words, struct past_command_options *ret,
	struct err *e)
{
	static char kept[WORDS_MAX + 1][64];
	char *argv[WORDS_MAX + 2];
	int argc = 1;
	strcpy(kept[0], "it");
	for (size_t i = 0; i < WORDS_MAX && words[i]; i++)
		strcpy(kept[argc++], words[i]);
	for (int i = 0; i < argc; i++)
		argv[i] = kept[i];
	argv[argc] = NULL;
	return past_command_options_parse(argc, argv, kind, NOW_MS, ret, e);
}

static void a_job_is_named_as_explain_names_it(void **state)
{
	static const char *const lines[][WORDS_MAX] = {
		{"job/train", "-n", "team", "-o", "csv"},
		{"-n", "team", "job", "train", "-ocsv"},
		{"train", "--output=csv", "--namespace=team"},
	};
	(void)state;
	for (size_t i = 0; i < ROWS(lines); i++) {
		struct past_command_options o;
		struct err e = {""};
		assert_int_equal(parse(PAST_RUNS, lines[i], &o, &e), 0);
		assert_int_equal(o.words.kind, PAST_RUNS);
		assert_string_equal(o.words.job, "train");
		assert_string_equal(o.words.ns, "team");
		assert_int_equal(o.output, OUTPUT_CSV);
		assert_false(o.all_namespaces);
	}
}

static void words_that_make_a_question_are_taken(void **state)
{
	static const struct {
		enum past_kind kind;
		const char *words[WORDS_MAX];
	} rows[] = {
		{PAST_REPORT, {"--by", "team", "--since", "month"}},
		{PAST_REPORT, {"--by", "label=acme.io/team", "-A", "--until", "2026-11-20"}},
		{PAST_REPORT, {"--since", "day", "--until", "2026-11-27T09:00:00Z"}},
		{PAST_RUNS, {"--user", "alice@example.com", "--since", "week"}},
		{PAST_RUNS, {"-h", "--since", "whenever"}},
	};
	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		struct past_command_options o;
		struct err e = {""};
		if (parse(rows[i].kind, rows[i].words, &o, &e) != 0)
			fail_msg("row %zu: %s", i, e.text);
	}
}

static void a_mistake_gets_a_sentence(void **state)
{
	static const struct {
		enum past_kind kind;
		const char *words[WORDS_MAX], *says;
	} rows[] = {
		{PAST_REPORT, {"job/train"}, "it takes no names, and \"job/train\" is one"},
		{PAST_REPORT, {"--user", "alice"}, "--user is not a flag"},
		{PAST_REPORT, {"--by", "pods"}, "it must be queue, namespace, owner, user"},
		{PAST_REPORT, {"--since", "whenever"}, "since is \"whenever\""},
		{PAST_REPORT, {"--until", "2026-01-01"}, "since must be before"},
		{PAST_REPORT, {"-n", "a", "-A"}, "exclude"},
		{PAST_REPORT, {"-n", "A/b"}, "--namespace is \"A/b\""},
		{PAST_REPORT, {"-o", "wide"}, "it must be table, csv or json"},
		{PAST_REPORT, {"--server", "http://x"}, "--server is not a flag"},
		{PAST_RUNS, {"--by", "user"}, "--by is not a flag"},
		{PAST_RUNS, {"job/a", "job/b"}, "one Job at most"},
		{PAST_RUNS, {"pod/a"}, "one Job at most"},
		{PAST_RUNS, {"--user", ""}, "user is \"\""},
	};
	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		struct past_command_options o;
		struct err e = {""};
		assert_int_equal(parse(rows[i].kind, rows[i].words, &o, &e), ERR_INVALID);
		if (!strstr(e.text, rows[i].says))
			fail_msg("no \"%s\" in %s", rows[i].says, e.text);
	}
}

/* ---- what is printed --------------------------------------------------------------------------- */

typedef void renderer(const cJSON *root, const struct style *style, struct buf *out);

static const cJSON *tree(struct json *j, const char *text)
{
	const cJSON *root;
	struct err e = {""};
	if (json_parse(j, slice_of(text), &root, &e) != 0)
		fail_msg("%s", e.text);
	return root;
}

static void renders(renderer *render, const char *json, const char *expected)
{
	struct json *j = json_new(TREE_MAX);
	struct buf out;
	buf_init(&out, OUTPUT_MAX);
	render(tree(j, json), &plain, &out);
	assert_string_equal(buf_text(&out), expected);
	buf_done(&out);
	json_free(j);
}

static void renders_csv(
	void (*csv)(const cJSON *, struct buf *), const char *json, const char *expected)
{
	struct json *j = json_new(TREE_MAX);
	struct buf out;
	buf_init(&out, OUTPUT_MAX);
	csv(tree(j, json), &out);
	assert_string_equal(buf_text(&out), expected);
	buf_done(&out);
	json_free(j);
}

/* ---- report ------------------------------------------------------------------------------------ */

#define HEAD "\"since\":\"2026-10-22T10:00:00.000Z\",\"until\":\"2026-11-21T10:00:00.001Z\""
#define FIGURES                                                                                    \
	"\"currency\":\"EUR\",\"jobs\":3,\"starts\":16,\"running\":0,"                             \
	"\"ended\":{\"Failed\":1,\"Finished\":12,\"Preempted\":3},"                                \
	"\"waitP50Seconds\":2.5,\"waitP99Seconds\":3725.000,\"runSeconds\":7325.500,"              \
	"\"cpuHours\":8.5,\"gpuHours\":2.0,\"lostSeconds\":61.000,\"cost\":\"4.25\","              \
	"\"estimatedCost\":\"0.00\""

static const char report_text[] =
	"{\"by\":\"user\"," HEAD ",\"more\":false,\"rows\":["
	"{\"key\":\"red, \\\"big\\\"\"," FIGURES "},"
	"{\"key\":\"=1+1\",\"currency\":null,\"jobs\":1,\"starts\":1,\"running\":1,\"ended\":{},"
	"\"waitP50Seconds\":null,\"waitP99Seconds\":null,\"runSeconds\":59.000,"
	"\"cpuHours\":0.016389,\"gpuHours\":0.0,\"lostSeconds\":0.000,\"cost\":null,"
	"\"estimatedCost\":null},"
	"{\"key\":null,\"currency\":null,\"jobs\":2,\"starts\":9,\"running\":0,"
	"\"ended\":{\"A\\u0007\":2,\"B\":1,\"C\":1,\"D\":1,\"Finished\":4},"
	"\"waitP50Seconds\":0,\"waitP99Seconds\":0.25,\"runSeconds\":3600,\"cpuHours\":1,"
	"\"gpuHours\":0,\"lostSeconds\":0,\"cost\":null,\"estimatedCost\":null}],"
	"\"totals\":[{\"key\":null," FIGURES "}]}";

static void a_report_is_a_table(void **state)
{
	(void)state;
	renders(report_render_table, report_text,
		"USER        JOBS  STARTS  RUNNING  ENDED                                WAIT P50  WAIT P99  RUN TIME  CPU HOURS  GPU HOURS   LOST  COST  CURRENCY\n"
		"red, \"big\"     3      16        0  12 Finished, 3 Preempted, 1 Failed         2s     1h02m     2h02m       8.50       2.00  1m01s  4.25  EUR\n"
		"=1+1           1       1        1  -                                           -         -       59s       0.02       0.00     0s     -  \n"
		"(none)         2       9        0  4 Finished, 2 A?, 1 B, 1 C, 1 other        0s        0s     1h00m       1.00       0.00     0s     -  \n"
		"total          3      16        0  12 Finished, 3 Preempted, 1 Failed         2s     1h02m     2h02m       8.50       2.00  1m01s  4.25  EUR\n");
}

/* GPUs have a column where there are some. */
static void a_report_says_what_is_not_in_it(void **state)
{
	(void)state;
	renders(report_render_table,
		"{\"by\":\"label\",\"label\":\"team\"," HEAD ",\"more\":true,\"rows\":["
		"{\"key\":\"a\",\"currency\":\"EUR\",\"jobs\":1,\"starts\":1,\"running\":0,"
		"\"ended\":{\"Finished\":1},\"waitP50Seconds\":1,\"waitP99Seconds\":1,"
		"\"runSeconds\":1,\"cpuHours\":1,\"gpuHours\":0,\"lostSeconds\":0,"
		"\"cost\":\"1.00\"}],\"totals\":[],"
		"\"note\":\"Runs that ended by 2026-10-01T10:00:00Z are not in this answer.\"}",
		"team  JOBS  STARTS  RUNNING  ENDED       WAIT P50  WAIT P99  RUN TIME  CPU HOURS  LOST  COST  CURRENCY\n"
		"a        1       1        0  1 Finished        1s        1s        1s       1.00    0s  1.00  EUR\n"
		"Runs that ended by 2026-10-01 10:00 UTC are not in this answer.\n"
		"There are more rows: these are the dearest; the totals are of all.\n");
}

static void a_report_may_be_empty(void **state)
{
	(void)state;
	renders(report_render_table,
		"{\"by\":\"queue\"," HEAD ",\"more\":false,\"rows\":[],\"totals\":[]}",
		"No run started between 2026-10-22 10:00 UTC and 2026-11-21 10:00.\n");
	renders(report_render_table, "{}", "No run started between  and .\n");
}

static void a_report_is_csv(void **state)
{
	(void)state;
	renders_csv(report_render_csv, report_text,
		"user,currency,jobs,starts,running,ended,wait_p50_seconds,wait_p99_seconds,run_seconds,cpu_hours,gpu_hours,lost_seconds,cost,estimated_cost\r\n"
		"\"red, \"\"big\"\"\",EUR,3,16,0,Finished=12;Preempted=3;Failed=1,2.500,3725.000,7325.500,8.500000,2.000000,61.000,4.25,0.00\r\n"
		"\"'=1+1\",,1,1,1,,,,59.000,0.016389,0.000000,0.000,,\r\n"
		",,2,9,0,Finished=4;A?=2;B=1;C=1;D=1,0.000,0.250,3600.000,1.000000,0.000000,0.000,,\r\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_is_named_as_explain_names_it),
		cmocka_unit_test(words_that_make_a_question_are_taken),
		cmocka_unit_test(a_mistake_gets_a_sentence),
		cmocka_unit_test(a_report_is_a_table),
		cmocka_unit_test(a_report_says_what_is_not_in_it),
		cmocka_unit_test(a_report_may_be_empty),
		cmocka_unit_test(a_report_is_csv),
	};
	setenv("TZ", "UTC", 1);
	tzset();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
