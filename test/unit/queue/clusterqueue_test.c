/* Specs that are refused, each with a sentence; and quota rows, symbols, sentences. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "queue/core/model/clusterqueue.h"
#include "base/symbol.h"
#include "queue/job/text.h"

static const char *const cpu[] = {"cpu"}, *const cpu_mem[] = {"cpu", "memory"},
			 *const twice[] = {"cpu", "cpu"};
#define FREE QUOTA_UNLIMITED, QUOTA_UNLIMITED
static const struct quota_spec q_cpu[] = {{"cpu", 4, FREE}};
static const struct quota_spec q_both[] = {{"cpu", 4, FREE}, {"memory", 4, FREE}};
static const struct quota_spec q_swapped[] = {{"memory", 4, FREE}, {"cpu", 4, FREE}};
static const struct quota_spec q_twice[] = {{"cpu", 4, FREE}, {"cpu", 4, FREE}};
static const struct quota_spec q_negative[] = {{"cpu", -1, FREE}};
static const struct quota_spec q_borrows[] = {{"cpu", 4, 2, QUOTA_UNLIMITED}};
static const struct quota_spec q_lends[] = {{"cpu", 4, QUOTA_UNLIMITED, 5}};
static const struct flavor_quota_spec spot[] = {{"spot", q_cpu, 1}, {"spot", q_cpu, 1}};
static const struct flavor_quota_spec spot_both = {"spot", q_both, 2};
static const struct flavor_quota_spec spot_swapped = {"spot", q_swapped, 2};
static const struct flavor_quota_spec spot_twice = {"spot", q_twice, 2};
static const struct flavor_quota_spec spot_negative = {"spot", q_negative, 1};
static const struct flavor_quota_spec spot_borrows = {"spot", q_borrows, 1};
static const struct flavor_quota_spec spot_lends = {"spot", q_lends, 1};

static const struct {
	const char *name, *cohort;
	struct resource_group_spec group;
	const char *sentence; /* NULL: accepted */
} specs[] = {
	{"one flavor", "", {cpu, 1, spot, 1}, NULL},
	{"two resources in order", "", {cpu_mem, 2, &spot_both, 1}, NULL},
	{"a limit in a cohort", "c", {cpu, 1, &spot_borrows, 1}, NULL},
	{"no resources", "", {cpu, 0, spot, 1},
		"ClusterQueue q: spec.resourceGroups[0].coveredResources lists 0 resources; list 1 "
		"to "
		"64"},
	{"no flavors", "", {cpu, 1, spot, 0},
		"ClusterQueue q: spec.resourceGroups[0].flavors lists 0 flavors; list 1 to 64"},
	{"too many flavors", "", {cpu, 1, spot, 65},
		"ClusterQueue q: spec.resourceGroups[0].flavors lists 65 flavors; list 1 to 64"},
	{"too many pairs", "", {cpu, 60, spot, 60},
		"ClusterQueue q: spec.resourceGroups[0] has 3600 quotas; at most 512 are possible "
		"in a "
		"group"},
	{"a resource twice", "", {twice, 2, &spot_twice, 1},
		"ClusterQueue q: spec.resourceGroups[0].coveredResources lists cpu a second time; "
		"a "
		"resource may be in one group only, once"},
	{"a flavor twice", "", {cpu, 1, spot, 2},
		"ClusterQueue q: spec.resourceGroups[0].flavors lists spot a second time; a flavor "
		"may "
		"be in one group only, once"},
	{"a quota missing", "", {cpu_mem, 2, spot, 1},
		"ClusterQueue q: spec.resourceGroups[0].flavors[0].resources: flavor spot has "
		"quotas for 1 resources, its group covers 2; list each of coveredResources, in the "
		"same order"},
	{"another order", "", {cpu_mem, 2, &spot_swapped, 1},
		"ClusterQueue q: spec.resourceGroups[0].flavors[0].resources[0].name: is memory "
		"where coveredResources has cpu; list the resources of flavor spot in the same "
		"order"},
	{"negative", "", {cpu, 1, &spot_negative, 1},
		"ClusterQueue q: spec.resourceGroups[0].flavors[0].resources[0].nominalQuota: of "
		"cpu in flavor spot is negative; it must be 0 or more"},
	{"a limit without a cohort", "", {cpu, 1, &spot_borrows, 1},
		"ClusterQueue q: spec.resourceGroups[0].flavors[0].resources[0].borrowingLimit: of "
		"cpu in flavor spot is set, but this is below no Cohort; set spec.cohortName or "
		"remove the limit"},
	{"lends more than it has", "c", {cpu, 1, &spot_lends, 1},
		"ClusterQueue q: spec.resourceGroups[0].flavors[0].resources[0].lendingLimit: of "
		"cpu in flavor spot is more than its nominalQuota; lower it"},
};

