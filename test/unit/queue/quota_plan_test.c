/*
 * The plan beside a plain list, in seeded random worlds. The list has the bookings; what fits at a
 * moment is asked of the quota tree itself: quota_take() of all bookings of that moment, then
 * quota_has(). Bookings come, move and go, limits and parents are edited meanwhile, and each question is
 * asked of both.
 *
 * A profile is compared with an array that has a use for each moment.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/symbol.h"
#include "queue/core/model/profile.h"
#include "queue/core/model/quota_plan.h"
#include "test/sim/rng.h"
#include "test/unit/searched.h"

/* ---- A profile ---- */

enum { MOMENTS = 3000 };

struct drawing {
	struct rng rng;
	struct profile p;
	int64_t use[MOMENTS + 1];
};

static int64_t draw(struct rng *r, int64_t least, int64_t most)
{
	return rng_between(r, least, most);
}

static void add_at_random(struct drawing *x, int64_t longest)
{
	int64_t from = draw(&x->rng, 0, MOMENTS - 1), until = from + draw(&x->rng, 0, longest);
	int64_t amount = draw(&x->rng, -2, 2);
	bool for_ever = until > MOMENTS;
	profile_add(&x->p, from, for_ever ? INT64_MAX : until, amount);
	for (int64_t t = from; t <= MOMENTS && (for_ever || t < until); t++)
		x->use[t] += amount;
}

static size_t steps_of(const struct drawing *x)
{
	size_t n = 1 + (x->use[0] != 0);
	for (size_t t = 1; t <= MOMENTS; t++)
		n += x->use[t] != x->use[t - 1];
	return n;
}

static int64_t next_change(const struct drawing *x, int64_t at)
{
	for (int64_t t = at + 1; t <= MOMENTS; t++)
		if (t > 0 && x->use[t] != x->use[t - 1])
			return t;
	return INT64_MAX;
}

static int64_t first_of(const struct drawing *x, int64_t at, int64_t limit, bool above)
{
	for (int64_t t = at; t <= MOMENTS; t++)
		if ((x->use[t] > limit) == above)
			return t;
	return INT64_MAX;
}

static int64_t window_of(
	const struct drawing *x, int64_t at, int64_t latest, int64_t length, int64_t limit)
{
	for (; at <= latest && at <= MOMENTS; at++) {
		int64_t ends = first_of(x, at, limit, true);
		if (ends == INT64_MAX || (length != INT64_MAX && ends - at >= length))
			return at;
	}
	return INT64_MAX;
}

static void compare_windows(struct drawing *x)
{
	struct profile_place place = {0, 0};
	for (int i = 0; i < 20; i++) {
		int64_t at = draw(&x->rng, 0, MOMENTS), latest = at + draw(&x->rng, 0, 200), until;
		int64_t length = draw(&x->rng, 0, 9) ? draw(&x->rng, 1, 60) : INT64_MAX;
		int64_t limit = draw(&x->rng, -4, 8);
		int64_t from = profile_window(&x->p, &place, at, latest, length, limit, &until);
		assert_int_equal(from, window_of(x, at, latest, length, limit));
		if (from != INT64_MAX)
			assert_int_equal(until, first_of(x, from, limit, true));
	}
}

static void compare_profile(struct drawing *x)
{
	struct profile_place place = {0, 0}, forward = {0, 0};
	int64_t until;
	assert_int_equal(profile_steps(&x->p), steps_of(x));
	for (int i = 0; i < 20; i++) {
		int64_t at = draw(&x->rng, 0, MOMENTS), limit = draw(&x->rng, -4, 8);
		bool above = draw(&x->rng, 0, 1);
		assert_true(profile_at(&x->p, &place, at, &until) == x->use[at]);
		assert_int_equal(until, next_change(x, at));
		assert_int_equal(profile_first(&x->p, &place, at, limit, above),
			first_of(x, at, limit, above));
	}
	for (int64_t t = 0; t <= MOMENTS; t += draw(&x->rng, 1, 9))
		assert_true(profile_at(&x->p, &forward, t, &until) == x->use[t]);
}

