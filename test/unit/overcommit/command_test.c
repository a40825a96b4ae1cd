/* `sluice overcommit`: its command line, and a node asked of an API server. */
#include "test/unit/kube/test.h"

#include "cli/overcommit/account.h"
#include "cli/overcommit/cluster.h"
#include "cli/overcommit/options.h"
#include "cli/overcommit/report.h"
#include "test/unit/kube/scripted_server.h"

#define STATUS(reason)                                                                             \
	"{\"kind\":\"Status\",\"status\":\"Failure\",\"message\":\"" reason "\",\"reason\":\"x\"}"
#define NOW INT64_C(1795255230000) /* 2026-11-21T10:00:30Z */

#define NODE "GET /api/v1/nodes/n1 HTTP"
#define PODS "GET /api/v1/pods?fieldSelector=spec.nodeName%3Dn1 HTTP"
#define CONFIGMAP "GET /api/v1/namespaces/kube-system/configmaps/ack-slo-config HTTP"
#define RULES "GET /apis/sluice.dev/v1alpha1/nodeovercommits HTTP"
#define AGENT "GET /apis/visibility.sluice.dev/v1alpha1/overcommits/n1 HTTP"
#define NODE_USAGE "GET /apis/metrics.k8s.io/v1beta1/nodes/n1 HTTP"
#define POD_USAGE "GET /apis/metrics.k8s.io/v1beta1/namespaces/x/pods/a HTTP"

#define A_NODE                                                                                     \
	"{\"kind\":\"Node\",\"metadata\":{\"name\":\"n1\",\"annotations\":{"                       \
	"\"sluice.dev/overcommit-sample\":\"2026-11-21T10:00:00Z\"}},\"status\":{"                 \
	"\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}],"                               \
	"\"capacity\":{\"cpu\":\"10\",\"memory\":\"10G\",\"kubernetes.io/batch-cpu\":\"4k\"},"     \
	"\"allocatable\":{\"cpu\":\"10\",\"memory\":\"10G\",\"kubernetes.io/batch-cpu\":\"5k\"}}}"
#define A_POD(name, phase)                                                                         \
	"{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"x\"},\"spec\":{\"nodeName\":\"n1\"," \
	"\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"2\",\"memory\":\"2G\"}}}]},"      \
	"\"status\":{\"phase\":\"" phase "\"}}"
#define CONFIG(text)                                                                               \
	"{\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"ack-slo-config\",\"namespace\":"         \
	"\"kube-system\"},\"data\":{\"colocation-config\":\"" text "\"}}"
#define USAGE_OF_NODE                                                                              \
	"{\"kind\":\"NodeMetrics\",\"metadata\":{\"name\":\"n1\"},\"timestamp\":"                  \
	"\"2026-11-21T10:00:20Z\",\"usage\":{\"cpu\":\"2\",\"memory\":\"2G\"}}"
#define USAGE_OF_POD                                                                               \
	"{\"kind\":\"PodMetrics\",\"metadata\":{\"name\":\"a\",\"namespace\":\"x\"},"              \
	"\"containers\":[{\"usage\":{\"cpu\":\"1\",\"memory\":\"1G\"}}]}"

struct stage {
	struct ev_loop *loop;
	struct scripted_server *server;
	struct kube_config *config;
	struct snapshot snapshot;
	struct err e;
};

static void stage_open(struct stage *s)
{
	*s = (struct stage){.loop = ev_loop_new(EVFLAG_AUTO)};
	s->server = scripted_server_new(s->loop);
	s->config = config_for(scripted_server_url(s->server), NULL);
	snapshot_init(&s->snapshot);
}

static void stage_close(struct stage *s)
{
	assert_int_equal(scripted_server_unexpected(s->server), 0);
	assert_int_equal(scripted_server_unused(s->server), 0);
	snapshot_done(&s->snapshot);
	scripted_server_free(s->server);
	kube_config_free(s->config);
	ev_loop_destroy(s->loop);
}

