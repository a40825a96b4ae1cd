/* Nodes, Pods, what they use, and what may be lent: from JSON to facts. */
#include "controller/wire/decode_node.h"

#include "wire.h"

#define GI (INT64_C(1) << 30)
#define COUNT(a) (sizeof(a) / sizeof(*(a)))

/* ---- Nodes ----------------------------------------------------------------------------------- */

static struct node_facts *node(const char *text)
{
	struct node_facts *f = NULL;
	struct err e = {""};
	if (decode_node(parsed(text), &f, &e) < 0)
		fail_msg("%s: %s", text, e.text);
	return f;
}

static void a_node(void **state)
{
	(void)state;
	struct node_facts *f = node(
		"{'kind':'Node','metadata':{'name':'n1','uid':'6f1f1e58-8b5c-4f4e-9f5d-"
		"1d9a0b7c2e3f',"
		"'labels':{'pool':'a'},'annotations':{"
		"'sluice.dev/overcommit-sample':'2026-11-21T10:00:00Z',"
		"'metrics.k8s.io/resource-metrics-path':'/x'}},"
		"'spec':{'unschedulable':true,'taints':[{'key':'k','value':'v','effect':'"
		"NoSchedule',"
		"'timeAdded':'2026-11-21T10:00:00Z'}]},"
		"'status':{'conditions':[{'type':'MemoryPressure','status':'False'},"
		"{'type':'Ready','status':'True'}],"
		"'capacity':{'cpu':'100','memory':'128Gi','pods':'110','kubernetes.io/"
		"batch-cpu':'50k',"
		"'gocran.io/memory':'1Gi'},"
		"'allocatable':{'cpu':'99500m','memory':'120Gi','kubernetes.io/batch-cpu':'49999',"
		"'kubernetes.io/batch-memory':'0','gocran.io/cpu':'7'}}}");
	assert_string_equal(f->name, "n1");
	assert_int_equal(f->uid.byte[0], 0x6f);
	assert_true(f->ready && f->unschedulable && !f->deleting);
	assert_int_equal(f->nlabels, 1);
	assert_int_equal(f->ntaints, 1);
	assert_int_equal(f->taints[0].effect, TAINT_NO_SCHEDULE);
	assert_int_equal(f->capacity.cpu_milli, 100000);
	assert_int_equal(f->capacity.memory_bytes, 128 * GI);
	assert_int_equal(f->allocatable.cpu_milli, 99500);
	assert_int_equal(f->allocatable.memory_bytes, 120 * GI);
	assert_int_equal(f->capacity_lent.batch_cpu, 50000);
	assert_int_equal(f->capacity_lent.batch_memory, -1);
	assert_int_equal(f->capacity_lent.gocran_cpu, -1);
	assert_int_equal(f->capacity_lent.gocran_memory, GI);
	assert_int_equal(f->allocatable_lent.batch_cpu, 49999);
	assert_int_equal(f->allocatable_lent.batch_memory, 0);
	assert_int_equal(f->allocatable_lent.gocran_cpu, 7);
	assert_int_equal(f->allocatable_lent.gocran_memory, -1);
	assert_int_equal(f->sample_ms, INT64_C(1795255200000));
	assert_string_equal(f->metrics_path, "/x");
	assert_null(f->fault);
	assert_int_equal(f->own.says, 0);
	free(f);
}

static void a_bare_node(void **state)
{
	(void)state;
	struct node_facts *f = node("{'metadata':{'name':'n1'}}");
	assert_false(f->ready);
	assert_int_equal(f->capacity.cpu_milli, 0);
	assert_int_equal(f->capacity_lent.batch_cpu, -1);
	assert_int_equal(f->sample_ms, 0);
	assert_string_equal(f->metrics_path, "");
	free(f);
	/* A figure that cannot be counted is there, and not ours; a capacity that cannot is none.
	 */
	f = node("{'metadata':{'name':'n1'},'status':{'capacity':{'cpu':'1e40','memory':'1Gi',"
		 "'kubernetes.io/batch-cpu':'1e40'}}}");
	assert_int_equal(f->capacity.cpu_milli, 0);
	assert_int_equal(f->capacity.memory_bytes, 0);
	assert_int_equal(f->capacity_lent.batch_cpu, INT64_MAX);
	assert_non_null(strstr(f->fault, "status.capacity.cpu: "));
	free(f);
}

