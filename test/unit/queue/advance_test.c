/*
 * The promise of AdvanceReservations, in small random worlds: Jobs of two namespaces come, run as long as they
 * said or longer, and are stopped; reservations of one of the namespaces come and go.
 *
 *   - while a reservation is open that was accepted, and once what was stopped for it is gone, what others
 *     hold leaves all of it free
 *   - a queue that is told the same facts in another order decides the same
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "worlds.h"
#include "test/unit/searched.h"
#include "base/must.h"
#include "test/sim/rng.h"

enum {
	CPUS = 12,
	JOBS = 60,
	RESERVATIONS = 6,
	SPAN_S = 4000,
	DECISIONS = 64,
};

enum job_state { TO_COME, WAITING, RUNNING, GONE };

struct test_job {
	struct uid uid;
	const char *ns;
	enum job_state state;
	int64_t cpu, comes_s, lasts_s, said_s, ends_s;
	int32_t priority;
};

struct test_reservation {
	char name[16];
	int64_t cpu, comes_s, from_s, until_s, release_s;
	bool told, of_all;
};

struct world {
	struct rng rng;
	struct queue *q;
	int64_t now_s;
	bool late; /* Jobs may last longer than they said */
	struct test_job job[JOBS];
	struct test_reservation reservation[RESERVATIONS];
	size_t open, stopped; /* what was seen: that the test tests something */
};

static int64_t roll(struct world *w, int64_t n)
{
	return rng_between(&w->rng, 0, n - 1);
}

static struct queue *queue_made(enum queueing_strategy strategy)
{
	static const char *const class[] = {"0", "1", "2", "3"};
	struct queue *q = queue_new();
	make_flavor(q, "spot");
	make_queue(q,
		(struct clusterqueue_spec){.name = "batch",
			.strategy = strategy,
			.preemption.within_clusterqueue = PREEMPT_LOWER_PRIORITY},
		"spot", CPUS * 1000);
	make_localqueue(q, "team-a", "main", "batch");
	make_localqueue(q, "team-b", "main", "batch");
	make_classes(q, class, 4, 0);
	return q;
}

static void draw(struct world *w, uint64_t seed)
{
	*w = (struct world){.late = seed % 2};
	rng_seed(&w->rng, seed);
	for (uint32_t i = 0; i < JOBS; i++) {
		struct test_job *j = &w->job[i];
		*j = (struct test_job){.uid = fixture_uid(i + 1),
			.ns = roll(w, 3) ? "team-a" : "team-b",
			.cpu = 1 + roll(w, CPUS / 2),
			.comes_s = 1 + roll(w, SPAN_S),
			.said_s = 1 + roll(w, 900),
			.priority = (int32_t)roll(w, 4)};
		j->lasts_s = w->late && roll(w, 3) == 0 ? j->said_s * 3 : 1 + roll(w, j->said_s);
	}
	for (int i = 0; i < RESERVATIONS; i++) {
		struct test_reservation *r = &w->reservation[i];
		snprintf(r->name, sizeof(r->name), "r%d", i);
		r->cpu = 1 + roll(w, CPUS);
		r->comes_s = 1 + roll(w, SPAN_S);
		r->from_s = r->comes_s + 1 + roll(w, 900);
		r->until_s = r->from_s + 1 + roll(w, 900);
		r->release_s = roll(w, 2) ? 0 : 1 + roll(w, 300);
		r->of_all = roll(w, 4) == 0;
	}
	w->q = queue_made(seed % 3 == 0	  ? STRICT_FIFO
			  : seed % 3 == 1 ? BACKFILL
					  : BEST_EFFORT_FIFO);
}

/* ---- Facts ---- */

static void tell_job(struct world *w, struct test_job *j)
{
	char priority[] = {(char)('0' + j->priority), '\0'};
	struct job told = fixture_job(1, ASKS_CPU(j->cpu * 1000));
	told.uid = j->uid;
	told.ns = j->ns;
	told.priority_class = priority;
	told.durations.expected_ms = j->said_s * 1000;
	told.created_ms = j->comes_s * 1000;
	queue_set_job(w->q, &told);
	j->state = WAITING;
}

static void tell_reservation(struct world *w, struct test_reservation *r, bool accepted)
{
	static const char *const team_b[] = {"team-b"};
	struct advance_amount amount = {
		"spot", r->of_all ? "" : "cpu", r->of_all ? 0 : r->cpu * 1000};
	struct advance_reservation_spec s = {.name = r->name,
		.uid = fixture_uid(1000 + (uint32_t)(r - w->reservation)),
		.created_ms = r->comes_s * 1000,
		.clusterqueue = "batch",
		.amount = &amount,
		.namounts = 1,
		.from_ms = r->from_s * 1000,
		.until_ms = r->until_s * 1000,
		.calendar = "",
		.namespaces = team_b,
		.nnamespaces = 1,
		.release_after_ms = r->release_s * 1000,
		.accepted = accepted};
	assert_int_equal(queue_set_advance_reservation(w->q, &s, NULL), 0);
	r->told = true;
}

