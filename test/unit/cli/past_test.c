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
#define UID "1b4e28ba-2fa1-11d2-883f-0016d3cca427"

static const struct style plain = {false, false};

/* ---- command lines ----------------------------------------------------------------------------- */

static int finish_report(void *options, char **word, size_t nwords, struct err *e)
{
	return past_command_options_finish(options, PAST_REPORT, word, nwords, NOW_MS, e);
}

static int finish_history(void *options, char **word, size_t nwords, struct err *e)
{
	return past_command_options_finish(options, PAST_RUNS, word, nwords, NOW_MS, e);
}

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
	struct flag_table t = kind == PAST_RUNS ? history_flags : report_flags;
	t.finish = kind == PAST_RUNS ? finish_history : finish_report;
	return flags_read(&t, argc, argv, ret, e);
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
	};
	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		struct past_command_options o;
		struct err e = {""};
		if (parse(rows[i].kind, rows[i].words, &o, &e) != 0)
			fail_msg("row %zu: %s", i, e.text);
	}
	struct past_command_options o;
	struct err e;
	const char *words[WORDS_MAX] = {"-h", "--since", "whenever"};
	assert_int_equal(parse(PAST_RUNS, words, &o, &e), FLAGS_HELP);
}

/* The controller knows no clock but UTC, so a time of the user's is sent as an instant. Days are those of
 * the ledger. */
static void times_of_day_are_by_the_users_clock(void **state)
{
	static const struct {
		const char *text, *sent;
	} rows[] = {
		{"30d", "30d"},
		{"2026-11-01T08:00:00Z", "2026-11-01T08:00:00Z"},
		{"today", "today"},
		{"yesterday", "yesterday"},
		{"week", "week"},
		{"yesterday 18:00", "2026-11-26T18:00:00+01:00"},
		{"Mon 9:00", "2026-11-23T09:00:00+01:00"},
		{"Thu", "Thu"},
		{"Fri 9:00", "2026-11-27T09:00:00+01:00"},
		{"14:00", "2026-11-26T14:00:00+01:00"},
		{"9:00 UTC", "2026-11-27T09:00:00Z"},
		{"2026-11-01", "2026-11-01"},
		{"2026-11-01 UTC", "2026-11-01T00:00:00Z"},
	};
	(void)state;
	setenv("TZ", "Europe/Berlin", 1);
	tzset();
	for (size_t i = 0; i < ROWS(rows); i++) {
		const char *words[WORDS_MAX] = {"--since", rows[i].text};
		struct past_command_options o;
		struct err e = {""};
		if (parse(PAST_REPORT, words, &o, &e) != 0)
			fail_msg("%s: %s", rows[i].text, e.text);
		assert_string_equal(o.words.since, rows[i].sent);
	}
	setenv("TZ", "UTC", 1);
	tzset();
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
		{PAST_REPORT, {"--since", "9:00 Europe/Berlim"}, "--since: "},
		{PAST_REPORT, {"--since", "2026-02-30"}, "since is \"2026-02-30\""},
		{PAST_REPORT, {"--since", "whenever"}, "since is \"whenever\""},
		{PAST_REPORT, {"--until", "2026-01-01"}, "since must be earlier"},
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
		"USER        JOBS  STARTS  RUNNING  ENDED                                WAIT P50  WAIT P99  RUN TIME  CPU HOURS  GPU HOURS  POD TIME LOST  COST OF ENDED  CURRENCY\n"
		"red, \"big\"     3      16        0  12 Finished, 3 Preempted, 1 Failed         2s      1h2m      2h2m       8.50       2.00           1m1s           4.25  EUR\n"
		"=1+1           1       1        1  -                                           -         -       59s       0.02       0.00             0s              -  \n"
		"(none)         2       9        0  4 Finished, 2 A?, 1 B, 1 C, 1 other        0s        0s        1h       1.00       0.00             0s              -  \n"
		"total          3      16        0  12 Finished, 3 Preempted, 1 Failed         2s      1h2m      2h2m       8.50       2.00           1m1s           4.25  EUR\n"
		"WAIT is of runs that started: Jobs that still wait are not in it (sluice queue).\n");
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
		"team  JOBS  STARTS  RUNNING  ENDED       WAIT P50  WAIT P99  RUN TIME  CPU HOURS  POD TIME LOST  COST OF ENDED  CURRENCY\n"
		"a        1       1        0  1 Finished        1s        1s        1s       1.00             0s           1.00  EUR\n"
		"WAIT is of runs that started: Jobs that still wait are not in it (sluice queue).\n"
		"Runs that ended by 2026-10-01 10:00 UTC are not in this answer.\n"
		"Only the most expensive rows are shown; the totals are of all rows.\n");
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
		"\"red, \"\"big\"\"\",EUR,3,16,0,\"Finished=12;Preempted=3;Failed=1\",2.500,3725.000,7325.500,8.500000,2.000000,61.000,4.25,0.00\r\n"
		"\"'=1+1\",,1,1,1,,,,59.000,0.016389,0.000000,0.000,,\r\n"
		",,2,9,0,\"Finished=4;A?=2;B=1;C=1;D=1\",0.000,0.250,3600.000,1.000000,0.000000,0.000,,\r\n");
}