/* An annotation's text: what it comes to, or a fault that holds these words. */
static void reservations(void **state)
{
	static const struct {
		const char *text;
		int64_t cpu, memory;
		const char *fault;
	} cases[] = {
		{"{}", 0, 0, NULL},
		{"{`resources`:{`cpu`:`2`,`memory`:`4Gi`}}", 2000, 4 * GI, NULL},
		{"{`resources`:{`cpu`:`1500m`},`applyPolicy`:`Default`,`new`:[1]}", 1500, 0, NULL},
		{"{`reservedCPUs`:`0-3,8`}", 5000, 0, NULL},
		{"{`resources`:{`cpu`:`20`,`memory`:`1Gi`},`reservedCPUs`:`0-1`}", 2000, GI, NULL},
		{"{`resources`:{`cpu`:`20`},`reservedCPUs`:`3`}", 1000, 0, NULL},
		{"{`reservedCPUs`:`0-3,2-4,4`}", 5000, 0, NULL},
		{"{`resources`:{`cpu`:`20`},`reservedCPUs`:``}", 20000, 0, NULL},
		{"{`reservedCPUs`:`3-1`}", 0, 0, "reservedCPUs: \"3-1\" is not a set of CPUs"},
		{"{`reservedCPUs`:`0-`}", 0, 0, "reservedCPUs"},
		{"{`reservedCPUs`:`a`}", 0, 0, "reservedCPUs"},
		{"{`reservedCPUs`:`0,`}", 0, 0, "reservedCPUs"},
		{"{`reservedCPUs`:`0-99999999999999999999`}", 0, 0, "reservedCPUs"},
		{"{`reservedCPUs`:4}", 0, 0, "reservedCPUs: must be a string"},
		{"{`resources`:{`cpu`:`many`}}", 0, 0, "resources.cpu: \"many\" is not a quantity"},
		{"{`resources`:{`memory`:`-1`}}", 0, 0, "resources.memory: must not be negative"},
		{"{`resources`:3}", 0, 0, "resources: must be an object"},
		{"[]", 0, 0, "node.koordinator.sh/reservation: must be a JSON object"},
		{"{", 0, 0, "node.koordinator.sh/reservation: "},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		cJSON *o = cJSON_CreateObject(), *meta = cJSON_AddObjectToObject(o, "metadata");
		char *text = mem_strdup(cases[i].text);
		for (char *p = text; *p; p++)
			*p = *p == '`' ? '"' : *p;
		cJSON_AddStringToObject(meta, "name", "n1");
		cJSON_AddStringToObject(cJSON_AddObjectToObject(meta, "annotations"),
			"node.koordinator.sh/reservation", text);
		struct node_facts *f = NULL;
		assert_int_equal(decode_node(o, &f, NULL), 0);
		if (f->reservation.cpu_milli != cases[i].cpu ||
			f->reservation.memory_bytes != cases[i].memory)
			fail_msg("%s: %lld, %lld", text, (long long)f->reservation.cpu_milli,
				(long long)f->reservation.memory_bytes);
		if (!cases[i].fault != !f->fault || (f->fault && !strstr(f->fault, cases[i].fault)))
			fail_msg("%s: fault %s", text, f->fault ? f->fault : "none");
		free(f);
		free(text);
		cJSON_Delete(o);
	}
}

#define SAYS(layer, field) (((layer).says >> (field)&1) == 1)

