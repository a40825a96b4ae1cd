/* In flight: admitted pods that the quota's status does not show yet. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "queue/cluster/quota_flight.h"

static const struct resource cpu = {"cpu", 500};
static const struct container main_container = {.name = "main", .requests = {&cpu, 1}};

static struct pod pod_in(const char *ns)
{
	return (struct pod){.ns = ns,
		.priority_class = "",
		.resources = {.containers = &main_container, .ncontainers = 1}};
}

static struct uid uid_of(uint8_t n)
{
	return (struct uid){{n}};
}

static void set(struct quota_flight *f, uint8_t id, int32_t at_once, int32_t in_all, int32_t made,
	int32_t ended, int64_t version)
{
	struct pod p = pod_in("team");
	quota_flight_set(f, &(struct quota_run){.uid = uid_of(id),
				    .pod = &p,
				    .pods = {at_once, in_all},
				    .made = made,
				    .ended = ended,
				    .version = version});
}

/* A Job of n pods that run side by side, once. */
static void set_plain(struct quota_flight *f, uint8_t id, int32_t n, int32_t made, int64_t version)
{
	set(f, id, n, n, made, 0, version);
}

static const struct resource hard[] = {
	{"pods", 100}, {"cpu", 100000}, {"count/pods", 1000}, {"memory", 1}};

static void ask(const struct quota_flight *f, int64_t used_pods, int64_t ret[4])
{
	struct resource used[] = {{"pods", used_pods}, {"cpu", 500 * used_pods},
		{"count/pods", used_pods}, {"memory", 0}};
	struct resource_quota q = {.ns = "team", .name = "q", .hard = {hard, 4}, .used = {used, 4}};
	quota_flight_reserved(f, &q, ret);
}

static int64_t pods_reserved(const struct quota_flight *f, int64_t used_pods)
{
	int64_t r[4];
	ask(f, used_pods, r);
	assert_int_equal(r[1], 500 * r[0]);
	assert_int_equal(r[3], 0); /* the pods do not ask for it */
	return r[0];
}

static void two_jobs_started_together_do_not_collide(void **state)
{
	struct quota_flight *f = quota_flight_new();
	(void)state;
	assert_int_equal(pods_reserved(f, 7), 0);
	set_plain(f, 1, 3, 0, 0);
	assert_int_equal(pods_reserved(f, 7), 3);
	set_plain(f, 2, 2, 0, 0);
	assert_int_equal(pods_reserved(f, 7), 5);
	struct uid one = uid_of(1);
	quota_flight_drop(f, &one);
	assert_int_equal(pods_reserved(f, 7), 2);
	quota_flight_drop(f, &one);
	quota_flight_free(f);
}

static void it_lets_go_when_the_quota_was_seen_late_enough(void **state)
{
	struct quota_flight *f = quota_flight_new();
	int64_t version = 0;
	(void)state;
	set_plain(f, 1, 3, 0, 0);
	quota_flight_seen(f, NULL, 50);
	assert_int_equal(pods_reserved(f, 7), 3); /* none has been made */
	assert_false(quota_flight_behind(f, "team", &version));
	set_plain(f, 1, 3, 2, 60);
	assert_int_equal(pods_reserved(f, 8), 3); /* made, and may be counted or not */
	assert_true(quota_flight_behind(f, "team", &version));
	assert_int_equal(version, 60);
	quota_flight_seen(f, NULL, 59);
	assert_int_equal(pods_reserved(f, 9), 3);
	quota_flight_seen(f, NULL, 60);
	assert_int_equal(pods_reserved(f, 9), 1);
	set_plain(f, 1, 3, 3, 55); /* a version that has been seen already */
	assert_int_equal(pods_reserved(f, 10), 0);
	assert_false(quota_flight_behind(f, "team", &version));
	quota_flight_seen(f, NULL, 10); /* a lower version changes nothing */
	assert_int_equal(pods_reserved(f, 10), 0);
	quota_flight_free(f);
}

