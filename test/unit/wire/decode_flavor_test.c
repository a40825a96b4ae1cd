/* spec.podTemplate of a flavor and of queues: what is read, and what is refused with a sentence. */
#include "wire.h"

#include "controller/wire/decode.h"

static struct flavor_spec *flavor_with(const char *template, struct err *e)
{
	struct flavor_spec *s = NULL;
	struct buf b;
	buf_init(&b, 1 << 20);
	buf_printf(&b,
		"{'metadata':{'name':'spot'},'spec':{'nodeLabels':{'pool':'spot'},'podTemplate':%s}}",
		template);
	int rc = decode_flavor(parsed(buf_text(&b)), &s, e);
	buf_done(&b);
	return rc == 0 ? s : NULL;
}

static void all_of_it(void **state)
{
	struct err e = {""};
	(void)state;
	struct flavor_spec *s = flavor_with(
		"{'labels':{'example.com/mesh':'on','app.kubernetes.io/part-of':'x'},"
		"'annotations':{'cluster-autoscaler.kubernetes.io/safe-to-evict':'false'},"
		"'nodeSelector':{'disk':'ssd','pool':'spot'},"
		"'tolerations':[{'key':'spot','operator':'Exists'},{'operator':'Exists'},{'key':'a.b/c',"
		"'value':'','effect':'NoExecute','tolerationSeconds':5}],'nodeAffinity':{"
		"'requiredDuringSchedulingIgnoredDuringExecution':{'nodeSelectorTerms':[{"
		"'matchExpressions':[{'key':'zone','operator':'In','values':['b']}]}]},"
		"'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':50,'preference':{"
		"'matchExpressions':[{'key':'gen','operator':'Gt','values':['5']}]}}]}}",
		&e);
	if (!s)
		fail_msg("%s", e.text);
	assert_int_equal(s->metadata.nlabels, 2);
	assert_string_equal(s->metadata.labels[0].key, "example.com/mesh");
	assert_int_equal(s->metadata.nannotations, 1);
	assert_string_equal(s->metadata.annotations[0].value, "false");
	assert_int_equal(s->adds.nnode_selector, 2);
	assert_int_equal(s->adds.ntolerations, 3);
	assert_int_equal(s->adds.nterms, 1);
	assert_string_equal(s->adds.terms[0].labels.requirements[0].values[0], "b");
	assert_int_equal(s->adds.npreferred, 1);
	assert_int_equal(s->adds.preferred[0].weight, 50);
	free(s);
	s = flavor_with("{}", &e);
	assert_int_equal(s->adds.nterms + s->metadata.nlabels + s->adds.nnode_selector, 0);
	free(s);
}

#define TERMS                                                                                      \
	"'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{'nodeSelectorTerms':["
#define LIKES "'nodeAffinity':{'preferredDuringSchedulingIgnoredDuringExecution':["
#define AT "nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]"
#define NOT_A_VALUE                                                                                \
	"is not a label value: at most 63 letters, digits, '-', '_' and '.', starting and ending with a letter or digit"