static void own_layer(void **state)
{
	(void)state;
	struct node_facts *f = node(
		"{'metadata':{'name':'n1','annotations':{'node.koordinator.sh/colocation-strategy':"
		"'{\\'enable\\':true,\\'cpuReclaimThresholdPercent\\':70,\\'degradeTimeMinutes\\':"
		"5}'},"
		"'labels':{'node.koordinator.sh/cpu-reclaim-ratio':'0.29',"
		"'node.koordinator.sh/memory-reclaim-ratio':'much'}}}");
	assert_true(SAYS(f->own, FIELD_ENABLE) && f->own.value.enable);
	assert_int_equal(f->own.value.cpu_percent, 28); /* the label is above, and cut off */
	assert_int_equal(f->own.value.degrade_min, 5);
	assert_false(SAYS(f->own, FIELD_MEMORY_PERCENT));
	assert_string_equal(f->fault,
		"node.koordinator.sh/memory-reclaim-ratio: \"much\" is not a ratio; write a number "
		"from 0 on, e.g. 0.65");
	free(f);
	/* One that is wrong says nothing at all; the labels count all the same. */
	f = node(
		"{'metadata':{'name':'n1','annotations':{'node.koordinator.sh/colocation-strategy':"
		"'{\\'enable\\':true,\\'cpuCalculatePolicy\\':\\'request\\'}'},"
		"'labels':{'node.koordinator.sh/memory-reclaim-ratio':'0.5'}}}");
	assert_false(SAYS(f->own, FIELD_ENABLE));
	assert_int_equal(f->own.value.memory_percent, 50);
	assert_non_null(strstr(f->fault, "node.koordinator.sh/colocation-strategy: "
					 "cpuCalculatePolicy is request"));
	free(f);
}

static void no_nodes(void **state)
{
	static const struct {
		const char *text, *fault;
	} cases[] = {
		{"[]", "not a Node: not even a JSON object"},
		{"{'kind':'Pod','metadata':{'name':'a'}}", "not a Node: its kind is \"Pod\""},
		{"{'metadata':{}}", "Node: metadata.name: \"\" is not a name"},
		{"{'metadata':{'name':'a'},'spec':{'taints':[{'key':'a','effect':'Burn'}]}}",
			"Node a: spec.taints[0].effect: \"Burn\" is unknown"},
		{"{'metadata':{'name':'a'},'spec':{'unschedulable':'yes'}}",
			"Node a: spec.unschedulable: must be true or false"},
		{"{'metadata':{'name':'a'},'status':[]}", "Node a: status: must be an object"},
	};
	struct node_facts *f = NULL;
	struct err e = {""};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_int_equal(decode_node(parsed(cases[i].text), &f, &e), ERR_INVALID);
		if (!strstr(e.text, cases[i].fault))
			fail_msg("%s: %s", cases[i].text, e.text);
	}
}

/* ---- Pods ------------------------------------------------------------------------------------ */

static struct pod_facts *pod(const char *text)
{
	struct pod_facts *f = NULL;
	struct err e = {""};
	if (decode_pod(parsed(text), &f, &e) < 0)
		fail_msg("%s: %s", text, e.text);
	return f;
}

static void a_pod(void **state)
{
	(void)state;
	struct pod_facts *f = pod(
		"{'kind':'Pod','metadata':{'name':'p','namespace':'kube-system',"
		"'uid':'6f1f1e58-8b5c-4f4e-9f5d-1d9a0b7c2e3f','deletionTimestamp':'2026-11-21T10:"
		"00:00Z',"
		"'creationTimestamp':'2026-11-21T09:00:00Z',"
		"'labels':{'koordinator.sh/qosClass':'LSE','koordinator.sh/"
		"priority-class':'koord-prod',"
		"'sluice.dev/cluster-queue-name':'batch'},"
		"'annotations':{'koordinator.sh/eviction-priority':'-5',"
		"'alibabacloud.com/qosClass':'BE'},"
		"'ownerReferences':[{'kind':'Job','apiVersion':'batch/v1','controller':true,"
		"'uid':'11111111-8b5c-4f4e-9f5d-1d9a0b7c2e3f'}]},"
		"'spec':{'nodeName':'n1','priority':9500,'containers':[{'resources':{'requests':"
		"{'cpu':'1','memory':'1Gi','kubernetes.io/batch-cpu':'1k'}}}]},"
		"'status':{'phase':'Running','startTime':'2026-11-21T10:00:00Z'}}");
	assert_string_equal(f->ns, "kube-system");
	assert_string_equal(f->name, "p");
	assert_string_equal(f->node, "n1");
	assert_int_equal(f->phase, POD_RUNNING);
	assert_true(f->deleting && f->has_owner_job && f->queued);
	assert_int_equal(f->owner_job.byte[0], 0x11);
	assert_string_equal(f->tier.qos_label, "LSE"); /* before the legacy annotation */
	assert_string_equal(f->tier.priority_label, "koord-prod");
	assert_true(f->tier.has_priority && f->tier.in_kube_system && f->tier.asks_for_lent);
	assert_int_equal(f->tier.priority, 9500);
	assert_int_equal(f->request.cpu_milli, 1000);
	assert_int_equal(f->request.memory_bytes, GI);
	assert_int_equal(f->batch_asked.cpu_milli, 1000);
	assert_int_equal(f->eviction_priority, -5);
	assert_int_equal(f->started_ms, INT64_C(1795255200000));
	assert_true(f->looked_at);
	free(f);
}