/* ---- history ----------------------------------------------------------------------------------- */

#define TRAIN "\"namespace\":\"team\",\"job\":\"train\",\"uid\":\"" UID "\""
/* It ran 39m58s, and was stopped for another Job. */
#define FIRST_RUN                                                                                  \
	"{" TRAIN ",\"attempt\":1,\"owner\":\"train\",\"submittedBy\":\"alice\","                  \
	"\"clusterQueue\":\"batch\",\"queue\":\"main\",\"state\":\"Ended\","                       \
	"\"queuedAt\":\"2026-11-21T10:00:00.000Z\",\"reservedAt\":\"2026-11-21T10:00:01.000Z\","   \
	"\"startedAt\":\"2026-11-21T10:00:02.000Z\",\"stoppingAt\":\"2026-11-21T10:39:30.000Z\","  \
	"\"stoppedAt\":\"2026-11-21T10:40:00.000Z\",\"reason\":\"Preempted\","                     \
	"\"actor\":\"sluice-0\",\"preemptor\":\"team/urgent\","                                    \
	"\"holds\":{\"cpu\":4,\"pods\":4,\"memory\":8589934592},\"flavors\":[\"spot\"],"           \
	"\"waitSeconds\":2.000,\"runSeconds\":2398.000,\"cpuHours\":2.664444,\"gpuHours\":0.0,"    \
	"\"lostSeconds\":4800.000,\"currency\":\"EUR\",\"cost\":\"1.20\"}"
#define SECOND_RUN                                                                                 \
	"{" TRAIN ",\"attempt\":2,\"submittedBy\":\"alice\",\"clusterQueue\":\"batch\","           \
	"\"queuedAt\":\"2026-11-21T10:40:00.000Z\",\"startedAt\":\"2026-11-21T11:00:00.000Z\","    \
	"\"holds\":{\"cpu\":0.5,\"pods\":1},\"flavors\":[\"a\",\"b\"],\"waitSeconds\":1200.000,"   \
	"\"lostSeconds\":0.000,"
#define RUNS ",\"more\":false,\"runs\":["

static void a_history_is_a_table_the_newest_first(void **state)
{
	(void)state;
	renders(history_render,
		"{" HEAD ",\"more\":true,\"runs\":["
		"{\"namespace\":\"team\",\"job\":\"next\",\"uid\":\"2\",\"attempt\":1,"
		"\"state\":\"Reserved\",\"queuedAt\":\"2026-11-21T10:50:00.250Z\","
		"\"lostSeconds\":0}," SECOND_RUN "\"state\":\"Running\",\"runSeconds\":300},"
		"{\"namespace\":\"team\",\"job\":\"\\u001b[31m\",\"uid\":\"3\",\"attempt\":3,"
		"\"state\":\"Stopping\",\"startedAt\":\"2026-11-21T10:30:05.000Z\","
		"\"runSeconds\":1800,\"reason\":\"WindowClosed\",\"lostSeconds\":0},"
		"{\"namespace\":\"other\",\"job\":\"train\",\"uid\":\"4\",\"attempt\":1,"
		"\"state\":\"Ended\",\"queuedAt\":\"2026-11-21T10:00:00.000Z\","
		"\"startedAt\":\"2026-11-21T10:00:02.000Z\","
		"\"stoppedAt\":\"2026-11-21T10:20:00.000Z\",\"runSeconds\":1198,"
		"\"reason\":\"Preempted\",\"lostSeconds\":0}," FIRST_RUN "]}",
		"JOB          RUN  QUEUED                STARTED              STOPPED           RAN  WHY                                            POD TIME LOST      COST\n"
		"team/next      1  2026-11-21 10:50 UTC  -                    -                   -  starting                                                  0s         -\n"
		"team/train     2  2026-11-21 10:40      2026-11-21 11:00     -                  5m  running                                                   0s         -\n"
		"team/?[31m     3  -                     2026-11-21 10:30:05  -                 30m  WindowClosed; its own pods have not ended yet             0s         -\n"
		"other/train    1  2026-11-21 10:00      2026-11-21 10:00:02  2026-11-21 10:20  19m  Preempted for another Job                                 0s         -\n"
		"team/train     1  2026-11-21 10:00      2026-11-21 10:00:02  2026-11-21 10:40  39m  Preempted for team/urgent                              1h20m  1.20 EUR\n"
		"Only the newest runs are shown. An earlier --until shows older ones.\n");
}

