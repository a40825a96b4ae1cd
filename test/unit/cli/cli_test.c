/*
 * The command `sluice`: its command line, and what it makes of the controller's answers.
 */
#include "cli/arguments.h"
#include "cli/command_table.h"
#include "cli/commands.h"
#include "cli/explain/answer.h"
#include "cli/past/options.h"
#include "cli/queue/report.h"
#include "cli/unlisted_job.h"

#include <pty.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
enum { WORDS_MAX = 8 };

static int parse(const char *const *words, void *options, struct err *e)
{
	static char kept[WORDS_MAX + 1][128];
	char *argv[WORDS_MAX + 2];
	int argc = 1;
	strcpy(kept[0], "sluice");
	for (size_t i = 0; i < WORDS_MAX && words[i]; i++)
		strcpy(kept[argc++], words[i]);
	for (int i = 0; i < argc; i++)
		argv[i] = kept[i];
	argv[argc] = NULL;
	const struct command_row *row = command_choose(argc, argv, e);
	int rc = row ? flags_read(row->flags, argc - 1, argv + 1, options, e) : ERR_INVALID;
	if (row && rc < 0)
		err_wrap(e, "%s", row->name);
	return rc;
}

/* What command_print() writes where a terminal has five rows of ten characters. */
static const char *watched(const char *text)
{
	static char shown[512];
	const struct winsize size = {.ws_row = 5, .ws_col = 10};
	int of_user, of_program, kept = dup(STDOUT_FILENO);
	fflush(stdout);
	assert_int_equal(openpty(&of_user, &of_program, NULL, NULL, &size), 0);
	dup2(of_program, STDOUT_FILENO);
	command_print(true, text);
	fflush(stdout);
	dup2(kept, STDOUT_FILENO);
	close(kept);
	close(of_program);
	/* Read all parts that the terminal hands over; they end, as the program's side is closed. */
	size_t n = 0;
	for (ssize_t got; (got = read(of_user, shown + n, sizeof(shown) - 1 - n)) > 0;)
		n += (size_t)got;
	assert_true(n > 0);
	shown[n] = '\0';
	close(of_user);
	return shown;
}

static void a_line_that_is_wider_than_the_terminal_takes_several_rows(void **state)
{
	(void)state;
	assert_string_equal(
		watched("0123456789\nb\nc\nd\n"), "\033[J0123456789\r\nb\r\nc\r\nd\r\n");
	assert_string_equal(watched("a\nb\nc\nd\ne\n"), "\033[Ja\r\nb\r\nc\r\n(2 more lines)\r\n");
	assert_string_equal(
		watched("a\n0123456789b\nc\nd\n"), "\033[Ja\r\n0123456789b\r\n(2 more lines)\r\n");
	assert_string_equal(watched("a\n\033[31m01234\u00e9789\033[0m\nc\nd\n"),
		"\033[Ja\r\n\033[31m01234\u00e9789\033[0m\r\nc\r\nd\r\n");
}

static void flags_may_stand_anywhere(void **state)
{
	(void)state;
	static const char *const orders[][WORDS_MAX] = {
		{"explain", "job/train", "-n", "team-a", "-o", "json"},
		{"-n", "team-a", "explain", "-ojson", "job/train"},
		{"--namespace=team-a", "--output", "json", "explain", "job/train"},
	};
	for (size_t i = 0; i < COUNT(orders); i++) {
		struct arguments a;
		struct err e = {""};
		assert_int_equal(parse(orders[i], &a, &e), 0);
		assert_string_equal(a.name, "train");
		assert_string_equal(a.namespace_name, "team-a");
		assert_int_equal(a.output, OUTPUT_JSON);
	}
}

static void an_old_name_is_found_and_not_listed(void **state)
{
	(void)state;
	const char *name = "";
	assert_true(command_is_old_name("start", &name));
	assert_string_equal(name, "when");
	assert_false(command_is_old_name("when", &name));
	assert_ptr_equal(command_find("start"), command_find("when"));
	for (size_t i = 0; i < COMMANDS; i++)
		assert_string_not_equal(command_table[i].name, "start");
}