static void a_bare_pod(void **state)
{
	(void)state;
	struct pod_facts *f = pod(
		"{'metadata':{'name':'p','namespace':'a','creationTimestamp':'2026-11-21T10:00:00Z'"
		","
		"'annotations':{'koordinator.sh/eviction-priority':'first',"
		"'alibabacloud.com/qosClass':'BE'},"
		"'ownerReferences':[{'kind':'ReplicaSet','apiVersion':'apps/v1','controller':true,"
		"'uid':'11111111-8b5c-4f4e-9f5d-1d9a0b7c2e3f'}]}}");
	assert_string_equal(f->node, "");
	assert_int_equal(f->phase, POD_PENDING);
	assert_false(f->has_owner_job || f->queued || f->deleting || f->tier.has_priority);
	assert_string_equal(f->tier.qos_label, "BE");
	assert_null(f->tier.priority_label);
	assert_int_equal(f->tier.qos, POD_BEST_EFFORT);
	assert_int_equal(f->eviction_priority, 0);
	assert_int_equal(f->started_ms, INT64_C(1795255200000));
	assert_false(f->looked_at);
	free(f);
	f = pod("{'metadata':{'name':'p','namespace':'a'},'status':{'phase':'Failed'}}");
	assert_int_equal(f->phase, POD_OVER);
	free(f);
	/* Whatever stands in an annotation, the pod is one. */
	f = pod("{'metadata':{'name':'p','namespace':'a','annotations':{"
		"'alibabacloud.com/qosClass':'B\\nE'}}}");
	assert_null(f->tier.qos_label);
	free(f);
}

#define ID_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa01"
#define ID_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb02"

#define R(...) "'resources':{" __VA_ARGS__ "}"
#define CPU_MEMORY(c, m) "{'cpu':'" c "','memory':'" m "'}"

/* Kubernetes' own table, pkg/apis/core/v1/helper/qos. */
static void quality_of_service(void **state)
{
	static const struct {
		const char *spec;
		enum pod_qos qos;
	} cases[] = {
		{"'containers':[{}]", POD_BEST_EFFORT},
		{"'containers':[{" R("'requests':" CPU_MEMORY("0", "0")) "}]", POD_BEST_EFFORT},
		{"'containers':[{" R("'requests':{'kubernetes.io/batch-cpu':'1k'},"
				     "'limits':{'kubernetes.io/batch-cpu':'1k'}") "}]",
			POD_BEST_EFFORT},
		{"'containers':[{" R("'requests':" CPU_MEMORY("1", "1Gi") ",'limits':" CPU_MEMORY(
			 "1", "1Gi")) "}]",
			POD_GUARANTEED},
		{"'containers':[{" R("'limits':" CPU_MEMORY("1000m", "1Gi")) "}]", POD_GUARANTEED},
		{"'containers':[{" R("'requests':" CPU_MEMORY("1", "1Gi") ",'limits':" CPU_MEMORY(
			 "2", "1Gi")) "}]",
			POD_BURSTABLE},
		{"'containers':[{" R("'requests':" CPU_MEMORY("1", "1Gi")) "}]", POD_BURSTABLE},
		{"'containers':[{" R("'limits':{'cpu':'1'}") "}]", POD_BURSTABLE},
		{"'containers':[{" R("'limits':" CPU_MEMORY("1", "1Gi")) "},{}]", POD_BURSTABLE},
		{"'containers':[{" R("'limits':" CPU_MEMORY("1", "1Gi")) "}],'initContainers':[{}]",
			POD_BURSTABLE},
		{"'initContainers':[{" R("'limits':" CPU_MEMORY("1", "1Gi")) "}],'containers':[{" R(
			 "'limits':" CPU_MEMORY("1", "1Gi")) "}]",
			POD_GUARANTEED},
		{R("'limits':" CPU_MEMORY("1", "1Gi")) ",'containers':[{}]", POD_GUARANTEED},
		{R("'requests':" CPU_MEMORY("1", "1Gi")) ",'containers':[{" R(
			 "'limits':" CPU_MEMORY("1", "1Gi")) "}]",
			POD_GUARANTEED},
		{"'containers':[{" R("'requests':{'cpu':'9000000000000000'}") "},{" R(
			 "'requests':{'cpu':'9000000000000000'}") "}]",
			POD_BURSTABLE},
	};
	char text[1024];
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		snprintf(text, sizeof(text),
			"{'metadata':{'name':'p','namespace':'a'},'spec':{%s}}", cases[i].spec);
		struct pod_facts *f = pod(text);
		if (f->tier.qos != cases[i].qos)
			fail_msg("%s: %d", cases[i].spec, (int)f->tier.qos);
		free(f);
	}
	struct pod_facts *f =
		pod("{'metadata':{'name':'p','namespace':'a'},'spec':{'containers':[{}]},"
		    "'status':{'qosClass':'Guaranteed'}}");
	assert_int_equal(f->tier.qos, POD_GUARANTEED); /* the API server knows best */
	free(f);
}

