/* ResourceQuotas, rule by rule. The same questions, drawn at random, are put to a real API server
 * by test/e2e/test_resource_quota.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "queue/cluster/resource_quota.h"

#define GIB (INT64_C(1) << 30)
#define COUNT(a) (sizeof(a) / sizeof(*(a)))
#define LIST(...)                                                                                  \
	{                                                                                          \
		(const struct resource[]){__VA_ARGS__},                                            \
			sizeof((const struct resource[]){__VA_ARGS__}) / sizeof(struct resource)   \
	}

/* ---- scopes ---------------------------------------------------------------------------------- */

static const char *const high[] = {"high"}, *const high_low[] = {"high", "low"};

/* A pod, as scopes see it. */
struct seen {
	const char *class;
	bool asks, deadline, crosses;
};

static const struct scope_row {
	const char *rule;
	struct quota_scope_term term;
	struct seen pod;
	bool counts;
} scope_rows[] = {
	{"Terminating: with a deadline", {SCOPE_TERMINATING, SELECTOR_EXISTS},
		{"", .deadline = true}, true},
	{"Terminating: without", {SCOPE_TERMINATING, SELECTOR_EXISTS}, {""}, false},
	{"NotTerminating: with a deadline", {SCOPE_NOT_TERMINATING, SELECTOR_EXISTS},
		{"", .deadline = true}, false},
	{"NotTerminating: without", {SCOPE_NOT_TERMINATING, SELECTOR_EXISTS}, {""}, true},
	{"BestEffort: asks for nothing", {SCOPE_BEST_EFFORT, SELECTOR_EXISTS}, {""}, true},
	{"BestEffort: asks for cpu", {SCOPE_BEST_EFFORT, SELECTOR_EXISTS}, {"", .asks = true},
		false},
	{"NotBestEffort: asks for nothing", {SCOPE_NOT_BEST_EFFORT, SELECTOR_EXISTS}, {""}, false},
	{"NotBestEffort: asks for cpu", {SCOPE_NOT_BEST_EFFORT, SELECTOR_EXISTS},
		{"", .asks = true}, true},
	{"CrossNamespacePodAffinity: it does",
		{SCOPE_CROSS_NAMESPACE_POD_AFFINITY, SELECTOR_EXISTS}, {"", .crosses = true}, true},
	{"CrossNamespacePodAffinity: it does not",
		{SCOPE_CROSS_NAMESPACE_POD_AFFINITY, SELECTOR_EXISTS}, {""}, false},
	{"PriorityClass Exists: any", {SCOPE_PRIORITY_CLASS, SELECTOR_EXISTS}, {"low"}, true},
	{"PriorityClass Exists: none", {SCOPE_PRIORITY_CLASS, SELECTOR_EXISTS}, {""}, false},
	{"PriorityClass DoesNotExist: any", {SCOPE_PRIORITY_CLASS, SELECTOR_DOES_NOT_EXIST},
		{"low"}, false},
	{"PriorityClass DoesNotExist: none", {SCOPE_PRIORITY_CLASS, SELECTOR_DOES_NOT_EXIST}, {""},
		true},
	{"PriorityClass In: it is", {SCOPE_PRIORITY_CLASS, SELECTOR_IN, high, 1}, {"high"}, true},
	{"PriorityClass In: another", {SCOPE_PRIORITY_CLASS, SELECTOR_IN, high, 1}, {"low"}, false},
	{"PriorityClass In: one of several", {SCOPE_PRIORITY_CLASS, SELECTOR_IN, high_low, 2},
		{"low"}, true},
	{"PriorityClass In: none", {SCOPE_PRIORITY_CLASS, SELECTOR_IN, high, 1}, {""}, false},
	{"PriorityClass NotIn: it is", {SCOPE_PRIORITY_CLASS, SELECTOR_NOT_IN, high, 1}, {"high"},
		false},
	{"PriorityClass NotIn: another", {SCOPE_PRIORITY_CLASS, SELECTOR_NOT_IN, high, 1}, {"low"},
		true},
	{"PriorityClass NotIn: none", {SCOPE_PRIORITY_CLASS, SELECTOR_NOT_IN, high, 1}, {""}, true},
	{"a scope of other objects", {SCOPE_OTHER, SELECTOR_EXISTS}, {"high", true, true, true},
		false},
};