static void a_mistake_gets_a_sentence(void **state)
{
	(void)state;
	static const struct {
		const char *words[WORDS_MAX];
		const char *says;
	} cases[] = {
		{{"frobnicate"}, "no command \"frobnicate\""},
		{{"queue", "-o", "yaml"}, "queue: -o is \"yaml\"; it must be table, wide or json"},
		{{"queue", "-n"}, "wants a value"},
		{{"queue", "-n", ""}, "--namespace is \"\""},
		{{"cost", "-n", "Bad_NS"}, "--namespace is \"Bad_NS\""},
		{{"queue", "-z"}, "-z is not a flag"},
		{{"queue", "--zzz"}, "--zzz is not a flag"},
		{{"queue", "--watch=1"}, "takes no value"},
		{{"queue", "--server", "http://localhost:80"}, "--server is not a flag"},
		{{"queue", "-A", "-n", "x"}, "exclude"},
		{{"explain", "-A", "job/x"}, "-A"},
		{{"queue", "a", "b", "c", "d", "e"}, "one name too many"},
		{{"queue", "-o", "csv"}, "queue: -o is \"csv\"; it must be table, wide or json"},
		{{"queue", "--by", "owner"}, "queue: --by is not a flag"},
		{{"--since", "1d", "explain", "train"}, "explain: --since is not a flag"},
		{{"explain", "train", "-o", "wide"},
			"explain: -o is \"wide\"; it must be table or json"},
		{{"decisions", "-w"}, "decisions: -w is not a flag"},
		{{"-f", "queue"}, "queue: -f is not a flag"},
		{{"cost", "-o", "wide"}, "cost: -o is \"wide\"; it must be table, csv or json"},
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		union {
			struct arguments a;
			struct past_command_options cost;
		} options;
		struct err e = {""};
		assert_int_equal(parse(cases[i].words, &options, &e), ERR_INVALID);
		print_message("  %s\n", e.text);
		assert_non_null(strstr(e.text, cases[i].says));
	}
}

/* ---- tables ---------------------------------------------------------------------------------- */

static const struct style plain = {false, false}, rich = {true, true};

static void columns_align_by_characters(void **state)
{
	(void)state;
	struct buf out;
	buf_init(&out, 4096);
	struct table *t = table_new(&plain);
	table_cell(t, COLOUR_NONE, "NAME");
	table_cell(t, COLOUR_NONE, "N");
	table_end_row(t);
	table_cell(t, COLOUR_RED, "Gr\xC3\xBC\xC3\x9F");
	table_cellf(t, COLOUR_NONE, "%d", 1234);
	table_right(t);
	table_end_row(t);
	table_cell(t, COLOUR_NONE, "\033[2J\n");
	table_cell(t, COLOUR_NONE, "7");
	table_right(t);
	table_end_row(t);
	table_render(t, &out);
	assert_string_equal(buf_text(&out), "NAME   N\n"
					    "Gr\xC3\xBC\xC3\x9F   1234\n"
					    "?[2J?     7\n");
	table_free(t);
	buf_done(&out);
}

static void a_bar_is_empty_or_full_only_when_it_is(void **state)
{
	(void)state;
	static const struct {
		int64_t used, total;
		const char *bar;
	} bars[] = {
		{0, 40, ".........."},
		{1, 1000000, "#........."},
		{20, 40, "#####....."},
		{999999, 1000000, "#########."},
		{40, 40, "##########"},
		{50, 40, "##########"},
		{0, 0, ".........."},
		{1, 0, "##########"},
		{INT64_MAX, INT64_MAX, "##########"},
	};
	for (size_t i = 0; i < COUNT(bars); i++) {
		struct buf out;
		buf_init(&out, 256);
		bar_render(bars[i].used, bars[i].total, 10, &plain, &out);
		assert_string_equal(buf_text(&out), bars[i].bar);
		buf_done(&out);
	}
}

/* ---- answers --------------------------------------------------------------------------------- */

#define HELD(name, nominal, total)                                                                 \
	"{\"name\":\"" name "\",\"nominal\":\"" nominal "\",\"total\":\"" total                    \
	"\",\"borrowed\":\"0\"}"
#define ACTIVE(status, reason, message)                                                            \
	"\"conditions\":[{\"type\":\"Active\",\"status\":\"" status "\",\"reason\":\"" reason      \
	"\",\"message\":\"" message "\"}]"
#define COUNTS(pending, admitted)                                                                  \
	",\"pendingWorkloads\":" pending ",\"admittedWorkloads\":" admitted
#define LOCAL(ns, clusterqueue, status)                                                            \
	"{\"metadata\":{\"namespace\":\"" ns                                                       \
	"\",\"name\":\"main\"},\"spec\":{\"clusterQueue\":\"" clusterqueue                         \
	"\"},\"status\":{" status "}}"

