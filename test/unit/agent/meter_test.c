/* Counters become use; what is missing, half a line or went back becomes nothing. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/meter.h"
#include "fake_tree.h"

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))
#define UID_A "4f0c1e12-93ab-4f1e-8a55-0123456789ab"

static void open_pod(
	const struct fake_tree *t, struct cgroup_tree *ret_tree, struct gauge *ret_gauge)
{
	char *dir[HIERARCHIES];
	struct err e;
	assert_int_equal(cgroup_tree_find(t->root, NULL, ret_tree, &e), 0);
	for (int h = 0; h < HIERARCHIES; h++)
		assert_true(
			asprintf(&dir[h], "%s/%s", ret_tree->tier[h], fake_pod_name(t, UID_A)) > 0);
	gauge_init(ret_gauge);
	gauge_open(ret_gauge, ret_tree, dir);
	for (int h = 0; h < HIERARCHIES; h++)
		free(dir[h]);
}

static void a_pod_of_both_versions(void **state)
{
	static const enum cgroup_version versions[] = {CGROUP_V1, CGROUP_V2};
	(void)state;
	for (size_t i = 0; i < ROWS(versions); i++) {
		struct fake_tree t = {.version = versions[i]};
		struct cgroup_tree tree;
		struct gauge g;
		struct reading a, b;
		bool v2 = t.version == CGROUP_V2;
		fake_tree_make(&t);
		fake_pod_make(&t, UID_A);
		open_pod(&t, &tree, &g);
		gauge_read(&g, 1000000, &a);
		assert_int_equal(a.cpu_us, 0);
		if (v2) {
			fake_put(&t, UID_A, "cpu.stat",
				"usage_usec 300000\nuser_usec 1\nnr_throttled 7\nthrottled_usec 90000");
		} else {
			fake_put(&t, UID_A, "cpuacct.usage", "300000999");
			fake_put(&t, UID_A, "cpu.stat", "nr_throttled 7\nthrottled_time 90000000");
		}
		fake_put(&t, UID_A, "memory.current", "5000000");
		fake_put(&t, UID_A, "memory.stat",
			v2 ? "anon 1\ninactive_file 1000000"
			   : "inactive_file 1\ntotal_inactive_file 1000000");
		gauge_read(&g, 2000000, &b);
		assert_int_equal(reading_cpu_milli(&a, &b), 300);
		assert_int_equal(b.throttles, 7);
		assert_int_equal(b.throttled_us, 90000);
		assert_int_equal(b.memory_bytes, 5000000);
		assert_int_equal(b.working_bytes, 4000000);
		/* A counter that goes back, and a window without a length, are no use. */
		assert_int_equal(reading_cpu_milli(&b, &a), -1);
		assert_int_equal(reading_cpu_milli(&b, &b), -1);
		gauge_close(&g);
		cgroup_tree_done(&tree);
		fake_tree_remove(&t);
	}
}

static void what_cannot_be_read_is_nothing(void **state)
{
	static const char *const table[] = {
		"",
		"usage_usec 12", /* half a line: it may be 12345 */
		"usage_usec -5\n",
		"usage_usec 99999999999999999999\n",
		"usage_usec \n",
		"usage_usecs 5\n",
		"user_usec 5\n",
	};
	struct fake_tree t = {.version = CGROUP_V2};
	struct cgroup_tree tree;
	struct gauge g;
	struct reading r;
	char path[512];
	(void)state;
	fake_tree_make(&t);
	fake_pod_make(&t, UID_A);
	open_pod(&t, &tree, &g);
	for (size_t i = 0; i < ROWS(table); i++) {
		snprintf(path, sizeof(path), "%s/cpu.stat", fake_pod(&t, UID_A, "cpu.stat"));
		fake_file(path, table[i]);
		gauge_read(&g, 1000000, &r);
		if (r.cpu_us != -1)
			fail_msg("\"%s\" is %lld", table[i], (long long)r.cpu_us);
	}
	fake_put(&t, UID_A, "memory.current", "5000000");
	fake_put(&t, UID_A, "memory.stat", "anon 3");
	gauge_read(&g, 1000000, &r);
	assert_int_equal(r.memory_bytes, 5000000);
	assert_int_equal(r.working_bytes, -1);
	gauge_close(&g);
	gauge_read(&g, 1000000, &r);
	assert_int_equal(r.memory_bytes, -1);
	cgroup_tree_done(&tree);
	fake_tree_remove(&t);
}

static char proc[] = "/tmp/sluice-agent-XXXXXX";

static void put_proc(const char *file, const char *text)
{
	char path[128];
	snprintf(path, sizeof(path), "%s/%s", proc, file);
	fake_file(path, text);
}

static void the_node(void **state)
{
	char command[128];
	struct node_gauge g;
	struct node_reading a, b;
	(void)state;
	assert_non_null(mkdtemp(proc));
	snprintf(command, sizeof(command), "%s/pressure", proc);
	mkdir(command, 0755);
	put_proc("stat", "cpu  100 10 20 5000 700 3 4 900 0 0\ncpu0 1 2 3\n");
	put_proc("meminfo", "MemTotal:        1000 kB\nMemFree:          200 kB\n"
			    "MemAvailable:     500 kB\nInactive(file):   100 kB\n");
	put_proc("pressure/memory",
		"some avg10=0.00 avg60=0.00 avg300=0.00 total=1234\nfull avg10=0.00 total=9\n");
	node_gauge_open(&g, proc);
	node_gauge_read(&g, 1000000, &a);
	assert_int_equal(a.cpu_us, 137 * 10000); /* not idle, iowait and steal */
	assert_int_equal(a.total_bytes, 1000 * 1024);
	assert_int_equal(a.available_bytes, 500 * 1024);
	assert_int_equal(a.working_bytes, 700 * 1024);
	assert_int_equal(a.pressure_us, 1234);
	put_proc("stat", "cpu  150 10 20 6000 700 3 4 999 0 0\n");
	node_gauge_read(&g, 2000000, &b);
	assert_int_equal(node_reading_cpu_milli(&a, &b), 500);
	/* A kernel without MemAvailable, and one without pressure. */
	put_proc("meminfo", "MemTotal: 1000 kB\nMemFree: 200 kB\n");
	put_proc("pressure/memory", "");
	node_gauge_read(&g, 2000000, &b);
	assert_int_equal(b.available_bytes, -1);
	assert_int_equal(b.working_bytes, -1);
	assert_int_equal(b.pressure_us, -1);
	node_gauge_close(&g);
	snprintf(command, sizeof(command), "rm -r %s", proc);
	assert_int_equal(system(command), 0);
	node_gauge_open(&g, proc);
	node_gauge_read(&g, 3000000, &b);
	assert_int_equal(b.cpu_us, -1);
	assert_int_equal(node_reading_cpu_milli(&a, &b), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pod_of_both_versions),
		cmocka_unit_test(what_cannot_be_read_is_nothing),
		cmocka_unit_test(the_node),
	};
	return cmocka_run_group_tests_name("agent/meter", tests, NULL, NULL);
}
