#include "test/unit/wire_test.h"

#include "cluster/pod.h"
#include "controller/wire/decode.h"
#include "sluice/quantity.h"

#define UID "'uid':'123e4567-e89b-12d3-a456-426614174000'"

static struct job *decoded(const char *text)
{
	struct job *j = NULL;
	struct err e = {""};
	if (decode_job(parsed(text), &j, &e) < 0)
		fail_msg("%s: %s", text, e.text);
	return j;
}

/* A Job with these pieces inside; "" for none. */
static struct job *job_with(const char *meta, const char *spec, const char *pod)
{
	struct buf b;
	buf_init(&b, 64 << 20);
	buf_puts(&b, "{'kind':'Job','metadata':{'name':'train','namespace':'team-a'," UID);
	buf_printf(&b, "%s%s},'spec':{", *meta ? "," : "", meta);
	buf_printf(&b, "%s%s'template':{'spec':{%s}}}}", spec, *spec ? "," : "", pod);
	struct job *j = decoded(buf_text(&b));
	buf_done(&b);
	return j;
}

static const char real_job[] =
	"{'apiVersion':'batch/v1','kind':'Job','metadata':{'name':'train','namespace':'team-a'," UID
	",'resourceVersion':'4711','generation':3,'creationTimestamp':'2026-11-21T09:58:30Z',"
	"'labels':{'sluice.dev/queue-name':'main','sluice.dev/priority-class':'high'},"
	"'annotations':{'sluice.dev/hold':'until monday','sluice.dev/max-run-seconds':'3600',"
	"'sluice.dev/expected-duration':'1h30m','other':'x',"
	"'sluice.dev/admission':'{\\'attempt\\':2,\\'state\\':\\'Stopped\\'}'}},"
	"'spec':{'suspend':true,'parallelism':5,'completions':10,'completionMode':'Indexed',"
	"'template':{'metadata':{'labels':{'a':'b'}},'spec':{'priorityClassName':'urgent',"
	"'nodeSelector':{'pool':'spot'},"
	"'tolerations':[{'key':'spot','operator':'Exists','effect':'NoSchedule'},"
	"{'key':'k','value':'v','effect':'NoExecute','tolerationSeconds':60}],"
	"'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':"
	"{'nodeSelectorTerms':[{'matchExpressions':[{'key':'gen','operator':'Gt','values':['6']}],"
	"'matchFields':[{'key':'metadata.name','operator':'In','values':['n1']}]},{}]}}},"
	"'initContainers':[{'name':'fetch','resources':{'requests':{'cpu':'2'}}},"
	"{'name':'proxy','restartPolicy':'Always','resources':{'requests':{'cpu':'100m'}}}],"
	"'containers':[{'name':'main','resources':{'requests':{'cpu':'1500m','memory':'1.5Gi'},"
	"'limits':{'memory':'2Gi','nvidia.com/gpu':'1'}}}],"
	"'resources':{'limits':{'memory':'9Gi'}},'runtimeClassName':'kata',"
	"'overhead':{'cpu':'50m'}}}},"
	"'status':{'startTime':'2026-11-21T10:00:00+01:00','active':3,'ready':2,'terminating':1,"
	"'succeeded':4,'failed':2,'uncountedTerminatedPods':{'succeeded':['u1','u2'],'failed':['u3'"
	"]},"
	"'completedIndexes':'0,2-4','failedIndexes':'4-5,9-20',"
	"'conditions':[{'type':'Suspended','status':'False'},"
	"{'type':'Failed','status':'True','lastTransitionTime':'2026-11-21T10:00:00.5Z'}]}}";