static const char queues_text[] =
	"{\"clusterQueues\":["
	"{\"metadata\":{\"name\":\"batch\"},\"spec\":{\"queueingStrategy\":\"BestEffortFIFO\"},"
	"\"status\":{" ACTIVE("True", "Ready", "Can admit new workloads") COUNTS(
		"12", "2") ",\"flavorsReservation\":[{\"name\":\"spot\",\"resources\":[" HELD("cpu",
		"40", "20") "," HELD("memory", "9000000000000000000",
		"9000000000000000000") "]}]}},"
				       "{\"metadata\":{\"name\":\"night\"},\"spec\":{\"queueingStrategy\":\"StrictFIFO\","
				       "\"cohortName\":\"all\"},\"status\":{" ACTIVE("False",
					       "FlavorNotFound",
					       "Can't admit new workloads: flavor x") COUNTS("0",
					       "0") ",\"flavorsReservation\":[]}}],"
						    "\"localQueues\":[" LOCAL("team-a", "batch",
							    ACTIVE("True", "Ready", "") COUNTS(
								    "12", "2")) "," LOCAL("team-b",
							    "night",
							    ACTIVE("False",
								    "ClusterQueueIsInactive", "")
								    COUNTS("0", "0")) "]}";

#define JOB(spec, status)                                                                          \
	"{\"metadata\":{\"namespace\":\"team-a\",\"name\":\"train\"},\"spec\":{" spec              \
	"},\"status\":{" status "}}"

static const char job_text[] = JOB(
	"\"queue\":\"main\",\"clusterQueue\":\"batch\",\"priority\":100,\"claimedPriority\":1000",
	"\"state\":\"Waiting\",\"reason\":\"WaitingForQuota\",\"position\":4,\"message\":"
	"\"needs 12 cpu in flavor spot; 3 Jobs are ahead of it\","
	"\"queuedAt\":\"2026-11-21T10:00:00.123Z\"");

static const cJSON *tree(struct json *j, const char *text)
{
	const cJSON *root;
	struct err e = {""};
	if (json_parse(j, slice_of(text), &root, &e) != 0)
		fail_msg("%s", e.text);
	return root;
}

/* Of {"clusterQueues", "localQueues", "stuck", "report"}. */
static struct queue_answer answer_of(const cJSON *root)
{
	return (struct queue_answer){.clusterqueues = json_array(root, "clusterQueues"),
		.localqueues = json_array(root, "localQueues"),
		.stuck = json_array(root, "stuck"),
		.report = json_object(root, "report")};
}

/* Those of job_text. */
static struct explain_queues queues_of(const cJSON *root)
{
	return (struct explain_queues){.local = json_array(root, "localQueues")->child,
		.cluster = json_array(root, "clusterQueues")->child};
}

static void queues_become_a_table(void **state)
{
	(void)state;
	struct json *j = json_new(1 << 20);
	struct buf out;
	struct queue_filter f = {NULL, NULL};
	buf_init(&out, 65536);
	struct queue_answer a = answer_of(tree(j, queues_text));
	assert_int_equal(queue_render_table(&a, &f, false, &plain, &out), 2);
	assert_string_equal(buf_text(&out),
		"CLUSTERQUEUE  STATE           WAITING  RUNNING  FLAVOR      RESOURCE  QUOTA       "
		"        "
		"  USED\n"
		"batch         active               12        2  spot        cpu       "
		"##########..........  20 of 40\n"
		"                                                spot        memory    "
		"####################  8789062500000000Ki of 8789062500000000Ki\n"
		"night         FlavorNotFound        0        0  (no quota)\n"
		"\nnight: Can't admit new workloads: flavor x\n");
	json_free(j);
	buf_done(&out);
}

/* As a ClusterQueue's: only of those that are asked for. */
static void a_refused_localqueue_says_why(void **state)
{
	static const char text[] = "{\"clusterQueues\":[],\"localQueues\":[" LOCAL("team-a",
		"batch", ACTIVE("True", "InvalidSpec", "a label is wrong")) "," LOCAL("team-b", "",
		ACTIVE("False", "InvalidSpec", "another is wrong")) "]}";
	(void)state;
	struct json *j = json_new(1 << 20);
	struct buf out;
	struct queue_filter f = {.ns = "team-a"};
	buf_init(&out, 65536);
	struct queue_answer a = answer_of(tree(j, text));
	queue_render_table(&a, &f, false, &plain, &out);
	assert_non_null(strstr(buf_text(&out), "InvalidSpec"));
	assert_non_null(strstr(buf_text(&out), "\nteam-a/main: a label is wrong\n"));
	assert_null(strstr(buf_text(&out), "another"));
	json_free(j);
	buf_done(&out);
}

