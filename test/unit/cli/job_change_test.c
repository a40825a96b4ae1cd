/* `sluice move`, `sluice priority` and `sluice nice`: what is refused, what is written, and what is said of it. */
#include "test/unit/kube/test.h"

#include "cli/move.h"
#include "cli/nice.h"
#include "cli/priority.h"
#include "test/unit/kube/scripted_server.h"

#define JOB(labels, more, spec, status)                                                            \
	"{\"metadata\":{\"name\":\"train\",\"namespace\":\"team\",\"uid\":\"u1\",\"labels\":{"     \
	"\"x\":\"y\"" labels "}" more "},\"spec\":{" spec "},\"status\":{" status "}}"
#define QUEUED ",\"sluice.dev/queue-name\":\"main\",\"sluice.dev/priority-class\":\"low\""
#define WAITS "\"suspend\":true"
#define HELD ",\"annotations\":{\"sluice.dev/hold\":\"yes\"}"
#define WAITING JOB(QUEUED, "", WAITS, "")
#define RUNNING JOB(QUEUED, "", "", "\"active\":2")
#define OVER "\"conditions\":[{\"type\":\"Complete\",\"status\":\"True\"}]"
#define GET_JOB "GET /apis/batch/v1/namespaces/team/jobs/train "
#define GET_QUEUE "GET /apis/sluice.dev/v1alpha1/namespaces/team/localqueues/night "
#define GET_CLASS "GET /apis/sluice.dev/v1alpha1/workloadpriorityclasses/high "
#define GET_PLACE "GET /apis/visibility.sluice.dev/v1alpha1/namespaces/team/queuedjobs/train "
#define ACTIVE "{\"status\":{\"conditions\":[{\"type\":\"Active\",\"status\":\"True\"}]}}"
#define INACTIVE                                                                                   \
	"{\"status\":{\"conditions\":[{\"type\":\"Active\",\"status\":\"False\",\"message\":"      \
	"\"it is stopped\"}]}}"
#define PLACE(queue, priorities, status)                                                           \
	"{\"spec\":{\"queue\":\"" queue "\"" priorities "},\"status\":{" status "}}"
#define IN_LINE(position) "\"state\":\"Waiting\",\"position\":" position
#define NOT_FOUND                                                                                  \
	"{\"kind\":\"Status\",\"reason\":\"NotFound\",\"message\":\"not found\",\"code\":404}"

struct stage {
	struct ev_loop *loop;
	struct scripted_server *server;
	struct kube_config *config;
	struct kube_client *client;
	struct buf out;
	struct err e;
};

static void open_stage(struct stage *s)
{
	*s = (struct stage){.loop = ev_loop_new(EVFLAG_AUTO)};
	s->server = scripted_server_new(s->loop);
	s->config = config_for(scripted_server_url(s->server), NULL);
	s->client = kube_client_new(s->loop, s->config, &(struct kube_client_options){0});
	buf_init(&s->out, 1 << 16);
}

static void close_stage(struct stage *s)
{
	assert_int_equal(scripted_server_unexpected(s->server), 0);
	assert_int_equal(scripted_server_unused(s->server), 0);
	buf_done(&s->out);
	kube_client_free(s->client);
	kube_config_free(s->config);
	scripted_server_free(s->server);
	ev_loop_destroy(s->loop);
}

static void answer(struct stage *s, const char *line, int status, const char *body)
{
	script_answer(scripted_server_expect(s->server, line), status, "", body);
}

static int make(struct stage *s, const struct job_change *change, struct job_options *options)
{
	struct job_asked a = {s->loop, s->client, "team", "train", NULL};
	return job_change_make(change, &a, options, &s->out, &s->e);
}

static int move_to(struct stage *s, const char *queue)
{
	struct move m = {.of.value = queue};
	return make(s, &move_change, &m.of);
}

static int give_priority(struct stage *s, const char *class_name)
{
	struct priority_change p = {.of.value = class_name};
	return make(s, &priority_change, &p.of);
}