static void a_whole_job(void **state)
{
	struct resource got[8];
	(void)state;
	struct job *j = decoded(real_job);
	assert_string_equal(j->ns, "team-a");
	assert_string_equal(j->name, "train");
	assert_int_equal(j->uid.byte[0], 0x12);
	assert_int_equal(j->generation, 3);
	assert_int_equal(j->version, 4711);
	assert_int_equal(j->created_ms, 1795255110000);
	assert_false(j->deleting);
	assert_string_equal(j->queue, "main");
	assert_string_equal(j->priority_class, "high");
	assert_string_equal(j->pod_priority_class, "urgent");
	assert_string_equal(j->hold, "until monday");
	assert_int_equal(j->max_run_ms, 3600000);
	assert_int_equal(j->expected_ms, 5400000);
	assert_true(j->suspend && j->has_completions && j->indexed && j->has_annotations);
	assert_int_equal(j->parallelism, 5);
	assert_int_equal(j->completions, 10);
	assert_string_equal(j->story, "{\"attempt\":2,\"state\":\"Stopped\"}");
	assert_int_equal(j->story_state, STORY_STOPPED);
	assert_int_equal(j->story_attempt, 2);
	assert_null(j->invalid);
	assert_int_equal(pod_requests(&j->pod, got, 8), 3);
	assert_string_equal(got[0].name, "cpu");
	assert_int_equal(got[0].amount, 2050);
	assert_string_equal(got[1].name, "memory");
	assert_int_equal(got[1].amount, 1610612736);
	assert_string_equal(got[2].name, "nvidia.com/gpu");
	assert_int_equal(got[2].amount, 1);
	assert_int_equal(j->pod.ncontainers, 1);
	assert_int_equal(j->pod.containers[0].limits.count, 2);
	assert_string_equal(j->pod.containers[0].limits.item[0].name, "memory");
	assert_int_equal(j->pod.containers[0].limits.item[0].amount, INT64_C(2) << 30);
	assert_string_equal(j->pod.runtime_class, "kata");
	assert_int_equal(j->pod.pod_level_limits.count, 1);
	free(j);
}

static void where_it_may_run(void **state)
{
	struct job *j = decoded(real_job);
	const struct placement *p = &j->placement;
	(void)state;
	assert_int_equal(p->nnode_selector, 1);
	assert_string_equal(p->node_selector[0].key, "pool");
	assert_string_equal(p->node_selector[0].value, "spot");
	assert_int_equal(p->ntolerations, 2);
	assert_int_equal(p->tolerations[0].op, TOLERATION_EXISTS);
	assert_int_equal(p->tolerations[0].effect, TAINT_NO_SCHEDULE);
	assert_false(p->tolerations[0].has_seconds);
	assert_int_equal(p->tolerations[1].op, TOLERATION_EQUAL);
	assert_int_equal(p->tolerations[1].effect, TAINT_NO_EXECUTE);
	assert_int_equal(p->tolerations[1].seconds, 60);
	assert_int_equal(p->nterms, 2);
	assert_int_equal(p->terms[0].nrequirements, 1);
	assert_int_equal(p->terms[0].requirements[0].op, SELECTOR_GT);
	assert_string_equal(p->terms[0].requirements[0].values[0], "6");
	assert_int_equal(p->terms[1].nrequirements, 0);
	free(j);
}

static void what_the_cluster_looks_at(void **state)
{
	struct job *j = decoded(real_job);
	const struct pod *p = j->template;
	(void)state;
	assert_non_null(p);
	assert_string_equal(p->ns, "team-a");
	assert_string_equal(p->priority_class, "urgent");
	assert_int_equal(p->nlabels, 1);
	assert_string_equal(p->labels[0].key, "a");
	assert_int_equal(p->nnode_selector, 1);
	assert_int_equal(p->ntolerations, 4); /* two of its own, and two that the server adds */
	assert_int_equal(p->terms[0].fields.nrequirements, 1);
	assert_ptr_equal(p->resources.containers, j->pod.containers);
	assert_int_equal(j->grace_ms, 30000);
	free(j);
}

/* A Job that runs has more in its template than its owner wrote. */
static void the_template_is_its_owners(void **state)
{
	struct job *j = decoded(
		"{'metadata':{'name':'a','namespace':'ns'," UID
		",'annotations':{'sluice.dev/admission':'{\\'attempt\\':1,\\'state\\':"
		"\\'Started\\'}','sluice.dev/original-directives':'{\\'original\\':{"
		"\\'nodeSelector\\':{\\'zone\\':\\'x\\'},\\'tolerations\\':[]},"
		"\\'applied\\':{\\'nodeSelector\\':{\\'zone\\':\\'x\\',\\'pool\\':"
		"\\'spot\\'},\\'tolerations\\':[{\\'key\\':\\'spot\\',\\'operator\\':"
		"\\'Exists\\'}]}}'}},'spec':{'template':{'spec':{'nodeSelector':{'zone':'x','pool'"
		":'spot'},'tolerations':[{'key':'spot','operator':'Exists'}]}}}}");
	(void)state;
	assert_null(j->invalid);
	assert_int_equal(j->template->nnode_selector, 1);
	assert_string_equal(j->template->node_selector[0].key, "zone");
	assert_int_equal(j->template->ntolerations, 2);
	free(j);
}

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

