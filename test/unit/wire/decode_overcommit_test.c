/* What may be lent, as its two forms say it. */
#include "controller/wire/decode_node.h"

#include "wire.h"

#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define SAYS(l, field) (((l)->says >> (field)&1) == 1)

static char *quoted(const char *text)
{
	char *copy = mem_strdup(text);
	for (char *p = copy; *p; p++)
		*p = *p == '\'' ? '"' : *p;
	return copy;
}

static int read_config(const char *colocation, const char *threshold,
	struct overcommit_config **ret, struct err *e)
{
	char *a = quoted(colocation), *b = quoted(threshold);
	int rc = decode_overcommit_config(slice_of(a), slice_of(b), slice_of(""), ret, e);
	free(a);
	free(b);
	return rc;
}

static struct overcommit_config *config(const char *colocation, const char *threshold)
{
	struct overcommit_config *c = NULL;
	struct err e = {""};
	if (read_config(colocation, threshold, &c, &e) < 0)
		fail_msg("%s: %s", colocation, e.text);
	return c;
}

static void nothing(void **state)
{
	(void)state;
	struct overcommit_config *c = config("", "");
	assert_int_equal(c->cluster.says, 0);
	assert_int_equal(c->nnodes, 0);
	free(c);
	c = config("{}", "{}");
	assert_int_equal(c->cluster.says, 0);
	free(c);
}

/* The example of seed 004. */
static void the_seed(void **state)
{
	(void)state;
	struct overcommit_config *c =
		config("{'enable': true, 'metricAggregateDurationSeconds': 60, "
		       "'cpuReclaimThresholdPercent': 60, 'memoryReclaimThresholdPercent': 70, "
		       "'memoryCalculatePolicy': 'usage'}",
			"");
	struct strategy s = strategy_for(c, NULL, 0, NULL, NULL);
	assert_true(s.enable);
	assert_int_equal(s.period_s, 60);
	assert_int_equal(s.cpu_percent, 60);
	assert_int_equal(s.memory_percent, 70);
	assert_int_equal(s.memory_policy, POLICY_USAGE);
	assert_false(SAYS(&c->cluster, FIELD_CPU_POLICY));
	free(c);
}