static struct pod pod_seen(const struct seen *s, struct container *c)
{
	static const struct resource cpu = {"cpu", 1000};
	*c = (struct container){.name = "main"};
	if (s->asks)
		c->requests = (struct resource_list){&cpu, 1};
	return (struct pod){.ns = "team",
		.priority_class = s->class,
		.terminating = s->deadline,
		.crosses_namespaces = s->crosses,
		.resources = {.containers = c, .ncontainers = 1}};
}

static void every_scope_and_operator(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(scope_rows); i++) {
		const struct scope_row *r = &scope_rows[i];
		struct container c;
		struct pod p = pod_seen(&r->pod, &c);
		struct resource_quota q = {
			.name = "q", .hard = LIST({"pods", 1}), .scopes = &r->term, .nscopes = 1};
		if (resource_quota_counts(&q, &p) != r->counts)
			fail_msg("%s", r->rule);
	}
}

/* To an API server before 1.37 it is BestEffort, to later ones what its containers make it: it counts
 * for both, so that no quota refuses what we let in. */
static void empty_pod_level_resources_are_of_both_scopes(void **state)
{
	static const struct quota_scope_term best = {SCOPE_BEST_EFFORT, SELECTOR_EXISTS},
					     other = {SCOPE_NOT_BEST_EFFORT, SELECTOR_EXISTS};
	struct resource_quota of_best = {.hard = LIST({"pods", 1}), .scopes = &best, .nscopes = 1},
			      of_others = {
				      .hard = LIST({"pods", 1}), .scopes = &other, .nscopes = 1};
	struct container c;
	struct pod p = pod_seen(&(struct seen){"", .asks = true}, &c);
	(void)state;
	p.resources.has_pod_level = true;
	assert_true(resource_quota_counts(&of_best, &p));
	assert_true(resource_quota_counts(&of_others, &p));
	p.resources.pod_level = (struct resource_list)LIST({"memory", 0}); /* nothing, too */
	assert_true(resource_quota_counts(&of_best, &p));
	assert_true(resource_quota_counts(&of_others, &p));
	p.resources.pod_level = (struct resource_list){NULL, 0};
	c.requests.count = 0; /* no API server sees anything else in it */
	assert_true(resource_quota_counts(&of_best, &p));
	assert_false(resource_quota_counts(&of_others, &p));
}

static void all_scopes_must_match(void **state)
{
	static const struct quota_scope_term both[] = {
		{SCOPE_TERMINATING, SELECTOR_EXISTS}, {SCOPE_PRIORITY_CLASS, SELECTOR_IN, high, 1}};
	struct container c;
	struct pod p = pod_seen(&(struct seen){"high", .deadline = true}, &c);
	struct resource_quota q = {.hard = LIST({"pods", 1}), .scopes = both, .nscopes = 2};
	(void)state;
	assert_true(resource_quota_counts(&q, &p));
	p.terminating = false;
	assert_false(resource_quota_counts(&q, &p));
	p.terminating = true;
	p.priority_class = "";
	assert_false(resource_quota_counts(&q, &p));
	q.nscopes = 0; /* without any, all pods */
	assert_true(resource_quota_counts(&q, &p));
}

static void a_quota_of_other_things_counts_no_pod(void **state)
{
	struct container c;
	struct pod p = pod_seen(&(struct seen){""}, &c);
	struct resource_quota q = {.hard = LIST({"services", 0}, {"count/jobs.batch", 0},
					   {"requests.storage", 0}, {"nvidia.com/gpu", 0})};
	(void)state;
	assert_false(resource_quota_counts(&q, &p));
	q.hard =
		(struct resource_list){NULL, 0}; /* the quota controller has not looked at it yet */
	assert_false(resource_quota_counts(&q, &p));
}

