/* Kueue's objects of an API server: the requests, and what follows from each answer. */
#include "test/unit/kube/test.h"

#include "cli/command_run.h"
#include "cli/commands.h"
#include "cli/import/cluster.h"
#include "test/unit/kube/scripted_server.h"

#define LIST(items) "{\"metadata\":{},\"items\":[" items "]}"
#define STATUS(reason)                                                                             \
	"{\"kind\":\"Status\",\"status\":\"Failure\",\"message\":\"" reason "\",\"reason\":\"x\"}"
#define QUEUE(api, name)                                                                           \
	"{\"apiVersion\":\"kueue.x-k8s.io/" api "\",\"kind\":\"ClusterQueue\",\"metadata\":"       \
	"{\"name\":\"" name "\",\"uid\":\"u\"},\"spec\":{}}"
#define POD_SPEC                                                                                   \
	"\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"resources\":"   \
	"{\"requests\":{\"cpu\":\"1\"}}}]}}"
#define JOB                                                                                        \
	"{\"metadata\":{\"name\":\"j\",\"namespace\":\"a\",\"uid\":\"u\",\"labels\":"              \
	"{\"kueue.x-k8s.io/queue-name\":\"main\"}},\"spec\":{\"suspend\":true," POD_SPEC "}}"

static const char *const kinds[] = {"resourceflavors", "cohorts", "clusterqueues", "localqueues",
	"workloadpriorityclasses", "topologies", "admissionchecks", "provisioningrequestconfigs",
	"multikueueconfigs", "multikueueclusters"};

struct stage {
	struct import_cluster c;
	struct scripted_server *server;
	struct kube_config *config;
	struct import import;
	struct buf out;
	struct err e;
};

static void stage_open(struct stage *s)
{
	*s = (struct stage){.c = {.loop = ev_loop_new(EVFLAG_AUTO),
				    .namespace_name = "a",
				    .kueue_namespace = "kueue-system",
				    .crane_namespace = "crane-system"}};
	s->server = scripted_server_new(s->c.loop);
	s->config = config_for(scripted_server_url(s->server), NULL);
	s->c.config = s->config;
	import_init(&s->import);
	buf_init(&s->out, 1 << 20);
}

static void stage_close(struct stage *s)
{
	assert_int_equal(scripted_server_unexpected(s->server), 0);
	assert_int_equal(scripted_server_unused(s->server), 0);
	buf_done(&s->out);
	import_done(&s->import);
	scripted_server_free(s->server);
	kube_config_free(s->config);
	ev_loop_destroy(s->c.loop);
}

static void answer(struct stage *s, const char *line, int status, const char *body)
{
	script_answer(scripted_server_expect(s->server, line), status, "", body);
}

/* The other kinds have nothing, and there is no configuration. */
static void answer_rest(struct stage *s, const char *but)
{
	for (size_t i = 0; i < ROWS(kinds); i++)
		if (strcmp(kinds[i], but) != 0)
			answer(s, kinds[i], 200, LIST(""));
}

static void the_newest_version_that_is_served_is_read_page_by_page(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	answer(&s, "GET /apis/kueue.x-k8s.io/v1beta2/clusterqueues?limit=500 HTTP", 404,
		STATUS("no such version"));
	answer(&s, "GET /apis/kueue.x-k8s.io/v1beta1/clusterqueues?limit=500 HTTP", 200,
		"{\"metadata\":{\"continue\":\"a/b+c=\"},\"items\":[" QUEUE("v1beta1", "one") "]}");
	answer(&s,
		"GET /apis/kueue.x-k8s.io/v1beta1/clusterqueues?limit=500&continue=a%2Fb%2Bc%3D HTTP",
		200, LIST(QUEUE("v1beta1", "two")));
	answer(&s, "GET /apis/kueue.x-k8s.io/v1beta2/namespaces/a/localqueues?limit=500 HTTP", 200,
		LIST(""));
	for (size_t i = 0; i < ROWS(kinds); i++)
		if (strcmp(kinds[i], "clusterqueues") != 0 && strcmp(kinds[i], "localqueues") != 0)
			answer(&s, kinds[i], 200, LIST(""));
	answer(&s, "GET /api/v1/namespaces/kueue-system/configmaps/kueue-manager-config HTTP", 200,
		"{\"metadata\":{\"name\":\"x\"},\"data\":{\"c.yaml\":\"apiVersion: config.kueue.x-k8s.io/v1beta2\\nkind: Configuration\\nfairSharing: {}\"}}");
	answer(&s, "GET /apis/batch/v1/namespaces/a/cronjobs?limit=500 HTTP", 200, LIST(""));
	answer(&s,
		"GET /apis/batch/v1/namespaces/a/jobs?limit=500&labelSelector=kueue.x-k8s.io%2Fqueue-name HTTP",
		200, LIST(JOB));
	assert_int_equal(import_cluster_read(&s.c, &s.import, &s.e), 0);
	assert_int_equal(s.import.nitems, 4);
	import_render_yaml(&s.import, &s.out);
	assert_non_null(strstr(buf_text(&s.out), "  name: two\n"));
	assert_non_null(strstr(buf_text(&s.out), "\"--fair-sharing\""));
	assert_non_null(strstr(buf_text(&s.out), "kubectl patch job 'j' -n 'a'"));
	assert_int_equal(import_count(&s.import, IMPORT_REFUSED), 0);
	stage_close(&s);
}

