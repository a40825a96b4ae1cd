/* Pods that are Pending, and refusals of the Job controller: from JSON to facts. */
#include "controller/wire/decode_trouble.h"

#include "wire.h"
#include "controller/gate/trouble.h"
#include "controller/gate/rejection.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define T0 INT64_C(1795255200000) /* 2026-11-21T10:00:00Z */
#define UID "6f1f1e58-8b5c-4f4e-9f5d-1d9a0b7c2e3f"
#define JOB "7a1f1e58-8b5c-4f4e-9f5d-1d9a0b7c2e3f"

#define META                                                                                       \
	"'metadata':{'name':'a-x','namespace':'team','uid':'" UID "',"                             \
	"'creationTimestamp':'2026-11-21T10:00:00Z','ownerReferences':[{'apiVersion':'batch/v1',"  \
	"'kind':'Job','name':'a','uid':'" JOB "','controller':true}]}"

/* ---- pods ------------------------------------------------------------------------------------ */

#define UNSEEN "no scheduler has looked at them; schedulerName: "
#define BOUND "{'nodeName':'n1','schedulerName':'default-scheduler'}"
#define SINCE_5                                                                                    \
	"{'type':'PodScheduled','status':'True','lastTransitionTime':'2026-11-21T10:00:05Z'}"

static const struct pod_row {
	const char *name, *status;
	enum trouble_word word;
	int64_t since_s;
	const char *message, *spec; /* NULL: {} */
} pods[] = {
	{"nothing is said yet", "{'phase':'Pending'}", TROUBLE_NOT_SEEN_BY_SCHEDULER, 0,
		UNSEEN "lottery", "{'schedulerName':'lottery'}"},
	{"no status", "null", TROUBLE_NOT_SEEN_BY_SCHEDULER, 0, UNSEEN "none"},
	{"on its node, of which nothing is heard", "{'conditions':[" SINCE_5 "]}",
		TROUBLE_CONTAINER_CREATING, 5,
		"pod a-x on node n1: its kubelet has said nothing of it", BOUND},
	{"put on a node by its owner, where no kubelet is", "{}", TROUBLE_CONTAINER_CREATING, 0,
		"pod a-x on node n1: its kubelet has said nothing of it", BOUND},
	{"its volume does not come",
		"{'conditions':[" SINCE_5 ",{'type':'PodReadyToStartContainers','status':'False'}],"
		"'containerStatuses':[{'state':{'waiting':{'reason':'ContainerCreating'}}}]}",
		TROUBLE_CONTAINER_CREATING, 5,
		"pod a-x on node n1: its volumes or its network are not there yet", BOUND},
	{"its image is pulled",
		"{'conditions':[" SINCE_5 ",{'type':'PodReadyToStartContainers','status':'True'}],"
		"'initContainerStatuses':[{'state':{'waiting':{'reason':'PodInitializing'}}}],"
		"'containerStatuses':[{'state':{'waiting':{'reason':'PodInitializing'}}}]}",
		TROUBLE_CONTAINER_CREATING, 5,
		"pod a-x on node n1: its containers are not created, or their image is still "
		"pulled",
		BOUND},
	{"an init container takes its time",
		"{'conditions':[" SINCE_5 "],'initContainerStatuses':[{'state':{'running':{}}}],"
		"'containerStatuses':[{'state':{'waiting':{'reason':'PodInitializing'}}}]}",
		TROUBLE_NONE, 5, "", BOUND},
	{"one container runs already",
		"{'conditions':[" SINCE_5 "],'containerStatuses':[{'state':{'running':{}}},"
		"{'state':{'waiting':{'reason':'ContainerCreating'}}}]}",
		TROUBLE_NONE, 5, "", BOUND},
	{"the image cannot be pulled, whatever else is silent",
		"{'containerStatuses':[{'state':{'waiting':{'reason':'ContainerCreating'}}},"
		"{'state':{'waiting':{'reason':'ErrImagePull','message':'not found'}}}]}",
		TROUBLE_ERR_IMAGE_PULL, 0, "not found", BOUND},
	{"nowhere to go",
		"{'conditions':[{'type':'Ready','status':'False'},{'type':'PodScheduled','status':"
		"'False','reason':'Unschedulable','message':'0/20 nodes are available',"
		"'lastTransitionTime':'2026-11-21T10:00:05Z'}]}",
		TROUBLE_UNSCHEDULABLE, 5, "0/20 nodes are available"},
	{"gated",
		"{'conditions':[{'type':'PodScheduled','status':'False','reason':'SchedulingGated',"
		"'message':'Scheduling is blocked due to non-empty scheduling gates'}]}",
		TROUBLE_SCHEDULING_GATED, 0,
		"Scheduling is blocked due to non-empty scheduling gates"},
	{"the scheduler had an error of its own",
		"{'conditions':[{'type':'PodScheduled','status':'False','reason':'SchedulerError'}]"
		"}",
		TROUBLE_NONE, 0, ""},
	{"scheduled, and on no node",
		"{'conditions':[{'type':'PodScheduled','status':'True','lastTransitionTime':"
		"'2026-11-21T10:00:05Z'}],'containerStatuses':[{'state':{'waiting':{'reason':"
		"'ContainerCreating'}}}]}",
		TROUBLE_NONE, 5, ""}, /* it cannot be: it has no node */
	{"the second container cannot",
		"{'conditions':[{'type':'PodScheduled','status':'True','lastTransitionTime':"
		"'2026-11-21T10:00:05Z'}],'containerStatuses':[{'state':{'running':{}}},"
		"{'state':{'waiting':{'reason':'ErrImagePull','message':'not found'}}}]}",
		TROUBLE_ERR_IMAGE_PULL, 5, "not found"},
	{"an init container goes first",
		"{'initContainerStatuses':[{'state':{'waiting':{'reason':'CrashLoopBackOff'}}}],"
		"'containerStatuses':[{'state':{'waiting':{'reason':'PodInitializing'}}}]}",
		TROUBLE_CRASH_LOOP_BACK_OFF, 0, ""},
	{"a message in two lines",
		"{'containerStatuses':[{'state':{'waiting':{'reason':'CreateContainerConfigError',"
		"'message':'secret \\u001b[2J\\nmissing'}}}]}",
		TROUBLE_CREATE_CONTAINER_CONFIG_ERROR, 0, "secret  [2J missing"},
	{"a word that is ours alone",
		"{'containerStatuses':[{'state':{'running':{}}},{'state':{'waiting':{'reason':"
		"'PodsRefused'}}}]}",
		TROUBLE_NONE, 0, "", BOUND},
	{"all of it is something else", "{'conditions':{},'containerStatuses':[3,null,'x']}",
		TROUBLE_NOT_SEEN_BY_SCHEDULER, 0, UNSEEN "none", "[]"},
};

