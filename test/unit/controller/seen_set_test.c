/*
 * The roster: what a new list does not have any more is lost, and nothing else.
 */
#include "controller/watch/seen_set.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct uid one = {{1}}, two = {{2}};

static void only_news_is_news(void **state)
{
	(void)state;
	struct seen_set *r = seen_set_new();
	assert_true(seen_set_see(r, "", "a", &one, 1));
	assert_false(seen_set_see(r, "", "a", &one, 1));
	assert_true(seen_set_see(r, "", "a", &one, 2));
	assert_true(seen_set_see(r, "", "a", &two, 2));	  /* made anew under its old name */
	assert_true(seen_set_see(r, "ns", "a", &one, 1)); /* another namespace, another object */
	assert_true(seen_set_see(r, "", "n", &one, 0));
	assert_true(seen_set_see(r, "", "n", &one, 0)); /* no generations: always look */
	seen_set_drop(r, "", "a");
	assert_true(seen_set_see(r, "", "a", &two, 2));
	seen_set_free(r);
}

static void a_new_list_shows_what_is_gone(void **state)
{
	(void)state;
	struct seen_set *r = seen_set_new();
	seen_set_begin(r);
	seen_set_see(r, "x", "kept", &one, 1);
	seen_set_see(r, "x", "gone", &two, 1);
	seen_set_end(r);
	assert_null(seen_set_take_lost(r));
	seen_set_begin(r);
	seen_set_see(r, "x", "kept", &one, 1);
	seen_set_begin(r); /* the list broke off and begins again */
	seen_set_see(r, "x", "kept", &one, 1);
	assert_null(seen_set_take_lost(r));
	seen_set_end(r);
	const struct seen_set_entry *lost = seen_set_take_lost(r);
	assert_non_null(lost);
	assert_string_equal(lost->name, "gone");
	assert_null(seen_set_take_lost(r));
	assert_int_equal(seen_set_count(r), 1);
	seen_set_free(r);
}

static void what_cannot_be_read_is_not_lost(void **state)
{
	(void)state;
	struct seen_set *r = seen_set_new();
	seen_set_begin(r);
	seen_set_see(r, "x", "unreadable", &one, 1);
	seen_set_see(r, "x", "gone", &two, 1);
	seen_set_end(r);
	seen_set_begin(r);
	seen_set_keep(r, "x", "unreadable");
	seen_set_keep(r, "x", "unknown");
	seen_set_end(r);
	assert_string_equal(seen_set_take_lost(r)->name, "gone");
	assert_null(seen_set_take_lost(r));
	assert_true(seen_set_see(r, "x", "unreadable", &one, 1)); /* its spec is looked at anew */
	assert_false(seen_set_see(r, "x", "unreadable", &one, 1));
	seen_set_begin(r);
	seen_set_keep(r, "", ""); /* which one that is does not show */
	seen_set_end(r);
	assert_null(seen_set_take_lost(r));
	assert_int_equal(seen_set_count(r), 1);
	seen_set_free(r);
}

static void many_can_go_at_once_and_be_left_untaken(void **state)
{
	(void)state;
	struct seen_set *r = seen_set_new();
	char name[16];
	seen_set_begin(r);
	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		seen_set_see(r, "x", name, &one, 1);
	}
	seen_set_end(r);
	seen_set_begin(r);
	seen_set_see(r, "x", "n500", &one, 1);
	seen_set_end(r);
	size_t lost = 0;
	while (lost < 990 && seen_set_take_lost(r))
		lost++;
	assert_int_equal(lost, 990);
	assert_int_equal(seen_set_count(r), 1);
	seen_set_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_news_is_news),
		cmocka_unit_test(a_new_list_shows_what_is_gone),
		cmocka_unit_test(what_cannot_be_read_is_not_lost),
		cmocka_unit_test(many_can_go_at_once_and_be_left_untaken),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
