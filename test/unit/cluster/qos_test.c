/* QoS classes, rule by rule. The same pods are made on a real API server by
 * test/e2e/test_resource_quota.py, which draws many more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#include "queue/cluster/pod.h"

/* Lists of amounts: cpu, memory and a third, -1: absent. */
struct amounts {
	int64_t cpu, memory, other;
};
#define NOTHING                                                                                    \
	{                                                                                          \
		-1, -1, -1                                                                         \
	}
#define BOTH(c, m)                                                                                 \
	{                                                                                          \
		(c), (m), -1                                                                       \
	}
#define CPU(c)                                                                                     \
	{                                                                                          \
		(c), -1, -1                                                                        \
	}
#define MEMORY(m)                                                                                  \
	{                                                                                          \
		-1, (m), -1                                                                        \
	}
#define OTHER(o)                                                                                   \
	{                                                                                          \
		-1, -1, (o)                                                                        \
	}

struct wish {
	struct amounts requests, limits;
};

static const struct row {
	const char *rule;
	enum qos_class want;
	size_t ncontainers;
	struct wish container[2];
	size_t ninit;
	struct wish init[1];
	bool has_pod_level;
	struct wish pod_level;
} rows[] = {
	{"who asks for nothing is BestEffort", QOS_BEST_EFFORT, 1, {{NOTHING, NOTHING}}},
	{"nothing is also none of it", QOS_BEST_EFFORT, 1, {{BOTH(0, 0), BOTH(0, 0)}}},
	{"only cpu and memory count", QOS_BEST_EFFORT, 1, {{OTHER(1), OTHER(1)}}},
	{"a request alone is Burstable", QOS_BURSTABLE, 1, {{CPU(1), NOTHING}}},
	{"so are both", QOS_BURSTABLE, 1, {{BOTH(1, 1), NOTHING}}},
	{"a limit alone is its own request", QOS_GUARANTEED, 1, {{NOTHING, BOTH(1, 1)}}},
	{"one limit is not enough", QOS_BURSTABLE, 1, {{CPU(1), CPU(1)}}},
	{"nor is the other", QOS_BURSTABLE, 1, {{MEMORY(1), MEMORY(1)}}},
	{"a limit of none is none", QOS_BURSTABLE, 1, {{CPU(1), BOTH(1, 0)}}},
	{"requests equal to limits are Guaranteed", QOS_GUARANTEED, 1, {{BOTH(5, 7), BOTH(5, 7)}}},
	{"the one request may be left out", QOS_GUARANTEED, 1, {{CPU(5), BOTH(5, 7)}}},
	{"less than the limit is Burstable", QOS_BURSTABLE, 1, {{BOTH(4, 7), BOTH(5, 7)}}},
	{"a request of none is less", QOS_BURSTABLE, 1, {{BOTH(0, 7), BOTH(5, 7)}}},
	{"other resources do not matter", QOS_GUARANTEED, 1, {{{5, 7, 3}, {5, 7, 4}}}},
	{"every container must be so", QOS_BURSTABLE, 2,
		{{BOTH(5, 7), BOTH(5, 7)}, {NOTHING, NOTHING}}},
	{"all are", QOS_GUARANTEED, 2, {{BOTH(5, 7), BOTH(5, 7)}, {BOTH(1, 2), BOTH(1, 2)}}},
	{"sums are compared, not containers", QOS_BURSTABLE, 2,
		{{BOTH(5, 7), BOTH(6, 7)}, {BOTH(1, 2), BOTH(2, 2)}}},
	{"init containers count as others", QOS_BURSTABLE, 1, {{BOTH(5, 7), BOTH(5, 7)}}, 1,
		{{NOTHING, NOTHING}}},
	{"and make Burstable alone", QOS_BURSTABLE, 1, {{NOTHING, NOTHING}}, 1,
		{{CPU(1), NOTHING}}},
	{"or leave it Guaranteed", QOS_GUARANTEED, 1, {{BOTH(5, 7), BOTH(5, 7)}}, 1,
		{{BOTH(50, 70), BOTH(50, 70)}}},
	{"the pod's own go before its containers'", QOS_GUARANTEED, 1, {{CPU(1), NOTHING}}, 0,
		{{NOTHING, NOTHING}}, true, {BOTH(5, 7), BOTH(5, 7)}},
	{"its own request may be left out, if no container asks", QOS_GUARANTEED, 1,
		{{NOTHING, NOTHING}}, 0, {{NOTHING, NOTHING}}, true, {NOTHING, BOTH(5, 7)}},
	{"if one does, that is the request", QOS_BURSTABLE, 1, {{CPU(1), NOTHING}}, 0,
		{{NOTHING, NOTHING}}, true, {NOTHING, BOTH(5, 7)}},
	{"all of it is Guaranteed again", QOS_GUARANTEED, 1, {{BOTH(5, 7), NOTHING}}, 0,
		{{NOTHING, NOTHING}}, true, {NOTHING, BOTH(5, 7)}},
	{"the container's limits count where it has none", QOS_GUARANTEED, 1,
		{{BOTH(5, 7), BOTH(5, 7)}}, 0, {{NOTHING, NOTHING}}, true, {BOTH(5, 7), NOTHING}},
	{"what it says nothing of comes from its containers", QOS_GUARANTEED, 1,
		{{BOTH(5, 7), BOTH(5, 7)}}, 0, {{NOTHING, NOTHING}}, true, {CPU(5), NOTHING}},
	{"its limit is never less than its own request", QOS_GUARANTEED, 1,
		{{BOTH(1, 2), BOTH(5, 7)}}, 0, {{NOTHING, NOTHING}}, true, {BOTH(6, 8), NOTHING}},
	{"and may be more", QOS_BURSTABLE, 1, {{BOTH(1, 2), BOTH(5, 7)}}, 0, {{NOTHING, NOTHING}},
		true, {BOTH(5, 6), NOTHING}},
	{"it is filled in where all of them have one", QOS_BURSTABLE, 2,
		{{BOTH(5, 7), BOTH(5, 7)}, {CPU(1), CPU(1)}}, 0, {{NOTHING, NOTHING}}, true,
		{CPU(6), NOTHING}},
	{"init containers, too", QOS_BURSTABLE, 1, {{BOTH(5, 7), BOTH(5, 7)}}, 1,
		{{NOTHING, NOTHING}}, true, {CPU(5), NOTHING}},
	{"one limit of its own is not enough", QOS_BURSTABLE, 1, {{NOTHING, NOTHING}}, 0,
		{{NOTHING, NOTHING}}, true, {CPU(5), CPU(5)}},
	{"its own, and empty, are none", QOS_GUARANTEED, 1, {{BOTH(5, 7), BOTH(5, 7)}}, 0,
		{{NOTHING, NOTHING}}, true, {NOTHING, NOTHING}},
};

