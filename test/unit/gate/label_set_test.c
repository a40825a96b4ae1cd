/*
 * Labels of Jobs are kept once for all that have the same.
 */
#include "controller/gate/label_set.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/must.h"

static struct label_sets all;

static int open_all(void **state)
{
	(void)state;
	label_sets_init(&all, (struct siphash_key){{1, 2}});
	return 0;
}

static int close_all(void **state)
{
	(void)state;
	assert_int_equal(all.map.count, 0);
	label_sets_done(&all);
	return 0;
}

static void equal_labels_are_one_set(void **state)
{
	(void)state;
	const struct label a[] = {{"team", "a"}, {"stage", "test"}}, b[] = {{"team", "b"}};
	struct label_set *x = label_set_of(&all, a, 2), *y = label_set_of(&all, a, 2);
	struct label_set *z = label_set_of(&all, b, 1);
	must(x && y && z);
	assert_ptr_equal(x, y);
	assert_ptr_not_equal(x, z);
	assert_string_equal(label_set_labels(x)[1].value, "test");
	assert_int_equal(label_set_count(z), 1);
	label_set_put(&all, x);
	assert_string_equal(label_set_labels(y)[0].key, "team");
	label_set_put(&all, y);
	label_set_put(&all, z);
}

/* "ab"="c" is not "a"="bc". */
static void where_a_text_ends_counts(void **state)
{
	(void)state;
	const struct label a[] = {{"ab", "c"}}, b[] = {{"a", "bc"}};
	struct label_set *x = label_set_of(&all, a, 1), *y = label_set_of(&all, b, 1);
	assert_ptr_not_equal(x, y);
	label_set_put(&all, x);
	label_set_put(&all, y);
}

static void none_and_too_many_are_not_kept(void **state)
{
	(void)state;
	char text[LABEL_SET_BYTES_MAX];
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	const struct label most[] = {{"", text + 1}}, more[] = {{"", text}};
	assert_null(label_set_of(&all, NULL, 0));
	assert_null(label_set_of(&all, more, 1));
	assert_int_equal(label_set_count(NULL), 0);
	label_set_put(&all, NULL);
	struct label_set *x = label_set_of(&all, most, 1);
	assert_non_null(x);
	label_set_put(&all, x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(equal_labels_are_one_set, open_all, close_all),
		cmocka_unit_test_setup_teardown(where_a_text_ends_counts, open_all, close_all),
		cmocka_unit_test_setup_teardown(
			none_and_too_many_are_not_kept, open_all, close_all),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