static void a_history_of_one_namespace_does_not_repeat_it(void **state)
{
	(void)state;
	renders(history_render, "{\"namespace\":\"team\"," HEAD RUNS FIRST_RUN "]}",
		"JOB    RUN  QUEUED                STARTED              STOPPED           RAN  WHY                        POD TIME LOST      COST\n"
		"train    1  2026-11-21 10:00 UTC  2026-11-21 10:00:02  2026-11-21 10:40  39m  Preempted for team/urgent          1h20m  1.20 EUR\n");
}

#define NAMED "{\"namespace\":\"team\",\"job\":\"train\"," HEAD RUNS
#define STORY_BEGINS                                                                                                             \
	"Job team/train (uid " UID ", submitted by alice), ClusterQueue batch:\n"                                                \
	"  run 1: queued 2026-11-21 10:00 UTC, started 10:00:02 after 2s in flavor spot with 4 cpu, 4 pods, 8Gi memory in all\n" \
	"         stopped 10:40 after 39m: Preempted for team/urgent; 1h20m of pod time lost; cost 1.20 EUR\n"                   \
	"  run 2: queued 2026-11-21 10:40, started 11:00 after 20m in flavors a, b with 500m cpu, 1 pod in all\n"

static void the_history_of_a_job_is_a_story(void **state)
{
	static const struct {
		const char *second, *expected;
	} rows[] = {
		{SECOND_RUN "\"state\":\"Ended\",\"stoppedAt\":\"2026-11-22T11:00:00.000Z\","
			    "\"reason\":\"Finished\",\"outcome\":\"Succeeded\","
			    "\"runSeconds\":86400.000,\"currency\":\"EUR\",\"cost\":\"0.000001\"}",
			STORY_BEGINS
			"         finished 2026-11-22 11:00 after 1d; cost <0.01 EUR\n"
			"  in all: 2 runs, waited 20m, ran 1d, 1h20m of pod time lost, cost 1.20 EUR; the Job succeeded.\n"},
		{SECOND_RUN "\"state\":\"Running\",\"runSeconds\":600.5}", STORY_BEGINS
			"         running for 10m so far\n"
			"  in all: 2 runs, waited 20m, ran 49m, 1h20m of pod time lost, cost 1.20 EUR; the Job runs.\n"},
		{SECOND_RUN "\"state\":\"Stopping\",\"stoppingAt\":\"2026-11-21T11:10:00.000Z\","
			    "\"reason\":\"Preempted\",\"runSeconds\":600.0}",
			STORY_BEGINS
			"         stopping since 11:10: Preempted for another Job; its own pods have not ended yet\n"
			"  in all: 2 runs, waited 20m, ran 49m, 1h20m of pod time lost, cost 1.20 EUR; the Job is being stopped.\n"},
		{SECOND_RUN "\"state\":\"Ended\",\"stoppedAt\":\"2026-11-21T11:10:00.000Z\","
			    "\"reason\":\"Deleted\",\"outcome\":\"Deleted\",\"runSeconds\":600,"
			    "\"currency\":\"USD\",\"cost\":\"2.00\",\"estimated\":true}",
			STORY_BEGINS
			"         stopped 11:10 after 10m: Deleted; cost 2.00 USD; its times are estimated\n"
			"  in all: 2 runs, waited 20m, ran 49m, 1h20m of pod time lost, cost 1.20 EUR and 2.00 USD; the Job was deleted.\n"},
	};
	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		char text[8192];
		snprintf(text, sizeof(text), "%s%s,%s]}", NAMED, rows[i].second, FIRST_RUN);
		renders(history_render, text, rows[i].expected);
	}
}

