/* The formula, by the figures that the documents and the reference print, and at its ends. */
#include "table.h"

#include "overcommit/estimate.h"

static struct estimate made(const struct strategy *s, const struct estimate_node *n)
{
	struct estimate e;
	estimate_make(s, n, &e);
	return e;
}

/* The node of seed 004 has 50 cores and 50 GB to lend: "50000" and "53687091200". Its ConfigMap
 * says 60 and 70 percent, by usage. */
static void the_figures_of_the_document(void **state)
{
	(void)state;
	const struct estimate_pod pods[] = {{TIER_HIGH, {40000, 60 * GI}, true, {8000, 14 * GI}},
		{TIER_LOW, {0, 0}, true, {20000, 30 * GI}}};
	const struct estimate_node n = {.capacity = {104000, 104 * GI},
		.allocatable = {100000, 100 * GI},
		.system_used = {2000, 6 * GI},
		.pods = pods,
		.npods = 2};
	struct strategy s = strategy_default(PROFILE_ACK);
	s.cpu_percent = 60;
	s.memory_percent = 70;
	struct estimate e = made(&s, &n);
	assert_int_equal(e.cpu.base, 100000);
	assert_int_equal(e.cpu.margin, 40000);
	assert_int_equal(e.cpu.system, 2000);
	assert_int_equal(e.cpu.taken, 8000);
	assert_int_equal(e.cpu.cap, -1);
	assert_int_equal(e.cpu.result, 50000);
	assert_int_equal(e.memory.result, 53687091200);
	assert_int_equal(e.high_pods, 1);
	assert_int_equal(e.low_pods, 1);

	/* "request: only what is not asked for", and what the system uses. */
	s.memory_policy = POLICY_REQUEST;
	e = made(&s, &n);
	assert_int_equal(e.memory.requested, 60 * GI);
	assert_int_equal(e.memory.result, 4 * GI);
	assert_int_equal(e.cpu.result, 50000);
}

/* 65 percent of 16 cores and 64 Gi, from which the rows take away. */
static void what_counts(void **state)
{
	static const struct {
		const char *name;
		struct estimate_pod pod;
		struct load reservation, system, dangling;
		enum lending_policy policy; /* of memory, and of cpu but for request */
		struct load result;
	} rows[] = {
		{"an idle node", {TIER_LOW}, .result = {10400, 65 * 64 * GI / 100}},
		{"a pod that uses less than it asks for",
			{TIER_HIGH, {4000, 8 * GI}, true, {1000, GI}},
			.result = {9400, 65 * 64 * GI / 100 - GI}},
		{"the more of both", {TIER_HIGH, {4000, GI}, true, {1000, 8 * GI}},
			.policy = POLICY_MAX_USAGE_REQUEST,
			.result = {6400, 65 * 64 * GI / 100 - 8 * GI}},
		{"without a sample it uses what it asks for", {TIER_HIGH, {4000, 8 * GI}},
			.result = {6400, 65 * 64 * GI / 100 - 8 * GI}},
		{"by the more of both, too", {TIER_HIGH, {4000, 8 * GI}},
			.policy = POLICY_MAX_USAGE_REQUEST,
			.result = {6400, 65 * 64 * GI / 100 - 8 * GI}},
		{"an exclusive one uses the cpu it asks for",
			{TIER_HIGH_EXCLUSIVE, {4000, 8 * GI}, true, {1000, GI}},
			.result = {6400, 65 * 64 * GI / 100 - GI}},
		{"what a low one uses is not taken", {TIER_LOW, {0, 0}, true, {9000, 9 * GI}},
			.result = {10400, 65 * 64 * GI / 100}},
		{"the system", {TIER_LOW}, .system = {500, 2 * GI},
			.result = {9900, 65 * 64 * GI / 100 - 2 * GI}},
		{"or what is kept for it", {TIER_LOW}, .system = {500, 2 * GI},
			.reservation = {2000, GI}, .result = {8400, 65 * 64 * GI / 100 - 2 * GI}},
		{"kept where memory is lent by request, too", {TIER_LOW}, .system = {500, GI},
			.reservation = {0, 4 * GI}, .policy = POLICY_REQUEST,
			.result = {9900, 65 * 64 * GI / 100 - 4 * GI}},
		{"a sample of a pod that is gone", {TIER_LOW}, .dangling = {300, GI},
			.result = {10100, 65 * 64 * GI / 100 - GI}},
		{"a sample below nothing is nothing", {TIER_HIGH, {0, 0}, true, {-5000, -8 * GI}},
			.system = {-1000, -GI}, .dangling = {-1, -1}, .reservation = {-7, -7},
			.result = {10400, 65 * 64 * GI / 100}},
		{"more is used than may be", {TIER_HIGH, {0, 0}, true, {11000, 60 * GI}},
			.result = {0, 0}},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct estimate_node n = {.capacity = {17000, 66 * GI},
			.allocatable = {16000, 64 * GI},
			.reservation = rows[i].reservation,
			.system_used = rows[i].system,
			.dangling = rows[i].dangling,
			.pods = &rows[i].pod,
			.npods = 1};
		struct strategy s = strategy_default(PROFILE_ACK);
		s.memory_policy = rows[i].policy;
		s.cpu_policy = rows[i].policy == POLICY_REQUEST ? POLICY_USAGE : rows[i].policy;
		struct estimate e = made(&s, &n);
		same_load(rows[i].name, "figure", (struct load){e.cpu.result, e.memory.result},
			rows[i].result);
		same(rows[i].name, "sum of cpu",
			e.cpu.base - e.cpu.margin - e.cpu.system - e.cpu.taken > 0
				? e.cpu.base - e.cpu.margin - e.cpu.system - e.cpu.taken
				: 0,
			e.cpu.result);
	}
}

