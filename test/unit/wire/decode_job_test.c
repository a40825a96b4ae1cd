/* What a Job says of itself and of its pods. */
#include "wire_job.h"

#include "queue/cluster/pod.h"
#include "controller/wire/decode_template.h"
#include "sluice/quantity.h"

static const char real_job[] =
	"{'apiVersion':'batch/v1','kind':'Job','metadata':{'name':'train','namespace':'team-a'," UID
	",'resourceVersion':'4711','generation':3,'creationTimestamp':'2026-11-21T09:58:30Z',"
	"'labels':{'sluice.dev/queue-name':'main','sluice.dev/priority-class':'high'},"
	"'annotations':{'sluice.dev/hold':'until monday','sluice.dev/max-run-seconds':'3600',"
	"'sluice.dev/expected-duration':'1h30m','other':'x',"
	"'sluice.dev/admission':'{\\'attempt\\':2,\\'state\\':\\'Stopped\\'}'}},"
	"'spec':{'suspend':true,'parallelism':5,'completions':10,'completionMode':'Indexed','backoffLimit':9,"
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
	"{'type':'SuccessCriteriaMet','status':'False'},{'type':'FailureTarget','status':'True'},"
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
	assert_int_equal(j->durations.max_run_ms, 3600000);
	assert_int_equal(j->durations.expected_ms, 5400000);
	assert_true(j->suspend && j->has_completions && j->indexed && j->annotations.present);
	assert_int_equal(j->parallelism, 5);
	assert_int_equal(j->backoff_limit, 9);
	assert_int_equal(j->completions, 10);
	assert_string_equal(j->admission.story, "{\"attempt\":2,\"state\":\"Stopped\"}");
	assert_int_equal(j->admission.state, STORY_STOPPED);
	assert_int_equal(j->admission.attempt, 2);
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
	assert_int_equal(p->terms[0].labels.nrequirements, 1);
	assert_int_equal(p->terms[0].labels.requirements[0].op, SELECTOR_GT);
	assert_string_equal(p->terms[0].labels.requirements[0].values[0], "6");
	assert_int_equal(p->terms[1].labels.nrequirements, 0);
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

static void how_long_a_stop_may_take(void **state)
{
	static const struct {
		const char *seconds;
		int64_t ms;
	} cases[] = {{"0", 0}, {"120", 120000}, {"3600", 3600000}, {"-1", 1000}, {"null", 30000},
		{"'x'", 30000}, {"1e18", INT64_C(3153600000000)}};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char pod[64];
		snprintf(pod, sizeof(pod), "'terminationGracePeriodSeconds':%s", cases[i].seconds);
		struct job *j = job_with("", "", pod);
		assert_true(!j->invalid == (j->grace_ms <= JOB_GRACE_MAX_S * 1000));
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
	assert_true(j->status.ending);
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
	assert_null(j->admission.story);
	assert_false(j->annotations.present || j->has_completions || j->suspend || j->indexed);
	assert_int_equal(j->parallelism, 1);
	assert_int_equal(j->backoff_limit, 6);
	assert_int_equal(j->version, 0);
	assert_int_equal(job_pods(j), 1);
	assert_null(j->invalid);
	free(j);
	j = decoded("{'metadata':{'name':'a','annotations':{},'resourceVersion':'x1'," UID
		    "},'spec':{'suspend':null,'completions':null,'template':null},'status':null}");
	assert_true(j->annotations.present);
	assert_false(j->has_completions);
	assert_int_equal(j->version, 0);
	assert_null(j->invalid);
	free(j);
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

static void which_job_made_a_pod(void **state)
{
	struct uid uid;
	const struct uid none = {{0}};
	(void)state;
	assert_true(uid_parse(OWNER, &uid));
	for (size_t i = 0; i < sizeof(owner_rows) / sizeof(*owner_rows); i++) {
		const struct owner_row *r = &owner_rows[i];
		char text[1000];
		snprintf(text, sizeof(text),
			"{'metadata':{'name':'a','ownerReferences':%s," UID "}}", r->owners);
		struct bound_pod *b;
		assert_int_equal(decode_bound_pod(parsed(text), &b, &(struct err){""}), 0);
		if (uid_cmp(&b->owner, r->is ? &uid : &none) != 0)
			fail_msg("%s", r->name);
		free(b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_job),
		cmocka_unit_test(where_it_may_run),
		cmocka_unit_test(what_the_cluster_looks_at),
		cmocka_unit_test(the_template_is_its_owners),
		cmocka_unit_test(how_long_a_stop_may_take),
		cmocka_unit_test(how_it_stands),
		cmocka_unit_test(absent_is_not_zero),
		cmocka_unit_test(which_job_made_a_pod),
		cmocka_unit_test(times),
		cmocka_unit_test(indexes_that_are_done),
		cmocka_unit_test(what_a_pod_asks_for),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
