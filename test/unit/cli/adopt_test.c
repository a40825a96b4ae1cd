/* What `sluice adopt` asks the API server, and what it makes of the answers. */
#include "test/unit/kube/test.h"

#include "base/mem.h"
#include "cli/adopt/carry_out.h"
#include "cli/adopt/controllers.h"
#include "cli/adopt/outcome.h"
#include "cli/adopt/permission.h"
#include "cli/adopt/plan.h"
#include "test/unit/kube/scripted_server.h"

#define LIST(items) "{\"metadata\":{},\"items\":[" items "]}"
#define FLAVOR(name) "{\"metadata\":{\"name\":\"" name "\"},\"spec\":{}}"
#define POOL(name)                                                                                 \
	"{\"metadata\":{\"name\":\"" name "\"},\"spec\":{\"nodeLabels\":{\"pool\":\"" name "\"}}}"
#define NODE(name, pool)                                                                           \
	"{\"metadata\":{\"name\":\"" name "\",\"labels\":{\"pool\":\"" pool                        \
	"\"}},\"spec\":{},\"status\":{}}"
#define QUOTA(flavor)                                                                              \
	"{\"name\":\"" flavor "\",\"resources\":[{\"name\":\"cpu\",\"nominalQuota\":\"4\"}]}"
#define CLUSTERQUEUE                                                                                \
	"{\"metadata\":{\"name\":\"batch\"},\"spec\":{\"namespaceSelector\":{},\"resourceGroups\":" \
	"[{\"coveredResources\":[\"cpu\"],\"flavors\":[{\"name\":\"any\",\"resources\":"            \
	"[{\"name\":\"cpu\",\"nominalQuota\":\"4\"}]}]}]},\"status\":{\"flavorsReservation\":"      \
	"[{\"name\":\"any\",\"resources\":[{\"name\":\"cpu\",\"total\":\"1500m\"}]}]}}"
#define LOCALQUEUE(name)                                                                           \
	"{\"metadata\":{\"name\":\"" name                                                          \
	"\",\"namespace\":\"a\"},\"spec\":{\"clusterQueue\":\"batch\"}}"
#define POD_SPEC                                                                                   \
	"\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"resources\":"   \
	"{\"requests\":{\"cpu\":\"1\"}}}]}}"
#define JOB(n, name, labels, spec, status)                                                         \
	"{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"a\",\"resourceVersion\":\"7" n       \
	"\",\"uid\":\"00000000-0000-0000-0000-00000000000" n "\",\"labels\":{" labels              \
	"}},\"spec\":{" spec "," POD_SPEC "},\"status\":{" status "}}"
#define POD(name, images, phase)                                                                   \
	"{\"metadata\":{\"name\":\"" name "\"},\"spec\":{\"containers\":[" images                  \
	"]},\"status\":{\"phase\":\"" phase "\"}}"
#define IMAGE(container, image) "{\"name\":\"" container "\",\"image\":\"" image "\"}"
#define CONTROLLER(image) POD("c", IMAGE("controller", image), "Running")
#define STORY "\"annotations\":{\"sluice.dev/admission\":\"{}\"},"
#define LABELLED(n, name, more, spec, status)                                                      \
	"{\"metadata\":{" more "\"name\":\"" name "\",\"uid\":\"u" n                               \
	"\",\"labels\":{\"sluice.dev/queue-name\":\"main\"}},\"spec\":{" spec                      \
	"},\"status\":{" status "}}"
#define ON(node, job)                                                                               \
	"{\"cells\":[\"" node                                                                       \
	"\"],\"object\":{\"metadata\":{\"ownerReferences\":[{\"apiVersion\":\"batch/v1\",\"kind\":" \
	"\"Job\",\"uid\":\"00000000-0000-0000-0000-00000000000" job "\",\"controller\":true}]}}}"
#define PODS(rows)                                                                                 \
	"{\"kind\":\"Table\",\"columnDefinitions\":[{\"name\":\"Node\"}],\"rows\":[" rows "]}"
#define RUNS "\"startTime\":\"2026-11-21T10:00:0"

struct stage {
	struct ev_loop *loop;
	struct scripted_server *server;
	struct kube_config *config;
	struct kube_client *client;
	struct adopt_options o;
	struct adopt_plan plan;
	struct err e;
	const char *pods; /* of the namespace; NULL: they may not be read */
};

