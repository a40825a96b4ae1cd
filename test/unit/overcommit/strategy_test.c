/* What an admin may say, what holds when nobody says it, and which layer holds. */
#include "table.h"

#include "overcommit/strategy.h"

#define SAYS(field) (UINT64_C(1) << (field))

/* By field: what the default is in either profile, the least and the most that is taken. */
static const struct {
	enum strategy_field field;
	const char *name;
	size_t at;
	int64_t ack, koordinator, least, most;
} numbers[] = {
#define NUMBER(field, name, member, ack, koordinator, least, most)                                 \
	{                                                                                          \
		field, name, offsetof(struct strategy, member), ack, koordinator, least, most      \
	}
	NUMBER(FIELD_PERIOD, "metricAggregateDurationSeconds", period_s, 60, 60, 1, INT32_MAX),
	NUMBER(FIELD_INTERVAL, "metricReportIntervalSeconds", interval_s, 15, 15, 1, INT32_MAX),
	NUMBER(FIELD_RAISE_WINDOW, "raiseWindowSeconds", raise_window_s, 300, 300, 0, INT32_MAX),
	NUMBER(FIELD_CPU_PERCENT, "cpuReclaimThresholdPercent", cpu_percent, 65, 60, 0, INT32_MAX),
	NUMBER(FIELD_MEMORY_PERCENT, "memoryReclaimThresholdPercent", memory_percent, 65, 65, 0,
		INT32_MAX),
	NUMBER(FIELD_CPU_CAP, "batchCPUThresholdPercent", cpu_cap, -1, -1, 0, INT32_MAX),
	NUMBER(FIELD_MEMORY_CAP, "batchMemoryThresholdPercent", memory_cap, -1, -1, 0, INT32_MAX),
	NUMBER(FIELD_DEGRADE, "degradeTimeMinutes", degrade_min, 15, 15, 1, INT32_MAX),
	NUMBER(FIELD_REWRITE, "updateTimeThresholdSeconds", rewrite_s, 300, 300, 1, INT32_MAX),
	NUMBER(FIELD_DIFF, "resourceDiffThreshold", diff_permille, 100, 100, 1, 1000),
	NUMBER(FIELD_RESERVE_CPU, "gocranReserveCPUPercent", reserve_cpu, 0, 0, 0, 100),
	NUMBER(FIELD_RESERVE_MEMORY, "gocranReserveMemoryPercent", reserve_memory, 0, 0, 0, 100),
	NUMBER(FIELD_FORECAST_MARGIN, "forecastMarginPercent", forecast_margin, 10, 10, 0, 100),
	NUMBER(FIELD_EVICT_MEMORY, "memoryEvictThresholdPercent", evict_memory, 70, 70, 0, 100),
	NUMBER(FIELD_EVICT_MEMORY_LOWER, "memoryEvictLowerPercent", evict_memory_lower, 68, 68, 0,
		100),
	NUMBER(FIELD_EVICT_CPU_LOWER, "cpuEvictBESatisfactionLowerPercent", evict_cpu_lower, 60, 60,
		0, 100),
	NUMBER(FIELD_EVICT_CPU_UPPER, "cpuEvictBESatisfactionUpperPercent", evict_cpu_upper, 80, 80,
		1, 100),
	NUMBER(FIELD_EVICT_CPU_USAGE, "cpuEvictBEUsageThresholdPercent", evict_cpu_usage, 90, 90, 0,
		100),
	NUMBER(FIELD_EVICT_ALLOCATABLE, "allocatableEvictThresholdPercent", evict_allocatable, 110,
		110, 0, INT32_MAX),
	NUMBER(FIELD_EVICT_ALLOCATABLE_LOWER, "allocatableEvictLowerPercent",
		evict_allocatable_lower, 100, 100, 0, INT32_MAX),
	NUMBER(FIELD_COOL_DOWN, "reclaimCoolDownSeconds", cool_down_s, 60, 60, 0, INT32_MAX),
	NUMBER(FIELD_EVICT_CPU_WINDOW, "cpuEvictTimeWindowSeconds", evict_cpu_window_s, 20, 20, 1,
		INT32_MAX),
	NUMBER(FIELD_EVICT_CPU_ALLOCATABLE, "cpuAllocatableEvictThresholdPercent",
		evict_cpu_allocatable, 110, 110, 0, INT32_MAX),
	NUMBER(FIELD_EVICT_CPU_ALLOCATABLE_LOWER, "cpuAllocatableEvictLowerPercent",
		evict_cpu_allocatable_lower, 100, 100, 0, INT32_MAX),
	NUMBER(FIELD_EVICT_MEMORY_ALLOCATABLE, "memoryAllocatableEvictThresholdPercent",
		evict_memory_allocatable, 110, 110, 0, INT32_MAX),
	NUMBER(FIELD_EVICT_MEMORY_ALLOCATABLE_LOWER, "memoryAllocatableEvictLowerPercent",
		evict_memory_allocatable_lower, 100, 100, 0, INT32_MAX),
	NUMBER(FIELD_SUPPRESS_PERCENT, "cpuSuppressThresholdPercent", suppress_percent, 65, 65, 0,
		100),
	NUMBER(FIELD_SUPPRESS_MIN, "cpuSuppressMinPercent", suppress_min, 2, 2, 0, 100),
	NUMBER(FIELD_HOLD, "memoryHoldPercent", hold, 90, 90, 0, 99),
	NUMBER(FIELD_END, "memoryEndPercent", end, 96, 96, 0, 100),
};

