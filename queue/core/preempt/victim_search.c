#include "queue/core/preempt/victim_search.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* ---- The order in which pods are counted ---- */

struct ranked {
	int32_t priority;
	int64_t start_ms;
	uint32_t index;
};

static int by_importance(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	if (x->priority != y->priority)
		return x->priority > y->priority ? -1 : 1;
	if (x->start_ms != y->start_ms)
		return x->start_ms < y->start_ms ? -1 : 1;
	return x->index < y->index ? -1 : 1;
}

void victim_cost_rank(const struct victim_cost_run *run, size_t n, uint32_t *ret_rank)
{
	struct ranked *all = mem_array(n, sizeof(*all));
	for (size_t i = 0; i < n; i++)
		all[i] = (struct ranked){run[i].priority, run[i].start_ms, (uint32_t)i};
	qsort(all, n, sizeof(*all), by_importance);
	for (size_t i = 0; i < n; i++)
		ret_rank[i] = all[i].index;
	free(all);
}

/* ---- What a set costs ---- */

static int64_t pods_of(const struct victim_cost_run *r)
{
	return r->pods > 1 ? r->pods : 1;
}

/* How many of its pods are too many. The same budgets select all of them. */
static int64_t violations_of(const struct victim_cost_book *b, const struct victim_cost_run *r)
{
	int64_t pods = pods_of(r), over = 0;
	for (size_t i = 0; i < r->nbudgets; i++) {
		int64_t *left = &b->left[r->budget[i]];
		int64_t beyond = *left > 0 ? pods - *left : pods;
		over = beyond > over ? beyond : over;
		*left -= pods;
	}
	return over;
}

static int64_t count_violations(const struct victim_cost_book *b, const bool *goes)
{
	int64_t violations = 0;
	for (size_t i = 0; i < b->nbudgets; i++)
		b->left[i] = b->allowed[i];
	for (size_t i = 0; i < b->nruns; i++)
		if (goes[b->rank[i]])
			violations += violations_of(b, &b->run[b->rank[i]]);
	return violations;
}

static void victim_cost_add(struct victim_cost *t, const struct victim_cost_run *r)
{
	int64_t pods = pods_of(r);
	t->reach = r->reach > t->reach ? r->reach : t->reach;
	t->sum += ((__int128)r->priority + (INT64_C(1) << 31)) * pods;
	t->pods += pods;
	t->youth += (__int128)r->start_ms * pods;
	if (r->priority > t->highest || (r->priority == t->highest && r->start_ms < t->start_ms))
		t->start_ms = r->start_ms;
	t->highest = r->priority > t->highest ? r->priority : t->highest;
}

struct victim_cost victim_cost_of(const struct victim_cost_book *b, const bool *goes)
{
	struct victim_cost t = {.highest = INT64_MIN, .start_ms = INT64_MAX};
	for (size_t i = 0; i < b->nruns; i++)
		if (goes[i])
			victim_cost_add(&t, &b->run[i]);
	t.violations = b->nbudgets ? count_violations(b, goes) : 0;
	return t;
}

/* ---- Costs are compared step by step ---- */

static int cost_step_cmp(__int128 a, __int128 b)
{
	return (a > b) - (a < b);
}

int victim_cost_cmp(const struct victim_cost *a, const struct victim_cost *b)
{
	int order = cost_step_cmp(a->reach, b->reach);
	if (!order)
		order = cost_step_cmp(a->violations, b->violations);
	if (!order)
		order = cost_step_cmp(a->highest, b->highest);
	if (!order)
		order = cost_step_cmp(a->sum, b->sum);
	if (!order)
		order = cost_step_cmp(a->pods, b->pods);
	if (!order)
		order = cost_step_cmp(b->start_ms, a->start_ms);
	return order ? order : cost_step_cmp(b->youth, a->youth);
}

/* ---- The search ---- */

struct search {
	const struct victim_search *l;
	size_t n;
	size_t *gentle; /* indexes, the cheapest first */
	bool *away;	/* as the world is now */
	bool *chosen;	/* exact search: decided to go */
	bool *best;
	bool best_is_given; /* it is the caller's */
	struct victim_cost least_cost;
	size_t tries; /* left */
};

/* ---- The world ---- */

static void take(struct search *s, size_t i)
{
	s->l->take(s->l->world, i);
	s->away[i] = true;
}

static void put_back(struct search *s, size_t i)
{
	s->l->put_back(s->l->world, i);
	s->away[i] = false;
}

static bool enough(const struct search *s)
{
	return s->l->enough(s->l->world);
}

