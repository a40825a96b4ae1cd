/*
 * sluice.dev/nice where there are many Jobs: how many are dealt to, that the same facts give the same
 * order whoever hears of them in which order, and that a burst of changes costs one deal.
 * Its rules are in test/scenario/nice.txt, random histories in property_test.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "worlds.h"
#include "test/unit/core/inside.h"
#include "queue/core/model/nice.h"

static const struct resource one = {"cpu", 1000};
static const struct container c = {.requests = {&one, 1}};

static void set(struct queue *q, uint32_t n, const char *user, int32_t nice)
{
	struct job j = fixture_job(n, &c);
	j.submitted_by = user;
	j.nice = nice;
	j.created_ms = 1000 * (int64_t)n;
	j.version = n;
	queue_set_job(q, &j);
}

/* Nothing fits, so all wait. */
static void decide(struct queue *q)
{
	struct decision d[8];
	int64_t next_ms;
	assert_int_equal(queue_decide(q, 100000000, d, 8, &next_ms), 0);
	assert_true(next_ms > 100000000);
}

static struct explanation explain(const struct queue *q, uint32_t n)
{
	struct explanation x;
	struct uid uid = fixture_uid(n);
	assert_true(queue_explain(q, &uid, 100000000, &x));
	return x;
}

static void test_the_first_thousand_are_dealt_to(void **state)
{
	struct queue *q = fixture_new(0, 1000);
	(void)state;
	fixture_quota(q, 0, 1000);
	for (uint32_t n = 1; n <= 1 + NICE_DEALT_MAX + 1; n++)
		set(q, n, n == 1 ? NULL : "alice", 0);
	set(q, 1 + NICE_DEALT_MAX, "alice", -1);
	set(q, 1 + NICE_DEALT_MAX + 1, "alice", -5);
	struct decision d[8];
	int64_t next_ms;
	assert_int_equal(queue_decide(q, 100000000, d, 8, &next_ms), 1);
	decide(q);
	assert_int_equal(explain(q, 1 + NICE_DEALT_MAX).ahead, 0);
	struct explanation x = explain(q, 1 + NICE_DEALT_MAX + 1);
	assert_int_equal(x.ahead, NICE_DEALT_MAX);
	assert_non_null(strstr(x.sentence,
		"; its sluice.dev/nice -5 is not heeded yet: alice has more than 1000 Jobs in line in LocalQueue team-a/main, and orders the first 1000"));
	struct uid uid = fixture_uid(500);
	queue_drop_job(q, &uid);
	decide(q);
	x = explain(q, 1 + NICE_DEALT_MAX + 1);
	assert_int_equal(x.ahead, 0);
	assert_non_null(strstr(x.sentence, "; before 999 Jobs of alice by its sluice.dev/nice -5"));
	assert_int_equal(x.queued_ms, 1000 * (1 + NICE_DEALT_MAX + 1));
	set(q, 1200, "alice", 0);
	decide(q);
	set(q, 1 + NICE_DEALT_MAX, "alice", 0);
	set(q, 1 + NICE_DEALT_MAX + 1, "alice", 0);
	for (uint32_t n = 2; n <= NICE_DEALT_MAX + 1; n++) {
		uid = fixture_uid(n);
		queue_drop_job(q, &uid);
	}
	set(q, 1200, "alice", -1);
	decide(q);
	assert_int_equal(explain(q, 1200).ahead, 0);
	queue_free(q);
}

/* A Job with a nice that is on hold is dealt nothing. Before, no Job had one, and quota was
 * edited. */
static void test_a_deal_is_told_once_it_was(void **state)
{
	struct queue *q = fixture_new(0, 1000);
	struct decision d[8];
	int64_t next_ms;
	(void)state;
	fixture_quota(q, 0, 1000);
	for (uint32_t n = 1; n <= 1 + NICE_DEALT_MAX + 1; n++)
		set(q, n, "alice", 0);
	assert_int_equal(queue_decide(q, 100000000, d, 8, &next_ms), 1);
	struct job held = fixture_job(5000, &c);
	held.submitted_by = "alice";
	held.nice = 3;
	held.hold = "for a while";
	queue_set_job(q, &held);
	decide(q);
	set(q, 6000, "alice", 5);
	assert_null(strstr(explain(q, 6000).sentence, "not heeded yet"));
	decide(q);
	assert_non_null(strstr(explain(q, 6000).sentence, "not heeded yet"));
	queue_free(q);
}

enum { JOBS = 300 };

static const char *user_of(uint32_t n)
{
	static const char *const users[] = {"alice", "bob", NULL};
	return users[n * 7 % 3];
}

static int32_t nice_for(uint32_t n)
{
	return (int32_t)(n * 31 % 11) - 5;
}

static void test_the_same_facts_give_the_same_order(void **state)
{
	struct queue *forwards = fixture_new(0, 500), *backwards = fixture_new(0, 500);
	(void)state;
	fixture_quota(forwards, 0, 100000);
	fixture_quota(backwards, 0, 100000);
	queue_pause_starts(forwards, true);
	queue_pause_starts(backwards, true);
	for (uint32_t n = 1; n <= JOBS; n++) {
		set(forwards, n, user_of(n), 0); /* the nice comes later */
		set(backwards, JOBS + 1 - n, user_of(JOBS + 1 - n), nice_for(JOBS + 1 - n));
		decide(forwards);
	}
	for (uint32_t n = 1; n <= JOBS; n++)
		set(forwards, n, user_of(n), nice_for(n));
	decide(forwards);
	decide(backwards);
	for (uint32_t n = 1; n <= JOBS; n++) {
		struct explanation a = explain(forwards, n), b = explain(backwards, n);
		assert_int_equal(a.ahead, b.ahead);
		assert_int_equal(a.queued_ms, 1000 * (int64_t)n);
		assert_string_equal(a.sentence, b.sentence);
		if (!user_of(n))
			assert_int_equal(a.ahead, n - 1);
	}
	queue_free(forwards);
	queue_free(backwards);
}

static void test_records_are_made_where_they_are_needed(void **state)
{
	struct queue *q = fixture_new(0, 100000);
	(void)state;
	queue_pause_starts(q, true);
	for (uint32_t n = 1; n <= 100; n++)
		set(q, n, "alice", 0);
	decide(q);
	size_t bytes = queue_memory_bytes(q);
	assert_true(list_empty(&inside_nices(q)->users));
	set(q, 100, "alice", -1);
	assert_false(list_empty(&inside_nices(q)->dirty));
	decide(q);
	assert_true(list_empty(&inside_nices(q)->dirty));
	assert_int_equal(queue_memory_bytes(q), bytes + 100 * sizeof(struct nice));
	assert_int_equal(explain(q, 1).ahead, 1);
	set(q, 100, "alice", 0);
	decide(q);
	assert_int_equal(queue_memory_bytes(q), bytes);
	assert_int_equal(explain(q, 1).ahead, 0);
	queue_free(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_first_thousand_are_dealt_to),
		cmocka_unit_test(test_a_deal_is_told_once_it_was),
		cmocka_unit_test(test_the_same_facts_give_the_same_order),
		cmocka_unit_test(test_records_are_made_where_they_are_needed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