static void how_long_a_stop_may_take(void **state)
{
	static const struct {
		const char *seconds;
		int64_t ms;
	} cases[] = {{"0", 0}, {"120", 120000}, {"-1", 1000}, {"null", 30000}, {"'x'", 30000},
		{"1e18", INT64_C(3153600000000)}};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char pod[64];
		snprintf(pod, sizeof(pod), "'terminationGracePeriodSeconds':%s", cases[i].seconds);
		struct job *j = job_with("", "", pod);
		assert_null(j->invalid);
		if (j->grace_ms != cases[i].ms)
			fail_msg("%s: %lld", pod, (long long)j->grace_ms);
		free(j);
	}
}

static void how_it_stands(void **state)
{
	struct job *j = decoded(real_job);
	(void)state;
	assert_true(j->status.has_start_time);
	assert_int_equal(j->status.start_ms, 1795251600000);
	assert_true(j->status.failed);
	assert_false(j->status.suspended || j->status.complete);
	assert_int_equal(j->status.finished_ms, 1795255200500);
	assert_int_equal(j->status.active, 3);
	assert_int_equal(j->status.ready, 2);
	assert_int_equal(j->status.terminating, 1);
	assert_int_equal(j->status.succeeded, 4);
	assert_int_equal(j->status.uncounted, 2);
	assert_int_equal(j->status.failed_pods, 2);
	assert_int_equal(j->status.uncounted_failed, 1);
	assert_int_equal(j->status.indexes_done, 6); /* 0 2 3 4 5 9 */
	free(j);
}

static void absent_is_not_zero(void **state)
{
	struct job *j = decoded("{'metadata':{'name':'a'," UID "}}");
	(void)state;
	assert_string_equal(j->ns, "");
	assert_string_equal(j->queue, "");
	assert_string_equal(j->pod_priority_class, "");
	assert_null(j->hold);
	assert_null(j->story);
	assert_false(j->has_annotations || j->has_completions || j->suspend || j->indexed);
	assert_int_equal(j->parallelism, 1);
	assert_int_equal(j->version, 0);
	assert_int_equal(job_pods(j), 1);
	assert_null(j->invalid);
	free(j);
	j = decoded("{'metadata':{'name':'a','annotations':{},'resourceVersion':'x1'," UID
		    "},'spec':{'suspend':null,'completions':null,'template':null},'status':null}");
	assert_true(j->has_annotations);
	assert_false(j->has_completions);
	assert_int_equal(j->version, 0);
	assert_null(j->invalid);
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
		if (decode_job(parsed(rows[i]), &j, &e) != ERR_INVALID || j || !*e.text)
			fail_msg("%s", rows[i]);
	}
	assert_int_equal(decode_job(NULL, &(struct job *){NULL}, NULL), ERR_INVALID);
}

/* One thing wrong each; the sentence behind "Job team-a/train: ". */
static const struct invalid_row {
	const char *meta, *spec, *pod, *sentence;
} invalid_rows[] = {
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
	{"'annotations':{'sluice.dev/expected-duration':'soon'}", "", "",
		"metadata.annotations.sluice.dev/expected-duration: \"soon\" is not a duration; "
		"write e.g. 1h30m or 5400"},
	{"'annotations':{'sluice.dev/expected-duration':''}", "", "",
		"metadata.annotations.sluice.dev/expected-duration: \"\" is not a duration; "
		"write e.g. 1h30m or 5400"},
	{"'creationTimestamp':'yesterday'", "", "",
		"metadata.creationTimestamp: is not a time; write e.g. 2026-11-21T09:58:30Z"},
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
	assert_null(j->story);
	assert_string_equal(j->invalid,
		"Job team-a/train: metadata.annotations.sluice.dev/admission: "
		"has 5242880 bytes; remove it, only Sluice writes it");
	free(j);
	snprintf(text, BIG + 100, "'annotations':{'sluice.dev/hold':'%s'}", big);
	j = job_with(text, "", "");
	assert_int_equal(strlen(j->hold), 1024);
	assert_non_null(j->invalid);
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
	assert_int_equal(decode_job(o, &j, NULL), 0);
	cJSON_Delete(o);
	assert_string_equal(j->queue, "q???");
	assert_string_equal(j->invalid,
		"Job b/a: metadata.labels.sluice.dev/queue-name: is not "
		"plain text; remove control characters and what is not UTF-8");
	free(j);
}