static void requests(void **state)
{
	static const struct {
		const char *spec;
		struct load request, batch, gocran;
		bool lent;
	} cases[] = {
		/* limits for what is not asked for; sidecars count, a start that needs more
		   counts */
		{"'containers':[{" R("'limits':{'cpu':'2'},'requests':{'memory':'"
				     "1Gi'}") "},"
					      "{" R("'requests':{'cpu':'1'}") "}]",
			{3000, GI}, {0, 0}, {0, 0}, false},
		{"'initContainers':[{" R("'requests':{'cpu':'5'}") "}],'containers':[{" R(
			 "'requests':{'cpu':'1'}") "}],'overhead':{'cpu':'250m'}",
			{5250, 0}, {0, 0}, {0, 0}, false},
		{"'initContainers':[{'restartPolicy':'Always'," R(
			 "'requests':{'cpu':'1'}") "}],"
						   "'containers':[{" R(
							   "'requests':{'cpu':'1'}") "}]",
			{2000, 0}, {0, 0}, {0, 0}, false},
		{R("'requests':{'cpu':'4'}") ",'containers':[{" R("'requests':{'cpu':'1'}") "}]",
			{4000, 0}, {0, 0}, {0, 0}, false},
		{"'containers':[{" R("'limits':{'kubernetes.io/batch-cpu':'50k',"
				     "'kubernetes.io/batch-memory':'10Gi'}") "}]",
			{0, 0}, {50000, 10 * GI}, {0, 0}, true},
		{"'containers':[{" R(
			 "'limits':{'gocran.io/cpu':'2','gocran.io/memory':'1Gi'}") "}]",
			{0, 0}, {0, 0}, {2000, GI}, true},
		{"'containers':[{" R("'limits':{'gocran.io/cpu':'9e18'}") "}]", {0, 0}, {0, 0},
			{INT64_MAX, 0}, true},
		{"'containers':[{" R("'limits':{'alibabacloud.com/reclaimed-cpu':'1000',"
				     "'alibabacloud.com/reclaimed-memory':'2048'}") "}]",
			{0, 0}, {1000, 2048}, {0, 0}, true},
		{"'containers':[{" R("'limits':{'alibabacloud.com/reclaimed':'1000'}") "}]", {0, 0},
			{1000, 0}, {0, 0}, true},
		{"'containers':[{" R("'limits':{'gocrane.io/cpu':'1'}") "}]", {0, 0}, {0, 0},
			{0, 0}, false},
		{"'containers':[{" R("'limits':{'nvidia.com/gpu':'1'}") "}]", {0, 0}, {0, 0},
			{0, 0}, false},
		{"'containers':[{" R("'limits':{'kubernetes.io/batch-cpu':'0'}") "}]", {0, 0},
			{0, 0}, {0, 0}, false},
	};
	char text[1024];
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		snprintf(text, sizeof(text),
			"{'metadata':{'name':'p','namespace':'a'},'spec':{%s}}", cases[i].spec);
		struct pod_facts *f = pod(text);
		if (memcmp(&f->request, &cases[i].request, sizeof(struct load)) != 0 ||
			memcmp(&f->batch_asked, &cases[i].batch, sizeof(struct load)) != 0 ||
			memcmp(&f->gocran_asked, &cases[i].gocran, sizeof(struct load)) != 0 ||
			f->tier.asks_for_lent != cases[i].lent)
			fail_msg("%s", cases[i].spec);
		free(f);
	}
}