static void test_profile(void **state)
{
	(void)state;
	struct drawing *x = mem_alloc(sizeof(*x));
	for (uint64_t seed = 1; seed <= 12; seed++) {
		*x = (struct drawing){.use = {0}};
		rng_seed(&x->rng, seed);
		profile_init(&x->p);
		assert_true(profile_is_empty(&x->p));
		for (int i = 0; i < 1500; i++) {
			add_at_random(x, seed % 3 == 0 ? MOMENTS : 20);
			if (i % 50 != 0)
				continue;
			compare_profile(x);
			compare_windows(x);
		}
		for (int64_t t = 0; t <= MOMENTS; t++)
			profile_add(&x->p, t, t == MOMENTS ? INT64_MAX : t + 1, -x->use[t]);
		assert_true(profile_is_empty(&x->p));
		profile_done(&x->p);
	}
	free(x);
}

/* ---- Worlds ---- */

enum {
	EVENTS = 120,
	BOOKINGS = 40,
	NODES = 7,
	LEAVES = 4,
	PAIRS = 2,
	SPAN = 60,
};

/* Two Cohorts, one in the other or not, and a third; four ClusterQueues in these or alone. */
static const char *const node_name[NODES] = {
	"cq/a", "cq/b", "cq/c", "cq/d", "cohort/in", "cohort/out", "cohort/other"};
static const char *const resource[PAIRS] = {"cpu", "memory"};

struct world {
	struct rng rng;
	struct map symbols;
	struct quota quota;
	struct quota_node *node[NODES];
	struct quota_plan plan;
	struct booking *booking[BOOKINGS];
	size_t n;
	bool plain;			  /* nobody reserves until half of the events are over */
	enum plan_layer layer;		  /* that the list is asked in */
	size_t asked, had_room, had_none; /* that questions are worth asking */
	size_t local_parts;
};

static struct quota_row *row_of(struct world *w, int node, int pair)
{
	return quota_row_of(&w->quota, w->node[node], "spot", resource[pair]);
}

static bool is_leaf(int node)
{
	return node < LEAVES;
}

static int64_t limit_at_random(struct world *w)
{
	return draw(&w->rng, 0, 2) ? QUOTA_UNLIMITED : draw(&w->rng, 0, 8);
}

static void draw_limits(struct world *w, int node)
{
	for (int pair = 0; pair < PAIRS; pair++) {
		struct quota_limits l = {draw(&w->rng, 0, is_leaf(node) ? 15 : 6),
			limit_at_random(w), limit_at_random(w)};
		quota_set_limits(row_of(w, node, pair), &l);
	}
}

/* Of a leaf any Cohort or none; of the inner Cohort the outer one or none. */
static void draw_parent(struct world *w, int node)
{
	struct quota_node *parent = NULL;
	int64_t which = draw(&w->rng, 0, 3);
	if (is_leaf(node) && which > 0)
		parent = w->node[LEAVES + which - 1];
	else if (node == LEAVES && which > 0)
		parent = w->node[LEAVES + 1];
	quota_move(&w->quota, w->node[node], parent);
}

static void settle(struct world *w)
{
	for (int i = 0; i < NODES; i++)
		if (!w->node[i]->parent)
			quota_settle(&w->quota, w->node[i]);
	for (int i = 0; i < NODES; i++)
		for (int pair = 0; pair < PAIRS; pair++)
			w->local_parts += row_of(w, i, pair)->local > 0;
}

static void world_make(struct world *w, uint64_t seed)
{
	static int a_cohort;
	*w = (struct world){.n = 0};
	rng_seed(&w->rng, seed);
	symbols_init(&w->symbols);
	quota_init(&w->quota, &w->symbols);
	quota_plan_init(&w->plan, &w->quota);
	for (int i = 0; i < NODES; i++) {
		w->node[i] = quota_node_of(&w->quota, node_name[i]);
		if (!is_leaf(i))
			w->node[i]->cohort = (struct cohort *)(void *)&a_cohort;
	}
	for (int i = 0; i < NODES; i++) {
		draw_limits(w, i);
		draw_parent(w, i);
	}
	settle(w);
}