static const struct story_row {
	const char *text;
	enum story_state state;
	int attempt;
} story_rows[] = {
	{"{\\'attempt\\':1,\\'state\\':\\'Started\\'}", STORY_STARTED, 1},
	{"{\\'attempt\\':7,\\'state\\':\\'Fenced\\',\\'more\\':[1]}", STORY_FENCED, 7},
	{"", STORY_NONE, 0},
	{"not json", STORY_NONE, 0},
	{"{\\'attempt\\':1", STORY_NONE, 0},
	{"{\\'attempt\\':1,\\'state\\':\\'Sleeping\\'}", STORY_NONE, 0},
	{"{\\'attempt\\':0,\\'state\\':\\'Started\\'}", STORY_NONE, 0},
	{"{\\'attempt\\':-3,\\'state\\':\\'Started\\'}", STORY_NONE, 0},
	{"{\\'attempt\\':2147483648,\\'state\\':\\'Started\\'}", STORY_NONE, 0},
	{"{\\'attempt\\':\\'1\\',\\'state\\':\\'Started\\'}", STORY_NONE, 0},
	{"[1]", STORY_NONE, 0},
};

static void a_story_is_kept_even_when_it_makes_no_sense(void **state)
{
	char text[200];
	(void)state;
	for (size_t i = 0; i < sizeof(story_rows) / sizeof(*story_rows); i++) {
		const struct story_row *r = &story_rows[i];
		snprintf(
			text, sizeof(text), "'annotations':{'sluice.dev/admission':'%s'}", r->text);
		struct job *j = job_with(text, "", "");
		assert_non_null(j->story);
		assert_int_equal(j->story_state, r->state);
		assert_int_equal(j->story_attempt, r->attempt);
		assert_null(j->invalid);
		free(j);
	}
}

static void what_kept_its_pods_is_read_back(void **state)
{
	static const struct {
		const char *text, *says;
	} rows[] = {
		{"\\'trouble\\':\\'Unschedulable: its pod\\'", "Unschedulable: its pod"},
		{"\\'trouble\\':\\'two\\\\nlines\\'", "two lines"},
		{"\\'trouble\\':\\'\\'", NULL},
		{"\\'trouble\\':7", NULL},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char text[200];
		snprintf(text, sizeof(text),
			"'annotations':{'sluice.dev/admission':'{\\'attempt\\':1,\\'state\\':"
			"\\'Stopped\\',%s}'}",
			rows[i].text);
		struct job *j = job_with(text, "", "");
		assert_int_equal(j->story_state, STORY_STOPPED);
		if (rows[i].says)
			assert_string_equal(j->trouble, rows[i].says);
		else
			assert_null(j->trouble);
		assert_null(j->invalid);
		free(j);
	}
}

static const struct hold_row {
	const char *value, *hold;
} hold_rows[] = {{"false", NULL}, {"true", "true"}, {"", ""}, {"by anna", "by anna"}};

static void held_unless_false(void **state)
{
	char text[100];
	(void)state;
	for (size_t i = 0; i < sizeof(hold_rows) / sizeof(*hold_rows); i++) {
		snprintf(text, sizeof(text), "'annotations':{'sluice.dev/hold':'%s'}",
			hold_rows[i].value);
		struct job *j = job_with(text, "", "");
		if (hold_rows[i].hold)
			assert_string_equal(j->hold, hold_rows[i].hold);
		else
			assert_null(j->hold);
		free(j);
	}
}

#define INDEXED "'parallelism':4,'completions':4,'completionMode':'Indexed'"

