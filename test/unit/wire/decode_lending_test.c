/* What a Job says of idle resources. */
#include "wire.h"

#include "controller/wire/decode.h"

#define UID "'uid':'123e4567-e89b-12d3-a456-426614174000'"

/* A Job with these pieces inside; "" for none. */
static struct job *job_with(const char *annotations, const char *spec, const char *pod)
{
	struct buf b;
	struct job *j = NULL;
	struct err e = {""};
	buf_init(&b, 1 << 20);
	buf_puts(&b, "{'kind':'Job','metadata':{'name':'train','namespace':'team-a'," UID);
	buf_printf(&b, ",'annotations':{%s}},'spec':{", annotations);
	buf_printf(&b, "%s%s'template':%s}}", spec, *spec ? "," : "", *pod ? pod : "{}");
	if (decode_job(parsed(buf_text(&b)), NULL, &j, &e) < 0)
		fail_msg("%s: %s", buf_text(&b), e.text);
	buf_done(&b);
	return j;
}

/* ---- Evictions --------------------------------------------------------------------------------
 */

#define DISRUPTED "{'action':'Ignore','onPodConditions':[{'type':'DisruptionTarget'}]}"
#define EXIT_IGNORED "{'action':'Ignore','onExitCodes':{'operator':'In','values':[42]}}"
#define EXIT_FAILS "{'action':'FailJob','onExitCodes':{'operator':'In','values':[143]}}"

static const struct eviction_row {
	const char *rules;
	bool is;
} eviction_rows[] = {
	{"", false},
	{DISRUPTED, true},
	{EXIT_IGNORED "," DISRUPTED, true},
	{DISRUPTED "," EXIT_FAILS, true},
	{EXIT_FAILS "," DISRUPTED, false}, /* it might end with that when it is evicted */
	{"{'action':'Ignore','onPodConditions':[{'type':'Other'},{'type':'DisruptionTarget',"
	 "'status':'True'}]}",
		true},
	{"{'action':'Ignore','onPodConditions':[{'type':'DisruptionTarget','status':'False'}]}",
		false},
	{"{'action':'Count','onPodConditions':[{'type':'DisruptionTarget'}]}", false},
	{"7", false},
	{"{'action':'Ignore','onPodConditions':{}}", false},
};

static void whose_evictions_count_for_nothing(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(eviction_rows) / sizeof(*eviction_rows); i++) {
		char spec[600];
		snprintf(spec, sizeof(spec), "'podFailurePolicy':{'rules':[%s]}",
			eviction_rows[i].rules);
		struct job *j = job_with("", spec, "");
		if (j->ignores_disruption != eviction_rows[i].is)
			fail_msg("%s", eviction_rows[i].rules);
		free(j);
	}
	struct job *j = job_with("", "", "");
	assert_false(j->ignores_disruption);
	free(j);
}

/* ---- What is asked for ------------------------------------------------------------------------
 */

#define NONE (1 << LENDING_NONE)
#define BATCH (1 << LENDING_BATCH)
#define GOCRAN (1 << LENDING_GOCRAN)
#define OPTED_IN "'sluice.dev/preemptible':'true'"
#define POD(containers) "{'spec':{'containers':[" containers "]}}"
#define BOTH(amounts) "{'name':'c','resources':{'requests':{" amounts "},'limits':{" amounts "}}}"
#define FIRST "spec.template.spec.containers[0].resources"

