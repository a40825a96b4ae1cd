/* What a set of victims costs, step by step, and the set that costs least: against all subsets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/must.h"
#include "queue/core/preempt/victim_search.h"
#include "test/sim/rng.h"

/* ---- The steps, a row each: all before the one that decides are equal ---- */

#define SET_MAX 4

struct set {
	size_t n;
	struct victim_cost_run run[SET_MAX];
};

static const uint32_t tight[] = {0}, roomy[] = {1}, both[] = {0, 1};

static const struct {
	const char *step;
	struct set less, more;
} steps[] = {
	{"who has the better right is not asked before those who have not",
		{1, {{0, 9, 9, 1, tight, 1}}}, {1, {{1, 0, 1, 9, NULL, 0}}}},
	{"fewest pods that a budget does not allow", {1, {{0, 9, 4, 1, roomy, 1}}},
		{1, {{0, 0, 2, 9, tight, 1}}}},
	{"... counted pod by pod: the fifth is too many where four may go",
		{1, {{0, 9, 4, 1, roomy, 1}}},
		{2, {{0, 0, 1, 9, roomy, 1}, {0, 0, 4, 9, roomy, 1}}}},
	{"a pod of which two budgets say so is one", {1, {{0, 0, 2, 1, both, 2}}},
		{1, {{0, 1, 2, 1, tight, 1}}}},
	{"lowest highest priority", {2, {{0, 5, 9, 1, NULL, 0}, {0, 5, 9, 1, NULL, 0}}},
		{1, {{0, 6, 1, 9, NULL, 0}}}},
	{"lowest sum of priorities", {2, {{0, 5, 1, 1, NULL, 0}, {0, 1, 1, 1, NULL, 0}}},
		{2, {{0, 5, 1, 9, NULL, 0}, {0, 2, 1, 9, NULL, 0}}}},
	{"... in which each pod counts", {1, {{0, 5, 1, 1, NULL, 0}}},
		{2, {{0, 5, 1, 9, NULL, 0}, {0, -5, 1, 9, NULL, 0}}}},
	{"fewest pods, where the sum says nothing of them", {1, {{0, INT32_MIN, 1, 1, NULL, 0}}},
		{1, {{0, INT32_MIN, 2, 9, NULL, 0}}}},
	{"latest start of the longest-running of the most important",
		{2, {{0, 5, 1, 7, NULL, 0}, {0, 1, 1, 1, NULL, 0}}},
		{2, {{0, 5, 1, 6, NULL, 0}, {0, 1, 1, 9, NULL, 0}}}},
	{"least work lost", {2, {{0, 5, 1, 7, NULL, 0}, {0, 1, 1, 5, NULL, 0}}},
		{2, {{0, 5, 1, 7, NULL, 0}, {0, 1, 1, 4, NULL, 0}}}},
};

static struct victim_cost victim_cost_of_set(const struct set *s)
{
	static const int32_t allowed[] = {0, 4};
	int64_t left[2];
	uint32_t rank[SET_MAX];
	const bool goes[SET_MAX] = {true, true, true, true};
	struct victim_cost_book b = {s->run, s->n, rank, allowed, left, 2};
	victim_cost_rank(s->run, s->n, rank);
	return victim_cost_of(&b, goes);
}

static void each_step_decides(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct victim_cost less = victim_cost_of_set(&steps[i].less),
				   more = victim_cost_of_set(&steps[i].more);
		if (victim_cost_cmp(&less, &more) >= 0 || victim_cost_cmp(&more, &less) <= 0)
			fail_msg("%s", steps[i].step);
		assert_int_equal(victim_cost_cmp(&less, &less), 0);
	}
}

/* The important run's pods are counted first, as in kube-scheduler: it uses up both budgets, and
 * none is left for the other run. The other way round, it would be two and one. */
static void pods_are_counted_in_order_of_importance(void **state)
{
	(void)state;
	static const uint32_t first[] = {0}, second[] = {0, 1};
	const struct victim_cost_run run[] = {{0, 1, 1, 5, first, 1}, {0, 2, 1, 5, second, 2}};
	const int32_t allowed[] = {1, 1};
	const bool goes[] = {true, true}, none[] = {false, false};
	int64_t left[2];
	uint32_t rank[2];
	victim_cost_rank(run, 2, rank);
	struct victim_cost_book b = {run, 2, rank, allowed, left, 2};
	assert_int_equal(rank[0], 1);
	assert_int_equal(victim_cost_of(&b, goes).violations, 1);
	assert_int_equal(victim_cost_of(&b, none).violations, 0);
	assert_true(victim_cost_of(&b, none).pods == 0);
}

