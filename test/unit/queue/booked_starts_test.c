/*
 * What bookings are worth, in seeded random worlds (planned.h). Time goes from one moment at which the
 * queue wants to be asked to the next, and to each end of a run. After each decision
 *
 *   - no Job has started over what others have booked, unless the first booking in its way is that of
 *     a Job of a lower priority;
 *   - each booking is that of a Job that waits, as wide and as long as the Job is now, or that of a
 *     run, of what it holds, until a time to come;
 *   - the plan's sums are those of its bookings.
 *
 * And in the end, when nothing is edited any more and runs last no longer than they say: a Job that is
 * kept from starting starts at the time that it has booked, or before that, unless Jobs of a higher
 * priority come before it; and no Job is passed for ever. When all Jobs are gone, nothing is booked.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "planned.h"
#include "queue/core/model/reservation.h"
#include "queue/core/model/kept_start.h"
#include "test/unit/searched.h"
#include "test/unit/core/inside.h"

enum { EVENTS = 400, CALM_HOURS = 200 };

static uint64_t seed_now; /* for what fails */
static size_t overlapped, kept, booked;

/* ---- No start over a booking -------------------------------------------------------------------
 */

/* Bookings beside runs, before the decision or after it: in between some are made anew. */
static struct noted {
	struct uid who;
	int64_t from_ms, until_ms;
	int queue, flavor;
} noted[2 * PLANNED_JOBS];
static size_t nnoted;

static int index_of(const char *const *names, int n, const char *name)
{
	for (int i = 0; i < n; i++)
		if (strcmp(names[i], name) == 0)
			return i;
	fail_msg("seed %llu: nothing is called %s", (unsigned long long)seed_now, name);
	return -1;
}

static int queue_of_row(const struct quota_row *row)
{
	return index_of(planned_queue_name, PLANNED_QUEUES, row->node->name + strlen("cq/"));
}

static int flavor_of_row(const struct quota_row *row)
{
	return index_of(planned_flavor_name, PLANNED_FLAVORS, row->flavor);
}

static void note_bookings(const struct planned *p)
{
	nnoted = 0;
	list_each_entry(&inside_plan(p->q)->booked, const struct booking, b, of_plan) {
		if (b->kind == BOOKING_RUN)
			continue;
		assert_int_equal(b->nlines, 1);
		noted[nnoted++] = (struct noted){b->who, b->from_ms, b->until_ms,
			queue_of_row(b->line[0].row), flavor_of_row(b->line[0].row)};
	}
}

static bool share_quota(const struct planned *p, int a, int b)
{
	return a == b || (p->queue[a].in_cohort && p->queue[b].in_cohort);
}

/* Is the first of the noted bookings in its way that of a Job of a lower priority? */
static bool is_above_the_first(struct planned *p, const struct planned_job *j, int flavor)
{
	const struct noted *first = NULL;
	struct uid own = planned_uid(j);
	int64_t until_ms = p->now_ms + planned_span_ms(j);
	for (size_t i = 0; i < nnoted; i++) {
		const struct noted *b = &noted[i];
		bool meets = b->from_ms < until_ms && b->until_ms > p->now_ms &&
			     b->flavor == flavor && share_quota(p, b->queue, j->queue) &&
			     uid_cmp(&b->who, &own) != 0;
		if (meets && (!first || b->from_ms < first->from_ms))
			first = b;
	}
	const struct planned_job *other = first ? planned_find(p, &first->who) : NULL;
	return other && other->class < j->class;
}

static bool overlaps(const struct planned *p, const struct planned_job *j, int flavor)
{
	int64_t until_ms = p->now_ms + planned_span_ms(j);
	for (int64_t at_ms = p->now_ms; at_ms < until_ms; at_ms = planned_next_change(p, at_ms))
		if (planned_free(p, j->queue, flavor, at_ms, j) < j->cpu)
			return true;
	return false;
}

static void check_start(struct planned *p, struct planned_job *j, const struct decision *d)
{
	(void)d;
	struct uid uid = planned_uid(j);
	const struct workload *w = inside_workload(p->q, &uid);
	assert_non_null(w);
	int flavor = flavor_of_row(w->reservation->line[0].row);
	if (!overlaps(p, j, flavor))
		return;
	overlapped++;
	bool may = is_above_the_first(p, j, flavor);
	note_bookings(p);
	if (!may && !is_above_the_first(p, j, flavor))
		fail_msg("seed %llu: job-%u started at %lld over what others have booked",
			(unsigned long long)seed_now, j->number, (long long)p->now_ms);
}

/* ---- Bookings follow facts ---------------------------------------------------------------------
 */

static void check_of_waiting(const struct planned_job *j, const struct booking *b)
{
	assert_false(j->runs || j->held);
	assert_int_equal(b->until_ms - b->from_ms, planned_span_ms(j));
	assert_int_equal(b->line[0].amount, j->cpu);
	assert_int_equal(queue_of_row(b->line[0].row), j->queue);
	if (b->kind == BOOKING_CHEAPEST) {
		assert_true(j->cheapest && j->expected_ms > 0);
		booked++;
	} else {
		assert_int_equal(b->kind, BOOKING_HEAD);
		kept++;
	}
}