/* Its pods have ended and are kept, and the quota's status does not show them yet. */
static void a_run_that_is_over_is_known_until_its_pods_are_counted(void **state)
{
	struct quota_flight *f = quota_flight_new();
	struct uid one = uid_of(1), two = uid_of(2);
	int64_t r[4];
	(void)state;
	set(f, 1, 3, 5, 5, 5, 60);
	quota_flight_drop(f, &one);
	ask(f, 0, r);
	assert_int_equal(r[0], 0);
	assert_int_equal(r[2], 5);
	set(f, 1, 3, 5, 0, 0, 0); /* the same Job once more */
	ask(f, 0, r);
	assert_int_equal(r[0], 3);
	assert_int_equal(r[2], 10);
	quota_flight_drop(f, &one);
	quota_flight_seen(f, NULL, 60);
	ask(f, 5, r);
	assert_int_equal(r[2], 0);
	set(f, 2, 1, 2, 1, 0, 70); /* frees what has not been seen */
	quota_flight_drop(f, &two);
	quota_flight_free(f);
}

static void a_list_of_one_namespace_is_about_that_alone(void **state)
{
	struct quota_flight *f = quota_flight_new();
	int64_t version;
	(void)state;
	set_plain(f, 1, 3, 3, 60);
	quota_flight_seen(f, "other", 90);
	assert_int_equal(pods_reserved(f, 10), 3);
	quota_flight_seen(f, "team", 70);
	assert_int_equal(pods_reserved(f, 10), 0);
	set_plain(f, 2, 1, 1, 80);
	assert_int_equal(pods_reserved(f, 10), 1);
	assert_true(quota_flight_behind(f, "team", &version));
	assert_false(quota_flight_behind(f, "other", &version));
	quota_flight_free(f);
}

static void the_successor_of_a_pod_that_ended_has_its_place(void **state)
{
	struct quota_flight *f = quota_flight_new();
	(void)state;
	set(f, 1, 3, 9, 3, 0, 40);
	quota_flight_seen(f, NULL, 50);
	assert_int_equal(pods_reserved(f, 3), 0);
	/* The quota knows of an end before the Job does. */
	assert_int_equal(pods_reserved(f, 2), 1);
	/* Now the Job knows too, and others use the quota as well. */
	set(f, 1, 3, 9, 3, 1, 60);
	assert_int_equal(pods_reserved(f, 12), 1);
	set(f, 1, 3, 9, 4, 1, 70);
	assert_int_equal(pods_reserved(f, 13), 1);
	quota_flight_seen(f, NULL, 70);
	assert_int_equal(pods_reserved(f, 13), 0);
	/* The last ones have no successors. */
	set(f, 1, 2, 9, 9, 7, 80);
	assert_int_equal(pods_reserved(f, 12), 2);
	quota_flight_seen(f, NULL, 80);
	assert_int_equal(pods_reserved(f, 12), 0);
	quota_flight_free(f);
}

static void count_pods_wants_room_for_all_that_will_be_made(void **state)
{
	struct quota_flight *f = quota_flight_new();
	int64_t r[4];
	(void)state;
	set(f, 1, 3, 9, 0, 0, 0);
	ask(f, 0, r);
	assert_int_equal(r[2], 9);
	set(f, 1, 3, 9, 5, 2, 40);
	quota_flight_seen(f, NULL, 40);
	ask(f, 5, r);
	assert_int_equal(r[2], 4); /* those that have ended are kept, and counted */
	assert_int_equal(r[0], 0);
	quota_flight_free(f);
}

static void many_sightings_between_two_looks_err_on_the_safe_side(void **state)
{
	struct quota_flight *f = quota_flight_new();
	int64_t least = 100;
	(void)state;
	for (int32_t made = 1; made <= 100; made++)
		set_plain(f, 1, 100, made, 10 * made);
	for (int64_t seen = 0; seen < 1000; seen += 5) {
		quota_flight_seen(f, NULL, seen);
		int64_t counted = seen / 10;
		assert_true(pods_reserved(f, 1000) >= 100 - counted);
		assert_true(pods_reserved(f, 1000) <= least);
		least = pods_reserved(f, 1000);
	}
	quota_flight_seen(f, NULL, 1000);
	assert_int_equal(pods_reserved(f, 1000), 0);
	quota_flight_free(f);
}