static void what_a_pod_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(pods); i++) {
		char text[2048];
		struct trouble_pod *p = NULL;
		struct err e = {""};
		snprintf(text, sizeof(text), "{'kind':'Pod'," META ",'spec':%s,'status':%s}",
			pods[i].spec ? pods[i].spec : "{}", pods[i].status);
		if (decode_trouble_pod(parsed(text), &p, &e) < 0 || p->word != pods[i].word ||
			strcmp(p->message, pods[i].message) != 0 ||
			p->since_ms != T0 + pods[i].since_s * 1000)
			fail_msg("%s: %s %s %s", pods[i].name, e.text,
				p ? trouble_name(p->word) : "", p ? p->message : "");
		assert_int_equal(p->pending_ms, T0);
		assert_int_equal(p->uid.byte[0], 0x6f);
		assert_int_equal(p->job.byte[0], 0x7a);
		assert_false(p->deleting);
		free(p);
	}
}

static void a_pod_that_goes(void **state)
{
	struct trouble_pod *p = NULL;
	(void)state;
	assert_int_equal(
		decode_trouble_pod(
			parsed("{'metadata':{'name':'a','uid':'" UID "','deletionTimestamp':"
			       "'2026-11-21T10:00:00Z','ownerReferences':[{'apiVersion':'batch/v1','kind':'Job','uid':'" JOB
			       "','controller':true}]}}"),
			&p, NULL),
		0);
	assert_true(p->deleting);
	free(p);
}