/* ---- use ------------------------------------------------------------------------------------- */

#define ASKS(cpu, memory)                                                                          \
	R("'requests':{'kubernetes.io/batch-cpu':'" cpu "','kubernetes.io/batch-memory':'" memory  \
	  "'}")
#define STATUS(name, id) "{'name':'" name "','containerID':'containerd://" id "'}"

/* Of a pod with several, those that ask for lent resources and have started: by their ids. */
static void containers_of_a_lent_pod(void **state)
{
	static const struct {
		const char *name, *spec, *status;
		size_t n;
		const char *first;
		struct load asked; /* by the first */
	} cases[] = {
		{"one is the pod", "'containers':[{'name':'a'," ASKS("1k", "1Gi") "}]",
			"'containerStatuses':[" STATUS("a", ID_A) "]", 0, NULL, {0, 0}},
		{"two",
			"'containers':[{'name':'a'," ASKS("1k", "1Gi") "},{'name':'b'," ASKS(
				"500", "0") "}]",
			"'containerStatuses':[" STATUS("b", ID_B) "," STATUS("a", ID_A) "]", 2,
			ID_A, {1000, GI}},
		{"one that asks for nothing",
			"'containers':[{'name':'a'},{'name':'b'," ASKS("500", "0") "}]",
			"'containerStatuses':[" STATUS("b", ID_B) "," STATUS("a", ID_A) "]", 1,
			ID_B, {500, 0}},
		{"one that has not started",
			"'containers':[{'name':'a'," ASKS("1k", "1Gi") "},{'name':'b'," ASKS(
				"500", "0") "}]",
			"'containerStatuses':[{'name':'a'}," STATUS("b", ID_B) "]", 1, ID_B,
			{500, 0}},
		{"a sidecar",
			"'initContainers':[{'name':'s','restartPolicy':'Always'," ASKS(
				"100", "1Mi") "},{'name':'i'," ASKS("9k",
				"1Mi") "}],"
				       "'containers':[{'name':'a'," ASKS("1k", "1Gi") "}]",
			"'initContainerStatuses':[" STATUS("s", ID_B) "," STATUS("i", ID_A) "]", 1,
			ID_B, {100, 1 << 20}},
		{"gocran.io",
			"'containers':[{'name':'a'," R(
				"'requests':{'gocran.io/cpu':'2'}") "},{'name':'b'}]",
			"'containerStatuses':[" STATUS("a", ID_A) "]", 1, ID_A, {2000, 0}},
		{"ordinary",
			"'containers':[{'name':'a'," R("'requests':{'cpu':'2'}") "},{'name':'b'}]",
			"'containerStatuses':[" STATUS("a", ID_A) "]", 0, NULL, {0, 0}},
		{"ids that are none",
			"'containers':[{'name':'a'," ASKS("1k", "1Gi") "},{'name':'b'," ASKS(
				"500", "0") "}]",
			"'containerStatuses':[" STATUS("a", "../../" ID_A) "," STATUS("b",
				"BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB02") "]",
			0, NULL, {0, 0}},
	};
	char text[2048];
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		snprintf(text, sizeof(text),
			"{'metadata':{'name':'p','namespace':'a'},'spec':{%s},'status':{%s}}",
			cases[i].spec, cases[i].status);
		struct pod_facts *f = pod(text);
		if (f->ncontainers != cases[i].n ||
			(f->ncontainers > 0 && (strcmp(f->containers[0].id, cases[i].first) != 0 ||
						       f->containers[0].asked.cpu_milli !=
							       cases[i].asked.cpu_milli ||
						       f->containers[0].asked.memory_bytes !=
							       cases[i].asked.memory_bytes)))
			fail_msg("%s: %zu", cases[i].name, f->ncontainers);
		free(f);
	}
}

