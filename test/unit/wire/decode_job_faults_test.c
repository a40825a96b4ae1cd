/* A Job that cannot be understood: one sentence that names the field; and what is too much. */
#include "wire_job.h"

#include "queue/cluster/pod.h"

#define REQUIRED "'requiredDuringSchedulingIgnoredDuringExecution'"

/* What only the scheduler reads makes no Job wait for ever: of a template that cannot be
 * understood nothing is asked. What quotas count, or flavors join, must be right. */
static void a_template_that_cannot_be_understood(void **state)
{
	static const struct {
		const char *pod;
		bool template, valid;
	} cases[] = {
		{"", true, true},
		{"'hostNetwork':true,'containers':[{'ports':[{'containerPort':80}]}]", true, true},
		{"'affinity':{'podAntiAffinity':{" REQUIRED
		 ":[{'labelSelector':{'matchExpressions':["
		 "{'key':'a','operator':'SomeDay'}]},'topologyKey':'zone'}]}}",
			false, true},
		{"'affinity':{'podAffinity':{" REQUIRED ":[{}]}}", false, true},
		{"'topologySpreadConstraints':[{'whenUnsatisfiable':'DoNotSchedule','topologyKey':"
		 "'zone','nodeTaintsPolicy':'SomeDay'}]",
			false, true},
		{"'containers':[{'ports':[{'hostPort':'x'}]}]", false, true},
		{"'affinity':{'nodeAffinity':{" REQUIRED ":{'nodeSelectorTerms':[{'matchFields':["
		 "{'key':'metadata.name','operator':'SomeDay'}]}]}}}",
			false, true},
		{"'affinity':{'nodeAffinity':{" REQUIRED
		 ":{'nodeSelectorTerms':[{'matchExpressions':"
		 "[{'key':'a','operator':'SomeDay'}]}]}}}",
			false, false},
		{"'containers':[{'resources':{'requests':{'cpu':'lots'}}}]", false, false},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct job *j = job_with("", "", cases[i].pod);
		if (!j->template == cases[i].template || !j->invalid != cases[i].valid)
			fail_msg("%s: %s", cases[i].pod, j->invalid ? j->invalid : "valid");
		free(j);
	}
	struct job *j = decoded("{'metadata':{'name':'a'," UID "},'spec':{}}");
	assert_null(j->template); /* no template, no pods */
	free(j);
}

static void what_is_no_job_at_all(void **state)
{
	static const char *const rows[] = {"[]", "'text'", "{}", "{'metadata':{'name':'a'}}",
		"{'metadata':{" UID "}}", "{'metadata':{'name':'a','uid':'no'}}",
		"{'metadata':{'name':5," UID "}}", "{'metadata':{'name':'a b'," UID "}}",
		"{'kind':'Pod','metadata':{'name':'a'," UID "}}"};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct job *j = NULL;
		struct err e = {""};
		if (decode_job(parsed(rows[i]), NULL, &j, &e) != ERR_INVALID || j || !*e.text)
			fail_msg("%s", rows[i]);
	}
	assert_int_equal(decode_job(NULL, NULL, &(struct job *){NULL}, NULL), ERR_INVALID);
}