static const struct lending_row {
	const char *name, *annotations, *template;
	int lending;
	const char *sentence; /* NULL: fine */
} lending_rows[] = {
	{"an ordinary Job", "", POD(BOTH("'cpu':'1'")), NONE, NULL},
	{"nothing asked for", "", POD("{'name':'c'}"), NONE, NULL},
	{"opted out", "'sluice.dev/preemptible':'false'", POD(BOTH("'cpu':'1'")), NONE, NULL},
	{"opted in", OPTED_IN, POD(BOTH("'cpu':'500m','memory':'1Gi'")), NONE | BATCH, NULL},
	{"opted in with whole cores", OPTED_IN, POD(BOTH("'cpu':'2','memory':'1Gi'")),
		NONE | BATCH | GOCRAN, NULL},
	{"one container of half a core", OPTED_IN, POD(BOTH("'cpu':'2'") "," BOTH("'cpu':'2500m'")),
		NONE | BATCH, NULL},
	{"opted in with a GPU", OPTED_IN, POD(BOTH("'cpu':'2','nvidia.com/gpu':'1'")),
		NONE | BATCH | GOCRAN, NULL},
	{"neither", "'sluice.dev/preemptible':'yes'", POD(BOTH("'cpu':'1'")), NONE,
		"metadata.annotations.sluice.dev/preemptible: \"yes\" is neither \"true\" nor "
		"\"false\""},
	{"nothing to lend", OPTED_IN, POD(BOTH("'cpu':'1'") ",{'name':'d'}"), NONE | BATCH | GOCRAN,
		"spec.template.spec.containers[1].resources: asks for neither cpu nor memory, so "
		"there is nothing that could be lent to it; write what it needs under requests, "
		"or remove sluice.dev/preemptible"},
	{"who only comes first may ask for nothing", OPTED_IN,
		"{'spec':{'containers':[" BOTH("'cpu':'1'") "],'initContainers':[{'name':'i'}]}}",
		NONE | BATCH | GOCRAN, NULL},
	{"a sidecar may not", OPTED_IN,
		"{'spec':{'containers':[" BOTH(
			"'cpu':'1'") "],'initContainers':[{'name':'i','restartPolicy':'Always'}]}}",
		NONE | BATCH | GOCRAN,
		"spec.template.spec.initContainers[0].resources: asks for neither cpu nor memory, "
		"so there is nothing that could be lent to it; write what it needs under "
		"requests, or remove sluice.dev/preemptible"},
	{"of the Pod as a whole", OPTED_IN,
		"{'spec':{'containers':[" BOTH("'cpu':'1'") "],'resources':{'requests':{'cpu':'2'}}"
							    "}}",
		NONE | BATCH | GOCRAN,
		"spec.template.spec.resources: what is lent is asked for container by container; "
		"write it in the containers' resources, or remove sluice.dev/preemptible"},

	{"batch", "",
		POD(BOTH("'kubernetes.io/batch-cpu':'1k','kubernetes.io/batch-memory':'1Gi'")),
		BATCH, NULL},
	{"batch, opted in as well", OPTED_IN, POD(BOTH("'kubernetes.io/batch-cpu':'1.5k'")), BATCH,
		NULL},
	{"gocran", "", POD(BOTH("'gocran.io/cpu':2,'gocran.io/memory':'1G'")), GOCRAN, NULL},
	{"a limit alone", "",
		POD("{'name':'c','resources':{'limits':{'kubernetes.io/batch-cpu':'500'}}}"), BATCH,
		NULL},
	{"with a GPU", "", POD(BOTH("'kubernetes.io/batch-cpu':'500','nvidia.com/gpu':'1'")), BATCH,
		NULL},
	{"no limit", "",
		POD("{'name':'c','resources':{'requests':{'kubernetes.io/batch-cpu':'500'}}}"),
		BATCH,
		FIRST ".requests.kubernetes.io/batch-cpu: has no limit; write the same under "
		      "limits"},
	{"another limit", "",
		POD("{'name':'c','resources':{'requests':{'kubernetes.io/batch-cpu':'500'},"
		    "'limits':{'kubernetes.io/batch-cpu':'1k'}}}"),
		BATCH,
		FIRST ".limits.kubernetes.io/batch-cpu: is not what is asked for; of what is lent, "
		      "limits and requests are equal"},
	{"half a thousandth", "", POD(BOTH("'kubernetes.io/batch-cpu':'500m'")), BATCH,
		FIRST ".requests.kubernetes.io/batch-cpu: is not a whole number; write it in "
		      "thousandths of a core, e.g. \"500\" for half of one"},
	{"half a core", "", POD(BOTH("'gocran.io/cpu':1.5")), GOCRAN,
		FIRST ".requests.gocran.io/cpu: is not a whole number; write it in cores, e.g. "
		      "\"2\""},
	{"cpu beside it", "", POD(BOTH("'kubernetes.io/batch-cpu':'500','cpu':'1'")), BATCH,
		FIRST ".requests.cpu: the Pod asks for kubernetes.io/batch-cpu as well, and one "
		      "Pod may not ask for both; ask for kubernetes.io/batch-* alone in all of "
		      "its containers, or in none"},
	{"memory in another container", "",
		POD(BOTH("'memory':'1Gi'") "," BOTH("'gocran.io/cpu':'1'")), GOCRAN,
		FIRST ".requests.memory: the Pod asks for gocran.io/cpu as well, and one Pod may "
		      "not ask for both; ask for gocran.io/* alone in all of its containers, or "
		      "in none"},
	{"both kinds", "", POD(BOTH("'kubernetes.io/batch-cpu':'500','gocran.io/memory':'1Gi'")),
		BATCH,
		FIRST ".requests.gocran.io/memory: the Pod asks for kubernetes.io/batch-cpu as "
		      "well, and nodes lend under one name or the other; ask for one of them"},
	{"of the Pod as a whole, lent", "",
		"{'spec':{'containers':[{'name':'c'}],'resources':{'requests':"
		"{'kubernetes.io/batch-cpu':'500'}}}}",
		NONE,
		"spec.template.spec.resources: what is lent is asked for container by container; "
		"write it in the containers' resources"},
	{"labelled BE", "",
		"{'metadata':{'labels':{'koordinator.sh/"
		"qosClass':'BE'}},'spec':{'containers':[" BOTH(
			"'kubernetes.io/batch-cpu':'500'") "]}}",
		BATCH, NULL},
	{"labelled otherwise", "",
		"{'metadata':{'labels':{'koordinator.sh/"
		"qosClass':'LS'}},'spec':{'containers':[" BOTH(
			"'kubernetes.io/batch-cpu':'500'") "]}}",
		BATCH,
		"spec.template.metadata.labels.koordinator.sh/qosClass: \"LS\" is not what may "
		"run on lent resources; write BE, or remove it"},

	{"the first protocol", "",
		"{'metadata':{'annotations':{'alibabacloud.com/qosClass':'BE'}},'spec':{"
		"'containers':[" BOTH("'alibabacloud.com/reclaimed-cpu':'1k',"
				      "'alibabacloud.com/reclaimed-memory':'2Gi'") "]}}",
		BATCH, NULL},
	{"the first protocol, twice", "",
		POD(BOTH("'alibabacloud.com/reclaimed':'1k','kubernetes.io/batch-cpu':'1k'")),
		BATCH,
		FIRST ".requests.alibabacloud.com/reclaimed: is the old name of what "
		      "kubernetes.io/batch-cpu asks for as well; remove it"},
};

