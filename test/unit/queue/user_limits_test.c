/*
 * Limits for each user of a LocalQueue (spec.limits.perUser): what scenarios cannot show well.
 *
 *   history    after each of many random facts no user holds more than the limits, the sums that are
 *              kept are those of the reservations, and in line stand those that were queued first
 *   restarts   the same Jobs in another order stand in the same line
 *   costs      of a user with 100,000 Jobs, whatever starts or goes moves a few
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "worlds.h"
#include "test/unit/core/inside.h"
#include "queue/core/model/reservation.h"
#include "test/sim/rng.h"

static const char *const USER[] = {"alice", "bob", NULL};

static void limit(struct queue *q, int32_t running, int32_t waiting, int64_t cpu_milli)
{
	const struct resource cpu = {"cpu", cpu_milli};
	struct localqueue_spec s = {.ns = "team-a", .name = "main", .clusterqueue = "batch"};
	s.limits.per_user = (struct user_limits){running, waiting, {&cpu, cpu_milli > 0}};
	queue_set_localqueue(q, &s, NULL);
}

static void set(
	struct queue *q, uint32_t n, int64_t created_ms, int64_t cpu_milli, const char *user)
{
	struct job j = fixture_job(n, ASKS_CPU(cpu_milli));
	j.created_ms = created_ms;
	j.submitted_by = user;
	queue_set_job(q, &j);
}

static size_t decide(struct queue *q)
{
	struct decision d[16];
	size_t n = 0, now;
	int64_t next_ms;
	do
		n += now = queue_decide(q, 1000000, d, 16, &next_ms);
	while (now == 16);
	return n;
}

static bool stands(const struct workload *w)
{
	return w->place == PLACE_READY || w->place == PLACE_BACK_OFF;
}

/* ---- A random history ------------------------------------------------------------------------ */

enum { JOBS = 60, STEPS = 6000, RUNNING = 3, WAITING = 4, CPU = 7000 };

static void one_fact(struct queue *q, struct rng *rng)
{
	uint32_t n = 1 + rng_below(rng, JOBS);
	struct uid uid = fixture_uid(n);
	switch (rng_below(rng, 8)) {
	case 0:
		queue_drop_job(q, &uid);
		return;
	case 1:
		queue_release_job(q, &uid, 1000000, rng_below(rng, 2) ? 1005000 : 0);
		return;
	case 2:
		queue_end_job(q, &uid, 1000000);
		return;
	case 3:
		queue_block_job(q, &uid, rng_below(rng, 2) ? "blocked" : NULL);
		return;
	default:
		set(q, n, 1000 * rng_below(rng, 500), 1000 * (1 + rng_below(rng, 4)), USER[n % 3]);
	}
}

static void check_holds(const struct user *u)
{
	__int128 held = 0;
	assert_true(u->nreserving + u->npromised <= RUNNING);
	list_each_entry(&u->lq->reservations, const struct reservation, r, of_localqueue) {
		for (size_t i = 0; r->user == u && i < r->nlines; i++)
			held += r->line[i].amount;
	}
	assert_true(user_holds(u, "cpu") == held && held <= CPU);
}

static bool is_before(const struct workload *a, const struct workload *b)
{
	return a->key.queued_ms < b->key.queued_ms ||
	       (a->key.queued_ms == b->key.queued_ms && a->key.arrival < b->key.arrival);
}

static void check_line(const struct user *u, size_t most)
{
	const struct workload *last = NULL, *next = NULL;
	size_t standing = 0;
	list_each_entry(&u->members, const struct workload, w, of_user) {
		standing += stands(w);
		if (stands(w) && (!last || is_before(last, w)))
			last = w;
		if (user_line_waits(w) && (!next || is_before(w, next)))
			next = w;
	}
	assert_int_equal(standing, user_line_length(u));
	assert_true(standing <= most && (!next || standing == most));
	assert_true(!next || is_before(last, next));
}

static void check_users(const struct queue *q, size_t waiting)
{
	const struct localqueue *lq = inside_localqueue(q, "team-a", "main");
	for (struct tree_node *n = tree_first(&lq->users); n; n = tree_next(n)) {
		check_holds(container_of(n, struct user, by_name));
		check_line(container_of(n, struct user, by_name), waiting);
	}
}

static void test_no_user_ever_has_more_than_the_limits(void **state)
{
	struct queue *q = fixture_new(12000, 8000);
	struct rng rng;
	size_t starts = 0, waiting = WAITING;
	(void)state;
	rng_seed(&rng, 3);
	limit(q, RUNNING, WAITING, CPU);
	for (int i = 0; i < STEPS; i++) {
		for (uint32_t facts = rng_below(&rng, 4); facts > 0; facts--)
			one_fact(q, &rng);
		if (rng_below(&rng, 50) == 0) {
			waiting = 1 + rng_below(&rng, 6);
			limit(q, RUNNING, (int32_t)waiting, CPU);
		}
		starts += decide(q);
		check_users(q, waiting);
	}
	assert_true(starts > 200);
	queue_free(q);
}

/* ---- Restarts -------------------------------------------------------------------------------- */

static void test_the_same_stand_in_line_in_whatever_order_jobs_are_read(void **state)
{
	(void)state;
	for (int backwards = 0; backwards < 2; backwards++) {
		struct queue *q = fixture_new(0, 0);
		limit(q, 0, 10, 0);
		for (uint32_t i = 0; i < 30; i++) {
			uint32_t n = backwards ? 29 - i : i;
			set(q, 1 + n, 1000 * n, 1000, "alice");
		}
		decide(q);
		for (uint32_t n = 0; n < 30; n++) {
			struct uid uid = fixture_uid(1 + n);
			assert_int_equal(stands(inside_workload(q, &uid)), n < 10);
		}
		queue_free(q);
	}
}

/* ---- Costs ----------------------------------------------------------------------------------- */

enum { MANY = 100000 };

static void test_a_job_that_starts_or_goes_moves_a_few_of_many(void **state)
{
	struct queue *q = fixture_new(10000, 0);
	(void)state;
	limit(q, 0, 100, 0);
	for (uint32_t n = 0; n < MANY; n++)
		set(q, 1 + n, n, 1000, "alice");
	assert_int_equal(decide(q), 10);
	for (uint32_t n = 0; n < 500; n++) {
		struct uid runs = fixture_uid(1 + n), waits = fixture_uid(MANY - n);
		uint64_t before = inside_placed(q);
		queue_end_job(q, &runs, 2000000);
		queue_drop_job(q, &waits);
		assert_int_equal(decide(q), 1);
		assert_true(inside_placed(q) - before <= 3);
	}
	queue_free(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_user_ever_has_more_than_the_limits),
		cmocka_unit_test(test_the_same_stand_in_line_in_whatever_order_jobs_are_read),
		cmocka_unit_test(test_a_job_that_starts_or_goes_moves_a_few_of_many),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
