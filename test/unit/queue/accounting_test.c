/* The account of one pod: a table of templates, LimitRanges, RuntimeClasses and transformations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "queue/requests/accounting.h"

#define LIST(...)                                                                                  \
	{                                                                                          \
		(const struct resource[]){__VA_ARGS__},                                            \
			sizeof((const struct resource[]){__VA_ARGS__}) / sizeof(struct resource)   \
	}
#define CPU(n)                                                                                     \
	{                                                                                          \
		"cpu", n                                                                           \
	}
#define GPU(n)                                                                                     \
	{                                                                                          \
		"gpu", n                                                                           \
	}

struct world {
	struct accounting facts;
	struct queue_config config;
	struct account account;
	char said[600];
};

static struct world *world_new(void)
{
	struct world *w = calloc(1, sizeof(*w));
	accounting_init(&w->facts);
	return w;
}

static void world_free(struct world *w)
{
	accounting_done(&w->facts);
	free(w);
}

/* The account in words: "cpu=100 gpu=2", or its fault. */
static const char *account_of(struct world *w, const struct pod_resources *pod)
{
	struct job j = {.ns = "team-a", .name = "j", .pod = *pod};
	account_open(&w->account, &w->facts, &w->config, &j);
	w->said[0] = '\0';
	for (size_t i = 0; i < w->account.requests.count; i++) {
		const struct resource *r = &w->account.requests.item[i];
		size_t n = strlen(w->said);
		snprintf(w->said + n, sizeof(w->said) - n, "%s%s=%lld", i ? " " : "", r->name,
			(long long)r->amount);
	}
	if (*w->account.fault)
		snprintf(w->said, sizeof(w->said), "%s", w->account.fault);
	account_done(&w->account);
	return w->said;
}

static const struct container empty_one = {.sidecar = false};
static const struct container plain = {.requests = LIST(CPU(100))};
static const struct pod_resources one_plain = {.containers = &plain, .ncontainers = 1};

static void limits_stand_in_for_requests(void **state)
{
	(void)state;
	const struct container c[] = {
		{.requests = LIST(CPU(100)), .limits = LIST(CPU(900), {"memory", 7})},
		{.limits = LIST(GPU(2))}};
	const struct container init = {.limits = LIST({"memory", 50})};
	const struct pod_resources pod = {c, 2, &init, 1, .runtime_class = ""};
	const struct pod_resources level = {
		c, 2, &init, 1, .pod_level_limits = LIST(CPU(5000), {"hugepages-2Mi", 8})};
	const struct pod_resources level_only = {c + 1, 1, .pod_level_limits = LIST(CPU(5000))};
	struct world *w = world_new();
	assert_string_equal(account_of(w, &pod), "cpu=100 gpu=2 memory=50");
	/* ... of the pod itself only where no container asks, but for huge pages */
	assert_string_equal(account_of(w, &level), "cpu=100 gpu=2 hugepages-2Mi=8 memory=50");
	assert_string_equal(account_of(w, &level_only), "cpu=5000 gpu=2");
	world_free(w);
}

static void runtime_class_adds_its_overhead(void **state)
{
	(void)state;
	struct world *w = world_new();
	const struct runtime_class_spec vm = {"vm", LIST(CPU(10))}, more = {"vm", LIST(CPU(20))};
	struct pod_resources pod = one_plain;
	pod.runtime_class = "vm";
	assert_string_equal(account_of(w, &pod),
		"RuntimeClass vm does not exist; create it or correct "
		"spec.template.spec.runtimeClassName");
	assert_true(accounting_set_runtime_class(&w->facts, &vm));
	assert_false(accounting_set_runtime_class(&w->facts, &vm));
	assert_string_equal(account_of(w, &pod), "cpu=110");
	assert_true(accounting_set_runtime_class(&w->facts, &more));
	assert_string_equal(account_of(w, &pod), "cpu=120");
	/* one of its own must be the class's, else no pod of it is created */
	pod.overhead = (struct resource_list)LIST(CPU(20));
	assert_string_equal(account_of(w, &pod), "cpu=120");
	pod.overhead = (struct resource_list)LIST(CPU(1));
	assert_string_equal(account_of(w, &pod),
		"spec.template.spec.overhead is not that of RuntimeClass vm, so the API server would refuse its pods; remove it: the class's own is added");
	pod.runtime_class = "";
	assert_string_equal(account_of(w, &pod),
		"spec.template.spec.overhead is set without a runtimeClassName, so the API server would refuse its pods; remove it, or name the RuntimeClass that has it");
	assert_true(accounting_unset_runtime_class(&w->facts, "vm"));
	assert_false(accounting_unset_runtime_class(&w->facts, "vm"));
	world_free(w);
}

