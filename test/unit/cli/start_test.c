/* `sluice when`: what is said of each forecast, and how long it is waited for; what would change it. */
#include "test/unit/kube/test.h"

#include <time.h>

#include "cli/start/answer.h"
#include "cli/start/report.h"
#include "cli/start/variants.h"
#include "test/unit/kube/scripted_server.h"

#define NOW_MS 1795694400000 /* Thursday, 2026-11-26T12:00:00Z */
#define JOB(status)                                                                                \
	"{\"kind\":\"QueuedJob\",\"metadata\":{\"name\":\"train\",\"namespace\":\"team\"},"        \
	"\"status\":{" status "}}"
#define WAITS "\"state\":\"Waiting\",\"reason\":\"WaitingForQuota\",\"message\":\"needs 4 cpu\""
#define START(start) JOB(WAITS ",\"start\":{" start "}")
#define SURE                                                                                       \
	"\"draws\":16,\"asOf\":\"2026-11-26T11:59:48Z\",\"basis\":{\"runs\":64,\"arrivals\":310},"

static void zone(const char *name)
{
	setenv("TZ", name, 1);
	tzset();
}

static void render(const char *job, bool json, struct buf *out)
{
	struct json *tree = json_new(65536);
	const cJSON *root;
	struct err e = {""};
	buf_init(out, 65536);
	assert_int_equal(json_parse(tree, slice_of(job), &root, &e), 0);
	if (json)
		start_report_json(root, out);
	else
		start_report_render(root, NOW_MS, out);
	json_free(tree);
}

static void the_first_line_says_when(void **state)
{
	static const struct {
		const char *job, *line;
	} rows[] = {
		{START(SURE "\"p10\":\"2026-11-26T12:10:00Z\",\"p50\":\"2026-11-26T13:10:00Z\","
			    "\"p90\":\"2026-11-26T14:30:00Z\""),
			"Expected start 14:10 CET, 90 % sure by 15:30.\n"},
		{START(SURE "\"p50\":\"2026-12-01T13:10:00Z\",\"p90\":\"2026-12-01T14:30:00Z\""),
			"Expected start Tue 14:10 CET, 90 % sure by 15:30.\n"},
		{START(SURE "\"p50\":\"2026-12-01T22:50:00Z\",\"p90\":\"2026-12-01T23:30:00Z\""),
			"Expected start Tue 23:50 CET, 90 % sure by Wed 00:30.\n"},
		{START(SURE "\"p50\":\"2026-12-20T13:10:00Z\",\"p90\":\"2026-12-21T14:30:00Z\""),
			"Expected start 2026-12-20 14:10 CET, 90 % sure by 2026-12-21 15:30.\n"},
		/* Those of some moments ago. */
		{START(SURE "\"p50\":\"2026-11-26T11:59:59Z\",\"p90\":\"2026-11-26T14:30:00Z\""),
			"Expected to start any moment, 90 % sure by 15:30 CET.\n"},
		{START(SURE "\"p50\":\"2026-11-26T11:59:58Z\",\"p90\":\"2026-11-26T11:59:59Z\""),
			"Expected to start any moment.\n"},
		/* Not in all plays, and in none. */
		{START(SURE "\"p50\":\"2026-11-26T13:10:00Z\",\"misses\":3"),
			"Expected start 14:10 CET; in 3 of 16 simulations it did not start within 30 days.\n"},
		{START(SURE "\"p10\":\"2026-11-26T13:10:00Z\",\"misses\":10"),
			"Probably no start before 14:10 CET; in 10 of 16 simulations it did not start within 30 days.\n"},
		{START(SURE "\"misses\":15"),
			"A start is unlikely; in 15 of 16 simulations it did not start within 30 days.\n"},
		{START(SURE "\"misses\":16,\"waitsFor\":\"over quota, never fits\""),
			"No start expected within 30 days: over quota, never fits.\n"},
		{JOB(WAITS), "No forecast yet: ask again in a moment.\n"},
		{JOB("\"state\":\"Running\",\"message\":\"runs\""), "The Job is not waiting.\n"},
		{START("\"p50\":\"soon\\u001b[2J\""), "No start expected within 30 days.\n"},
	};
	(void)state;
	zone("CET-1CEST,M3.5.0,M10.5.0/3");
	for (size_t i = 0; i < ROWS(rows); i++) {
		struct buf out;
		render(rows[i].job, false, &out);
		if (strncmp(buf_text(&out), rows[i].line, strlen(rows[i].line)) != 0)
			fail_msg("no \"%s\" in\n%s", rows[i].line, buf_text(&out));
		buf_done(&out);
	}
}