static void world_end(struct world *w)
{
	while (w->n > 0)
		quota_plan_unbook(&w->plan, w->booking[--w->n]);
	assert_true(list_empty(&w->plan.rows));
	for (int i = 0; i < NODES; i++)
		assert_int_equal(w->node[i]->bookings, 0);
	quota_plan_done(&w->plan);
	quota_done(&w->quota);
	symbols_done(&w->symbols);
}

/* ---- The list ---- */

static bool covers(const struct booking *b, int64_t at_ms)
{
	return b->from_ms <= at_ms && at_ms < b->until_ms;
}

/* Bookings of that moment, but one, are taken of the quota tree, or given back. */
static bool is_firm(const struct booking *b)
{
	return b->kind == BOOKING_RUN || b->kind == BOOKING_ADVANCE;
}

/* In the layer that is asked: those of the other do not count. */
static void hold_all(const struct world *w, const struct booking *but, int64_t at_ms, bool take)
{
	for (size_t i = 0; i < w->n; i++) {
		const struct booking *b = w->booking[i];
		if (w->layer == PLAN_FIRM && !is_firm(b))
			continue;
		for (size_t k = 0; b != but && covers(b, at_ms) && k < b->nlines; k++) {
			if (take)
				quota_take(b->line[k].row, QUOTA_NOW, b->line[k].amount);
			else
				quota_give(b->line[k].row, QUOTA_NOW, b->line[k].amount);
		}
	}
}

static bool fits_at(
	const struct world *w, const struct booking *but, struct booking_lines lines, int64_t at_ms)
{
	bool fits = true;
	hold_all(w, but, at_ms, true);
	for (size_t i = 0; i < lines.n; i++)
		fits = fits && lines.line[i].amount != INT64_MAX &&
		       quota_has(lines.line[i].row, QUOTA_NOW, lines.line[i].amount);
	hold_all(w, but, at_ms, false);
	return fits;
}

/* The next moment after at_ms at which a booking begins or ends. */
static int64_t event_after(const struct world *w, int64_t at_ms)
{
	int64_t next_ms = INT64_MAX;
	for (size_t i = 0; i < w->n; i++) {
		int64_t from_ms = w->booking[i]->from_ms, until_ms = w->booking[i]->until_ms;
		next_ms = from_ms > at_ms && from_ms < next_ms ? from_ms : next_ms;
		next_ms = until_ms > at_ms && until_ms < next_ms ? until_ms : next_ms;
	}
	return next_ms;
}

static int64_t list_room_until(const struct world *w, const struct booking *but,
	struct booking_lines lines, int64_t at_ms, int64_t until_ms)
{
	for (; at_ms < until_ms; at_ms = event_after(w, at_ms))
		if (!fits_at(w, but, lines, at_ms))
			return at_ms;
	return INT64_MAX;
}

static int64_t end_of(int64_t from_ms, int64_t length_ms)
{
	return length_ms == INT64_MAX ? INT64_MAX : from_ms + length_ms;
}

static int64_t list_earliest(const struct world *w, struct booking_lines lines, int64_t length_ms,
	int64_t at_ms, int64_t latest_ms)
{
	for (; at_ms <= latest_ms && at_ms != INT64_MAX; at_ms = event_after(w, at_ms))
		if (list_room_until(w, NULL, lines, at_ms, end_of(at_ms, length_ms)) == INT64_MAX)
			return at_ms;
	return INT64_MAX;
}

/* ---- Events ---- */

struct asked {
	struct booking_line line[PAIRS];
	struct booking_lines lines;
};

static int64_t amount_at_random(struct world *w)
{
	return draw(&w->rng, 0, 40) == 0 ? INT64_MAX : draw(&w->rng, 0, 9);
}

/* At a ClusterQueue, or now and then at a Cohort. */
static void draw_lines(struct world *w, struct asked *ret)
{
	int node = (int)draw(&w->rng, 0, draw(&w->rng, 0, 4) ? LEAVES - 1 : NODES - 1);
	ret->lines = (struct booking_lines){ret->line, (size_t)draw(&w->rng, 0, PAIRS)};
	for (int pair = 0; pair < PAIRS; pair++)
		ret->line[pair] = (struct booking_line){row_of(w, node, pair), amount_at_random(w)};
}