static void all_fields(void **state)
{
	(void)state;
	struct overcommit_config *c = config(
		"{'enable':true,'profile':'koordinator','resourceNames':['batch','gocran'],"
		"'usageSource':'kubelet','metricAggregateDurationSeconds':1,"
		"'metricReportIntervalSeconds':2,'raiseWindowSeconds':3,"
		"'cpuReclaimThresholdPercent':4,'memoryReclaimThresholdPercent':500,"
		"'cpuCalculatePolicy':'maxUsageRequest','memoryCalculatePolicy':'request',"
		"'batchCPUThresholdPercent':6,'batchMemoryThresholdPercent':7,'degradeTimeMinutes':"
		"8,"
		"'updateTimeThresholdSeconds':9,'resourceDiffThreshold':0.25,"
		"'gocranReserveCPUPercent':10,'gocranReserveMemoryPercent':11,"
		"'forecastMarginPercent':12,'midCPUThresholdPercent':100,'extensions':{}}",
		"{'clusterStrategy':{'enable':false,'memoryEvictThresholdPercent':70,"
		"'memoryEvictLowerPercent':13,'cpuEvictBESatisfactionLowerPercent':14,"
		"'cpuEvictBESatisfactionUpperPercent':15,'cpuEvictBEUsageThresholdPercent':16,"
		"'allocatableEvictThresholdPercent':17,'allocatableEvictLowerPercent':16,"
		"'reclaimCoolDownSeconds':19,'cpuSuppressPolicy':'cpuset',"
		"'cpuSuppressThresholdPercent':20,'cpuSuppressMinPercent':21,"
		"'cpuEvictTimeWindowSeconds':22,'cpuAllocatableEvictThresholdPercent':24,"
		"'cpuAllocatableEvictLowerPercent':23,'memoryAllocatableEvictThresholdPercent':26,"
		"'memoryAllocatableEvictLowerPercent':25,'limits':false,'cpuIdle':'Always',"
		"'memoryHoldPercent':71,'memoryEndPercent':72}}");
	const struct strategy *s = &c->cluster.value;
	assert_int_equal(c->cluster.says, (UINT64_C(1) << STRATEGY_FIELDS) - 1);
	assert_true(s->enable);
	assert_false(s->reclaim); /* enable of resource-threshold-config */
	assert_int_equal(s->profile, PROFILE_KOORDINATOR);
	assert_int_equal(s->names, LEND_BATCH | LEND_GOCRAN);
	assert_int_equal(s->source, SOURCE_KUBELET);
	assert_int_equal(s->period_s, 1);
	assert_int_equal(s->interval_s, 2);
	assert_int_equal(s->raise_window_s, 3);
	assert_int_equal(s->cpu_percent, 4);
	assert_int_equal(s->memory_percent, 500);
	assert_int_equal(s->cpu_policy, POLICY_MAX_USAGE_REQUEST);
	assert_int_equal(s->memory_policy, POLICY_REQUEST);
	assert_int_equal(s->cpu_cap, 6);
	assert_int_equal(s->memory_cap, 7);
	assert_int_equal(s->degrade_min, 8);
	assert_int_equal(s->rewrite_s, 9);
	assert_int_equal(s->diff_permille, 250);
	assert_int_equal(s->reserve_cpu, 10);
	assert_int_equal(s->reserve_memory, 11);
	assert_int_equal(s->forecast_margin, 12);
	assert_int_equal(s->evict_memory, 70);
	assert_int_equal(s->evict_memory_lower, 13);
	assert_int_equal(s->evict_cpu_lower, 14);
	assert_int_equal(s->evict_cpu_upper, 15);
	assert_int_equal(s->evict_cpu_usage, 16);
	assert_int_equal(s->evict_allocatable, 17);
	assert_int_equal(s->evict_allocatable_lower, 16);
	assert_int_equal(s->cool_down_s, 19);
	assert_int_equal(s->suppress_policy, SUPPRESS_CPUSET);
	assert_false(s->suppress); /* enable of resource-threshold-config, too */
	assert_false(s->limits);
	assert_int_equal(s->suppress_percent, 20);
	assert_int_equal(s->suppress_min, 21);
	assert_int_equal(s->evict_cpu_window_s, 22);
	assert_int_equal(s->evict_cpu_allocatable, 24);
	assert_int_equal(s->evict_cpu_allocatable_lower, 23);
	assert_int_equal(s->evict_memory_allocatable, 26);
	assert_int_equal(s->evict_memory_allocatable_lower, 25);
	assert_int_equal(s->cpu_idle, CPU_IDLE_ALWAYS);
	assert_int_equal(s->hold, 71);
	assert_int_equal(s->end, 72);
	free(c);
}

/* `enable` of resource-threshold-config is about taking back and suppression; a field of its own
 * says more. */
static void what_enable_means_there(void **state)
{
	static const struct {
		const char *text;
		bool reclaim, suppress;
	} cases[] = {
		{"{'clusterStrategy':{}}", true, true},
		{"{'clusterStrategy':{'enable':false}}", false, false},
		{"{'clusterStrategy':{'enable':true}}", true, true},
		{"{'clusterStrategy':{'enable':false,'suppress':true}}", false, true},
		{"{'clusterStrategy':{'enable':true,'suppress':false}}", true, false},
		{"{'clusterStrategy':{'suppress':false}}", true, false},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct overcommit_config *c = config("{'enable':true}", cases[i].text);
		struct strategy s = strategy_for(c, NULL, 0, NULL, NULL);
		if (!s.enable || s.reclaim != cases[i].reclaim || s.suppress != cases[i].suppress)
			fail_msg("%s", cases[i].text);
		free(c);
	}
}

