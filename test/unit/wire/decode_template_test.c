/* Pod templates and Nodes from the wire, as the scheduler will see them. */
#include "wire.h"

#include "controller/wire/decode_template.h"

/* A template with these pieces; "" for none. */
static const cJSON *template(const char *labels, const char *spec)
{
	char text[4096];
	snprintf(text, sizeof(text), "{'metadata':{'labels':{%s}},'spec':{%s}}", labels, spec);
	return parsed(text);
}

static struct pod *pod(const char *labels, const char *spec)
{
	struct pod *p = NULL;
	struct err e = {""};
	if (decode_template("team", template(labels, spec), &p, &e) < 0)
		fail_msg("%s: %s", spec, e.text);
	return p;
}

static void a_bare_template(void **state)
{
	(void)state;
	struct pod *p = pod("", "");
	assert_string_equal(p->ns, "team");
	assert_string_equal(p->scheduler, "default-scheduler");
	assert_string_equal(p->node_name, "");
	assert_string_equal(p->priority_class, "");
	assert_false(p->terminating || p->has_terms || p->crosses_namespaces);
	assert_int_equal(p->nlabels + p->nnode_selector + p->naffinity + p->nspread, 0);
	free(p);
	p = pod("'app':'web'", "'schedulerName':'mine','nodeName':'a','priorityClassName':'high',"
			       "'activeDeadlineSeconds':5,'nodeSelector':{'zone':'x'},"
			       "'containers':[{'resources':{'requests':{'cpu':'2'}}}]");
	assert_string_equal(p->labels[0].value, "web");
	assert_string_equal(p->scheduler, "mine");
	assert_string_equal(p->node_name, "a");
	assert_string_equal(p->priority_class, "high");
	assert_true(p->terminating);
	assert_string_equal(p->node_selector[0].key, "zone");
	assert_int_equal(pod_requests(&p->resources, NULL, 0), 1);
	free(p);
}

#define NOT_READY "node.kubernetes.io/not-ready"
#define UNREACHABLE "node.kubernetes.io/unreachable"

static void tolerations_are_those_of_the_pod_to_be(void **state)
{
	(void)state;
	static const struct {
		const char *own;
		size_t count;
	} rows[] = {
		{"", 2}, /* both are added */
		{"{'key':'gpu','operator':'Exists'}", 3},
		{"{'operator':'Exists'}", 1},
		{"{'operator':'Exists','effect':'NoSchedule'}", 3},
		{"{'key':'" NOT_READY "','operator':'Exists','effect':'NoExecute'}", 2},
		{"{'key':'" NOT_READY "','operator':'Exists'},"
		 "{'key':'" UNREACHABLE "','operator':'Exists','effect':'NoExecute'}",
			2},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		char spec[600];
		snprintf(spec, sizeof(spec), "'tolerations':[%s]", rows[i].own);
		struct pod *p = pod("", spec);
		if (p->ntolerations != rows[i].count)
			fail_msg("%s: %zu", rows[i].own, p->ntolerations);
		free(p);
	}
	struct pod *p = pod("", "");
	static const struct taint gone = {UNREACHABLE, "", TAINT_NO_EXECUTE},
				  new = {UNREACHABLE, "", TAINT_NO_SCHEDULE};
	assert_false(toleration_covers(&p->tolerations[0], &gone));
	assert_true(toleration_covers(&p->tolerations[1], &gone));
	assert_false(toleration_covers(&p->tolerations[1], &new));
	free(p);
}

#define REQUIRED "'requiredDuringSchedulingIgnoredDuringExecution'"
#define PREFERRED "'preferredDuringSchedulingIgnoredDuringExecution'"

static void node_affinity(void **state)
{
	(void)state;
	struct pod *p =
		pod("", "'affinity':{'nodeAffinity':{" REQUIRED ":{'nodeSelectorTerms':["
			"{'matchExpressions':[{'key':'gen','operator':'Gt','values':['6']}],"
			"'matchFields':[{'key':'metadata.name','operator':'In',"
			"'values':['a']}]},{}]}}}");
	assert_true(p->has_terms);
	assert_int_equal(p->nterms, 2);
	assert_int_equal(p->terms[0].labels.requirements[0].op, SELECTOR_GT);
	assert_string_equal(p->terms[0].fields.requirements[0].key, "metadata.name");
	assert_string_equal(p->terms[0].fields.requirements[0].values[0], "a");
	assert_int_equal(p->terms[1].labels.nrequirements + p->terms[1].fields.nrequirements, 0);
	free(p);
	p = pod("", "'affinity':{'nodeAffinity':{" REQUIRED ":null," PREFERRED ":[]}}");
	assert_false(p->has_terms);
	free(p);
}