static void answer(struct stage *s, const char *line, int status, const char *body)
{
	script_answer(scripted_server_expect(s->server, line), status, "", body);
}

static int ask(struct stage *s)
{
	struct overcommit_cluster c = {s->loop, s->config, "kube-system/ack-slo-config"};
	int rc = overcommit_cluster_read(&c, "n1", &s->snapshot, &s->e);
	return rc < 0 ? rc : snapshot_close(&s->snapshot, &s->e);
}

static void expect_text(struct stage *s, const char *text)
{
	struct account a;
	struct style plain = {false, false};
	struct buf out;
	buf_init(&out, 1 << 20);
	account_make(&s->snapshot, &s->snapshot.node[0], NOW, NULL, false, &a);
	report_account(&a, true, NOW, &plain, &out);
	assert_string_equal(buf_text(&out), text);
	buf_done(&out);
}

static void expect_json(struct stage *s, const char *begin, const char *end)
{
	struct account a;
	struct buf out;
	buf_init(&out, 1 << 20);
	account_make(&s->snapshot, &s->snapshot.node[0], NOW, NULL, false, &a);
	report_account_json(&a, true, NOW, &out);
	if (!slice_starts(buf_slice(&out), begin) || !slice_ends(buf_slice(&out), end))
		fail_msg("%s", buf_text(&out));
	buf_done(&out);
}

/* 10 * 65 % = 6.5, less 1 of the system and 1 of a: 4.5 and 4.5G. b has ended: nobody asks of it.
 */
static void a_node_that_lends(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	answer(&s, NODE, 200, A_NODE);
	answer(&s, PODS, 200,
		"{\"kind\":\"PodList\",\"items\":[" A_POD("a", "Running") "," A_POD(
			"b", "Succeeded") "]}");
	answer(&s, CONFIGMAP, 200, CONFIG("{\\\"enable\\\":true}"));
	answer(&s, RULES, 404, "page not found");
	answer(&s, AGENT, 404, STATUS("no such API"));
	answer(&s, NODE_USAGE, 200, USAGE_OF_NODE);
	answer(&s, POD_USAGE, 200, USAGE_OF_POD);
	assert_int_equal(ask(&s), 0);
	expect_text(&s,
		"Node n1 may lend 4500m cpu and 4500M memory.\n"
		"  By profile ack, as ConfigMap kube-system/ack-slo-config has it.\n"
		"  It publishes kubernetes.io/batch-cpu 5000.\n"
		"  Its capacity says otherwise: kubernetes.io/batch-cpu 4000.\n"
		"  The sample behind that was taken at 2026-11-21T10:00:00Z, 30s ago.\n"
		"  It uses 2 cpu and 2G memory, by a sample of 2026-11-21T10:00:20Z, 10s old. 1 "
		"ordinary pod, 0 that live on what is lent.\n"
		"                     CPU  MEMORY\n"
		"    allocatable       10     10G\n"
		"  - kept free      3500m   3500M  total use must stay below 65 % of cpu and 65 % of "
		"memory\n"
		"  - system             1      1G  the larger of used (1, 1G) and reserved (0, 0)\n"
		"  - ordinary pods      1      1G  what they use\n"
		"  = may be lent    4500m   4500M\n"
		"  That is kubernetes.io/batch-cpu 4500, kubernetes.io/batch-memory 4500000000.\n");
	expect_json(&s,
		"{\"node\":\"n1\",\"profile\":\"ack\",\"cpu_milli\":4500,\"memory_bytes\":"
		"4500000000,\"degraded\":false,\"reason\":\"\",\"terms\":{\"cpu\":{",
		",\"published\":{\"kubernetes.io/batch-cpu\":5000},\"published_sample\":"
		"\"2026-11-21T10:00:00.000Z\",\"sample\":\"2026-11-21T10:00:20.000Z\",\"now\":"
		"\"2026-11-21T10:00:30.000Z\"}\n");
	stage_close(&s);
}