static void set_range(struct world *w, const char *name, const struct limit_range_item *item)
{
	struct limit_range_spec s = {"team-a", name, item, 1};
	assert_true(limit_range_set(&w->facts.limit_ranges, &s));
	assert_false(limit_range_set(&w->facts.limit_ranges, &s));
}

static void limit_ranges_fill_in(void **state)
{
	(void)state;
	const struct limit_range_item a = {
		.defaults = LIST({"memory", 64}), .default_requests = LIST(GPU(1), {"disk", 5})};
	const struct limit_range_item b = {.default_requests = LIST(CPU(7), GPU(9))};
	const struct limit_range_item p = {
		.is_pod = true, .default_requests = LIST({"memory", 500})};
	const struct container empty[2] = {{.sidecar = false}};
	const struct pod_resources two = {empty, 2, empty, 1};
	const struct pod_resources level = {empty, 2, .pod_level = LIST(CPU(3))};
	struct world *w = world_new();
	set_range(w, "b", &b);
	assert_string_equal(account_of(w, &two), "cpu=14 gpu=18");
	set_range(w, "a", &a); /* the first by name, whenever it came */
	assert_string_equal(account_of(w, &two), "cpu=14 disk=10 gpu=2 memory=128");
	assert_string_equal(account_of(w, &one_plain), "cpu=100 disk=5 gpu=1 memory=64");
	set_range(w, "p", &p); /* of a pod: only where the pod itself has resources */
	assert_string_equal(account_of(w, &two), "cpu=14 disk=10 gpu=2 memory=128");
	assert_string_equal(account_of(w, &level), "cpu=3 disk=10 gpu=2 memory=500");
	assert_true(limit_range_unset(&w->facts.limit_ranges, "team-a", "a"));
	assert_false(limit_range_unset(&w->facts.limit_ranges, "team-a", "a"));
	assert_false(limit_range_unset(&w->facts.limit_ranges, "team-b", "b"));
	assert_string_equal(account_of(w, &two), "cpu=14 gpu=18");
	limit_range_unset(&w->facts.limit_ranges, "team-a", "p");
	limit_range_unset(&w->facts.limit_ranges, "team-a", "b");
	assert_null(limit_ranges_of(&w->facts.limit_ranges, "team-a"));
	assert_string_equal(account_of(w, &two), "");
	world_free(w);
}

static void faults_name_field_and_cure(void **state)
{
	(void)state;
	const struct container over = {.requests = LIST(CPU(2000)), .limits = LIST(CPU(1000))};
	const struct pod_resources pod = {&over, 1};
	const struct limit_range_item lax = {.max = LIST(CPU(9000)), .min = LIST(CPU(1))};
	const struct limit_range_item tight = {.max = LIST(CPU(1500)), .min = LIST(CPU(50))};
	const struct limit_range_item pods = {
		.is_pod = true, .max = LIST(CPU(2500)), .min = LIST({"memory", 10})};
	const struct container big = {.requests = LIST(CPU(1501))},
			       small = {.requests = LIST(CPU(49))},
			       fair[] = {{.requests = LIST(CPU(1500))},
				       {.requests = LIST(CPU(1001))},
				       {.requests = LIST(CPU(1000), {"memory", 9})}};
	const struct pod_resources a = {&fair[0], 1, &big, 1}, b = {&small, 1}, c = {fair, 2},
				   d = {&fair[2], 1}, f = {&plain, 1, &big, 1},
				   g = {&plain, 1, .pod_level = LIST(CPU(3000))};
	const struct limit_range_item given = {.defaults = LIST(CPU(1000))};
	const struct limit_range_item given_pods = {.is_pod = true, .defaults = LIST(CPU(2000))};
	struct world *w = world_new();
	assert_string_equal(account_of(w, &pod),
		"resources validation failed: spec.template.spec.containers[0].resources.requests "
		"asks for 2 cpu, more than its limit of 1; requests must not exceed its limits: "
		"lower the request or raise the limit");
	/* A limit that a LimitRange gives is not the pod's own. */
	set_range(w, "given", &given);
	set_range(w, "of-pods", &given_pods);
	assert_string_equal(account_of(w, &f),
		"resources validation failed: "
		"spec.template.spec.initContainers[0].resources.requests asks for 1501m cpu, more "
		"than the limit of 1 that LimitRange team-a/given gives it, as it has none of its "
		"own; lower the request, set a limit or change the LimitRange");
	assert_string_equal(account_of(w, &g),
		"resources validation failed: spec.template.spec.resources.requests asks for 3 "
		"cpu, more than the limit of 2 that LimitRange team-a/of-pods gives it, as it has "
		"none of its own; lower the request, set a limit or change the LimitRange");
	assert_non_null(strstr(account_of(w, &pod), "more than its limit of 1;"));
	limit_range_unset(&w->facts.limit_ranges, "team-a", "given");
	limit_range_unset(&w->facts.limit_ranges, "team-a", "of-pods");
	set_range(w, "tight", &tight);
	set_range(w, "lax", &lax);
	assert_string_equal(account_of(w, &a),
		"resources didn't satisfy LimitRange constraints: "
		"spec.template.spec.initContainers[0] has 1501m cpu, above the max of 1500m in "
		"LimitRange team-a/tight; ask for less or change the LimitRange");
	assert_string_equal(account_of(w, &b),
		"resources didn't satisfy LimitRange constraints: "
		"spec.template.spec.containers[0] has 49m cpu, below the min of 50m in LimitRange "
		"team-a/tight; ask for more or change the LimitRange");
	set_range(w, "pods", &pods);
	assert_string_equal(account_of(w, &c),
		"resources didn't satisfy LimitRange constraints: spec.template.spec has 2501m "
		"cpu, "
		"above the max of 2500m in LimitRange team-a/pods; ask for less or change the "
		"LimitRange");
	assert_string_equal(account_of(w, &d),
		"resources didn't satisfy LimitRange constraints: spec.template.spec has 9 memory, "
		"below the min of 10 in LimitRange team-a/pods; ask for more or change the "
		"LimitRange");
	world_free(w);
}