static void wrote(struct stage *s, const char *labels)
{
	for (size_t i = 0; i < scripted_server_count(s->server); i++) {
		const struct scripted_request *r = scripted_server_request(s->server, i);
		if (strncmp(r->line, "PATCH ", 6) != 0)
			continue;
		assert_non_null(strstr(r->head, "application/merge-patch+json"));
		assert_non_null(strstr(r->body, "\"uid\":\"u1\""));
		assert_non_null(strstr(r->body, labels));
		return;
	}
	fail_msg("nothing was written");
}

/* ---- move ------------------------------------------------------------------------------------ */

static const struct refusal {
	const char *job, *says;
} refusals[] = {
	{RUNNING,
		"runs and holds quota of LocalQueue main, so it cannot be moved; stop it first (sluice "
		"hold job/train -n team), move it when its last pod is gone, then sluice release"},
	{JOB(QUEUED, HELD, WAITS, "\"terminating\":1"),
		"until its last pod is gone (1 is left), so it cannot be moved yet; try again then: "
		"sluice move job/train -n team --queue night"},
	{JOB(QUEUED, "", WAITS, OVER), "has ended: it cannot be moved"},
	{JOB(QUEUED, ",\"deletionTimestamp\":\"2026-11-26T11:00:00Z\"", WAITS, ""),
		"is being deleted: it cannot be moved"},
	{JOB("", "", WAITS, ""), "is in no queue"},
	{JOB(",\"sluice.dev/queue-name\":\"night\"", "", WAITS, ""),
		"is in LocalQueue night already"},
};

static void what_cannot_be_moved(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROWS(refusals); i++) {
		struct stage s;
		open_stage(&s);
		answer(&s, GET_JOB, 200, refusals[i].job);
		assert_int_equal(move_to(&s, "night"), ERR_INVALID);
		if (!strstr(s.e.text, refusals[i].says))
			fail_msg("%s", s.e.text);
		close_stage(&s);
	}
}

static void what_is_not_there_is_said(void **state)
{
	struct stage s;
	(void)state;
	open_stage(&s);
	answer(&s, GET_JOB, 404, NOT_FOUND);
	assert_int_equal(move_to(&s, "night"), ERR_GONE);
	assert_string_equal(s.e.text, "there is no Job train in namespace team");
	answer(&s, GET_JOB, 200, WAITING);
	answer(&s, GET_QUEUE, 404, NOT_FOUND);
	assert_int_equal(move_to(&s, "night"), ERR_GONE);
	assert_non_null(strstr(s.e.text, "there is no LocalQueue night in namespace team"));
	close_stage(&s);
}

/* The first answer is of the time before. */
static void a_job_is_moved_and_told_its_place(void **state)
{
	struct stage s;
	(void)state;
	open_stage(&s);
	answer(&s, GET_JOB, 200, WAITING);
	answer(&s, GET_QUEUE, 200, ACTIVE);
	answer(&s, "PATCH /apis/batch/v1/namespaces/team/jobs/train ", 200, "{}");
	answer(&s, GET_PLACE, 200, PLACE("main", "", IN_LINE("9")));
	answer(&s, GET_PLACE, 200, PLACE("night", "", IN_LINE("4")));
	assert_int_equal(move_to(&s, "night"), 0);
	wrote(&s, "\"labels\":{\"sluice.dev/queue-name\":\"night\"}");
	assert_string_equal(buf_text(&s.out),
		"Job train is moved to LocalQueue night: it has its place there by its time of queueing, 3 Jobs are "
		"ahead of it\n");
	close_stage(&s);
}

static const struct place_row {
	const char *status, *says;
} places[] = {
	{IN_LINE("1"), "time of queueing, and is the next in line\n"},
	{IN_LINE("2"), "time of queueing, 1 Job is ahead of it\n"},
	{"\"state\":\"Waiting\",\"waitsFor\":\"its window\"",
		"time of queueing; it waits (its window)\n"},
	{"\"state\":\"Starting\"", "time of queueing; it is starting\n"},
	{"\"state\":\"Deleting\"", "time of queueing\n"},
};