static void affinity_terms(void **state)
{
	(void)state;
	struct pod *p = pod("'app':'web','rev':'3'",
		"'affinity':{'podAffinity':{" REQUIRED ":["
		"{'topologyKey':'zone','labelSelector':{'matchLabels':{'app':'db'}},"
		"'namespaces':['a','b'],'namespaceSelector':{},'matchLabelKeys':['rev','none'],"
		"'mismatchLabelKeys':['app']},"
		"{'topologyKey':'host','matchLabelKeys':['rev']}]},"
		"'podAntiAffinity':{" REQUIRED ":[{'topologyKey':'zone','labelSelector':{}}]}}");
	const struct affinity_term *t = p->affinity;
	assert_int_equal(p->naffinity, 2);
	assert_true(t[0].has_selector && t[0].has_namespace_selector && !t[1].has_selector);
	assert_int_equal(t[0].nnamespaces, 2);
	/* app In db; rev In 3, for the pod has that label and not the other; app NotIn web. */
	assert_int_equal(t[0].selector.nrequirements, 3);
	assert_string_equal(t[0].selector.requirements[1].values[0], "3");
	assert_int_equal(t[0].selector.requirements[2].op, SELECTOR_NOT_IN);
	assert_int_equal(t[1].selector.nrequirements, 0); /* of nothing it stays nothing */
	assert_int_equal(p->nanti_affinity, 1);
	assert_true(p->anti_affinity[0].has_selector);
	assert_true(p->crosses_namespaces);
	free(p);
	p = pod("", "'affinity':{'podAntiAffinity':{" PREFERRED ":[{'weight':1,'podAffinityTerm':"
		    "{'topologyKey':'zone','namespaces':['a']}}]}}");
	assert_true(p->crosses_namespaces);
	assert_int_equal(p->nanti_affinity, 0);
	free(p);
	p = pod("", "'affinity':{'podAntiAffinity':{" REQUIRED ":[{'topologyKey':'zone'}]}}");
	assert_false(p->crosses_namespaces);
	free(p);
}

static void topology_spread(void **state)
{
	(void)state;
	struct pod *p = pod("'app':'web'",
		"'topologySpreadConstraints':["
		"{'topologyKey':'zone','maxSkew':2,'whenUnsatisfiable':'ScheduleAnyway'},"
		"{'topologyKey':'zone','maxSkew':2,'whenUnsatisfiable':'DoNotSchedule',"
		"'labelSelector':{},'matchLabelKeys':['app'],'minDomains':3,"
		"'nodeAffinityPolicy':'Ignore','nodeTaintsPolicy':'Honor'},"
		"{'topologyKey':'host','maxSkew':1,'whenUnsatisfiable':'DoNotSchedule'}]");
	assert_int_equal(p->nspread, 2);
	assert_int_equal(p->spread[0].max_skew, 2);
	assert_int_equal(p->spread[0].min_domains, 3);
	assert_int_equal(p->spread[0].selector.nrequirements, 1);
	assert_true(!p->spread[0].honor_affinity && p->spread[0].honor_taints);
	assert_int_equal(p->spread[1].min_domains, 1);
	assert_true(p->spread[1].honor_affinity && !p->spread[1].honor_taints);
	assert_false(p->spread[1].has_selector);
	free(p);
}

static void ports_of_the_host(void **state)
{
	(void)state;
	static const char with[] =
		"'containers':[{'ports':[{'containerPort':80},{'containerPort':81,'hostPort':82,"
		"'protocol':'UDP','hostIP':'10.0.0.1'}]}],"
		"'initContainers':[{'ports':[{'containerPort':83}]},"
		"{'restartPolicy':'Always','ports':[{'containerPort':84}]}]";
	char spec[800];
	struct pod *p = pod("", with);
	assert_int_equal(p->nhost_ports, 1);
	assert_int_equal(p->host_ports[0].port, 82);
	assert_string_equal(p->host_ports[0].protocol, "UDP");
	assert_string_equal(p->host_ports[0].ip, "10.0.0.1");
	free(p);
	snprintf(spec, sizeof(spec), "'hostNetwork':true,%s", with);
	p = pod("", spec);
	assert_int_equal(p->nhost_ports, 3);
	assert_int_equal(p->host_ports[0].port, 84); /* of init containers only what goes on */
	assert_int_equal(p->host_ports[1].port, 80);
	assert_string_equal(p->host_ports[1].protocol, "TCP");
	assert_string_equal(p->host_ports[1].ip, "0.0.0.0");
	free(p);
}