static bool may_go(const struct search *s, size_t i)
{
	return !s->l->may_go || s->l->may_go(s->l->world, i);
}

static void take_all(struct search *s, const bool *set)
{
	for (size_t i = 0; i < s->n; i++)
		if (set[i] && !s->away[i])
			take(s, i);
}

static void put_all_back(struct search *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->away[i])
			put_back(s, i);
}

/* Puts one back that may go as the last of all that are away. False: there is none. */
static bool put_back_last(struct search *s)
{
	for (size_t i = 0; i < s->n; i++) {
		if (!s->away[i])
			continue;
		put_back(s, i);
		if (may_go(s, i))
			return true;
		take(s, i);
	}
	return false;
}

/* Is there an order in which all that are away may go? They are away again when it returns. */
static bool may_all_go(struct search *s)
{
	if (!s->l->may_go)
		return true;
	bool *set = mem_array(s->n, sizeof(*set));
	memcpy(set, s->away, s->n * sizeof(*set));
	size_t left = 0;
	for (size_t i = 0; i < s->n; i++)
		left += set[i];
	while (left > 0 && put_back_last(s))
		left--;
	take_all(s, set);
	free(set);
	return left == 0;
}

/* ---- The best so far ---- */

/* Is the first candidate in which they differ in a? */
static bool comes_before(const bool *a, const bool *b, size_t n)
{
	size_t i = 0;
	while (i < n && a[i] == b[i])
		i++;
	return i < n && a[i];
}

static bool is_better(const struct search *s, const struct victim_cost *t, const bool *set)
{
	int order = victim_cost_cmp(t, &s->least_cost);
	return order < 0 || (order == 0 && !s->best_is_given && comes_before(set, s->best, s->n));
}

/* Keeps the set that is away if it is better. It suffices and may go. */
static bool consider(struct search *s)
{
	struct victim_cost t = victim_cost_of(&s->l->book, s->away);
	if (!is_better(s, &t, s->away))
		return false;
	memcpy(s->best, s->away, s->n * sizeof(*s->best));
	s->least_cost = t;
	s->best_is_given = false;
	return true;
}

/* ---- Few candidates: all sets, but for those that plainly cost more ---- */

/* All undecided candidates are away. The dearest is decided first; that it stays is tried first.
 * The recursion is as deep as there are candidates. */
static void decide(struct search *s, size_t left)
{
	if (left == 0) {
		if (may_all_go(s))
			consider(s);
		return;
	}
	size_t i = s->gentle[left - 1];
	put_back(s, i);
	if (enough(s))
		decide(s, left - 1);
	take(s, i);
	s->chosen[i] = true;
	struct victim_cost so_far = victim_cost_of(&s->l->book, s->chosen);
	if (victim_cost_cmp(&so_far, &s->least_cost) <= 0)
		decide(s, left - 1);
	s->chosen[i] = false;
}

static void search_all(struct search *s)
{
	for (size_t i = 0; i < s->n; i++)
		take(s, i);
	decide(s, s->n);
	put_all_back(s);
}

/* ---- Many candidates: sets that are likely to be good ---- */

static bool may_try(struct search *s)
{
	if (s->tries == 0)
		return false;
	s->tries--;
	return true;
}

/* Puts back all that need not be away, the dearest first, but not `stays`. */
static void spare(struct search *s, size_t stays)
{
	for (size_t k = s->n; k-- > 0;) {
		size_t i = s->gentle[k];
		if (!s->away[i] || i == stays)
			continue;
		put_back(s, i);
		if (!enough(s))
			take(s, i);
	}
}

/* Takes candidates in this order, until it is enough. */
static void try_order(struct search *s, const size_t *order)
{
	bool done = false;
	for (size_t k = 0; !done && k < s->n; k++) {
		if (!may_go(s, order[k]))
			continue;
		take(s, order[k]);
		done = enough(s);
	}
	if (done) {
		spare(s, s->n);
		consider(s);
	}
	put_all_back(s);
}

static void try_each_alone(struct search *s)
{
	for (size_t k = 0; k < s->n && may_try(s); k++) {
		size_t i = s->gentle[k];
		if (!may_go(s, i))
			continue;
		take(s, i);
		if (enough(s))
			consider(s);
		put_back(s, i);
	}
}

/* Tries the best set with `comes` instead of `leaves`, without all that can be spared then. */
static bool try_exchange(struct search *s, size_t leaves, size_t comes)
{
	bool better = false;
	take_all(s, s->best);
	put_back(s, leaves);
	if (may_go(s, comes)) {
		take(s, comes);
		if (enough(s)) {
			spare(s, comes);
			better = consider(s);
		}
	}
	put_all_back(s);
	return better;
}