/* An agent measures lent pods alone and all pods together: what is left is used by the others. */
static void pods_that_are_measured_together(void **state)
{
	static const struct {
		const char *name;
		struct estimate_pod pod[2];
		struct load rest;
		enum lending_policy policy;
		struct load used, max;
	} rows[] = {
		{"not what they ask for", {{TIER_HIGH, {4000, 8 * GI}}, {TIER_LOW}}, {1500, GI},
			POLICY_USAGE, {1500, GI}, {4000, 8 * GI}},
		{"beside one that has a sample",
			{{TIER_HIGH, {4000, 8 * GI}, true, {1000, GI}}, {TIER_HIGH, {2000, GI}}},
			{500, GI}, POLICY_USAGE, {1500, 2 * GI}, {6000, 9 * GI}},
		{"more than they ask for", {{TIER_HIGH, {1000, GI}}, {TIER_HIGH, {1000, GI}}},
			{5000, 9 * GI}, POLICY_MAX_USAGE_REQUEST, {5000, 9 * GI}, {5000, 9 * GI}},
		{"an exclusive one uses what it asks for, beside",
			{{TIER_HIGH_EXCLUSIVE, {4000, GI}}, {TIER_HIGH, {1000, GI}}},
			{2000, 2 * GI}, POLICY_USAGE, {6000, 2 * GI}, {5000, 2 * GI}},
		{"pods that nobody knows yet", {{TIER_LOW}, {TIER_LOW}}, {700, GI}, POLICY_USAGE,
			{700, GI}, {700, GI}},
		{"below nothing is nothing", {{TIER_HIGH, {1000, GI}}, {TIER_LOW}}, {-5, -5},
			POLICY_USAGE, {0, 0}, {1000, GI}},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct estimate_node n = {.allocatable = {16000, 64 * GI},
			.pods = rows[i].pod,
			.npods = 2,
			.has_rest = true,
			.rest = rows[i].rest};
		struct strategy s = strategy_default(PROFILE_ACK);
		s.cpu_policy = s.memory_policy = rows[i].policy;
		struct estimate e = made(&s, &n);
		same_load(rows[i].name, "used", (struct load){e.cpu.used, e.memory.used},
			rows[i].used);
		same_load(rows[i].name, "max", (struct load){e.cpu.max, e.memory.max}, rows[i].max);
		same(rows[i].name, "without a sample", (int64_t)e.without_sample, 0);
	}
}