static void a_node_for_which_nobody_switched_it_on(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	answer(&s, NODE, 200, A_NODE);
	answer(&s, PODS, 200, "{\"kind\":\"PodList\",\"items\":[]}");
	answer(&s, CONFIGMAP, 404, STATUS("not found"));
	answer(&s, RULES, 200,
		"{\"items\":[{\"metadata\":{\"name\":\"a\"},\"spec\":{\"enable\":7}},"
		"{\"metadata\":{\"name\":\"b\"},\"spec\":{\"nodeSelector\":{\"matchLabels\":"
		"{\"no\":\"x\"}}}}]}");
	answer(&s, AGENT, 503, STATUS("no leader"));
	answer(&s, NODE_USAGE, 503, STATUS("service unavailable"));
	assert_int_equal(ask(&s), 0); /* and no pod is asked for when metrics are not served */
	assert_non_null(strstr(buf_text(&s.snapshot.notes),
		"NodeOvercommit a: spec.enable: must be true or false"));
	assert_non_null(strstr(buf_text(&s.snapshot.notes), "no usage: GET /apis/metrics.k8s.io"));
	expect_text(&s, "Node n1 lends nothing: lending is off for it.\n"
			"  What it would lend is not known: there is no sample of what it uses.\n"
			"  It publishes kubernetes.io/batch-cpu 5000.\n"
			"  Its capacity says otherwise: kubernetes.io/batch-cpu 4000.\n"
			"  The sample behind that was taken at 2026-11-21T10:00:00Z, 30s ago.\n");
	expect_json(&s,
		"{\"node\":\"n1\",\"profile\":\"ack\",\"cpu_milli\":0,\"memory_bytes\":0,"
		"\"degraded\":false,\"reason\":\"disabled\",\"terms\":{},",
		"\"sample\":null,\"now\":\"2026-11-21T10:00:30.000Z\"}\n");
	stage_close(&s);
}

static void a_node_that_nobody_measures(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	answer(&s, NODE, 200, A_NODE);
	answer(&s, PODS, 200, "{\"kind\":\"PodList\",\"items\":[" A_POD("a", "Running") "]}");
	answer(&s, CONFIGMAP, 404, STATUS("not found"));
	answer(&s, RULES, 200,
		"{\"items\":[{\"metadata\":{\"name\":\"all\"},\"spec\":{"
		"\"usageSource\":\"kubelet\"}}]}");
	answer(&s, AGENT, 403, STATUS("overcommits is forbidden"));
	answer(&s, NODE_USAGE, 404, STATUS("not found"));
	answer(&s, POD_USAGE, 404, STATUS("not found"));
	assert_int_equal(ask(&s), 0);
	expect_text(&s,
		"Node n1 may lend nothing. NoSample: it has no NodeMetrics; without a "
		"measurement nothing is lent.\n"
		"  By profile ack, as NodeOvercommit all has it.\n"
		"  It publishes kubernetes.io/batch-cpu 5000.\n"
		"  Its capacity says otherwise: kubernetes.io/batch-cpu 4000.\n"
		"  The sample behind that was taken at 2026-11-21T10:00:00Z, 30s ago.\n"
		"  The controller asks its kubelet (usageSource); this is what metrics.k8s.io "
		"says.\n"
		"  That is kubernetes.io/batch-cpu 0.\n");
	stage_close(&s);
}

#define AN_AGENT(more)                                                                                 \
	"{\"sampleTime\":\"2026-11-21T10:00:29Z\",\"used\":{\"cpuMilli\":3000,\"memoryBytes\":"        \
	"2000000000},\"gocran\":{\"cpuMilli\":1,\"memoryBytes\":1},\"highPods\":2,\"lowPods\":14,"     \
	"\"withoutSample\":0,\"terms\":{\"cpu\":{\"policy\":\"usage\",\"base\":10000,\"margin\":3500," \
	"\"systemUsed\":500,\"system\":500,\"used\":1500,\"taken\":1500,\"cap\":-1,\"result\":4500},"  \
	"\"memory\":{\"policy\":\"usage\",\"base\":10000000000,\"margin\":3500000000,\"taken\":"       \
	"2000000000,\"cap\":-1,\"result\":4500000000}},\"agent\":{" more "}}"