static const struct partial_row {
	const char *annotation, *spec;
	int32_t least; /* min_parallelism */
	bool follow;
	const char *sentence; /* NULL: fine */
} partial_rows[] = {
	{"'sluice.dev/min-parallelism':'2'", "'parallelism':4", 2, false, NULL},
	{"'sluice.dev/min-parallelism':'3'", "'parallelism':4", 3, false, NULL},
	{"'sluice.dev/min-parallelism':'4'", "'parallelism':4", 0, false,
		"sluice.dev/min-parallelism: \"4\" is not less than spec.parallelism, which is "
		"4; lower it, or remove it to start with all pods only"},
	{"'sluice.dev/min-parallelism':'1'", "", 0, false,
		"sluice.dev/min-parallelism: \"1\" is not less than spec.parallelism, which is "
		"1; lower it, or remove it to start with all pods only"},
	{"'sluice.dev/min-parallelism':'0'", "'parallelism':4", 0, false,
		"sluice.dev/min-parallelism: \"0\" is not a number of pods; write e.g. 2"},
	{"'sluice.dev/min-parallelism':'two'", "'parallelism':4", 0, false,
		"sluice.dev/min-parallelism: \"two\" is not a number of pods; write e.g. 2"},
	{"'sluice.dev/min-parallelism':2", "'parallelism':4", 0, false,
		"sluice.dev/min-parallelism: must be a string"},
	{"'sluice.dev/completions-equal-parallelism':'true'", INDEXED, 0, true, NULL},
	{"'sluice.dev/completions-equal-parallelism':'false'", "", 0, false, NULL},
	{"'sluice.dev/completions-equal-parallelism':'yes'", INDEXED, 0, false,
		"sluice.dev/completions-equal-parallelism: \"yes\" is neither \"true\" nor "
		"\"false\""},
	{"'sluice.dev/completions-equal-parallelism':'true'", "'parallelism':4,'completions':4", 0,
		false,
		"sluice.dev/completions-equal-parallelism: needs completionMode Indexed and "
		"completions equal to parallelism, for Kubernetes changes the completions of no "
		"other Job; remove it"},
};

static void fewer_pods_than_asked_for(void **state)
{
	char meta[200], sentence[400];
	(void)state;
	for (size_t i = 0; i < sizeof(partial_rows) / sizeof(*partial_rows); i++) {
		const struct partial_row *r = &partial_rows[i];
		snprintf(meta, sizeof(meta), "'annotations':{%s}", r->annotation);
		snprintf(sentence, sizeof(sentence), "Job team-a/train: metadata.annotations.%s",
			r->sentence ? r->sentence : "");
		struct job *j = job_with(meta, r->spec, "");
		if (j->min_parallelism != r->least || j->completions_follow != r->follow ||
			(r->sentence ? !j->invalid || strcmp(j->invalid, sentence) != 0
				     : j->invalid != NULL))
			fail_msg("%s: %s", r->annotation, j->invalid ? j->invalid : "");
		free(j);
	}
}

/* A Job whose story says that 3 of 8 pods were let in, with this in its spec. */
static struct job *let_in_with_three(const char *state, const char *spec)
{
	char meta[400];
	snprintf(meta, sizeof(meta),
		"'annotations':{'sluice.dev/min-parallelism':'3','sluice.dev/admission':"
		"'{\\'attempt\\':1,\\'state\\':\\'%s\\',\\'pods\\':3,\\'parallelism\\':8,"
		"\\'completions\\':8,\\'history\\':{\\'requeues\\':2,\\'ranMs\\':5000,"
		"\\'notBeforeMs\\':7,\\'evictedMs\\':1795255110001,\\'suspensions\\':3}}'}",
		state);
	return job_with(meta, spec, "");
}

static void what_its_owner_wrote_comes_back(void **state)
{
	(void)state;
	struct job *j = let_in_with_three("Started",
		"'suspend':false,'parallelism':3,'completions':3,'completionMode':'Indexed'");
	assert_int_equal(j->owner_parallelism, 8);
	assert_int_equal(j->owner_completions, 8);
	assert_int_equal(j->parallelism, 3); /* what runs */
	assert_int_equal(j->min_parallelism, 3);
	assert_null(j->invalid);
	assert_int_equal(j->history.requeues, 2);
	assert_int_equal(j->history.ran_ms, 5000);
	assert_int_equal(j->history.not_before_ms, 7);
	assert_int_equal(j->history.evicted_ms, 1795255110001);
	assert_int_equal(j->history.suspensions, 3);
	free(j);
	j = let_in_with_three("Started",
		"'suspend':true,'parallelism':3,'completions':3,'completionMode':'Indexed'");
	assert_int_equal(j->owner_parallelism, 8);
	assert_int_equal(j->parallelism, 8); /* what it asks for */
	assert_int_equal(j->completions, 8);
	free(j);
	/* Its owner has other ideas since. */
	j = let_in_with_three("Started",
		"'suspend':false,'parallelism':5,'completions':5,'completionMode':'Indexed'");
	assert_int_equal(j->owner_parallelism, 0);
	assert_int_equal(j->parallelism, 5);
	free(j);
	j = let_in_with_three("Stopped", "'suspend':true,'parallelism':8");
	assert_int_equal(j->owner_parallelism, 0);
	assert_int_equal(j->history.requeues, 2);
	free(j);
}