static void usage(void **state)
{
	static const struct {
		const char *text, *ns, *name;
		int64_t at_ms, cpu, memory;
	} cases[] = {
		{"{'kind':'NodeMetrics','metadata':{'name':'n1'},'timestamp':'2026-11-21T10:00:00Z'"
		 ","
		 "'window':'15s','usage':{'cpu':'10999722340n','memory':'25003Mi'}}",
			"", "n1", INT64_C(1795255200000), 11000, INT64_C(25003) << 20},
		{"{'metadata':{'name':'n1'},'usage':{'cpu':'1500u','memory':'1'}}", "", "n1", 0, 2,
			1},
		{"{'metadata':{'name':'n1'},'usage':{'cpu':'12e-1','memory':'1e3'}}", "", "n1", 0,
			1200, 1000},
		{"{'metadata':{'name':'n1'},'usage':{'cpu':'0','memory':'0'}}", "", "n1", 0, 0, 0},
		{"{'metadata':{'name':'p','namespace':'a'},'containers':[{'name':'x','usage':"
		 "{'cpu':'100m','memory':'2Ki'}},{'usage':{'cpu':'1','memory':'1Ki'}}]}",
			"a", "p", 0, 1100, 3072},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct usage_facts *u = NULL;
		struct err e = {""};
		if (decode_usage(parsed(cases[i].text), &u, &e) < 0)
			fail_msg("%s: %s", cases[i].text, e.text);
		assert_string_equal(u->ns, cases[i].ns);
		assert_string_equal(u->name, cases[i].name);
		assert_int_equal(u->at_ms, cases[i].at_ms);
		assert_int_equal(u->used.cpu_milli, cases[i].cpu);
		assert_int_equal(u->used.memory_bytes, cases[i].memory);
		free(u);
	}
}

/* A missing metric is never zero use. */
static void no_usage(void **state)
{
	static const struct {
		const char *text, *fault;
	} cases[] = {
		{"{'metadata':{'name':'n1'}}", "NodeMetrics n1: usage.cpu: is missing"},
		{"{'metadata':{'name':'n1'},'usage':{'cpu':'1'}}",
			"NodeMetrics n1: usage.memory: is missing"},
		{"{'metadata':{'name':'n1'},'usage':{'cpu':null,'memory':'1'}}",
			"usage.cpu: is missing"},
		{"{'metadata':{'name':'n1'},'usage':{'cpu':'-1','memory':'1'}}",
			"usage.cpu: must not be negative"},
		{"{'metadata':{'name':'n1'},'usage':{'cpu':'1e30','memory':'1'}}", "usage.cpu"},
		{"{'metadata':{'name':'n1'},'timestamp':'now','usage':{'cpu':'1','memory':'1'}}",
			"NodeMetrics n1: timestamp: is not a time"},
		{"{'metadata':{'name':'p','namespace':'a'}}",
			"PodMetrics a/p: containers: has none"},
		{"{'metadata':{'name':'p','namespace':'a'},'containers':[{'usage':{'cpu':'1',"
		 "'memory':'1'}},{'usage':{'memory':'1'}}]}",
			"PodMetrics a/p: containers[1].usage.cpu: is missing"},
		{"{'kind':'Pod','metadata':{'name':'p','namespace':'a'}}", "its kind is \"Pod\""},
	};
	struct usage_facts *u = NULL;
	struct err e = {""};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_int_equal(decode_usage(parsed(cases[i].text), &u, &e), ERR_INVALID);
		if (!strstr(e.text, cases[i].fault))
			fail_msg("%s: %s", cases[i].text, e.text);
	}
}

static void note(const struct kubelet_usage *u, void *ctx)
{
	size_t len = strlen(ctx);
	snprintf((char *)ctx + len, 1024 - len, "%s/%s at %lld: %lld ns, %lld bytes\n", u->ns,
		u->name, (long long)u->at_ms, (long long)u->cpu_ns, (long long)u->memory_bytes);
}