/* ---- names ----------------------------------------------------------------------------------- */

enum { NOT_COUNTED = -1 };

/* Of a pod that asks for some of all. */
static const struct name_row {
	const char *name;
	int64_t amount;
} name_rows[] = {
	{"pods", 1},
	{"count/pods", 1},
	{"cpu", 1500},
	{"requests.cpu", 1500},
	{"limits.cpu", 2000},
	{"memory", GIB},
	{"requests.memory", GIB},
	{"limits.memory", 2 * GIB},
	{"ephemeral-storage", 7},
	{"requests.ephemeral-storage", 7},
	{"limits.ephemeral-storage", 8},
	{"hugepages-2Mi", 4 << 20},
	{"requests.hugepages-2Mi", 4 << 20},
	{"hugepages-1Gi", NOT_COUNTED},
	{"limits.hugepages-2Mi", NOT_COUNTED},
	{"requests.nvidia.com/gpu", 2},
	{"nvidia.com/gpu", NOT_COUNTED},
	{"limits.nvidia.com/gpu", NOT_COUNTED},
	{"requests.example.com/fpga", NOT_COUNTED}, /* not asked for */
	{"requests.kubernetes.io/batch-cpu", NOT_COUNTED},
	{"requests.deviceclass.resource.kubernetes.io/gpu", 3},
	{"requests.storage", NOT_COUNTED},
	{"count/jobs.batch", NOT_COUNTED},
	{"services", NOT_COUNTED},
	{"", NOT_COUNTED},
};

static const struct container of_all = {.name = "main",
	.requests = LIST({"cpu", 1500}, {"memory", GIB}, {"ephemeral-storage", 7},
		{"hugepages-2Mi", 4 << 20}, {"nvidia.com/gpu", 2}, {"kubernetes.io/batch-cpu", 9},
		{"deviceclass.resource.kubernetes.io/gpu", 3}),
	.limits = LIST({"cpu", 2000}, {"memory", 2 * GIB}, {"ephemeral-storage", 8},
		{"hugepages-2Mi", 4 << 20}, {"nvidia.com/gpu", 2})};

static void every_name(void **state)
{
	struct pod p = {
		.ns = "team", .priority_class = "", .resources = {.containers = &of_all, 1}};
	(void)state;
	for (size_t i = 0; i < COUNT(name_rows); i++) {
		int64_t amount = NOT_COUNTED;
		bool counts = resource_quota_usage(&p, name_rows[i].name, &amount);
		if (amount != name_rows[i].amount || counts != (amount != NOT_COUNTED))
			fail_msg("%s: %lld", name_rows[i].name, (long long)amount);
	}
	assert_int_equal(quota_unit_of("cpu"), QUANTITY_MILLI);
	assert_int_equal(quota_unit_of("requests.cpu"), QUANTITY_MILLI);
	assert_int_equal(quota_unit_of("limits.cpu"), QUANTITY_MILLI);
	assert_int_equal(quota_unit_of("limits.memory"), QUANTITY_WHOLE);
	assert_int_equal(quota_unit_of("requests.example.com/cpu"), QUANTITY_WHOLE);
}