static int64_t *member(struct strategy *s, size_t at)
{
	return (int64_t *)(void *)((char *)s + at);
}

static void what_holds_when_nobody_says(void **state)
{
	(void)state;
	struct strategy ack = strategy_default(PROFILE_ACK);
	struct strategy koordinator = strategy_default(PROFILE_KOORDINATOR);
	for (size_t i = 0; i < COUNT(numbers); i++) {
		same(numbers[i].name, "ack", *member(&ack, numbers[i].at), numbers[i].ack);
		same(numbers[i].name, "koordinator", *member(&koordinator, numbers[i].at),
			numbers[i].koordinator);
		assert_string_equal(strategy_field_name(numbers[i].field), numbers[i].name);
	}
	assert_false(ack.enable);
	assert_true(ack.reclaim);
	assert_int_equal(ack.names, LEND_BATCH);
	assert_int_equal(ack.source, SOURCE_AUTO);
	assert_true(ack.limits);
	assert_true(ack.suppress);
	assert_int_equal(ack.suppress_policy, SUPPRESS_CFS_QUOTA);
	assert_int_equal(ack.cpu_idle, CPU_IDLE_NEVER);
	assert_int_equal(ack.cpu_policy, POLICY_USAGE);
	assert_int_equal(ack.memory_policy, POLICY_USAGE);
}

static void each_field_has_a_name(void **state)
{
	(void)state;
	for (unsigned i = 0; i < STRATEGY_FIELDS; i++)
		for (unsigned j = 0; j < i; j++)
			assert_string_not_equal(strategy_field_name((enum strategy_field)i),
				strategy_field_name((enum strategy_field)j));
}

static int check_one(size_t row, int64_t value, struct err *e)
{
	struct strategy_layer l = {.says = SAYS(numbers[row].field)};
	*member(&l.value, numbers[row].at) = value;
	return strategy_check(&l, e);
}

static void each_number_has_its_bounds(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(numbers); i++) {
		struct err e = {""};
		same(numbers[i].name, "least", check_one(i, numbers[i].least, &e), 0);
		same(numbers[i].name, "most", check_one(i, numbers[i].most, &e), 0);
		assert_string_equal(e.text, "");
		same(numbers[i].name, "too little", check_one(i, numbers[i].least - 1, &e),
			ERR_INVALID);
		assert_ptr_equal(strstr(e.text, numbers[i].name), e.text);
		assert_non_null(strstr(e.text, "; write "));
		same(numbers[i].name, "too much", check_one(i, numbers[i].most + 1, &e),
			ERR_INVALID);
		assert_ptr_equal(strstr(e.text, numbers[i].name), e.text);
		same(numbers[i].name, "far too little", check_one(i, INT64_MIN, &e), ERR_INVALID);
		same(numbers[i].name, "far too much", check_one(i, INT64_MAX, &e), ERR_INVALID);
	}
}