static void its_place_may_be_another(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROWS(places); i++) {
		struct stage s;
		char place[512];
		open_stage(&s);
		snprintf(place, sizeof(place), "{\"spec\":{\"queue\":\"night\"},\"status\":{%s}}",
			places[i].status);
		answer(&s, GET_JOB, 200, WAITING);
		answer(&s, GET_QUEUE, 403, "{}"); /* it may not be read */
		answer(&s, "PATCH ", 200, "{}");
		answer(&s, GET_PLACE, 200, place);
		assert_int_equal(move_to(&s, "night"), 0);
		if (!strstr(buf_text(&s.out), places[i].says))
			fail_msg("%s", buf_text(&s.out));
		close_stage(&s);
	}
}

/* The API is not there; the queue is stopped; the Job is on hold. */
static void less_is_said_where_less_is_known(void **state)
{
	struct stage s;
	(void)state;
	open_stage(&s);
	answer(&s, GET_JOB, 200, WAITING);
	answer(&s, GET_QUEUE, 200, INACTIVE);
	answer(&s, "PATCH ", 200, "{}");
	answer(&s, GET_PLACE, 404, "404 page not found");
	assert_int_equal(move_to(&s, "night"), 0);
	assert_non_null(strstr(buf_text(&s.out),
		"by its time of queueing; nothing starts there now: it is stopped\n"));
	buf_reset(&s.out);
	answer(&s, GET_JOB, 200, JOB(QUEUED, HELD, WAITS, ""));
	answer(&s, GET_QUEUE, 200, ACTIVE);
	answer(&s, "PATCH ", 200, "{}");
	assert_int_equal(move_to(&s, "night"), 0);
	assert_non_null(strstr(buf_text(&s.out),
		"it stays on hold there; to queue it: sluice release job/train -n team\n"));
	close_stage(&s);
}

/* A policy of the admin's, say. */
static void what_the_api_server_refuses_is_passed_on(void **state)
{
	struct stage s;
	(void)state;
	open_stage(&s);
	answer(&s, GET_JOB, 200, WAITING);
	answer(&s, GET_QUEUE, 200, ACTIVE);
	answer(&s, "PATCH ", 403,
		"{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"Forbidden\",\"code\":403,"
		"\"message\":\"not into that queue\"}");
	assert_int_equal(move_to(&s, "night"), ERR_DENIED);
	assert_non_null(strstr(s.e.text, "not into that queue"));
	assert_string_equal(buf_text(&s.out), "");
	close_stage(&s);
}

/* ---- priority -------------------------------------------------------------------------------- */

static const struct priority_row {
	const char *job, *place, *says;
} priorities[] = {
	{WAITING, PLACE("main", ",\"priority\":1000", IN_LINE("1")),
		"Job train has WorkloadPriorityClass high (1000): it is queued by that priority from now "
		"on, and is the next in line\n"},
	{WAITING, PLACE("main", ",\"priority\":100,\"claimedPriority\":1000", IN_LINE("3")),
		"from now on, 2 Jobs are ahead of it; its ClusterQueue counts it as 100\n"},
	{RUNNING, PLACE("main", ",\"priority\":1000", "\"state\":\"Running\""),
		"(1000): it keeps running; from now on this priority decides whether it is stopped for waiting "
		"Jobs, and its place when it waits again\n"},
	{JOB(QUEUED, HELD, WAITS, ""),
		PLACE("main", ",\"priority\":1000", "\"state\":\"Waiting\",\"waitsFor\":\"x\""),
		"(1000): it stays on hold; to queue it: sluice release job/train -n team\n"},
};

static void a_job_gets_another_class(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROWS(priorities); i++) {
		struct stage s;
		open_stage(&s);
		answer(&s, GET_JOB, 200, priorities[i].job);
		answer(&s, GET_CLASS, 200, "{\"value\":1000}");
		answer(&s, "PATCH ", 200, "{}");
		answer(&s, GET_PLACE, 200, priorities[i].place);
		assert_int_equal(give_priority(&s, "high"), 0);
		wrote(&s, "\"labels\":{\"sluice.dev/priority-class\":\"high\"}");
		if (!strstr(buf_text(&s.out), priorities[i].says))
			fail_msg("%s", buf_text(&s.out));
		close_stage(&s);
	}
}