static void a_pod_is_the_larger_of_init_and_containers_with_overhead(void **state)
{
	const struct container c[] = {
		{.requests = LIST({"cpu", 100}), .limits = LIST({"cpu", 200})},
		{.requests = LIST({"cpu", 300})}};
	const struct container init[] = {{.requests = LIST({"cpu", 50}), .sidecar = true},
		{.requests = LIST({"cpu", 700}), .limits = LIST({"cpu", 900})}};
	struct pod p = {.priority_class = "",
		.resources = {.containers = c,
			.ncontainers = 2,
			.init_containers = init,
			.ninit_containers = 2,
			.overhead = LIST({"cpu", 10}, {"memory", 5})}};
	int64_t n;
	(void)state;
	assert_true(resource_quota_usage(&p, "cpu", &n));
	assert_int_equal(n, 50 + 700 + 10);
	assert_true(resource_quota_usage(&p, "limits.cpu", &n));
	assert_int_equal(n, 900 + 10);
	assert_true(resource_quota_usage(&p, "memory", &n)); /* of the overhead alone */
	assert_int_equal(n, 5);
	assert_false(resource_quota_usage(&p, "limits.memory", &n));
	p.resources.pod_level = (struct resource_list)LIST({"cpu", 2000});
	p.resources.has_pod_level = true;
	assert_true(resource_quota_usage(&p, "requests.cpu", &n));
	assert_int_equal(n, 2010);
	assert_true(resource_quota_usage(&p, "limits.cpu", &n));
	assert_int_equal(n, 910); /* not each container has a limit, so none is filled in */
}

/* Kubernetes 1.37: where each container has a limit, the pod gets their sum as its own, but no less
 * than its request. */
static void a_pod_level_limit_is_filled_in(void **state)
{
	const struct container c[] = {{.limits = LIST({"cpu", 200}, {"ephemeral-storage", 3})},
		{.requests = LIST({"cpu", 300}), .limits = LIST({"cpu", 400})}};
	const struct container init = {.limits = LIST({"cpu", 900})};
	struct pod p = {.priority_class = "",
		.resources = {.containers = c,
			.ncontainers = 2,
			.init_containers = &init,
			.ninit_containers = 1,
			.overhead = LIST({"cpu", 10}),
			.pod_level = LIST({"cpu", 2000}, {"memory", 5}),
			.has_pod_level = true}};
	int64_t n;
	(void)state;
	assert_true(resource_quota_usage(&p, "limits.cpu", &n));
	assert_int_equal(n, 2010);
	assert_false(resource_quota_usage(&p, "limits.memory", &n)); /* no container has one */
	p.resources.pod_level = (struct resource_list)LIST({"cpu", 800});
	resource_quota_usage(&p, "limits.cpu", &n);
	assert_int_equal(n, 910);
	p.resources.pod_level = (struct resource_list)LIST({"cpu", 2000});
	p.resources.pod_level_limits = (struct resource_list)LIST({"cpu", 2500});
	resource_quota_usage(&p, "limits.cpu", &n);
	assert_int_equal(n, 2510);
}

/* ---- sentences ------------------------------------------------------------------------------- */

static const struct container bare = {.name = "main"},
			      half = {.name = "proxy", .requests = LIST({"cpu", 100})},
			      limited = {.name = "main",
				      .limits =
					      LIST({"cpu", 500}, {"memory", GIB, QUANTITY_BINARY})};
static const struct container three[] = {
	{.name = "web"}, {.name = "app"}, {.name = "proxy", .requests = LIST({"cpu", 100})}};
#define USED_NOTHING                                                                               \
	LIST({"pods", 0}, {"count/pods", 0}, {"cpu", 0}, {"requests.cpu", 0}, {"limits.cpu", 0},   \
		{"memory", 0}, {"limits.memory", 0}, {"ephemeral-storage", 0},                     \
		{"requests.nvidia.com/gpu", 0})

