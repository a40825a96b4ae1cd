/* `sluice doctor`: its command line, what it prints, and what it asks of an API server. */
#include "doctor_stage.h"

#include <time.h>

#include "cli/command_run.h"
#include "cli/commands.h"
#include "cli/deployed.h"
#include "cli/simulate/documents.h"
#include "controller/common/clock.h"

#define TEXT(s) ((char[]){s}) /* argv is not const */

#define MUTATING "GET /apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies?limit=1 HTTP"
#define CONFIGMAP "GET /api/v1/namespaces/kube-system/configmaps/ack-slo-config HTTP"
#define RULES "GET /apis/sluice.dev/v1alpha1/nodeovercommits HTTP"
#define REVIEW "POST /apis/authorization.k8s.io/v1/subjectaccessreviews HTTP"
#define AGENTS "GET /apis/visibility.sluice.dev/v1alpha1/overcommits HTTP"
#define DAEMONSET "GET /apis/apps/v1/namespaces/sluice-node/daemonsets/sluice-node HTTP"
#define KOORDLETS "GET /apis/apps/v1/daemonsets?fieldSelector=metadata.name%3Dkoordlet HTTP"
#define USAGE "GET /apis/metrics.k8s.io/v1beta1/nodes HTTP"

/* ---- the command line, and what is printed -------------------------------------------------- */

static void the_command_line(void **state)
{
	(void)state;
	static const struct {
		const char *arg[3];
		const char *says; /* NULL: it is fine */
	} cases[] = {
		{{"-o", "json"}, NULL},
		{{"--ignore", "durability"}, NULL},
		{{"--settle", "0s"}, NULL},
		{{"-o", "yaml"}, "must be table or json"},
		{{"--ignore", "nothing"}, "there is no such check"},
		{{"-n", "../x"}, "is not the name of one"},
		{{"--overcommit-config", "x"}, "it must be NAMESPACE/NAME"},
		{{"--settle", "5"}, "from 0s to 600s"},
		{{"--cell"}, "wants a value"},
		{{"--frob"}, "is not a flag"},
		{{"cluster"}, "one name too many"},
	};
	for (size_t i = 0; i < ROWS(cases); i++) {
		char *argv[4] = {TEXT("doctor")};
		int argc = 1;
		while (cases[i].arg[argc - 1]) {
			argv[argc] = (char *)cases[i].arg[argc - 1];
			argc++;
		}
		struct doctor_options o;
		struct err e = {""};
		int rc = flags_read(&doctor_flags, argc, argv, &o, &e);
		assert_int_equal(rc < 0, cases[i].says != NULL);
		if (cases[i].says && !strstr(e.text, cases[i].says))
			fail_msg("case %zu says: %s", i, e.text);
	}
}

static void without_a_database_named_none_is_tried(void **state)
{
	(void)state;
	char *argv[] = {TEXT("doctor")};
	struct doctor_options o;
	struct err e;
	unsetenv("PGHOST");
	unsetenv("PGHOSTADDR");
	unsetenv("PGSERVICE");
	unsetenv("PGDATABASE");
	assert_int_equal(flags_read(&doctor_flags, 1, argv, &o, &e), 0);
	assert_null(o.database);
	setenv("PGHOST", "db", 1);
	assert_int_equal(flags_read(&doctor_flags, 1, argv, &o, &e), 0);
	assert_string_equal(o.database, "");
	unsetenv("PGHOST");
}

static void what_is_printed(void **state)
{
	(void)state;
	struct style plain = {false, false};
	struct findings f[3] = {{.name = "a", .group = "g", .looks_at = "l"},
		{.name = "b", .group = "g", .looks_at = "l", .usual_cure = mem_strdup("do this")},
		{.name = "c", .group = "g", .looks_at = "l"}};
	struct buf out;
	buf_init(&out, 1 << 16);
	findings_ok(&f[0], "fine");
	findings_add(&f[1], VERDICT_WARN, "one \"%s\"", "x");
	findings_add(&f[1], VERDICT_FAIL, "two\x1b[2J");
	findings_add(&f[1], VERDICT_WARN, "three");
	findings_cure(&f[1], "do\nthat");
	findings_skip(&f[2], "no right");
	findings_render_table(f, 3, &plain, &out);
	assert_string_equal(buf_text(&out), "ok       a                  fine\n"
					    "warn     b                  one \"x\"\n"
					    "fail     b                  two?[2J\n"
					    "             do this\n"
					    "warn     b                  three\n"
					    "             do\n"
					    "             that\n"
					    "skipped  c                  no right\n"
					    "3 findings: 1 checks ok, 0 warn, 1 fail, 1 skipped\n");
	buf_reset(&out);
	findings_ignore(&f[1]);
	findings_ignore(&f[0]);
	findings_render_json(f, 2, &out);
	assert_string_equal(buf_text(&out),
		"{\"checks\":[{\"name\":\"a\",\"group\":\"g\",\"looksAt\":\"l\",\"verdict\":\"ok\","
		"\"detail\":\"fine\",\"count\":0,\"findings\":[]},{\"name\":\"b\",\"group\":\"g\","
		"\"looksAt\":\"l\",\"verdict\":\"skipped\",\"detail\":\"ignored: 3 findings\","
		"\"count\":0,\"findings\":[]}],\"summary\":{\"findings\":0,\"ok\":1,\"warn\":0,"
		"\"fail\":0,\"skipped\":1}}\n");
	for (size_t i = 0; i < 3; i++)
		findings_done(&f[i]);
	buf_done(&out);
}

static void of_very_many_findings_the_rest_is_counted(void **state)
{
	(void)state;
	struct style plain = {false, false};
	struct findings f = {.name = "a", .usual_cure = mem_strdup("c")};
	struct buf out;
	buf_init(&out, 1 << 16);
	for (int i = 0; i < 50; i++) {
		findings_add(&f, VERDICT_FAIL, "%d", i);
		findings_cure(&f, "%d", i);
	}
	findings_render_table(&f, 1, &plain, &out);
	assert_non_null(strstr(buf_text(&out), "             and 30 more\n50 findings"));
	findings_done(&f);
	buf_done(&out);
}

static void nobody_there_is_code_3(void **state)
{
	(void)state;
	char *dir = make_dir(), path[600];
	write_file(dir, "config",
		"current-context: k\ncontexts: [{name: k, context: {cluster: c, user: u}}]\n"
		"clusters: [{name: c, cluster: {server: \"https://127.0.0.1:1\"}}]\n"
		"users: [{name: u, user: {token: x}}]\n",
		0600);
	snprintf(path, sizeof(path), "%s/config", dir);
	char *argv[] = {TEXT("doctor"), TEXT("--kubeconfig"), path, TEXT("--database"),
		TEXT("host=/nowhere")};
	assert_int_equal(command_run(command_find("doctor"), 5, argv), CLI_UNREACHABLE);
	char *wrong[] = {TEXT("doctor"), TEXT("--kubeconfig"), TEXT("/nowhere/config")};
	assert_int_equal(command_run(command_find("doctor"), 3, wrong), CLI_USAGE);
	remove_dir(dir);
}