static void draw_time(struct world *w, int64_t *ret_from_ms, int64_t *ret_until_ms)
{
	*ret_from_ms = draw(&w->rng, 0, SPAN);
	bool for_ever = draw(&w->rng, 0, 15) == 0;
	*ret_until_ms = for_ever ? INT64_MAX : *ret_from_ms + draw(&w->rng, 1, SPAN / 4);
}

static void book(struct world *w)
{
	struct asked a;
	struct uid who = {{0}};
	int64_t from_ms, until_ms;
	draw_lines(w, &a);
	draw_time(w, &from_ms, &until_ms);
	static const enum booking_kind kind[] = {
		BOOKING_RUN, BOOKING_CHEAPEST, BOOKING_HEAD, BOOKING_ADVANCE};
	w->booking[w->n] = quota_plan_book(&w->plan, kind[draw(&w->rng, 0, w->plain ? 2 : 3)], &who,
		a.lines, from_ms, until_ms);
	assert_non_null(w->booking[w->n++]);
}

static void unbook(struct world *w, size_t i)
{
	quota_plan_unbook(&w->plan, w->booking[i]);
	w->booking[i] = w->booking[--w->n];
}

static void move(struct world *w, size_t i)
{
	int64_t from_ms, until_ms;
	draw_time(w, &from_ms, &until_ms);
	quota_plan_move(&w->plan, w->booking[i], from_ms, until_ms);
}

static void edit(struct world *w)
{
	int node = (int)draw(&w->rng, 0, NODES - 1);
	draw_limits(w, node);
	draw_parent(w, node);
	settle(w);
}

static void event(struct world *w)
{
	int64_t what = draw(&w->rng, 0, 9);
	if (what == 0)
		edit(w);
	else if (w->n > 0 && (what == 1 || w->n == BOOKINGS))
		unbook(w, (size_t)draw(&w->rng, 0, (int64_t)w->n - 1));
	else if (w->n > 0 && what == 2)
		move(w, (size_t)draw(&w->rng, 0, (int64_t)w->n - 1));
	else
		book(w);
}

/* ---- Questions ---- */

/* Bookings beside runs that overlap and want the same pair in the same tree. */
static const struct booking *list_in_the_way(const struct world *w, bool reserved,
	struct booking_lines lines, int64_t from_ms, int64_t until_ms)
{
	const struct booking *found = NULL;
	for (size_t i = 0; i < w->n; i++) {
		const struct booking *b = w->booking[i];
		bool meets = false;
		for (size_t k = 0; k < b->nlines; k++)
			for (size_t m = 0; m < lines.n; m++)
				meets = meets || (lines.line[m].amount > 0 &&
							 lines.line[m].row->resource ==
								 b->line[k].row->resource &&
							 quota_root(lines.line[m].row->node) ==
								 quota_root(b->line[k].row->node));
		bool first = !found || b->from_ms < found->from_ms ||
			     (b->from_ms == found->from_ms && b->serial < found->serial);
		bool asked = b->kind != BOOKING_RUN && reserved == (b->kind == BOOKING_ADVANCE);
		if (meets && first && asked && b->from_ms < until_ms && b->until_ms > from_ms)
			found = b;
	}
	return found;
}

static void ask_starts(struct world *w, struct booking_lines lines, int64_t length_ms,
	int64_t from_ms, int64_t latest_ms)
{
	int64_t at_ms = list_earliest(w, lines, length_ms, from_ms, latest_ms), to_ms = -7;
	assert_int_equal(
		quota_plan_earliest(&w->plan, lines, length_ms, from_ms, latest_ms), at_ms);
	bool found =
		quota_plan_next_starts(&w->plan, lines, length_ms, latest_ms, &from_ms, &to_ms);
	assert_int_equal(found, at_ms != INT64_MAX);
	w->had_room += found;
	w->had_none += !found;
	if (!found)
		return;
	assert_int_equal(from_ms, at_ms);
	int64_t ends_ms = list_room_until(w, NULL, lines, at_ms, INT64_MAX);
	int64_t last_ms = ends_ms == INT64_MAX ? latest_ms : ends_ms - length_ms;
	assert_int_equal(to_ms, last_ms < latest_ms ? last_ms : latest_ms);
}