static const struct said_row {
	const char *rule;
	struct pod_resources pod;
	struct resource_list hard, used;
	const char *sentence; /* "": it may be made */
} said_rows[] = {
	{"room for one", {.containers = &limited, 1}, LIST({"pods", 1}), LIST({"pods", 0}), ""},
	{"and none", {.containers = &limited, 1}, LIST({"pods", 1}), LIST({"pods", 1}),
		"exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1"},
	{"just enough", {.containers = &half, 1}, LIST({"cpu", 100}), LIST({"cpu", 0}), ""},
	{"amounts as they are written", {.containers = &limited, 1},
		LIST({"cpu", 1000000}, {"memory", 3 * GIB / 2, QUANTITY_BINARY}),
		LIST({"cpu", 999750}, {"memory", GIB, QUANTITY_BINARY}),
		"exceeded quota: q, requested: cpu=500m,memory=1Gi, used: cpu=999750m,memory=1Gi, "
		"limited: cpu=1k,memory=1536Mi"},
	{"only what is exceeded, by name", {.containers = &limited, 1},
		LIST({"limits.cpu", 100}, {"pods", 9}, {"cpu", 100}), USED_NOTHING,
		"exceeded quota: q, requested: cpu=500m,limits.cpu=500m, used: cpu=0,limits.cpu=0, "
		"limited: cpu=100m,limits.cpu=100m"},
	{"what is not asked for may be over", {.containers = &half, 1},
		LIST({"cpu", 100}, {"requests.nvidia.com/gpu", 1}),
		LIST({"cpu", 0}, {"requests.nvidia.com/gpu", 5}), ""},
	{"who says nothing of memory", {.containers = &half, 1}, LIST({"memory", GIB}),
		USED_NOTHING, "failed quota: q: must specify memory for: proxy"},
	{"who says nothing at all", {.containers = &bare, 1},
		LIST({"limits.memory", GIB}, {"requests.cpu", 100}, {"pods", 5}), USED_NOTHING,
		"failed quota: q: must specify limits.memory for: main; requests.cpu for: main"},
	{"all containers, by name, each once",
		{.containers = three,
			.ncontainers = 3,
			.init_containers = (const struct container[]){{.name = "init"}},
			.ninit_containers = 1},
		LIST({"cpu", GIB}, {"limits.cpu", 1}), USED_NOTHING,
		"failed quota: q: must specify cpu for: app,init,web; limits.cpu for: "
		"app,init,proxy,web"},
	{"a limit says it too", {.containers = &limited, 1},
		LIST({"cpu", 500}, {"requests.cpu", 500}, {"limits.memory", GIB}), USED_NOTHING,
		""},
	{"other resources need not be said", {.containers = &bare, 1},
		LIST({"ephemeral-storage", 0}, {"requests.nvidia.com/gpu", 0}), USED_NOTHING, ""},
	{"a pod with resources of its own need not say it for each",
		{.containers = &bare,
			.ncontainers = 1,
			.pod_level = LIST({"memory", GIB}),
			.has_pod_level = true},
		LIST({"cpu", 100}, {"limits.cpu", 100}), USED_NOTHING, ""},
	{"but an empty spec.resources is none",
		{.containers = &bare, .ncontainers = 1, .has_pod_level = true}, LIST({"cpu", 100}),
		USED_NOTHING, "failed quota: q: must specify cpu for: main"},
	{"nobody has counted yet", {.containers = &limited, 1}, LIST({"pods", 5}, {"cpu", 1}),
		LIST({"cpu", 0}), "status unknown for quota: q, resources: cpu,pods"},
	{"saying comes first", {.containers = &bare, 1}, LIST({"cpu", 1}), {NULL, 0},
		"failed quota: q: must specify cpu for: main"},
	{"as much as can be counted is no limit",
		{.containers = (const struct container[]){{.requests =
								   LIST({"memory", INT64_MAX})}},
			.ncontainers = 1},
		LIST({"memory", INT64_MAX}), LIST({"memory", INT64_MAX}), ""},
};

static bool admits(const struct resource_quota *q, const struct pod_resources *r,
	const int64_t *reserved, struct pod_count pods, char text[1000])
{
	struct pod p = {.ns = "team", .priority_class = "", .resources = *r};
	struct quota_state s = {q, reserved};
	return resource_quota_admits(&s, 1, &p, pods, text, 1000);
}