static void what_must_be_changed_first_has_no_start_as_things_are(void **state)
{
	(void)state;
	struct buf out;
	render(START("\"draws\":16,\"misses\":16,\"reason\":\"NoNodeSuits\",\"waitsFor\":\"no fitting node\""),
		false, &out);
	assert_non_null(strstr(buf_text(&out), "No start as things are: no fitting node.\n"));
	buf_done(&out);
	render(START("\"draws\":16,\"misses\":16,\"reason\":\"WaitingForQuota\",\"waitsFor\":\"quota\""),
		false, &out);
	assert_non_null(strstr(buf_text(&out), "No start expected within 30 days: quota.\n"));
	buf_done(&out);
}

static void it_says_what_it_rests_on(void **state)
{
	(void)state;
	struct buf out;
	zone("UTC");
	render(START(SURE "\"p50\":\"2026-11-26T13:10:00Z\",\"p90\":\"2026-11-26T14:30:00Z\""),
		false, &out);
	assert_string_equal(buf_text(&out),
		"Expected start 13:10 UTC, 90 % sure by 14:30.\n\nneeds 4 cpu\n"
		"Simulated 16 times, with the queue as it was 12s ago. Run times are drawn from 64 earlier runs of all queues; "
		"new Jobs are assumed to arrive like the last 310 that came.\n");
	buf_done(&out);
	render(START("\"draws\":1,\"asOf\":\"2026-11-26T12:00:09Z\",\"p50\":\"2026-11-26T13:10:00Z\","
		     "\"basis\":{\"runs\":0,\"arrivals\":0}"),
		false, &out);
	assert_string_equal(buf_text(&out),
		"Expected start 13:10 UTC.\n\nneeds 4 cpu\n"
		"Simulated once, with the queue as it was 0s ago.\nNo run has ended yet, so each is assumed to last as "
		"long as its Job says, or one hour; Jobs that may still arrive are left out.\n");
	buf_done(&out);
}

/* Until it is released there is no start, and nothing was simulated for it. */
static void of_a_job_on_hold_is_said_how_to_release_it(void **state)
{
	static const char *const starts[] = {
		"", ",\"start\":{" SURE "\"misses\":16,\"waitsFor\":\"on hold\"}"};
	(void)state;
	for (size_t i = 0; i < ROWS(starts); i++) {
		struct buf job, out;
		buf_init(&job, 65536);
		buf_printf(&job,
			JOB("\"state\":\"Waiting\",\"reason\":\"OnHold\",\"message\":\"on hold: "
			    "wait for the new data; to queue it again: kubectl annotate -n team "
			    "job/train sluice.dev/hold-\"%s"),
			starts[i]);
		render(buf_text(&job), false, &out);
		assert_string_equal(buf_text(&out),
			"No start while it is on hold. To queue it again: sluice release job/train -n team\n\n"
			"on hold: wait for the new data\n");
		buf_done(&out);
		buf_done(&job);
	}
}

static void it_says_what_moved_it(void **state)
{
	(void)state;
	struct buf out;
	zone("UTC");
	render(START(SURE
		       "\"p50\":\"2026-11-26T15:40:00Z\",\"p90\":\"2026-11-26T17:00:00Z\","
		       "\"moved\":{\"from\":\"2026-11-26T14:10:00Z\",\"at\":\"2026-11-26T11:59:48Z\","
		       "\"why\":\"3 Jobs came that are expected to start before this one\"}"),
		false, &out);
	assert_non_null(strstr(buf_text(&out),
		"Expected start 15:40 UTC, 90 % sure by 17:00.\n"
		"Until 11:59 the expected start was 14:10. Since then: 3 Jobs came that are expected to start before this one.\n\n"));
	buf_done(&out);
}