static void answer(struct stage *s, const char *line, const char *body)
{
	script_answer(scripted_server_expect(s->server, line), 200, "", body);
}

static void open_server(struct stage *s)
{
	*s = (struct stage){
		.loop = ev_loop_new(EVFLAG_AUTO), .o = {.namespace_name = "a"}, .pods = s->pods};
	s->server = scripted_server_new(s->loop);
	s->config = config_for(scripted_server_url(s->server), NULL);
	s->client = kube_client_new(s->loop, s->config, &(struct kube_client_options){0});
}

static void open_stage_of(
	struct stage *s, const char *clusterqueues, const char *localqueues, const char *jobs)
{
	open_server(s);
	answer(s, "GET /api/v1/namespaces/a HTTP",
		"{\"kind\":\"Namespace\",\"metadata\":{\"name\":\"a\"}}");
	answer(s, "resourceflavors", LIST(FLAVOR("any") "," POOL("spot") "," POOL("dear")));
	answer(s, "cohorts", LIST(""));
	answer(s, "workloadpriorityclasses", LIST(""));
	answer(s, "priorityclasses HTTP", LIST(""));
	answer(s, "runtimeclasses", LIST(""));
	answer(s, "limitranges", LIST(""));
	answer(s, "clusterqueues", clusterqueues);
	answer(s, "GET /apis/sluice.dev/v1alpha1/namespaces/a/localqueues HTTP", localqueues);
	if (!jobs)
		return;
	answer(s, "GET /api/v1/nodes HTTP", LIST(NODE("n1", "spot") "," NODE("n2", "dear")));
	script_answer(
		scripted_server_expect(s->server,
			"GET /api/v1/namespaces/a/pods?includeObject=Metadata&fieldSelector="),
		s->pods ? 200 : 403, "", s->pods ? s->pods : "{\"kind\":\"Status\"}");
	answer(s, "GET /apis/batch/v1/namespaces/a/jobs HTTP", jobs);
}

static void open_stage(struct stage *s, const char *localqueues, const char *jobs)
{
	open_stage_of(s, LIST(CLUSTERQUEUE), localqueues, jobs);
}

static void close_stage(struct stage *s)
{
	assert_int_equal(scripted_server_unexpected(s->server), 0);
	assert_int_equal(scripted_server_unused(s->server), 0);
	adopt_plan_done(&s->plan);
	kube_client_free(s->client);
	scripted_server_free(s->server);
	kube_config_free(s->config);
	ev_loop_destroy(s->loop);
}

static int make(struct stage *s)
{
	return adopt_plan_make(s->loop, s->client, &s->o, &s->plan, &s->e);
}

/* What is held already counts, and so does each Job for those behind it. */
static void jobs_that_run_are_reckoned_one_after_the_other(void **state)
{
	(void)state;
	struct stage s = {0};
	open_stage(&s, LIST(LOCALQUEUE("main")),
		LIST(JOB("1", "plain", "", "\"parallelism\":2,\"completions\":2",
			RUNS "1Z\",\"active\":2") "," JOB("2", "kueues",
			"\"kueue.x-k8s.io/queue-name\":\"main\"",
			"\"parallelism\":1,\"completions\":1",
			RUNS "5Z\",\"active\":1") "," JOB("3", "waits", "", "\"suspend\":true",
			"") "," JOB("4", "ours", "\"sluice.dev/queue-name\":\"main\"",
			"\"parallelism\":1",
			RUNS "9Z\"") "," JOB("5", "over", "", "\"parallelism\":1",
			RUNS
			"9Z\",\"conditions\":[{\"type\":\"Complete\",\"status\":\"True\"}]") "," JOB("6",
			"young", "", "\"parallelism\":1", "\"active\":0")));
	assert_int_equal(make(&s), 0);
	assert_int_equal(s.plan.nrows, 3);
	const struct adopt_row *r = s.plan.row;
	assert_string_equal(r[0].name, "plain");
	assert_true(r[0].takes);
	assert_string_equal(r[0].queue, "main");
	assert_string_equal(r[0].holds, "2 cpu in any");
	assert_string_equal(r[0].over, "");
	assert_false(r[0].has_kueue_label);
	assert_true(r[1].takes);
	assert_true(r[1].has_kueue_label);
	assert_string_equal(r[1].version, "72");
	assert_string_equal(
		r[1].over, "ClusterQueue batch uses 500m cpu in flavor any more than there is");
	assert_false(r[2].takes);
	assert_non_null(strstr(r[2].why, "has not begun to run yet"));
	assert_int_equal(s.plan.begun_by_ms, INT64_C(1795255205000));
	close_stage(&s);
}