/* Returns whether the set would cost less after the exchange, were it enough. */
static bool is_worth_exchanging(struct search *s, size_t leaves, size_t comes)
{
	s->best[leaves] = false;
	s->best[comes] = true;
	struct victim_cost t = victim_cost_of(&s->l->book, s->best);
	s->best[leaves] = true;
	s->best[comes] = false;
	return victim_cost_cmp(&t, &s->least_cost) < 0;
}

static bool anybody_stays(const struct search *s)
{
	size_t i = 0;
	while (i < s->n && s->best[i])
		i++;
	return i < s->n;
}

static bool exchange_one(struct search *s)
{
	if (!anybody_stays(s))
		return false;
	for (size_t a = s->n; a-- > 0;) {
		size_t leaves = s->gentle[a];
		for (size_t b = 0; s->best[leaves] && b < s->n; b++) {
			size_t comes = s->gentle[b];
			if (s->best[comes])
				continue;
			if (!may_try(s))
				return false;
			if (is_worth_exchanging(s, leaves, comes) && try_exchange(s, leaves, comes))
				return true;
		}
	}
	return false;
}

/* ---- Orders ---- */

struct hurt { /* of one alone */
	struct victim_cost victim_cost;
	int64_t worth;
	__int128 pods;
	size_t index;
};

static int by_hurt(const void *a, const void *b)
{
	const struct hurt *x = a, *y = b;
	int order = victim_cost_cmp(&x->victim_cost, &y->victim_cost);
	return order ? order : (x->index > y->index) - (x->index < y->index);
}

/* Equal ones by what a pod of theirs frees, so that fewer have to go. */
static int by_yield(const void *a, const void *b)
{
	const struct hurt *x = a, *y = b;
	struct victim_cost s = x->victim_cost, t = y->victim_cost;
	s.sum = t.sum = s.pods = t.pods = s.youth = t.youth = 0;
	s.start_ms = t.start_ms = 0;
	int order = victim_cost_cmp(&s, &t);
	if (order)
		return order;
	__int128 mine = x->worth * y->pods, theirs = y->worth * x->pods;
	return mine != theirs ? (mine > theirs ? -1 : 1) : by_hurt(a, b);
}

static struct hurt *hurts_of(const struct search *s)
{
	struct hurt *all = mem_array(s->n, sizeof(*all));
	for (size_t i = 0; i < s->n; i++) {
		struct victim_cost_book one = s->l->book;
		uint32_t rank = 0;
		bool goes = true;
		one.run += i;
		one.nruns = 1;
		one.rank = &rank;
		all[i] = (struct hurt){victim_cost_of(&one, &goes), s->l->worth[i], 0, i};
		all[i].pods = all[i].victim_cost.pods;
	}
	return all;
}

static void order_by(
	struct hurt *all, size_t n, int (*cmp)(const void *, const void *), size_t *ret_order)
{
	qsort(all, n, sizeof(*all), cmp);
	for (size_t i = 0; i < n; i++)
		ret_order[i] = all[i].index;
}

static void search_some(struct search *s, struct hurt *all)
{
	size_t *order = mem_array(s->n, sizeof(*order));
	try_order(s, s->gentle);
	order_by(all, s->n, by_yield, order);
	try_order(s, order);
	try_each_alone(s);
	while (exchange_one(s))
		;
	free(order);
}

/* The cost of a try grows with the number of candidates. */
static size_t tries_for(size_t n)
{
	return n <= VICTIM_SEARCH_TRIES_FOR ? VICTIM_SEARCH_TRIES_MAX
					    : VICTIM_SEARCH_TRIES_MAX * VICTIM_SEARCH_TRIES_FOR / n;
}

void victim_search_ease(const struct victim_search *l, bool *goes)
{
	struct search s = {.l = l,
		.n = l->book.nruns,
		.best = goes,
		.best_is_given = true,
		.tries = tries_for(l->book.nruns)};
	if (s.n == 0)
		return;
	s.gentle = mem_array(s.n, sizeof(*s.gentle));
	s.away = mem_array(s.n, sizeof(*s.away));
	s.chosen = mem_array(s.n, sizeof(*s.chosen));
	s.least_cost = victim_cost_of(&l->book, goes);
	struct hurt *all = hurts_of(&s);
	order_by(all, s.n, by_hurt, s.gentle);
	if (s.n <= VICTIM_SEARCH_EXACT_MAX)
		search_all(&s);
	else
		search_some(&s, all);
	free(all);
	free(s.gentle);
	free(s.away);
	free(s.chosen);
}