static void what_is_wrong_is_said(void **state)
{
	static const struct {
		struct strategy_layer l;
		const char *text; /* NULL: nothing is */
	} rows[] = {
		{{.says = 0, .value.cpu_percent = -1}, NULL},
		{{SAYS(FIELD_CPU_PERCENT), {.cpu_percent = -1}},
			"cpuReclaimThresholdPercent is -1; write 0 or more"},
		{{SAYS(FIELD_CPU_PERCENT), {.cpu_percent = 250}}, NULL},
		{{SAYS(FIELD_REWRITE), {.rewrite_s = INT64_C(1) << 40}},
			"updateTimeThresholdSeconds is 1099511627776; write 1 or more, up to "
			"2147483647"},
		{{SAYS(FIELD_DIFF), {.diff_permille = 0}},
			"resourceDiffThreshold is too small; write a part of one, more than 0 and "
			"at most 1, such as 0.1"},
		{{SAYS(FIELD_EVICT_MEMORY), {.evict_memory = 101}},
			"memoryEvictThresholdPercent is 101; write a number from 0 to 100"},
		{{SAYS(FIELD_NAMES), {.names = 0}},
			"resourceNames names none; write batch, gocran, or both"},
		{{SAYS(FIELD_NAMES), {.names = LEND_BATCH | LEND_GOCRAN}}, NULL},
		{{SAYS(FIELD_CPU_POLICY), {.cpu_policy = POLICY_REQUEST}},
			"cpuCalculatePolicy is request, which there is for memory alone; write "
			"usage or maxUsageRequest"},
		{{SAYS(FIELD_MEMORY_POLICY), {.memory_policy = POLICY_REQUEST}}, NULL},
		{{SAYS(FIELD_PROFILE), {.profile = (enum profile)7}},
			"profile is unknown; write ack or koordinator"},

		/* Two ends that do not fit, where one layer says both. */
		{{SAYS(FIELD_EVICT_MEMORY) | SAYS(FIELD_EVICT_MEMORY_LOWER),
			 {.evict_memory = 70, .evict_memory_lower = 70}},
			"memoryEvictLowerPercent is 70, and memoryEvictThresholdPercent 70; write "
			"a number below that"},
		{{SAYS(FIELD_EVICT_MEMORY_LOWER), {.evict_memory_lower = 90}}, NULL},
		{{SAYS(FIELD_EVICT_CPU_LOWER) | SAYS(FIELD_EVICT_CPU_UPPER),
			 {.evict_cpu_lower = 50, .evict_cpu_upper = 49}},
			"cpuEvictBESatisfactionUpperPercent is 49, and "
			"cpuEvictBESatisfactionLowerPercent 50; write that number or more"},
		{{SAYS(FIELD_EVICT_ALLOCATABLE) | SAYS(FIELD_EVICT_ALLOCATABLE_LOWER),
			 {.evict_allocatable = 110, .evict_allocatable_lower = 111}},
			"allocatableEvictLowerPercent is 111, and allocatableEvictThresholdPercent "
			"110; write that number or less"},
		{{SAYS(FIELD_EVICT_CPU_ALLOCATABLE) | SAYS(FIELD_EVICT_CPU_ALLOCATABLE_LOWER),
			 {.evict_cpu_allocatable = 110, .evict_cpu_allocatable_lower = 111}},
			"cpuAllocatableEvictLowerPercent is 111, and "
			"cpuAllocatableEvictThresholdPercent 110; write that number or less"},
		{{SAYS(FIELD_EVICT_MEMORY) | SAYS(FIELD_HOLD), {.evict_memory = 80, .hold = 80}},
			"memoryHoldPercent is 80, and memoryEvictThresholdPercent 80; write a "
			"number above that, or 0 for never"},
		{{SAYS(FIELD_EVICT_MEMORY) | SAYS(FIELD_HOLD), {.evict_memory = 80, .hold = 0}},
			NULL},
		{{SAYS(FIELD_HOLD) | SAYS(FIELD_END), {.hold = 92, .end = 91}},
			"memoryEndPercent is 91, and memoryHoldPercent 92; write a number above "
			"that, or 0 for never"},
		{{SAYS(FIELD_EVICT_MEMORY) | SAYS(FIELD_END), {.evict_memory = 90, .end = 90}},
			"memoryEndPercent is 90, and memoryEvictThresholdPercent 90; write a "
			"number above that, or 0 for never"},
		{{SAYS(FIELD_SUPPRESS_POLICY), {.suppress_policy = SUPPRESS_CPUSET}}, NULL},
		{{SAYS(FIELD_SUPPRESS_POLICY), {.suppress_policy = (enum suppress_policy)2}},
			"cpuSuppressPolicy is unknown; write cfsQuota"},
		{{SAYS(FIELD_CPU_IDLE), {.cpu_idle = (enum cpu_idle)3}},
			"cpuIdle is unknown; write Never, Auto or Always"},
		{{SAYS(FIELD_SOURCE), {.source = (enum usage_source)4}},
			"usageSource is unknown; write metrics.k8s.io, kubelet, agent or auto"},

		/* Of several the first in the order of the fields. */
		{{SAYS(FIELD_COOL_DOWN) | SAYS(FIELD_DEGRADE) | SAYS(FIELD_INTERVAL),
			 {.cool_down_s = -1, .degrade_min = 0, .interval_s = 0}},
			"metricReportIntervalSeconds is 0; write 1 or more"},
		{{SAYS(FIELD_CPU_POLICY) | SAYS(FIELD_CPU_PERCENT),
			 {.cpu_policy = POLICY_REQUEST, .cpu_percent = -7}},
			"cpuReclaimThresholdPercent is -7; write 0 or more"},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct err e = {""};
		int r = strategy_check(&rows[i].l, &e);
		assert_string_equal(e.text, rows[i].text ? rows[i].text : "");
		assert_int_equal(r, rows[i].text ? ERR_INVALID : 0);
	}
}