/* Where the pods of a Job are tells its flavor; without the right to see that, quota does. */
static void the_nodes_of_its_pods_tell_its_flavor(void **state)
{
	(void)state;
	static const char queues[] = LIST(
		"{\"metadata\":{\"name\":\"batch\"},\"spec\":{\"namespaceSelector\":{},\"resourceGroups\":"
		"[{\"coveredResources\":[\"cpu\"],\"flavors\":[" QUOTA("spot") "," QUOTA(
			"dear") "]}]}}");
	static const char pods[] =
		PODS(ON("n1", "3") "," ON("n2", "1") "," ON("n1", "2") "," ON("n2", "1"));
	for (int seen = 0; seen < 2; seen++) {
		struct stage s = {.pods = seen ? pods : NULL};
		open_stage_of(&s, queues, LIST(LOCALQUEUE("main")),
			LIST(JOB("1", "plain", "", "\"parallelism\":2,\"completions\":2",
				RUNS "1Z\",\"active\":2") "," JOB("2", "other", "",
				"\"parallelism\":1", RUNS "1Z\",\"active\":1")));
		assert_int_equal(make(&s), 0);
		assert_string_equal(s.plan.row[0].holds, seen ? "2 cpu in dear" : "2 cpu in spot");
		assert_string_equal(s.plan.row[1].holds, "1 cpu in spot");
		assert_int_equal(s.plan.unseen[0] == '\0', seen);
		if (!seen)
			assert_non_null(strstr(s.plan.unseen,
				"by the Pod templates alone, for the pods of the namespace cannot be read"));
		close_stage(&s);
	}
}

/* As the controller has it: the same words, and the same exception (queue/intake.c). */
static void pods_that_are_too_many_tell_no_flavor(void **state)
{
	(void)state;
	struct stage s = {
		.pods = PODS(ON("n1", "1") "," ON("n2", "1") "," ON("n2", "2") "," ON("n2", "2"))};
	open_stage_of(&s, LIST(CLUSTERQUEUE), LIST(LOCALQUEUE("main")),
		LIST(JOB("1", "plain", "", "\"parallelism\":1,\"completions\":1",
			RUNS "1Z\",\"active\":1") "," JOB("2", "ends", "", "\"parallelism\":1",
			RUNS "1Z\",\"active\":2,\"succeeded\":1")));
	assert_int_equal(make(&s), 0);
	assert_false(s.plan.row[0].takes);
	assert_non_null(strstr(s.plan.row[0].why, "more pods of it are on nodes than it asks for"));
	assert_true(s.plan.row[1].takes);
	close_stage(&s);
}

/* Of each of many ClusterQueues what is held is counted. */
static void what_is_held_counts_of_however_many_queues(void **state)
{
	(void)state;
	struct stage s = {0};
	struct buf queues;
	buf_init(&queues, 1 << 20);
	buf_puts(&queues, "{\"metadata\":{},\"items\":[" CLUSTERQUEUE);
	for (int i = 0; i < 600; i++)
		buf_printf(&queues,
			",{\"metadata\":{\"name\":\"q%d\"},\"spec\":{\"resourceGroups\":"
			"[{\"coveredResources\":[\"cpu\"],\"flavors\":[{\"name\":\"any\",\"resources\":"
			"[{\"name\":\"cpu\",\"nominalQuota\":\"4\"}]}]}]},\"status\":{\"flavorsReservation\":"
			"[{\"name\":\"any\",\"resources\":[{\"name\":\"cpu\",\"total\":\"1\"}]}]}}",
			i);
	buf_puts(&queues, "]}");
	open_stage_of(&s, buf_text(&queues), LIST(LOCALQUEUE("main")),
		LIST(JOB("1", "plain", "", "\"parallelism\":3,\"completions\":3",
			RUNS "1Z\",\"active\":3")));
	assert_int_equal(make(&s), 0);
	assert_string_equal(s.plan.row[0].over,
		"ClusterQueue batch uses 500m cpu in flavor any more than there is");
	close_stage(&s);
	buf_done(&queues);
}