static struct test_job *job_of(struct world *w, const struct uid *uid)
{
	for (int i = 0; i < JOBS; i++)
		if (uid_cmp(&w->job[i].uid, uid) == 0)
			return &w->job[i];
	fail();
	return NULL;
}

/* What is stopped has no pods any more at once. */
static void obey(struct world *w, const struct decision *d)
{
	struct test_job *j = job_of(w, &d->uid);
	must(j);
	if (d->kind == DECISION_START) {
		j->state = RUNNING;
		j->ends_s = w->now_s + j->lasts_s;
		queue_confirm_job(w->q, &j->uid, w->now_s * 1000);
	} else if (d->kind == DECISION_STOP) {
		w->stopped += d->reason == STOP_REASON_RESERVED;
		if (d->reason == STOP_REASON_RESERVED)
			assert_string_equal(j->ns, "team-a");
		j->state = WAITING;
		queue_release_job(w->q, &j->uid, w->now_s * 1000, 0);
	}
}

static int64_t decide_all(struct world *w)
{
	struct decision d[DECISIONS];
	int64_t next_ms;
	size_t n, rounds = 0;
	do {
		if (++rounds > 1000)
			fail_msg("at %lld it decides for ever", (long long)w->now_s);
		n = queue_decide(w->q, w->now_s * 1000, d, DECISIONS, &next_ms);
		for (size_t i = 0; i < n; i++)
			obey(w, &d[i]);
	} while (n > 0 || next_ms <= w->now_s * 1000);
	return next_ms;
}

/* ---- What is promised ---- */

static int64_t held_by_others(const struct world *w)
{
	int64_t held = 0;
	for (int i = 0; i < JOBS; i++)
		if (w->job[i].state == RUNNING && strcmp(w->job[i].ns, "team-a") == 0)
			held += w->job[i].cpu;
	return held;
}

