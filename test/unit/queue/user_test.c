/*
 * Users: who submitted the Jobs of a LocalQueue. After each fact of a random history, what the
 * records count is what the Jobs are; and no record is left without a Job.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/must.h"
#include "worlds.h"
#include "test/unit/core/inside.h"
#include "queue/core/model/reservation.h"
#include "test/sim/rng.h"

static const struct resource one = {"cpu", 1000};
static const struct container c = {.requests = {&one, 1}};

static void set(struct queue *q, uint32_t n, const char *queue, const char *user)
{
	struct job j = fixture_job(n, &c);
	j.queue = queue;
	j.submitted_by = user;
	queue_set_job(q, &j);
}

static struct user *find(const struct queue *q, const char *queue, const char *name)
{
	const struct localqueue *lq = inside_localqueue(q, "team-a", queue);
	return lq ? user_find(lq, name) : NULL;
}

static void decide(struct queue *q)
{
	struct decision d[64];
	int64_t next_ms;
	queue_decide(q, 1000, d, 64, &next_ms);
}

static const struct user *existing(const struct queue *q, const char *queue, const char *name)
{
	const struct user *u = find(q, queue, name);
	must(u);
	return u;
}

static void counts(const struct queue *q, const char *queue, const char *name, size_t waiting,
	size_t reserving)
{
	if (waiting + reserving == 0) {
		assert_null(find(q, queue, name));
		return;
	}
	const struct user *u = existing(q, queue, name);
	assert_int_equal(u->nwaiting, waiting);
	assert_int_equal(u->nreserving, reserving);
}

static void test_a_user_is_a_name_in_a_localqueue(void **state)
{
	struct queue *q = fixture_new(1000, 0);
	(void)state;
	set(q, 1, "main", "alice");
	set(q, 2, "main", "bob");
	set(q, 3, "other", "alice");
	counts(q, "main", "alice", 1, 0);
	decide(q);
	counts(q, "main", "alice", 0, 1);
	counts(q, "main", "bob", 1, 0);
	counts(q, "other", "alice", 1, 0);
	queue_free(q);
}

static void test_jobs_of_unknown_submitters_are_those_of_one_user(void **state)
{
	struct queue *q = fixture_new(0, 0);
	(void)state;
	set(q, 1, "main", NULL);
	set(q, 2, "main", NULL);
	counts(q, "main", "", 2, 0);
	assert_false(user_is_known(existing(q, "main", "")));
	set(q, 2, "main", "alice"); /* it got the queue's label from her */
	counts(q, "main", "", 1, 0);
	counts(q, "main", "alice", 1, 0);
	queue_free(q);
}

/* Its Job was moved, or is another's now: what it holds was given to the first. */
static void test_a_run_remembers_for_whom_it_began(void **state)
{
	struct queue *q = fixture_new(1000, 0);
	struct uid uid = fixture_uid(1);
	(void)state;
	set(q, 1, "main", "alice");
	decide(q);
	set(q, 1, "other", "bob");
	counts(q, "main", "alice", 0, 1);
	assert_true(list_empty(&existing(q, "main", "alice")->members));
	assert_int_equal(existing(q, "other", "bob")->nreserving, 0);
	queue_release_job(q, &uid, 2000, 0);
	counts(q, "main", "alice", 0, 0);
	counts(q, "other", "bob", 1, 0);
	queue_free(q);
}

static void test_a_record_is_memory_that_counts(void **state)
{
	struct queue *q = fixture_new(0, 0);
	char name[SUBMITTER_MAX_BYTES + 1] = {0};
	struct uid uid = fixture_uid(2);
	(void)state;
	memset(name, 'n', sizeof(name) - 1);
	set(q, 1, "main", name);
	size_t one_job = inside_job_bytes(q);
	set(q, 2, "main", name);
	size_t of_a_job = inside_job_bytes(q) - one_job;
	assert_int_equal(one_job - of_a_job, sizeof(struct user) + sizeof(name));
	queue_drop_job(q, &uid);
	assert_int_equal(inside_job_bytes(q), one_job);
	queue_free(q);
}

/* ---- A random history ------------------------------------------------------------------------ */

enum { JOBS = 40, STEPS = 4000 };

static void one_fact(struct queue *q, struct rng *rng)
{
	static const char *const queue[] = {"main", "other"}, *const user[] = {
								      "alice", "bob", NULL};
	struct uid uid = fixture_uid(1 + rng_below(rng, JOBS));
	switch (rng_below(rng, 6)) {
	case 0:
		queue_drop_job(q, &uid);
		return;
	case 1:
		queue_release_job(q, &uid, 1000, rng_below(rng, 2) ? 5000 : 0);
		return;
	case 2:
		queue_end_job(q, &uid, 1000);
		return;
	case 3:
		decide(q);
		return;
	default:
		set(q, 1 + rng_below(rng, JOBS), queue[rng_below(rng, 2)], user[rng_below(rng, 3)]);
	}
}

static void check_all(const struct queue *q)
{
	const struct localqueue *lq;
	map_each(&q->localqueues.map, i, lq) {
		size_t waiting = 0, reserving = 0, members = 0, all = 0;
		for (struct tree_node *n = tree_first(&lq->users); n; n = tree_next(n)) {
			const struct user *u = container_of(n, struct user, by_name);
			waiting += u->nwaiting;
			reserving += u->nreserving;
			list_each_entry(&u->members, const struct workload, w, of_user) {
				assert_ptr_equal(w->user, u);
				assert_ptr_equal(w->lq, lq);
				members++;
			}
		}
		list_each(&lq->members, l)
			all++;
		assert_int_equal(members, all);
		assert_int_equal(waiting, lq->nwaiting);
		assert_int_equal(reserving, lq->nreserving);
	}
}

static void test_what_they_count_is_what_there_is(void **state)
{
	struct queue *q = fixture_new(5000, 5000);
	struct rng rng;
	(void)state;
	rng_seed(&rng, 20261126);
	for (int i = 0; i < STEPS; i++) {
		one_fact(q, &rng);
		check_all(q);
	}
	queue_free(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_user_is_a_name_in_a_localqueue),
		cmocka_unit_test(test_jobs_of_unknown_submitters_are_those_of_one_user),
		cmocka_unit_test(test_a_run_remembers_for_whom_it_began),
		cmocka_unit_test(test_a_record_is_memory_that_counts),
		cmocka_unit_test(test_what_they_count_is_what_there_is),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