static void what_is_no_pod_of_a_job(void **state)
{
	static const char *const wrong[] = {"[]", "{'kind':'Node','metadata':{'name':'a'}}",
		"{'kind':'Pod','metadata':{'name':'a'}}",
		"{'kind':'Pod','metadata':{'name':'a','uid':'" UID "'}}",
		"{'kind':'Pod','metadata':{'name':'a','uid':'" UID
		"','ownerReferences':[{'kind':'ReplicaSet','uid':'" JOB "','controller':true}]}}",
		"{'kind':'Pod','metadata':{'name':'a','uid':'" UID
		"','ownerReferences':[{'apiVersion':'batch/v1','kind':'Job','uid':'" JOB "'}]}}"};
	(void)state;
	for (size_t i = 0; i < COUNT(wrong); i++) {
		struct trouble_pod *p = NULL;
		struct err e = {""};
		assert_int_equal(decode_trouble_pod(parsed(wrong[i]), &p, &e), ERR_INVALID);
		assert_null(p);
		assert_true(e.text[0] != '\0');
	}
}

/* ---- rejections ------------------------------------------------------------------------------ */

#define REJECTED_META                                                                              \
	"'metadata':{'name':'a-x','namespace':'team','uid':'" UID "',"                             \
	"'labels':{'sluice.dev/cluster-queue-name':'batch'},"                                      \
	"'creationTimestamp':'2026-11-21T10:00:00Z','ownerReferences':[{'apiVersion':'batch/v1',"  \
	"'kind':'Job','name':'a','uid':'" JOB "','controller':true}]}"

static void what_a_kubelet_rejected(void **state)
{
	struct rejected_pod *p = NULL;
	struct err e = {""};
	(void)state;
	assert_int_equal(
		decode_rejected_pod(
			parsed("{'kind':'Pod'," REJECTED_META ",'spec':{'nodeName':'n1'},'status':"
			       "{'phase':'Failed','reason':'OutOfcpu','message':'Pod was rejected: "
			       "not \\u001b[2J enough cpu'}}"),
			&p, &e),
		0);
	assert_string_equal(p->ns, "team");
	assert_string_equal(p->job_name, "a");
	assert_string_equal(p->node, "n1");
	assert_string_equal(p->clusterqueue, "batch");
	assert_string_equal(p->reason, "OutOfcpu");
	assert_string_equal(p->message, "not  [2J enough cpu");
	assert_int_equal(p->made_ms, T0);
	assert_int_equal(p->uid.byte[0], 0x6f);
	assert_int_equal(p->job.byte[0], 0x7a);
	free(p);
}

static void what_no_kubelet_rejected(void **state)
{
	static const char *const statuses[] = {"null", "{'phase':'Failed'}",
		"{'phase':'Failed','reason':'Evicted','message':'The node was low on memory'}",
		"{'phase':'Pending','reason':'OutOfcpu','message':'Pod was rejected: no'}",
		"{'phase':'Failed','reason':3,'message':['Pod was rejected: no']}"};
	(void)state;
	for (size_t i = 0; i < COUNT(statuses); i++) {
		char text[2048];
		struct rejected_pod *p = NULL;
		struct err e = {""};
		snprintf(text, sizeof(text), "{'kind':'Pod'," REJECTED_META ",'status':%s}",
			statuses[i]);
		assert_int_equal(decode_rejected_pod(parsed(text), &p, &e), ERR_INVALID);
		assert_null(p);
		assert_true(e.text[0] != '\0');
	}
}

/* ---- refusals -------------------------------------------------------------------------------- */