/* A LimitRange of pods refuses what it bounds and a pod does not name (LimitRanger, minConstraint and
 * maxConstraint); one of containers gives them what it bounds. */
static void a_pod_must_name_what_is_bounded(void **state)
{
	(void)state;
	const struct limit_range_item min = {.is_pod = true, .min = LIST(CPU(500))};
	const struct limit_range_item max = {.is_pod = true, .max = LIST({"memory", 90})};
	const struct container asks = {.requests = LIST(CPU(600))},
			       limited = {.limits = LIST(CPU(600), {"memory", 50})},
			       with_limit = {
				       .requests = LIST(CPU(600)), .limits = LIST({"memory", 50})};
	const struct pod_resources silent = {&empty_one, 1, .pod_level = LIST({"memory", 1})},
				   by_limit = {&limited, 1}, by_request = {&asks, 1},
				   by_init = {&plain, 1, &with_limit, 1},
				   whole = {&empty_one, 1, .pod_level = LIST(CPU(700))};
	struct world *w = world_new();
	set_range(w, "min", &min);
	assert_string_equal(account_of(w, &by_limit), "cpu=600 memory=50");
	assert_string_equal(account_of(w, &by_request), "cpu=600");
	assert_string_equal(account_of(w, &whole), "cpu=700");
	assert_string_equal(account_of(w, &silent),
		"resources didn't satisfy LimitRange constraints: spec.template.spec has no request "
		"for cpu, and LimitRange team-a/min has a min of 500m for pods; set a request or "
		"change the LimitRange");
	limit_range_unset(&w->facts.limit_ranges, "team-a", "min");
	assert_string_equal(account_of(w, &silent), "memory=1");
	set_range(w, "max", &max);
	assert_string_equal(account_of(w, &by_limit), "cpu=600 memory=50");
	assert_string_equal(account_of(w, &by_init), "cpu=600 memory=50");
	assert_string_equal(account_of(w, &silent),
		"resources didn't satisfy LimitRange constraints: spec.template.spec has no limit "
		"for memory, and LimitRange team-a/max has a max of 90 for pods; set a limit or "
		"change the LimitRange");
	assert_non_null(strstr(account_of(w, &by_request), "has no limit for memory"));
	world_free(w);
}

/* LimitRanger sums up requests and limits, each by itself, without the overhead. */
static void the_limits_of_a_pod_have_bounds_too(void **state)
{
	(void)state;
	const struct limit_range_item pods = {
		.is_pod = true, .max = LIST(CPU(50000)), .min = LIST({"memory", 100})};
	const struct container burst = {.requests = LIST(CPU(2000), {"memory", 100}),
				       .limits = LIST(CPU(99000), {"memory", 100})},
			       half = {.requests = LIST(CPU(2000), {"memory", 100}),
				       .limits = LIST(CPU(25001))},
			       fits = {.requests = LIST(CPU(50000), {"memory", 100}),
				       .limits = LIST(CPU(50000))},
			       low = {.requests = LIST(CPU(1)), .limits = LIST({"memory", 99})};
	const struct container halves[] = {half, half}, mixed[] = {half, low};
	const struct pod_resources one = {&burst, 1}, two = {halves, 2}, one_half = {&half, 1},
				   init = {&half, 1, &burst, 1}, small = {mixed, 2},
				   whole = {&fits, 1, .runtime_class = "vm"},
				   level = {&half, 1, .pod_level_limits = LIST(CPU(60000))},
				   asked = {&half, 1, .pod_level = LIST(CPU(50000))};
	const struct runtime_class_spec vm = {"vm", LIST(CPU(10), {"memory", 10})};
	const char *above =
		"resources didn't satisfy LimitRange constraints: spec.template.spec has a "
		"limit of 99 cpu, above the max of 50 in LimitRange team-a/pods; lower the "
		"limit or change the LimitRange";
	struct world *w = world_new();
	set_range(w, "pods", &pods);
	assert_true(accounting_set_runtime_class(&w->facts, &vm));
	assert_string_equal(account_of(w, &one), above);
	assert_string_equal(account_of(w, &init), above);
	assert_non_null(strstr(account_of(w, &two), "has a limit of 50002m cpu, above"));
	assert_non_null(strstr(account_of(w, &level), "has a limit of 60 cpu, above"));
	assert_non_null(strstr(account_of(w, &small),
		"has a limit of 99 memory, below the min of 100 in LimitRange team-a/pods; raise "
		"the limit or"));
	assert_string_equal(account_of(w, &one_half), "cpu=2000 memory=100");
	assert_string_equal(account_of(w, &asked), "cpu=50000 memory=100");
	assert_string_equal(account_of(w, &whole), "cpu=50010 memory=110");
	world_free(w);
}

