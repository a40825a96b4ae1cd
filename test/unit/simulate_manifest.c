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

static int read_text(const char *text, struct world *w, struct err *e)
{
	struct queue_config config;
	queue_config_default(&config);
	world_init(w, &config);
	return manifest_read_text(w, "in.yaml", slice_of(text), e);
}

static void a_bad_manifest_gets_its_line_and_field(void **state)
{
	(void)state;
	static const struct {
		const char *text, *says;
	} cases[] = {
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
		{CRON("  schedule: '@daily'\n  concurrencyPolicy: Maybe\n"),
			"in.yaml:6: CronJob default/nightly: spec.concurrencyPolicy: must be "
			"Allow"},
		{JOB("", POD) "---\n" JOB("", POD),
			"in.yaml:14: Job default/train: metadata.name: there is another Job"},
	};
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct world w;
		struct err e = {""};
		if (read_text(cases[i].text, &w, &e) == 0)
			fail_msg("case %zu was taken", i);
		if (!strstr(e.text, cases[i].says) || strncmp(e.text, "in.yaml:", 8) != 0)
			fail_msg("case %zu says: %s", i, e.text);
		world_done(&w);
	}
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
	assert_string_equal(w.actor[0].record->name, "train-0");
	assert_string_equal(w.actor[1].record->name, "train-1");
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
	assert_int_equal(w.nactors, 1);
	assert_int_equal(w.actor[0].duration_ms, 90000);
	assert_string_equal(w.actor[0].record->queue, "q");
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
	const struct job *j = w.actor[0].record;
	assert_true(j->suspend);
	assert_int_equal(j->parallelism, 8);
	assert_int_equal(j->completions, 8);
	assert_int_equal(w.actor[0].arrival_ms, INT64_C(1767225600000));
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
		cmocka_unit_test(a_bad_manifest_gets_its_line_and_field),
		cmocka_unit_test(who_runs_needs_what_it_runs_in),
		cmocka_unit_test(names_are_made_of_generateName),
		cmocka_unit_test(json_and_lists_are_taken),
		cmocka_unit_test(plain_scalars_mean_what_kubectl_makes_of_them),
		cmocka_unit_test(a_small_text_cannot_ask_for_all_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