static const struct duration_row {
	const char *text;
	int64_t ms; /* 0: invalid */
} duration_rows[] = {
	{"5400", 5400000},
	{"1h30m", 5400000},
	{"1.5h", 5400000},
	{".5h", 1800000},
	{"1.h", 3600000},
	{"90s", 90000},
	{"1500ms", 1500},
	{"1m0.5s", 60500},
	{"1ns", 1},
	{"2us", 1},
	{"876000h", INT64_C(3153600000000)},
	{"876001h", 0},
	{"3153600000", INT64_C(3153600000000)},
	{"3153600001", 0},
	{"99999999999999999999h", 0},
	{"0", 0},
	{"0s", 0},
	{"-1h", 0},
	{"1", 1000},
	{"1.5", 0},
	{"h", 0},
	{".h", 0},
	{"1h 30m", 0},
	{"1d", 0},
	{" 1h", 0},
	{"1hm", 0},
};

static void durations(void **state)
{
	char text[100];
	(void)state;
	for (size_t i = 0; i < sizeof(duration_rows) / sizeof(*duration_rows); i++) {
		snprintf(text, sizeof(text), "'annotations':{'sluice.dev/expected-duration':'%s'}",
			duration_rows[i].text);
		struct job *j = job_with(text, "", "");
		if (j->expected_ms != duration_rows[i].ms ||
			(j->invalid != NULL) != (duration_rows[i].ms == 0))
			fail_msg("%s: %lld %s", duration_rows[i].text, (long long)j->expected_ms,
				j->invalid ? j->invalid : "");
		free(j);
	}
}

static const struct time_row {
	const char *text;
	int64_t ms; /* -1: invalid */
} time_rows[] = {
	{"1970-01-01T00:00:00Z", 0},
	{"2026-11-21T09:58:30Z", 1795255110000},
	{"2026-11-21t09:58:30z", 1795255110000},
	{"2026-11-21T09:58:30.123456789Z", 1795255110123},
	{"2026-11-21T09:58:30.1Z", 1795255110100},
	{"2026-11-21T11:58:30+02:00", 1795255110000},
	{"2026-11-21T05:28:30-04:30", 1795255110000},
	{"2024-02-29T00:00:00Z", 1709164800000},
	{"2023-02-29T00:00:00Z", -1},
	{"2026-13-01T00:00:00Z", -1},
	{"2026-11-00T00:00:00Z", -1},
	{"2026-11-21T24:00:00Z", -1},
	{"2026-11-21T09:58:30", -1},
	{"2026-11-21T09:58:30.Z", -1},
	{"2026-11-21 09:58:30Z", -1},
	{"2026-11-21T09:58:30Zx", -1},
	{"2026-11-21T09:58:30+2:00", -1},
	{"", -1},
};

static void times(void **state)
{
	char text[100];
	(void)state;
	for (size_t i = 0; i < sizeof(time_rows) / sizeof(*time_rows); i++) {
		snprintf(text, sizeof(text), "'creationTimestamp':'%s'", time_rows[i].text);
		struct job *j = job_with(text, "", "");
		bool good = time_rows[i].ms >= 0;
		if (j->created_ms != (good ? time_rows[i].ms : 0) || !j->invalid != good)
			fail_msg("%s: %lld", time_rows[i].text, (long long)j->created_ms);
		free(j);
	}
}

static const struct index_row {
	const char *completed, *failed;
	int completions, done;
} index_rows[] = {
	{"", "", 10, 0},
	{"1,3-5,7", "", 10, 5},
	{"0-9", "", 10, 10},
	{"0-9", "", 4, 4},
	{"0-1,8-20", "", 10, 4},
	{"1,3-5,7", "2,6", 10, 7},
	{"1-5", "3-7", 10, 7},
	{"2", "0-9", 10, 10},
	{"99999999999999999999", "", 10, 0},
	{"0-99999999999999999999", "", 10, 10},
	{"5-3", "", 10, 0},
	{"7,1", "", 10, 1}, /* out of order: rather too few */
	{"1,,2", "", 10, 1},
	{"1-", "", 10, 1},
	{"-5", "", 10, 0},
	{"x", "1", 10, 1},
	{"0-2147483647", "0-2147483647", 2147483647, 2147483647},
};