static void fractions(void **state)
{
	static const struct {
		const char *text;
		int64_t permille; /* 0: refused */
	} cases[] = {
		{"0.1", 100},
		{"1", 1000},
		{"0.001", 1},
		{"0.0001", 1},
		{"0.333", 333},
		{"0", 0},
		{"-1", 0},
		{"1.001", 0},
		{"1e300", 0},
		{"'0.1'", 0},
		{"true", 0},
	};
	char text[128];
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct overcommit_config *c = NULL;
		snprintf(text, sizeof(text), "{'resourceDiffThreshold':%s}", cases[i].text);
		int rc = read_config(text, "", &c, NULL);
		assert_int_equal(rc, cases[i].permille ? 0 : ERR_INVALID);
		if (rc == 0)
			assert_int_equal(c->cluster.value.diff_permille, cases[i].permille);
		free(c);
	}
}

/* Of the cluster's layer: the whole is refused, in a sentence with these words. */
static void refused(void **state)
{
	static const struct {
		const char *colocation, *threshold, *fault;
	} cases[] = {
		{"{", "", "colocation-config: "},
		{"[]", "", "colocation-config: must be a JSON object"},
		{"null", "", "colocation-config: must be a JSON object"},
		{"{},'x':{}", "", "colocation-config: "},
		{"{}", "7", "resource-threshold-config: must be a JSON object"},
		{"{}", "{", "resource-threshold-config: "},
		{"{'enable':'true'}", "", "colocation-config.enable: must be true or false"},
		{"{'enable':1}", "", "colocation-config.enable: must be true or false"},
		{"{'cpuReclaimThresholdPercent':'60'}", "",
			"colocation-config.cpuReclaimThresholdPercent: must be a whole number"},
		{"{'cpuReclaimThresholdPercent':60.5}", "",
			"colocation-config.cpuReclaimThresholdPercent: must be a whole number"},
		{"{'cpuReclaimThresholdPercent':1e300}", "",
			"colocation-config.cpuReclaimThresholdPercent: must be a whole number"},
		{"{'cpuReclaimThresholdPercent':-1}", "",
			"colocation-config: cpuReclaimThresholdPercent is -1"},
		{"{'degradeTimeMinutes':0}", "", "colocation-config: degradeTimeMinutes is 0"},
		{"{'cpuCalculatePolicy':'request'}", "",
			"colocation-config: cpuCalculatePolicy is request"},
		{"{'memoryCalculatePolicy':'guess'}", "",
			"colocation-config.memoryCalculatePolicy: \"guess\" is unknown; write "
			"usage, "
			"request or maxUsageRequest"},
		{"{'profile':'crane'}", "", "write ack or koordinator"},
		{"{'usageSource':'prometheus'}", "",
			"write metrics.k8s.io, kubelet, agent or auto"},
		{"{'cpuIdle':'auto'}", "", "write Never, Auto or Always"},
		{"{'memoryHoldPercent':95,'memoryEndPercent':95}", "",
			"colocation-config: memoryEndPercent is 95, and memoryHoldPercent 95"},
		{"{'limits':'yes'}", "", "colocation-config.limits: must be true or false"},
		{"{'usageSource':7}", "", "colocation-config.usageSource: must be a string"},
		{"{'resourceNames':'batch'}", "",
			"colocation-config.resourceNames: must be a list"},
		{"{'resourceNames':[]}", "", "colocation-config.resourceNames: names nothing"},
		{"{'resourceNames':['batch','mid']}", "",
			"colocation-config.resourceNames[1]: is unknown; write batch or gocran"},
		{"{'nodeConfigs':{}}", "", "colocation-config.nodeConfigs: must be a list"},
		{"{'nodeConfigs':[1]}", "", "colocation-config.nodeConfigs[0]: must be an object"},
		{"{}", "{'clusterStrategy':[]}",
			"resource-threshold-config.clusterStrategy: must be an object"},
		{"{}", "{'clusterStrategy':{'enable':'no'}}",
			"resource-threshold-config.clusterStrategy.enable: must be true or false"},
		{"{}", "{'clusterStrategy':{'memoryEvictThresholdPercent':101}}",
			"resource-threshold-config.clusterStrategy: memoryEvictThresholdPercent is "
			"101"},
		{"{}",
			"{'clusterStrategy':{'memoryEvictThresholdPercent':70,"
			"'memoryEvictLowerPercent':70}}",
			"memoryEvictLowerPercent is 70"},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct overcommit_config *c = NULL;
		struct err e = {""};
		int rc = read_config(cases[i].colocation, cases[i].threshold, &c, &e);
		if (rc != ERR_INVALID || c || !strstr(e.text, cases[i].fault))
			fail_msg("%s %s: %d %s", cases[i].colocation, cases[i].threshold, rc,
				e.text);
	}
}