static void on_what_room_it_may_run(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(lending_rows) / sizeof(*lending_rows); i++) {
		const struct lending_row *r = &lending_rows[i];
		char sentence[600];
		snprintf(sentence, sizeof(sentence), "Job team-a/train: %s",
			r->sentence ? r->sentence : "");
		struct job *j = job_with(r->annotations, "", r->template);
		if (j->lending != r->lending)
			fail_msg("%s: lending %d", r->name, j->lending);
		if (!j->invalid != !r->sentence ||
			(j->invalid && strcmp(j->invalid, sentence) != 0))
			fail_msg("%s: %s", r->name, j->invalid ? j->invalid : "is valid");
		if ((j->lending != NONE || r->lending != NONE) && !j->resources)
			fail_msg("%s: no resources", r->name);
		free(j);
	}
}

static int64_t asked_for(const struct job *j, const char *name)
{
	struct resource all[16];
	size_t n = pod_requests(&j->pod, all, 16);
	for (size_t i = 0; i < n && i < 16; i++)
		if (strcmp(all[i].name, name) == 0)
			return all[i].amount;
	return -1;
}

/* The queue never hears of them. */
static void old_names_are_read_as_the_new_ones(void **state)
{
	(void)state;
	struct job *j = job_with("", "",
		POD(BOTH("'alibabacloud.com/reclaimed-cpu':'1k',"
			 "'alibabacloud.com/reclaimed-memory':'2Gi'")));
	assert_int_equal(asked_for(j, "kubernetes.io/batch-cpu"), 1000);
	assert_int_equal(asked_for(j, "kubernetes.io/batch-memory"), INT64_C(2) << 30);
	assert_int_equal(asked_for(j, "alibabacloud.com/reclaimed-cpu"), -1);
	assert_non_null(strstr(j->resources, "alibabacloud.com/reclaimed-cpu")); /* its owner's */
	free(j);
}

static void the_label_wins_over_the_annotation(void **state)
{
	static const char *const values[][2] = {{"true", "false"}, {"false", "true"}};
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		char text[600];
		struct err e = {""};
		struct job *j;
		snprintf(text, sizeof(text),
			"{'metadata':{'name':'a'," UID ",'labels':{'sluice.dev/preemptible':'%s'},"
			"'annotations':{'sluice.dev/preemptible':'%s'}},'spec':{'template':" POD(
				BOTH("'cpu':'500m'")) "}}",
			values[i][0], values[i][1]);
		assert_int_equal(decode_job(parsed(text), NULL, &j, &e), 0);
		assert_int_equal(j->lending, i == 0 ? (NONE | BATCH) : NONE);
		free(j);
	}
}

/* The word alone does not say so: a label may be called like that. */
static void what_a_start_wrote_is_read_as_such(void **state)
{
	static const struct {
		const char *name, *kept;
		bool is;
	} rows[] = {
		{"what its containers asked for",
			"\\'original\\':{\\'resources\\':{}},\\'applied\\':{\\'resources\\':{}}",
			true},
		{"a label",
			"\\'original\\':{},\\'applied\\':{\\'labels\\':{\\'resources\\':\\'x\\'}}",
			false},
		{"a key of node affinity",
			"\\'original\\':{\\'nodeAffinity\\':{\\'key\\':\\'resources\\'}},"
			"\\'applied\\':{}",
			false},
		{"no object", "\\'original\\':{\\'resources\\':7}", false},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char text[300];
		snprintf(text, sizeof(text), "'sluice.dev/original-directives':'{%s}'",
			rows[i].kept);
		struct job *j = job_with(text, "", POD(BOTH("'cpu':'1'")));
		assert_null(j->invalid);
		if ((j->resources != NULL) != rows[i].is)
			fail_msg("%s: %s", rows[i].name, j->resources ? j->resources : "none");
		free(j);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whose_evictions_count_for_nothing),
		cmocka_unit_test(on_what_room_it_may_run),
		cmocka_unit_test(old_names_are_read_as_the_new_ones),
		cmocka_unit_test(the_label_wins_over_the_annotation),
		cmocka_unit_test(what_a_start_wrote_is_read_as_such),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