static void what_may_not_be_read_is_said_and_the_rest_is_read(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	answer(&s, "clusterqueues", 403, STATUS("clusterqueues is forbidden"));
	answer_rest(&s, "clusterqueues");
	answer(&s, "configmaps", 404, STATUS("not found"));
	answer(&s, "cronjobs", 200, LIST(""));
	answer(&s, "jobs", 403, STATUS("jobs is forbidden"));
	assert_int_equal(import_cluster_read(&s.c, &s.import, &s.e), 0);
	assert_int_equal(import_count(&s.import, IMPORT_REFUSED), 3);
	import_render_notes(&s.import, &s.out);
	assert_non_null(strstr(buf_text(&s.out), "ClusterQueue (refused): could not be read: "));
	assert_non_null(strstr(buf_text(&s.out), "jobs is forbidden"));
	stage_close(&s);
}

static void a_cluster_without_kueue_is_no_failure_of_its_configuration(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	for (size_t i = 0; i < 3 * ROWS(kinds); i++)
		answer(&s, "/apis/kueue.x-k8s.io/", 404, STATUS("not found"));
	answer(&s, "configmaps", 404, STATUS("not found"));
	answer(&s, "cronjobs", 200, LIST(""));
	answer(&s, "jobs", 200, LIST(""));
	assert_int_equal(import_cluster_read(&s.c, &s.import, &s.e), ERR_GONE);
	assert_string_equal(s.e.text,
		"there is nothing of Kueue in this cluster: neither its kinds nor a Job for it");
	assert_int_equal(import_count(&s.import, IMPORT_REFUSED), 0);
	stage_close(&s);
}

static void nothing_at_all_is_an_error(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	for (size_t i = 0; i < ROWS(kinds); i++)
		answer(&s, kinds[i], 403, STATUS("is forbidden"));
	answer(&s, "configmaps", 403, STATUS("is forbidden"));
	answer(&s, "cronjobs", 403, STATUS("is forbidden"));
	answer(&s, "jobs", 403, STATUS("is forbidden"));
	assert_int_equal(import_cluster_read(&s.c, &s.import, &s.e), ERR_DENIED);
	stage_close(&s);
	stage_open(&s);
	answer(&s, "resourceflavors", 503, "");
	assert_int_equal(import_cluster_read(&s.c, &s.import, &s.e), ERR_BUSY);
	stage_close(&s);
}

/* ---- Crane ----------------------------------------------------------------------------------- */

#define ENSURANCE(kind, rest)                                                                      \
	"{\"apiVersion\":\"ensurance.crane.io/v1alpha1\",\"kind\":\"" kind                         \
	"\",\"metadata\":{\"name\":\"x\",\"uid\":\"u\"},\"spec\":" rest "}"
#define NODE                                                                                       \
	"{\"metadata\":{\"name\":\"n\",\"uid\":\"u\"},\"status\":{\"capacity\":{\"cpu\":\"10\","   \
	"\"memory\":\"10Gi\"},\"allocatable\":{\"cpu\":\"10\",\"memory\":\"10Gi\"}}}"

static void crane_is_read_with_the_nodes_that_it_is_about(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	s.import.source = IMPORT_CRANE;
	answer(&s, "GET /apis/ensurance.crane.io/v1alpha1/avoidanceactions?limit=500 HTTP", 200,
		LIST(ENSURANCE("AvoidanceAction", "{\"throttle\":{}}")));
	answer(&s, "GET /apis/ensurance.crane.io/v1alpha1/nodeqoss?limit=500 HTTP", 200,
		LIST(ENSURANCE("NodeQOS",
			"{\"rules\":[{\"actionName\":\"x\",\"metricRule\":{\"name\":\"cpu_total_usage\",\"value\":\"4k\"}}]}")));
	answer(&s, "podqoss", 403, STATUS("podqoss is forbidden"));
	answer(&s, "GET /apis/prediction.crane.io/v1alpha1/namespaces/a/clusternodepredictions?",
		404, STATUS("not found"));
	answer(&s, "GET /apis/prediction.crane.io/v1alpha1/namespaces/a/timeseriespredictions?",
		200,
		LIST("{\"metadata\":{\"name\":\"t\",\"uid\":\"u\"},\"spec\":{\"targetRef\":{\"kind\":\"Deployment\"}}}"));
	answer(&s, "GET /api/v1/nodes?limit=500 HTTP", 200, LIST(NODE));
	answer(&s, "GET /api/v1/namespaces/crane-system/configmaps/noderesource-tsp-template HTTP",
		404, STATUS("not found"));
	assert_int_equal(import_cluster_read(&s.c, &s.import, &s.e), 0);
	import_settle(&s.import);
	import_render_yaml(&s.import, &s.out);
	assert_non_null(strstr(buf_text(&s.out), "  cpuSuppressThresholdPercent: 40\n"));
	assert_int_equal(import_count(&s.import, IMPORT_REFUSED), 1); /* podqoss */
	assert_int_equal(import_count(&s.import, IMPORT_UNTOUCHED), 2);
	stage_close(&s);
}

