/* What a bad manifest is told: file, line, object, field, and what would be right. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "cli/simulate/manifest.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

#define JOB(annotations, spec)                                                                     \
	"apiVersion: batch/v1\n"                                                                   \
	"kind: Job\n"                                                                              \
	"metadata:\n"                                                                              \
	"  name: train\n"                                                                          \
	"  annotations:\n"                                                                         \
	"    note: \"1\"\n" annotations "spec:\n"                                                  \
	"  suspend: false\n" spec

#define POD "  template: {spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}}\n"

#define CRON(spec)                                                                                 \
	"apiVersion: batch/v1\n"                                                                   \
	"kind: CronJob\n"                                                                          \
	"metadata: {name: nightly}\n"                                                              \
	"spec:\n" spec

#define QUOTA(rest)                                                                                \
	"apiVersion: v1\n"                                                                         \
	"kind: ResourceQuota\n"                                                                    \
	"metadata: {name: compute}\n" rest

#define QUEUES                                                                                     \
	"---\napiVersion: sluice.dev/v1alpha1\nkind: ResourceFlavor\nmetadata: {name: node}\n"     \
	"---\napiVersion: sluice.dev/v1alpha1\nkind: ClusterQueue\nmetadata: {name: batch}\n"      \
	"spec: {namespaceSelector: {}, resourceGroups: [{coveredResources: [cpu], flavors: "       \
	"[{name: node, resources: [{name: cpu, nominalQuota: 9}]}]}]}\n"                           \
	"---\napiVersion: sluice.dev/v1alpha1\nkind: LocalQueue\nmetadata: {name: default}\n"      \
	"spec: {clusterQueue: batch}\n"

/* As the API server shows one that runs: what it says of its pods is of another time. */
#define TWO_PODS(name)                                                                             \
	"---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: " name                             \
	", resourceVersion: '900'}\nspec:\n  parallelism: 2\n  completions: 2\n" POD               \
	"status: {active: 2}\n"

static int read_text(const char *text, struct world *w, struct err *e)
{
	struct queue_config config;
	queue_config_default(&config);
	world_init(w, &config);
	return manifest_read_text(w, "in.yaml", slice_of(text), e);
}

struct complaint {
	const char *text, *says;
};

static const struct complaint of_documents[] = {
	{"a: [\n", "in.yaml:2: not YAML"},
	{"a: 1\n", "in.yaml:1: not an object of Kubernetes: kind is missing"},
	{"\n- 1\n", "in.yaml:2: not an object of Kubernetes: kind is missing"},
	{"kind: Job\n", "apiVersion is missing"},
	{"apiVersion: v1\nkind: Secret\n", "in.yaml:2: kind \"Secret\" of apiVersion "
					   "\"v1\" is not simulated; what may be "
					   "here: ClusterQueue, LocalQueue, Cohort"},
	{"kind: ClusterQueue\napiVersion: kueue.x-k8s.io/v1beta2\n",
		"in.yaml:2: ClusterQueue: apiVersion: is \"kueue.x-k8s.io/v1beta2\"; "
		"change it "
		"to sluice.dev/v1alpha1"},
	{"x: &x {a: 1}\ny:\n  <<: *x\n", "in.yaml:3: merge keys (<<) are not understood"},
	{"a: &a [*a]\n", "nested deeper"},
	{"? [a]\n: 1\n? [b]\n: 2\n", "in.yaml:1: a key must be text"},
	{"a: 1\nb: 2\na: 3\n", "in.yaml:3: a is there a second time"},
	{"apiVersion: batch/v1\nkind: Job\nmetadata:\n  labels: {}\n",
		"in.yaml:3: Job: metadata.name: is missing; write e.g. name: train"},
	{"apiVersion: v1\nkind: Namespace\nmetadata:\n  name: 3\n",
		"in.yaml:4: Namespace: metadata.name: is read as something else than "
		"text"},
};