static void only_quotas_that_count_such_pods(void **state)
{
	static const struct quota_scope_term best_effort = {SCOPE_BEST_EFFORT, SELECTOR_EXISTS};
	struct quota_flight *f = quota_flight_new();
	struct resource_quota q = {
		.ns = "team", .hard = {hard, 4}, .scopes = &best_effort, .nscopes = 1};
	int64_t r[4];
	(void)state;
	set_plain(f, 1, 3, 0, 0);
	quota_flight_reserved(f, &q, r);
	assert_int_equal(r[0], 0);
	q.nscopes = 0; /* one that was made after the admission is no different */
	quota_flight_reserved(f, &q, r);
	assert_int_equal(r[0], 3);
	q.ns = "other";
	quota_flight_reserved(f, &q, r);
	assert_int_equal(r[0], 0);
	quota_flight_free(f);
}

static void a_run_may_be_told_again_with_other_pods(void **state)
{
	struct quota_flight *f = quota_flight_new();
	struct pod p = pod_in("elsewhere");
	(void)state;
	set_plain(f, 1, 3, 2, 60);
	set_plain(f, 1, 5, 2, 60); /* its parallelism was raised */
	assert_int_equal(pods_reserved(f, 100), 5);
	quota_flight_seen(f, NULL, 60);
	assert_int_equal(pods_reserved(f, 100), 3);
	set_plain(f, 1, 5, 1, 70); /* fewer made than before: it began anew */
	assert_int_equal(pods_reserved(f, 100), 4);
	quota_flight_set(f, &(struct quota_run){.uid = uid_of(1), .pod = &p, .pods = {5, 5}});
	assert_int_equal(pods_reserved(f, 100), 0);
	quota_flight_set(f, &(struct quota_run){.uid = uid_of(1),
				    .pod = &p,
				    .pods = {-1, -1},
				    .made = -5,
				    .ended = INT32_MAX});
	quota_flight_free(f);
}

static void thousands_of_runs_cost_little_at_each_event(void **state)
{
	enum { RUNS = 20000 };
	struct quota_flight *f = quota_flight_new();
	struct pod p = pod_in("team");
	(void)state;
	for (int32_t made = 1; made <= 2; made++)
		for (int32_t i = 0; i < RUNS; i++)
			quota_flight_set(
				f, &(struct quota_run){.uid = {{(uint8_t)i, (uint8_t)(i >> 8)}},
					   .pod = &p,
					   .pods = {2, 2},
					   .made = made,
					   .version = made * RUNS + i});
	for (int32_t i = 0; i < 3 * RUNS; i++) /* each would have looked at all of them */
		quota_flight_seen(f, NULL, i);
	assert_int_equal(pods_reserved(f, 3 * RUNS), 0);
	quota_flight_free(f);
}

/*
 * A world drawn from a seed: pods of Jobs are made, counted and end, one write after the other. The
 * watches on Jobs and on quotas show it late, independently. Used and reserved together are never
 * less than our runs will need, and exactly that when all has been seen. With odd seeds quotas
 * never know an end before the Jobs have shown it. Then pods of others do not make it too little
 * either.
 */
enum { JOBS = 6, STEPS = 400 };

struct truth {
	struct world_job {
		int32_t at_once, in_all, made, ended, uncounted_ends;
		bool runs;
	} job[JOBS], told[JOBS];
	int64_t version, used, told_used, others, told_others;
	bool jobs_first;
};

static unsigned draw(unsigned *seed, unsigned n)
{
	*seed = *seed * 1103515245u + 12345u;
	return (*seed >> 16) % n;
}

