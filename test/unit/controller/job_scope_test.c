/*
 * Which Jobs are managed, and the selector that says so.
 */
#include "controller/watch/job_scope.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "controller/common/selector.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const struct label PROD[] = {
	{"team", "a"}, {"env", "prod"}, {"kubernetes.io/metadata.name", "alpha"}};

static const struct selector_case {
	const char *text;
	bool good, takes; /* takes PROD */
} selectors[] = {
	{"", true, true},
	{" ", true, true},
	{"team=a", true, true},
	{"team==a", true, true},
	{"team = b", true, false},
	{"team!=a", true, false},
	{"team!=b", true, true},
	{"gone!=b", true, true},
	{"team", true, true},
	{"gone", true, false},
	{"!gone", true, true},
	{"! team", true, false},
	{"env in (prod,test)", true, true},
	{"env in ( test , dev )", true, false},
	{"env notin (test)", true, true},
	{"env notin (prod)", true, false},
	{"gone notin (prod)", true, true},
	{"team=a,env in (prod),!gone", true, true},
	{"team=a,env in (test),!gone", true, false},
	{"kubernetes.io/metadata.name notin (kube-system,sluice-system)", true, true},
	{"team=", true, false},
	{",", false, false},
	{"team=a,", false, false},
	{"team a", false, false},
	{"env in prod", false, false},
	{"env in (prod", false, false},
	{"!team=a", false, false},
	{"team>3", false, false},
	{"team=a)", false, false},
};

static void selectors_are_read_as_kubectl_reads_them(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(selectors); i++) {
		struct selector s;
		print_message("  \"%s\"\n", selectors[i].text);
		bool good = selector_parse(selectors[i].text, &s);
		assert_int_equal(good, selectors[i].good);
		if (good)
			assert_int_equal(
				labels_match(PROD, COUNT(PROD), &s.term), selectors[i].takes);
		selector_done(&s);
	}
}

static void a_selector_that_is_too_long_is_refused(void **state)
{
	(void)state;
	char text[4 * SELECTOR_VALUES_MAX + 16] = "a in (x";
	struct selector s;
	for (int i = 0; i < SELECTOR_VALUES_MAX; i++)
		strcat(text, ",x");
	strcat(text, ")");
	assert_false(selector_parse(text, &s));
	selector_done(&s);
	text[0] = '\0';
	for (int i = 0; i <= SELECTOR_REQUIREMENTS_MAX; i++)
		strcat(text, i ? ",a" : "a");
	assert_false(selector_parse(text, &s));
	selector_done(&s);
}

static bool has(struct job_scope *r, const char *ns, const char *queue)
{
	struct job j = {.ns = ns, .name = "j", .queue = queue};
	return job_scope_has(r, &j);
}

static bool see(struct job_scope *r, const char *ns, const char *team)
{
	struct label l = {"team", team};
	struct namespace_spec s = {.name = ns, .labels = &l, .nlabels = 1};
	return job_scope_see_namespace(r, &s);
}

static void without_a_selector_the_label_decides(void **state)
{
	(void)state;
	struct job_scope *r = job_scope_new(NULL, false);
	assert_true(has(r, "a", "q"));
	assert_false(has(r, "a", ""));
	assert_false(see(r, "a", "x")); /* no Job is looked at again for that */
	assert_false(job_scope_drop_namespace(r, "a"));
	job_scope_free(r);
	r = job_scope_new(NULL, true);
	assert_true(has(r, "a", ""));
	job_scope_free(r);
}

static void a_selector_leaves_other_namespaces_alone_label_or_not(void **state)
{
	(void)state;
	struct selector s;
	assert_true(selector_parse("team=a", &s));
	struct job_scope *r = job_scope_new(&s.term, true);
	see(r, "mine", "a");
	see(r, "other", "b");
	assert_true(has(r, "mine", "q"));
	assert_true(has(r, "mine", ""));
	assert_false(has(r, "other", "q"));
	assert_false(has(r, "other", ""));
	job_scope_free(r);
	selector_done(&s);
}

static void jobs_are_looked_at_again_when_their_namespace_changes_sides(void **state)
{
	(void)state;
	struct selector s;
	assert_true(selector_parse("team=a", &s));
	struct job_scope *r = job_scope_new(&s.term, false);
	assert_false(see(r, "quiet", "a")); /* nobody asked about a Job of it */
	assert_false(has(r, "late", "q"));  /* seen before its namespace */
	assert_true(see(r, "late", "a"));
	assert_true(has(r, "late", "q"));
	assert_false(see(r, "late", "a"));
	assert_true(see(r, "late", "b"));
	assert_false(has(r, "late", "q"));
	assert_false(job_scope_drop_namespace(r, "late"));
	assert_false(job_scope_drop_namespace(r, "never"));
	job_scope_free(r);
	selector_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(selectors_are_read_as_kubectl_reads_them),
		cmocka_unit_test(a_selector_that_is_too_long_is_refused),
		cmocka_unit_test(without_a_selector_the_label_decides),
		cmocka_unit_test(a_selector_leaves_other_namespaces_alone_label_or_not),
		cmocka_unit_test(jobs_are_looked_at_again_when_their_namespace_changes_sides),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