static void of_a_controller_that_plays_none_nothing_is_awaited(void **state)
{
	(void)state;
	struct buf out;
	render(JOB(WAITS ",\"noForecasts\":true"), false, &out);
	assert_non_null(strstr(buf_text(&out), "simulates none (--forecasts off).\n"));
	buf_done(&out);
}

static void json_has_it_as_it_came(void **state)
{
	(void)state;
	struct buf out;
	render(START("\"draws\":16,\"p50\":\"2026-11-26T13:10:00Z\""), true, &out);
	assert_string_equal(buf_text(&out),
		"{\"namespace\":\"team\",\"name\":\"train\",\"state\":\"Waiting\",\"reason\":\"WaitingForQuota\","
		"\"message\":\"needs 4 cpu\",\"start\":{\"draws\":16,\"p50\":\"2026-11-26T13:10:00Z\"}}\n");
	buf_done(&out);
	render(JOB("\"state\":\"Running\""), true, &out);
	assert_non_null(strstr(buf_text(&out), "\"start\":null}"));
	buf_done(&out);
}

/* ---- how it is asked for ----------------------------------------------------------------------- */

static const struct {
	const char *name;
	struct {
		int status;
		const char *body;
	} answers[4];
	int rc;
	bool is_known;
	const char *says;
} cases[] = {
	{"at once", {{200, START("\"draws\":16")}}, 0, true, NULL},
	{"later", {{200, JOB(WAITS)}, {200, JOB(WAITS)}, {200, START("\"draws\":16")}}, 0, true,
		NULL},
	{"never", {{200, JOB(WAITS)}, {200, JOB(WAITS)}, {200, JOB(WAITS)}}, 0, false, NULL},
	{"never, as it is off", {{200, JOB(WAITS ",\"noForecasts\":true")}}, 0, false, NULL},
	{"it runs", {{200, JOB("\"state\":\"Running\"")}}, 0, false, NULL},
	{"it starts meanwhile", {{200, JOB(WAITS)}, {200, JOB("\"state\":\"Starting\"")}}, 0, false,
		NULL},
	{"no such Job",
		{{404, "{\"kind\":\"Status\",\"reason\":\"NotFound\",\"message\":\"not found\"}"}},
		ERR_GONE, false,
		"no Job train is queued in namespace team (another namespace: -n); sluice explain job/train"},
};

static void it_is_asked_for_until_it_is_known(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROWS(cases); i++) {
		struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO);
		struct scripted_server *server = scripted_server_new(loop);
		struct kube_config *config = config_for(scripted_server_url(server), NULL);
		struct kube_client *client = question_client(loop, config);
		struct json *json = json_new(65536);
		const struct start_question q = {"team", "train", 2, 1};
		const cJSON *job;
		struct err e = {""};
		for (size_t a = 0; cases[i].answers[a].status; a++)
			script_answer(
				scripted_server_expect(server,
					"GET /apis/visibility.sluice.dev/v1alpha1/namespaces/team/queuedjobs/train "),
				cases[i].answers[a].status, "", cases[i].answers[a].body);
		assert_int_equal(start_answer_get(loop, client, &q, json, &job, &e), cases[i].rc);
		assert_int_equal(scripted_server_unexpected(server), 0);
		assert_int_equal(scripted_server_unused(server), 0);
		if (cases[i].rc == 0)
			assert_int_equal(json_object(json_object(job, "status"), "start") != NULL,
				cases[i].is_known);
		if (cases[i].says)
			assert_non_null(strstr(e.text, cases[i].says));
		json_free(json);
		kube_client_free(client);
		scripted_server_free(server);
		kube_config_free(config);
		ev_loop_destroy(loop);
	}
}

/* ---- what would change it ---------------------------------------------------------------------- */

#define REVIEW(variants)                                                                            \
	"{\"kind\":\"StartReview\",\"metadata\":{\"name\":\"train-8\",\"namespace\":\"team\"},"     \
	"\"status\":{\"asOf\":\"2026-11-26T11:59:57Z\",\"draws\":4,\"start\":{"                     \
	"\"p50\":\"2026-11-26T13:10:00Z\",\"p90\":\"2026-11-26T14:30:00Z\",\"misses\":0}," variants \
	"}}"