static void a_class_that_is_not_to_be_had(void **state)
{
	struct stage s;
	(void)state;
	open_stage(&s);
	answer(&s, GET_JOB, 200, WAITING);
	answer(&s, GET_CLASS, 404, NOT_FOUND);
	assert_int_equal(give_priority(&s, "high"), ERR_GONE);
	assert_non_null(strstr(s.e.text, "there is no WorkloadPriorityClass high"));
	answer(&s, GET_JOB, 200, WAITING);
	assert_int_equal(give_priority(&s, "low"), ERR_INVALID);
	assert_non_null(strstr(s.e.text, "has WorkloadPriorityClass low already"));
	answer(&s, GET_JOB, 200, JOB("", "", WAITS, ""));
	assert_int_equal(give_priority(&s, "high"), ERR_INVALID);
	answer(&s, GET_JOB, 200, WAITING);
	answer(&s, GET_CLASS, 500, "{}");
	assert_true(give_priority(&s, "high") < 0); /* and nothing is written */
	answer(&s, GET_JOB, 200, WAITING);
	answer(&s, GET_CLASS, 403, "{}");
	assert_int_equal(give_priority(&s, "high"), ERR_DENIED); /* nor here */
	assert_non_null(strstr(s.e.text, "it is not known whether there is a class high"));
	close_stage(&s);
}

/* ---- nice ------------------------------------------------------------------------------------ */

#define GET_JOBS                                                                                   \
	"GET /apis/batch/v1/namespaces/team/"                                                      \
	"jobs?limit=500&labelSelector=sluice.dev%2Fqueue-name%3Dmain "
#define MADE(at) ",\"creationTimestamp\":\"2026-11-26T11:00:0" at "Z\""
#define BY(user, more) ",\"annotations\":{\"sluice.dev/submitted-by\":\"" user "\"" more "}"
#define NICE(n) ",\"sluice.dev/nice\":\"" n "\""
#define ALICES MADE("5") BY("alice", "")
#define OTHER(name, at, user, more, spec)                                                          \
	"{\"metadata\":{\"name\":\"" name                                                          \
	"\",\"labels\":{\"sluice.dev/priority-class\":\"low\"}" MADE(at)                           \
		BY(user, more) "},\"spec\":{" spec "}}"
#define LIST(items) "{\"items\":[" items "]}"
/* Of six others three are hers, and wait, with the same priority. */
#define OTHERS                                                                                     \
	LIST(OTHER("old", "1", "alice", "", WAITS) "," OTHER("bobs", "2", "bob", "",               \
		WAITS) "," OTHER("low", "3", "alice", NICE("-3"), WAITS) "," OTHER("runs", "4",    \
		"alice", "", "") "," OTHER("new", "8", "alice", "", WAITS) "," OTHER("high", "1",  \
		"alice", "", WAITS ",\"template\":{\"spec\":{\"priorityClassName\":\"p\"}}"))

static int give_nice(struct stage *s, int32_t nice, bool top)
{
	struct nice_change c = {.nice = nice, .top = top};
	return make(s, &nice_change, &c.of);
}

static const struct nice_row {
	const char *job, *others;
	int32_t nice;
	bool top;
	const char *wrote, *says;
} nices[] = {
	{JOB(QUEUED, ALICES, WAITS, ""), OTHERS, -1, false, "-1",
		"Job train has sluice.dev/nice -1: it goes before 2 of 3 other waiting Jobs of alice in "
		"LocalQueue team/main; Jobs of others keep their places\n"},
	{JOB(QUEUED, MADE("5") BY("alice", NICE("9")), WAITS, ""), OTHERS, 0, false, "0",
		"Job train has sluice.dev/nice 0: it goes before 1 of 3 other waiting Jobs of alice"},
	{JOB(QUEUED, ALICES, WAITS, ""), OTHERS, 0, true, "-4",
		"Job train has sluice.dev/nice -4: it goes before 3 of 3 other waiting Jobs of alice"},
	{JOB(QUEUED, ALICES, "", "\"active\":2"), OTHERS, 5, false, "5",
		"Job train has sluice.dev/nice 5: it runs on, and that counts when it waits again\n"},
	{JOB(QUEUED, MADE("5") BY("alice", ",\"sluice.dev/hold\":\"yes\""), WAITS, ""), OTHERS, 5,
		false, "5",
		"it stays on hold, and that counts when it is queued: sluice release job/train"},
};

