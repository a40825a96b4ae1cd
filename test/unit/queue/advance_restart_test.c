/*
 * A restart in the middle of random worlds with AdvanceReservations (planned.h). A second queue is told the
 * facts that outlive a leader: what admins describe, the Jobs, what runs and what it holds, and of each
 * reservation what its status says (that it was accepted, and what of it was given back). It is told of them in
 * another order.
 *
 *   - It has the same plan: the same runs, and the same pieces of what is reserved, to the millisecond.
 *   - It shows the same of each reservation.
 *   - It decides nothing that the first would not: for hours to come, with the same facts, it starts and
 *     stops the same Jobs at the same times.
 *
 * Reservations that were refused are deleted before. They are looked at once a minute, so the first queue may
 * accept them later than the second.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "planned.h"
#include "queue/core/model/reservation.h"
#include "test/unit/core/inside.h"

enum {
	WORLDS = 100,
	EVENTS = 150,
	RESTART_EVERY = 15,
	HOURS = 4,
	HISTORY_MAX = 4000,
	PIECES_MAX = 2000
};

static uint64_t seed_now; /* for what fails */
static size_t compared, pieces_seen;

/* ---- The plan ----------------------------------------------------------------------------------
 */

struct piece {
	enum booking_kind kind;
	struct uid who;
	int64_t from_ms, until_ms;
	char node[64], flavor[32];
	int64_t amount;
};

struct pieces {
	struct piece of[PIECES_MAX];
	size_t n;
};

static int piece_order(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;
	int who = uid_cmp(&x->who, &y->who), node = strcmp(x->node, y->node);
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (who != 0)
		return who;
	if (x->from_ms != y->from_ms)
		return x->from_ms < y->from_ms ? -1 : 1;
	return node != 0 ? node : strcmp(x->flavor, y->flavor);
}

/* Runs are booked in trees that plan ahead: one in which something was booked once, and in a queue that was
 * made anew, one in which there is a reservation. */
static bool plans(struct queue *q, const struct booking *b)
{
	const struct quota_node *root = quota_node_of(inside_quota(q), b->line[0].row->node->name);
	while (root->parent)
		root = root->parent;
	return root->cohort_tree && root->cohort_tree->plans;
}

/* All pieces of what is reserved, and the runs of trees in which the other one plans ahead, too. */
static void take_pieces(struct queue *q, struct queue *other, struct pieces *ret)
{
	ret->n = 0;
	list_each_entry(&inside_plan(q)->booked, const struct booking, b, of_plan) {
		bool firm = b->kind == BOOKING_ADVANCE ||
			    (b->kind == BOOKING_RUN && plans(q, b) && plans(other, b));
		for (size_t i = 0; firm && i < b->nlines; i++) {
			struct piece *x = &ret->of[ret->n++];
			assert_in_range(ret->n, 1, PIECES_MAX);
			*x = (struct piece){.kind = b->kind,
				.who = b->who,
				.from_ms = b->from_ms,
				.until_ms = b->until_ms,
				.amount = b->line[i].amount};
			snprintf(x->node, sizeof(x->node), "%s", b->line[i].row->node->name);
			snprintf(x->flavor, sizeof(x->flavor), "%s", b->line[i].row->flavor);
		}
	}
	qsort(ret->of, ret->n, sizeof(ret->of[0]), piece_order);
}

static void tell_piece(const char *whose, const struct piece *x)
{
	fprintf(stderr, "%s: kind %d of %02x%02x%02x at %s %s: %lld from %lld until %lld\n", whose,
		x->kind, x->who.byte[0], x->who.byte[1], x->who.byte[2], x->node, x->flavor,
		(long long)x->amount, (long long)x->from_ms, (long long)x->until_ms);
}

static bool same_piece(const struct piece *a, const struct piece *b)
{
	return piece_order(a, b) == 0 && a->until_ms == b->until_ms && a->amount == b->amount;
}

static void compare_plans(struct planned *p, struct queue *second)
{
	static struct pieces a, b;
	take_pieces(p->q, second, &a);
	take_pieces(second, p->q, &b);
	for (size_t i = 0; i < a.n || i < b.n; i++) {
		pieces_seen += i < a.n && a.of[i].kind == BOOKING_ADVANCE;
		if (i < a.n && i < b.n && same_piece(&a.of[i], &b.of[i]))
			continue;
		if (i < a.n)
			tell_piece("first", &a.of[i]);
		if (i < b.n)
			tell_piece("second", &b.of[i]);
		fail_msg("seed %llu at %lld: another plan after a restart",
			(unsigned long long)seed_now, (long long)p->now_ms);
	}
}