static void a_filter_shows_what_belongs_together(void **state)
{
	(void)state;
	static const struct {
		struct queue_filter filter;
		size_t shown;
		const char *with, *without;
	} cases[] = {
		{{NULL, NULL}, 4, "\"night\"", "\"nothing\""},
		{{"batch", NULL}, 2, "team-a", "\"night\""},
		{{NULL, "team-b"}, 2, "\"night\"", "\"batch\""},
		{{"batch", "team-b"}, 0, "[]", "\"batch\""},
		{{"none", NULL}, 0, "[]", "\"batch\""},
	};
	struct json *j = json_new(1 << 20), *k = json_new(1 << 20);
	struct queue_answer a = answer_of(tree(j, queues_text));
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct buf out;
		buf_init(&out, 65536);
		assert_int_equal(queue_render_json(&a, &cases[i].filter, &out), cases[i].shown);
		tree(k, buf_text(&out));
		assert_non_null(strstr(buf_text(&out), cases[i].with));
		assert_null(strstr(buf_text(&out), cases[i].without));
		buf_done(&out);
	}
	json_free(j);
	json_free(k);
}

static void an_explanation_begins_with_its_sentence(void **state)
{
	(void)state;
	struct json *j = json_new(1 << 20), *q = json_new(1 << 20);
	struct buf out;
	buf_init(&out, 65536);
	struct explain_queues queues = queues_of(tree(q, queues_text));
	explain_render(tree(j, job_text), &queues, 1795255800000, &plain, &out);
	assert_true(slice_starts(
		buf_slice(&out), "needs 12 cpu in flavor spot; 3 Jobs are ahead of it\n\n"));
	assert_non_null(strstr(buf_text(&out), "LocalQueue    main        active\n"));
	assert_non_null(
		strstr(buf_text(&out), "ClusterQueue  batch       active, BestEffortFIFO\n"));
	assert_non_null(
		strstr(buf_text(&out), "position      4, 3 ahead  priority 100 (claims 1000, "
				       "ClusterQueue batch caps at 100), queued "
				       "2026-11-21 10:00 UTC (9m59s ago)\n"));
	assert_non_null(strstr(buf_text(&out), "state         Waiting     WaitingForQuota\n"));
	assert_non_null(strstr(buf_text(&out), "20 of 40"));
	json_free(j);
	json_free(q);
	buf_done(&out);
}

static const struct unlisted_row {
	const char *job, *state, *sentence;
} unlisted_rows[] = {
	{"{\"status\":{\"succeeded\":1,\"completionTime\":\"2026-11-21T10:00:00Z\",\"conditions\":["
	 "{\"type\":\"Complete\",\"status\":\"True\"}]}}",
		"Succeeded", "succeeded at 2026-11-21T10:00:00Z: 1 pod"},
	{"{\"metadata\":{\"name\":\"train\",\"namespace\":\"team-a\",\"uid\":"
	 "\"7e0a2b1c-0000-4000-8000-000000000001\",\"resourceVersion\":\"7\",\"creationTimestamp\":"
	 "\"2026-11-21T09:00:00Z\"},\"spec\":{\"parallelism\":3,\"suspend\":true,\"template\":{\"spec\":{"
	 "\"containers\":[{\"name\":\"m\"}]}}},\"status\":{\"succeeded\":1,\"completionTime\":"
	 "\"2026-11-21T10:00:00Z\",\"conditions\":[{\"type\":\"Complete\",\"status\":\"True\"}]}}",
		"CutShort",
		"ended at 2026-11-21T10:00:00Z. CutShort: Kubernetes calls it Complete"},
	{"{\"status\":{\"conditions\":[{\"type\":\"Failed\",\"status\":\"True\",\"reason\":"
	 "\"BackoffLimitExceeded\",\"message\":\"it has failed too often\",\"lastTransitionTime\":"
	 "\"2026-11-21T10:00:00Z\"}]}}",
		"Failed",
		"failed at 2026-11-21T10:00:00Z: BackoffLimitExceeded: it has failed too often"},
	{"{\"metadata\":{\"labels\":{}},\"spec\":{\"suspend\":true}}", "Unqueued",
		"to queue it: kubectl label -n team-a job/train sluice.dev/queue-name=QUEUE"},
	{"{\"metadata\":{\"name\":\"train\"},\"spec\":{}}", "Unqueued",
		"it runs as any Job does, and an admin can take it into a queue"},
	{"{\"metadata\":{\"labels\":{\"kueue.x-k8s.io/queue-name\":\"gpu\"}}}", "Unqueued",
		"is queued by Kueue (LocalQueue gpu"},
	{"{\"metadata\":{\"labels\":{\"sluice.dev/queue-name\":\"main\"}}}", "Unknown",
		"is labelled for LocalQueue main, but the controller has not seen it yet"},
};