/* What holds for a node of the pool `pool`, in the zone `zone`. */
static struct strategy of(
	const struct overcommit_config *c, const char *pool, const char *zone, const char **name)
{
	struct label labels[] = {{"pool", pool}, {"zone", zone}};
	return strategy_for(c, labels, 2, NULL, name);
}

static void some_nodes(void **state)
{
	const char *name;
	struct strategy s;
	(void)state;
	struct overcommit_config *c =
		config("{'enable':true,'cpuReclaimThresholdPercent':10,'nodeConfigs':["
		       "{'name':'a','nodeSelector':{'matchLabels':{'pool':'a'}},"
		       "'cpuReclaimThresholdPercent':20},"
		       "{'nodeSelector':{'matchExpressions':[{'key':'pool','operator':'NotIn',"
		       "'values':['b']}]},'cpuReclaimThresholdPercent':30},"
		       "{'name':'wrong','nodeSelector':{'matchLabels':{'zone':'z'}},"
		       "'cpuReclaimThresholdPercent':'40'},"
		       "{'name':'all','nodeSelector':{'matchLabels':{'pool':'b'}},"
		       "'cpuReclaimThresholdPercent':50}]}",
			"");
	assert_int_equal(c->nnodes, 4);
	s = of(c, "a", "y", &name); /* the first of those that select it; no refusal of overlaps */
	assert_int_equal(s.cpu_percent, 20);
	assert_string_equal(name, "a");
	s = of(c, "c", "y", &name);
	assert_int_equal(s.cpu_percent, 30);
	assert_string_equal(name, "nodeConfigs[1]");
	s = of(c, "b", "z", &name); /* the one that is wrong holds, and says nothing */
	assert_int_equal(s.cpu_percent, 10);
	assert_string_equal(name, "wrong");
	s = of(c, "b", "y", &name);
	assert_int_equal(s.cpu_percent, 50);
	assert_true(s.enable);
	assert_null(c->nodes[0].fault);
	assert_string_equal(c->nodes[2].fault,
		"colocation-config.nodeConfigs[2].cpuReclaimThresholdPercent: must be a whole "
		"number; write e.g. 65");
	free(c);
}

static void entries_that_select_nothing(void **state)
{
	static const char *const selectors[] = {"{}", "null", "7", "{'matchLabels':[]}",
		"{'matchLabels':{'a':1}}", "{'matchExpressions':[{'key':'pool'}]}",
		"{'matchExpressions':[{'key':'pool','operator':'Like'}]}"};
	char text[256];
	const char *name;
	(void)state;
	for (size_t i = 0; i < COUNT(selectors); i++) {
		snprintf(text, sizeof(text),
			"{'nodeConfigs':[{'name':'x','enable':true,'nodeSelector':%s}]}",
			selectors[i]);
		struct overcommit_config *c = config(text, "");
		assert_non_null(c->nodes[0].fault);
		assert_false(of(c, "a", "z", &name).enable);
		assert_null(name);
		free(c);
	}
}