static void prefixes_and_transformations(void **state)
{
	(void)state;
	static const char *const prefix[] = {"example.com/"};
	static const struct resource slice[] = {{"credits", 2500}, {"cpu", -500}};
	static const struct resource half[] = {{"credits", -1500}}, unit[] = {{"share", 1000}};
	static const struct transformation_spec t[] = {{"slice", true, "", slice, 2},
		{"gpu", false, "", half, 1}, {"cores", true, "memory", unit, 1},
		{"noise", true, "", NULL, 0}};
	const struct {
		const char *name, *expected;
		struct container asks;
	} cases[] = {
		{"excluded", "cpu=1", {.requests = LIST(CPU(1), {"example.com/nic", 4})}},
		{"replaced, rounded up, nothing taken off", "cpu=100 credits=3",
			{.requests = LIST(CPU(100), {"slice", 1})}},
		{"outputs of several inputs are one sum", "cpu=0 credits=1 gpu=1",
			{.requests = LIST({"slice", 1}, GPU(1))}},
		{"a negative sum is zero", "credits=0 gpu=3", {.requests = LIST(GPU(3))}},
		{"multiplied", "memory=6 share=12",
			{.requests = LIST({"cores", 2}, {"memory", 6})}},
		{"multiplied by what is not asked for",
			"cores counts times memory in quotas (--transformation), and the pod "
			"requests none: add memory to its requests",
			{.requests = LIST({"cores", 2})}},
		{"multiplied by nothing", "memory=0 share=0",
			{.requests = LIST({"cores", 2}, {"memory", 0})}},
		{"replaced by nothing", "", {.requests = LIST({"noise", 2})}},
		{"added to what was asked for", "cpu=0 credits=8",
			{.requests = LIST({"slice", 1}, {"credits", 5})}},
		{"too much stops at the end of what can be counted",
			"cpu=0 credits=9223372036854775807",
			{.requests = LIST({"slice", INT64_MAX})}},
	};
	struct world *w = world_new();
	w->config.excluded_prefixes = prefix;
	w->config.nexcluded_prefixes = 1;
	w->config.transformation = t;
	w->config.ntransformations = 4;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pod_resources pod = {&cases[i].asks, 1};
		if (strcmp(account_of(w, &pod), cases[i].expected) != 0)
			fail_msg("%s: %s, not %s", cases[i].name, w->said, cases[i].expected);
	}
	world_free(w);
}

static void many_requests(void **state)
{
	(void)state;
	enum { N = 500 };
	static char name[N][16];
	static struct resource all[N];
	for (size_t i = 0; i < N; i++) {
		snprintf(name[i], sizeof(name[i]), "r%03zu", i);
		all[i] = (struct resource){name[i], 1};
	}
	struct container c = {.requests = {all, N}};
	struct job j = {.ns = "n", .pod = {.containers = &c, .ncontainers = 1}};
	struct world *w = world_new();
	account_open(&w->account, &w->facts, &w->config, &j);
	assert_int_equal(w->account.requests.count, N);
	assert_string_equal(w->account.requests.item[N - 1].name, "r499");
	account_done(&w->account);
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(limits_stand_in_for_requests),
		cmocka_unit_test(runtime_class_adds_its_overhead),
		cmocka_unit_test(limit_ranges_fill_in),
		cmocka_unit_test(faults_name_field_and_cure),
		cmocka_unit_test(a_pod_must_name_what_is_bounded),
		cmocka_unit_test(the_limits_of_a_pod_have_bounds_too),
		cmocka_unit_test(prefixes_and_transformations),
		cmocka_unit_test(many_requests),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