static void kubelets(void **state)
{
	static const char text[] =
		"# HELP container_cpu_usage_seconds_total [STABLE] Cumulative cpu time\n"
		"# TYPE container_cpu_usage_seconds_total counter\n"
		"container_cpu_usage_seconds_total{container=\"x\",namespace=\"a\",pod=\"p\"} 1\n"
		"node_cpu_usage_seconds_total 5318.374915 1795255200123\n"
		"node_memory_working_set_bytes 1.5e+09 1795255200124\n"
		"pod_cpu_usage_seconds_total{namespace=\"b\",pod=\"p\"} 0.0000000001\r\n"
		"pod_cpu_usage_seconds_total{namespace=\"a\",pod=\"q\"} 2\n"
		"pod_cpu_usage_seconds_total{pod=\"p\", namespace=\"a\",} 1.5\n"
		"pod_memory_working_set_bytes{namespace=\"a\",pod=\"p\"} 4096\n"
		"pod_memory_working_set_bytes{namespace=\"b\",pod=\"p\"} 8192\n"
		"pod_memory_working_set_bytes{namespace=\"c\",pod=\"p\"} 1\n"
		"node_memory_working_set_bytes_of_others 7\n"
		"resource_scrape_error 0";
	char seen[1024] = "";
	struct err e = {""};
	(void)state;
	assert_int_equal(decode_kubelet_usage(slice_of(text), 77, note, seen, &e), 0);
	assert_string_equal(seen, "/ at 1795255200123: 5318374915000 ns, 1500000000 bytes\n"
				  "a/p at 77: 1500000000 ns, 4096 bytes\n"
				  "b/p at 77: 1 ns, 8192 bytes\n");
}

#define NODE_HALVES "node_cpu_usage_seconds_total 1\nnode_memory_working_set_bytes 1\n"

static void no_kubelets(void **state)
{
	static const char *const cases[] = {
		"",
		"<html>\n",
		"node_cpu_usage_seconds_total 1\n",
		"pod_cpu_usage_seconds_total{namespace=\"a\",pod=\"p\"} 1\n",
		NODE_HALVES "pod_cpu_usage_seconds_total 1\n",
		NODE_HALVES "pod_cpu_usage_seconds_total{namespace=\"a\"} 1\n",
		NODE_HALVES "pod_cpu_usage_seconds_total{namespace=\"a\",pod=\"p\"}\n",
		NODE_HALVES "pod_cpu_usage_seconds_total{namespace=\"a\",pod=\"p\"} NaN\n",
		NODE_HALVES "pod_cpu_usage_seconds_total{namespace=\"a\",pod=\"p\"} +Inf\n",
		NODE_HALVES "pod_cpu_usage_seconds_total{namespace=\"a\",pod=\"p\"} -1\n",
		NODE_HALVES "pod_cpu_usage_seconds_total{namespace=\"a\",pod=\"p\"} 1 2 3\n",
		NODE_HALVES "pod_cpu_usage_seconds_total{namespace=\"a\",pod=\"p 1\n",
		NODE_HALVES "pod_cpu_usage_seconds_total{namespace=\"a\",pod=\"p\\\"\"} 1\n",
		"node_cpu_usage_seconds_total 1e300\nnode_memory_working_set_bytes 1\n",
	};
	char seen[1024] = "";
	struct err e = {""};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		int rc = decode_kubelet_usage(slice_of(cases[i]), 77, note, seen, &e);
		if (rc != ERR_INVALID || *seen)
			fail_msg("%s: %d, %s", cases[i], rc, seen);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_node),
		cmocka_unit_test(a_bare_node),
		cmocka_unit_test(reservations),
		cmocka_unit_test(own_layer),
		cmocka_unit_test(no_nodes),
		cmocka_unit_test(a_pod),
		cmocka_unit_test(a_bare_pod),
		cmocka_unit_test(quality_of_service),
		cmocka_unit_test(requests),
		cmocka_unit_test(containers_of_a_lent_pod),
		cmocka_unit_test(usage),
		cmocka_unit_test(no_usage),
		cmocka_unit_test(kubelets),
		cmocka_unit_test(no_kubelets),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
