/*
 * Koordinator's published cases (pkg/slo-controller/noderesource/plugins/batchresource, its test of
 * Calculate): the inputs and what comes out. Profile koordinator gives every figure exactly;
 * profile ack differs by what overcommit/estimate.h says and by nothing else, and each row
 * says by which.
 */
#include "table.h"

#include "overcommit/estimate.h"

struct pod {
	struct tier_facts facts;
	struct load request;
	bool has_used;
	struct load used;
};

#define ASKS(cpu, memory) .request = {(cpu)*1000, (memory)*G}
#define USES(cpu, memory) .has_used = true, .used = {(cpu)*1000, (memory)*G}
#define LS .qos_label = "LS"
#define LSE .qos_label = "LSE"
#define BE .qos_label = "BE"
#define BURSTABLE .qos = POD_BURSTABLE
#define PRIORITY(p) .has_priority = true, .priority = (p)

/* What most of them have on the node: 20 + 20 cores asked for by high ones, 11 + 22 used. */
static const struct pod usual[] = {{{LS, BURSTABLE}, ASKS(20, 20), USES(11, 11)},
	{{BE, .qos = POD_BEST_EFFORT}, USES(10, 10)}, {{BURSTABLE}, ASKS(20, 40), USES(22, 22)}};

static const struct pod classes[] = {{{LS, BURSTABLE}, ASKS(10, 10), USES(5, 5)},
	{{BURSTABLE, PRIORITY(9999)}, ASKS(10, 10), USES(6, 6)},
	{{BE, BURSTABLE}, ASKS(10, 10), USES(10, 10)},
	{{BE, BURSTABLE, PRIORITY(7000)}, ASKS(20, 40), USES(22, 22)}};

static const struct pod terminated[] = {
	{{LS, BURSTABLE}, ASKS(10, 10), USES(5, 5)}, {{BURSTABLE, PRIORITY(9999)}, ASKS(10, 10)}};

static const struct pod exclusive[] = {{{LSE, BURSTABLE}, ASKS(10, 10), USES(5, 5)},
	{{BURSTABLE, PRIORITY(9999)}, ASKS(10, 10), USES(6, 6)},
	{{BE, BURSTABLE}, ASKS(10, 10), USES(10, 10)},
	{{BE, BURSTABLE, PRIORITY(7000)}, ASKS(20, 40), USES(22, 22)}};

static const struct pod exclusive_unseen[] = {{{LSE, BURSTABLE}, ASKS(10, 10)},
	{{BURSTABLE, PRIORITY(9999)}, ASKS(10, 10), USES(6, 6)},
	{{BE, BURSTABLE}, ASKS(10, 10), USES(10, 10)},
	{{BE, BURSTABLE, PRIORITY(7000)}, ASKS(20, 40), USES(22, 22)}};

#define PODS(array) array, COUNT(array)
#define USUAL PODS(usual)

/* By what the two profiles differ: not at all, the base (with what depends on it: the margin, and
 * what is not allocatable), or what is subtracted for the system where memory is lent by request.
 */
enum difference { NONE, BASE, SYSTEM, BASE_AND_SYSTEM };

#define USAGE POLICY_USAGE
#define REQUEST POLICY_REQUEST
#define MAX POLICY_MAX_USAGE_REQUEST
#define NO (-1)