/* A Job that is about to start, in another ClusterQueue than before; and what is not in it. */
static void a_story_may_begin_in_the_middle(void **state)
{
	(void)state;
	renders(history_render,
		NAMED "{" TRAIN ",\"attempt\":3,\"clusterQueue\":\"night\",\"state\":\"Reserved\","
		      "\"queuedAt\":\"2026-11-21T12:00:00.000Z\","
		      "\"reservedAt\":\"2026-11-21T13:00:00.000Z\",\"lostSeconds\":0},"
		      "{" TRAIN ",\"attempt\":2,\"clusterQueue\":\"batch\",\"state\":\"Ended\","
		      "\"startedAt\":\"2026-11-21T11:00:00.000Z\","
		      "\"stoppedAt\":\"2026-11-21T12:00:00.000Z\",\"runSeconds\":3600,"
		      "\"reason\":\"Failed\",\"lostSeconds\":0}]}",
		"Job team/train (uid " UID "), ClusterQueue night:\n"
		"  run 2: started 2026-11-21 11:00 UTC, in ClusterQueue batch\n"
		"         failed 12:00 after 1h\n"
		"  run 3: queued 2026-11-21 12:00, got quota 13:00\n"
		"         starting\n"
		"  in all: 2 runs, waited 0s, ran 1h; the Job is about to start.\n"
		"  Runs before run 2 are not shown: they ended before --since, were cancelled, or are no longer kept.\n");
}

/* One block each, the newest Job last; a terminal obeys none of it. */
static void a_name_that_was_used_again_is_two_jobs(void **state)
{
	(void)state;
	renders(history_render,
		NAMED
		"{\"namespace\":\"team\",\"job\":\"train\",\"uid\":\"new\",\"attempt\":1,"
		"\"submittedBy\":\"bob\\u001b[2J\",\"clusterQueue\":\"q\",\"state\":\"Ended\","
		"\"startedAt\":\"2026-11-21T12:00:00.000Z\","
		"\"stoppedAt\":\"2026-11-21T12:01:00.000Z\",\"runSeconds\":60,"
		"\"reason\":\"x\\ny\",\"lostSeconds\":0},"
		"{\"namespace\":\"team\",\"job\":\"train\",\"uid\":\"old\",\"attempt\":1,"
		"\"clusterQueue\":\"q\",\"state\":\"Ended\","
		"\"startedAt\":\"2026-11-21T11:00:00.000Z\","
		"\"stoppedAt\":\"2026-11-21T11:01:00.000Z\",\"runSeconds\":60,"
		"\"reason\":\"Finished\",\"outcome\":\"Succeeded\",\"lostSeconds\":0}]}",
		"Job team/train (uid old), ClusterQueue q:\n"
		"  run 1: started 2026-11-21 11:00 UTC\n"
		"         finished 11:01 after 1m\n"
		"  in all: 1 run, waited 0s, ran 1m; the Job succeeded.\n"
		"\n"
		"Job team/train (uid new, submitted by bob?[2J), ClusterQueue q:\n"
		"  run 1: started 2026-11-21 12:00\n"
		"         stopped 12:01 after 1m: x?y\n"
		"  in all: 1 run, waited 0s, ran 1m; no run is active; sluice explain tells whether it waits.\n");
}

static void a_history_may_be_empty(void **state)
{
	(void)state;
	renders(history_render, "{" HEAD RUNS "]}",
		"No run was under way between 2026-10-22 10:00 UTC and 2026-11-21 10:00.\n");
	renders(history_render, "{\"user\":\"alice\"," HEAD RUNS "]}",
		"No run of a Job that alice submitted was under way between 2026-10-22 10:00 UTC and 2026-11-21 10:00.\n");
	renders(history_render, "{}", "No run was under way between  and .\n");
	renders(history_render, "{\"job\":\"x\",\"runs\":[7]}",
		"Job / (uid ), ClusterQueue :\n"
		"  run 0: got quota \n"
		"         stopped  after 0s\n"
		"  in all: 1 run, waited 0s, ran 0s; no run is active; sluice explain tells whether it waits.\n");
}