static void integers_are_divided_downwards(void **state)
{
	static const struct {
		const char *name;
		int64_t base, percent, cap_percent, result, cap;
	} rows[] = {
		{"65 % of 333", 333, 65, -1, 216, -1},
		{"29 % of 100", 100, 29, -1, 29, -1},
		{"a third of nothing", 0, 33, -1, 0, -1},
		{"none of it", 333, 0, -1, 0, -1},
		{"more than all", 333, 150, -1, 499, -1},
		{"capped", 333, 150, 50, 166, 166},
		{"capped at nothing", 333, 65, 0, 0, 0},
		{"a cap above it", 333, 65, 90, 216, 299},
		{"as much as there is", INT64_MAX, 100, -1, INT64_MAX, -1},
		{"and more", INT64_MAX, INT32_MAX, -1, INT64_MAX, -1},
		{"a wrong base", -5, 65, -1, 0, -1},
		{"a wrong percentage", 333, INT64_MIN, -1, 0, -1},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct estimate_node n = {.allocatable = {rows[i].base, rows[i].base}};
		struct strategy s = strategy_default(PROFILE_ACK);
		s.cpu_percent = s.memory_percent = rows[i].percent;
		s.cpu_cap = s.memory_cap = rows[i].cap_percent;
		struct estimate e = made(&s, &n);
		same_load(rows[i].name, "figure", (struct load){e.cpu.result, e.memory.result},
			(struct load){rows[i].result, rows[i].result});
		same(rows[i].name, "cap", e.cpu.cap, rows[i].cap);
	}
}

/* Whatever the numbers: no overflow (the sanitizer watches), and never more than the base allows.
 */
static void sums_stop_at_the_ends(void **state)
{
	static const int64_t ends[] = {INT64_MIN, -1, 0, 1, INT64_MAX / 2, INT64_MAX};
	(void)state;
	for (size_t i = 0; i < 6 * 6 * 6 * 6; i++) {
		int64_t a = ends[i % 6], b = ends[i / 6 % 6], c = ends[i / 36 % 6];
		struct load x = {a, b}, y = {b, c}, z = {c, a};
		const struct estimate_pod pods[] = {
			{TIER_HIGH, x, true, y}, {TIER_HIGH_EXCLUSIVE, y, false, z}};
		const struct estimate_node n = {.capacity = x,
			.allocatable = y,
			.reservation = z,
			.system_used = x,
			.dangling = y,
			.pods = pods,
			.npods = 2,
			.has_forecast = a & 1,
			.forecast = z};
		for (int profile = PROFILE_ACK; profile <= PROFILE_KOORDINATOR; profile++) {
			struct strategy s = strategy_default((enum profile)profile);
			s.cpu_percent = s.memory_percent = s.cpu_cap = s.reserve_cpu =
				ends[i / 216 % 6];
			s.memory_policy = (enum lending_policy)(i % 3);
			struct estimate e = made(&s, &n);
			assert_true(e.cpu.result >= 0 && e.memory.result >= 0);
			struct load all = estimate_taken(&e), busy = estimate_busy(&e);
			assert_true(all.cpu_milli >= e.cpu.taken && busy.cpu_milli >= e.cpu.used);
			struct load mean = estimate_with_taken(&e, z);
			struct load same_again = estimate_with_taken(&e, all);
			assert_true(same_again.cpu_milli >= e.cpu.result);
			struct load gocran = estimate_gocran(&s, &n, &e);
			assert_true(mean.cpu_milli >= 0 && mean.memory_bytes >= 0);
			assert_true(gocran.cpu_milli >= 0 && gocran.memory_bytes >= 0);
		}
	}
}

static void with_another_use(void **state)
{
	(void)state;
	struct estimate_node n = {.allocatable = {16000, 64 * GI}, .system_used = {1000, GI}};
	struct strategy s = strategy_default(PROFILE_ACK);
	s.cpu_cap = 50;
	struct estimate e = made(&s, &n);
	same("as it is", "cpu", estimate_with_taken(&e, (struct load){1000, GI}).cpu_milli,
		e.cpu.result);
	same("as it is", "memory", estimate_with_taken(&e, (struct load){1000, GI}).memory_bytes,
		e.memory.result);
	same("more", "cpu", estimate_with_taken(&e, (struct load){4000, GI}).cpu_milli, 6400);
	same("less, and capped", "cpu", estimate_with_taken(&e, (struct load){0, 0}).cpu_milli,
		8000);
	same("all", "cpu", estimate_with_taken(&e, (struct load){99000, GI}).cpu_milli, 0);
	same("less than nothing", "cpu", estimate_with_taken(&e, (struct load){-9000, 0}).cpu_milli,
		8000);
}