static struct resource_list list_of(const struct amounts *a, struct resource ret[3])
{
	size_t n = 0;
	if (a->cpu >= 0)
		ret[n++] = (struct resource){"cpu", a->cpu};
	if (a->memory >= 0)
		ret[n++] = (struct resource){"memory", a->memory};
	if (a->other >= 0)
		ret[n++] = (struct resource){"nvidia.com/gpu", a->other};
	return (struct resource_list){ret, n};
}

static enum qos_class class_of(const struct row *r)
{
	struct resource room[8][3];
	struct container all[3] = {{{NULL, 0}}};
	size_t k = 0;
	for (size_t i = 0; i < r->ncontainers + r->ninit; i++) {
		const struct wish *w =
			i < r->ncontainers ? &r->container[i] : &r->init[i - r->ncontainers];
		all[i].requests = list_of(&w->requests, room[k++]);
		all[i].limits = list_of(&w->limits, room[k++]);
	}
	struct pod p = {.resources = {.containers = all,
				.ncontainers = r->ncontainers,
				.init_containers = all + r->ncontainers,
				.ninit_containers = r->ninit,
				.has_pod_level = r->has_pod_level}};
	if (r->has_pod_level) {
		p.resources.pod_level = list_of(&r->pod_level.requests, room[k++]);
		p.resources.pod_level_limits = list_of(&r->pod_level.limits, room[k++]);
	}
	return pod_qos_class(&p);
}

static void every_rule(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		enum qos_class got = class_of(&rows[i]);
		if (got != rows[i].want)
			fail_msg("%s: it is %s", rows[i].rule, qos_class_name(got));
	}
}

static void as_status_says_it(void **state)
{
	(void)state;
	assert_string_equal(qos_class_name(QOS_GUARANTEED), "Guaranteed");
	assert_string_equal(qos_class_name(QOS_BURSTABLE), "Burstable");
	assert_string_equal(qos_class_name(QOS_BEST_EFFORT), "BestEffort");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_rule),
		cmocka_unit_test(as_status_says_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