static void write_something(struct truth *t, unsigned *seed)
{
	unsigned i = draw(seed, JOBS);
	struct world_job *j = &t->job[i];
	int32_t alive = j->made - j->ended;
	t->version++;
	if (!j->runs) {
		*j = (struct world_job){.at_once = 1 + (int32_t)draw(seed, 4), .runs = true};
		j->in_all = j->at_once + (int32_t)draw(seed, 5);
	} else if (draw(seed, 3) > 0 && alive < j->at_once && j->made < j->in_all) {
		t->used++; /* the quota first */
		t->version++;
		j->made++;
	} else if (alive > 0 && draw(seed, 2)) {
		j->ended++;
		j->uncounted_ends++;
	} else if (j->uncounted_ends > 0 && (!t->jobs_first || t->told[i].ended == j->ended)) {
		t->used -= j->uncounted_ends; /* the quota controller counts anew */
		j->uncounted_ends = 0;
	} else if (draw(seed, 3) == 0) {
		t->used++;
		t->others++;
	}
}

static int32_t to_have(const struct world_job *j)
{
	int32_t left = j->in_all - j->ended;
	return left < j->at_once ? left : j->at_once;
}

static void tell_job(struct quota_flight *f, struct truth *t, int i)
{
	struct world_job *j = &t->job[i];
	t->told[i] = *j;
	if (j->runs)
		set(f, (uint8_t)(i + 1), to_have(j), j->in_all, j->made, j->ended, t->version);
}

static void tell_quota(struct quota_flight *f, struct truth *t)
{
	t->told_used = t->used;
	t->told_others = t->others;
	quota_flight_seen(f, NULL, t->version);
}

static int64_t needed(const struct truth *t)
{
	int64_t n = 0;
	for (int i = 0; i < JOBS; i++)
		n += t->job[i].runs ? to_have(&t->job[i]) : 0;
	return n;
}

/* Pods that are still to be made, beside those that the quota really counts. */
static int64_t to_come(const struct truth *t)
{
	int64_t n = 0;
	for (int i = 0; i < JOBS; i++) {
		const struct world_job *j = &t->job[i];
		n += j->runs ? to_have(j) - (j->made - j->ended) : 0;
	}
	return n;
}

static void it_never_says_too_little_and_lets_go_in_the_end(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 200; seed++) {
		struct quota_flight *f = quota_flight_new();
		struct truth t = {.jobs_first = seed % 2 == 1};
		unsigned s = seed;
		for (int step = 0; step < STEPS; step++) {
			write_something(&t, &s);
			for (int i = 0; i < JOBS; i++) /* a run is told before it is admitted */
				if (t.job[i].runs && !t.told[i].runs)
					tell_job(f, &t, i);
			if (draw(&s, 3) == 0)
				tell_job(f, &t, (int)draw(&s, JOBS));
			if (draw(&s, 4) == 0)
				tell_quota(f, &t);
			int64_t held = t.told_used + pods_reserved(f, t.told_used);
			int64_t least = needed(&t) + (t.jobs_first ? t.told_others : 0);
			if (held < least)
				fail_msg("seed %u, step %d: %lld of %lld", seed, step,
					(long long)held, (long long)least);
		}
		for (int i = 0; i < JOBS; i++)
			tell_job(f, &t, i);
		tell_quota(f, &t);
		int64_t held = t.used + pods_reserved(f, t.used);
		assert_true(held >= t.others + needed(&t));
		assert_int_equal(held, t.used + to_come(&t));
		quota_flight_free(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_jobs_started_together_do_not_collide),
		cmocka_unit_test(it_lets_go_when_the_quota_was_seen_late_enough),
		cmocka_unit_test(a_run_that_is_over_is_known_until_its_pods_are_counted),
		cmocka_unit_test(a_list_of_one_namespace_is_about_that_alone),
		cmocka_unit_test(the_successor_of_a_pod_that_ended_has_its_place),
		cmocka_unit_test(count_pods_wants_room_for_all_that_will_be_made),
		cmocka_unit_test(many_sightings_between_two_looks_err_on_the_safe_side),
		cmocka_unit_test(only_quotas_that_count_such_pods),
		cmocka_unit_test(a_run_may_be_told_again_with_other_pods),
		cmocka_unit_test(thousands_of_runs_cost_little_at_each_event),
		cmocka_unit_test(it_never_says_too_little_and_lets_go_in_the_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
