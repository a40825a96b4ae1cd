/* `sluice start`: what is said of each forecast, and how long it is waited for. */
#include "test/unit/kube/test.h"

#include <time.h>

#include "cli/start/answer.h"
#include "cli/start/report.h"
#include "test/unit/kube/scripted_server.h"

#define NOW_MS 1795694400000 /* Thursday, 2026-11-26T12:00:00Z */
#define JOB(status)                                                                                \
	"{\"kind\":\"QueuedJob\",\"metadata\":{\"name\":\"train\",\"namespace\":\"team\"},"        \
	"\"status\":{" status "}}"
#define WAITS                                                                                      \
	"\"state\":\"Waiting\",\"reason\":\"WaitingForQuota\",\"message\":\"waiting for 4 cpu\""
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
			"14:10 CET; by 15:30 with 90 %\n"},
		{START(SURE "\"p50\":\"2026-12-01T13:10:00Z\",\"p90\":\"2026-12-01T14:30:00Z\""),
			"Tue 14:10 CET; by 15:30 with 90 %\n"},
		{START(SURE "\"p50\":\"2026-12-01T22:50:00Z\",\"p90\":\"2026-12-01T23:30:00Z\""),
			"Tue 23:50 CET; by Wed 00:30 with 90 %\n"},
		{START(SURE "\"p50\":\"2026-12-20T13:10:00Z\",\"p90\":\"2026-12-21T14:30:00Z\""),
			"2026-12-20 14:10 CET; by 2026-12-21 15:30 with 90 %\n"},
		/* Those of some moments ago. */
		{START(SURE "\"p50\":\"2026-11-26T11:59:59Z\",\"p90\":\"2026-11-26T14:30:00Z\""),
			"any moment now; by 15:30 CET with 90 %\n"},
		{START(SURE "\"p50\":\"2026-11-26T11:59:58Z\",\"p90\":\"2026-11-26T11:59:59Z\""),
			"any moment now\n"},
		/* Not in all plays, and in none. */
		{START(SURE "\"p50\":\"2026-11-26T13:10:00Z\",\"misses\":3"),
			"14:10 CET; not within 30 days in 3 of 16 plays\n"},
		{START(SURE "\"p10\":\"2026-11-26T13:10:00Z\",\"misses\":10"),
			"hardly before 14:10 CET; not within 30 days in 10 of 16 plays\n"},
		{START(SURE "\"misses\":15"), "hardly; not within 30 days in 15 of 16 plays\n"},
		{START(SURE "\"misses\":16,\"waitsFor\":\"more quota than there is\""),
			"not within 30 days, as things are: it waits for more quota than there is\n"},
		{JOB(WAITS), "not known yet; ask again in a moment\n"},
		{JOB("\"state\":\"Running\",\"message\":\"runs\""), "it does not wait\n"},
		{START("\"p50\":\"soon\\u001b[2J\""), "not within 30 days, as things are\n"},
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

static void it_says_what_it_rests_on(void **state)
{
	(void)state;
	struct buf out;
	zone("UTC");
	render(START(SURE "\"p50\":\"2026-11-26T13:10:00Z\",\"p90\":\"2026-11-26T14:30:00Z\""),
		false, &out);
	assert_string_equal(buf_text(&out),
		"13:10 UTC; by 14:30 with 90 %\n\nwaiting for 4 cpu\n"
		"By 16 plays of the queue as it was 12 s ago. How long runs take is learned from 64 that ended; "
		"Jobs keep coming as 310 did lately.\n");
	buf_done(&out);
	render(START("\"draws\":1,\"asOf\":\"2026-11-26T12:00:09Z\",\"p50\":\"2026-11-26T13:10:00Z\","
		     "\"basis\":{\"runs\":0,\"arrivals\":0}"),
		false, &out);
	assert_string_equal(buf_text(&out),
		"13:10 UTC\n\nwaiting for 4 cpu\n"
		"By 1 play of the queue as it was 0 s ago. No run has ended yet: each takes as long as was "
		"asked for, else an hour; Jobs that are to come are left out.\n");
	buf_done(&out);
}

static void it_says_what_moved_it(void **state)
{
	(void)state;
	struct buf out;
	zone("UTC");
	render(START(SURE
		       "\"p50\":\"2026-11-26T15:40:00Z\",\"p90\":\"2026-11-26T17:00:00Z\","
		       "\"moved\":{\"from\":\"2026-11-26T14:10:00Z\",\"at\":\"2026-11-26T11:59:48Z\","
		       "\"why\":\"3 Jobs came that start before it\"}"),
		false, &out);
	assert_non_null(strstr(buf_text(&out),
		"15:40 UTC; by 17:00 with 90 %\n"
		"was 14:10 UTC until 11:59; since: 3 Jobs came that start before it\n\n"));
	buf_done(&out);
}

static void of_a_controller_that_plays_none_nothing_is_awaited(void **state)
{
	(void)state;
	struct buf out;
	render(JOB(WAITS ",\"noForecasts\":true"), false, &out);
	assert_non_null(strstr(buf_text(&out), "makes no forecasts (--forecasts off)\n"));
	buf_done(&out);
}

static void json_has_it_as_it_came(void **state)
{
	(void)state;
	struct buf out;
	render(START("\"draws\":16,\"p50\":\"2026-11-26T13:10:00Z\""), true, &out);
	assert_string_equal(buf_text(&out),
		"{\"namespace\":\"team\",\"name\":\"train\",\"state\":\"Waiting\",\"reason\":\"WaitingForQuota\","
		"\"message\":\"waiting for 4 cpu\",\"start\":{\"draws\":16,\"p50\":\"2026-11-26T13:10:00Z\"}}\n");
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
		"no Job train is queued in namespace team; sluice explain job/train"},
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_line_says_when),
		cmocka_unit_test(it_says_what_it_rests_on),
		cmocka_unit_test(it_says_what_moved_it),
		cmocka_unit_test(of_a_controller_that_plays_none_nothing_is_awaited),
		cmocka_unit_test(json_has_it_as_it_came),
		cmocka_unit_test(it_is_asked_for_until_it_is_known),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