/* ---- What is shown -----------------------------------------------------------------------------
 */

#define SAME(x, y, member)                                                                         \
	do {                                                                                       \
		if ((x).member != (y).member)                                                      \
			fail_msg("seed %llu at %lld: %s shows another " #member                    \
				 ": %lld, after a restart %lld; %s, %s",                           \
				(unsigned long long)seed_now, (long long)p->now_ms, (x).name,      \
				(long long)(x).member, (long long)(y).member, (x).kept.message,    \
				(y).kept.message);                                                 \
	} while (0)

static void compare_views(struct planned *p, const struct queue *second)
{
	struct advance_reservation_view a, b;
	size_t i = 0;
	for (; queue_view_advance_reservation(p->q, i, &a); i++) {
		assert_true(queue_view_advance_reservation(second, i, &b));
		assert_string_equal(a.name, b.name);
		SAME(a, b, state);
		SAME(a, b, accepted.ok);
		SAME(a, b, kept.ok);
		SAME(a, b, from_ms);
		SAME(a, b, until_ms);
		SAME(a, b, left_from_ms);
		SAME(a, b, nuse);
		assert_string_equal(a.accepted.reason, b.accepted.reason);
		assert_string_equal(a.kept.reason, b.kept.reason);
		for (size_t k = 0; k < a.nuse; k++) {
			assert_string_equal(a.use[k].clusterqueue, b.use[k].clusterqueue);
			assert_int_equal(a.use[k].amount, b.use[k].amount);
			assert_int_equal(a.use[k].left, b.use[k].left);
			assert_int_equal(a.use[k].used, b.use[k].used);
		}
	}
	assert_false(queue_view_advance_reservation(second, i, &b));
}

/* ---- A restart ---------------------------------------------------------------------------------
 */

static void adopt(const struct planned *p, struct queue *second, const struct planned_job *j)
{
	struct quota_line lines[QUEUE_LINES_MAX];
	struct uid uid = planned_uid(j);
	size_t n = queue_job_lines(p->q, &uid, lines);
	assert_true(queue_adopt_job(second, &uid, lines, n, j->began_ms));
	queue_confirm_job(second, &uid, j->began_ms);
}

static void tell_jobs(const struct planned *p, struct queue *second, bool backwards)
{
	for (size_t i = 0; i < PLANNED_JOBS; i++) {
		const struct planned_job *j = &p->job[backwards ? PLANNED_JOBS - 1 - i : i];
		if (!j->alive)
			continue;
		planned_tell_job(p, second, j);
		if (j->runs)
			adopt(p, second, j);
	}
}

static void tell_reservations(const struct planned *p, struct queue *second, bool backwards)
{
	for (size_t i = 0; i < PLANNED_RESERVATIONS; i++) {
		size_t k = backwards ? PLANNED_RESERVATIONS - 1 - i : i;
		if (p->reservation[k].exists)
			planned_tell_reservation(p, second, &p->reservation[k], p->q);
	}
}

static struct queue *second_queue(const struct planned *p, unsigned order)
{
	struct queue *second = queue_new();
	if (order & 1)
		tell_reservations(p, second, order & 2);
	if (order & 4)
		tell_jobs(p, second, order & 8);
	planned_tell_admins(p, second);
	if (!(order & 4))
		tell_jobs(p, second, order & 8);
	if (!(order & 1))
		tell_reservations(p, second, order & 2);
	return second;
}

/* ---- What comes then ---------------------------------------------------------------------------
 */

struct decided {
	int64_t at_ms;
	enum decision_kind kind;
	uint32_t number;
};

struct history {
	struct decided of[HISTORY_MAX];
	size_t n;
};
static struct history *written; /* by what is decided now; NULL: by nothing */

static void note(struct planned *p, struct planned_job *j, const struct decision *d)
{
	if (!written || written->n == HISTORY_MAX)
		return;
	written->of[written->n].at_ms = p->now_ms;
	written->of[written->n].kind = d->kind;
	written->of[written->n++].number = j->number;
}