/* The controller goes by its agent, and the sum is the controller's: metrics are not asked for. */
static void a_node_with_an_agent(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	answer(&s, NODE, 200, A_NODE);
	answer(&s, PODS, 200, "{\"kind\":\"PodList\",\"items\":[]}");
	answer(&s, CONFIGMAP, 200,
		CONFIG("{\\\"enable\\\":true,\\\"cpuSuppressPolicy\\\":\\\"cpuset\\\"}"));
	answer(&s, RULES, 404, "page not found");
	answer(&s, AGENT, 200,
		AN_AGENT(
			"\"ageMs\":800,\"isSource\":true,\"lentPods\":14,\"heldPods\":3,\"overPods\":"
			"1,\"usedCpuMilli\":11860,\"askedCpuMilli\":14000,\"mayCpuMilli\":12400,"
			"\"lacks\":[\"hold\",\"end\"]"));
	assert_int_equal(ask(&s), 0);
	expect_text(&s,
		"Node n1 may lend 4500m cpu and 4500M memory.\n"
		"  By profile ack, as ConfigMap kube-system/ack-slo-config has it.\n"
		"  It publishes kubernetes.io/batch-cpu 5000.\n"
		"  Its capacity says otherwise: kubernetes.io/batch-cpu 4000.\n"
		"  The sample behind that was taken at 2026-11-21T10:00:00Z, 30s ago.\n"
		"  It uses 3 cpu and 2G memory, by a sample of 2026-11-21T10:00:29Z, 1s old. 2 "
		"ordinary pods, 14 that live on what is lent.\n"
		"  Its agent: 0.8 s ago; 14 lent pods use 11.9 of 12.4 cpu that they may have now, "
		"3 are held below what they ask for.\n"
		"  1 of them uses more memory than asked for.\n"
		"  What the agent cannot do there: hold, end.\n"
		"  cpuSuppressPolicy is cpuset, and is taken as cfsQuota: cpusets make pods fail to "
		"start.\n"
		"                     CPU  MEMORY\n"
		"    allocatable       10     10G\n"
		"  - kept free      3500m   3500M  total use must stay below 65 % of cpu and 65 % of "
		"memory\n"
		"  - system          500m       0  the larger of used (500m, 0) and reserved (0, 0)\n"
		"  - ordinary pods  1500m      2G  what they use\n"
		"  = may be lent    4500m   4500M\n"
		"  That is kubernetes.io/batch-cpu 4500, kubernetes.io/batch-memory 4500000000.\n");
	expect_json(&s, "{\"node\":\"n1\",\"profile\":\"ack\",\"cpu_milli\":4500,",
		",\"agent\":{\"ageMs\":800,\"isSource\":true,\"lentPods\":14,\"heldPods\":3,"
		"\"overPods\":1,\"usedCpuMilli\":11860,\"askedCpuMilli\":14000,"
		"\"mayCpuMilli\":12400,\"lacks\":[\"hold\",\"end\"]}}\n");
	stage_close(&s);
}