static void a_job_is_ordered_among_its_users(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROWS(nices); i++) {
		struct stage s;
		char written[64];
		open_stage(&s);
		answer(&s, GET_JOB, 200, nices[i].job);
		answer(&s, GET_JOBS, 200, nices[i].others);
		answer(&s, "PATCH /apis/batch/v1/namespaces/team/jobs/train ", 200, "{}");
		assert_int_equal(give_nice(&s, nices[i].nice, nices[i].top), 0);
		snprintf(written, sizeof(written), "\"annotations\":{\"sluice.dev/nice\":\"%s\"}",
			nices[i].wrote);
		wrote(&s, written);
		if (!strstr(buf_text(&s.out), nices[i].says))
			fail_msg("%s", buf_text(&s.out));
		close_stage(&s);
	}
}

static const struct nice_refusal {
	const char *job, *others;
	int32_t nice;
	bool top;
	const char *says;
} nice_refusals[] = {
	{WAITING, NULL, 5, false, "it is not known who submitted Job train"},
	{JOB("", ALICES, WAITS, ""), NULL, 5, false, "is in no queue"},
	{JOB(QUEUED, ALICES, WAITS, OVER), NULL, 5, false, "has ended: it cannot be ordered"},
	{JOB(QUEUED, ALICES, WAITS, ""), OTHERS, 0, false, "has sluice.dev/nice 0 already"},
	{JOB(QUEUED, ALICES, WAITS, ""), LIST(""), 0, true,
		"no other Job of alice waits in LocalQueue team/main with the priority of Job train"},
	{JOB(QUEUED, MADE("5") BY("alice", NICE("-4")), WAITS, ""), OTHERS, 0, true,
		"has sluice.dev/nice -4, and goes before all other waiting Jobs of alice already"},
	{JOB(QUEUED, ALICES, WAITS, ""), LIST(OTHER("x", "1", "alice", NICE("-100"), WAITS)), 0,
		true,
		"Job x has sluice.dev/nice -100, the least there is; give it a higher one first: "
		"sluice nice job/x 0 -n team"},
};

static void what_would_not_be_heeded_is_not_written(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROWS(nice_refusals); i++) {
		struct stage s;
		open_stage(&s);
		answer(&s, GET_JOB, 200, nice_refusals[i].job);
		if (nice_refusals[i].others)
			answer(&s, GET_JOBS, 200, nice_refusals[i].others);
		assert_int_equal(
			give_nice(&s, nice_refusals[i].nice, nice_refusals[i].top), ERR_INVALID);
		if (!strstr(s.e.text, nice_refusals[i].says))
			fail_msg("%s", s.e.text);
		close_stage(&s);
	}
}

/* Where no policy is installed, a tenant writes what it likes into sluice.dev/submitted-by. */
static void what_a_terminal_would_obey_is_not_told(void **state)
{
	struct stage s;
	(void)state;
	open_stage(&s);
	answer(&s, GET_JOB, 200,
		JOB(QUEUED, MADE("5") BY("a\\u001b]0;x\\u0007\\u009b2J", ""), WAITS, ""));
	answer(&s, GET_JOBS, 403, "{}");
	answer(&s, "PATCH ", 200, "{}");
	assert_int_equal(give_nice(&s, 5, false), 0);
	assert_non_null(strstr(buf_text(&s.out), "the Jobs of a?]0;x??2J in LocalQueue"));
	close_stage(&s);
}

/* Who may not list Jobs may give a number, and is told less. */
static void jobs_that_may_not_be_read(void **state)
{
	struct stage s;
	(void)state;
	open_stage(&s);
	answer(&s, GET_JOB, 200, JOB(QUEUED, ALICES, WAITS, ""));
	answer(&s, GET_JOBS, 403, "{}");
	answer(&s, "PATCH ", 200, "{}");
	assert_int_equal(give_nice(&s, 5, false), 0);
	assert_string_equal(buf_text(&s.out),
		"Job train has sluice.dev/nice 5: it goes before the Jobs of alice in LocalQueue team/main with "
		"a higher number; Jobs of others keep their places\n");
	answer(&s, GET_JOB, 200, JOB(QUEUED, ALICES, WAITS, ""));
	answer(&s, GET_JOBS, 403, "{}");
	assert_int_equal(give_nice(&s, 0, true), ERR_DENIED);
	close_stage(&s);
}