/* ---- layers ---------------------------------------------------------------------------------- */

static const char *const gpu[] = {"gpu"}, *const cpu[] = {"cpu"};
static const struct requirement is_gpu[] = {{"pool", SELECTOR_IN, gpu, 1}};
static const struct requirement is_cpu[] = {{"pool", SELECTOR_IN, cpu, 1}};
static const struct requirement has_pool[] = {{"pool", SELECTOR_EXISTS, NULL, 0}};

static const struct label on_gpu[] = {{"pool", "gpu"}}, on_cpu[] = {{"pool", "cpu"}};

#define CPU_PERCENT(n)                                                                             \
	{                                                                                          \
		SAYS(FIELD_CPU_PERCENT),                                                           \
		{                                                                                  \
			.cpu_percent = (n)                                                         \
		}                                                                                  \
	}

static const struct node_strategy entries[] = {
	{"gpus", {is_gpu, 1}, CPU_PERCENT(30), NULL},
	{"all", {has_pool, 1}, {SAYS(FIELD_MEMORY_PERCENT), {.memory_percent = 40}}, NULL},
};
static const struct node_strategy faulty[] = {
	{"no selector", {NULL, 0}, CPU_PERCENT(99), "nodeSelector is empty"},
	{"cpus", {is_cpu, 1}, CPU_PERCENT(-3), "cpuReclaimThresholdPercent is -3"},
	{"all", {has_pool, 1}, CPU_PERCENT(50), NULL},
};
static const struct node_strategy for_all[] = {{"everywhere", {NULL, 0}, CPU_PERCENT(44), NULL}};
static const struct node_strategy upstream[] = {
	{"as upstream", {is_cpu, 1}, {SAYS(FIELD_PROFILE), {.profile = PROFILE_KOORDINATOR}}, NULL},
};