static void decide(struct planned *p)
{
	while (planned_decide(p, note))
		;
}

static void go_on(struct planned *p, int64_t until_ms)
{
	while (p->now_ms < until_ms) {
		int64_t next_ms = planned_end_runs(p);
		if (p->next_ms < next_ms)
			next_ms = p->next_ms;
		if (until_ms < next_ms)
			next_ms = until_ms;
		p->now_ms = next_ms > p->now_ms ? next_ms : p->now_ms + 1;
		planned_end_runs(p);
		decide(p);
	}
}

/* Which of two ClusterQueues has its turn first in a moment is not said. */
static int decided_order(const void *a, const void *b)
{
	const struct decided *x = a, *y = b;
	if (x->at_ms != y->at_ms)
		return x->at_ms < y->at_ms ? -1 : 1;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return (int)x->kind - (int)y->kind;
}

static void compare_histories(struct history *a, struct history *b)
{
	qsort(a->of, a->n, sizeof(a->of[0]), decided_order);
	qsort(b->of, b->n, sizeof(b->of[0]), decided_order);
	for (size_t i = 0; i < a->n || i < b->n; i++) {
		bool same = i < a->n && i < b->n && a->of[i].at_ms == b->of[i].at_ms &&
			    a->of[i].kind == b->of[i].kind && a->of[i].number == b->of[i].number;
		if (!same)
			fail_msg("seed %llu: decision %zu is another one after a restart: kind %d "
				 "job-%u at %lld, kind %d job-%u at %lld",
				(unsigned long long)seed_now, i, i < a->n ? (int)a->of[i].kind : -1,
				i < a->n ? a->of[i].number : 0,
				i < a->n ? (long long)a->of[i].at_ms : 0,
				i < b->n ? (int)b->of[i].kind : -1, i < b->n ? b->of[i].number : 0,
				i < b->n ? (long long)b->of[i].at_ms : 0);
	}
	compared += a->n;
}

/* Both live on in worlds of their own, with the same facts. */
static void live_on(struct planned *p, struct queue *second)
{
	static struct history a, b;
	static struct planned twin;
	a.n = b.n = 0;
	twin = *p;
	twin.q = second;
	written = &b;
	decide(&twin);
	written = &a;
	decide(p);
	compare_plans(p, second);
	compare_views(p, second);
	go_on(p, p->now_ms + HOURS * HOUR_MS);
	written = &b;
	go_on(&twin, twin.now_ms + HOURS * HOUR_MS);
	written = NULL;
	compare_histories(&a, &b);
}

static bool some_stop(const struct planned *p)
{
	for (size_t i = 0; i < PLANNED_JOBS; i++)
		if (p->job[i].stopping)
			return true;
	return false;
}

static void drop_refused(struct planned *p)
{
	struct advance_reservation_view v;
	char name[32];
	for (size_t i = 0; i < PLANNED_RESERVATIONS; i++) {
		struct planned_reservation *r = &p->reservation[i];
		planned_name_reservation(r, name);
		for (size_t k = 0; r->exists && queue_view_advance_reservation(p->q, k, &v); k++)
			if (strcmp(v.name, name) == 0 && !v.accepted.ok)
				planned_drop_reservation(p, r);
	}
	decide(p);
}

static void restart(struct planned *p)
{
	drop_refused(p);
	if (some_stop(p))
		return;
	struct queue *second = second_queue(p, (unsigned)rng_between(&p->rng, 0, 15));
	live_on(p, second);
	queue_free(second);
}

static void world(uint64_t seed)
{
	static struct planned p;
	seed_now = seed;
	planned_begin(&p, seed, true);
	decide(&p);
	for (int i = 1; i <= EVENTS; i++) {
		planned_event(&p);
		decide(&p);
		if (rng_between(&p.rng, 0, 2) == 0)
			go_on(&p, p.now_ms + rng_between(&p.rng, 0, 20) * MINUTE_MS);
		if (i % RESTART_EVERY == 0)
			restart(&p);
	}
	queue_free(p.q);
}

static void a_restart_changes_nothing(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= WORLDS; seed++)
		world(seed);
	/* That there was something to see. */
	assert_in_range(compared, 500, SIZE_MAX);
	assert_in_range(pieces_seen, 100, SIZE_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_restart_changes_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