static void a_job_that_the_controller_does_not_have_is_explained_by_itself(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(unlisted_rows) / sizeof(*unlisted_rows); i++) {
		const struct unlisted_row *row = &unlisted_rows[i];
		struct json *j = json_new(1 << 20);
		struct buf out;
		buf_init(&out, 65536);
		const cJSON *job = tree(j, row->job);
		enum unlisted_job x = unlisted_job_judge(job);
		assert_string_equal(unlisted_job_name(x), row->state);
		unlisted_job_tell(x, job, "team-a", "train", &out);
		assert_non_null(strstr(buf_text(&out), row->sentence));
		buf_done(&out);
		json_free(j);
	}
}

/* Its Events outlive it for a while; they come in any order. */
static void a_job_that_was_deleted_is_told_from_one_that_never_was(void **state)
{
	static const char events[] =
		"{\"items\":[{\"reason\":\"Completed\",\"message\":\"Job completed\","
		"\"lastTimestamp\":\"2026-11-21T10:05:00Z\"},{\"reason\":\"SuccessfulCreate\","
		"\"message\":\"Created pod\",\"eventTime\":\"2026-11-21T10:00:00.123456Z\"}]}";
	static const char *const said[] = {
		"any more: it was deleted (spec.ttlSecondsAfterFinished deletes finished Jobs). Its "
		"last Event is Completed, at 2026-11-21T10:05:00Z: Job completed",
		"there is no Job x in namespace team (another namespace: -n), or it was deleted long ago. "
		"sluice jobs -n team lists",
		"there is no Job x in namespace team (another namespace: -n), or it was deleted "
		"(spec.ttlSecondsAfterFinished"};
	(void)state;
	struct json *j = json_new(1 << 20);
	const char *const trees[] = {events, "{\"items\":[]}", NULL};
	for (size_t i = 0; i < COUNT(trees); i++) {
		struct buf out;
		buf_init(&out, 65536);
		unlisted_job_tell_absent(trees[i] ? tree(j, trees[i]) : NULL, "team", "x", &out);
		assert_true(slice_starts(buf_slice(&out), "there is no Job "));
		assert_non_null(strstr(buf_text(&out), said[i]));
		buf_done(&out);
	}
	json_free(j);
}

static void an_explanation_tells_what_was_done_last(void **state)
{
	static const char text[] = JOB("",
		"\"state\":\"Waiting\",\"reason\":\"WaitingForQuota\",\"message\":\"needs 12 cpu\","
		"\"story\":\"{\\\"attempt\\\":2,\\\"state\\\":\\\"Stopped\\\","
		"\\\"at\\\":\\\"2026-11-21T10:00:00Z\\\",\\\"reason\\\":\\\"Preempted\\\","
		"\\\"preemptor\\\":\\\"team-b/urgent\\\",\\\"message\\\":\\\"it borrowed\\\"}\"");
	(void)state;
	struct json *j = json_new(1 << 20);
	struct buf out;
	buf_init(&out, 65536);
	explain_render(tree(j, text), NULL, 1795255800000, &plain, &out);
	assert_non_null(strstr(buf_text(&out), "last"));
	assert_non_null(
		strstr(buf_text(&out), "attempt 2, 2026-11-21 10:00 UTC (10m ago): Preempted "
				       "for team-b/urgent: it borrowed\n"));
	json_free(j);
	buf_done(&out);
}

#define STUCK(name, reason)                                                                          \
	"{\"metadata\":{\"name\":\"" name                                                            \
	"\",\"namespace\":\"team\"},\"spec\":{\"clusterQueue\":\"batch\"},\"status\":{\"trouble\":{" \
	"\"reason\":\"" reason "\"}}}"