static void in_the_words_of_the_api_server(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(said_rows); i++) {
		const struct said_row *r = &said_rows[i];
		struct resource_quota q = {.name = "q", .hard = r->hard, .used = r->used};
		char text[1000];
		bool may = admits(&q, &r->pod, NULL, (struct pod_count){1, 1}, text);
		if (strcmp(text, r->sentence) != 0 || may != !*r->sentence)
			fail_msg("%s: \"%s\"", r->rule, text);
	}
}

/* resource_quota_room() agrees with resource_quota_admits() for each of these numbers. */
static void room_agrees(const struct resource_quota *q, const struct pod_resources *r,
	const int64_t *reserved, const char *rule)
{
	static const int32_t numbers[] = {1, 2, 3, 7, 100, INT32_MAX};
	struct pod p = {.ns = "team", .priority_class = "", .resources = *r};
	struct quota_state s = {q, reserved};
	struct pod_count room = resource_quota_room(&s, 1, &p);
	char text[1000];
	for (size_t i = 0; i < COUNT(numbers) * COUNT(numbers); i++) {
		struct pod_count n = {numbers[i / COUNT(numbers)], numbers[i % COUNT(numbers)]};
		bool fits = n.at_once <= room.at_once && n.in_all <= room.in_all;
		if (admits(q, r, reserved, n, text) != fits)
			fail_msg("%s: %d at once, %d in all: %s", rule, n.at_once, n.in_all, text);
	}
}

static void room_is_the_most_that_is_admitted(void **state)
{
	const struct pod_resources r = {.containers = &half, .ncontainers = 1};
	uint32_t seed = 7;
	(void)state;
	for (size_t i = 0; i < COUNT(said_rows); i++) {
		const struct said_row *row = &said_rows[i];
		struct resource_quota q = {.name = "q", .hard = row->hard, .used = row->used};
		room_agrees(&q, &row->pod, NULL, row->rule);
	}
	for (int i = 0; i < 200; i++) {
		int64_t n[9];
		for (size_t k = 0; k < COUNT(n); k++)
			n[k] = (int64_t)((seed = seed * 1664525 + 1013904223) >> 24) *
			       (k % 3 == 2 ? 4 : 1);
		struct resource hard[] = {{"pods", n[0]}, {"count/pods", n[1]}, {"cpu", n[2] * 10}};
		struct resource used[] = {
			{"pods", n[3] / 2}, {"count/pods", n[4] / 2}, {"cpu", n[5]}};
		const int64_t reserved[] = {n[6] / 4, n[7] / 4, n[8]};
		struct resource_quota q = {.name = "q", .hard = {hard, 3}, .used = {used, 3}};
		room_agrees(&q, &r, i % 2 ? reserved : NULL, "drawn");
	}
}

static void many_pods_and_what_is_reserved(void **state)
{
	struct resource_quota q = {.name = "q",
		.hard = LIST({"pods", 10}, {"count/pods", 50}, {"cpu", 2000}),
		.used = LIST({"pods", 3}, {"count/pods", 20}, {"cpu", 300})};
	const struct pod_resources r = {.containers = &half, .ncontainers = 1};
	const int64_t two[] = {2, 2, 200};
	char text[1000];
	(void)state;
	assert_true(admits(&q, &r, NULL, (struct pod_count){7, 30}, text));
	assert_string_equal(text, "");
	assert_true(admits(&q, &r, two, (struct pod_count){5, 28}, text));
	assert_false(admits(&q, &r, two, (struct pod_count){6, 6}, text));
	assert_string_equal(
		text, "exceeded quota: q, requested: pods=6, used: pods=5, limited: pods=10");
	/* Those that have ended are kept. */
	assert_false(admits(&q, &r, NULL, (struct pod_count){7, 31}, text));
	assert_string_equal(text, "exceeded quota: q, requested: count/pods=31, used: "
				  "count/pods=20, limited: count/pods=50");
	assert_true(admits(&q, &r, NULL, (struct pod_count){0, 0}, text));
	assert_false(admits(&q, &r, NULL, (struct pod_count){INT32_MAX, INT32_MAX}, text));
}