/* ---- the server ----------------------------------------------------------------------------- */

static void versions(void **state)
{
	(void)state;
	static const struct {
		const char *body;
		enum verdict verdict;
		const char *says;
	} cases[] = {
		{"{\"major\":\"1\",\"minor\":\"36\"}", VERDICT_OK, "Kubernetes 1.36"},
		{"{\"major\":\"1\",\"minor\":\"37+\"}", VERDICT_OK, "Kubernetes 1.37"},
		{"{\"major\":\"1\",\"minor\":\"38\"}", VERDICT_WARN, "tested with 1.34 to 1.37"},
		{"{\"major\":\"1\",\"minor\":\"35\"}", VERDICT_WARN, "sluice.dev/preemptible"},
		{"{\"major\":\"1\",\"minor\":\"30\"}", VERDICT_WARN, "Kubernetes 1.30"},
		{"{\"major\":\"1\",\"minor\":\"29\"}", VERDICT_FAIL, "any user can start"},
		{"{}", VERDICT_SKIPPED, "does not say"},
	};
	for (size_t i = 0; i < ROWS(cases); i++) {
		struct stage s;
		stage_open(&s);
		answer(&s, "GET /version HTTP", 200, cases[i].body);
		examine(&s, "api-server");
		expect(&s, VERDICT_OK, "answers");
		assert_true(s.p.api_answers);
		examine(&s, "version");
		expect(&s, cases[i].verdict, cases[i].says);
		stage_close(&s);
	}
}

static void a_refusal_is_an_answer_too(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	answer(&s, "GET /version HTTP", 403, STATUS("forbidden: who are you"));
	examine(&s, "api-server");
	expect(&s, VERDICT_FAIL, "who are you");
	assert_true(s.p.api_answers);
	stage_close(&s);
}

static void mutating_policies(void **state)
{
	(void)state;
	static const struct {
		int status;
		enum verdict verdict;
		bool none;
	} cases[] = {
		{200, VERDICT_OK, false}, {404, VERDICT_WARN, true}, {403, VERDICT_SKIPPED, false}};
	for (size_t i = 0; i < ROWS(cases); i++) {
		struct stage s;
		stage_open(&s);
		answer(&s, MUTATING, cases[i].status, STATUS("x"));
		examine(&s, "mutating-policies");
		assert_int_equal(s.f.verdict, cases[i].verdict);
		assert_int_equal(s.p.no_mutating, cases[i].none);
		stage_close(&s);
	}
}

static void the_clock_of_the_server(void **state)
{
	(void)state;
	static const struct {
		int off_s;
		enum verdict verdict;
		const char *says;
	} cases[] = {{0, VERDICT_OK, "within"}, {3, VERDICT_OK, "within"},
		{600, VERDICT_WARN, "ahead of"}, {-600, VERDICT_WARN, "behind"}};
	for (size_t i = 0; i < ROWS(cases); i++) {
		struct stage s;
		char date[80];
		time_t then = (time_t)(clock_now_ms() / 1000) + cases[i].off_s;
		stage_open(&s);
		strftime(date, sizeof(date), "Date: %a, %d %b %Y %H:%M:%S GMT\r\n", gmtime(&then));
		script_answer(scripted_server_expect(s.server, "GET /version"), 200, date, "{}");
		examine(&s, "api-server");
		examine(&s, "api-clock");
		expect(&s, cases[i].verdict, cases[i].says);
		stage_close(&s);
	}
	struct stage s;
	stage_open(&s);
	answer(&s, "GET /version", 200, "{}");
	examine(&s, "api-server");
	examine(&s, "api-clock");
	expect(&s, VERDICT_SKIPPED, "does not say");
	stage_close(&s);
}

#define CONTROLLERS                                                                                \
	"GET /api/v1/namespaces/sluice-system/pods?labelSelector=app.kubernetes.io%2Fname%3D"      \
	"sluice-controller HTTP"
#define READY(is)                                                                                  \
	"\"conditions\":[{\"type\":\"Ready\",\"status\":\"" is                                     \
	"\",\"lastTransitionTime\":\"2026-11-21T10:00:00Z\"}]"
#define POD(status) "{\"items\":[{\"metadata\":{\"name\":\"c-1\"},\"status\":{" status "}}]}"
#define ENDED(code)                                                                                \
	",\"containerStatuses\":[{\"lastState\":{\"terminated\":{\"exitCode\":" code               \
	",\"finishedAt\":\"2026-11-21T09:00:00Z\"}}}]"

/* What the last question of a check is answered, and what it makes of it. */
struct answer_case {
	int status;
	const char *body;
	enum verdict verdict;
	const char *says;
};

static void examine_answers(const char *check, const char *question,
	void (*before)(struct stage *s), const struct answer_case *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct stage s;
		stage_open(&s);
		if (before)
			before(&s);
		answer(&s, question, cases[i].status, cases[i].body);
		examine(&s, check);
		expect(&s, cases[i].verdict, cases[i].says);
		stage_close(&s);
	}
}

#define READYZ "GET /api/v1/namespaces/sluice-system/pods/c-1:8081/proxy/readyz HTTP"
#define LEADS "leading: epoch 3, cell default, as c-1\n"
#define STALE                                                                                      \
	"- has not been able to follow clusterqueues for 1m15s: what it knows of them is as old\n"

static void controllers_that_do_not_follow_jobs(void **state)
{
	(void)state;
	static const struct {
		int status;
		const char *body;
		int asked; /* how /readyz is answered */
		const char *readyz;
		enum verdict verdict;
		const char *says;
	} cases[] = {{200, POD(READY("True")), 200, LEADS, VERDICT_OK,
			     "1 of 1 ready, and none names a kind"},
		{200, POD(READY("True") ENDED("3")), 200, LEADS, VERDICT_OK, "1 of 1 ready"},
		{200, POD(READY("True")), 403, STATUS("no pods/proxy"), VERDICT_OK,
			"follow Jobs; of other kinds that is not known (GET "},
		{200, POD(READY("True")), 200, "<html>", VERDICT_OK, "not answer as a controller"},
		{200, POD(READY("True")), 200, LEADS STALE, VERDICT_WARN,
			"pod sluice-system/c-1: has not been able to follow clusterqueues for 1m15s"},
		{200, POD(READY("False")), 503, STATUS("no address"), VERDICT_WARN,
			"sluice-system/c-1 is not ready since 2026-11-21T10:00:00Z"},
		{200, POD("\"phase\":\"Pending\""), 503, STATUS("no address"), VERDICT_WARN,
			"not ready since it was made"},
		{200, POD(READY("True") ENDED("4")), 200, LEADS, VERDICT_WARN,
			"could not follow Jobs for a minute; it gave the lease back and ended "
			"(exit code 4) at 2026-11-21T09:00:00Z"},
		{200, "{\"items\":[]}", 0, NULL, VERDICT_SKIPPED, "no pod of a controller"},
		{403, STATUS("you may not"), 0, NULL, VERDICT_SKIPPED, "you may not"}};
	for (size_t i = 0; i < ROWS(cases); i++) {
		struct stage s;
		stage_open(&s);
		answer(&s, CONTROLLERS, cases[i].status, cases[i].body);
		if (cases[i].readyz)
			answer(&s, READYZ, cases[i].asked, cases[i].readyz);
		examine(&s, "controllers");
		expect(&s, cases[i].verdict, cases[i].says);
		stage_close(&s);
	}
}

