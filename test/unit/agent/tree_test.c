/*
 * Where cgroups are: both versions and drivers, the nodes of kind, a mount of a part, hybrid trees;
 * and names as the runtimes give them.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/tree.h"
#include "fake_tree.h"

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))
#define UID_A "4f0c1e12-93ab-4f1e-8a55-0123456789ab"
#define ID "97bd0f1e2d3c4b5a69788796a5b4c3d2e1f00112233445566778899aabbccdde"
#define OTHER_ID "00bd0f1e2d3c4b5a69788796a5b4c3d2e1f00112233445566778899aabbccdde"

static void names_of_pods(void **state)
{
	static const struct {
		const char *name;
		bool is;
	} table[] = {
		{"pod" UID_A, true},
		{"kubepods-besteffort-pod4f0c1e12_93ab_4f1e_8a55_0123456789ab.slice", true},
		{"kubelet-kubepods-besteffort-pod4f0c1e12_93ab_4f1e_8a55_0123456789ab.slice", true},
		{"pod" UID_A "x", false},
		{"pod", false},
		{"kubepods-besteffort-pod.slice", false},
		/* A static pod has a hash. */
		{"pod0123456789abcdef0123456789abcdef", false},
		{"kubepods-besteffort-pod0123456789abcdef0123456789abcdef.slice", false},
		{UID_A, false},
		{"system.slice", false},
		{"", false},
	};
	(void)state;
	for (size_t i = 0; i < ROWS(table); i++) {
		struct uid uid;
		char text[UID_TEXT_SIZE];
		bool is = cgroup_pod_uid(table[i].name, &uid);
		if (is != table[i].is)
			fail_msg("%s: %d", table[i].name, is);
		if (!is)
			continue;
		uid_format(&uid, text);
		assert_string_equal(text, UID_A);
	}
}

static void names_of_containers(void **state)
{
	static const struct {
		const char *name;
		bool is;
	} table[] = {
		{ID, true}, /* cgroupfs, any runtime */
		{"cri-containerd-" ID ".scope", true},
		{"crio-" ID ".scope", true},
		{"crio-" ID, true},
		{"docker-" ID ".scope", true},
		{"crio-conmon-" ID ".scope", false},
		{"cri-containerd-" OTHER_ID ".scope", false},
		{"init.scope", false},
	};
	(void)state;
	for (size_t i = 0; i < ROWS(table); i++)
		if (cgroup_is_container(table[i].name, ID) != table[i].is)
			fail_msg("%s", table[i].name);
	assert_false(cgroup_is_container("anything", ""));
}

static void finds_the_tier_of_each_kind_of_node(void **state)
{
	static const struct {
		const char *name, *above;
		enum cgroup_version version;
		bool systemd;
	} table[] = {
		{"v2, systemd", "", CGROUP_V2, true},
		{"v2, cgroupfs", "", CGROUP_V2, false},
		{"v1, systemd", "", CGROUP_V1, true},
		{"v1, cgroupfs", "", CGROUP_V1, false},
		{"kind, systemd", "kubelet.slice/kubelet-", CGROUP_V2, true},
		{"kind, cgroupfs", "kubelet/", CGROUP_V2, false},
		{"a cgroupRoot, v1", "sluice-ag-9c7f910c/", CGROUP_V1, false},
		{"a cgroupRoot two deep", "a/b/", CGROUP_V2, false},
	};
	(void)state;
	for (size_t i = 0; i < ROWS(table); i++) {
		struct fake_tree t = {.version = table[i].version,
			.systemd = table[i].systemd,
			.above = table[i].above};
		struct cgroup_tree found;
		struct err e = {""};
		fake_tree_make(&t);
		if (cgroup_tree_find(t.root, NULL, &found, &e) != 0)
			fail_msg("%s: %s", table[i].name, e.text);
		assert_string_equal(found.tier[HIERARCHY_CPU], fake_tier(&t, "cpu.max"));
		assert_string_equal(found.tier[HIERARCHY_USAGE], fake_tier(&t, "cpuacct.usage"));
		assert_string_equal(found.tier[HIERARCHY_MEMORY], fake_tier(&t, "memory.max"));
		assert_int_equal(found.version[HIERARCHY_CPU], t.version);
		assert_int_equal(found.version[HIERARCHY_MEMORY], t.version);
		assert_int_equal(found.systemd, t.systemd);
		cgroup_tree_done(&found);
		fake_tree_remove(&t);
	}
}

/* As a DaemonSet has it: the folder of the node's pods alone, mounted elsewhere. */
static void finds_the_tier_in_a_mount_of_kubepods_alone(void **state)
{
	struct fake_tree t = {.version = CGROUP_V2, .systemd = true};
	struct cgroup_tree found;
	struct err e = {""};
	char file[256];
	(void)state;
	fake_tree_make(&t);
	snprintf(file, sizeof(file), "%s/cgroup.controllers", t.root);
	assert_int_equal(unlink(file), 0);
	assert_int_equal(cgroup_tree_find(t.root, NULL, &found, &e), 0);
	assert_string_equal(found.tier[HIERARCHY_CPU], fake_tier(&t, "cpu.max"));
	assert_int_equal(found.version[HIERARCHY_MEMORY], CGROUP_V2);
	cgroup_tree_done(&found);
	fake_tree_remove(&t);
}

