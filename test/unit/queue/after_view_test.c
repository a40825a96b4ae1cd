/* What a Job waits for, as people ask for it: the items in the order written, and the Jobs that keep each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "followers.h"

enum { SHARDS = AFTER_VIEW_JOBS_MAX + 12 };

static const struct label TUESDAY = {"batch", "tuesday"};

/* All questions are answered: by this Job where a name is asked for, by the shards where a selector is. */
static void answer_all(
	struct queue *q, const struct predecessor *prep, const struct predecessor *shard, size_t n)
{
	struct wanted_predecessors asked;
	while (queue_take_wanted(q, &asked)) {
		bool is_prep = asked.name && strcmp(asked.name, prep->name) == 0;
		if (is_prep)
			queue_answer_wanted(q, asked.id, prep, 1);
		else
			queue_answer_wanted(
				q, asked.id, asked.name ? NULL : shard, asked.name ? 0 : n);
	}
}

static void each_item_has_the_jobs_that_keep_it(void **state)
{
	(void)state;
	static const char *const tuesday[] = {"tuesday"};
	struct requirement r = {"batch", SELECTOR_IN, tuesday, 1};
	const struct dependency items[] = {
		after_name(AFTER_ANY, "prep"),
		after_name(AFTER_OK, "perp"),
		{.kind = AFTER_OK, .selector = {&r, 1}, .text = "afterok:{batch=tuesday}"},
	};
	struct predecessor prep = seen(50, "prep", PREDECESSOR_FAILED), shard[SHARDS];
	char name[SHARDS][16];
	struct uid uid = fixture_uid(1), unknown = fixture_uid(2);
	struct after_view v;
	struct queue *q = fixture_new(1000, 0);
	for (uint32_t i = 0; i < SHARDS; i++) {
		snprintf(name[i], sizeof(name[i]), "shard-%u", i);
		shard[i] =
			seen(100 + i, name[i], i < 2 ? PREDECESSOR_SUCCEEDED : PREDECESSOR_STARTED);
		shard[i].labels = &TUESDAY;
		shard[i].nlabels = 1;
	}
	set_follower(q, 1, "report", 1000, items, 3);
	answer_all(q, &prep, shard, SHARDS);

	assert_true(queue_view_after(q, &uid, 0, &v));
	assert_string_equal(v.text, "prep");
	assert_true(v.holds);
	assert_int_equal(v.njobs, 0);
	assert_true(queue_view_after(q, &uid, 1, &v));
	assert_false(v.holds || v.never);
	assert_int_equal(v.njobs, 1);
	assert_string_equal(v.job[0], "perp");
	assert_true(queue_view_after(q, &uid, 2, &v));
	assert_int_equal(v.njobs, AFTER_VIEW_JOBS_MAX);
	assert_int_equal(v.njobs + v.more, SHARDS - 2);
	for (size_t i = 0; i < v.njobs; i++)
		assert_true(strcmp(v.job[i], "shard-0") != 0 && strcmp(v.job[i], "shard-1") != 0);
	assert_false(queue_view_after(q, &uid, 3, &v));
	assert_false(queue_view_after(q, &unknown, 0, &v));
	queue_free(q);
}

static void what_can_hold_no_more_says_which_job_it_was(void **state)
{
	(void)state;
	const struct dependency item = after_name(AFTER_OK, "prep");
	const struct predecessor prep = seen(50, "prep", PREDECESSOR_FAILED);
	struct uid uid = fixture_uid(1);
	struct after_view v;
	struct queue *q = fixture_new(1000, 0);
	set_follower(q, 1, "report", 1000, &item, 1);
	answer_all(q, &prep, NULL, 0);
	assert_true(queue_view_after(q, &uid, 0, &v));
	assert_true(v.never);
	assert_int_equal(v.njobs, 1);
	assert_string_equal(v.job[0], "prep");
	queue_free(q);
}

/* A selector does not mean the Job that waits for it. */
static void one_that_its_own_selector_takes_does_not_keep_itself(void **state)
{
	(void)state;
	static const char *const tuesday[] = {"tuesday"};
	struct requirement r = {"batch", SELECTOR_IN, tuesday, 1};
	const struct dependency item = {
		.kind = AFTER_OK, .selector = {&r, 1}, .text = "{batch=tuesday}"};
	struct predecessor taken[] = {
		seen(1, "report", PREDECESSOR_WAITS), seen(3, "shard", PREDECESSOR_STARTED)};
	struct uid uid = fixture_uid(1);
	struct after_view v;
	struct queue *q = fixture_new(1000, 0);
	for (size_t i = 0; i < 2; i++) {
		taken[i].labels = &TUESDAY;
		taken[i].nlabels = 1;
	}
	set_follower(q, 1, "report", 1000, &item, 1);
	answer_all(q, &taken[1], taken, 2);
	assert_true(queue_view_after(q, &uid, 0, &v));
	assert_int_equal(v.njobs, 1);
	assert_string_equal(v.job[0], "shard");
	assert_int_equal(v.more, 0);
	queue_free(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_item_has_the_jobs_that_keep_it),
		cmocka_unit_test(what_can_hold_no_more_says_which_job_it_was),
		cmocka_unit_test(one_that_its_own_selector_takes_does_not_keep_itself),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