/* All that one names that is not ready, at the port that its manifest calls "probes". */
static void controllers_say_what_they_miss(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	answer(&s, CONTROLLERS, 200,
		"{\"items\":[{\"metadata\":{\"name\":\"c-1\"},\"spec\":{\"containers\":[{\"ports\":["
		"{\"name\":\"http\",\"containerPort\":80},"
		"{\"name\":\"probes\",\"containerPort\":9000}]}]},"
		"\"status\":{" READY("False") "}}]}");
	answer(&s, "GET /api/v1/namespaces/sluice-system/pods/c-1:9000/proxy/readyz HTTP", 503,
		"not ready\n- the ledger is not connected\n" STALE);
	examine(&s, "controllers");
	assert_int_equal(s.f.count, 3);
	assert_string_equal(s.f.kept[1].text, "pod sluice-system/c-1: the ledger is not connected");
	assert_non_null(strstr(s.f.kept[2].text, "follow clusterqueues for 1m15s"));
	assert_non_null(strstr(s.f.kept[2].cure, "watch-trouble"));
	stage_close(&s);
}

static void usage_is_the_kubelets(struct stage *s)
{
	answer(s, CONFIGMAP, 404, STATUS("not found"));
	answer(s, RULES, 200, "{\"items\":[{\"spec\":{\"usageSource\":\"kubelet\"}}]}");
}

static void kubelets_need_a_right_of_their_own(void **state)
{
	(void)state;
	static const struct answer_case cases[] = {
		{201, "{\"status\":{\"allowed\":true}}", VERDICT_OK, "from the kubelets"},
		{201, "{\"status\":{\"allowed\":false}}", VERDICT_FAIL, "may not get nodes/proxy"},
		{403, STATUS("you may not"), VERDICT_SKIPPED, "you may not"}};
	examine_answers("metrics", REVIEW, usage_is_the_kubelets, cases, ROWS(cases));
}

static void what_was_deleted_stays_where_nobody_leads(void **state)
{
	(void)state;
#define QUEUES "GET /apis/sluice.dev/v1alpha1/clusterqueues "
#define FLAVORS "GET /apis/sluice.dev/v1alpha1/resourceflavors "
#define ITEM(name, more) "{\"metadata\":{\"name\":\"" name "\"" more "}}"
#define GOES ",\"deletionTimestamp\":\"2026-11-21T10:00:00Z\",\"finalizers\":"
#define OURS ITEM("night", GOES "[\"a/b\",\"sluice.dev/resource-in-use\"]")
	static const struct {
		int status;
		const char *queues, *flavors; /* NULL: not asked for */
		bool lease_known, led;
		enum verdict verdict;
		const char *says;
	} cases[] = {
		{200, ITEM("a", ""), ITEM("b", GOES "[\"a/b\"]"), true, false, VERDICT_OK,
			"no ClusterQ"},
		{200, "", OURS, true, true, VERDICT_OK, "1 being deleted"},
		{200, OURS, OURS, false, false, VERDICT_OK, "leads is not known"},
		{200, OURS, "", true, false, VERDICT_FAIL,
			"clusterqueue night was deleted at 2026-11"},
		{200, "", OURS, true, false, VERDICT_FAIL,
			"resourceflavor night was deleted at 2026"},
		{404, "", "", true, false, VERDICT_OK, "no ClusterQueue"},
		{403, "", NULL, true, false, VERDICT_SKIPPED, "not allowed"},
	};
	for (size_t i = 0; i < ROWS(cases); i++) {
		struct stage s;
		char list[1024];
		stage_open(&s);
		s.p.lease_known = cases[i].lease_known;
		s.p.led = cases[i].led;
		snprintf(list, sizeof(list), "{\"items\":[%s]}", cases[i].queues);
		answer(&s, QUEUES, cases[i].status,
			cases[i].status == 200 ? list : STATUS("not allowed"));
		if (cases[i].flavors) {
			snprintf(list, sizeof(list), "{\"items\":[%s]}", cases[i].flavors);
			answer(&s, FLAVORS, cases[i].status,
				cases[i].status == 200 ? list : STATUS("not allowed"));
		}
		examine(&s, "leftovers");
		expect(&s, cases[i].verdict, cases[i].says);
		stage_close(&s);
	}
}

static void objects_say_why_they_are_without_effect(void **state)
{
	(void)state;
#define CONDITION(type, status, reason)                                                                   \
	"{\"items\":[{\"metadata\":{\"name\":\"a\",\"namespace\":\"team\"},\"status\":{\"conditions\":[{" \
	"\"type\":\"" type "\",\"status\":\"" status "\",\"reason\":\"" reason                            \
	"\",\"message\":\"it is so\"}]}}]}"
	static const char *const rest[] = {"cohorts", "resourceflavors", "calendars", "runpolicies",
		"priceplans", "budgets", "advancereservations", "nodeovercommits"};
	static const struct {
		const char *local;
		enum verdict verdict;
		const char *says;
	} cases[] = {
		{CONDITION("Active", "False", "ClusterQueueDoesNotExist"), VERDICT_WARN,
			"LocalQueue team/a: ClusterQueueDoesNotExist: it is so"},
		{CONDITION("Valid", "False", "X"), VERDICT_WARN, "LocalQueue team/a: X"},
		{CONDITION("Active", "True", "Ready"), VERDICT_OK, "1 object of"},
		{CONDITION("Active", "False", "Stopped"), VERDICT_OK, "none says of itself"},
		{CONDITION("Active", "False", "ClusterQueueIsInactive"), VERDICT_OK, "none"},
		{CONDITION("Accepted", "False", "NotFree"), VERDICT_WARN,
			"LocalQueue team/a: NotFree"},
		{CONDITION("Accepted", "False", "InThePast"), VERDICT_OK, "none says of itself"},
		{CONDITION("Kept", "False", "QuotaLowered"), VERDICT_WARN,
			"LocalQueue team/a: QuotaLowered"},
		{CONDITION("Exhausted", "False", "NotExhausted"), VERDICT_OK, "none"},
		{NULL, VERDICT_SKIPPED, "not allowed"},
	};
	for (size_t i = 0; i < ROWS(cases); i++) {
		struct stage s;
		char path[128];
		stage_open(&s);
		answer(&s, QUEUES, 200, "{\"items\":[]}");
		answer(&s, "GET /apis/sluice.dev/v1alpha1/localqueues ", cases[i].local ? 200 : 403,
			cases[i].local ? cases[i].local : STATUS("not allowed"));
		for (size_t k = 0; cases[i].local && k < ROWS(rest); k++) {
			snprintf(path, sizeof(path), "GET /apis/sluice.dev/v1alpha1/%s ", rest[k]);
			answer(&s, path, k == 0 ? 404 : 200,
				k == 0 ? STATUS("not found") : "{\"items\":[]}");
		}
		examine(&s, "conditions");
		expect(&s, cases[i].verdict, cases[i].says);
		stage_close(&s);
	}
}