static void check(struct world *w)
{
	struct advance_reservation_view v;
	int64_t kept = 0;
	for (size_t i = 0; queue_view_advance_reservation(w->q, i, &v); i++) {
		if (v.state != ADVANCE_ACTIVE)
			continue;
		if (!v.accepted.ok || !v.kept.ok || v.nuse != 1)
			fail_msg("at %lld %s: %s %s", (long long)w->now_s, v.name, v.kept.reason,
				v.kept.message);
		assert_true(v.use[0].used <= v.use[0].left && v.use[0].left <= v.use[0].amount);
		kept += v.use[0].left;
		w->open++;
	}
	if (kept > 0 && held_by_others(w) * 1000 + kept > CPUS * 1000)
		fail_msg("at %lld others hold %lld, and %lld are kept", (long long)w->now_s,
			(long long)held_by_others(w), (long long)kept);
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* What happens at this second; returns when something happens next. */
static int64_t go(struct world *w)
{
	int64_t next_s = INT64_MAX;
	for (int i = 0; i < JOBS; i++) {
		struct test_job *j = &w->job[i];
		if (j->state == TO_COME && j->comes_s <= w->now_s)
			tell_job(w, j);
		if (j->state == RUNNING && j->ends_s <= w->now_s) {
			queue_end_job(w->q, &j->uid, w->now_s * 1000);
			j->state = GONE;
		}
	}
	for (int i = 0; i < RESERVATIONS; i++)
		if (!w->reservation[i].told && w->reservation[i].comes_s <= w->now_s)
			tell_reservation(w, &w->reservation[i], false);
	int64_t asks_ms = decide_all(w);
	check(w);
	for (int i = 0; i < JOBS; i++) {
		if (w->job[i].state == TO_COME)
			next_s = earlier(next_s, w->job[i].comes_s);
		if (w->job[i].state == RUNNING)
			next_s = earlier(next_s, w->job[i].ends_s);
	}
	for (int i = 0; i < RESERVATIONS; i++)
		if (!w->reservation[i].told)
			next_s = earlier(next_s, w->reservation[i].comes_s);
	if (asks_ms != INT64_MAX)
		next_s = earlier(next_s, (asks_ms + 999) / 1000);
	return next_s > w->now_s ? next_s : w->now_s + 1;
}

static void test_promise(void **state)
{
	(void)state;
	size_t open = 0, stopped = 0;
	for (uint64_t seed = 1; seed <= searched(20, 60); seed++) {
		struct world w;
		draw(&w, seed);
		for (w.now_s = 1; w.now_s < 2 * SPAN_S;)
			w.now_s = go(&w);
		open += w.open;
		stopped += w.stopped;
		queue_free(w.q);
	}
	assert_true(open > 1000 && stopped > 10);
}

/* ---- The order of facts ---- */

struct shown {
	char text[4096];
};

static struct shown shown_of(const struct queue *q)
{
	struct shown s = {""};
	struct advance_reservation_view v;
	for (size_t i = 0; queue_view_advance_reservation(q, i, &v); i++) {
		size_t len = strlen(s.text);
		snprintf(s.text + len, sizeof(s.text) - len, "%s %d %s %s %lld %lld\n", v.name,
			v.state, v.accepted.reason, v.kept.reason, (long long)v.possible_from_ms,
			v.nuse ? (long long)v.use[0].used : -1);
	}
	return s;
}

/* A queue that begins in the middle: with runs of the ledger and reservations of the API server. */
static struct shown taken_over(const struct world *old, const bool *accepted, bool backwards)
{
	struct world w = *old;
	w.q = queue_made(BEST_EFFORT_FIFO);
	for (int i = 0; i < RESERVATIONS; i++) {
		int at = backwards ? RESERVATIONS - 1 - i : i;
		if (old->reservation[at].told)
			tell_reservation(&w, &w.reservation[at], accepted[at]);
	}
	for (int i = 0; i < JOBS; i++) {
		struct test_job *j = &w.job[backwards ? JOBS - 1 - i : i];
		if (j->state != RUNNING)
			continue;
		int64_t began_ms = (j->ends_s - j->lasts_s) * 1000;
		struct quota_line line = {"cq/batch", "spot", "cpu", j->cpu * 1000};
		tell_job(&w, j);
		j->state = RUNNING;
		queue_adopt_job(w.q, &j->uid, &line, 1, began_ms);
		queue_confirm_job(w.q, &j->uid, began_ms);
	}
	struct decision d[DECISIONS];
	int64_t next_ms;
	queue_decide(w.q, w.now_s * 1000, d, DECISIONS, &next_ms);
	struct shown s = shown_of(w.q);
	queue_free(w.q);
	return s;
}

static void test_order_does_not_matter(void **state)
{
	(void)state;
	size_t accepted_ever = 0;
	for (uint64_t seed = 1; seed <= searched(20, 60); seed++) {
		struct world w;
		draw(&w, seed);
		for (w.now_s = 1; w.now_s < SPAN_S / 2;)
			w.now_s = go(&w);
		bool accepted[RESERVATIONS] = {false};
		struct advance_reservation_view v;
		for (size_t i = 0; queue_view_advance_reservation(w.q, i, &v); i++)
			accepted[v.name[1] - '0'] = v.accepted.ok;
		struct shown one = taken_over(&w, accepted, false);
		struct shown two = taken_over(&w, accepted, true);
		assert_string_equal(one.text, two.text);
		for (int i = 0; i < RESERVATIONS; i++)
			accepted_ever += accepted[i];
		queue_free(w.q);
	}
	assert_true(accepted_ever > 30);
}

/* ---- Two of them ---- */

static void reserve_half(struct queue *q, uint32_t n, const char *ns)
{
	char name[] = {(char)('a' + n), '\0'};
	struct advance_amount amount = {"spot", "cpu", CPUS * 500};
	struct advance_reservation_spec s = {.name = name,
		.uid = fixture_uid(1000 + n),
		.created_ms = n,
		.clusterqueue = "batch",
		.amount = &amount,
		.namounts = 1,
		.from_ms = 1000,
		.until_ms = 100000000,
		.calendar = "",
		.namespaces = &ns,
		.nnamespaces = 1};
	assert_int_equal(queue_set_advance_reservation(q, &s, NULL), 0);
}

/* Is it started? */
static bool tries(struct queue *q, uint32_t n, const char *ns, int64_t milli, int64_t lasts_ms)
{
	struct job j = fixture_job(1, ASKS_CPU(milli));
	struct decision d[DECISIONS];
	int64_t now_ms = 1000 + n * INT64_C(1000), next_ms;
	j.uid = fixture_uid(n + 1);
	j.ns = ns;
	j.priority_class = "0";
	j.durations.expected_ms = lasts_ms;
	queue_set_job(q, &j);
	size_t started = queue_decide(q, now_ms, d, DECISIONS, &next_ms);
	for (size_t i = 0; i < started; i++)
		queue_confirm_job(q, &d[i].uid, now_ms);
	return started == 1 && d[0].kind == DECISION_START;
}

/* More runs than a window has pieces (ADVANCE_PIECES_MAX), each with an end of its own. */
static void test_many_runs_of_one_leave_the_other_what_it_keeps(void **state)
{
	(void)state;
	struct queue *q = queue_made(BEST_EFFORT_FIFO);
	reserve_half(q, 0, "team-a");
	reserve_half(q, 1, "team-b");
	for (uint32_t n = 0; n < 100; n++)
		assert_true(tries(q, n, "team-a", 50, 1000000 + n * 10000));
	assert_true(tries(q, 100, "team-b", CPUS * 500, 10000000));
	queue_free(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many_runs_of_one_leave_the_other_what_it_keeps),
		cmocka_unit_test(test_promise),
		cmocka_unit_test(test_order_does_not_matter),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