static void a_queue_must_be_named_where_there_are_two(void **state)
{
	(void)state;
	struct stage s = {0};
	open_stage(&s, LIST(LOCALQUEUE("main") "," LOCALQUEUE("night")),
		LIST(JOB("1", "plain", "", "\"parallelism\":1", RUNS "1Z\",\"active\":1") "," JOB(
			"2", "kueues", "\"kueue.x-k8s.io/queue-name\":\"night\"",
			"\"parallelism\":1", RUNS "5Z\",\"active\":1")));
	assert_int_equal(make(&s), 0);
	assert_non_null(strstr(s.plan.row[0].why, "--queue NAME"));
	assert_true(s.plan.row[1].takes);
	assert_string_equal(s.plan.row[1].queue, "night");
	close_stage(&s);
}

static void what_is_not_there_is_said(void **state)
{
	(void)state;
	struct stage s = {0};
	char nobody[] = "nobody", *names[] = {nobody};
	open_stage(&s, LIST(LOCALQUEUE("main")), LIST(""));
	s.o.job = names;
	s.o.njobs = 1;
	assert_int_equal(make(&s), ERR_GONE);
	assert_non_null(strstr(s.e.text, "namespace a has no Job \"nobody\""));
	close_stage(&s);
	open_stage(&s, LIST(LOCALQUEUE("main")), NULL);
	s.o.queue = "other";
	assert_int_equal(make(&s), ERR_GONE);
	assert_non_null(strstr(s.e.text, "namespace a has no LocalQueue \"other\""));
	close_stage(&s);
}

/* ---- before anything is written -------------------------------------------------------------- */

static int check_controllers(struct stage *s, const char *pods)
{
	open_server(s);
	answer(s, "GET /api/v1/namespaces/sys/pods?labelSelector=", pods);
	int rc = adopt_controllers_check(s->loop, s->client, "sys", &s->e);
	close_stage(s);
	return rc;
}

static void controllers_that_would_stop_the_jobs_are_found(void **state)
{
	(void)state;
	struct stage s = {0};
	static const char *const fine[] = {LIST(CONTROLLER("sluice-controller:0.2.0-dev")),
		LIST(CONTROLLER("r.example:5000/x/sluice-controller:v0.2.0@sha256:ab")),
		LIST(CONTROLLER("sluice-controller:1.0") "," CONTROLLER("sluice-controller:0.10")),
		LIST(POD("c",
			IMAGE("proxy", "p:0.1.5") "," IMAGE(
				"controller", "sluice-controller:0.2.1"),
			"Running")),
		LIST(CONTROLLER("s:0.2.0") "," POD(
			"gone", IMAGE("controller", "s:0.1.0"), "Failed"))};
	for (size_t i = 0; i < sizeof(fine) / sizeof(*fine); i++)
		assert_int_equal(check_controllers(&s, fine[i]), 0);
	assert_int_equal(
		check_controllers(&s, LIST(CONTROLLER("s:0.2.0") "," CONTROLLER("x/s:0.1.0"))),
		ERR_GONE);
	assert_non_null(
		strstr(s.e.text, "pod sys/c runs image x/s:0.1.0, which is older than 0.2.0"));
	static const char *const unsaid[] = {LIST(CONTROLLER("sluice-controller:latest")),
		LIST(CONTROLLER("sluice-controller")), LIST(CONTROLLER("r:5000/s@sha256:0.2.0")),
		LIST(CONTROLLER("s:main-0.3")),
		LIST(POD("c", IMAGE("other", "s:0.2.0"), "Running"))};
	for (size_t i = 0; i < sizeof(unsaid) / sizeof(*unsaid); i++) {
		assert_int_equal(check_controllers(&s, unsaid[i]), ERR_GONE);
		assert_non_null(strstr(s.e.text, "does not say by its tag"));
		assert_non_null(strstr(s.e.text, "say --force"));
	}
	assert_int_equal(check_controllers(&s, LIST("")), ERR_GONE);
	assert_non_null(strstr(s.e.text, "--controller-namespace"));
}