/* The controller says each fault in one of them: names that Active and Effective miss are two. */
static void each_condition_that_is_false_is_told(void **state)
{
	(void)state;
#define FALSE_IS(type, reason)                                                                     \
	"{\"type\":\"" type "\",\"status\":\"False\",\"reason\":\"" reason "\"}"
	static const char *const kinds[] = {"localqueues", "cohorts", "resourceflavors",
		"calendars", "runpolicies", "priceplans", "budgets", "advancereservations",
		"nodeovercommits"};
	struct stage s;
	char path[128];
	stage_open(&s);
	answer(&s, QUEUES, 200,
		"{\"items\":[{\"metadata\":{\"name\":\"a\"},\"status\":{\"conditions\":[" FALSE_IS(
			"Active", "FlavorNotFound") "," FALSE_IS("Effective",
			"NameNotFound") "]}},"
					"{\"metadata\":{\"name\":\"b\"},\"status\":{\"conditions\":[" FALSE_IS(
						"Active", "CohortCycle") "," FALSE_IS("Effective",
						"NameNotFound") "]}},"
								"{\"metadata\":{\"name\":\"c\"},\"status\":{\"conditions\":[" FALSE_IS(
									"Active",
									"FlavorNotFound") "," FALSE_IS("Effective",
									"WithoutEffect") "]}}]}");
	for (size_t k = 0; k < ROWS(kinds); k++) {
		snprintf(path, sizeof(path), "GET /apis/sluice.dev/v1alpha1/%s ", kinds[k]);
		answer(&s, path, 200, "{\"items\":[]}");
	}
	examine(&s, "conditions");
	assert_int_equal(s.f.count, 6);
	static const char *const told[] = {"a: FlavorNotFound", "a: NameNotFound", "b: CohortCycle",
		"b: NameNotFound", "c: FlavorNotFound", "c: WithoutEffect"};
	for (size_t i = 0; i < ROWS(told); i++)
		assert_non_null(strstr(s.f.kept[i].text, told[i]));
	stage_close(&s);
}

static void an_aggregated_api_that_is_not_reached(void **state)
{
	(void)state;
#define APISERVICE "GET /apis/apiregistration.k8s.io/v1/apiservices/v1alpha1.visibility.sluice.dev "
#define AVAILABLE(status)                                                                          \
	"{\"status\":{\"conditions\":[{\"type\":\"Available\",\"status\":\"" status                \
	"\",\"reason\":\"MissingEndpoints\",\"message\":\"no addresses\"}]}}"
	static const struct {
		int status;
		const char *body;
		enum verdict verdict;
		const char *says;
	} cases[] = {
		{200, AVAILABLE("True"), VERDICT_OK, "is answered"},
		{200, AVAILABLE("False"), VERDICT_WARN, "(MissingEndpoints: no addresses)"},
		{200, "{}", VERDICT_WARN, "(not looked at yet: no condition Available)"},
		{404, STATUS("not found"), VERDICT_SKIPPED, "is not installed"},
		{403, STATUS("not allowed"), VERDICT_SKIPPED, "not allowed"},
	};
	for (size_t i = 0; i < ROWS(cases); i++) {
		struct stage s;
		stage_open(&s);
		answer(&s, APISERVICE, cases[i].status, cases[i].body);
		examine(&s, "visibility");
		expect(&s, cases[i].verdict, cases[i].says);
		stage_close(&s);
	}
}

static void negative_priorities_mean_what_their_queue_says(void **state)
{
	(void)state;
#define CLASSES "GET /apis/sluice.dev/v1alpha1/workloadpriorityclasses "
#define POD_CLASSES "GET /apis/scheduling.k8s.io/v1/priorityclasses "
#define CLASS(name, value) "{\"metadata\":{\"name\":\"" name "\"},\"value\":" value "}"
#define QUEUE(spec) ITEM("q", ",\"x\":0},\"spec\":{" spec)
	static const struct {
		const char *classes, *pod_classes, *queue;
		enum verdict verdict;
		const char *says;
	} cases[] = {
		{CLASS("high", "5"), CLASS("normal", "0"),
			QUEUE("\"queueingStrategy\":\"StrictFIFO\""), VERDICT_OK,
			"it is clear of each ClusterQueue"},
		{CLASS("high", "5"), "",
			QUEUE("\"queueingStrategy\":\"StrictFIFO\",\"maxPriority\":-1"),
			VERDICT_WARN,
			"ClusterQueue q: all its Jobs fill gaps (maxPriority -1): they hold up no"},
		{CLASS("low", "-1"), CLASS("gaps", "-100"),
			QUEUE("\"preemption\":{\"reclaimWithinCohort\":\"Any\"}"), VERDICT_WARN,
			"ClusterQueue q: its Jobs of PriorityClass gaps (-100) fill gaps: they "
			"take back nothing"},
		{CLASS("low", "-1"), "", QUEUE("\"queueingStrategy\":\"StrictFIFO\""), VERDICT_WARN,
			"WorkloadPriorityClass low (-1) fill gaps: they hold up no"},
		{CLASS("low", "-1"), "",
			QUEUE("\"queueingStrategy\":\"StrictFIFO\",\"gapFillers\":{}"), VERDICT_OK,
			"it is clear of each ClusterQueue"},
		{CLASS("low", "-1"), "",
			QUEUE("\"preemption\":{\"reclaimWithinCohort\":\"LowerPriority\"}"),
			VERDICT_OK, "it is clear of each ClusterQueue"},
	};
	for (size_t i = 0; i < ROWS(cases); i++) {
		struct stage s;
		char list[1024];
		stage_open(&s);
		snprintf(list, sizeof(list), "{\"items\":[%s]}", cases[i].classes);
		answer(&s, CLASSES, 200, list);
		snprintf(list, sizeof(list), "{\"items\":[%s]}", cases[i].pod_classes);
		answer(&s, POD_CLASSES, 200, list);
		snprintf(list, sizeof(list), "{\"items\":[%s]}", cases[i].queue);
		answer(&s, QUEUES, 200, list);
		examine(&s, "gap-fillers");
		expect(&s, cases[i].verdict, cases[i].says);
		stage_close(&s);
	}
}