/* ---- the command lines ----------------------------------------------------------------------- */

static void command_lines(void **state)
{
	static const struct {
		const char *words[6];
		int rc;
	} rows[] = {
		{{"move", "job/train", "--queue", "night"}, 0},
		{{"move", "-q", "night", "job", "train"}, 0},
		{{"move", "job/train"}, ERR_INVALID},
		{{"move", "--queue", "night"}, ERR_INVALID},
		{{"move", "job/train", "--queue", "Night"}, ERR_INVALID},
		{{"move", "pod/train", "--queue", "night"}, ERR_INVALID},
		{{"priority", "job/train", "high"}, 0},
		{{"priority", "job", "train", "high"}, 0},
		{{"priority", "train", "high", "-n", "team"}, 0},
		{{"priority", "job/train"}, ERR_INVALID},
		{{"priority", "job/train", "../high"}, ERR_INVALID},
		{{"priority"}, ERR_INVALID},
		{{"nice", "job/train", "10"}, 0},
		{{"nice", "job/train", "-5", "-n", "team"}, 0},
		{{"nice", "-5", "job", "train"}, 0},
		{{"nice", "train", "--top"}, 0},
		{{"nice", "job/train"}, ERR_INVALID},
		{{"nice", "job/train", "--top", "5"}, ERR_INVALID},
		{{"nice", "job/train", "-101"}, ERR_INVALID},
		{{"nice", "job/train", "1.5"}, ERR_INVALID},
		{{"nice", "-5"}, ERR_INVALID},
	};
	(void)state;
	for (size_t i = 0; i < ROWS(rows); i++) {
		struct move m;
		struct priority_change p;
		struct err e = {""};
		char kept[6][32], *argv[7] = {NULL};
		int argc = 0;
		for (; argc < 6 && rows[i].words[argc]; argc++) {
			snprintf(kept[argc], sizeof(kept[argc]), "%s", rows[i].words[argc]);
			argv[argc] = kept[argc];
		}
		struct nice_change c;
		bool is_move = strcmp(argv[0], "move") == 0, is_nice = strcmp(argv[0], "nice") == 0;
		int rc = is_nice   ? flags_read(&nice_flags, argc, argv, &c, &e)
			 : is_move ? flags_read(&move_flags, argc, argv, &m, &e)
				   : flags_read(&priority_flags, argc, argv, &p, &e);
		if (rc != rows[i].rc)
			fail_msg("row %zu: %s", i, e.text);
		if (rc == 0)
			assert_string_equal(is_nice   ? c.of.job
					    : is_move ? m.of.job
						      : p.of.job,
				"train");
		if (rc == 0 && is_nice)
			assert_true(c.top || c.nice == -5 || c.nice == 10);
		if (rc == 0 && !is_nice)
			assert_string_equal(
				is_move ? m.of.value : p.of.value, is_move ? "night" : "high");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_cannot_be_moved),
		cmocka_unit_test(what_is_not_there_is_said),
		cmocka_unit_test(a_job_is_moved_and_told_its_place),
		cmocka_unit_test(its_place_may_be_another),
		cmocka_unit_test(less_is_said_where_less_is_known),
		cmocka_unit_test(what_the_api_server_refuses_is_passed_on),
		cmocka_unit_test(a_job_gets_another_class),
		cmocka_unit_test(a_class_that_is_not_to_be_had),
		cmocka_unit_test(a_job_is_ordered_among_its_users),
		cmocka_unit_test(what_would_not_be_heeded_is_not_written),
		cmocka_unit_test(what_a_terminal_would_obey_is_not_told),
		cmocka_unit_test(jobs_that_may_not_be_read),
		cmocka_unit_test(command_lines),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