static const struct complaint of_jobs[] = {
	{"apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: a\n  creationTimestamp: "
	 "2026\n",
		"in.yaml:5: Job default/a: metadata.creationTimestamp: is not a time"},
	{JOB("", "  tmplate: {}\n"),
		"in.yaml:7: Job default/train: spec.template.spec: is missing"},
	{JOB("", "  parallelism: two\n" POD),
		"in.yaml:9: Job default/train: spec.parallelism: must be a whole number"},
	{JOB("    sluice.dev/simulate-duration: soon\n", POD),
		"in.yaml:7: Job default/train: "
		"metadata.annotations.sluice.dev/simulate-duration: \"soon\" is not a "
		"duration; "
		"write e.g. 90s"},
	{JOB("    sluice.dev/simulate-duratio: 1h\n", POD),
		"in.yaml:7: Job default/train: metadata.annotations.sluice.dev/simulate-duratio: "
		"Sluice does not read this; did you mean sluice.dev/simulate-duration?"},
	{JOB("    sluice.dev/simulat-outcome: Failed\n", POD),
		"did you mean sluice.dev/simulate-outcome?"},
	{JOB("    simulate-delete: 2026-11-21T10:00:00Z\n", POD),
		"did you mean sluice.dev/simulate-delete?"},
	{JOB("    sluice.dev/simulate-result: Failed\n", POD),
		"in.yaml:7: Job default/train: metadata.annotations.sluice.dev/simulate-result: "
		"Sluice does not read this; write simulate-duration, -checkpoint, -outcome, "},
	{JOB("    \"sluice.dev/simulate-\\e[2J\": x\n", POD),
		"metadata.annotations.\"sluice.dev/simulate-"},
	{JOB("    sluice.dev/simulate-delete: now\n", POD),
		"in.yaml:7: Job default/train: "
		"metadata.annotations.sluice.dev/simulate-delete: \"now\" is not a time"},
	{JOB("    sluice.dev/expected-duration: 1y\n", POD),
		"in.yaml:7: Job default/train: "
		"metadata.annotations.sluice.dev/expected-duration: \"1y\" is not a "
		"duration"},
	{JOB("    sluice.dev/simulate-admitted: yes please\n", POD),
		"in.yaml:7: Job default/train: "
		"metadata.annotations.sluice.dev/simulate-admitted: is not JSON such as"},
	{JOB("    sluice.dev/simulate-admitted: '{\"clusterQueue\":\"a\"}'\n", POD),
		"simulate-admitted: at is missing or no time"},
	{JOB("    sluice.dev/simulate-admitted: '{\"clusterQueue\":\"a\",\"flavors\":"
	     "{\"gpu\":\"spot\"},\"at\":\"2026-01-01T00:00:00Z\"}'\n",
		 POD),
		"flavors: the Job's pods request no \"gpu\""},
	{JOB("    sluice.dev/simulate-admitted: {at: now}\n", POD),
		"in.yaml:7: Job default/train: "
		"metadata.annotations.sluice.dev/simulate-admitted: is not text; put the "
		"JSON in single quotes"},
	{JOB("    sluice.dev/simulate-admitted: '{}'\n", POD), "clusterQueue is missing"},
	{"apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: a\n  annotations: "
	 "{sluice.dev/simulate-admitted: '{}'}\nspec:\n  suspend: true\n" POD,
		"in.yaml:7: Job default/a: spec.suspend: is true, but annotation"},
	{"apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Node\n  metadata: "
	 "{name: n}\n- "
	 "apiVersion: "
	 "batch/v1\n  kind: Job\n  metadata: {name: a}\n  spec:\n    parallelism: -1\n",
		"in.yaml:11: Job default/a: spec.parallelism"},
	{JOB("", POD) "---\n" JOB("", POD),
		"in.yaml:14: Job default/train: metadata.name: there is another Job"},
};

static const struct complaint of_admins[] = {
	{"apiVersion: sluice.dev/v1alpha1\nkind: LocalQueue\nmetadata: {name: main}\nspec: "
	 "{}\n",
		"in.yaml:4: LocalQueue default/main: spec.clusterQueue: is missing"},
	{"apiVersion: sluice.dev/v1alpha1\nkind: ClusterQueue\nmetadata: {name: "
	 "a}\nspec:\n  "
	 "resourceGroups:\n  - coveredResources: [cpu]\n    flavors:\n    - name: spot\n   "
	 "   "
	 "resources:\n      - name: cpu\n        nominalQuota: lots\n",
		"in.yaml:11: ClusterQueue a: "
		"spec.resourceGroups[0].flavors[0].resources[0].nominalQuota"},
	{"apiVersion: sluice.dev/v1alpha1\nkind: ClusterQueue\nmetadata: {name: "
	 "a}\nspec:\n  "
	 "resourceGroups:\n  - coveredResources: [cpu]\n    flavors:\n    - name: spot\n   "
	 "   "
	 "resources:\n      - name: gpu\n        nominalQuota: 4\n",
		"in.yaml:10: ClusterQueue a: "
		"spec.resourceGroups[0].flavors[0].resources[0].name: is gpu where"},
	{"apiVersion: sluice.dev/v1alpha1\nkind: ClusterQueue\nmetadata: {name: "
	 "a}\nspec:\n  "
	 "cohort: all\n",
		"in.yaml:5: ClusterQueue a: spec.cohort: is now called cohortName"},
};