/* One thing wrong each; the sentence behind "Job team-a/train: ". */
static const struct invalid_row {
	const char *meta, *spec, *pod, *sentence;
} invalid_rows[] = {
	{"", "'managedBy':'example.com/none'", "",
		"spec.managedBy: is \"example.com/none\", a controller that Sluice can neither "
		"start nor stop; create the Job without it"},
	{"", "'manualSelector':true", "",
		"spec.selector: is not the one of the Job's own uid, so its pods could not be told "
		"once it is deleted; create the Job without spec.selector and "
		"spec.manualSelector"},
	/* The flag may be taken back later. */
	{"", "'manualSelector':false,'selector':{'matchLabels':{'app':'x'}}", "",
		"spec.selector: is not the one of the Job's own uid, so its pods could not be told "
		"once it is deleted; create the Job without spec.selector and "
		"spec.manualSelector"},
	{"",
		"'selector':{'matchLabels':{'batch.kubernetes.io/controller-uid':"
		"'00000000-e89b-12d3-a456-426614174000'}}",
		"",
		"spec.selector: is not the one of the Job's own uid, so its pods could not be told "
		"once it is deleted; create the Job without spec.selector and "
		"spec.manualSelector"},
	{"", "", "'terminationGracePeriodSeconds':3601",
		"spec.template.spec.terminationGracePeriodSeconds: is 3601; at most 3600 are "
		"possible, for so long its pods may keep their quota after a stop: lower it"},
	{"", "", "'terminationGracePeriodSeconds':9223372036854775807",
		"spec.template.spec.terminationGracePeriodSeconds: is 9223372036854775808; at most "
		"3600 are possible, for so long its pods may keep their quota after a stop: lower "
		"it"},
	{"", "", "'containers':[{},{'resources':{'requests':{'cpu':'1e400'}}}]",
		"spec.template.spec.containers[1].resources.requests.cpu: \"1e400\" is too large "
		"to "
		"be counted; write e.g. 500m or 40"},
	{"", "", "'containers':[{'resources':{'limits':{'memory':'much'}}}]",
		"spec.template.spec.containers[0].resources.limits.memory: \"much\" is not a "
		"quantity; write e.g. 40 or 64Gi"},
	{"", "", "'initContainers':[{'resources':{'requests':{'cpu':'-1'}}}]",
		"spec.template.spec.initContainers[0].resources.requests.cpu: must not be "
		"negative"},
	{"", "", "'containers':[{'resources':{'requests':{'cpu':true}}}]",
		"spec.template.spec.containers[0].resources.requests.cpu: must be a quantity; "
		"write "
		"e.g. 500m, 40 or 64Gi"},
	{"", "", "'overhead':{'cpu':1e400}",
		"spec.template.spec.overhead.cpu: is too large for a number; write it in quotes, "
		"e.g. \"64Gi\""},
	{"", "", "'containers':'none'", "spec.template.spec.containers: must be a list"},
	{"", "", "'overhead':[]", "spec.template.spec.overhead: must be an object"},
	{"", "'parallelism':-1", "",
		"spec.parallelism: must be a whole number from 0 to 2147483647"},
	{"", "'parallelism':1.5", "",
		"spec.parallelism: must be a whole number from 0 to 2147483647"},
	{"", "'completions':4000000000", "",
		"spec.completions: must be a whole number from 0 to 2147483647"},
	{"", "'suspend':'yes'", "", "spec.suspend: must be true or false"},
	{"", "'completionMode':'Odd'", "",
		"spec.completionMode: \"Odd\" is unknown; write NonIndexed or Indexed"},
	{"", "", "'tolerations':[{'operator':'Like'}]",
		"spec.template.spec.tolerations[0].operator: \"Like\" is unknown; write Equal, "
		"Exists, Lt or Gt"},
	{"", "", "'tolerations':[{'effect':3}]",
		"spec.template.spec.tolerations[0].effect: must be a string; write "
		"NoSchedule, PreferNoSchedule or NoExecute"},
	{"", "", "'nodeSelector':{'a':1}", "spec.template.spec.nodeSelector.a: must be a string"},
	{"'labels':{'sluice.dev/queue-name':'a\\u001b[31m'}", "", "",
		"metadata.labels.sluice.dev/queue-name: is not plain text; remove control "
		"characters and what is not UTF-8"},
	{"'labels':{'sluice.dev/queue-name':7}", "", "",
		"metadata.labels.sluice.dev/queue-name: must be a string"},
	{"'annotations':{'sluice.dev/max-run-seconds':'1h'}", "", "",
		"metadata.annotations.sluice.dev/max-run-seconds: \"1h\" is not a number of "
		"seconds; write e.g. 3600"},
	{"'annotations':{'sluice.dev/max-run-seconds':'0'}", "", "",
		"metadata.annotations.sluice.dev/max-run-seconds: \"0\" is not a number of "
		"seconds; write e.g. 3600"},
	{"'annotations':{'sluice.dev/nice':'101'}", "", "",
		"metadata.annotations.sluice.dev/nice: \"101\" is not a whole number from -100 "
		"to 100; write e.g. 10"},
	{"'annotations':{'sluice.dev/nice':'-1.5'}", "", "",
		"metadata.annotations.sluice.dev/nice: \"-1.5\" is not a whole number from -100 "
		"to 100; write e.g. 10"},
	{"'annotations':{'sluice.dev/nice':'-'}", "", "",
		"metadata.annotations.sluice.dev/nice: \"-\" is not a whole number from -100 to "
		"100; write e.g. 10"},
	{"'annotations':{'sluice.dev/nice':'+1'}", "", "",
		"metadata.annotations.sluice.dev/nice: \"+1\" is not a whole number from -100 to "
		"100; write e.g. 10"},
	{"'annotations':{'sluice.dev/nice':''}", "", "",
		"metadata.annotations.sluice.dev/nice: \"\" is not a whole number from -100 to "
		"100; write e.g. 10"},
	{"'annotations':{'sluice.dev/nice':5}", "", "",
		"metadata.annotations.sluice.dev/nice: must be a string"},
	{"'annotations':{'sluice.dev/expected-duration':'soon'}", "", "",
		"metadata.annotations.sluice.dev/expected-duration: \"soon\" is not a duration; "
		"write e.g. 1h30m or 5400"},
	{"'annotations':{'sluice.dev/expected-duration':''}", "", "",
		"metadata.annotations.sluice.dev/expected-duration: \"\" is not a duration; "
		"write e.g. 1h30m or 5400"},
	{"'creationTimestamp':'yesterday'", "", "",
		"metadata.creationTimestamp: is not a time; write e.g. \"2026-11-21T09:58:30Z\""},
};