static void a_budget_that_is_overdrawn_allows_nothing(void **state)
{
	(void)state;
	const struct victim_cost_run run[] = {{0, 1, 3, 5, tight, 1}};
	const int32_t allowed[] = {-2};
	const bool goes[] = {true};
	const uint32_t rank[] = {0};
	int64_t left[1];
	struct victim_cost_book b = {run, 1, rank, allowed, left, 1};
	assert_int_equal(victim_cost_of(&b, goes).violations, 3);
}

/* ---- The best of all sets ---- */

#define RUNS_MAX 40
#define NEEDS 2
#define LENDERS 3

/* Each run holds two resources and belongs to a borrower. It may go while that has given back less
 * than it must, as runs of a ClusterQueue may while it borrows. */
struct world {
	size_t n;
	struct victim_cost_run run[RUNS_MAX];
	int64_t holds[RUNS_MAX][NEEDS], worth[RUNS_MAX];
	size_t overcommit_controller[RUNS_MAX];
	int64_t lent[LENDERS], need[NEEDS];
	bool away[RUNS_MAX];
	uint32_t rank[RUNS_MAX];
	int64_t left[2];
	int32_t allowed[2];
};

static void world_take(void *world, size_t i)
{
	struct world *w = world;
	must(!w->away[i]);
	w->away[i] = true;
}

static void world_put_back(void *world, size_t i)
{
	struct world *w = world;
	must(w->away[i]);
	w->away[i] = false;
}

static bool world_enough(void *world)
{
	const struct world *w = world;
	int64_t free[NEEDS] = {0};
	for (size_t i = 0; i < w->n; i++)
		for (size_t k = 0; w->away[i] && k < NEEDS; k++)
			free[k] += w->holds[i][k];
	return free[0] >= w->need[0] && free[1] >= w->need[1];
}

static bool world_may_go(void *world, size_t i)
{
	const struct world *w = world;
	int64_t given = 0;
	for (size_t k = 0; k < w->n; k++)
		if (w->away[k] && w->overcommit_controller[k] == w->overcommit_controller[i])
			given += w->holds[k][0];
	return given < w->lent[w->overcommit_controller[i]];
}

static void make_world(struct world *w, struct rng *rng, size_t n)
{
	static const uint32_t *const sets[] = {tight, roomy, both};
	static const size_t sizes[] = {1, 1, 2};
	*w = (struct world){.n = n};
	for (size_t i = 0; i < n; i++) {
		size_t set = (size_t)rng_between(rng, 0, 5);
		w->run[i] = (struct victim_cost_run){(uint32_t)rng_between(rng, 0, 1),
			(int32_t)rng_between(rng, -1, 2), (int32_t)rng_between(rng, 0, 3),
			rng_between(rng, 1, 4), set < 3 ? sets[set] : NULL,
			set < 3 ? sizes[set] : 0};
		for (size_t k = 0; k < NEEDS; k++)
			w->worth[i] += w->holds[i][k] = rng_between(rng, 0, 4);
		w->overcommit_controller[i] = (size_t)rng_between(rng, 0, LENDERS - 1);
	}
	for (size_t k = 0; k < LENDERS; k++)
		w->lent[k] = rng_between(rng, 1, 12);
	for (size_t k = 0; k < NEEDS; k++)
		w->need[k] = rng_between(rng, 0, 7);
	w->allowed[0] = (int32_t)rng_between(rng, 0, 1);
	w->allowed[1] = (int32_t)rng_between(rng, 0, 4);
	victim_cost_rank(w->run, n, w->rank);
}

static struct victim_search victim_search_over(struct world *w, bool any_order)
{
	return (struct victim_search){.book = {w->run, w->n, w->rank, w->allowed, w->left, 2},
		.worth = w->worth,
		.world = w,
		.take = world_take,
		.put_back = world_put_back,
		.enough = world_enough,
		.may_go = any_order ? NULL : world_may_go};
}

/* As the plain order: takes runs until it is enough, then puts unnecessary ones back. */
static bool plain(const struct victim_search *l, bool *goes)
{
	struct world *w = l->world;
	memset(goes, 0, RUNS_MAX * sizeof(*goes));
	bool done = world_enough(w);
	for (size_t i = 0; !done && i < w->n; i++) {
		if (l->may_go && !world_may_go(w, i))
			continue;
		world_take(w, i);
		done = world_enough(w);
	}
	for (size_t i = w->n; i-- > 0;) {
		if (!w->away[i])
			continue;
		w->away[i] = false;
		w->away[i] = !done || !world_enough(w);
	}
	memcpy(goes, w->away, sizeof(w->away));
	memset(w->away, 0, sizeof(w->away));
	return done;
}

