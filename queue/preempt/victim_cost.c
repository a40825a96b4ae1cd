#include "queue/preempt/victim_cost.h"

#include <stdlib.h>

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

/* ---- Step by step ---- */

static int cmp(__int128 a, __int128 b)
{
	return (a > b) - (a < b);
}

int victim_cost_cmp(const struct victim_cost *a, const struct victim_cost *b)
{
	int order = cmp(a->reach, b->reach);
	if (!order)
		order = cmp(a->violations, b->violations);
	if (!order)
		order = cmp(a->highest, b->highest);
	if (!order)
		order = cmp(a->sum, b->sum);
	if (!order)
		order = cmp(a->pods, b->pods);
	if (!order)
		order = cmp(b->start_ms, a->start_ms);
	return order ? order : cmp(b->youth, a->youth);
}