static void jobs_that_are_stuck_or_stopping_are_told(void **state)
{
	static const char queues[] =
		"{\"clusterQueues\":[{\"metadata\":{\"name\":\"batch\"},\"status\":{" ACTIVE("True",
			"Ready",
			"") COUNTS("0", "7") "}}],\"localQueues\":[],\"stuck\":[" STUCK("train",
			"Unschedulable") "," STUCK("late", "Unschedulable") "," STUCK("test",
			"PodsRefused") "],"
				       "\"report\":{\"clusterQueues\":[{\"metadata\":{\"name\":\"batch\"},\"stopping\":3,"
				       "\"stoppingSeconds\":30}]}}";
	static const char job[] =
		JOB("", "\"state\":\"Running\",\"message\":\"runs\","
			"\"trouble\":{\"reason\":\"Unschedulable\",\"pods\":3,\"of\":8,\"since\":"
			"\"2026-11-21T10:09:30Z\",\"message\":\"no\"},\"story\":\"{\\\"state\\\":"
			"\\\"Stopped\\\","
			"\\\"attempt\\\":2,\\\"at\\\":\\\"2026-11-21T10:00:00Z\\\",\\\"trouble\\\":"
			"\\\"ErrImagePull: its pod\\\"}\"");
	struct queue_filter f = {NULL, NULL};
	struct json *j = json_new(1 << 20);
	struct buf out;
	(void)state;
	buf_init(&out, 65536);
	struct queue_answer a = answer_of(tree(j, queues));
	queue_render_table(&a, &f, false, &plain, &out);
	assert_non_null(strstr(buf_text(&out), " 7 (3 stuck)  "));
	assert_non_null(strstr(buf_text(&out),
		"\nbatch: 2 Jobs are stuck: Unschedulable (sluice explain -n team job/train)\n"));
	assert_non_null(strstr(buf_text(&out),
		"\nbatch: stopping 3 Jobs, up to 30s, to make room for other Jobs\n"));
	assert_non_null(strstr(buf_text(&out), "\nbatch: 1 Job is stuck: PodsRefused "));
	assert_null(strstr(buf_text(&out), "does not exist"));
	buf_reset(&out);
	a = answer_of(tree(j, "{\"clusterQueues\":[],\"report\":{\"withoutQueue\":2}}"));
	queue_render_table(&a, &f, false, &plain, &out);
	assert_non_null(strstr(buf_text(&out), "\n2 Jobs wait for a queue that does not exist; "));
	buf_reset(&out);
	explain_render(tree(j, job), NULL, 1795255800000, &plain, &out);
	assert_non_null(
		strstr(buf_text(&out), "  3 of 8 pods, since 2026-11-21 10:09:30 UTC (30s ago)\n"));
	assert_non_null(strstr(buf_text(&out), "; ErrImagePull: its pod\n"));
	json_free(j);
	buf_done(&out);
}

static void an_explanation_tells_of_time_and_money(void **state)
{
	static const char text[] =
		JOB("", "\"state\":\"Running\",\"message\":\"runs\",\"expectedSeconds\":5430,"
			"\"expectedFrom\":\"History\","
			"\"deadline\":\"2026-11-22T08:00:00Z\",\"deadlineUnreachable\":true,"
			"\"stopsAt\":\"2026-11-22T06:00:00Z\",\"bill\":{\"currency\":\"EUR\","
			"\"plan\":\"datacentre\",\"cost\":\"0.35\",\"perHour\":\"0.16\","
			"\"expectedCost\":\"1.2405\"}");
	static const char *const lines[] = {
		"  duration  1h30m30s              95 % of its earlier runs took no longer\n",
		"  deadline  2026-11-22 08:00 UTC  DeadlineUnreachable: the Job is expected to end later\n",
		"  stops     2026-11-22 06:00      when its window closes; then the Job waits for the next window\n",
		"  cost      0.35 EUR              so far, and 0.16 an hour by PricePlan "
		"datacentre; 1.24 expected for the whole run\n",
	};
	(void)state;
	struct json *j = json_new(1 << 20);
	struct buf out;
	buf_init(&out, 65536);
	explain_render(tree(j, text), NULL, 1795255800000, &plain, &out);
	for (size_t i = 0; i < COUNT(lines); i++)
		if (!strstr(buf_text(&out), lines[i]))
			fail_msg("no \"%s\" in\n%s", lines[i], buf_text(&out));
	buf_reset(&out);
	explain_render(tree(j, job_text), NULL, 1795255800000, &plain, &out);
	assert_null(strstr(buf_text(&out), "takes"));
	assert_null(strstr(buf_text(&out), "deadline"));
	assert_null(strstr(buf_text(&out), "cost"));
	json_free(j);
	buf_done(&out);
}