static void which_layer_holds(void **state)
{
	static const struct strategy_layer annotation = {
		SAYS(FIELD_CPU_PERCENT) | SAYS(FIELD_ENABLE), {.cpu_percent = 12, .enable = false}};
	static const struct strategy_layer own_profile = {
		SAYS(FIELD_PROFILE), {.profile = PROFILE_ACK}};
	const struct strategy_layer cluster = {
		SAYS(FIELD_ENABLE) | SAYS(FIELD_CPU_PERCENT), {.enable = true, .cpu_percent = 55}};
	const struct strategy_layer enabled = {SAYS(FIELD_ENABLE), {.enable = true}};
	const struct {
		const char *name;
		struct overcommit_config c;
		const struct label *labels;
		const struct strategy_layer *own;
		bool enable;
		int64_t cpu_percent, memory_percent;
		const char *entry;
	} rows[] = {
		{"nobody says anything", {.nnodes = 0}, on_cpu, NULL, false, 65, 65, NULL},
		{"the cluster", {cluster, NULL, 0}, on_cpu, NULL, true, 55, 65, NULL},
		{"the first entry that selects it", {cluster, entries, 2}, on_gpu, NULL, true, 30,
			65, "gpus"},
		{"and no other", {cluster, entries, 2}, on_cpu, NULL, true, 55, 40, "all"},
		{"none selects it", {cluster, entries, 2}, NULL, NULL, true, 55, 65, NULL},
		{"its own annotation", {cluster, entries, 2}, on_gpu, &annotation, false, 12, 65,
			"gpus"},
		{"a wrong entry says nothing, and holds", {cluster, faulty, 3}, on_cpu, NULL, true,
			55, 65, "cpus"},
		{"one without a selector selects none", {cluster, faulty, 3}, on_gpu, NULL, true,
			50, 65, "all"},
		{"one that is for all nodes", {cluster, for_all, 1}, NULL, NULL, true, 44, 65,
			"everywhere"},
		{"the profile decides what nobody says", {enabled, upstream, 1}, on_cpu, NULL, true,
			60, 65, "as upstream"},
		{"and not what somebody says", {cluster, upstream, 1}, on_cpu, NULL, true, 55, 65,
			"as upstream"},
		{"the last that says a profile", {enabled, upstream, 1}, on_cpu, &own_profile, true,
			65, 65, "as upstream"},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *entry = "untouched";
		struct strategy s = strategy_for(
			&rows[i].c, rows[i].labels, rows[i].labels ? 1 : 0, rows[i].own, &entry);
		same(rows[i].name, "enable", s.enable, rows[i].enable);
		same(rows[i].name, "cpu", s.cpu_percent, rows[i].cpu_percent);
		same(rows[i].name, "memory", s.memory_percent, rows[i].memory_percent);
		if (rows[i].entry)
			assert_string_equal(entry, rows[i].entry);
		else
			assert_null(entry);
	}
}

/* A lower end that is not said goes with the threshold; one of another layer that does not fit,
 * too. */