static void what_is_wrong_is_said(void **state)
{
	(void)state;
	static const struct {
		const char *spec, *sentence;
	} rows[] = {
		{"'hostNetwork':7", "pod template: spec.hostNetwork: must be true or false"},
		{"'tolerations':[{'operator':'Is'}]", "pod template: spec.tolerations[0].operator: "
						      "\"Is\" is unknown; write Equal, "
						      "Exists, Lt or Gt"},
		{"'affinity':{'podAffinity':{" REQUIRED ":[{}]}}",
			"pod template: spec.affinity.podAffinity."
			"requiredDuringSchedulingIgnoredDuringExecution[0]: has no topologyKey; "
			"write "
			"e.g. kubernetes.io/hostname"},
		{"'topologySpreadConstraints':[{'whenUnsatisfiable':'DoNotSchedule',"
		 "'topologyKey':'zone','maxSkew':0}]",
			"pod template: spec.topologySpreadConstraints[0].maxSkew: must be a whole "
			"number from 1 to 2147483647"},
		{"'containers':[{'resources':{'requests':{'cpu':'much'}}}]", NULL},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct err e = {""};
		struct pod *p = NULL;
		assert_int_equal(
			decode_template("team", template("", rows[i].spec), &p, &e), ERR_INVALID);
		assert_null(p);
		if (rows[i].sentence)
			assert_string_equal(e.text, rows[i].sentence);
	}
	struct pod *p = NULL;
	assert_int_equal(decode_template("team", parsed("[]"), &p, NULL), ERR_INVALID);
}

static void nodes(void **state)
{
	(void)state;
	struct node_spec *s = NULL;
	struct err e = {""};
	int rc = decode_node_spec(
		parsed("{'kind':'Node','metadata':{'name':'a','labels':{'zone':'x'}},"
		       "'spec':{'unschedulable':true,'taints':[{'key':'k','effect':'NoExecute'}]},"
		       "'status':{'allocatable':{'cpu':'3500m','pods':'110'},"
		       "'capacity':{'cpu':'4'}}}"),
		&s, &e);
	assert_int_equal(rc, 0);
	assert_string_equal(s->name, "a");
	assert_true(s->unschedulable);
	assert_string_equal(s->labels[0].value, "x");
	assert_int_equal(s->taints[0].effect, TAINT_NO_EXECUTE);
	assert_string_equal(s->taints[0].value, "");
	assert_int_equal(s->allocatable.count, 2);
	assert_int_equal(s->allocatable.item[0].amount, 3500);
	free(s);
	s = NULL;
	assert_int_equal(decode_node_spec(parsed("{'kind':'Pod','metadata':{'name':'a'}}"), &s, &e),
		ERR_INVALID);
	assert_null(s);
}

static void pods_that_are_bound(void **state)
{
	struct bound_pod *b = NULL;
	struct err e = {""};
	(void)state;
	static const char text[] =
		"{'kind':'Pod','metadata':{'name':'p','namespace':'team','uid':"
		"'123e4567-e89b-12d3-a456-426614174000','labels':{'app':'web'},"
		"'deletionTimestamp':'2026-11-21T10:00:00Z','ownerReferences':[{'kind':'Job',"
		"'apiVersion':'batch/v1','controller':true,'uid':"
		"'223e4567-e89b-12d3-a456-426614174000'}]},'spec':{'nodeName':'n1','containers':["
		"{'resources':{'requests':{'cpu':'2'}}}]}}";
	assert_int_equal(decode_bound_pod(parsed(text), &b, &e), 0);
	assert_string_equal(b->node, "n1");
	assert_true(b->deleting);
	assert_int_equal(b->uid.byte[0], 0x12);
	assert_int_equal(b->owner.byte[0], 0x22);
	assert_string_equal(b->pod->ns, "team");
	assert_string_equal(b->pod->labels[0].value, "web");
	assert_int_equal(pod_requests(&b->pod->resources, NULL, 0), 1);
	free(b);
	/* Of a ReplicaSet it is nobody's. */
	assert_int_equal(
		decode_bound_pod(parsed("{'metadata':{'name':'p','namespace':'team','uid':"
					"'123e4567-e89b-12d3-a456-426614174000','ownerReferences':["
					"{'kind':'ReplicaSet','apiVersion':'apps/v1','controller':"
					"true,'uid':'223e4567-e89b-12d3-a456-426614174000'}]}}"),
			&b, &e),
		0);
	assert_string_equal(b->node, "");
	assert_int_equal(b->owner.byte[0], 0);
	assert_false(b->deleting);
	free(b);
	assert_int_equal(
		decode_bound_pod(parsed("{'metadata':{'name':'p','namespace':'team'}}"), &b, &e),
		ERR_INVALID);
	assert_string_equal(e.text, "Pod team/p: metadata.uid: is not a UUID");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_bare_template),
		cmocka_unit_test(tolerations_are_those_of_the_pod_to_be),
		cmocka_unit_test(node_affinity),
		cmocka_unit_test(affinity_terms),
		cmocka_unit_test(topology_spread),
		cmocka_unit_test(ports_of_the_host),
		cmocka_unit_test(what_is_wrong_is_said),
		cmocka_unit_test(nodes),
		cmocka_unit_test(pods_that_are_bound),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