/* ---- the permission -------------------------------------------------------------------------- */

#define NAMESPACE(annotations)                                                                     \
	"{\"kind\":\"Namespace\",\"metadata\":{\"name\":\"a\",\"annotations\":{" annotations "}}}"
#define BEGUN_BY(text) NAMESPACE("\"sluice.dev/adopt-begun-by\":\"" text "\"")
#define NOON_MS INT64_C(1795262400000) /* 2026-11-21T12:00:00Z */

static void a_permission_has_one_form(void **state)
{
	(void)state;
	int64_t ms = 0;
	assert_true(adopt_permission_read("2026-11-21T12:00:00Z", &ms));
	assert_int_equal(ms, NOON_MS);
	static const char *const others[] = {"", "soon", "2026-11-21T12:00:00.5Z",
		"2026-11-21T12:00:00.000Z", "2026-11-21T13:00:00+01:00", "2026-11-21t12:00:00z",
		"2026-11-21T12:00:00+00:00", " 2026-11-21T12:00:00Z", "2026-11-21"};
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_false(adopt_permission_read(others[i], &ms));
}

/* One of another form permits nothing, however late it is. */
static void a_permission_is_written_unless_one_allows_as_much(void **state)
{
	(void)state;
	static const struct {
		const char *there;
		bool ours;
		const char *text;
	} row[] = {
		{NAMESPACE(""), true, "2026-11-21T12:00:00Z"},
		{BEGUN_BY("2026-11-21T11:59:59Z"), true, "2026-11-21T12:00:00Z"},
		{BEGUN_BY("2027-11-21T13:00:00+01:00"), true, "2026-11-21T12:00:00Z"},
		{BEGUN_BY("2027-11-21T13:00:00.5Z"), true, "2026-11-21T12:00:00Z"},
		{BEGUN_BY("2026-11-21T12:00:00Z"), false, "2026-11-21T12:00:00Z"},
		{BEGUN_BY("2026-11-21T12:00:01Z"), false, "2026-11-21T12:00:01Z"},
	};
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
		struct stage s = {0};
		struct adopt_permission given;
		open_server(&s);
		answer(&s, "GET /api/v1/namespaces/a HTTP", row[i].there);
		if (row[i].ours)
			answer(&s, "PATCH /api/v1/namespaces/a HTTP", NAMESPACE(""));
		assert_int_equal(
			adopt_permission_give(s.loop, s.client, "a", NOON_MS, &given, &s.e), 0);
		assert_int_equal(given.ours, row[i].ours);
		assert_string_equal(given.text, row[i].text);
		if (row[i].ours)
			assert_string_equal(scripted_server_request(s.server, 1)->body,
				"{\"metadata\":{\"annotations\":{\"sluice.dev/adopt-begun-by\":\"2026-11-21T12:00:00Z\"}}}");
		close_stage(&s);
	}
}

static int take_back(struct stage *s, int status, bool *ret_gone)
{
	const struct adopt_permission given = {true, "2026-11-21T12:00:00Z"};
	open_server(s);
	script_answer(scripted_server_expect(s->server, "PATCH /api/v1/namespaces/a HTTP"), status,
		"", status == 200 ? NAMESPACE("") : "{\"kind\":\"Status\",\"message\":\"no\"}");
	int rc = adopt_permission_take_back(s->loop, s->client, "a", &given, ret_gone, &s->e);
	assert_string_equal(scripted_server_request(s->server, 0)->body,
		"[{\"op\":\"test\",\"path\":\"/metadata/annotations/sluice.dev~1adopt-begun-by\",\"value\":\"2026-11-21T12:00:00Z\"},"
		"{\"op\":\"remove\",\"path\":\"/metadata/annotations/sluice.dev~1adopt-begun-by\"}]");
	close_stage(s);
	return rc;
}

static void only_what_was_written_is_taken_back(void **state)
{
	(void)state;
	struct stage s = {0};
	bool gone;
	assert_int_equal(take_back(&s, 200, &gone), 0);
	assert_true(gone);
	assert_int_equal(take_back(&s, 422, &gone), 0);
	assert_false(gone);
	assert_int_equal(take_back(&s, 403, &gone), ERR_DENIED);
	assert_false(gone);
}