static const struct complaint of_cronjobs[] = {
	{CRON("  schedule: often\n"), "in.yaml:5: CronJob default/nightly: spec.schedule: "
				      "the minute (\"often\")"},
	{CRON("  schedule: '@daily'\n  timeZone: Europe/Berln\n"),
		"in.yaml:6: CronJob default/nightly: spec.timeZone: \"Europe/Berln\" is "
		"not in "
		"this machine's zone database"},
	{CRON("  timeZone: UTC\n"), "CronJob default/nightly: spec.schedule: is missing"},
	{CRON("  schedule: '@daily'\n  jobTemplate:\n    spec:\n      parallelism: x\n"),
		"in.yaml:8: CronJob default/nightly: spec.jobTemplate.spec.parallelism: "
		"must"},
	{CRON("  schedule: '@daily'\n  jobTemplate:\n    metadata:\n      annotations:\n"
	      "        sluice.dev/simulate-durations: 1h\n    spec:\n      template: {spec: {}}\n"),
		"in.yaml:9: CronJob default/nightly: "
		"spec.jobTemplate.metadata.annotations.sluice.dev/simulate-durations: Sluice does "
		"not read this; did you mean sluice.dev/simulate-duration?"},
	{CRON("  schedule: '@daily'\n  concurrencyPolicy: Maybe\n"),
		"in.yaml:6: CronJob default/nightly: spec.concurrencyPolicy: must be "
		"Allow"},
};

static const struct complaint of_quotas[] = {
	{QUOTA("spec:\n  hrad: {pods: 4}\n"),
		"in.yaml:4: ResourceQuota default/compute: spec.hard: is missing; write e.g. "
		"{requests.cpu: 40, pods: 100}"},
	{QUOTA("spec:\n  hard:\n    cpu: 4\n    gpu: 4\n"),
		"in.yaml:7: ResourceQuota default/compute: spec.hard.gpu: is nothing that a quota "
		"limits; write e.g. cpu, requests.memory, limits.cpu, pods, count/pods or "
		"requests.nvidia.com/gpu"},
	{QUOTA("spec:\n  hard:\n    requests.cpu: lots\n"),
		"in.yaml:6: ResourceQuota default/compute: spec.hard.requests.cpu: \"lots\" is not "
		"a quantity"},
	{QUOTA("spec:\n  hard: {pods: 4}\n  scopes: [NotBestEfort]\n"),
		"in.yaml:6: ResourceQuota default/compute: spec.scopes[0]: is \"NotBestEfort\"; "
		"must be Terminating, NotTerminating, BestEffort, NotBestEffort, PriorityClass"},
	{QUOTA("spec:\n  hard: {pods: 4}\n  scopes: [1]\n"), "spec.scopes[0]: is no text; must be"},
	{QUOTA("spec:\n  hard: {pods: 4, cpu: 1}\n  scopes: [BestEffort]\n"),
		"in.yaml:5: ResourceQuota default/compute: spec.hard.cpu: scope BestEffort goes "
		"with pods alone; remove one of the two"},
	{QUOTA("spec:\n  hard: {pods: 4}\n  scopeSelector:\n    matchExpressions:\n    - "
	       "{scopeName: Priority, operator: Exists}\n"),
		"in.yaml:8: ResourceQuota default/compute: "
		"spec.scopeSelector.matchExpressions[0].scopeName: is \"Priority\"; must be"},
	{QUOTA("spec:\n  hard: {pods: 4}\n  scopeSelector:\n    matchExpressions:\n    - "
	       "{scopeName: PriorityClass, operator: Is}\n"),
		"spec.scopeSelector.matchExpressions[0].operator: "},
};

static void check_complaints(const struct complaint *all, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct world w;
		struct err e = {""};
		if (read_text(all[i].text, &w, &e) == 0)
			fail_msg("case %zu was taken", i);
		if (!strstr(e.text, all[i].says) || strncmp(e.text, "in.yaml:", 8) != 0)
			fail_msg("case %zu says: %s", i, e.text);
		world_done(&w);
	}
}

static void a_bad_document_gets_its_line(void **state)
{
	(void)state;
	check_complaints(of_documents, COUNT(of_documents));
}

static void a_bad_job_gets_its_line_and_field(void **state)
{
	(void)state;
	check_complaints(of_jobs, COUNT(of_jobs));
}