/* allocatable - reserve - max(high + system now, forecast) */
static void under_gocran(void **state)
{
	static const struct {
		const char *name;
		int64_t reserve;
		bool has_forecast;
		struct load forecast, used, system, reservation;
		struct load result;
	} rows[] = {
		{"the forecast is more than now", 0, true, {9000, 30 * GI}, {2000, 4 * GI},
			{1000, GI}, {0, 0}, {7000, 34 * GI}},
		{"now is more than the forecast", 0, true, {2000, GI}, {7000, 20 * GI}, {1000, GI},
			{0, 0}, {8000, 43 * GI}},
		{"no forecast: as they ask", 0, false, {0, 0}, {2000, 4 * GI}, {1000, GI}, {0, 0},
			{10000, 48 * GI}},
		{"no forecast, and more is used", 0, false, {0, 0}, {8000, 20 * GI}, {1000, GI},
			{0, 0}, {7000, 43 * GI}},
		{"a reserve", 25, true, {9000, 30 * GI}, {2000, 4 * GI}, {1000, GI}, {0, 0},
			{3000, 18 * GI}},
		{"what is kept for the system", 0, true, {0, 0}, {2000, 4 * GI}, {1000, GI},
			{3000, 2 * GI}, {11000, 58 * GI}},
		{"nothing is left", 0, true, {17000, 65 * GI}, {0, 0}, {0, 0}, {0, 0}, {0, 0}},
		{"all is reserved", 100, true, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++)
		for (int profile = PROFILE_ACK; profile <= PROFILE_KOORDINATOR; profile++) {
			const struct estimate_pod pod = {
				TIER_HIGH, {6000, 16 * GI}, true, rows[i].used};
			const struct estimate_node n = {.capacity = {18000, 68 * GI},
				.allocatable = {16000, 64 * GI},
				.reservation = rows[i].reservation,
				.system_used = rows[i].system,
				.pods = &pod,
				.npods = 1,
				.has_forecast = rows[i].has_forecast,
				.forecast = rows[i].forecast};
			struct strategy s = strategy_default((enum profile)profile);
			s.reserve_cpu = s.reserve_memory = rows[i].reserve;
			struct estimate e = made(&s, &n);
			same_load(rows[i].name, "figure", estimate_gocran(&s, &n, &e),
				rows[i].result);
		}
}

/* For the window: what the policy subtracts. For the forecast: what is used, whatever the policy.
 */
static void what_is_taken_and_what_is_busy(void **state)
{
	static const struct {
		enum profile profile;
		enum lending_policy policy; /* of memory */
		int64_t taken, busy;
	} rows[] = {
		{PROFILE_ACK, POLICY_USAGE, 3 + 5, 3 + 5},
		{PROFILE_ACK, POLICY_REQUEST, 3 + 8, 3 + 5},
		{PROFILE_ACK, POLICY_MAX_USAGE_REQUEST, 3 + 8, 3 + 5},
		{PROFILE_KOORDINATOR, POLICY_REQUEST, 2 + 8, 3 + 5},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct estimate_pod pod = {TIER_HIGH, {4000, 8 * GI}, true, {1000, 5 * GI}};
		const struct estimate_node n = {.capacity = {17000, 66 * GI},
			.allocatable = {16000, 64 * GI},
			.system_used = {500, 3 * GI},
			.pods = &pod,
			.npods = 1};
		struct strategy s = strategy_default(rows[i].profile);
		s.memory_policy = rows[i].policy;
		struct estimate e = made(&s, &n);
		assert_int_equal(estimate_taken(&e).memory_bytes, rows[i].taken * GI);
		assert_int_equal(estimate_busy(&e).memory_bytes, rows[i].busy * GI);
	}
}

static void who_is_counted(void **state)
{
	(void)state;
	const struct estimate_pod pods[] = {{TIER_HIGH, {1, 1}, true, {1, 1}}, {TIER_HIGH, {1, 1}},
		{TIER_HIGH_EXCLUSIVE, {1, 1}}, {TIER_LOW}, {TIER_LOW}};
	struct estimate_node n = {.pods = pods, .npods = 5};
	struct strategy s = strategy_default(PROFILE_ACK);
	struct estimate e = made(&s, &n);
	assert_int_equal(e.high_pods, 3);
	assert_int_equal(e.low_pods, 2);
	assert_int_equal(e.without_sample, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(the_figures_of_the_document),
		cmocka_unit_test(what_counts), cmocka_unit_test(pods_that_are_measured_together),
		cmocka_unit_test(integers_are_divided_downwards),
		cmocka_unit_test(sums_stop_at_the_ends), cmocka_unit_test(with_another_use),
		cmocka_unit_test(under_gocran), cmocka_unit_test(what_is_taken_and_what_is_busy),
		cmocka_unit_test(who_is_counted)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