/* ---- afterwards ------------------------------------------------------------------------------ */

#define STORIES "GET /apis/batch/v1/namespaces/a/jobs?labelSelector=sluice.dev%2Fqueue-name HTTP"
#define EVENTS "GET /api/v1/namespaces/a/events?fieldSelector=reason%3DNotAdopted HTTP"

/* As they are behind the labelling; the plan's end frees them. */
static void plan_rows(struct stage *s, size_t n)
{
	s->plan = (struct adopt_plan){
		.namespace_name = "a", .row = mem_array(n, sizeof(struct adopt_row)), .nrows = n};
	for (size_t i = 0; i < n; i++) {
		char uid[3] = {'u', (char)('1' + i), '\0'};
		s->plan.row[i] = (struct adopt_row){
			.name = mem_strdup("j"), .uid = mem_strdup(uid), .takes = true};
	}
}

static int wait_for_outcome(struct stage *s, int64_t timeout_ms, struct adopt_needy *ret)
{
	return adopt_outcome_wait(s->loop, s->client, &s->plan, timeout_ms, NULL, ret, &s->e);
}

static void each_job_is_waited_for_until_it_is_decided(void **state)
{
	(void)state;
	struct stage s = {0};
	struct adopt_needy needy;
	open_server(&s);
	plan_rows(&s, 6);
	answer(&s, STORIES,
		LIST(LABELLED("1", "one", "", "", "") "," LABELLED("2", "two", "", "", "")));
	answer(&s, EVENTS, LIST(""));
	answer(&s, STORIES,
		LIST(LABELLED("1", "one", STORY, "\"suspend\":false", "") "," LABELLED(
			"2", "two", "", "", "") "," LABELLED("3", "three", STORY,
			"\"suspend\":true", "") "," LABELLED("4", "four", "", "",
			"\"conditions\":[{\"type\":\"Failed\",\"status\":\"True\"}]") "," LABELLED("6",
			"six", "\"deletionTimestamp\":\"2026-11-21T12:00:00Z\",", "", "")));
	answer(&s, EVENTS,
		LIST("{\"message\":\"its window is closed\",\"involvedObject\":{\"uid\":\"u2\"}},"
		     "{\"message\":\"of old\",\"involvedObject\":{\"uid\":\"u1\"}},"
		     "{\"message\":\"of another\",\"involvedObject\":{\"uid\":\"u9\"}}"));
	/* The first look finds three gone that the second sees again: each look is the whole truth. */
	assert_int_equal(wait_for_outcome(&s, 60000, &needy), 0);
	static const enum adopt_outcome wanted[] = {ADOPT_ADOPTED, ADOPT_KEPT_OUT, ADOPT_STOPPED,
		ADOPT_ENDED, ADOPT_ENDED, ADOPT_ENDED};
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(s.plan.row[i].outcome, wanted[i]);
	assert_string_equal(s.plan.row[1].why, "its window is closed");
	assert_string_equal(s.plan.row[4].why, "it was deleted meanwhile");
	assert_int_equal(needy.count, 1);
	assert_string_equal(needy.first, "two");
	close_stage(&s);
}

/* Of those that somebody else labelled, too, each needs the permission. */
static void who_else_needs_the_permission_is_seen(void **state)
{
	(void)state;
	struct stage s = {0};
	struct adopt_needy needy;
	open_server(&s);
	plan_rows(&s, 1);
	answer(&s, STORIES,
		LIST(LABELLED("1", "one", STORY, "", "") "," LABELLED("7", "theirs", "", "",
			"") "," LABELLED("8", "waits", "", "\"suspend\":true", "")));
	assert_int_equal(wait_for_outcome(&s, 60000, &needy), 0);
	assert_int_equal(s.plan.row[0].outcome, ADOPT_ADOPTED);
	assert_int_equal(needy.count, 1);
	assert_string_equal(needy.first, "theirs");
	close_stage(&s);
}