/* Each key has entries of its own, and of each one holds. */
static void both_keys(void **state)
{
	static const struct {
		const char *pool, *zone, *name;
		int64_t cpu, memory;
		bool reclaim;
	} cases[] = {
		{"a", "z", "a and z", 20, 50, false},
		{"a", "y", "a", 20, 80, true},
		{"b", "z", "z", 10, 50, false},
		{"b", "y", NULL, 10, 80, true},
		{"c", "z", "c and z", 10, 50, false}, /* c itself is wrong */
		{"c", "y", "c", 10, 80, true},
	};
	(void)state;
	struct overcommit_config *c =
		config("{'cpuReclaimThresholdPercent':10,'nodeConfigs':["
		       "{'name':'a','nodeSelector':{'matchLabels':{'pool':'a'}},"
		       "'cpuReclaimThresholdPercent':20},"
		       "{'name':'c','nodeSelector':{'matchLabels':{'pool':'c'}},'enable':7}]}",
			"{'clusterStrategy':{'memoryEvictThresholdPercent':80},'nodeStrategies':["
			"{'name':'z','nodeSelector':{'matchLabels':{'zone':'z'}},'enable':false,"
			"'memoryEvictThresholdPercent':50}]}");
	for (size_t i = 0; i < COUNT(cases); i++) {
		const char *name = "";
		struct strategy s = of(c, cases[i].pool, cases[i].zone, &name);
		if (s.cpu_percent != cases[i].cpu || s.evict_memory != cases[i].memory ||
			s.reclaim != cases[i].reclaim || !name != !cases[i].name ||
			(name && strcmp(name, cases[i].name) != 0))
			fail_msg("%s %s: %s", cases[i].pool, cases[i].zone, name ? name : "none");
	}
	free(c);
}

static void too_many(void **state)
{
	struct buf text;
	struct overcommit_config *c = NULL;
	struct err e = {""};
	(void)state;
	buf_init(&text, 1 << 20);
	buf_puts(&text, "{\"nodeConfigs\":[{}");
	for (int i = 0; i < 256; i++)
		buf_puts(&text, ",{}");
	buf_puts(&text, "]}");
	int rc = decode_overcommit_config(buf_slice(&text), slice_of(""), slice_of(""), &c, &e);
	assert_int_equal(rc, ERR_INVALID);
	assert_non_null(strstr(e.text, "colocation-config.nodeConfigs: has 257 items"));
	buf_done(&text);
}

/* ---- resource-qos-config ---------------------------------------------------------------------- */

static struct overcommit_config *qos(const char *colocation, const char *text)
{
	struct overcommit_config *c = NULL;
	struct err e = {""};
	char *a = quoted(colocation), *b = quoted(text);
	if (decode_overcommit_config(slice_of(a), slice_of(""), slice_of(b), &c, &e) < 0)
		fail_msg("%s: %s", text, e.text);
	free(a);
	free(b);
	return c;
}

#define BE(...) "{'clusterStrategy':{'beClass':{" __VA_ARGS__ "}}}"
#define BY_IDLE(...)                                                                               \
	"{'clusterStrategy':{'policies':{'cpuPolicy':'coreSched'},'beClass':{" __VA_ARGS__ "}}}"