static void what_a_user_may_write_wrong(void **state)
{
	static const char front[] = "Job team-a/train: ";
	(void)state;
	for (size_t i = 0; i < sizeof(invalid_rows) / sizeof(*invalid_rows); i++) {
		const struct invalid_row *r = &invalid_rows[i];
		struct job *j = job_with(r->meta, r->spec, r->pod);
		assert_non_null(j->invalid);
		assert_memory_equal(j->invalid, front, strlen(front));
		assert_string_equal(j->invalid + strlen(front), r->sentence);
		for (const char *p = j->queue; *p; p++)
			assert_true(*p >= 0x20);
		free(j);
	}
}

static void repeat(struct buf *b, const char *what, int n)
{
	for (int i = 0; i < n; i++)
		buf_printf(b, "%s%s", i ? "," : "", what);
}

static void too_many_is_said_not_cut(void **state)
{
	struct buf b;
	struct job *j;
	(void)state;
	buf_init(&b, 1 << 20);
	buf_puts(&b, "'containers':[");
	repeat(&b, "{'resources':{'requests':{'cpu':'1'}}}", 10000);
	buf_puts(&b, "]");
	j = job_with("", "", buf_text(&b));
	assert_string_equal(j->invalid,
		"Job team-a/train: spec.template.spec.containers: has 10000 "
		"items; at most 512 are supported");
	free(j);
	buf_reset(&b);
	buf_puts(&b, "'tolerations':[");
	repeat(&b, "{'operator':'Exists'}", 65);
	buf_puts(&b, "]");
	j = job_with("", "", buf_text(&b));
	assert_string_equal(j->invalid, "Job team-a/train: spec.template.spec.tolerations: has 65 "
					"items; at most 64 are supported");
	free(j);
	buf_done(&b);
}

/* More than the decoder's guess: it is decoded twice, into a block of the right size. */
static void as_many_as_allowed(void **state)
{
	struct buf b;
	struct resource got;
	(void)state;
	buf_init(&b, 1 << 20);
	buf_puts(&b, "'containers':[");
	repeat(&b, "{'resources':{'requests':{'cpu':'1','memory':'1Gi'}}}", 512);
	buf_puts(&b, "]");
	struct job *j = job_with("", "", buf_text(&b));
	assert_null(j->invalid);
	assert_int_equal(j->pod.ncontainers, 512);
	assert_int_equal(pod_requests(&j->pod, &got, 1), 2);
	assert_int_equal(got.amount, 512000);
	assert_string_equal(j->name, "train");
	free(j);
	buf_done(&b);
}

static void five_megabytes_are_not_copied(void **state)
{
	enum { BIG = 5 << 20 };
	char *big = mem_alloc(BIG + 1);
	char *text = mem_alloc(BIG + 100);
	(void)state;
	memset(big, 'x', BIG);
	snprintf(text, BIG + 100, "'annotations':{'note':'%s'}", big);
	struct job *j = job_with(text, "", "");
	assert_null(j->invalid);
	free(j);
	snprintf(text, BIG + 100, "'annotations':{'sluice.dev/admission':'%s'}", big);
	j = job_with(text, "", "");
	assert_null(j->admission.story);
	assert_string_equal(j->invalid,
		"Job team-a/train: metadata.annotations.sluice.dev/admission: "
		"has 5242880 bytes; remove it, only Sluice writes it");
	free(j);
	snprintf(text, BIG + 100, "'annotations':{'sluice.dev/hold':'%s'}", big);
	j = job_with(text, "", "");
	assert_int_equal(strlen(j->hold), 1024);
	assert_non_null(j->invalid);
	free(j);
	for (size_t i = 0; i < 1200; i += 3)
		memcpy(big + i, "\xE6\xBC\xA2", 3);
	big[1200] = '\0';
	snprintf(text, BIG + 100, "'annotations':{'sluice.dev/hold':'%s'}", big);
	j = job_with(text, "", "");
	assert_int_equal(strlen(j->hold), 1023); /* cut between characters */
	assert_memory_equal(j->hold, big, 1023);
	free(j);
	free(text);
	free(big);
}