#define VARIANT(change, to, text, gain)                                                            \
	"{\"change\":\"" change "\",\"to\":\"" to "\",\"text\":\"" text "\"," gain "}"
#define EARLIER(seconds) "\"earlierSeconds\":" #seconds

static const char all_variants[] = REVIEW("\"variants\":[" VARIANT("PriorityClass", "high",
	"with class high",
	"\"starts\":true,\"start\":{\"p50\":\"2026-11-26T12:30:00Z\"}") "," VARIANT("Pods", "8",
	"with 8 pods instead of 16", EARLIER(2400)) "," VARIANT("Toleration", "spot",
	"with a toleration for the taints of flavor spot",
	EARLIER(600)) "," VARIANT("LocalQueue", "night", "in LocalQueue night",
	EARLIER(90)) "," VARIANT("ExpectedDuration", "2h", "with an expected duration of 2h",
	EARLIER(7800)) "," VARIANT("NodeLabels", "gpu", "in flavor gpu",
	EARLIER(30)) "," VARIANT("MaxPrice", "2.75 nvidia.com/gpu", "with a price limit of 2.75",
	EARLIER(0)) "," VARIANT("LocalQueue", "day", "in LocalQueue day",
	EARLIER(-300)) "],"
		       "\"notPlayed\":[{\"change\":\"PriorityClass\",\"text\":\"a higher class: there is none\"}]");

static void render_review(const char *review, bool json, struct buf *out)
{
	const struct style style = {false, false};
	struct json *tree = json_new(65536);
	const cJSON *root;
	struct err e = {""};
	buf_init(out, 65536);
	assert_int_equal(json_parse(tree, slice_of(review), &root, &e), 0);
	if (json)
		start_variants_json(root, out);
	else
		start_variants_render(root, NOW_MS, &style, out);
	json_free(tree);
}

static void says(const struct buf *out, const char *part)
{
	if (!strstr(buf_text(out), part))
		fail_msg("no \"%s\" in\n%s", part, buf_text(out));
}

static void what_helps_is_told_with_its_command(void **state)
{
	(void)state;
	struct buf out;
	zone("UTC");
	render_review(all_variants, false, &out);
	says(&out,
		"Expected start 13:10 UTC, 90 % sure by 14:30. (By its own simulations: sluice when may tell another time.)\n\n");
	says(&out, "starts 12:30 with class high");
	says(&out, " sluice priority job/train-8 high -n team\n");
	says(&out, "40m earlier with 8 pods instead of 16 ");
	says(&out,
		" kubectl patch job train-8 -n team --type merge -p '{\"spec\":{\"parallelism\":8}}'\n");
	says(&out, "10m earlier with a toleration for the taints of flavor spot");
	says(&out, "spec.nodeTaints of kubectl get resourceflavors.sluice.dev spot -o yaml");
	says(&out, "1m30s earlier in LocalQueue night");
	says(&out, " sluice move job/train-8 --queue night -n team\n");
	says(&out, "2h10m earlier with an expected duration of 2h");
	says(&out,
		" kubectl annotate job train-8 -n team --overwrite 'sluice.dev/expected-duration=2h'   # only if it takes no longer\n");
	says(&out, "30s earlier in flavor gpu");
	says(&out, "spec.nodeLabels of kubectl get resourceflavors.sluice.dev gpu -o yaml");
	says(&out, "\nNot earlier: with a price limit of 2.75; in LocalQueue day.\n");
	says(&out, "\nNot tried: a higher class: there is none.\n");
	says(&out,
		"\nSimulated 4 times each, with the queue as it was 3s ago. Nothing was changed.\n");
	buf_done(&out);
}