static void what_koordlet_does_to_cpu(void **state)
{
	static const struct {
		const char *text;
		enum cpu_idle idle;
		size_t notes;
		const char *says;
	} cases[] = {
		{"", CPU_IDLE_NEVER, 0, NULL},
		{"{}", CPU_IDLE_NEVER, 0, NULL},
		{BE("'cpuQOS':{'enable':false,'groupIdentity':-1}"), CPU_IDLE_NEVER, 0, NULL},
		{BE("'cpuQOS':{'groupIdentity':-1}"), CPU_IDLE_NEVER, 0, NULL},
		{BE("'cpuQOS':{'enable':true,'groupIdentity':-1}"), CPU_IDLE_AUTO, 1,
			"groupIdentity is taken as cpuIdle: Auto"},
		{BE("'cpuQOS':{'enable':true,'schedIdle':1}"), CPU_IDLE_NEVER, 0, NULL},
		{BY_IDLE("'cpuQOS':{'enable':true,'schedIdle':1}"), CPU_IDLE_ALWAYS, 1,
			"only schedIdle is done"},
		{BY_IDLE("'cpuQOS':{'enable':true,'schedIdle':0}"), CPU_IDLE_NEVER, 1, "coreSched"},
		/* Nothing of it refuses a configuration. */
		{"{", CPU_IDLE_NEVER, 1, "it is passed over: "},
		{"[]", CPU_IDLE_NEVER, 1, "must be a JSON object"},
		{"{'clusterStrategy':[]}", CPU_IDLE_NEVER, 0, NULL},
		{BE("'cpuQOS':{'enable':'yes'}"), CPU_IDLE_NEVER, 0, NULL},
		{BE("'cpuQOS':{'enable':true,'groupIdentity':'-1'}"), CPU_IDLE_NEVER, 0, NULL},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct overcommit_config *c = qos("{'enable':true}", cases[i].text);
		struct strategy s = strategy_for(c, NULL, 0, NULL, NULL);
		if (!s.enable || s.cpu_idle != cases[i].idle || c->qos.nnotes != cases[i].notes ||
			(cases[i].says && !strstr(c->qos.notes[0], cases[i].says)))
			fail_msg("%s: %d, %zu notes: %s", cases[i].text, (int)s.cpu_idle,
				c->qos.nnotes, c->qos.nnotes ? c->qos.notes[0] : "");
		free(c);
	}
}

/* A field of our own is over it, and an entry of it over its cluster's part. */
static void where_it_stands(void **state)
{
	static const char always[] = BY_IDLE("'cpuQOS':{'enable':true,'schedIdle':1}");
	(void)state;
	struct overcommit_config *c = qos("{'enable':true,'cpuIdle':'Never'}", always);
	assert_int_equal(of(c, "a", "z", NULL).cpu_idle, CPU_IDLE_NEVER);
	free(c);
	c = qos("{'enable':true}",
		"{'clusterStrategy':{'policies':{'cpuPolicy':'coreSched'},'beClass':{'cpuQOS':"
		"{'enable':true,'schedIdle':1}}},'nodeStrategies':[7,{'beClass':{}},"
		"{'nodeSelector':{'matchLabels':{'pool':'a'}},'beClass':{'cpuQOS':"
		"{'enable':false}}},{'nodeSelector':{'matchLabels':{'zone':'z'}},'beClass':"
		"{'cpuQOS':{'enable':true,'groupIdentity':-1}}}]}");
	const char *name = "untouched";
	assert_int_equal(of(c, "a", "z", &name).cpu_idle, CPU_IDLE_NEVER);
	assert_null(name); /* entries of nodeConfigs have names, and these are none */
	assert_int_equal(of(c, "b", "z", NULL).cpu_idle, CPU_IDLE_AUTO);
	assert_int_equal(of(c, "b", "y", NULL).cpu_idle, CPU_IDLE_ALWAYS);
	assert_non_null(strstr(c->qos.notes[1], "selects no nodes"));
	free(c);
}

/* Field by field, what is switched on and not done; once, however often it stands there. */
static void what_is_passed_over_is_said(void **state)
{
	(void)state;
	struct overcommit_config *c = qos("{}",
		"{'clusterStrategy':{'lsrClass':{'memoryQOS':{'enable':false}},'lsClass':{'cpuQOS':"
		"{'enable':true,'groupIdentity':2}},'cgroupRoot':{'cpuQOS':{'enable':true}},"
		"'beClass':{'memoryQOS':{'enable':true,'throttlingPercent':80,'wmarkRatio':95,"
		"'minLimitPercent':0},'resctrlQOS':{'enable':true,'catRangeEndPercent':30},"
		"'blkioQOS':{'enable':false}}},'nodeStrategies':[{'nodeSelector':{'matchLabels':"
		"{'a':'b'}},'lsClass':{'cpuQOS':{'enable':true}},'beClass':{'networkQOS':"
		"{'enable':true}}}]}");
	static const char *const starts[] = {"beClass.memoryQOS.throttlingPercent is passed over: ",
		"beClass.memoryQOS.wmarkRatio is passed over: ",
		"beClass.resctrlQOS is passed over: ", "lsClass is passed over: ",
		"cgroupRoot is passed over: ", "beClass.networkQOS is passed over: "};
	assert_int_equal(c->qos.nnotes, COUNT(starts));
	for (size_t i = 0; i < COUNT(starts); i++)
		if (strncmp(c->qos.notes[i], starts[i], strlen(starts[i])) != 0)
			fail_msg("%s", c->qos.notes[i]);
	free(c);
}