static void a_job_without_runs_is_told(void **state)
{
	static const struct {
		const char *json, *says;
	} rows[] = {
		{NAMED "]}",
			"the ledger knows no run of Job train in namespace team since 2026-10-22 10:00 UTC: a Job that never started has none; see sluice explain job/train -n team"},
		{"{\"job\":\"train\",\"user\":\"alice\"," HEAD RUNS
		 "],\"note\":\"Runs that ended by 2026-10-23T10:00:00Z are forgotten.\"}",
			"the ledger knows no run of Job train in any namespace that alice submitted since 2026-10-22 10:00 UTC: a Job that never started has none; see sluice explain job/train\n"
			"Runs that ended by 2026-10-23 10:00 are forgotten."},
	};
	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		struct json *j = json_new(TREE_MAX);
		struct err e = {""};
		assert_int_equal(history_check(tree(j, rows[i].json), &e), ERR_GONE);
		assert_string_equal(e.text, rows[i].says);
		json_free(j);
	}
}

static void what_was_found_or_not_named_is_no_error(void **state)
{
	static const char *const rows[] = {NAMED FIRST_RUN "]}", "{" HEAD RUNS "]}"};
	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		struct json *j = json_new(TREE_MAX);
		struct err e = {""};
		assert_int_equal(history_check(tree(j, rows[i]), &e), 0);
		json_free(j);
	}
}

static void a_history_is_csv_with_all_fields(void **state)
{
	(void)state;
	renders_csv(history_render_csv,
		NAMED FIRST_RUN
		",{\"namespace\":\"team\",\"job\":\"x\",\"uid\":\"2\",\"attempt\":1,"
		"\"submittedBy\":\"@a, \\\"b\\\"\",\"state\":\"Running\",\"flavors\":[\"a\",\"b\"],"
		"\"holds\":{\"cpu\":0.25},\"lostSeconds\":0,\"estimated\":true}]}",
		"namespace,job,uid,attempt,owner,submitted_by,cluster_queue,queue,state,queued_at,reserved_at,started_at,stopping_at,stopped_at,reason,actor,preemptor,outcome,holds,flavors,wait_seconds,run_seconds,cpu_hours,gpu_hours,lost_seconds,currency,cost,estimated\r\n"
		"team,train," UID
		",1,train,alice,batch,main,Ended,2026-11-21T10:00:00.000Z,2026-11-21T10:00:01.000Z,2026-11-21T10:00:02.000Z,2026-11-21T10:39:30.000Z,2026-11-21T10:40:00.000Z,Preempted,sluice-0,team/urgent,,\"cpu=4;pods=4;memory=8589934592\",spot,2.000,2398.000,2.664444,0.000000,4800.000,EUR,1.20,false\r\n"
		"team,x,2,1,,\"'@a, \"\"b\"\"\",,,Running,,,,,,,,,,cpu=0.25,\"a;b\",,,,,0.000,,,true\r\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_is_named_as_explain_names_it),
		cmocka_unit_test(words_that_make_a_question_are_taken),
		cmocka_unit_test(times_of_day_are_by_the_users_clock),
		cmocka_unit_test(a_mistake_gets_a_sentence),
		cmocka_unit_test(a_report_is_a_table),
		cmocka_unit_test(a_report_says_what_is_not_in_it),
		cmocka_unit_test(a_report_may_be_empty),
		cmocka_unit_test(a_report_is_csv),
		cmocka_unit_test(a_history_is_a_table_the_newest_first),
		cmocka_unit_test(a_history_of_one_namespace_does_not_repeat_it),
		cmocka_unit_test(the_history_of_a_job_is_a_story),
		cmocka_unit_test(a_story_may_begin_in_the_middle),
		cmocka_unit_test(a_name_that_was_used_again_is_two_jobs),
		cmocka_unit_test(a_history_may_be_empty),
		cmocka_unit_test(a_job_without_runs_is_told),
		cmocka_unit_test(what_was_found_or_not_named_is_no_error),
		cmocka_unit_test(a_history_is_csv_with_all_fields),
	};
	setenv("TZ", "UTC", 1);
	tzset();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