static void colours_come_only_when_asked_for(void **state)
{
	(void)state;
	struct json *j = json_new(1 << 20), *q = json_new(1 << 20);
	struct buf out;
	buf_init(&out, 65536);
	explain_render(tree(j, job_text), NULL, 0, &plain, &out);
	assert_null(strchr(buf_text(&out), '\033'));
	buf_reset(&out);
	struct explain_queues queues = queues_of(tree(q, queues_text));
	explain_render(tree(j, job_text), &queues, 0, &rich, &out);
	assert_non_null(strchr(buf_text(&out), '\033'));
	json_free(j);
	json_free(q);
	buf_done(&out);
}

/* Whatever answers at that address, it must not crash the one who asks. */
static void strange_answers_are_survived(void **state)
{
	(void)state;
	static const char *const texts[] = {"{}", "[]", "1", "{\"clusterQueues\":1}",
		"{\"clusterQueues\":[1,null,{}],\"localQueues\":[[],{\"name\":3}]}",
		"{\"clusterQueues\":[{\"metadata\":{\"name\":\"a\"},\"status\":{\"flavorsReservation\":[{\"resources\":[{}]}]}}],\"stuck\":[1,{}],\"report\":{\"clusterQueues\":[3]}}"};
	struct json *j = json_new(1 << 20);
	struct queue_filter f = {NULL, NULL}, g = {"a", "b"};
	for (size_t i = 0; i < COUNT(texts); i++) {
		struct buf out;
		const cJSON *root = tree(j, texts[i]);
		struct queue_answer a = answer_of(root);
		struct explain_queues queues = {.local = root, .cluster = root};
		buf_init(&out, 65536);
		queue_render_table(&a, &f, true, &rich, &out);
		queue_render_table(&a, &g, false, &plain, &out);
		queue_render_json(&a, &g, &out);
		explain_render(root, &queues, 0, &plain, &out);
		buf_done(&out);
	}
	json_free(j);
}

/* ---- cost ------------------------------------------------------------------------------------ */

static const char cost_text[] =
	"{\"by\":\"label\",\"label\":\"team\",\"since\":\"2026-10-22T10:00:00.000Z\",\"until\":"
	"\"2026-11-21T10:00:00.001Z\",\"leading\":true,\"more\":false,\"rows\":["
	"{\"currency\":\"EUR\",\"key\":\"red, "
	"\\\"big\\\"\",\"runs\":12,\"running\":1,\"runSeconds\":7325."
	"500,\"lostSeconds\":61.000,\"cost\":\"4.25\",\"runningCost\":\"1.25\"},"
	"{\"currency\":\"EUR\",\"key\":\"=1+1\",\"runs\":1,\"running\":0,\"runSeconds\":59.000,"
	"\"lostSeconds\":0.000,\"cost\":\"0.000001\",\"runningCost\":\"0.00\"},"
	"{\"currency\":null,\"key\":null,\"runs\":3,\"running\":0,\"runSeconds\":0.000,"
	"\"lostSeconds\":0.000}],\"totals\":["
	"{\"currency\":\"EUR\",\"runs\":13,\"running\":1,\"runSeconds\":7384.500,"
	"\"lostSeconds\":61.000,\"cost\":\"4.250001\",\"runningCost\":\"1.25\"},"
	"{\"currency\":null,\"runs\":3,\"running\":0,\"runSeconds\":0.000,"
	"\"lostSeconds\":0.000}]}";

static void cost_as_a_table_and_as_csv(void **state)
{
	(void)state;
	struct json *j = json_new(1 << 20);
	struct buf out;
	buf_init(&out, 8192);
	cost_render_table(tree(j, cost_text), &plain, &out);
	assert_string_equal(buf_text(&out),
		"team              ENDED  RUNNING  RUN TIME   COST  OF WHICH RUNNING  CURRENCY  POD TIME LOST\n"
		"red, \"big\"           12        1      2h2m   4.25              1.25  EUR                1m1s\n"
		"=1+1                  1        0       59s  <0.01                    EUR                  0s\n"
		"(none)                3        0        0s      -                                         0s\n"
		"total                13        1      2h3m   4.25              1.25  EUR                1m1s\n"
		"total (no price)      3        0        0s      -                                         0s\n");
	buf_reset(&out);
	cost_render_csv(tree(j, cost_text), &out);
	assert_string_equal(buf_text(&out),
		"team,currency,runs,running,run_seconds,cost,running_cost,lost_seconds,"
		"estimated_seconds,estimated_cost\r\n"
		"\"red, \"\"big\"\"\",EUR,12,1,7325.500,4.25,1.25,61.000,0.000,\r\n"
		"\"'=1+1\",EUR,1,0,59.000,0.000001,0.00,0.000,0.000,\r\n"
		",,3,0,0.000,,,0.000,0.000,\r\n");
	buf_reset(&out);
	cost_render_csv(
		tree(j, "{\"by\":\"user\",\"rows\":[{\"key\":\"\\u001b]0;x\\u0007\"}]}"), &out);
	assert_non_null(strstr(buf_text(&out), "\r\n\"?]0;x?\",,0,0,"));
	buf_reset(&out);
	cost_render_table(tree(j, "{\"by\":\"queue\",\"since\":\"A\",\"until\":\"B\",\"rows\":[],"
				  "\"totals\":[],\"more\":true,"
				  "\"note\":\"Of runs that ended by C ...\"}"),
		&plain, &out);
	assert_non_null(strstr(buf_text(&out), "No run started between A and B"));
	assert_non_null(strstr(buf_text(&out), "Only the most expensive rows"));
	assert_non_null(strstr(buf_text(&out), "Of runs that ended by C ...\n"));
	buf_done(&out);
	json_free(j);
}