/* ---- NodeOvercommit -------------------------------------------------------------------------- */

static void objects(void **state)
{
	struct node_overcommit *n = NULL;
	struct err e = {""};
	struct label pool = {"pool", "a"};
	(void)state;
	assert_int_equal(
		decode_node_overcommit(
			parsed("{'kind':'NodeOvercommit','metadata':{'name':'x','generation':3,"
			       "'uid':'6f1f1e58-8b5c-4f4e-9f5d-1d9a0b7c2e3f'},'spec':{"
			       "'nodeSelector':{'matchLabels':{'pool':'a'}},"
			       "'cpuReclaimThresholdPercent':70,'reclaim':false}}"),
			&n, &e),
		0);
	assert_string_equal(n->name, "x");
	assert_int_equal(n->generation, 3);
	assert_false(n->deleting);
	assert_true(SAYS(&n->layer, FIELD_ENABLE) && n->layer.value.enable);
	assert_true(SAYS(&n->layer, FIELD_RECLAIM) && !n->layer.value.reclaim);
	assert_false(SAYS(&n->layer, FIELD_MEMORY_PERCENT));
	assert_int_equal(n->layer.value.cpu_percent, 70);
	assert_true(labels_match(&pool, 1, &n->selector));
	assert_false(labels_match(NULL, 0, &n->selector));
	free(n);
	assert_int_equal(
		decode_node_overcommit(
			parsed("{'metadata':{'name':'x'},'spec':{'enable':false}}"), &n, &e),
		0);
	assert_false(n->layer.value.enable);
	assert_true(labels_match(NULL, 0, &n->selector)); /* every node */
	free(n);
}

static void objects_refused(void **state)
{
	static const struct {
		const char *spec, *fault;
	} cases[] = {
		{"7", "NodeOvercommit x: spec: must be an object"},
		{"{'enable':'yes'}", "NodeOvercommit x: spec.enable: must be true or false"},
		{"{'cpuCalculatePolicy':'request'}",
			"NodeOvercommit x: spec: cpuCalculatePolicy is request"},
		{"{'nodeSelector':{'matchExpressions':[{'key':'a','operator':'Like'}]}}",
			"NodeOvercommit x: spec.nodeSelector.matchExpressions[0].operator: "
			"\"Like\""},
	};
	char text[256];
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct node_overcommit *n = NULL;
		struct err e = {""};
		snprintf(text, sizeof(text), "{'metadata':{'name':'x'},'spec':%s}", cases[i].spec);
		assert_int_equal(decode_node_overcommit(parsed(text), &n, &e), ERR_INVALID);
		if (!strstr(e.text, cases[i].fault))
			fail_msg("%s: %s", cases[i].spec, e.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing),
		cmocka_unit_test(the_seed),
		cmocka_unit_test(all_fields),
		cmocka_unit_test(what_enable_means_there),
		cmocka_unit_test(what_koordlet_does_to_cpu),
		cmocka_unit_test(where_it_stands),
		cmocka_unit_test(what_is_passed_over_is_said),
		cmocka_unit_test(fractions),
		cmocka_unit_test(refused),
		cmocka_unit_test(some_nodes),
		cmocka_unit_test(entries_that_select_nothing),
		cmocka_unit_test(both_keys),
		cmocka_unit_test(too_many),
		cmocka_unit_test(objects),
		cmocka_unit_test(objects_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