static void ask_firm(struct world *w, struct booking_lines lines, int64_t from_ms, int64_t until_ms)
{
	int64_t length_ms = draw(&w->rng, 1, SPAN / 3);
	w->layer = PLAN_FIRM;
	assert_int_equal(quota_plan_has_room_in(&w->plan, PLAN_FIRM, lines, from_ms, until_ms),
		list_room_until(w, NULL, lines, from_ms, until_ms) == INT64_MAX);
	assert_int_equal(
		quota_plan_earliest_in(&w->plan, PLAN_FIRM, lines, length_ms, from_ms, INT64_MAX),
		list_earliest(w, lines, length_ms, from_ms, INT64_MAX));
	w->layer = PLAN_ALL;
}

static void ask_both(struct world *w)
{
	struct asked a;
	int64_t from_ms, until_ms;
	draw_lines(w, &a);
	draw_time(w, &from_ms, &until_ms);
	int64_t ends_ms = list_room_until(w, NULL, a.lines, from_ms, INT64_MAX);
	assert_int_equal(quota_plan_room_until(&w->plan, a.lines, from_ms), ends_ms);
	assert_int_equal(quota_plan_has_room(&w->plan, a.lines, from_ms, until_ms),
		list_room_until(w, NULL, a.lines, from_ms, until_ms) == INT64_MAX);
	assert_ptr_equal(quota_plan_in_the_way(&w->plan, a.lines, from_ms, until_ms),
		list_in_the_way(w, false, a.lines, from_ms, until_ms));
	assert_ptr_equal(quota_plan_reserved_in_the_way(&w->plan, a.lines, from_ms, until_ms),
		list_in_the_way(w, true, a.lines, from_ms, until_ms));
	int64_t length_ms = draw(&w->rng, 0, 20) ? draw(&w->rng, 1, SPAN / 3) : INT64_MAX;
	int64_t latest_ms = draw(&w->rng, 0, 3) ? from_ms + draw(&w->rng, 0, SPAN) : INT64_MAX;
	ask_starts(w, a.lines, length_ms, from_ms, latest_ms);
	if (!w->plain)
		ask_firm(w, a.lines, from_ms, until_ms);
	w->asked++;
}

static void ask_whether_each_stands(struct world *w)
{
	for (size_t i = 0; i < w->n; i++) {
		struct booking *b = w->booking[i];
		struct booking_lines lines = {b->line, b->nlines};
		assert_int_equal(quota_plan_stands(&w->plan, b),
			list_room_until(w, b, lines, b->from_ms, b->until_ms) == INT64_MAX);
	}
}

static void compare_use_in(struct world *w, enum plan_layer layer)
{
	w->layer = layer;
	for (int64_t at_ms = -1; at_ms != INT64_MAX; at_ms = event_after(w, at_ms)) {
		hold_all(w, NULL, at_ms, true);
		for (int i = 0; i < NODES; i++)
			for (int pair = 0; pair < PAIRS; pair++) {
				const struct quota_row *row = row_of(w, i, pair);
				assert_true(quota_plan_use_in(&w->plan, layer, row, at_ms) ==
					    row->use[QUOTA_NOW]);
			}
		hold_all(w, NULL, at_ms, false);
	}
	w->layer = PLAN_ALL;
}

static void compare_use(struct world *w)
{
	compare_use_in(w, PLAN_ALL);
	if (!w->plain)
		compare_use_in(w, PLAN_FIRM);
}

static void test_worlds(void **state)
{
	(void)state;
	size_t room = 0, none = 0, local = 0;
	for (uint64_t seed = 1; seed <= searched(80, 250); seed++) {
		struct world w;
		world_make(&w, seed);
		for (int i = 0; i < EVENTS; i++) {
			w.plain = i < EVENTS / 2;
			event(&w);
			ask_both(&w);
			if (i % 20 == 0) {
				compare_use(&w);
				ask_whether_each_stands(&w);
			}
		}
		room += w.had_room;
		none += w.had_none;
		local += w.local_parts;
		world_end(&w);
	}
	/* The worlds are such that both answers, and local parts, are common. */
	assert_true(room > 1500 && none > 1500 && local > 300);
}