static void indexes_that_are_done(void **state)
{
	char text[500];
	(void)state;
	for (size_t i = 0; i < sizeof(index_rows) / sizeof(*index_rows); i++) {
		const struct index_row *r = &index_rows[i];
		snprintf(text, sizeof(text),
			"{'metadata':{'name':'a'," UID "},'spec':{'completionMode':'Indexed',"
			"'completions':%d},'status':{'completedIndexes':'%s','failedIndexes':'%s'}"
			"}",
			r->completions, r->completed, r->failed);
		struct job *j = decoded(text);
		if (j->status.indexes_done != r->done)
			fail_msg("%s + %s: %d", r->completed, r->failed,
				(int)j->status.indexes_done);
		free(j);
	}
}

static const struct pod_level_row {
	const char *name, *containers, *pod;
	int64_t cpu;
} pod_level_rows[] = {
	{"requests override", "'requests':{'cpu':'1'}", "'requests':{'cpu':'3'}", 3000},
	{"limits alone, when no container asks", "", "'limits':{'cpu':'3'}", 3000},
	{"a container asks: its sum stands", "'requests':{'cpu':'1'}", "'limits':{'cpu':'3'}",
		1000},
	{"a container has a limit: the same", "'limits':{'cpu':'2'}", "'limits':{'cpu':'3'}", 2000},
	{"a request of nothing overrides too", "'requests':{'cpu':'1'}", "'requests':{'cpu':'0'}",
		0},
	{"a number", "'requests':{'cpu':0.1}", "", 100},
	{"whole and fraction", "'requests':{'cpu':1.5}", "", 1500},
	{"null is absent", "'requests':{'cpu':null},'limits':{'cpu':'1'}", "", 1000},
};

static void what_a_pod_asks_for(void **state)
{
	char text[300];
	(void)state;
	for (size_t i = 0; i < sizeof(pod_level_rows) / sizeof(*pod_level_rows); i++) {
		const struct pod_level_row *r = &pod_level_rows[i];
		struct resource got = {"cpu", 0};
		snprintf(text, sizeof(text), "'containers':[{'resources':{%s}}],'resources':{%s}",
			r->containers, r->pod);
		struct job *j = job_with("", "", text);
		pod_requests(&j->pod, &got, 1);
		if (j->invalid || got.amount != r->cpu)
			fail_msg("%s: %lld", r->name, (long long)got.amount);
		free(j);
	}
}

#define ORIGINAL "\\'original\\':{\\'nodeSelector\\':{\\'own\\':\\'1\\'},\\'tolerations\\':[]}"
#define APPLIED                                                                                    \
	"\\'applied\\':{\\'nodeSelector\\':{\\'own\\':\\'1\\',\\'pool\\':\\'spot\\'},"             \
	"\\'tolerations\\':[{\\'key\\':\\'spot\\',\\'operator\\':\\'Exists\\'},"                   \
	"{\\'key\\':\\'b\\',\\'operator\\':\\'Equal\\'}]}"

static const struct directives_row {
	const char *name, *annotation, *pod;
	size_t nselector, ntolerations; /* the user's own */
} directives_rows[] = {
	{"as it was applied, in another order", "{" ORIGINAL "," APPLIED "}",
		"'nodeSelector':{'pool':'spot','own':'1'},"
		"'tolerations':[{'key':'b'},{'key':'spot','operator':'Exists'}]",
		1, 0},
	{"edited since", "{" ORIGINAL "," APPLIED "}",
		"'nodeSelector':{'pool':'spot','own':'2'},"
		"'tolerations':[{'key':'spot','operator':'Exists'},{'key':'b'}]",
		2, 2},
	{"a toleration added since", "{" ORIGINAL "," APPLIED "}",
		"'nodeSelector':{'pool':'spot','own':'1'},"
		"'tolerations':[{'key':'spot','operator':'Exists'},{'key':'b'},{'key':'c'}]",
		2, 3},
	{"everything removed since", "{" ORIGINAL "," APPLIED "}", "", 0, 0},
	{"no sense", "{" ORIGINAL "}", "'nodeSelector':{'pool':'spot'}", 1, 0},
	{"no JSON", "{", "'nodeSelector':{'pool':'spot'}", 1, 0},
	{"wrong inside", "{\\'original\\':{\\'nodeSelector\\':7}," APPLIED "}",
		"'nodeSelector':{'pool':'spot','own':'1'},"
		"'tolerations':[{'key':'spot','operator':'Exists'},{'key':'b'}]",
		2, 2},
};