static void a_bad_queue_gets_its_line_and_field(void **state)
{
	(void)state;
	check_complaints(of_admins, COUNT(of_admins));
}

static void a_bad_cronjob_gets_its_line_and_field(void **state)
{
	(void)state;
	check_complaints(of_cronjobs, COUNT(of_cronjobs));
}

static void a_bad_quota_gets_its_line_and_field(void **state)
{
	(void)state;
	check_complaints(of_quotas, COUNT(of_quotas));
}

/* The words are those that the controller would write, with what is played as used. */
static void who_would_be_refused_is_told_by_which_quota(void **state)
{
	(void)state;
	static const char text[] = QUOTA("spec: {hard: {pods: 4, requests.cpu: 3}}\n"
					 "status: {hard: {pods: 9}, used: {pods: 1}}\n")
		QUEUES TWO_PODS("first") TWO_PODS("second");
	struct world w;
	struct err e = {""};
	struct explanation x;
	struct decision d[4];
	int64_t next_ms;
	if (read_text(text, &w, &e) != 0 || world_close(&w, &e) != 0)
		fail_msg("%s", e.text);
	for (size_t i = 0; i < 2; i++) {
		struct job_scratch scratch;
		struct job j = world_job(&w, i, &scratch);
		queue_set_job(w.queue, &j);
	}
	assert_int_equal(queue_decide(w.queue, w.start_ms, d, 4, &next_ms), 1);
	struct uid second = world_uid(&w, 1);
	assert_true(queue_explain(w.queue, &second, w.start_ms, &x));
	assert_int_equal(x.reason, WAIT_NAMESPACE_QUOTA);
	if (!strstr(x.sentence, "exceeded quota: compute, requested: requests.cpu=2, used: "
				"requests.cpu=2, limited: requests.cpu=3"))
		fail_msg("%s", x.sentence);
	world_done(&w);
}

static void who_runs_needs_what_it_runs_in(void **state)
{
	(void)state;
	static const char text[] =
		JOB("    sluice.dev/simulate-admitted: '{\"clusterQueue\":\"a\",\"flavors\":"
		    "{\"cpu\":\"spot\"},\"at\":\"2026-01-01T00:00:00Z\"}'\n",
			POD);
	static const char queue[] =
		"---\napiVersion: sluice.dev/v1alpha1\nkind: ClusterQueue\nmetadata: {name: a}\n";
	static const char flavor[] = "---\napiVersion: sluice.dev/v1alpha1\nkind: ResourceFlavor\n"
				     "metadata: {name: spot}\n";
	static const struct {
		const char *queue, *flavor, *says;
	} cases[] = {
		{"", flavor,
			"in.yaml:7: Job default/train: "
			"metadata.annotations.sluice.dev/simulate-admitted: ClusterQueue a is "
			"in no manifest; add it"},
		{queue, "", "simulate-admitted: ResourceFlavor spot is in no manifest"},
		{queue, flavor, NULL},
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		char all[2048];
		struct world w;
		struct err e = {""};
		snprintf(all, sizeof(all), "%s%s%s", text, cases[i].queue, cases[i].flavor);
		if (read_text(all, &w, &e) != 0)
			fail_msg("case %zu says: %s", i, e.text);
		int rc = world_close(&w, &e);
		assert_int_equal(rc, cases[i].says ? ERR_GONE : 0);
		if (cases[i].says && !strstr(e.text, cases[i].says))
			fail_msg("case %zu says: %s", i, e.text);
		world_done(&w);
	}
}

static void who_claims_devices_is_told_unless_they_go_uncounted(void **state)
{
	(void)state;
	static const char text[] =
		"apiVersion: batch/v1\nkind: Job\nmetadata: {name: train}\nspec:\n  template: {spec: "
		"{resourceClaims: [{name: gpu, resourceClaimTemplateName: any}], containers: "
		"[{name: c, resources: {requests: {cpu: 1}, claims: [{name: gpu}]}}]}}\n";
	struct queue_config config;
	queue_config_default(&config);
	for (int uncounted = 0; uncounted < 2; uncounted++) {
		struct world w;
		struct err e = {""};
		world_init(&w, &config);
		w.uncounted_claims = uncounted;
		assert_int_equal(manifest_read_text(&w, "in.yaml", slice_of(text), &e),
			uncounted ? 0 : ERR_INVALID);
		assert_true(!uncounted == !!strstr(e.text, "no quota counts devices"));
		world_done(&w);
	}
}