/* ---- What must not depend on how it came about ---- */

/* Each booking goes and comes again, so the last one is the first: the same answers. */
static void test_order_does_not_matter(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct world w;
		world_make(&w, seed);
		for (int i = 0; i < EVENTS; i++)
			event(&w);
		struct asked a;
		int64_t answer[50];
		struct rng asks = w.rng;
		for (int i = 0; i < 50; i++) {
			draw_lines(&w, &a);
			answer[i] = quota_plan_earliest(&w.plan, a.lines, 7, 3, INT64_MAX);
		}
		for (size_t i = 0; i < w.n; i++) {
			struct booking *b = w.booking[i];
			struct uid who = b->who;
			struct booking_line line[PAIRS];
			struct booking_lines lines = {line, b->nlines};
			memcpy(line, b->line, b->nlines * sizeof(line[0]));
			int64_t from_ms = b->from_ms, until_ms = b->until_ms;
			quota_plan_unbook(&w.plan, b);
			w.booking[i] = quota_plan_book(
				&w.plan, BOOKING_HEAD, &who, lines, from_ms, until_ms);
		}
		w.rng = asks;
		for (int i = 0; i < 50; i++) {
			draw_lines(&w, &a);
			assert_int_equal(
				quota_plan_earliest(&w.plan, a.lines, 7, 3, INT64_MAX), answer[i]);
		}
		world_end(&w);
	}
}

/* ---- The bound ---- */

static void test_no_more_than_so_many(void **state)
{
	(void)state;
	struct world w;
	struct uid who = {{0}};
	world_make(&w, 1);
	quota_move(&w.quota, w.node[0], NULL);
	quota_move(&w.quota, w.node[1], w.node[LEAVES + 2]);
	settle(&w);
	struct booking_line own = {row_of(&w, 0, 0), 1}, other = {row_of(&w, 1, 0), 1};
	struct booking_lines a = {&own, 1}, b = {&other, 1};
	struct booking **all = mem_array(QUOTA_PLAN_MAX, sizeof(struct booking *));
	for (int64_t i = 0; i < QUOTA_PLAN_MAX; i++)
		assert_non_null(
			all[i] = quota_plan_book(&w.plan, BOOKING_CHEAPEST, &who, a, i, i + 2));
	assert_null(quota_plan_book(&w.plan, BOOKING_CHEAPEST, &who, a, 0, 1));
	/* A run is a fact, and another tree has its own bound. */
	struct booking *run = quota_plan_book(&w.plan, BOOKING_RUN, &who, a, 0, INT64_MAX);
	struct booking *elsewhere = quota_plan_book(&w.plan, BOOKING_CHEAPEST, &who, b, 0, 1);
	assert_non_null(run);
	assert_non_null(elsewhere);
	/* They count where they are after an edit. */
	quota_move(&w.quota, w.node[0], w.node[LEAVES + 2]);
	settle(&w);
	quota_plan_use(&w.plan, own.row, 0);
	quota_plan_unbook(&w.plan, all[0]);
	assert_null(quota_plan_book(&w.plan, BOOKING_CHEAPEST, &who, b, 0, 1));
	quota_plan_unbook(&w.plan, all[1]);
	assert_non_null(all[1] = quota_plan_book(&w.plan, BOOKING_CHEAPEST, &who, b, 0, 1));
	for (size_t i = 1; i < QUOTA_PLAN_MAX; i++)
		quota_plan_unbook(&w.plan, all[i]);
	quota_plan_unbook(&w.plan, run);
	quota_plan_unbook(&w.plan, elsewhere);
	free(all);
	world_end(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_profile),
		cmocka_unit_test(test_worlds),
		cmocka_unit_test(test_order_does_not_matter),
		cmocka_unit_test(test_no_more_than_so_many),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