static void specs_are_checked(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		struct err e = {""};
		struct clusterqueue_spec s = {.name = "q",
			.cohort = specs[i].cohort,
			.groups = &specs[i].group,
			.ngroups = 1};
		int code = clusterqueue_check(&s, &e);
		if ((code != 0) != (specs[i].sentence != NULL))
			fail_msg("%s: %s", specs[i].name, e.text);
		if (specs[i].sentence)
			assert_string_equal(e.text, specs[i].sentence);
	}
}

static void symbols_are_kept_once(void **state)
{
	(void)state;
	struct map symbols;
	symbols_init(&symbols);
	char text[] = "spot";
	const char *first = symbol_of(&symbols, text);
	text[0] = 'X';
	assert_string_equal(first, "spot");
	assert_ptr_equal(symbol_of(&symbols, "spot"), first);
	assert_ptr_not_equal(symbol_of(&symbols, text), first);
	symbols_done(&symbols);
}

static void available_is_never_negative(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		int64_t nominal, free;
		__int128 reserved;
	} rows[] = {
		{"empty", 10, 10, 0},
		{"part", 10, 4, 6},
		{"full", 10, 0, 10},
		{"over", 10, 0, 11},
		{"absurdly over", 10, 0, (__int128)INT64_MAX * 5},
		{"a whole int64", INT64_MAX, INT64_MAX, 0},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct quota_row row = {
			.subtree = rows[i].nominal, .use = {rows[i].reserved, rows[i].reserved}};
		if (quota_available(&row) != rows[i].free)
			fail_msg("%s", rows[i].name);
	}
	assert_false(quota_fits(INT64_MAX, INT64_MAX));
	assert_true(quota_fits(INT64_MAX - 1, INT64_MAX));
	assert_true(quota_shown((__int128)INT64_MAX * 2) == INT64_MAX);
}

static void sentences_are_cut_at_a_character(void **state)
{
	(void)state;
	static const struct {
		const char *name, *in, *out;
	} cases[] = {
		{"fits", "abcdefghi", "abcdefghi"},
		{"one too long", "abcdefghij", "abcdef..."},
		{"in the middle of a character", "abcde\xC3\xA9gh xyz", "abcde..."},
		{"at its end", "abcd\xC3\xA9gh xyz", "abcd\xC3\xA9..."},
		{"not UTF-8", "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80",
			"\x80\x80\x80\x80\x80\x80..."},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char room[10];
		struct text t = text_over(room, sizeof(room));
		text_add(&t, "%s", cases[i].in);
		text_add(&t, "%s", ""); /* more is dropped once it is full */
		if (strcmp(room, cases[i].out) != 0)
			fail_msg("%s: \"%s\"", cases[i].name, room);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(specs_are_checked),
		cmocka_unit_test(symbols_are_kept_once),
		cmocka_unit_test(available_is_never_negative),
		cmocka_unit_test(sentences_are_cut_at_a_character),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