static void a_users_own_directives_come_back(void **state)
{
	char text[1000];
	(void)state;
	for (size_t i = 0; i < sizeof(directives_rows) / sizeof(*directives_rows); i++) {
		const struct directives_row *r = &directives_rows[i];
		snprintf(text, sizeof(text),
			"'annotations':{'sluice.dev/original-directives':'%s'}", r->annotation);
		struct job *j = job_with(text, "", r->pod);
		assert_null(j->invalid);
		if (j->placement.nnode_selector != r->nselector ||
			j->placement.ntolerations != r->ntolerations)
			fail_msg("%s: %zu, %zu", r->name, j->placement.nnode_selector,
				j->placement.ntolerations);
		free(j);
	}
}

#define OWNER "11111111-2222-3333-4444-555555555555"

static const struct owner_row {
	const char *name, *owners;
	bool is;
} owner_rows[] = {
	{"none", "[]", false},
	{"a Job", "[{'apiVersion':'batch/v1','kind':'Job','controller':true,'uid':'" OWNER "'}]",
		true},
	{"a CronJob",
		"[{'apiVersion':'batch/v1','kind':'CronJob','controller':true,'uid':'" OWNER "'}]",
		false},
	{"a Job that does not control it",
		"[{'apiVersion':'batch/v1','kind':'Job','uid':'" OWNER "'}]", false},
	{"another group's Job",
		"[{'apiVersion':'x.io/v1','kind':'Job','controller':true,'uid':'" OWNER "'}]",
		false},
	{"not a uid", "[{'apiVersion':'batch/v1','kind':'Job','controller':true,'uid':'x'}]",
		false},
	{"not even objects", "['x',3,null,{'kind':3,'controller':'yes'}]", false},
	{"the second of two",
		"[{'apiVersion':'v1','kind':'Pod','uid':'x'},"
		"{'apiVersion':'batch/v1','kind':'Job','controller':true,'uid':'" OWNER "'}]",
		true},
};

static void which_job_made_it(void **state)
{
	struct uid uid;
	(void)state;
	assert_true(uid_parse(OWNER, &uid));
	for (size_t i = 0; i < sizeof(owner_rows) / sizeof(*owner_rows); i++) {
		const struct owner_row *r = &owner_rows[i];
		char text[1000];
		snprintf(text, sizeof(text),
			"{'metadata':{'name':'a','ownerReferences':%s," UID "}}", r->owners);
		struct job *j = decoded(text);
		if (j->has_owner_job != r->is)
			fail_msg("%s", r->name);
		if (r->is)
			assert_int_equal(uid_cmp(&j->owner_job, &uid), 0);
		assert_null(j->invalid);
		free(j);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_job),
		cmocka_unit_test(where_it_may_run),
		cmocka_unit_test(what_the_cluster_looks_at),
		cmocka_unit_test(the_template_is_its_owners),
		cmocka_unit_test(a_template_that_cannot_be_understood),
		cmocka_unit_test(how_long_a_stop_may_take),
		cmocka_unit_test(how_it_stands),
		cmocka_unit_test(absent_is_not_zero),
		cmocka_unit_test(which_job_made_it),
		cmocka_unit_test(what_is_no_job_at_all),
		cmocka_unit_test(what_a_user_may_write_wrong),
		cmocka_unit_test(too_many_is_said_not_cut),
		cmocka_unit_test(as_many_as_allowed),
		cmocka_unit_test(five_megabytes_are_not_copied),
		cmocka_unit_test(a_label_that_is_not_utf8),
		cmocka_unit_test(a_story_is_kept_even_when_it_makes_no_sense),
		cmocka_unit_test(what_kept_its_pods_is_read_back),
		cmocka_unit_test(held_unless_false),
		cmocka_unit_test(fewer_pods_than_asked_for),
		cmocka_unit_test(what_its_owner_wrote_comes_back),
		cmocka_unit_test(durations),
		cmocka_unit_test(times),
		cmocka_unit_test(indexes_that_are_done),
		cmocka_unit_test(what_a_pod_asks_for),
		cmocka_unit_test(a_users_own_directives_come_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