static void run_in(const char *root, const char *command)
{
	char text[1024];
	snprintf(text, sizeof(text), "cd '%s' && %s", root, command);
	assert_int_equal(system(text), 0);
}

/* The controllers of v1 in joined and linked folders, and an empty v2 beside them. */
static void finds_the_tier_of_a_hybrid_node(void **state)
{
	struct fake_tree t = {.version = CGROUP_V1, .systemd = true};
	struct cgroup_tree found;
	struct err e = {""};
	(void)state;
	fake_tree_make(&t);
	run_in(t.root,
		"mv cpu cpu,cpuacct && cp -r cpuacct/* cpu,cpuacct && rm -r cpuacct"
		" && ln -s cpu,cpuacct cpu && ln -s cpu,cpuacct cpuacct"
		" && U=unified/kubepods.slice/kubepods-besteffort.slice && mkdir -p $U && :>$U/cgroup.controllers");
	assert_int_equal(cgroup_tree_find(t.root, NULL, &found, &e), 0);
	assert_non_null(strstr(found.tier[HIERARCHY_CPU], "/cpu,cpuacct/"));
	assert_string_equal(found.tier[HIERARCHY_CPU], found.tier[HIERARCHY_USAGE]);
	assert_int_equal(found.version[HIERARCHY_USAGE], CGROUP_V1);
	assert_int_equal(found.version[HIERARCHY_MEMORY], CGROUP_V1);
	cgroup_tree_done(&found);
	/* Memory may be v2's there (cgroup_no_v1=memory): it is taken from where it is. */
	run_in(t.root,
		"rm -r memory && echo memory >unified/kubepods.slice/kubepods-besteffort.slice/cgroup.controllers");
	assert_int_equal(cgroup_tree_find(t.root, NULL, &found, &e), 0);
	assert_int_equal(found.version[HIERARCHY_CPU], CGROUP_V1);
	assert_int_equal(found.version[HIERARCHY_MEMORY], CGROUP_V2);
	assert_non_null(strstr(found.tier[HIERARCHY_MEMORY], "/unified/"));
	cgroup_tree_done(&found);
	fake_tree_remove(&t);
}

static void a_tier_that_is_named_is_not_looked_for(void **state)
{
	static const enum cgroup_version versions[] = {CGROUP_V1, CGROUP_V2};
	(void)state;
	for (size_t i = 0; i < ROWS(versions); i++) {
		struct fake_tree t = {.version = versions[i], .above = "b/"};
		struct cgroup_tree found;
		struct err e = {""};
		fake_tree_make(&t);
		/* By its name "a" would be the first. */
		run_in(t.root,
			"for b in $(find . -type d -name b); do cp -r $b $(dirname $b)/a; done");
		assert_int_equal(cgroup_tree_find(t.root, NULL, &found, &e), 0);
		assert_non_null(strstr(found.tier[HIERARCHY_MEMORY], "/a/kubepods/"));
		cgroup_tree_done(&found);
		assert_int_equal(cgroup_tree_find(t.root, "/b/kubepods/besteffort", &found, &e), 0);
		assert_string_equal(found.tier[HIERARCHY_CPU], fake_tier(&t, "cpu.max"));
		assert_string_equal(found.tier[HIERARCHY_MEMORY], fake_tier(&t, "memory.max"));
		cgroup_tree_done(&found);
		assert_int_equal(cgroup_tree_find(t.root, "c/besteffort", &found, &e), ERR_GONE);
		assert_non_null(strstr(e.text, "--tier"));
		fake_tree_remove(&t);
	}
}

static void a_node_without_pods_says_what_to_do(void **state)
{
	char root[] = "/tmp/sluice-agent-XXXXXX";
	struct cgroup_tree found;
	struct err e = {""};
	(void)state;
	assert_non_null(mkdtemp(root));
	assert_int_equal(cgroup_tree_find(root, NULL, &found, &e), ERR_GONE);
	assert_non_null(strstr(e.text, "--tier"));
	assert_int_equal(rmdir(root), 0);
	assert_int_equal(cgroup_tree_find(root, NULL, &found, &e), ERR_GONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_pods),
		cmocka_unit_test(names_of_containers),
		cmocka_unit_test(finds_the_tier_of_each_kind_of_node),
		cmocka_unit_test(finds_the_tier_in_a_mount_of_kubepods_alone),
		cmocka_unit_test(finds_the_tier_of_a_hybrid_node),
		cmocka_unit_test(a_tier_that_is_named_is_not_looked_for),
		cmocka_unit_test(a_node_without_pods_says_what_to_do),
	};
	return cmocka_run_group_tests_name("agent/tree", tests, NULL, NULL);
}