static void lower_ends_follow(void **state)
{
	const struct {
		const char *name;
		struct strategy_layer cluster, own;
		int64_t memory_lower, cpu_upper, allocatable_lower;
	} rows[] = {
		{"threshold - 2", {SAYS(FIELD_EVICT_MEMORY), {.evict_memory = 80}}, {0}, 78, 80,
			100},
		{"not below 0", {SAYS(FIELD_EVICT_MEMORY), {.evict_memory = 1}}, {0}, 0, 80, 100},
		{"as it is said", {SAYS(FIELD_EVICT_MEMORY_LOWER), {.evict_memory_lower = 50}},
			{SAYS(FIELD_EVICT_MEMORY), {.evict_memory = 90}}, 50, 80, 100},
		{"said for another threshold",
			{SAYS(FIELD_EVICT_MEMORY_LOWER), {.evict_memory_lower = 65}},
			{SAYS(FIELD_EVICT_MEMORY), {.evict_memory = 60}}, 58, 80, 100},
		{"cpu", {SAYS(FIELD_EVICT_CPU_LOWER), {.evict_cpu_lower = 90}}, {0}, 68, 90, 100},
		{"allocatable", {SAYS(FIELD_EVICT_ALLOCATABLE), {.evict_allocatable = 95}}, {0}, 68,
			80, 95},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct overcommit_config c = {.cluster = rows[i].cluster};
		struct strategy s = strategy_for(&c, NULL, 0, &rows[i].own, NULL);
		same(rows[i].name, "memory", s.evict_memory_lower, rows[i].memory_lower);
		same(rows[i].name, "cpu", s.evict_cpu_upper, rows[i].cpu_upper);
		same(rows[i].name, "allocatable", s.evict_allocatable_lower,
			rows[i].allocatable_lower);
	}
}

/* Of both resources where a layer says no more; of one where it does. */
static void pairs_of_allocatable(void **state)
{
	const struct {
		const char *name;
		struct strategy_layer l;
		int64_t cpu, cpu_lower, memory, memory_lower;
	} rows[] = {
		{"both", {SAYS(FIELD_EVICT_ALLOCATABLE), {.evict_allocatable = 95}}, 95, 95, 95,
			95},
		{"cpu alone", {SAYS(FIELD_EVICT_CPU_ALLOCATABLE), {.evict_cpu_allocatable = 130}},
			130, 100, 110, 100},
		{"a lower end of its own",
			{SAYS(FIELD_EVICT_MEMORY_ALLOCATABLE_LOWER),
				{.evict_memory_allocatable_lower = 90}},
			110, 100, 110, 90},
		{"a threshold below the lower end of both",
			{SAYS(FIELD_EVICT_MEMORY_ALLOCATABLE), {.evict_memory_allocatable = 80}},
			110, 100, 80, 80},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct overcommit_config c = {.cluster = rows[i].l};
		struct strategy s = strategy_for(&c, NULL, 0, NULL, NULL);
		same(rows[i].name, "cpu", s.evict_cpu_allocatable, rows[i].cpu);
		same(rows[i].name, "cpu lower", s.evict_cpu_allocatable_lower, rows[i].cpu_lower);
		same(rows[i].name, "memory", s.evict_memory_allocatable, rows[i].memory);
		same(rows[i].name, "memory lower", s.evict_memory_allocatable_lower,
			rows[i].memory_lower);
	}
}

/* Memory is taken back, then held, then pods are ended, also where layers say it apart. */
static void hold_and_end_rise(void **state)
{
	static const struct {
		const char *name;
		uint64_t says;
		int64_t evict, hold, end, is_hold, is_end;
	} rows[] = {
		{"as nobody says", 0, 0, 0, 0, 90, 96},
		{"a high threshold", SAYS(FIELD_EVICT_MEMORY), 95, 0, 0, 96, 97},
		{"a higher one", SAYS(FIELD_EVICT_MEMORY), 98, 0, 0, 99, 100},
		{"no room for either", SAYS(FIELD_EVICT_MEMORY), 100, 0, 0, 0, 0},
		{"room for the end alone", SAYS(FIELD_EVICT_MEMORY), 99, 0, 0, 0, 100},
		{"never held", SAYS(FIELD_HOLD), 0, 0, 0, 0, 96},
		{"never ended", SAYS(FIELD_END), 0, 0, 0, 90, 0},
		{"neither", SAYS(FIELD_HOLD) | SAYS(FIELD_END), 0, 0, 0, 0, 0},
		{"held below the threshold", SAYS(FIELD_HOLD), 0, 50, 0, 71, 96},
		{"held late", SAYS(FIELD_HOLD), 0, 98, 0, 98, 99},
		{"ended early", SAYS(FIELD_END), 0, 0, 60, 90, 91},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct overcommit_config c = {
			.cluster = {rows[i].says, {.evict_memory = rows[i].evict,
							  .hold = rows[i].hold,
							  .end = rows[i].end}}};
		struct strategy s = strategy_for(&c, NULL, 0, NULL, NULL);
		same(rows[i].name, "hold", s.hold, rows[i].is_hold);
		same(rows[i].name, "end", s.end, rows[i].is_end);
	}
}

