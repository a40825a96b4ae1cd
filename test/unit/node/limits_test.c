/* What a cgroup is to say for what a pod asks for. */
#include "draw.h"

#include "node/limits.h"

#define NONE LIMIT_NONE

static void what_a_cgroup_says(void **state)
{
	static const struct {
		const char *name;
		struct load asked;
		enum cgroup_version v;
		int64_t period_us;
		struct cgroup_limits are;
	} rows[] = {
		{"a core", {1000, 64 * MIB}, CGROUP_V2, 0, {100000, 100, 64 * MIB, NONE}},
		{"a core, v1", {1000, 64 * MIB}, CGROUP_V1, 0, {100000, 1024, 64 * MIB, NONE}},
		{"another period", {300, 0}, CGROUP_V2, 10000, {3000, 30, NONE, NONE}},
		{"nothing", {0, 0}, CGROUP_V2, 0, {NONE, NONE, NONE, NONE}},
		{"no cpu", {0, 4 * MIB}, CGROUP_V1, 0, {NONE, NONE, 4 * MIB, NONE}},
		{"the least quota and weight", {1, 1}, CGROUP_V2, 0, {1000, 1, 64 << 10, NONE}},
		{"the least quota and shares", {1, 1}, CGROUP_V1, 0, {1000, 2, 64 << 10, NONE}},
		{"just above the least quota", {11, 0}, CGROUP_V2, 0, {1100, 1, NONE, NONE}},
		{"the most weight", {100001, 0}, CGROUP_V2, 0, {10000100, 10000, NONE, NONE}},
		{"the most shares", {256001, 0}, CGROUP_V1, 0, {25600100, 262144, NONE, NONE}},
		{"no whole pages", {0, 50000000}, CGROUP_V2, 0, {NONE, NONE, 49938432, NONE}},
		{"more than any machine", {INT64_MAX, INT64_MAX}, CGROUP_V2, 0,
			{(INT64_C(1) << 44) - 1, 10000, INT64_MAX - 65535, NONE}},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct cgroup_limits l = limits_of(rows[i].asked, rows[i].v, rows[i].period_us);
		same(rows[i].name, "quota", l.quota_us, rows[i].are.quota_us);
		same(rows[i].name, "weight", l.weight, rows[i].are.weight);
		same(rows[i].name, "memory", l.memory_bytes, rows[i].are.memory_bytes);
		same(rows[i].name, "high", l.high_bytes, rows[i].are.high_bytes);
	}
}

static void quota_and_back(void **state)
{
	(void)state;
	assert_int_equal(limits_quota_us(NONE, 100000), NONE);
	assert_int_equal(limits_quota_milli(NONE, 100000), NONE);
	assert_int_equal(limits_quota_milli(30000, 100000), 300);
	assert_int_equal(limits_quota_milli(30000, 0), 300);
	assert_int_equal(limits_quota_milli(1999, 100000), 19);
	assert_int_equal(limits_pages(NONE), NONE);
	for (int64_t milli = 10; milli < 300000; milli += 7)
		assert_int_equal(limits_quota_milli(limits_quota_us(milli, 0), 0), milli);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_cgroup_says),
		cmocka_unit_test(quota_and_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