static void the_first_by_name_that_says_it_is_not_said_then_the_first_over(void **state)
{
	struct pod p = {.ns = "team",
		.priority_class = "",
		.resources = {.containers = &half, .ncontainers = 1}};
	struct resource_quota a = {.name = "a", .hard = LIST({"cpu", 1}), .used = LIST({"cpu", 0})};
	struct resource_quota b = a, c = a;
	struct quota_state all[] = {{&a, NULL}, {&b, NULL}, {&c, NULL}};
	char text[100];
	(void)state;
	b.name = "b";
	c.name = "c";
	c.hard = (struct resource_list)LIST({"memory", 1});
	assert_false(resource_quota_admits(all, 3, &p, (struct pod_count){1, 1}, text, 100));
	assert_string_equal(text, "failed quota: c: must specify memory for: proxy");
	assert_false(resource_quota_admits(all, 2, &p, (struct pod_count){1, 1}, text, 100));
	assert_string_equal(
		text, "exceeded quota: a, requested: cpu=100m, used: cpu=0, limited: cpu=1m");
	assert_false(resource_quota_admits(all, 2, &p, (struct pod_count){1, 1}, text, 10));
	assert_string_equal(text, "exceeded "); /* cut, and whole as a string */
	assert_true(resource_quota_admits(all, 0, &p, (struct pod_count){1, 1}, text, 100));
}

/* As seen on 1.36. */
static void a_quota_that_cannot_be_read_refuses_all(void **state)
{
	static const char sixty_four[] =
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
	static const char *const values[] = {"high", sixty_four, "no class"}, *const dash[] = {"-"};
	const struct pod_resources r = {.containers = &half, .ncontainers = 1};
	struct quota_scope_term terms[] = {{SCOPE_TERMINATING, SELECTOR_EXISTS},
		{SCOPE_PRIORITY_CLASS, SELECTOR_NOT_IN, values, 2}};
	struct resource_quota q = {.name = "q", .scopes = terms, .nscopes = 2};
	char text[1000];
	(void)state;
	assert_false(admits(&q, &r, NULL, (struct pod_count){1, 1}, text));
	assert_string_equal(text,
		"error matching scopes of quota q, err: error on matching scope {PriorityClass "
		"NotIn [high aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa]}: "
		"failed to parse and convert selector: values[1][PriorityClass]: Invalid value: "
		"\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\": must be no "
		"more than 63 bytes");
	terms[1].nvalues = 3;
	assert_false(admits(&q, &r, NULL, (struct pod_count){1, 1}, text));
	assert_non_null(strstr(text, "selector: [values[1][PriorityClass]: "));
	assert_non_null(strstr(text, "63 bytes, values[2][PriorityClass]: Invalid value: \"no "
				     "class\": a valid label must be "));
	terms[1].values = dash;
	terms[1].nvalues = 1;
	assert_false(admits(&q, &r, NULL, (struct pod_count){1, 1}, text));
	terms[1].values = high;
	assert_true(admits(&q, &r, NULL, (struct pod_count){1, 1}, text));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_scope_and_operator),
		cmocka_unit_test(empty_pod_level_resources_are_of_both_scopes),
		cmocka_unit_test(all_scopes_must_match),
		cmocka_unit_test(a_quota_of_other_things_counts_no_pod),
		cmocka_unit_test(every_name),
		cmocka_unit_test(a_pod_is_the_larger_of_init_and_containers_with_overhead),
		cmocka_unit_test(a_pod_level_limit_is_filled_in),
		cmocka_unit_test(in_the_words_of_the_api_server),
		cmocka_unit_test(many_pods_and_what_is_reserved),
		cmocka_unit_test(room_is_the_most_that_is_admitted),
		cmocka_unit_test(a_quota_that_cannot_be_read_refuses_all),
		cmocka_unit_test(the_first_by_name_that_says_it_is_not_said_then_the_first_over),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