static void when_the_time_is_up_it_is_said_what_is_not_known(void **state)
{
	(void)state;
	struct stage s = {0};
	struct adopt_needy needy;
	open_server(&s);
	plan_rows(&s, 1);
	answer(&s, STORIES, LIST(LABELLED("1", "one", "", "", "")));
	answer(&s, EVENTS, LIST(""));
	assert_int_equal(wait_for_outcome(&s, 0, &needy), 0);
	assert_int_equal(s.plan.row[0].outcome, ADOPT_WAITS);
	assert_int_equal(needy.count, 1);
	close_stage(&s);
	open_server(&s);
	plan_rows(&s, 1);
	script_answer(scripted_server_expect(s.server, STORIES), 403, "", "{}");
	assert_int_equal(wait_for_outcome(&s, 0, &needy), ERR_DENIED);
	close_stage(&s);
}

/* ---- all of it, in its order ----------------------------------------------------------------- */

#define NEW_CONTROLLER LIST(CONTROLLER("sluice-controller:0.2.0"))

static int carry_out(struct stage *s, struct adopt_aftermath *ret)
{
	*ret = (struct adopt_aftermath){0};
	s->o.controller_namespace = "sys";
	s->plan.begun_by_ms = NOON_MS;
	for (size_t i = 0; i < s->plan.nrows; i++) {
		s->plan.row[i].version = mem_strdup("7");
		s->plan.row[i].queue = mem_strdup("main");
	}
	return adopt_carry_out(s->loop, s->client, &s->o, &s->plan, NULL, ret, &s->e);
}

static void expect_permission_and_label(struct stage *s)
{
	answer(s, "GET /api/v1/namespaces/sys/pods?", NEW_CONTROLLER);
	answer(s, "GET /api/v1/namespaces/a HTTP", NAMESPACE(""));
	answer(s, "PATCH /api/v1/namespaces/a HTTP", NAMESPACE(""));
	answer(s, "PATCH /apis/batch/v1/namespaces/a/jobs/j HTTP", "{}");
}

static void nothing_is_written_while_a_controller_would_stop_the_jobs(void **state)
{
	(void)state;
	struct stage s = {0};
	struct adopt_aftermath left;
	open_server(&s);
	plan_rows(&s, 1);
	answer(&s, "GET /api/v1/namespaces/sys/pods?", LIST(CONTROLLER("s:0.1.0")));
	assert_int_equal(carry_out(&s, &left), ERR_GONE);
	assert_int_equal(scripted_server_count(s.server), 1);
	close_stage(&s);
}

static void the_permission_goes_when_all_are_adopted(void **state)
{
	(void)state;
	struct stage s = {0};
	struct adopt_aftermath left;
	open_server(&s);
	plan_rows(&s, 1);
	expect_permission_and_label(&s);
	answer(&s, STORIES, LIST(LABELLED("1", "j", STORY, "", "")));
	answer(&s, "PATCH /api/v1/namespaces/a HTTP", NAMESPACE(""));
	assert_int_equal(carry_out(&s, &left), 0);
	assert_false(left.left);
	assert_non_null(strstr(left.words, "is taken back"));
	assert_string_equal(scripted_server_request(s.server, 3)->body,
		"{\"metadata\":{\"resourceVersion\":\"7\",\"labels\":{\"sluice.dev/queue-name\":\"main\"}},\"spec\":{\"podReplacementPolicy\":\"Failed\"}}");
	assert_non_null(strstr(scripted_server_request(s.server, 5)->body, "\"remove\""));
	close_stage(&s);
}

static void the_permission_stays_while_a_job_needs_it(void **state)
{
	(void)state;
	struct stage s = {0};
	struct adopt_aftermath left;
	open_server(&s);
	plan_rows(&s, 1);
	expect_permission_and_label(&s);
	answer(&s, STORIES, LIST(LABELLED("1", "j", "", "", "")));
	answer(&s, EVENTS, LIST("{\"message\":\"closed\",\"involvedObject\":{\"uid\":\"u1\"}}"));
	assert_int_equal(carry_out(&s, &left), 0);
	assert_true(left.left);
	assert_non_null(strstr(left.words, "Job j runs, is in a queue and is not adopted yet"));
	assert_non_null(
		strstr(left.words, "kubectl annotate namespace a sluice.dev/adopt-begun-by-\n"));
	close_stage(&s);
}