static void what_an_agent_says_in_a_line(void **state)
{
	static const struct {
		const char *agent, *says;
	} cases[] = {
		{"", "nothing since this controller began to lead.\n"},
		{"\"ageMs\":42000,\"lentPods\":0", "42s ago.\n"},
		{"\"ageMs\":0,\"lentPods\":1,\"usedCpuMilli\":40,\"askedCpuMilli\":1000,"
		 "\"mayCpuMilli\":null",
			"0.0 s ago; 1 lent pod uses 0.0 of 1.0 cpu that it asks for.\n"},
		{"\"ageMs\":1000,\"lentPods\":2,\"heldPods\":1,\"usedCpuMilli\":50,\"mayCpuMilli\":0",
			"1.0 s ago; 2 lent pods use 0.1 of 0.0 cpu that they may have now, 1 is "
			"held below what it asks for.\n"},
		{"\"ageMs\":1000,\"lacks\":[7,\"a\\u001bb\"]",
			"1.0 s ago.\n  What the agent cannot do there: a?b.\n"},
	};
	(void)state;
	for (size_t i = 0; i < ROWS(cases); i++) {
		const cJSON *o;
		struct agent a;
		struct buf text, out;
		struct json *json = json_new(1 << 20);
		buf_init(&text, 1 << 16);
		buf_init(&out, 1 << 16);
		buf_printf(&text, "{\"agent\":{%s}}", cases[i].agent);
		assert_int_equal(json_parse(json, buf_slice(&text), &o, NULL), 0);
		agent_read(o, &a);
		agent_put(&a, &out);
		assert_true(slice_starts(buf_slice(&out), "  Its agent: "));
		assert_string_equal(buf_text(&out) + strlen("  Its agent: "), cases[i].says);
		agent_done(&a);
		buf_done(&text);
		buf_done(&out);
		json_free(json);
	}
}

static void what_is_refused_says_why(void **state)
{
	(void)state;
	static const struct {
		const char *line;
		int status;
		const char *body;
		int code;
		const char *says;
	} cases[] = {
		{NODE, 404, STATUS("not found"), ERR_GONE, "there is no Node n1 in context k"},
		{NODE, 403, STATUS("nodes is forbidden"), ERR_DENIED, "nodes is forbidden"},
		{NODE, 503, "", ERR_BUSY, "GET /api/v1/nodes/n1"},
		{NODE, 200, "[1", ERR_INVALID, ""},
		{PODS, 403, STATUS("pods is forbidden"), ERR_DENIED, "pods is forbidden"},
		{CONFIGMAP, 403, STATUS("configmaps is forbidden"), ERR_DENIED, "is forbidden"},
		{CONFIGMAP, 200, CONFIG("{\\\"enable\\\":7}"), ERR_INVALID,
			"only it knows: ConfigMap kube-system/ack-slo-config: "
			"colocation-config.enable: must be true or false"},
		{RULES, 403, STATUS("nodeovercommits is forbidden"), ERR_DENIED, "is forbidden"},
		{NODE_USAGE, 403, STATUS("nodes.metrics.k8s.io is forbidden"), ERR_DENIED,
			"is forbidden"},
	};
	static const struct {
		const char *line, *body;
	} good[] = {{NODE, A_NODE}, {PODS, "{\"kind\":\"PodList\",\"items\":[]}"},
		{CONFIGMAP, CONFIG("{}")}, {RULES, "{\"items\":[]}"}, {AGENT, "{}"},
		{NODE_USAGE, USAGE_OF_NODE}};
	for (size_t i = 0; i < ROWS(cases); i++) {
		struct stage s;
		stage_open(&s);
		for (size_t k = 0; k < ROWS(good) && strcmp(good[k].line, cases[i].line) != 0; k++)
			answer(&s, good[k].line, 200, good[k].body);
		answer(&s, cases[i].line, cases[i].status, cases[i].body);
		assert_int_equal(ask(&s), cases[i].code);
		if (!strstr(s.e.text, cases[i].says))
			fail_msg("case %zu says: %s", i, s.e.text);
		stage_close(&s);
	}
}

/* ---- the command line ------------------------------------------------------------------------ */

/* '' is an empty word. */
static int parse(const char *line, struct overcommit_options *o, struct err *e)
{
	static char kept[512], name[] = "overcommit", empty[] = "";
	char *argv[32] = {name};
	int argc = 1;
	snprintf(kept, sizeof(kept), "%s", line);
	for (char *word = strtok(kept, " "); word && argc < 31; word = strtok(NULL, " "))
		argv[argc++] = strcmp(word, "''") == 0 ? empty : word;
	return flags_read(&overcommit_flags, argc, argv, o, e);
}