static void where_nothing_helps_one_line_says_what_was_tried(void **state)
{
	(void)state;
	struct buf out;
	zone("UTC");
	render_review(REVIEW("\"variants\":[" VARIANT("Pods", "8", "with 8 pods instead of 16",
			      EARLIER(0)) "," VARIANT("LocalQueue", "day", "in LocalQueue day",
			      EARLIER(-1)) "]"),
		false, &out);
	assert_string_equal(buf_text(&out),
		"Expected start 13:10 UTC, 90 % sure by 14:30. (By its own simulations: sluice when may tell another time.)\n\n"
		"Tried without gain: with 8 pods instead of 16; in LocalQueue day.\n\n"
		"Simulated 4 times each, with the queue as it was 3s ago. Nothing was changed.\n");
	buf_done(&out);
	render_review(REVIEW("\"variants\":[]"), false, &out);
	says(&out, "There is no change to try that could start the Job earlier.\n");
	buf_done(&out);
}

static void of_a_job_on_hold_no_change_is_told(void **state)
{
	(void)state;
	struct buf out;
	render_review(
		"{\"kind\":\"StartReview\",\"metadata\":{\"name\":\"train-8\",\"namespace\":"
		"\"team\"},\"status\":{\"draws\":4,\"start\":{\"draws\":4,\"misses\":4,\"reason\":"
		"\"OnHold\",\"waitsFor\":\"on hold\"},\"variants\":[" VARIANT(
			"Pods", "8", "with 8 pods", EARLIER(0)) "]}}",
		false, &out);
	assert_string_equal(buf_text(&out),
		"No start while it is on hold. To queue it again: sluice release job/train-8 -n team\n");
	buf_done(&out);
}

/* What is printed is pasted into a shell. */
static void a_command_has_plain_names_only(void **state)
{
	(void)state;
	static const char *const texts[] = {
		VARIANT("LocalQueue", "a;reboot", "x", EARLIER(60)),
		VARIANT("PriorityClass", "$(reboot)", "x", EARLIER(60)),
		VARIANT("Pods", "8}}' ; reboot", "x", EARLIER(60)),
		VARIANT("Pods", "", "x", EARLIER(60)),
		VARIANT("MaxPrice", "2'", "x", EARLIER(60)),
		VARIANT("ExpectedDuration", "2h\\u000areboot", "x", EARLIER(60)),
		VARIANT("Toleration", "`reboot`", "x", EARLIER(60)),
		VARIANT("Telepathy", "x", "x", EARLIER(60)),
		"{}",
	};
	struct json *tree = json_new(65536);
	struct buf out;
	buf_init(&out, 4096);
	for (size_t i = 0; i < ROWS(texts); i++) {
		const cJSON *root;
		assert_int_equal(json_parse(tree, slice_of(texts[i]), &root, NULL), 0);
		assert_false(start_variants_cure(root, "team", "train", &out));
		assert_int_equal(out.len, 0);
	}
	const cJSON *good;
	assert_int_equal(
		json_parse(tree, slice_of(VARIANT("Pods", "8", "x", EARLIER(60))), &good, NULL), 0);
	assert_false(start_variants_cure(good, "team;", "train", &out));
	assert_false(start_variants_cure(good, "team", "--all", &out));
	assert_true(start_variants_cure(good, "team", "train", &out));
	buf_done(&out);
	json_free(tree);
}

static void a_review_in_json_has_all_of_its_status(void **state)
{
	(void)state;
	struct buf out;
	render_review(REVIEW("\"variants\":[]"), true, &out);
	assert_string_equal(buf_text(&out),
		"{\"namespace\":\"team\",\"name\":\"train-8\",\"asOf\":\"2026-11-26T11:59:57Z\",\"draws\":4,"
		"\"start\":{\"p50\":\"2026-11-26T13:10:00Z\",\"p90\":\"2026-11-26T14:30:00Z\",\"misses\":0},"
		"\"variants\":[]}\n");
	buf_done(&out);
}

#define STATUS(reason, message)                                                                    \
	"{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"" reason                         \
	"\",\"message\":\"" message "\"}"
#define NO_RIGHT                                                                                    \
	"queuedjobs.visibility.sluice.dev \\\"train\\\" is forbidden: User \\\"bob\\\" cannot get " \
	"resource \\\"queuedjobs/start\\\""