static void a_local_queue_that_jobs_name_is_there(void **state)
{
#define QUEUE_OF(ns, name) "{\"metadata\":{\"namespace\":\"" ns "\",\"name\":\"" name "\"}}"
#define JOB_OF(ns, queue, status)                                                                  \
	"{\"metadata\":{\"namespace\":\"" ns "\",\"labels\":{\"sluice.dev/queue-name\":\"" queue   \
	"\"}},\"status\":{" status "}}"
#define JOB_ENDED "\"conditions\":[{\"type\":\"Complete\",\"status\":\"True\"}]"
#define CHILD_OF(kind, name)                                                                       \
	"{\"metadata\":{\"namespace\":\"a\",\"labels\":{\"sluice.dev/queue-name\":\"main\"},"      \
	"\"ownerReferences\":[{\"apiVersion\":\"jobset.x-k8s.io/v1alpha2\",\"kind\":\"" kind       \
	"\",\"name\":\"" name "\",\"controller\":true}]}}"
	static const struct {
		const char *jobs;
		enum verdict verdict;
		const char *says;
	} cases[] = {
		{CHILD_OF("JobSet", "gang") "," JOB_OF("a", "main", "") "," CHILD_OF(
			 "JobSet", "gang") "," CHILD_OF("JobSet", "alone"),
			VERDICT_WARN, "2 Jobs of JobSet a/gang are queued one by one"},
		{CHILD_OF("JobSet", "alone") "," CHILD_OF("Other", "x") "," CHILD_OF("Other", "x"),
			VERDICT_OK, "each of 3 queued Jobs"},
		{"", VERDICT_OK, "each of 0 queued Jobs"},
		{JOB_OF("a", "main", "") "," JOB_OF("b", "spot", ""), VERDICT_OK,
			"each of 2 queued Jobs"},
		{JOB_OF("a", "mian", ""), VERDICT_WARN,
			"1 Job in namespace a names LocalQueue mian, which is not there; did you mean main?"},
		{JOB_OF("b", "main", "") "," JOB_OF("a", "main", "") "," JOB_OF("b", "main", ""),
			VERDICT_WARN,
			"2 Jobs in namespace b name LocalQueue main, which is not there"},
		{JOB_OF("a", "mian", JOB_ENDED) "," JOB_OF("kube-system", "x", ""), VERDICT_OK,
			"each of 0 queued Jobs"},
	};
	(void)state;
	for (size_t i = 0; i < ROWS(cases); i++) {
		struct stage s;
		char list[2048];
		stage_open(&s);
		answer(&s, "GET /apis/sluice.dev/v1alpha1/localqueues?limit=500 HTTP", 200,
			"{\"items\":[" QUEUE_OF("b", "spot") "," QUEUE_OF("a", "main") "]}");
		snprintf(list, sizeof(list), "{\"items\":[%s]}", cases[i].jobs);
		answer(&s,
			"GET /apis/batch/v1/jobs?limit=500&labelSelector=sluice.dev%2Fqueue-name HTTP",
			200, list);
		examine(&s, "queue-names");
		expect(&s, cases[i].verdict, cases[i].says);
		stage_close(&s);
	}
}

static void metrics_are_asked_for_where_somebody_lends(void **state)
{
	(void)state;
#define CONFIG(text) "{\"data\":{\"colocation-config\":\"" text "\"}}"
#define RULE(spec) "{\"items\":[{\"spec\":{" spec "}}]}"
	static const struct {
		const char *configmap; /* NULL: none */
		const char *rules;     /* NULL: not asked for */
		int usage;	       /* 0: not asked for */
		const char *nodes;
		enum verdict verdict;
		const char *says;
	} cases[] = {
		{NULL, "{\"items\":[]}", 0, NULL, VERDICT_SKIPPED, "idle resources are not lent"},
		{NULL, RULE("\"enable\":false"), 0, NULL, VERDICT_SKIPPED,
			"idle resources are not lent"},
		{NULL, RULE(""), 200, "{\"items\":[{}]}", VERDICT_OK, "served"},
		{NULL, RULE(""), 200, "{\"items\":[]}", VERDICT_WARN, "knows of no node"},
		{NULL, RULE(""), 404, "", VERDICT_FAIL, "what nodes use is not known"},
		{NULL, RULE(""), 503, "", VERDICT_FAIL, "what nodes use is not known"},
		{NULL, RULE(""), 403, STATUS("no"), VERDICT_SKIPPED, "no"},
		{CONFIG("{\\\"enable\\\":true}"), NULL, 404, "", VERDICT_FAIL, "is not known"},
		{CONFIG("{\\\"enable\\\":false}"), NULL, 0, NULL, VERDICT_SKIPPED,
			"idle resources are not lent"},
		{CONFIG("{\\\"nodeConfigs\\\":[{\\\"enable\\\":true}]}"), NULL, 200,
			"{\"items\":[{}]}", VERDICT_OK, "served"},
		{CONFIG("{"), NULL, 0, NULL, VERDICT_SKIPPED, "idle resources are not lent"},
	};
	for (size_t i = 0; i < ROWS(cases); i++) {
		struct stage s;
		stage_open(&s);
		answer(&s, CONFIGMAP, cases[i].configmap ? 200 : 404,
			cases[i].configmap ? cases[i].configmap : STATUS("not found"));
		if (cases[i].rules)
			answer(&s, RULES, 200, cases[i].rules);
		if (cases[i].usage)
			answer(&s, USAGE, cases[i].usage, cases[i].nodes);
		if (cases[i].usage == 404 || cases[i].usage == 503) /* agents may be enough */
			answer(&s, AGENTS, 404, STATUS("not found"));
		examine(&s, "metrics");
		expect(&s, cases[i].verdict, cases[i].says);
		stage_close(&s);
	}
}

/* ---- agents of nodes ------------------------------------------------------------------------ */

#define NODES(...) "{\"nodes\":[" __VA_ARGS__ "]}"
#define NODE(name, ...) "{\"node\":\"" name "\",\"enabled\":true" __VA_ARGS__ "}"
#define AGENT(age, lacks, deeds)                                                                   \
	",\"agent\":{\"ageMs\":" age ",\"lacks\":[" lacks "],\"deeds\":{" deeds "}}"
#define NO_KOORDLET "{\"items\":[]}"