static void command_lines(void **state)
{
	struct overcommit_options o;
	struct err e;
	(void)state;
	assert_int_equal(parse("calc -f a.yaml --filename=- -o json --now 2026-11-21T10:00:30Z "
			       "--profile koordinator",
				 &o, &e),
		0);
	assert_int_equal(o.verb, OVERCOMMIT_CALC);
	assert_int_equal(o.files.count, 2);
	assert_string_equal(o.files.text[1], "-");
	assert_true(o.json && o.has_profile);
	assert_int_equal(o.now_ms, NOW);
	assert_int_equal(o.profile, PROFILE_KOORDINATOR);
	assert_int_equal(parse("explain node/n1 --context c --overcommit-config ''", &o, &e), 0);
	assert_int_equal(o.verb, OVERCOMMIT_EXPLAIN);
	assert_string_equal(o.node, "n1");
	assert_string_equal(o.kube.context, "c");
	assert_string_equal(o.configmap, "");
	assert_int_equal(parse("explain n1", &o, &e), 0);
	assert_string_equal(o.configmap, "kube-system/ack-slo-config");
	assert_int_equal(parse("", &o, &e), FLAGS_HELP);
	assert_int_equal(parse("calc -f x -h", &o, &e), FLAGS_HELP);
}

static void wrong_command_lines(void **state)
{
	static const struct {
		const char *line, *says;
	} cases[] = {
		{"calc", "calc wants files"},
		{"show", "\"show\" is neither calc nor explain"},
		{"calc n1 -f x", "\"n1\" is one name too many"},
		{"calc -f x --context c", "--kubeconfig and --context say nothing"},
		{"calc -f x -o yaml", "-o is \"yaml\"; it must be table or json"},
		{"calc -f x --now 10.00", "--now: \"10.00\" is not a time"},
		{"calc -f x --profile crane",
			"--profile is \"crane\"; it must be ack or koordinator"},
		{"calc -f", "-f wants a value"},
		{"calc --fast -f x", "--fast is not a flag"},
		{"explain", "explain wants a node"},
		{"explain a b", "\"b\" is one name too many"},
		{"explain ../x", "\"../x\" is not the name of a node"},
		{"explain n1 -f x", "explain asks the cluster"},
		{"explain n1 --overcommit-config a",
			"--overcommit-config is \"a\"; it must be NAMESPACE/NAME"},
		{"explain n1 --overcommit-config a/b/c", "it must be NAMESPACE/NAME"},
	};
	(void)state;
	for (size_t i = 0; i < ROWS(cases); i++) {
		struct overcommit_options o;
		struct err e = {""};
		if (parse(cases[i].line, &o, &e) == 0 || !strstr(e.text, cases[i].says))
			fail_msg("%s: %s", cases[i].line, e.text);
	}
}

static void amounts(void **state)
{
	static const struct {
		int64_t amount;
		bool cpu;
		const char *text;
	} cases[] = {{0, false, "0"}, {1, false, "1"}, {1024, false, "1024"},
		{33000000000, false, "33G"}, {INT64_C(5) << 30, false, "5Gi"},
		{1500000, false, "1.43Mi"}, {INT64_C(7) << 20, false, "7Mi"},
		{(INT64_C(1) << 30) + 1, false, "1.00Gi"},
		{(INT64_C(1) << 30) - 1, false, "1023.99Mi"}, {INT64_MAX, false, "8589934591.99Gi"},
		{1500, true, "1500m"}, {2000, true, "2"}, {0, true, "0"}};
	char text[48];
	(void)state;
	for (size_t i = 0; i < ROWS(cases); i++)
		assert_string_equal(
			report_amount(cases[i].amount, cases[i].cpu, text), cases[i].text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_node_that_lends),
		cmocka_unit_test(a_node_for_which_nobody_switched_it_on),
		cmocka_unit_test(a_node_that_nobody_measures),
		cmocka_unit_test(a_node_with_an_agent),
		cmocka_unit_test(what_an_agent_says_in_a_line),
		cmocka_unit_test(what_is_refused_says_why),
		cmocka_unit_test(command_lines),
		cmocka_unit_test(wrong_command_lines),
		cmocka_unit_test(amounts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