/* The policies may not have heard of the permission yet; and one that stays refused is not waited for. */
static void a_refused_label_is_tried_again_once(void **state)
{
	(void)state;
	struct stage s = {0};
	struct adopt_aftermath left;
	open_server(&s);
	plan_rows(&s, 2);
	answer(&s, "GET /api/v1/namespaces/sys/pods?", NEW_CONTROLLER);
	answer(&s, "GET /api/v1/namespaces/a HTTP", NAMESPACE(""));
	answer(&s, "PATCH /api/v1/namespaces/a HTTP", NAMESPACE(""));
	static const int status[] = {403, 200, 403};
	for (size_t i = 0; i < sizeof(status) / sizeof(*status); i++)
		script_answer(scripted_server_expect(
				      s.server, "PATCH /apis/batch/v1/namespaces/a/jobs/j HTTP"),
			status[i], "", "{\"kind\":\"Status\",\"message\":\"ask an admin\"}");
	answer(&s, STORIES, LIST(LABELLED("1", "j", STORY, "", "")));
	answer(&s, "PATCH /api/v1/namespaces/a HTTP", NAMESPACE(""));
	assert_int_equal(carry_out(&s, &left), 0);
	assert_false(left.left);
	assert_int_equal(s.plan.row[0].outcome, ADOPT_ADOPTED);
	assert_false(s.plan.row[1].takes);
	assert_non_null(strstr(s.plan.row[1].why, "ask an admin"));
	close_stage(&s);
}

/* ---- the command line ------------------------------------------------------------------------ */

static int parse(const char *flag, const char *value)
{
	char a[] = "adopt", b[40], c[300];
	char *argv[] = {a, b, c, NULL};
	struct adopt_options o;
	struct err e;
	snprintf(b, sizeof(b), "%s", flag);
	snprintf(c, sizeof(c), "%s", value);
	return flags_read(&adopt_flags, 3, argv, &o, &e);
}

static void names_are_such_as_kubernetes_has(void **state)
{
	(void)state;
	char longest[65];
	memset(longest, 'a', 64);
	longest[64] = '\0';
	assert_int_equal(parse("-n", longest + 1), 0);
	assert_int_equal(parse("--queue", longest), 0);
	assert_int_equal(parse("--queue", "a.b-c.0"), 0);
	assert_int_equal(parse("a", "job/b.c"), 0);
	static const char *const bad[] = {
		"", ".", "..", "a..b", "a.", ".a", "-a", "a-", "a.-b", "a/b", "A"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_int_equal(parse("-n", bad[i]), ERR_INVALID);
		assert_int_equal(parse("--queue", bad[i]), ERR_INVALID);
	}
	assert_int_equal(parse("a", ".."), ERR_INVALID);
	assert_int_equal(parse("-n", longest), ERR_INVALID);
	assert_int_equal(parse("-n", "a.b"), ERR_INVALID);
	assert_int_equal(parse("--timeout", "90s"), 0);
	assert_int_equal(parse("--timeout", "0s"), 0);
	assert_int_equal(parse("--timeout", "soon"), ERR_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs_that_run_are_reckoned_one_after_the_other),
		cmocka_unit_test(the_nodes_of_its_pods_tell_its_flavor),
		cmocka_unit_test(pods_that_are_too_many_tell_no_flavor),
		cmocka_unit_test(what_is_held_counts_of_however_many_queues),
		cmocka_unit_test(a_queue_must_be_named_where_there_are_two),
		cmocka_unit_test(what_is_not_there_is_said),
		cmocka_unit_test(controllers_that_would_stop_the_jobs_are_found),
		cmocka_unit_test(a_permission_has_one_form),
		cmocka_unit_test(a_permission_is_written_unless_one_allows_as_much),
		cmocka_unit_test(only_what_was_written_is_taken_back),
		cmocka_unit_test(each_job_is_waited_for_until_it_is_decided),
		cmocka_unit_test(who_else_needs_the_permission_is_seen),
		cmocka_unit_test(when_the_time_is_up_it_is_said_what_is_not_known),
		cmocka_unit_test(nothing_is_written_while_a_controller_would_stop_the_jobs),
		cmocka_unit_test(the_permission_goes_when_all_are_adopted),
		cmocka_unit_test(the_permission_stays_while_a_job_needs_it),
		cmocka_unit_test(a_refused_label_is_tried_again_once),
		cmocka_unit_test(names_are_such_as_kubernetes_has),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
