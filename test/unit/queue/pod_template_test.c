/* Which pods share a template: those that the cluster cannot tell apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "test/unit/cluster/words.h"
#include "queue/requests/accounting.h"
#include "queue/requests/shape.h"

#define SAME true
#define OTHER false

static const struct {
	const char *name;
	bool same;
	const char *one, *two;
} cases[] = {
	{"equal", SAME, "+cpu=2 ~gpu=yes:NoSchedule", "+cpu=2 ~gpu=yes:NoSchedule"},
	{"namespace", OTHER, "in=a +cpu=2", "in=b +cpu=2"},
	{"more of a resource", OTHER, "+cpu=2", "+cpu=3"},
	{"another resource", OTHER, "+cpu=2", "+gpu=2"},
	{"host port", OTHER, "+cpu=2", "+cpu=2 :8080"},
	{"protocol of a host port", OTHER, ":53", ":53/UDP"},
	{"toleration", OTHER, "+cpu=2", "+cpu=2 ~gpu=yes:NoSchedule"},
	{"effect of a toleration", OTHER, "~gpu=yes:NoSchedule", "~gpu=yes:NoExecute"},
	{"node selector", OTHER, "@zone=x", "@zone=y"},
	{"node affinity", OTHER, "?zone:In:x", "?zone:In:y"},
	{"operator", OTHER, "?zone:In:x", "?zone:NotIn:x"},
	{"node", OTHER, "+cpu=2", "+cpu=2 node=a"},
	{"scheduler", OTHER, "+cpu=2", "+cpu=2 scheduler=x"},
	{"labels that nobody looks at", SAME, "app=a +cpu=2", "app=b +cpu=2"},
	{"labels of who is near others", OTHER, "app=a near/zone/app:In:a",
		"app=b near/zone/app:In:a"},
	{"labels of who keeps apart", OTHER, "app=a apart/zone/app:In:a",
		"app=b apart/zone/app:In:a"},
	{"labels of who spreads", OTHER, "app=a spread/zone/1/app:In:a",
		"app=b spread/zone/1/app:In:a"},
	{"whom it is near", OTHER, "near/zone/app:In:a", "near/zone/app:In:b"},
	{"near, or apart", OTHER, "near/zone/app:In:a", "apart/zone/app:In:a"},
	{"the Job's own labels, which it does not select by", SAME,
		"job-name=a controller-uid=1 apart/zone/app:In:a",
		"job-name=b controller-uid=2 apart/zone/app:In:a"},
	{"the Job's own labels, which it selects by", OTHER,
		"job-name=a apart/zone/job-name:Exists", "job-name=b apart/zone/job-name:Exists"},
};

static void same_template_or_not(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct arena arena = {0};
		struct pod_templates all;
		pod_templates_init(&all);
		struct pod_template *one = pod_template_of(&all, words_pod(&arena, cases[i].one));
		struct pod_template *two = pod_template_of(&all, words_pod(&arena, cases[i].two));
		if ((one == two) != cases[i].same)
			fail_msg("%s", cases[i].name);
		pod_template_put(&all, one);
		pod_template_put(&all, two);
		pod_templates_done(&all); /* must()s that nothing is left */
		arena_done(&arena);
	}
}

/* Fields that only quotas look at, which the words do not have. */
static void quotas_tell_them_apart(void **state)
{
	(void)state;
	struct arena arena = {0};
	const struct resource amount = {"cpu", 2000, 0}, styled = {"cpu", 2000, 1};
	const struct container limited = {.requests = {&amount, 1}, .limits = {&amount, 1}};
	const struct container written = {.requests = {&styled, 1}};
	struct pod pod[7];
	for (size_t i = 0; i < 7; i++)
		pod[i] = *words_pod(&arena, "+cpu=2");
	pod[1].priority_class = "high";
	pod[2].terminating = true;
	pod[3].crosses_namespaces = true;
	pod[4].resources.containers = &limited;
	pod[5].resources.containers = &written;
	pod[6].resources.runtime_class = "gvisor";

	struct pod_templates all;
	struct pod_template *t[7];
	pod_templates_init(&all);
	for (size_t i = 0; i < 7; i++) {
		t[i] = pod_template_of(&all, &pod[i]);
		for (size_t k = 0; k < i; k++)
			assert_ptr_not_equal(t[i], t[k]);
	}
	for (size_t i = 0; i < 7; i++)
		pod_template_put(&all, t[i]);
	pod_templates_done(&all);
	arena_done(&arena);
}

/* A quota's refusal names containers without the limited resource: equal sums are not enough. */
static void silent_containers_tell_them_apart(void **state)
{
	(void)state;
	struct arena arena = {0};
	const struct resource amount = {"cpu", 2000, 0};
	const struct container main_speaks[] = {
		{.name = "main", .requests = {&amount, 1}}, {.name = "proxy"}};
	const struct container proxy_speaks[] = {
		{.name = "main"}, {.name = "proxy", .requests = {&amount, 1}}};
	struct pod one = *words_pod(&arena, "+cpu=2"), two = one;
	one.resources.containers = main_speaks;
	two.resources.containers = proxy_speaks;
	one.resources.ncontainers = two.resources.ncontainers = 2;

	struct pod_templates all;
	pod_templates_init(&all);
	struct pod_template *a = pod_template_of(&all, &one), *b = pod_template_of(&all, &two);
	assert_ptr_not_equal(a, b);
	pod_template_put(&all, a);
	pod_template_put(&all, b);
	pod_templates_done(&all);
	arena_done(&arena);
}