/* Only where something is. */
static void cost_that_is_estimated_has_columns(void **state)
{
	static const char text[] =
		"{\"by\":\"queue\",\"leading\":true,\"more\":false,\"rows\":["
		"{\"currency\":\"EUR\",\"key\":\"a\",\"runs\":2,\"running\":0,\"runSeconds\":7200,"
		"\"lostSeconds\":0,\"cost\":\"4.25\",\"runningCost\":\"0.00\","
		"\"estimatedSeconds\":3600.000,\"estimatedCost\":\"1.25\"},"
		"{\"currency\":\"EUR\",\"key\":\"b\",\"runs\":1,\"running\":0,\"runSeconds\":60,"
		"\"lostSeconds\":0,\"cost\":\"1.00\",\"runningCost\":\"0.00\","
		"\"estimatedSeconds\":0.000,\"estimatedCost\":\"0.00\"},"
		"{\"currency\":null,\"key\":\"c\",\"runs\":1,\"running\":0,\"runSeconds\":30,"
		"\"lostSeconds\":0,\"estimatedSeconds\":30.000}],\"totals\":[]}";
	(void)state;
	struct json *j = json_new(1 << 20);
	struct buf out;
	buf_init(&out, 8192);
	cost_render_table(tree(j, text), &plain, &out);
	assert_string_equal(buf_text(&out),
		"QUEUE  ENDED  RUNNING  RUN TIME  COST  OF WHICH RUNNING  CURRENCY  POD TIME LOST  ESTIMATED  EST. COST\n"
		"a          2        0        2h  4.25                    EUR                  0s         1h       1.25\n"
		"b          1        0        1m  1.00                    EUR                  0s                      \n"
		"c          1        0       30s     -                                         0s        30s           \n"
		"ESTIMATED is run time of which the ledger lost the beginning or the end (docs/restore.md), EST. COST what it "
		"costs. RUN TIME and COST include them.\n");
	buf_reset(&out);
	cost_render_csv(tree(j, text), &out);
	assert_non_null(
		strstr(buf_text(&out), "a,EUR,2,0,7200.000,4.25,0.00,0.000,3600.000,1.25\r\n"));
	buf_done(&out);
	json_free(j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_that_is_wider_than_the_terminal_takes_several_rows),
		cmocka_unit_test(flags_may_stand_anywhere),
		cmocka_unit_test(an_old_name_is_found_and_not_listed),
		cmocka_unit_test(a_mistake_gets_a_sentence),
		cmocka_unit_test(columns_align_by_characters),
		cmocka_unit_test(a_bar_is_empty_or_full_only_when_it_is),
		cmocka_unit_test(queues_become_a_table),
		cmocka_unit_test(a_refused_localqueue_says_why),
		cmocka_unit_test(a_filter_shows_what_belongs_together),
		cmocka_unit_test(an_explanation_begins_with_its_sentence),
		cmocka_unit_test(a_job_that_the_controller_does_not_have_is_explained_by_itself),
		cmocka_unit_test(a_job_that_was_deleted_is_told_from_one_that_never_was),
		cmocka_unit_test(an_explanation_tells_what_was_done_last),
		cmocka_unit_test(jobs_that_are_stuck_or_stopping_are_told),
		cmocka_unit_test(an_explanation_tells_of_time_and_money),
		cmocka_unit_test(colours_come_only_when_asked_for),
		cmocka_unit_test(strange_answers_are_survived),
		cmocka_unit_test(cost_as_a_table_and_as_csv),
		cmocka_unit_test(cost_that_is_estimated_has_columns),
	};
	setenv("TZ", "UTC", 1);
	tzset();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