static const struct row {
	const char *name;
	int64_t cpu_percent, memory_percent;
	enum lending_policy cpu_policy, memory_policy;
	int64_t cpu_cap, memory_cap;
	int64_t allocatable_cores, allocatable_g; /* of 100 and 120 */
	int64_t reserved_cores, reserved_g;	  /* by the annotation; reservedCPUs counted */
	int64_t system_cores, system_g;
	int64_t dangling_cores, dangling_g;
	const struct pod *pods;
	size_t npods;
	int64_t cpu, memory_g;	       /* koordinator */
	int64_t ack_cpu, ack_memory_g; /* ack */
	enum difference by;
} rows[] = {
	{"memory by usage", 65, 65, USAGE, USAGE, NO, NO, 100, 120, 0, 0, 7, 12, 0, 0, USUAL, 25000,
		33, 25000, 33, NONE},
	{"cores 0-1 reserved", 65, 65, USAGE, USAGE, NO, NO, 100, 120, 2, 0, 7, 12, 0, 0, USUAL,
		25000, 33, 25000, 33, NONE},
	{"cores 0-19 reserved", 65, 65, USAGE, USAGE, NO, NO, 100, 120, 20, 0, 7, 12, 0, 0, USUAL,
		12000, 33, 12000, 33, NONE},
	{"20 cores reserved", 65, 65, USAGE, USAGE, NO, NO, 100, 120, 20, 0, 7, 12, 0, 0, USUAL,
		12000, 33, 12000, 33, NONE},
	{"20 cores reserved, and by name 0-9", 65, 65, USAGE, USAGE, NO, NO, 100, 120, 10, 0, 7, 12,
		0, 0, USUAL, 22000, 33, 22000, 33, NONE},
	{"20 G reserved", 65, 65, USAGE, USAGE, NO, NO, 100, 120, 0, 20, 7, 12, 0, 0, USUAL, 25000,
		25, 25000, 25, NONE},
	{"5 G reserved", 65, 65, USAGE, USAGE, NO, NO, 100, 120, 0, 5, 7, 12, 0, 0, USUAL, 25000,
		33, 25000, 33, NONE},
	{"2 cores and 5 G reserved", 65, 65, USAGE, USAGE, NO, NO, 100, 120, 2, 5, 7, 12, 0, 0,
		USUAL, 25000, 33, 25000, 33, NONE},
	{"10 cores and 20 G reserved", 65, 65, USAGE, USAGE, NO, NO, 100, 120, 10, 20, 7, 12, 0, 0,
		USUAL, 22000, 25, 22000, 25, NONE},
	{"cores 0-9 and 20 G reserved", 65, 65, USAGE, USAGE, NO, NO, 100, 120, 10, 20, 7, 12, 0, 0,
		USUAL, 22000, 25, 22000, 25, NONE},
	{"the kubelet keeps most", 65, 65, USAGE, USAGE, NO, NO, 90, 100, 2, 5, 7, 12, 0, 0, USUAL,
		22000, 25, 18500, 20, BASE},
	{"memory by request", 70, 80, USAGE, REQUEST, NO, NO, 100, 120, 0, 0, 7, 12, 0, 0, USUAL,
		30000, 36, 30000, 24, SYSTEM},
	{"memory by request, 5 G reserved", 70, 80, USAGE, REQUEST, NO, NO, 100, 120, 0, 5, 7, 12,
		0, 0, USUAL, 30000, 31, 30000, 24, SYSTEM},
	{"memory by request, the kubelet keeps most", 70, 80, USAGE, REQUEST, NO, NO, 90, 100, 0, 5,
		7, 12, 0, 0, USUAL, 27000, 16, 23000, 8, BASE_AND_SYSTEM},
	{"memory by request, 10 G reserved", 70, 80, USAGE, REQUEST, NO, NO, 100, 120, 0, 10, 7, 12,
		0, 0, USUAL, 30000, 26, 30000, 24, SYSTEM},
	{"pods of several classes", 65, 65, USAGE, USAGE, NO, NO, 100, 120, 0, 0, 7, 12, 0, 0,
		PODS(classes), 25000, 33, 25000, 33, NONE},
	{"one without a sample, one gone", 65, 65, USAGE, USAGE, NO, NO, 100, 120, 0, 0, 5, 10, 10,
		10, PODS(terminated), 35000, 43, 35000, 43, NONE},
	{"an exclusive one", 65, 65, USAGE, USAGE, NO, NO, 100, 120, 0, 0, 7, 12, 0, 0,
		PODS(exclusive), 20000, 33, 20000, 33, NONE},
	{"an exclusive one, memory by request", 65, 65, USAGE, REQUEST, NO, NO, 100, 120, 0, 0, 7,
		12, 0, 0, PODS(exclusive), 20000, 18, 20000, 6, SYSTEM},
	{"an exclusive one without a sample, and one gone", 65, 65, USAGE, REQUEST, NO, NO, 100,
		120, 0, 0, 7, 12, 2, 4, PODS(exclusive_unseen), 18000, 18, 18000, 6, SYSTEM},
	{"and three gone, one of them low", 65, 65, USAGE, REQUEST, NO, NO, 100, 120, 0, 0, 7, 12,
		6, 12, PODS(exclusive_unseen), 14000, 18, 14000, 6, SYSTEM},
	{"cpu by the more of both", 70, 80, MAX, REQUEST, NO, NO, 100, 120, 0, 0, 7, 12, 0, 0,
		USUAL, 21000, 36, 21000, 24, SYSTEM},
	{"more than all of it", 150, 120, MAX, REQUEST, NO, NO, 100, 120, 0, 0, 7, 12, 0, 0, USUAL,
		101000, 84, 101000, 72, SYSTEM},
	{"cpu capped", 150, 120, MAX, REQUEST, 100, NO, 100, 120, 0, 0, 7, 12, 0, 0, USUAL, 100000,
		84, 100000, 72, SYSTEM},
	{"memory capped", 150, 120, MAX, REQUEST, NO, 100, 100, 120, 0, 0, 7, 12, 0, 0, USUAL,
		101000, 84, 101000, 72, SYSTEM},
	{"both capped", 150, 120, MAX, REQUEST, 100, 100, 100, 120, 0, 0, 7, 12, 0, 0, USUAL,
		100000, 84, 100000, 72, SYSTEM},
	{"memory by the more of both", 150, 120, USAGE, MAX, NO, NO, 100, 120, 0, 0, 7, 12, 0, 0,
		USUAL, 110000, 72, 110000, 72, NONE},
	{"memory by the more of both, capped", 150, 120, USAGE, MAX, 100, 100, 100, 120, 0, 0, 7,
		12, 0, 0, USUAL, 100000, 72, 100000, 72, NONE},
	{"a program of the host counts as system", 65, 65, USAGE, USAGE, NO, NO, 100, 120, 0, 0,
		4 + 3, 6 + 6, 0, 0, USUAL, 25000, 33, 25000, 33, NONE},
	{"but not a low one", 65, 65, USAGE, USAGE, NO, NO, 100, 120, 0, 0, 4, 6, 0, 0, USUAL,
		28000, 39, 28000, 39, NONE},
};