static void what_is_done_otherwise_is_said(void **state)
{
	(void)state;
	struct strategy s = strategy_default(PROFILE_ACK);
	assert_null(strategy_note(&s));
	s.suppress_policy = SUPPRESS_CPUSET;
	assert_non_null(strstr(strategy_note(&s), "cpuset, and is taken as cfsQuota"));
}

/* Each field that a layer says is taken over, and no other. */
static void a_layer_puts_what_it_says(void **state)
{
	static const struct strategy other = {true, PROFILE_KOORDINATOR, LEND_GOCRAN,
		SOURCE_KUBELET, 1001, 1002, 1003, 1004, 1005, POLICY_MAX_USAGE_REQUEST,
		POLICY_REQUEST, 1006, 1007, 1008, 1009, 1010, 1011, 1012, 1013, false, 1014, 1015,
		1016, 1017, 1018, 1019, 1020, 1021, 1022, 1023, 1024, 1025, 1026, true, true, 1027,
		1028, SUPPRESS_CPUSET, CPU_IDLE_ALWAYS, 1029, 1030};
	(void)state;
	struct strategy all = {0};
	for (unsigned i = 0; i < STRATEGY_FIELDS; i++) {
		struct strategy one = {0};
		if (i == FIELD_RECLAIM)
			one.reclaim = true;
		struct strategy before = one;
		struct strategy_layer l = {SAYS(i), other}, none = {0, other};
		strategy_put(&one, &none);
		assert_memory_equal(&one, &before, sizeof(one));
		strategy_put(&one, &l);
		if (!memcmp(&one, &before, sizeof(one)))
			print_error("%s is not put\n", strategy_field_name((enum strategy_field)i));
		assert_memory_not_equal(&one, &before, sizeof(one));
		strategy_put(&all, &l);
	}
	assert_memory_equal(&all, &other, sizeof(all));
}

static void what_a_ratio_label_means(void **state)
{
	static const struct {
		const char *text;
		int64_t percent;  /* -1: none */
	} rows[] = {{"0.29", 28}, /* 28.999..., cut off */
		{"0.65", 65}, {"0.6", 60}, {"1", 100}, {"1.5", 150}, {"0", 0}, {"0.009", 0},
		{".5", 50}, {"+0.5", 50}, {"5e-1", 50}, {"1e300", INT32_MAX}, {"-0.1", -1},
		{"", -1}, {"half", -1}, {"0.5x", -1}, {"50%", -1}, {"NaN", -1}, {"inf", -1},
		{" 0.5", -1}, {"0,5", -1}, {"1e999", -1}, {"+nan", -1}, {"-inf", -1}, {"-", -1}};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		int64_t percent = 77;
		bool ok = strategy_ratio(rows[i].text, &percent);
		same(rows[i].text, "taken", ok, rows[i].percent >= 0);
		same(rows[i].text, "percent", percent, ok ? rows[i].percent : 77);
	}
	assert_false(strategy_ratio(NULL, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(what_holds_when_nobody_says),
		cmocka_unit_test(each_field_has_a_name),
		cmocka_unit_test(each_number_has_its_bounds),
		cmocka_unit_test(what_is_wrong_is_said), cmocka_unit_test(which_layer_holds),
		cmocka_unit_test(lower_ends_follow), cmocka_unit_test(pairs_of_allocatable),
		cmocka_unit_test(hold_and_end_rise),
		cmocka_unit_test(what_is_done_otherwise_is_said),
		cmocka_unit_test(a_layer_puts_what_it_says),
		cmocka_unit_test(what_a_ratio_label_means)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