/* As for kubectl create: the server makes the rest of the name. */
static void names_are_made_of_generateName(void **state)
{
	(void)state;
	static const char text[] =
		"apiVersion: batch/v1\nkind: Job\nmetadata: {generateName: train-}\nspec:\n" POD
		"---\napiVersion: batch/v1\nkind: Job\nmetadata: {generateName: "
		"train-}\nspec:\n" POD;
	struct world w;
	struct err e = {""};
	if (read_text(text, &w, &e) != 0)
		fail_msg("%s", e.text);
	assert_string_equal(w.sim_job[0].record->name, "train-0");
	assert_string_equal(w.sim_job[1].record->name, "train-1");
	world_done(&w);
}

static void json_and_lists_are_taken(void **state)
{
	(void)state;
	static const char text[] =
		"{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[{\"apiVersion\":\"batch/"
		"v1\",\"kind\":"
		"\"Job\",\"metadata\":{\"name\":\"a\",\"namespace\":\"n\",\"labels\":{\"sluice.dev/"
		"queue-name\":\"q\"},\"annotations\":{\"sluice.dev/simulate-duration\":\"90\"}},"
		"\"spec\":{\"template\":{\"spec\":{\"containers\":[]}}}}]}\n---\n\n--- # nothing\n";
	struct world w;
	struct err e = {""};
	assert_int_equal(read_text(text, &w, &e), 0);
	assert_int_equal(w.nsim_jobs, 1);
	assert_int_equal(w.sim_job[0].duration_ms, 90000);
	assert_string_equal(w.sim_job[0].record->queue, "q");
	world_done(&w);
}

/* What kubectl would send for the same text. */
static void plain_scalars_mean_what_kubectl_makes_of_them(void **state)
{
	(void)state;
	static const char text[] =
		"apiVersion: batch/v1\nkind: Job\n"
		"metadata: {name: a, creationTimestamp: 2026-01-01T00:00:00Z}\n"
		"spec: {suspend: yes, parallelism: 0x10, completions: 010, template: "
		"{spec: {containers: [{name: ~, resources: {requests: "
		"{cpu: 1.50, memory: 1e3, gpu: '2'}}}]}}}\n";
	struct world w;
	struct err e = {""};
	struct resource r[4];
	if (read_text(text, &w, &e) == 0)
		fail_msg("0x10 is text to kubectl's JSON, so this is refused");
	assert_non_null(strstr(e.text, "spec.parallelism"));
	world_done(&w);
	char *fixed = mem_strdup(text);
	memcpy(strstr(fixed, "0x10"), "+010", 4);
	if (read_text(fixed, &w, &e) != 0)
		fail_msg("%s", e.text);
	const struct job *j = w.sim_job[0].record;
	assert_true(j->suspend);
	assert_int_equal(j->parallelism, 8);
	assert_int_equal(j->completions, 8);
	assert_int_equal(w.sim_job[0].arrival_ms, INT64_C(1767225600000));
	assert_int_equal(pod_requests(&j->pod, r, 4), 3);
	assert_int_equal(r[0].amount, 1500);
	assert_int_equal(r[1].amount, 2);
	assert_int_equal(r[2].amount, 1000);
	world_done(&w);
	free(fixed);
}

/* Aliases that would write out to gigabytes. */
static void a_small_text_cannot_ask_for_all_memory(void **state)
{
	(void)state;
	char text[4096];
	size_t n = (size_t)snprintf(text, sizeof(text), "a0: &a0 [x,x,x,x,x,x,x,x,x]\n");
	for (int i = 1; i < 12; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
			"a%d: &a%d [*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d]\n", i, i, i - 1,
			i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
	struct world w;
	struct err e = {""};
	assert_int_not_equal(read_text(text, &w, &e), 0);
	assert_non_null(strstr(e.text, "aliases written out"));
	world_done(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_bad_document_gets_its_line),
		cmocka_unit_test(a_bad_job_gets_its_line_and_field),
		cmocka_unit_test(a_bad_queue_gets_its_line_and_field),
		cmocka_unit_test(a_bad_cronjob_gets_its_line_and_field),
		cmocka_unit_test(a_bad_quota_gets_its_line_and_field),
		cmocka_unit_test(who_would_be_refused_is_told_by_which_quota),
		cmocka_unit_test(who_runs_needs_what_it_runs_in),
		cmocka_unit_test(who_claims_devices_is_told_unless_they_go_uncounted),
		cmocka_unit_test(names_are_made_of_generateName),
		cmocka_unit_test(json_and_lists_are_taken),
		cmocka_unit_test(plain_scalars_mean_what_kubectl_makes_of_them),
		cmocka_unit_test(a_small_text_cannot_ask_for_all_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