static void copies_what_it_keeps(void **state)
{
	(void)state;
	struct arena arena = {0};
	struct pod_templates all;
	pod_templates_init(&all);
	struct pod_template *t = pod_template_of(&all,
		words_pod(&arena, "in=team app=web +cpu=2 @zone=x ~gpu=yes:NoSchedule :80@10.0.0.1 "
				  "?disk:In:a,b near/zone/app:In:web/ns=p,q"));
	arena_done(&arena); /* a borrowed string would be seen by ASan */
	const struct pod *p = t->pod;
	assert_string_equal(p->ns, "team");
	assert_string_equal(p->labels[0].value, "web");
	assert_string_equal(p->resources.containers[0].requests.item[0].name, "cpu");
	assert_string_equal(p->node_selector[0].value, "x");
	assert_string_equal(p->tolerations[0].key, "gpu");
	assert_string_equal(p->host_ports[0].ip, "10.0.0.1");
	assert_string_equal(p->terms[0].labels.requirements[0].values[1], "b");
	assert_string_equal(p->affinity[0].namespaces[1], "q");
	pod_template_put(&all, t);
	pod_templates_done(&all);
}

static void none_is_none(void **state)
{
	(void)state;
	struct pod_templates all;
	pod_templates_init(&all);
	assert_null(pod_template_of(&all, NULL));
	pod_template_put(&all, NULL);
	pod_templates_done(&all);
}

/* ---- in shapes ------------------------------------------------------------------------------- */

struct world {
	struct arena arena;
	struct accounting facts;
	struct queue_config config;
	struct shapes shapes;
};

static struct shape *shape_for(struct world *w, const char *words)
{
	struct account account;
	char fault[SHAPE_FAULT_SIZE];
	struct pod *pod = words_pod(&w->arena, words);
	struct job j = {.ns = pod->ns,
		.name = "j",
		.queue = "q",
		.priority_class = "",
		.pod_priority_class = "",
		.parallelism = 1,
		.pod = pod->resources,
		.template = pod};
	account_open(&account, &w->facts, &w->config, &j);
	bool cut;
	struct shape *s = shape_of(&w->shapes, &j, &account, SHAPE_BYTES_MAX, &cut, fault);
	account_done(&account);
	return s;
}

static void a_template_is_part_of_a_shape(void **state)
{
	(void)state;
	struct world w = {0};
	accounting_init(&w.facts);
	shapes_init(&w.shapes);
	struct shape *one = shape_for(&w, "app=a +cpu=2"), *two = shape_for(&w, "app=b +cpu=2"),
		     *three = shape_for(&w, "app=a +cpu=2 :80");
	assert_ptr_equal(one, two);
	assert_ptr_not_equal(one, three);
	assert_ptr_not_equal(one->template, three->template);
	shape_put(&w.shapes, one);
	shape_put(&w.shapes, two);
	shape_put(&w.shapes, three);
	shapes_done(&w.shapes);
	accounting_done(&w.facts);
	arena_done(&w.arena);
}

static void the_account_fills_it_in(void **state)
{
	(void)state;
	struct world w = {0};
	const struct resource half = {"cpu", 500, 0}, gi = {"memory", 1 << 30, 0};
	const struct runtime_class_spec gvisor = {.name = "gvisor", .overhead = {&half, 1}};
	const struct limit_range_item item = {.defaults = {&gi, 1}, .default_requests = {&gi, 1}};
	const struct limit_range_spec range = {
		.ns = "default", .name = "r", .item = &item, .nitems = 1};
	struct pod *pod = words_pod(&w.arena, "in=default +cpu=2");
	pod->resources.runtime_class = "gvisor";
	struct job j = {.ns = "default",
		.name = "j",
		.queue = "q",
		.priority_class = "",
		.pod_priority_class = "",
		.parallelism = 1,
		.pod = pod->resources,
		.template = pod};
	struct account account;
	accounting_init(&w.facts);
	accounting_set_runtime_class(&w.facts, &gvisor);
	limit_range_set(&w.facts.limit_ranges, &range);
	account_open(&account, &w.facts, &w.config, &j);
	struct resource asks[4];
	assert_int_equal(pod_requests(&account.pod->resources, asks, 4), 2);
	assert_int_equal(asks[0].amount, 2500);
	assert_string_equal(asks[1].name, "memory");
	assert_int_equal(asks[1].amount, 1 << 30);
	assert_int_equal(account.pod->resources.containers[0].limits.count, 1);
	account_done(&account);
	accounting_done(&w.facts);
	arena_done(&w.arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_template_or_not),
		cmocka_unit_test(quotas_tell_them_apart),
		cmocka_unit_test(silent_containers_tell_them_apart),
		cmocka_unit_test(copies_what_it_keeps),
		cmocka_unit_test(none_is_none),
		cmocka_unit_test(a_template_is_part_of_a_shape),
		cmocka_unit_test(the_account_fills_it_in),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