static const struct {
	int status;
	const char *body;
	int rc;
	const char *says;
} reviews[] = {
	{200, REVIEW("\"variants\":[]"), 0, NULL},
	{404, STATUS("NotFound", "queuedjobs \\\"train\\\" not found"), ERR_GONE,
		"no Job train is queued in namespace team (another namespace: -n); sluice explain job/train"},
	{404, STATUS("NotFound", "the server could not find the requested resource"), ERR_BUSY,
		"has no queuedjobs/start: its controller is older than this sluice. Update it"},
	{404, "404 page not found", ERR_BUSY, "does not serve the API visibility.sluice.dev"},
	{409, STATUS("Conflict", "Job train does not wait: it runs"), ERR_INVALID,
		"Job train does not wait: it runs"},
	{429, STATUS("TooManyRequests", "4 reviews wait: ask again in 20 s"), ERR_BUSY,
		"4 reviews wait: ask again in 20 s"},
	{503, STATUS("ServiceUnavailable", "c-2 is a standby; c-1 leads"), ERR_BUSY,
		"c-2 is a standby; c-1 leads"},
	{503, "service unavailable", ERR_BUSY, "does not answer (status 503)"},
	{504, STATUS("Timeout", "request timed out"), ERR_BUSY,
		"does not answer (status 504: request timed out)"},
};

static void ask_for_review(int status, const char *body, int rc, const char *part)
{
	struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO);
	struct scripted_server *server = scripted_server_new(loop);
	struct kube_config *config = config_for(scripted_server_url(server), NULL);
	struct kube_client *client = question_client(loop, config);
	struct json *json = json_new(65536);
	const struct start_question q = {"team", "train", 2, 1};
	const cJSON *review;
	struct err e = {""};
	for (int n = 0; n < (status == 429 ? 3 : 1); n++) /* as q says */
		script_answer(
			scripted_server_expect(server,
				"GET /apis/visibility.sluice.dev/v1alpha1/namespaces/team/queuedjobs/train/start "),
			status, "", body);
	if (status == 403)
		script_answer(scripted_server_expect(server, "GET /apis/visibility.sluice.dev "),
			200, "", "{}");
	assert_int_equal(start_review_get(loop, client, &q, json, &review, &e), rc);
	assert_int_equal(scripted_server_unexpected(server), 0);
	assert_int_equal(scripted_server_unused(server), 0);
	if (part && !strstr(e.text, part))
		fail_msg("status %d: no \"%s\" in \"%s\"", status, part, e.text);
	json_free(json);
	kube_client_free(client);
	scripted_server_free(server);
	kube_config_free(config);
	ev_loop_destroy(loop);
}

static void each_answer_to_a_review_has_a_sentence(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROWS(reviews); i++)
		ask_for_review(reviews[i].status, reviews[i].body, reviews[i].rc, reviews[i].says);
	ask_for_review(403, STATUS("Forbidden", NO_RIGHT), ERR_DENIED,
		"you may not get queuedjobs/start.visibility.sluice.dev in namespace team. An admin gives you the right: kubectl create rolebinding sluice-bob -n team --clusterrole=sluice-batch-user --user=bob");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_line_says_when),
		cmocka_unit_test(what_must_be_changed_first_has_no_start_as_things_are),
		cmocka_unit_test(it_says_what_it_rests_on),
		cmocka_unit_test(of_a_job_on_hold_is_said_how_to_release_it),
		cmocka_unit_test(it_says_what_moved_it),
		cmocka_unit_test(of_a_controller_that_plays_none_nothing_is_awaited),
		cmocka_unit_test(json_has_it_as_it_came),
		cmocka_unit_test(it_is_asked_for_until_it_is_known),
		cmocka_unit_test(what_helps_is_told_with_its_command),
		cmocka_unit_test(where_nothing_helps_one_line_says_what_was_tried),
		cmocka_unit_test(of_a_job_on_hold_no_change_is_told),
		cmocka_unit_test(a_command_has_plain_names_only),
		cmocka_unit_test(a_review_in_json_has_all_of_its_status),
		cmocka_unit_test(each_answer_to_a_review_has_a_sentence),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