static void put(struct world *w, uint32_t set)
{
	for (size_t i = 0; i < w->n; i++)
		w->away[i] = (set >> i & 1) != 0;
}

/* may[set]: there is an order in which all of it may go. */
static void find_orders(struct world *w, bool *may)
{
	may[0] = true;
	for (uint32_t set = 1; set < 1u << w->n; set++) {
		may[set] = false;
		for (size_t i = 0; i < w->n && !may[set]; i++) {
			if (!(set >> i & 1) || !may[set & ~(1u << i)])
				continue;
			put(w, set & ~(1u << i));
			may[set] = world_may_go(w, i);
		}
	}
	put(w, 0);
}

static struct victim_cost least_victim_cost(const struct victim_search *l, const bool *may)
{
	struct world *w = l->world;
	struct victim_cost best = {.reach = UINT32_MAX};
	for (uint32_t set = 0; set < 1u << w->n; set++) {
		if (!may[set] && l->may_go)
			continue;
		put(w, set);
		struct victim_cost t = victim_cost_of(&l->book, w->away);
		if (world_enough(w) && victim_cost_cmp(&t, &best) < 0)
			best = t;
	}
	put(w, 0);
	return best;
}

static bool is_minimal(struct world *w, const bool *goes)
{
	bool minimal = true;
	memcpy(w->away, goes, sizeof(w->away));
	for (size_t i = 0; i < w->n && minimal; i++) {
		if (!goes[i])
			continue;
		w->away[i] = false;
		minimal = !world_enough(w);
		w->away[i] = true;
	}
	minimal = minimal && world_enough(w);
	memset(w->away, 0, sizeof(w->away));
	return minimal;
}

static uint32_t bits(const bool *goes, size_t n)
{
	uint32_t set = 0;
	for (size_t i = 0; i < n; i++)
		set |= (uint32_t)goes[i] << i;
	return set;
}

/* True when there was something to choose. */
static bool check_few(uint64_t seed)
{
	struct rng rng;
	struct world w;
	rng_seed(&rng, seed);
	static bool may[1u << VICTIM_SEARCH_EXACT_MAX];
	bool goes[RUNS_MAX], nobody[RUNS_MAX] = {false};
	make_world(&w, &rng, (size_t)rng_between(&rng, 1, 10));
	struct victim_search l = victim_search_over(&w, seed % 3 == 0);
	if (!plain(&l, goes))
		return false;
	struct victim_cost before = victim_cost_of(&l.book, goes);
	victim_search_ease(&l, goes);
	assert_memory_equal(w.away, nobody, sizeof(w.away));
	find_orders(&w, may);
	struct victim_cost best = least_victim_cost(&l, may), got = victim_cost_of(&l.book, goes);
	if (victim_cost_cmp(&got, &best) != 0 || !is_minimal(&w, goes) ||
		(l.may_go && !may[bits(goes, w.n)]))
		fail_msg("seed %llu: not the best", (unsigned long long)seed);
	return victim_cost_cmp(&got, &before) < 0;
}

static void of_few_none_is_better(void **state)
{
	(void)state;
	size_t eased = 0;
	for (uint64_t seed = 1; seed <= 3000; seed++)
		eased += check_few(seed);
	assert_true(eased > 300);
}

/* The set may go, is enough and minimal, and never worse than the plain one. */
static void of_many_none_is_worse(void **state)
{
	(void)state;
	size_t eased = 0;
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct rng rng;
		rng_seed(&rng, seed);
		struct world w;
		bool goes[RUNS_MAX], nobody[RUNS_MAX] = {false};
		make_world(
			&w, &rng, (size_t)rng_between(&rng, VICTIM_SEARCH_EXACT_MAX + 1, RUNS_MAX));
		w.need[0] *= 3;
		struct victim_search l = victim_search_over(&w, true);
		if (!plain(&l, goes))
			continue;
		struct victim_cost before = victim_cost_of(&l.book, goes);
		victim_search_ease(&l, goes);
		struct victim_cost got = victim_cost_of(&l.book, goes);
		assert_memory_equal(w.away, nobody, sizeof(w.away));
		assert_true(victim_cost_cmp(&got, &before) <= 0);
		assert_true(is_minimal(&w, goes));
		eased += victim_cost_cmp(&got, &before) < 0;
	}
	assert_true(eased > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_step_decides),
		cmocka_unit_test(pods_are_counted_in_order_of_importance),
		cmocka_unit_test(a_budget_that_is_overdrawn_allows_nothing),
		cmocka_unit_test(of_few_none_is_better),
		cmocka_unit_test(of_many_none_is_worse),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