static struct estimate estimate_of(const struct row *r, enum profile profile)
{
	struct strategy s = strategy_default(profile);
	struct estimate_pod pods[8];
	struct estimate_node n = {.capacity = CORES(100, 120),
		.allocatable = CORES(r->allocatable_cores, r->allocatable_g),
		.reservation = CORES(r->reserved_cores, r->reserved_g),
		.system_used = CORES(r->system_cores, r->system_g),
		.dangling = CORES(r->dangling_cores, r->dangling_g),
		.pods = pods,
		.npods = r->npods};
	for (size_t i = 0; i < r->npods; i++)
		pods[i] = (struct estimate_pod){tier_of(profile, &r->pods[i].facts),
			r->pods[i].request, r->pods[i].has_used, r->pods[i].used};
	s.cpu_percent = r->cpu_percent;
	s.memory_percent = r->memory_percent;
	s.cpu_policy = r->cpu_policy;
	s.memory_policy = r->memory_policy;
	s.cpu_cap = r->cpu_cap;
	s.memory_cap = r->memory_cap;
	struct estimate e;
	estimate_make(&s, &n, &e);
	return e;
}

static void koordinator_gives_each_figure(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct estimate e = estimate_of(&rows[i], PROFILE_KOORDINATOR);
		same_load(rows[i].name, "figure", (struct load){e.cpu.result, e.memory.result},
			(struct load){rows[i].cpu, rows[i].memory_g * G});
	}
}

static void terms_agree(
	const struct row *r, const struct estimate_terms *a, const struct estimate_terms *k)
{
	bool base = r->by == BASE || r->by == BASE_AND_SYSTEM;
	bool by_request = k->policy == POLICY_REQUEST;
	bool system = by_request && (r->by == SYSTEM || r->by == BASE_AND_SYSTEM);
	same(r->name, "system used", a->system_used, k->system_used);
	same(r->name, "pods' use", a->used, k->used);
	same(r->name, "pods' request", a->requested, k->requested);
	same(r->name, "the more of both", a->max, k->max);
	same(r->name, "what is taken", a->taken, k->taken);
	same(r->name, "another base", a->base != k->base, base);
	same(r->name, "another margin", a->margin != k->margin, base);
	if (system)
		same(r->name, "another system", a->system != k->system, true);
	else if (!base)
		same(r->name, "system", a->system, k->system);
	if (!base)
		same(r->name, "cap", a->cap, k->cap);
}

static void ack_differs_by_what_is_said(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct row *r = &rows[i];
		struct estimate a = estimate_of(r, PROFILE_ACK);
		struct estimate k = estimate_of(r, PROFILE_KOORDINATOR);
		same_load(r->name, "figure", (struct load){a.cpu.result, a.memory.result},
			(struct load){r->ack_cpu, r->ack_memory_g * G});
		terms_agree(r, &a.cpu, &k.cpu);
		terms_agree(r, &a.memory, &k.memory);
		if (r->by == NONE)
			same_load(r->name, "both", (struct load){a.cpu.result, a.memory.result},
				(struct load){k.cpu.result, k.memory.result});
	}
}

/* Upstream multiplies with a double and cuts off what is behind the point. */
static void its_margin_is_cut_off(void **state)
{
	static const struct {
		const char *name;
		int64_t capacity, percent, margin;
	} margins[] = {
		{"its own: 100 cores at 65", 100000, 65, 35000},
		{"its own: 100 Gi at 65", 100 * GI, 65, 35 * GI},
		{"0.29 of 100 is 28.999", 100, 71, 28},
		{"0.57 of 100 is 56.999", 100, 43, 56},
		{"a third of a core", 333, 67, 109},
		{"nothing is lent", 8000, 0, 8000},
		{"all of it", 8000, 100, 0},
		{"more than all", 8000, 150, -4000},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(margins); i++) {
		struct strategy s = strategy_default(PROFILE_KOORDINATOR);
		struct load all = {margins[i].capacity, margins[i].capacity};
		struct estimate_node n = {.capacity = all, .allocatable = all};
		struct estimate e;
		s.cpu_percent = s.memory_percent = margins[i].percent;
		estimate_make(&s, &n, &e);
		same(margins[i].name, "margin", e.cpu.margin, margins[i].margin);
		same(margins[i].name, "margin of memory", e.memory.margin, margins[i].margin);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(koordinator_gives_each_figure),
		cmocka_unit_test(ack_differs_by_what_is_said),
		cmocka_unit_test(its_margin_is_cut_off)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