static void what_agents_do_is_looked_at(void **state)
{
	static const struct {
		int status;
		const char *report, *koordlets; /* NULL: not asked for */
		enum verdict verdict;
		const char *says;
		int daemonset; /* 0: not asked for */
	} cases[] = {
		{404, STATUS("no such API"), NULL, VERDICT_SKIPPED, "only the controller knows"},
		{200, NODES(NODE("n1")), NULL, VERDICT_OK, "there are none: nothing on nodes holds",
			404},
		{200, NODES(NODE("n1")), NO_KOORDLET, VERDICT_WARN,
			"lend and have no agent: nothing there holds", 200},
		{200, NODES(NODE("n1", AGENT("800", "\"hold\",\"pressure\"", ""))), NO_KOORDLET,
			VERDICT_OK, "report from all 1 nodes that lend"},
		{200,
			NODES(NODE("n1", AGENT("800", "", "")) "," NODE(
				"n2") ",{\"node\":\"n3\",\"enabled\":false}"),
			NO_KOORDLET, VERDICT_WARN,
			"lend and have no agent: nothing there holds lent "
			"pods to what they ask for: n2"},
		{200, NODES(NODE("n1", AGENT("60001", "", ""))), NO_KOORDLET, VERDICT_WARN,
			"not reported for a minute: n1"},
		{200, NODES(NODE("n1", ",\"agent\":{}")), NO_KOORDLET, VERDICT_WARN,
			"not reported since this controller began to lead: n1"},
		{200, NODES(NODE("n1", AGENT("1", "\"tier\"", ""))), NO_KOORDLET, VERDICT_WARN,
			"no cgroup of best-effort pods"},
		{200, NODES(NODE("n1", AGENT("1", "\"memory\"", ""))), NO_KOORDLET, VERDICT_WARN,
			"cannot bound the memory"},
		{200, NODES(NODE("n1", AGENT("1", "", "\"refused\":3"))), NO_KOORDLET, VERDICT_WARN,
			"kernels of these nodes refused writes"},
		{200, NODES(NODE("n1", AGENT("1", "", "\"undone\":1"))), NO_KOORDLET, VERDICT_WARN,
			"somebody else writes the cgroups"},
		{200, NODES(NODE("n1", AGENT("1", "", ""))),
			"{\"items\":[{\"metadata\":{\"namespace\":\"koordinator-system\"}}]}",
			VERDICT_FAIL, "DaemonSet koordinator-system/koordlet"},
		{200,
			NODES(NODE("a") "," NODE("b") "," NODE("c") "," NODE("d") "," NODE(
				"e") "," NODE("f") "," NODE("g") "," NODE("n1",
				AGENT("1", "", ""))),
			NO_KOORDLET, VERDICT_WARN, ": a, b, c, d, e and 2 more"},
		{200,
			"{\"nodes\":[7,{},{\"node\":7},{\"node\":\"x\",\"enabled\":true,"
			"\"agent\":{\"ageMs\":\"1\",\"lacks\":7,\"deeds\":[]}}]}",
			NO_KOORDLET, VERDICT_WARN, "not reported"},
	};
	(void)state;
	for (size_t i = 0; i < ROWS(cases); i++) {
		struct stage s;
		stage_open(&s);
		answer(&s, CONFIGMAP, 404, STATUS("not found"));
		answer(&s, RULES, 200, RULE(""));
		answer(&s, AGENTS, cases[i].status, cases[i].report);
		if (cases[i].daemonset)
			answer(&s, DAEMONSET, cases[i].daemonset, "{}");
		if (cases[i].koordlets) {
			answer(&s, KOORDLETS, 200, cases[i].koordlets);
			answer(&s, CONFIGMAP, 404, STATUS("not found"));
		}
		examine(&s, "node-agents");
		expect(&s, cases[i].verdict, cases[i].says);
		stage_close(&s);
	}
}

static void more_agents_than_a_leader_serves_are_told(void **state)
{
	(void)state;
	for (int served = 2048; served <= 2049; served++) {
		struct stage s;
		struct buf report;
		buf_init(&report, 1 << 20);
		buf_puts(&report, "{\"nodes\":[7");
		for (int i = 0; i < served; i++)
			buf_puts(&report, "," NODE("n", AGENT("1", "", "")));
		buf_puts(&report, "]}");
		stage_open(&s);
		answer(&s, CONFIGMAP, 404, STATUS("not found"));
		answer(&s, RULES, 200, RULE(""));
		answer(&s, AGENTS, 200, buf_text(&report));
		answer(&s, KOORDLETS, 200, NO_KOORDLET);
		answer(&s, CONFIGMAP, 404, STATUS("not found"));
		examine(&s, "node-agents");
		if (served == 2048)
			expect(&s, VERDICT_OK, "report from all 2048 nodes");
		else
			expect(&s, VERDICT_WARN, "more agents than a leader serves (2048)");
		stage_close(&s);
		buf_done(&report);
	}
}

static void what_koordlet_would_do_is_told(void **state)
{
	(void)state;
	struct stage s;
#define QOS                                                                                             \
	"{\"data\":{\"colocation-config\":\"{\\\"enable\\\":true}\",\"resource-qos-config\":\"{\\\"clu" \
	"sterStrategy\\\":{\\\"lsClass\\\":{\\\"cpuQOS\\\":{\\\"enable\\\":true}}}}\"}}"
	stage_open(&s);
	answer(&s, CONFIGMAP, 200, QOS);
	answer(&s, AGENTS, 200, NODES(NODE("n1", AGENT("1", "", ""))));
	answer(&s, KOORDLETS, 200, NO_KOORDLET);
	answer(&s, CONFIGMAP, 200, QOS);
	examine(&s, "node-agents");
	expect(&s, VERDICT_WARN, "resource-qos-config: lsClass is passed over");
	stage_close(&s);
}

/* Where all nodes that lend have an agent, nobody needs a metrics-server. */
static void agents_are_enough(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	answer(&s, CONFIGMAP, 404, STATUS("not found"));
	answer(&s, RULES, 200, RULE(""));
	answer(&s, USAGE, 404, "");
	answer(&s, AGENTS, 200, NODES(NODE("n1", AGENT("1", "", ""))));
	examine(&s, "metrics");
	expect(&s, VERDICT_OK, "not needed");
	stage_close(&s);
	stage_open(&s);
	answer(&s, CONFIGMAP, 404, STATUS("not found"));
	answer(&s, RULES, 200, RULE("\"usageSource\":\"agent\""));
	examine(&s, "metrics");
	expect(&s, VERDICT_SKIPPED, "from the agents of nodes");
	stage_close(&s);
}

/* ---- what is installed ---------------------------------------------------------------------- */

/* Text with the first `from` made `to`. */
static char *edited(const char *text, const char *from, const char *to)
{
	struct buf b;
	const char *at = strstr(text, from);
	assert_non_null(at);
	buf_init(&b, 1 << 22);
	buf_add(&b, text, (size_t)(at - text));
	buf_puts(&b, to);
	buf_puts(&b, at + strlen(from));
	return buf_take(&b);
}

/* Each object of the folder is served as it was written; but of the named one, `from` is `to`, or
 * (from NULL) it is not there. */
static void serve(struct stage *s, const char *folder, const char *kind_and_name, const char *from,
	const char *to)
{
	for (size_t i = 0; i < DEPLOYED_COUNT; i++) {
		const cJSON *root;
		struct err e;
		if (strncmp(DEPLOYED[i].path, folder, strlen(folder)) != 0)
			continue;
		struct documents *d = documents_new(slice_of(DEPLOYED[i].text));
		while (documents_next(d, &root, &e) == 1) {
			char line[300], what[300];
			struct buf b;
			const char *name = json_text(json_object(root, "metadata"), "name");
			snprintf(line, sizeof(line), "/%s HTTP", name);
			snprintf(what, sizeof(what), "%s/%s", json_text(root, "kind"), name);
			buf_init(&b, 1 << 22);
			json_print(&b, root);
			char *text = edited(buf_text(&b), "{",
				"{\"status\":{\"conditions\":[{\"type\":\"Established\","
				"\"status\":\"True\"}]},");
			if (strcmp(what, kind_and_name) != 0)
				answer(s, line, 200, text);
			else if (!from)
				answer(s, line, 404, STATUS("not found"));
			else {
				char *other = edited(text, from, to);
				answer(s, line, 200, other);
				free(other);
			}
			free(text);
			buf_done(&b);
		}
		documents_free(d);
	}
}