static void check_of_run(
	const struct planned *p, const struct planned_job *j, const struct booking *b)
{
	assert_true(j->runs);
	assert_int_equal(b->from_ms, j->began_ms);
	assert_true(b->until_ms >= p->now_ms);
	assert_int_equal(b->line[0].amount, j->cpu);
	assert_int_equal(queue_of_row(b->line[0].row), j->queue);
}

/* One booking at most as a run, one as what it wants, one as what keeps it. */
static void check_bookings(struct planned *p)
{
	unsigned seen[PLANNED_JOBS] = {0};
	list_each_entry(&inside_plan(p->q)->booked, const struct booking, b, of_plan) {
		struct planned_job *j = planned_find(p, &b->who);
		assert_non_null(j);
		assert_int_equal(b->nlines, 1);
		assert_false(b->aside);
		assert_int_equal(seen[j - p->job] >> b->kind & 1, 0);
		seen[j - p->job] |= 1u << b->kind;
		if (b->kind == BOOKING_RUN)
			check_of_run(p, j, b);
		else
			check_of_waiting(j, b);
	}
	for (size_t i = 0; i < PLANNED_JOBS; i++) {
		const struct planned_job *j = &p->job[i];
		struct clusterqueue *cq = inside_clusterqueue(p->q, planned_queue_name[j->queue]);
		if (j->alive && j->runs && cq->cohort_tree->plans)
			assert_int_equal(seen[i] >> BOOKING_RUN & 1, 1);
	}
}

static void decide(struct planned *p)
{
	do
		note_bookings(p);
	while (planned_decide(p, check_start));
	check_bookings(p);
	planned_compare_profiles(p);
}

/* ---- Kept starts, when nothing is edited any more -----------------------------------------------
 */

static bool watched;
static int64_t promised_ms[PLANNED_JOBS]; /* by when it is to have started; 0: not said */

static void check_kept(struct planned *p)
{
	for (size_t i = 0; i < PLANNED_JOBS; i++) {
		const struct planned_job *j = &p->job[i];
		struct uid uid = planned_uid(j);
		const struct workload *w =
			j->alive && !j->runs ? inside_workload(p->q, &uid) : NULL;
		const struct booking *b = w ? kept_start_of(p->q, w) : NULL;
		if (b && (promised_ms[i] == 0 || b->from_ms < promised_ms[i]))
			promised_ms[i] = b->from_ms;
		if (w && j->class == 1 && promised_ms[i] > 0 && p->now_ms > promised_ms[i])
			fail_msg("seed %llu: job-%u was to start at %lld, and still waits",
				(unsigned long long)seed_now, j->number, (long long)promised_ms[i]);
	}
}

/* ---- Time --------------------------------------------------------------------------------------
 */

static void go_on(struct planned *p, int64_t until_ms)
{
	while (p->now_ms < until_ms) {
		int64_t ends_ms = planned_end_runs(p), next_ms = until_ms;
		if (ends_ms < next_ms)
			next_ms = ends_ms;
		if (p->next_ms < next_ms)
			next_ms = p->next_ms;
		if (next_ms > p->now_ms)
			p->now_ms = next_ms;
		else
			p->now_ms++;
		planned_end_runs(p);
		decide(p);
		if (watched)
			check_kept(p);
	}
}

/* ---- The end -----------------------------------------------------------------------------------
 */

/* What waits, beside those whose owner wants them to rather than be late. */
static void check_none_is_left(struct planned *p)
{
	struct explanation x;
	for (size_t i = 0; i < PLANNED_JOBS; i++) {
		const struct planned_job *j = &p->job[i];
		struct uid uid = planned_uid(j);
		if (j->alive && !j->runs && queue_explain(p->q, &uid, p->now_ms, &x) &&
			!(j->hold_when_missed && x.unreachable))
			fail_msg("seed %llu: job-%u is passed for ever: %s",
				(unsigned long long)seed_now, j->number, x.sentence);
	}
}

static void come_to_an_end(struct planned *p)
{
	planned_calm(p);
	memset(promised_ms, 0, sizeof(promised_ms));
	decide(p);
	go_on(p, p->now_ms + 3 * HOUR_MS); /* those that run longer than they said have ended */
	watched = true;
	go_on(p, p->now_ms + CALM_HOURS * HOUR_MS);
	watched = false;
	check_none_is_left(p);
	planned_drop_all(p);
	decide(p);
	assert_true(list_empty(&inside_plan(p->q)->booked));
	assert_true(list_empty(&inside_plan(p->q)->rows));
	assert_int_equal(inside_kept_starts(p->q), 0);
}

static void world(uint64_t seed)
{
	static struct planned p;
	seed_now = seed;
	planned_begin(&p, seed, false);
	decide(&p);
	for (int i = 0; i < EVENTS; i++) {
		planned_event(&p);
		if (rng_between(&p.rng, 0, 2) == 0)
			go_on(&p, p.now_ms + rng_between(&p.rng, 0, 40) * MINUTE_MS);
		else
			decide(&p);
	}
	come_to_an_end(&p);
	queue_free(p.q);
}

static void bookings_are_kept(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= searched(20, 60); seed++)
		world(seed);
	/* That there was something to see. */
	assert_in_range(overlapped, 10, SIZE_MAX);
	assert_in_range(kept, 1000, SIZE_MAX);
	assert_in_range(booked, 1000, SIZE_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bookings_are_kept),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