/* Straight from cJSON: json_parse() lets no such text through, but who knows who calls. */
static void a_label_that_is_not_utf8(void **state)
{
	struct job *j = NULL;
	cJSON *o = cJSON_Parse("{\"metadata\":{\"name\":\"a\",\"namespace\":\"b\","
			       "\"uid\":\"123e4567-e89b-12d3-a456-426614174000\","
			       "\"labels\":{\"sluice.dev/queue-name\":\"q\xFF\xC2\x9B\"}}}");
	(void)state;
	assert_int_equal(decode_job(o, NULL, &j, NULL), 0);
	cJSON_Delete(o);
	assert_string_equal(j->queue, "q??");
	assert_string_equal(j->invalid,
		"Job b/a: metadata.labels.sluice.dev/queue-name: is not "
		"plain text; remove control characters and what is not UTF-8");
	free(j);
}

/* Devices that are claimed are counted by nothing. */
static void what_claims_devices_waits_for_a_correction(void **state)
{
	static const struct {
		const char *suspend, *pod;
		bool uncounted, valid;
	} rows[] = {
		{"true", "'resourceClaims':[{'name':'gpu'}]", false, false},
		{"false", "'resourceClaims':[{'name':'gpu'}]", false, false},
		{"true", "'resourceClaims':[]", false, true},
		{"true", "'resourceClaims':null", false, true},
		{"true", "'nodeName':''", false, true},
		{"true", "'resourceClaims':[{'name':'gpu'}]", true, true},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct job_context context = {.uncounted_claims = rows[i].uncounted};
		char text[256];
		struct job *j;
		snprintf(text, sizeof(text),
			"{'metadata':{'name':'a','namespace':'b'," UID "},'spec':{'suspend':%s,"
			"'template':{'spec':{'containers':[],%s}}}}",
			rows[i].suspend, rows[i].pod);
		assert_int_equal(decode_job(parsed(text), &context, &j, NULL), 0);
		if (!j->invalid != rows[i].valid)
			fail_msg("%s: %s", text, j->invalid ? j->invalid : "valid");
		if (j->invalid)
			assert_string_equal(j->invalid,
				"Job b/a: spec.template.spec.resourceClaims: no quota counts "
				"devices that are claimed; request an extended resource in "
				"resources.limits (extendedResourceName of their DeviceClass), or "
				"create the Job without the label sluice.dev/queue-name");
		free(j);
	}
}

/* What it says of itself that the gate must know. */
static void what_keeps_it_and_what_cannot_be_counted(void **state)
{
	static const struct {
		const char *meta, *spec;
		const char *finalizer;
		bool uncontrolled;
	} rows[] = {
		{"", "", NULL, false},
		{"'finalizers':['x.io/a']", "", NULL, false}, /* not being deleted */
		{"'deletionTimestamp':'2026-11-21T09:58:30Z'", "", NULL, false},
		{"'deletionTimestamp':'2026-11-21T09:58:30Z','finalizers':['foregroundDeletion']",
			"", NULL, false},
		{"'deletionTimestamp':'2026-11-21T09:58:30Z','finalizers':[7,'foregroundDeletion',"
		 "'x.io/a','x.io/b']",
			"", "x.io/a", false},
		{"'deletionTimestamp':'2026-11-21T09:58:30Z','finalizers':['x.io/a','orphan']", "",
			"orphan", false},
		{"", "'managedBy':'kubernetes.io/job-controller'", NULL, false},
		{"", "'managedBy':'x.io/a'", NULL, true},
		{"", "'manualSelector':true", NULL, true},
		{"", "'selector':{}", NULL, true},
		{"",
			"'manualSelector':true,'selector':{'matchLabels':{"
			"'batch.kubernetes.io/controller-uid':"
			"'123e4567-e89b-12d3-a456-426614174000'}}",
			NULL, false},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct job *j = job_with(rows[i].meta, rows[i].spec, "");
		const char *wanted = rows[i].finalizer ? rows[i].finalizer : "none";
		if (strcmp(j->finalizer ? j->finalizer : "none", wanted) != 0)
			fail_msg("row %zu: %s", i, j->finalizer ? j->finalizer : "none");
		if (j->uncontrolled != rows[i].uncontrolled || !j->invalid == j->uncontrolled)
			fail_msg("row %zu: %s", i, j->invalid ? j->invalid : "valid");
		free(j);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_template_that_cannot_be_understood),
		cmocka_unit_test(what_is_no_job_at_all),
		cmocka_unit_test(what_a_user_may_write_wrong),
		cmocka_unit_test(what_claims_devices_waits_for_a_correction),
		cmocka_unit_test(what_keeps_it_and_what_cannot_be_counted),
		cmocka_unit_test(too_many_is_said_not_cut),
		cmocka_unit_test(as_many_as_allowed),
		cmocka_unit_test(five_megabytes_are_not_copied),
		cmocka_unit_test(a_label_that_is_not_utf8),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