struct installed_case {
	const char *what, *from, *to;
	enum verdict verdict;
	const char *says;
};

static void examine_installed(
	const char *check, const char *folder, const struct installed_case *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct stage s;
		stage_open(&s);
		serve(&s, folder, cases[i].what, cases[i].from, cases[i].to);
		examine(&s, check);
		expect(&s, cases[i].verdict, cases[i].says);
		stage_close(&s);
	}
}

static void kinds_that_are_missing_or_old(void **state)
{
	(void)state;
#define CRD(plural) "CustomResourceDefinition/" plural ".sluice.dev"
	static const struct installed_case cases[] = {
		{"", NULL, NULL, VERDICT_OK, "kinds are served as v1alpha1"},
		{CRD("cohorts"), NULL, NULL, VERDICT_FAIL, "cohorts.sluice.dev is not installed"},
		{CRD("cohorts"), "\"served\":true", "\"served\":false", VERDICT_FAIL,
			"does not serve v1alpha1"},
		{CRD("cohorts"), "\"status\":\"True\"", "\"status\":\"False\"", VERDICT_FAIL,
			"does not serve v1alpha1 yet"},
		{CRD("resourceflavors"), "\"idlePool\"", "\"other\"", VERDICT_FAIL,
			"does not know spec.idlePool"},
		{CRD("clusterqueues"), "\"BestEffortFIFO\"", "\"OtherFIFO\"", VERDICT_FAIL,
			"does not know spec.queueingStrategy = BestEffortFIFO"},
		/* Newer than this program. */
		{CRD("clusterqueues"), "\"properties\":{", "\"properties\":{\"new\":{},",
			VERDICT_OK, "kinds"},
	};
	examine_installed("crds", "api/crds/", cases, ROWS(cases));
}

static void policies_that_are_missing_or_changed(void **state)
{
	(void)state;
#define AUTH "ValidatingAdmissionPolicy/sluice-guard-jobs"
#define BINDING "ValidatingAdmissionPolicyBinding/sluice-guard-jobs"
	static const struct installed_case cases[] = {
		{"", NULL, NULL, VERDICT_OK, "as they were written"},
		{AUTH, NULL, NULL, VERDICT_FAIL,
			"ValidatingAdmissionPolicy sluice-guard-jobs is not installed"},
		/* components/uncounted-resource-claims */
		{"ValidatingAdmissionPolicy/sluice-count-devices", NULL, NULL, VERDICT_OK,
			"devices that Jobs claim are counted by no quota"},
		{AUTH, "\"failurePolicy\":\"Fail\"", "\"failurePolicy\":\"Ignore\"", VERDICT_FAIL,
			"spec.failurePolicy differs"},
		{AUTH, "sluice-system", "elsewhere", VERDICT_WARN,
			"spec.matchConditions[0].expression differs"},
		/* Defaults of the API server are no difference, another condition is. */
		{AUTH, "\"failurePolicy\"", "\"x\":\"Equivalent\",\"y\":{},\"failurePolicy\"",
			VERDICT_OK, "as they were written"},
		{AUTH, "waits in queue \\\"", "waits in\\n   queue \\\"", VERDICT_OK,
			"as they were written"}, /* folded anew */
		{AUTH, "waits in queue \\\"", "waits inqueue \\\"", VERDICT_WARN,
			"spec.validations[0].messageExpression differs"},
		{AUTH, "\"matchConditions\":[", "\"matchConditions\":[{\"name\":\"x\"},",
			VERDICT_WARN, "spec.matchConditions differs"},
		{AUTH, "\"matchConstraints\":{",
			"\"matchConstraints\":{\"objectSelector\":{\"matchLabels\":{\"a\":\"b\"}},",
			VERDICT_WARN, "spec.matchConstraints.objectSelector differs"},
		{BINDING, NULL, NULL, VERDICT_FAIL,
			"ValidatingAdmissionPolicyBinding sluice-guard-jobs is not installed"},
		{BINDING, "[\"Deny\"]", "[\"Audit\"]", VERDICT_FAIL,
			"spec.validationActions[0] differs"},
		{BINDING, "\"policyName\":\"sluice-guard-jobs\"", "\"policyName\":\"x\"",
			VERDICT_FAIL, "spec.policyName differs"},
	};
	examine_installed("policies", "deploy/policies/", cases, ROWS(cases));
}

static void without_mutating_policies_they_are_not_asked_for(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	serve(&s, "deploy/policies/validating", "", NULL, NULL);
	s.p.no_mutating = true;
	examine(&s, "policies");
	expect(&s, VERDICT_OK, "the mutating ones cannot be");
	stage_close(&s);
}

static void what_may_not_be_read_is_skipped(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	for (size_t i = 0; i < DEPLOYED_COUNT; i++)
		if (strncmp(DEPLOYED[i].path, "api/crds/", 9) == 0)
			answer(&s, "GET /apis/apiextensions.k8s.io", 403, STATUS("you may not"));
	examine(&s, "crds");
	expect(&s, VERDICT_SKIPPED, "you may not");
	stage_close(&s);
}

/* ---- rights --------------------------------------------------------------------------------- */

static bool is_about(const struct scripted_request *r, const char *a, const char *b)
{
	return strstr(r->body, a) && strstr(r->body, b);
}

/* How many reviews there are is known after the first run. */
static size_t all_rights(struct stage *s, size_t n, size_t refused)
{
	for (size_t i = 0; i < n; i++)
		answer(s, REVIEW, 201,
			i == refused ? "{\"status\":{\"allowed\":false}}"
				     : "{\"status\":{\"allowed\":true}}");
	examine(s, "rbac");
	return scripted_server_count(s->server);
}

static size_t count_rights(void)
{
	struct stage s;
	size_t n;
	stage_open(&s);
	for (n = 0; n < 400; n++)
		answer(&s, REVIEW, 201, "{\"status\":{\"allowed\":true}}");
	examine(&s, "rbac");
	expect(&s, VERDICT_OK, "rights are there");
	n -= scripted_server_unused(s.server);
	for (size_t i = scripted_server_unused(s.server); i > 0; i--) {
		const cJSON *root;
		struct err e;
		doctor_context_post(&s.p, "/apis/authorization.k8s.io/v1/subjectaccessreviews",
			"{}", &root, &e);
	}
	stage_close(&s);
	return n;
}