static const struct {
	const char *template, *sentence; /* behind "ResourceFlavor spot: spec.podTemplate." */
} bad[] = {
	{"{'labels':{'sluice.dev/queue-name':'x'}}",
		"labels.sluice.dev/queue-name: is reserved for Sluice; choose another key"},
	{"{'labels':{'a.sluice.dev/b':'x'}}",
		"labels.a.sluice.dev/b: is reserved for Sluice; choose another key"},
	{"{'labels':{'koordinator.sh/qosClass':'LS'}}",
		"labels.koordinator.sh/qosClass: is reserved for Sluice; choose another key"},
	{"{'annotations':{'alibabacloud.com/qosClass':'LS'}}",
		"annotations.alibabacloud.com/qosClass: is reserved for Sluice; choose another key"},
	{"{'labels':{'koordinator.sh/priority-class':'koord-batch'}}",
		"labels.koordinator.sh/priority-class: is reserved for Sluice; choose another key"},
	{"{'annotations':{'koordinator.sh/eviction-priority':'1'}}",
		"annotations.koordinator.sh/eviction-priority: is reserved for Sluice; choose another key"},
	{"{'labels':{'job-name':'x'}}",
		"labels.job-name: is reserved for the Job controller; choose another key"},
	{"{'labels':{'batch.kubernetes.io/controller-uid':'x'}}",
		"labels.batch.kubernetes.io/controller-uid: is reserved for the Job controller; choose another key"},
	{"{'annotations':{'kubernetes.io/x':'x'}}",
		"annotations.kubernetes.io/x: is reserved for Kubernetes; choose another key"},
	{"{'annotations':{'sluice.dev/hold':'x'}}",
		"annotations.sluice.dev/hold: is reserved for Sluice; choose another key"},
	{"{'labels':{'-x':'y'}}", "labels.-x: is not a key; write e.g. team or example.com/team"},
	{"{'labels':{'a//b':'y'}}",
		"labels.a//b: is not a key; write e.g. team or example.com/team"},
	{"{'labels':{'Ex.com/b':'y'}}",
		"labels.Ex.com/b: is not a key; write e.g. team or example.com/team"},
	{"{'labels':{'a..b/c':'y'}}",
		"labels.a..b/c: is not a key; write e.g. team or example.com/team"},
	{"{'labels':{'a./c':'y'}}",
		"labels.a./c: is not a key; write e.g. team or example.com/team"},
	{"{'labels':{'team':'a b'}}", "labels.team: " NOT_A_VALUE},
	{"{'labels':{'team':7}}", "labels.team: must be a string"},
	{"{'annotations':{'team':'a\\nb'}}",
		"annotations.team: is not plain text; remove control characters and what is not UTF-8"},
	{"{'nodeSelector':{'pool':'other'}}",
		"nodeSelector.pool: contradicts nodeLabels, which has another value for it; write it in one place"},
	{"{'nodeSelector':{'disk':'a b'}}", "nodeSelector.disk: is no label that a node can have"},
	{"{'tolerations':[{'key':'ok'},{'key':'a..b/c','operator':'Exists'}]}",
		"tolerations[1].key: is not a key; write e.g. spot or example.com/spot"},
	{"{'tolerations':[{'key':'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'}]}",
		"tolerations[0].key: is not a key; write e.g. spot or example.com/spot"},
	{"{'tolerations':[{'operator':'Equal','value':'x'}]}",
		"tolerations[0].key: is missing; name one, or set operator to Exists to tolerate every taint"},
	{"{'tolerations':[{'key':'spot','value':'a b'}]}",
		"tolerations[0].value: is not a value that a taint can have"},
	{"{'tolerations':[{'operator':'Exists','value':'x'}]}",
		"tolerations[0].value: must be empty when operator is Exists; remove it, or set operator to Equal"},
	{"{'tolerations':[{'operator':'Exists','tolerationSeconds':5}]}",
		"tolerations[0].tolerationSeconds: needs effect NoExecute; set it, or remove tolerationSeconds"},
	{"{" TERMS "{}]}}}",
		AT ".matchExpressions: is missing: such a term matches no node; name a label"},
	{"{" TERMS "{'matchFields':[{'key':'metadata.name','operator':'In','values':['n']}]}]}}}",
		AT ".matchFields: would name single nodes; use matchExpressions and labels"},
	{"{" TERMS "{'matchExpressions':[{'key':'zone','operator':'In'}]}]}}}",
		AT ".matchExpressions[0]: has no values; name at least one"},
	{"{" TERMS "{'matchExpressions':[{'key':'zone','operator':'Exists','values':['x']}]}]}}}",
		AT ".matchExpressions[0]: has values, and its operator takes none; remove them"},
	{"{" TERMS "{'matchExpressions':[{'key':'zone','operator':'Gt','values':['x']}]}]}}}",
		AT ".matchExpressions[0]: needs one value, a whole number"},
	{"{" TERMS "{'matchExpressions':[{'key':'zo ne','operator':'Exists'}]}]}}}",
		AT ".matchExpressions[0]: has a key that no label can have"},
	{"{" TERMS "{'matchExpressions':[{'key':'pool','operator':'In','values':['b']}]}]}}}",
		"nodeAffinity: contradicts itself, or nodeLabels or nodeSelector, so no node could suit: see label pool"},
	{"{" LIKES
	 "{'weight':101,'preference':{'matchExpressions':[{'key':'zone','operator':'Exists'}]}}]}}",
		"nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: must be a whole number from 1 to 100"},
};

static void refused_with_a_sentence(void **state)
{
	static const char begin[] = "ResourceFlavor spot: spec.podTemplate.";
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct err e = {""};
		assert_null(flavor_with(bad[i].template, &e));
		if (strncmp(e.text, begin, sizeof(begin) - 1) != 0 ||
			strcmp(e.text + sizeof(begin) - 1, bad[i].sentence) != 0)
			fail_msg("%s\n%s\nnot %s", bad[i].template, e.text, bad[i].sentence);
	}
}

