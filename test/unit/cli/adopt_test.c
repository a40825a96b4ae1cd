/* What `sluice adopt` asks the API server, and what it makes of the answers. */
#include "test/unit/kube/test.h"

#include "cli/adopt/plan.h"
#include "test/unit/kube/scripted_server.h"

#define LIST(items) "{\"metadata\":{},\"items\":[" items "]}"
#define FLAVOR(name) "{\"metadata\":{\"name\":\"" name "\"},\"spec\":{}}"
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
#define RUNS "\"startTime\":\"2026-11-21T10:00:0"

struct stage {
	struct ev_loop *loop;
	struct scripted_server *server;
	struct kube_config *config;
	struct kube_client *client;
	struct adopt_options o;
	struct adopt_plan plan;
	struct err e;
};

static void answer(struct stage *s, const char *line, const char *body)
{
	script_answer(scripted_server_expect(s->server, line), 200, "", body);
}

static void open_stage(struct stage *s, const char *localqueues, const char *jobs)
{
	*s = (struct stage){.loop = ev_loop_new(EVFLAG_AUTO), .o = {.namespace_name = "a"}};
	s->server = scripted_server_new(s->loop);
	s->config = config_for(scripted_server_url(s->server), NULL);
	s->client = kube_client_new(s->loop, s->config, &(struct kube_client_options){0});
	answer(s, "GET /api/v1/namespaces/a HTTP",
		"{\"kind\":\"Namespace\",\"metadata\":{\"name\":\"a\"}}");
	answer(s, "resourceflavors", LIST(FLAVOR("any")));
	answer(s, "cohorts", LIST(""));
	answer(s, "workloadpriorityclasses", LIST(""));
	answer(s, "priorityclasses HTTP", LIST(""));
	answer(s, "runtimeclasses", LIST(""));
	answer(s, "limitranges", LIST(""));
	answer(s, "clusterqueues", LIST(CLUSTERQUEUE));
	answer(s, "GET /apis/sluice.dev/v1alpha1/namespaces/a/localqueues HTTP", localqueues);
	if (jobs)
		answer(s, "GET /apis/batch/v1/namespaces/a/jobs HTTP", jobs);
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
	struct stage s;
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

static void a_queue_must_be_named_where_there_are_two(void **state)
{
	(void)state;
	struct stage s;
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
	struct stage s;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs_that_run_are_reckoned_one_after_the_other),
		cmocka_unit_test(a_queue_must_be_named_where_there_are_two),
		cmocka_unit_test(what_is_not_there_is_said),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