static const struct refusal_row {
	const char *name, *rest;
	int64_t first_s, last_s;
	const char *message;
} refusals[] = {
	{"as the Job controller writes it",
		"'firstTimestamp':'2026-11-21T10:00:01Z','lastTimestamp':'2026-11-21T10:00:09Z',"
		"'eventTime':null,'message':'Error creating: pods \\u0022a-x\\u0022 is forbidden: "
		"exceeded quota: q'",
		1, 9, "pods \"a-x\" is forbidden: exceeded quota: q"},
	{"put together",
		"'firstTimestamp':'2026-11-21T10:00:01Z','lastTimestamp':'2026-11-21T10:00:09Z',"
		"'message':'(combined from similar events): Error creating: no'",
		1, 9, "no"},
	{"a series",
		"'eventTime':'2026-11-21T10:00:02.500000Z','series':{'count':3,"
		"'lastObservedTime':'2026-11-21T10:00:07Z'},'message':'no'",
		2, 7, "no"},
	{"an event alone", "'eventTime':'2026-11-21T10:00:02Z','message':'no'", 2, 2, "no"},
	{"no times but its own", "'message':'no'", 0, 0, "no"},
	{"the first after the last",
		"'firstTimestamp':'2026-11-21T10:00:09Z','lastTimestamp':'2026-11-21T10:00:01Z'", 1,
		1, ""},
};

static void what_was_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(refusals); i++) {
		char text[2048];
		struct trouble_refusal *r = NULL;
		struct err e = {""};
		snprintf(text, sizeof(text),
			"{'kind':'Event','metadata':{'name':'a.1','namespace':'team',"
			"'creationTimestamp':'2026-11-21T10:00:00Z'},'reason':'FailedCreate',"
			"'involvedObject':{'kind':'Job','uid':'" JOB "'},%s}",
			refusals[i].rest);
		if (decode_trouble_refusal(parsed(text), &r, &e) < 0 ||
			r->first_ms / 1000 != T0 / 1000 + refusals[i].first_s ||
			r->last_ms / 1000 != T0 / 1000 + refusals[i].last_s ||
			strcmp(r->message, refusals[i].message) != 0)
			fail_msg("%s: %s %s", refusals[i].name, e.text, r ? r->message : "");
		assert_int_equal(r->job.byte[0], 0x7a);
		free(r);
	}
}

static void what_is_no_refusal(void **state)
{
	static const char *const wrong[] = {
		"'reason':'FailedCreate'",
		"'reason':'SuccessfulCreate','involvedObject':{'kind':'Job','uid':'" JOB "'}",
		"'reason':'FailedCreate','involvedObject':{'kind':'ReplicaSet','uid':'" JOB "'}",
		"'reason':'FailedCreate','involvedObject':{'kind':'Job'}",
		"'reason':'FailedCreate','involvedObject':{'kind':'Job','uid':'x'}",
		"'reason':7,'involvedObject':[]",
	};
	(void)state;
	for (size_t i = 0; i < COUNT(wrong); i++) {
		char text[512];
		struct trouble_refusal *r = NULL;
		struct err e = {""};
		snprintf(text, sizeof(text), "{'kind':'Event','metadata':{'name':'a.1'},%s}",
			wrong[i]);
		assert_int_equal(decode_trouble_refusal(parsed(text), &r, &e), ERR_INVALID);
		assert_null(r);
		assert_non_null(strstr(e.text, "a.1"));
	}
}

static void long_messages_are_cut(void **state)
{
	char text[4096], long_one[2000];
	struct trouble_refusal *r = NULL;
	(void)state;
	memset(long_one, 'x', sizeof(long_one) - 1);
	long_one[sizeof(long_one) - 1] = '\0';
	snprintf(text, sizeof(text),
		"{'metadata':{'name':'a.1'},'reason':'FailedCreate','message':'%s',"
		"'involvedObject':{'kind':'Job','uid':'" JOB "'}}",
		long_one);
	assert_int_equal(decode_trouble_refusal(parsed(text), &r, NULL), 0);
	assert_int_equal(strlen(r->message), TROUBLE_MESSAGE_MAX);
	free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_pod_says),
		cmocka_unit_test(a_pod_that_goes),
		cmocka_unit_test(what_is_no_pod_of_a_job),
		cmocka_unit_test(what_a_kubelet_rejected),
		cmocka_unit_test(what_no_kubelet_rejected),
		cmocka_unit_test(what_was_refused),
		cmocka_unit_test(what_is_no_refusal),
		cmocka_unit_test(long_messages_are_cut),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