/* As many as go into the annotations of a Job beside those of other objects. */
static void too_large(void **state)
{
	enum { MOST = 8192 };
	char value[MOST + 2];
	struct err e = {""};
	struct buf b;
	(void)state;
	buf_init(&b, 1 << 20);
	memset(value, 'x', sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	buf_printf(&b, "{'annotations':{'a':'%s'}}", value);
	assert_null(flavor_with(buf_text(&b), &e));
	assert_non_null(strstr(e.text, "annotations.a: has more than 8192 bytes; shorten it"));
	value[MOST - 1] = '\0'; /* as 2,047 characters of four bytes, and the key */
	buf_reset(&b);
	buf_printf(&b, "{'annotations':{'a':'%s'}}", value);
	struct flavor_spec *s = flavor_with(buf_text(&b), &e);
	assert_int_equal(strlen(s->metadata.annotations[0].value), MOST - 1);
	free(s);
	value[2000] = '\0';
	buf_reset(&b);
	buf_printf(&b, "{'annotations':{'a':'%s','b':'%s','c':'%s','d':'%s','e':'%s'}}", value,
		value, value, value, value);
	assert_null(flavor_with(buf_text(&b), &e));
	assert_non_null(strstr(e.text, "annotations: has 10005 bytes together; at most 8192"));
	buf_done(&b);
}

static void of_queues(void **state)
{
	struct clusterqueue_spec *cq = NULL;
	struct localqueue_spec *lq = NULL;
	struct err e = {""};
	(void)state;
	assert_int_equal(decode_clusterqueue(
				 parsed("{'metadata':{'name':'q'},'spec':{'podTemplate':{'labels':{"
					"'cost-centre':'17'},'annotations':{'note':'x y'}}}}"),
				 &cq, &e),
		0);
	assert_string_equal(cq->metadata.labels[0].value, "17");
	assert_string_equal(cq->metadata.annotations[0].value, "x y");
	free(cq);
	static const char local[] =
		"{'metadata':{'name':'main','namespace':'a'},'spec':{'clusterQueue':'q','podTemplate':{'labels':{'%s':'x'}}}}";
	char text[300];
	snprintf(text, sizeof(text), local, "team");
	assert_int_equal(decode_localqueue(parsed(text), &lq, &e), 0);
	assert_string_equal(lq->metadata.labels[0].key, "team");
	free(lq);
	snprintf(text, sizeof(text), local, "job-name");
	assert_int_equal(decode_localqueue(parsed(text), &lq, &e), ERR_INVALID);
	assert_string_equal(e.text,
		"LocalQueue a/main: spec.podTemplate.labels.job-name: is reserved for the Job controller; choose another key");
}

static void which_nodes_there_can_be(void **state)
{
	static const struct {
		const char *spec;
		enum node_pool pool;
	} cases[] = {
		{"{}", NODE_POOL_UNSAID},
		{"{'nodes':'Fixed','idlePool':{}}", NODE_POOL_FIXED},
		{"{'nodes':'Autoscaled'}", NODE_POOL_AUTOSCALED},
	};
	struct flavor_spec *s;
	struct err e;
	char text[200];
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(
			text, sizeof(text), "{'metadata':{'name':'gpu'},'spec':%s}", cases[i].spec);
		assert_int_equal(decode_flavor(parsed(text), &s, &e), 0);
		assert_int_equal(s->pool, cases[i].pool);
		free(s);
	}
	assert_int_equal(
		decode_flavor(
			parsed("{'metadata':{'name':'gpu'},'spec':{'nodes':'Elastic'}}"), &s, &e),
		ERR_INVALID);
	assert_string_equal(e.text,
		"ResourceFlavor gpu: spec.nodes: \"Elastic\" is unknown; write Fixed or Autoscaled");
	assert_int_equal(
		decode_flavor(
			parsed("{'metadata':{'name':'gpu'},'spec':{'nodes':'Autoscaled','idlePool':{}}}"),
			&s, &e),
		ERR_INVALID);
	assert_non_null(strstr(e.text, "it is nodes that are up that lend"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_it),
		cmocka_unit_test(refused_with_a_sentence),
		cmocka_unit_test(too_large),
		cmocka_unit_test(of_queues),
		cmocka_unit_test(which_nodes_there_can_be),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