static void each_right_is_asked_for(void **state)
{
	(void)state;
	size_t n = count_rights();
	struct stage s;
	stage_open(&s);
	assert_int_equal(all_rights(&s, n, n), n);
	bool patch = false, roles = false, status = false;
	for (size_t i = 0; i < n; i++) {
		const struct scripted_request *r = scripted_server_request(s.server, i);
		assert_true(is_about(r, "system:serviceaccount:sluice-system:sluice-controller",
			"\"groups\":["));
		patch |= is_about(
			r, "\"group\":\"batch\",\"resource\":\"jobs\"", "\"verb\":\"patch\"");
		assert_null(strstr(r->body, "\"eviction\""));	/* the component's */
		assert_null(strstr(r->body, "ack-slo-config")); /* the same */
		status |= is_about(r, "\"namespace\":\"kube-system\"",
			"\"name\":\"cluster-autoscaler-status\"");
		roles |= is_about(r, "\"namespace\":\"sluice-system\"", "configmaps");
	}
	assert_true(patch && roles && status);
	stage_close(&s);
}

static void lending_takes_rights_of_its_own(void **state)
{
	(void)state;
	enum {
		RIGHTS = 9
	}; /* patch status, get and list metrics of two, evict, read one ConfigMap */
	for (size_t refused = 0; refused <= RIGHTS; refused += RIGHTS) {
		struct stage s;
		stage_open(&s);
		answer(&s, CONFIGMAP, 404, STATUS("not found"));
		answer(&s, RULES, 200, "{\"items\":[{\"spec\":{}}]}");
		for (size_t i = 0; i < RIGHTS; i++)
			answer(&s, REVIEW, 201,
				i == refused ? "{\"status\":{\"allowed\":false}}"
					     : "{\"status\":{\"allowed\":true}}");
		examine(&s, "lending");
		if (refused < RIGHTS) {
			expect(&s, VERDICT_FAIL, "may not patch nodes/status");
			assert_non_null(strstr(s.f.usual_cure, "idle-resources/role.yaml"));
		} else {
			expect(&s, VERDICT_OK, "all 9 rights are there");
		}
		bool eviction = false, named = false;
		for (size_t i = 2; i < 2 + RIGHTS; i++) {
			const struct scripted_request *r = scripted_server_request(s.server, i);
			eviction |=
				is_about(r, "\"resource\":\"pods\",\"subresource\":\"eviction\"",
					"\"verb\":\"create\"");
			named |= is_about(
				r, "\"namespace\":\"kube-system\"", "\"name\":\"ack-slo-config\"");
		}
		assert_true(eviction && named);
		stage_close(&s);
	}
	struct stage s;
	stage_open(&s);
	answer(&s, CONFIGMAP, 404, STATUS("not found"));
	answer(&s, RULES, 200, "{\"items\":[]}");
	examine(&s, "lending");
	expect(&s, VERDICT_SKIPPED, "idle resources are not lent");
	stage_close(&s);
}

#define SLUICE_NODE "GET /apis/apps/v1/daemonsets?fieldSelector=metadata.name%3Dsluice-node HTTP"

static void agents_take_rights_of_two_accounts(void **state)
{
	(void)state;
	static const struct {
		size_t refused;
		enum verdict verdict;
		const char *says;
	} cases[] = {
		{0, VERDICT_FAIL,
			"sluice-node/sluice-node may not get configmaps sluice-nodes in namespace"},
		{2, VERDICT_FAIL,
			"sluice-system/sluice-controller may not patch configmaps sluice-nodes"},
		{3, VERDICT_FAIL, "sluice-system/sluice-controller may not patch pods/status"},
		{4, VERDICT_OK, "all 4 rights are there"},
	};
	for (size_t i = 0; i < ROWS(cases); i++) {
		struct stage s;
		stage_open(&s);
		answer(&s, SLUICE_NODE, 200, "{\"items\":[{}]}");
		for (size_t right = 0; right < 4; right++)
			answer(&s, REVIEW, 201,
				right == cases[i].refused ? "{\"status\":{\"allowed\":false}}"
							  : "{\"status\":{\"allowed\":true}}");
		examine(&s, "agent-rights");
		expect(&s, cases[i].verdict, cases[i].says);
		assert_non_null(strstr(s.f.usual_cure, "node-agent/role.yaml"));
		stage_close(&s);
	}
	struct stage s;
	stage_open(&s);
	answer(&s, SLUICE_NODE, 200, "{\"items\":[]}");
	examine(&s, "agent-rights");
	expect(&s, VERDICT_SKIPPED, "no DaemonSet sluice-node");
	stage_close(&s);
}

static void a_right_that_is_missing(void **state)
{
	(void)state;
	size_t n = count_rights();
	struct stage s;
	stage_open(&s);
	all_rights(&s, n, 3);
	expect(&s, VERDICT_FAIL,
		"the account sluice-system/sluice-controller may not patch jobs.batch");
	assert_non_null(strstr(s.f.usual_cure, "-k deploy/rbac"));
	stage_close(&s);
}

static void who_may_not_ask_is_told(void **state)
{
	(void)state;
	struct stage s;
	stage_open(&s);
	/* One answer for each resource: the first decides, but each is begun with none. */
	answer(&s, REVIEW, 403, STATUS("subjectaccessreviews is forbidden"));
	examine(&s, "rbac");
	expect(&s, VERDICT_SKIPPED, "you may not ask");
	stage_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_command_line),
		cmocka_unit_test(without_a_database_named_none_is_tried),
		cmocka_unit_test(what_is_printed),
		cmocka_unit_test(of_very_many_findings_the_rest_is_counted),
		cmocka_unit_test(nobody_there_is_code_3),
		cmocka_unit_test(versions),
		cmocka_unit_test(a_refusal_is_an_answer_too),
		cmocka_unit_test(mutating_policies),
		cmocka_unit_test(the_clock_of_the_server),
		cmocka_unit_test(controllers_that_do_not_follow_jobs),
		cmocka_unit_test(controllers_say_what_they_miss),
		cmocka_unit_test(kubelets_need_a_right_of_their_own),
		cmocka_unit_test(what_was_deleted_stays_where_nobody_leads),
		cmocka_unit_test(objects_say_why_they_are_without_effect),
		cmocka_unit_test(each_condition_that_is_false_is_told),
		cmocka_unit_test(an_aggregated_api_that_is_not_reached),
		cmocka_unit_test(negative_priorities_mean_what_their_queue_says),
		cmocka_unit_test(a_local_queue_that_jobs_name_is_there),
		cmocka_unit_test(metrics_are_asked_for_where_somebody_lends),
		cmocka_unit_test(what_agents_do_is_looked_at),
		cmocka_unit_test(more_agents_than_a_leader_serves_are_told),
		cmocka_unit_test(what_koordlet_would_do_is_told),
		cmocka_unit_test(agents_are_enough),
		cmocka_unit_test(kinds_that_are_missing_or_old),
		cmocka_unit_test(policies_that_are_missing_or_changed),
		cmocka_unit_test(without_mutating_policies_they_are_not_asked_for),
		cmocka_unit_test(what_may_not_be_read_is_skipped),
		cmocka_unit_test(each_right_is_asked_for),
		cmocka_unit_test(lending_takes_rights_of_its_own),
		cmocka_unit_test(agents_take_rights_of_two_accounts),
		cmocka_unit_test(a_right_that_is_missing),
		cmocka_unit_test(who_may_not_ask_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
