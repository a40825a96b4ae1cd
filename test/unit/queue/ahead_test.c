/*
 * How many Jobs are ahead: what is remembered between calls. Which Jobs count is said in test/scenario/order.txt.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "worlds.h"

#define HUGE_CPU 1000000000 /* more than there is */

static const struct resource little = {"cpu", 10}, huge = {"cpu", HUGE_CPU};
static const struct container asks_little = {.requests = {(struct resource *)&little, 1}};
static const struct container asks_huge = {.requests = {(struct resource *)&huge, 1}};

static void assert_place(const struct queue *q, const struct job *j, size_t rank, size_t ahead)
{
	struct job_place p;
	struct explanation x;
	assert_true(queue_place_of(q, &j->uid, &p));
	assert_int_equal(p.rank, rank);
	assert_true(queue_explain(q, &j->uid, 0, &x));
	assert_int_equal(x.rank, rank);
	assert_int_equal(x.ahead, ahead);
}

/* Nobody listens here, as in a controller without a recorder. */
static void a_job_that_leaves_the_line_is_not_looked_at_again(void **state)
{
	(void)state;
	struct queue *q = fixture_new(1000, 0);
	struct job never = fixture_job(1, &asks_huge), small = fixture_job(2, &asks_little);
	queue_set_job(q, &never);
	queue_set_job(q, &small);
	assert_place(q, &never, 0, 0);
	assert_place(q, &small, 1, 0);
	never.hold = "not now";
	queue_set_job(q, &never);
	assert_place(q, &small, 0, 0);
	never.hold = NULL;
	queue_set_job(q, &never);
	assert_place(q, &small, 1, 0);
	queue_drop_job(q, &never.uid);
	assert_place(q, &small, 0, 0);
	queue_free(q);
}

static void what_may_start_now_counts_at_once(void **state)
{
	(void)state;
	struct queue *q = fixture_new(1000, 0);
	struct job first = fixture_job(1, &asks_huge), small = fixture_job(2, &asks_little);
	queue_set_job(q, &first);
	queue_set_job(q, &small);
	assert_place(q, &small, 1, 0);
	fixture_quota(q, HUGE_CPU, 0);
	assert_place(q, &small, 1, 1);
	fixture_quota(q, 1000, 0);
	assert_place(q, &small, 1, 0);
	first.pod.containers = &asks_little;
	queue_set_job(q, &first);
	assert_place(q, &small, 1, 1);
	queue_free(q);
}

/* Each of its own kind. */
static void of_very_many_kinds_only_the_first_are_passed_over(void **state)
{
	(void)state;
	enum { KINDS = 70, KEPT = 64 };
	struct queue *q = fixture_new(1000, 0);
	for (uint32_t i = 1; i <= KINDS; i++) {
		struct job never = fixture_job(i, ASKS_CPU(HUGE_CPU + i));
		queue_set_job(q, &never);
	}
	struct job small = fixture_job(KINDS + 1, &asks_little);
	queue_set_job(q, &small);
	assert_place(q, &small, KINDS, KINDS - KEPT);
	queue_free(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_that_leaves_the_line_is_not_looked_at_again),
		cmocka_unit_test(what_may_start_now_counts_at_once),
		cmocka_unit_test(of_very_many_kinds_only_the_first_are_passed_over),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
