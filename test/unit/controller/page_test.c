/*
 * The page: its files, and the right that each path of the aggregated API wants at this port. It must be
 * the right that the API server itself asks for (test/e2e/test_page.py holds both against each other).
 */
#include "controller/page/page.h"

#include <string.h>

#include "test/unit/kube/test.h"

static void files_are_found_by_their_path_alone(void **state)
{
	(void)state;
	const char *type = NULL, *text = page_text("/", &type);
	assert_non_null(text);
	assert_string_equal(type, "text/html; charset=utf-8");
	assert_ptr_equal(page_text("/page/index.html", &type), text);
	assert_non_null(page_text("/page/page.css", &type));
	assert_string_equal(type, "text/css; charset=utf-8");
	assert_non_null(page_text("/page/main.js", &type));
	assert_string_equal(type, "text/javascript; charset=utf-8");
	static const char *const others[] = {"", "/page", "/page/", "/page/main", "/main.js",
		"/page/../main.js", "/page/main.js/", "//", "/page/MAIN.js"};
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_null(page_text(others[i], &type));
}

/* The policy forbids what is written into the document, and what comes from elsewhere. */
static void the_document_keeps_to_its_policy(void **state)
{
	(void)state;
	assert_true(PAGE_FILES_COUNT > 0);
	for (size_t i = 0; i < PAGE_FILES_COUNT; i++) {
		const char *text = PAGE_FILES[i].text;
		print_message("  %s\n", PAGE_FILES[i].path);
		assert_null(strstr(text, "innerHTML"));
		assert_null(strstr(text, "https://"));
		assert_null(strstr(text, "<style"));
		assert_null(strstr(text, " style=\""));
		assert_null(strstr(text, " onclick="));
		assert_null(strstr(text, "javascript:"));
	}
}

#define ROOT "/apis/visibility.sluice.dev/v1alpha1"

static void each_path_wants_its_right(void **state)
{
	(void)state;
	static const struct {
		const char *path;
		bool watches;
		const char *right;
	} cases[] = {
		{ROOT "/queuedjobs", false, "list queuedjobs.visibility.sluice.dev"},
		{ROOT "/queuedjobs", true, "watch queuedjobs.visibility.sluice.dev"},
		{ROOT "/namespaces/ml/queuedjobs", false,
			"list queuedjobs.visibility.sluice.dev in namespace ml"},
		{ROOT "/namespaces/ml/queuedjobs", true,
			"watch queuedjobs.visibility.sluice.dev in namespace ml"},
		{ROOT "/namespaces/ml/queuedjobs/train", false,
			"get queuedjobs.visibility.sluice.dev in namespace ml"},
		{ROOT "/namespaces/ml/queuedjobs/train/start", false,
			"get queuedjobs/start.visibility.sluice.dev in namespace ml"},
		{ROOT "/whatifs", false, "list whatifs.visibility.sluice.dev"},
		{ROOT "/clusterqueues/night/queuedjobs", false,
			"get clusterqueues/queuedjobs.visibility.sluice.dev"},
		{ROOT "/costs", false, "list costs.visibility.sluice.dev"},
		{ROOT "/namespaces/ml/reports", false,
			"list reports.visibility.sluice.dev in namespace ml"},
		{ROOT "/namespaces/ml/histories", false,
			"list histories.visibility.sluice.dev in namespace ml"},
		{ROOT "/decisions", false, "list decisions.visibility.sluice.dev"},
		{ROOT "/namespaces/ml/decisions", false,
			"list decisions.visibility.sluice.dev in namespace ml"},
		{ROOT "/timelines", false, "list timelines.visibility.sluice.dev"},
		{ROOT "/namespaces/ml/timelines", false,
			"list timelines.visibility.sluice.dev in namespace ml"},
		{ROOT "/summaries", false, "list summaries.visibility.sluice.dev"},
		{ROOT "/namespaces/ml/summaries", false,
			"list summaries.visibility.sluice.dev in namespace ml"},
		{ROOT "/queuereports", false, "list queuereports.visibility.sluice.dev"},
		{ROOT "/namespaces/ml/queuereports", false,
			"list queuereports.visibility.sluice.dev in namespace ml"},
		{ROOT "/budgetreports", false, "list budgetreports.visibility.sluice.dev"},
		{ROOT "/nodereports", false, "list nodereports.visibility.sluice.dev"},
		{ROOT "/overcommits", false, "list overcommits.visibility.sluice.dev"},
		{ROOT "/overcommits/n1", false, "get overcommits.visibility.sluice.dev"},
		{ROOT "/clusterqueues/night/week", false,
			"get clusterqueues/week.visibility.sluice.dev"},
		{ROOT "/clusterqueues/night/usage", false,
			"get clusterqueues/usage.visibility.sluice.dev"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct right right;
		struct buf text;
		print_message("  %s\n", cases[i].path);
		buf_init(&text, 500);
		assert_true(page_right(cases[i].path, cases[i].watches, &right));
		right_describe(&right, &text);
		assert_string_equal(buf_text(&text), cases[i].right);
		buf_done(&text);
	}
}

static void other_paths_are_others(void **state)
{
	(void)state;
	static const char *const others[] = {"/", "/metrics", "/api/v1/queues", "/api/v1/decisions",
		"/apis", ROOT, ROOT "/pods", ROOT "/namespaces/ml", ROOT "/namespaces//queuedjobs",
		ROOT "/namespaces/ml/queuedjobs/train/log", ROOT "/queuedjobs/train/start",
		ROOT "/namespaces/ml/queuedjobs//start", ROOT "/namespaces/ml/queuedjobs/a/start/b",
		ROOT "/whatif", ROOT "/whatifs/batch", ROOT "/namespaces/ml/whatifs"};
	struct right right;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (page_right(others[i], false, &right))
			fail_msg("%s", others[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_are_found_by_their_path_alone),
		cmocka_unit_test(the_document_keeps_to_its_policy),
		cmocka_unit_test(each_path_wants_its_right),
		cmocka_unit_test(other_paths_are_others),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