static void a_cluster_without_crane_has_nothing_of_it(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	s.import.source = IMPORT_CRANE;
	for (int i = 0; i < 5; i++)
		answer(&s, "crane.io/v1alpha1/", 404, STATUS("not found"));
	answer(&s, "/api/v1/nodes", 200, LIST(NODE));
	answer(&s, "configmaps", 404, STATUS("not found"));
	assert_int_equal(import_cluster_read(&s.c, &s.import, &s.e), ERR_GONE);
	assert_non_null(strstr(s.e.text, "nothing of Crane"));
	stage_close(&s);
}

/* ---- files ----------------------------------------------------------------------------------- */

static void put_file(const char *dir, const char *name, const char *text)
{
	char path[200];
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void make_directory(const char *dir, const char *name)
{
	char path[200];
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	assert_int_equal(mkdir(path, 0700), 0);
}

static void remove_all(const char *dir)
{
	char command[200];
	snprintf(command, sizeof(command), "rm -r %s", dir);
	assert_int_equal(system(command), 0);
}

static int import(char *path)
{
	char *argv[] = {(char *)"import", (char *)"kueue", (char *)"-f", path, NULL};
	return command_run(command_find("import"), 4, argv);
}

#define KUEUE(kind, rest) "apiVersion: kueue.x-k8s.io/v1beta2\nkind: " kind "\n" rest

static void a_folder_is_read_with_all_that_is_below_it(void **state)
{
	(void)state;
	char dir[] = "/tmp/sluice-import-XXXXXX", link[200];
	struct import i;
	struct err e = {""};
	assert_non_null(mkdtemp(dir));
	make_directory(dir, "b.yaml");
	make_directory(dir, "b.yaml/deeper");
	make_directory(dir, ".git");
	put_file(dir, "a.yml", KUEUE("ClusterQueue", "metadata: {name: a}\n"));
	put_file(dir, "b.yaml/deeper/b.json", KUEUE("ClusterQueue", "metadata: {name: b}\n"));
	put_file(dir, "b.yaml/deeper/readme", "{");
	put_file(dir, ".git/c.yaml", "{");
	snprintf(link, sizeof(link), "%s/b.yaml/again", dir);
	assert_int_equal(symlink(dir, link), 0);
	import_init(&i);
	if (import_file(&i, dir, &e) != 0)
		fail_msg("%s", e.text);
	assert_int_equal(i.nitems, 2);
	assert_string_equal(i.item[1].title, "ClusterQueue b");
	import_done(&i);
	remove_all(dir);
}

static void the_exit_code_says_whether_all_was_taken_whole(void **state)
{
	(void)state;
	char dir[] = "/tmp/sluice-import-XXXXXX";
	assert_non_null(mkdtemp(dir));
	put_file(dir, "a.yaml", KUEUE("ClusterQueue", "metadata: {name: a}\n"));
	assert_int_equal(import(dir), CLI_OK);
	put_file(dir, "b.yaml",
		KUEUE("ResourceFlavor", "metadata: {name: b}\nspec: {topologyName: racks}\n"));
	assert_int_equal(import(dir), CLI_FINDINGS);
	remove_all(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_newest_version_that_is_served_is_read_page_by_page),
		cmocka_unit_test(what_may_not_be_read_is_said_and_the_rest_is_read),
		cmocka_unit_test(a_cluster_without_kueue_is_no_failure_of_its_configuration),
		cmocka_unit_test(nothing_at_all_is_an_error),
		cmocka_unit_test(crane_is_read_with_the_nodes_that_it_is_about),
		cmocka_unit_test(a_cluster_without_crane_has_nothing_of_it),
		cmocka_unit_test(a_folder_is_read_with_all_that_is_below_it),
		cmocka_unit_test(the_exit_code_says_whether_all_was_taken_whole),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
