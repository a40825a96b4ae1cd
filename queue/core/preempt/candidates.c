/*
 * The candidates of one search for victims, once the plain order has found a set.
 *
 * Kueue's order finds one set that is legal and suffices. Other sets may cost less (victim_search.h).
 * So the candidates that the order went through are listed, and at most CANDIDATES_BEYOND that
 * would have come next. The best set of all these is chosen. Free candidates (promises, and runs that
 * end anyway) are not chosen among: they went first, and stay away.
 *
 * Mostly there is nothing to choose: the first candidate suffices and has a single pod, or all are
 * alike. Then the plain order has found the best set already.
 */
#include "queue/core/preempt/preemption.h"

#include <stdlib.h>

#include "base/mem.h"
#include "queue/core/model/disruption.h"

/* The most budgets of one pod that are counted. */
#define BUDGETS_EACH 8

void candidates_clear(struct candidates *l)
{
	l->nfree = l->n = 0;
}

void candidates_done(struct candidates *l)
{
	free(l->free);
	free(l->who);
	free(l->goes);
}

static void add(struct candidate **all, size_t *n, size_t *capacity, const struct candidate *c)
{
	*all = mem_room(*all, *n, capacity, 16, sizeof(**all));
	(*all)[(*n)++] = *c;
}

void candidates_add(struct candidates *l, const struct candidate *c)
{
	size_t capacity = l->capacity;
	if (costs_nothing(c->reservation)) {
		add(&l->free, &l->nfree, &l->free_capacity, c);
		return;
	}
	add(&l->who, &l->n, &l->capacity, c);
	if (l->capacity != capacity)
		l->goes = mem_grow(l->goes, l->capacity, sizeof(*l->goes));
	l->goes[l->n - 1] = false;
}

size_t candidates_beyond_each(size_t nsources)
{
	size_t each = CANDIDATES_BEYOND / (nsources ? nsources : 1);
	return each > CANDIDATES_BEYOND_EACH ? each : CANDIDATES_BEYOND_EACH;
}

/* Both are in the order in which they were taken. */
void candidates_mark(struct preemption *x)
{
	struct candidates *l = &x->candidates;
	size_t at = 0;
	for (size_t i = 0; i < x->nvictims; i++) {
		const struct reservation *r = x->victim[i].reservation;
		if (costs_nothing(r))
			continue;
		while (l->who[at].reservation != r)
			at++;
		l->goes[at++] = true;
	}
}

/* ---- Is there anything to choose? ---- */

bool candidates_is_settled(const struct preemption *x)
{
	const struct candidates *l = &x->candidates;
	if (l->n == 0)
		return true;
	const struct reservation *first = l->who[0].reservation;
	return l->n == 1 && reservation_pods_then(first) <= 1 && !disruption_concerns(x->q, first);
}

bool reservations_alike(const struct reservation *a, const struct reservation *b)
{
	bool same = a->nlines == b->nlines;
	for (size_t i = 0; same && i < a->nlines; i++)
		same = reservation_line_then(a, &a->line[i]) ==
			       reservation_line_then(b, &b->line[i]) &&
		       a->line[i].row->flavor == b->line[i].row->flavor &&
		       a->line[i].row->resource == b->line[i].row->resource;
	return same;
}

static bool costs_alike(const struct candidate *a, const struct candidate *b)
{
	return a->reservation->w->key.priority == b->reservation->w->key.priority &&
	       reservation_pods_then(a->reservation) == reservation_pods_then(b->reservation) &&
	       a->source->kind == b->source->kind;
}

bool candidates_is_alike(const struct preemption *x)
{
	const struct candidates *l = &x->candidates;
	for (size_t i = 0; i < l->n; i++)
		if (!costs_alike(&l->who[0], &l->who[i]) ||
			!reservations_alike(l->who[0].reservation, l->who[i].reservation) ||
			disruption_concerns(x->q, l->who[i].reservation))
			return false;
	return true;
}

/* ---- The book ---- */

struct book {
	struct victim_cost_run *run;
	uint32_t *rank, *budget; /* budget: BUDGETS_EACH for each run */
	int64_t *worth, *left;
	int32_t *allowed;
	const struct disruption_budget **known; /* the budget of each `allowed` */
	size_t nknown;
};

static uint32_t budget_index(struct book *b, const struct disruption_budget *budget)
{
	size_t i = 0;
	while (i < b->nknown && b->known[i] != budget)
		i++;
	if (i == b->nknown) {
		b->allowed[i] = budget->allowed;
		b->known[b->nknown++] = budget;
	}
	return (uint32_t)i;
}

static void enter_budgets(struct book *b, struct queue *q, size_t i, const struct reservation *r)
{
	const struct disruption_budget *of[BUDGETS_EACH];
	size_t n = disruption_budgets(q, r, of, BUDGETS_EACH);
	b->run[i].budget = b->budget + i * BUDGETS_EACH;
	b->run[i].nbudgets = n;
	for (size_t k = 0; k < n; k++)
		b->budget[i * BUDGETS_EACH + k] = budget_index(b, of[k]);
}

/* For each contested line, how many thousandths of it the run would free. */
static int64_t worth_of(const struct preemption *x, const struct reservation *r)
{
	int64_t worth = 0;
	for (size_t i = 0; i < r->nlines; i++) {
		const struct reservation_line *l = &r->line[i];
		for (size_t k = 0; k < x->d->nlines; k++) {
			const struct demand_line *want = &x->d->line[k];
			if (!want->contested || want->amount <= 0 ||
				want->row->flavor != l->row->flavor ||
				want->row->resource != l->row->resource)
				continue;
			int64_t then = reservation_line_then(r, l);
			int64_t part = then < want->amount ? then : want->amount;
			worth += (int64_t)((__int128)part * 1000 / want->amount);
		}
	}
	return worth;
}

static void book_open(struct book *b, const struct preemption *x)
{
	const struct candidates *l = &x->candidates;
	*b = (struct book){.run = mem_array(l->n, sizeof(*b->run)),
		.rank = mem_array(l->n, sizeof(*b->rank)),
		.budget = mem_array(l->n * BUDGETS_EACH, sizeof(*b->budget)),
		.worth = mem_array(l->n, sizeof(*b->worth)),
		.left = mem_array(l->n * BUDGETS_EACH, sizeof(*b->left)),
		.allowed = mem_array(l->n * BUDGETS_EACH, sizeof(*b->allowed)),
		.known = mem_array(l->n * BUDGETS_EACH, sizeof(struct disruption_budget *))};
	for (size_t i = 0; i < l->n; i++) {
		const struct reservation *r = l->who[i].reservation;
		b->run[i] = (struct victim_cost_run){.reach = (uint32_t)l->who[i].source->kind,
			.priority = r->w->key.priority,
			.pods = reservation_pods_then(r),
			.start_ms = r->reserved_ms};
		b->worth[i] = worth_of(x, r);
		enter_budgets(b, x->q, i, r);
	}
	victim_cost_rank(b->run, l->n, b->rank);
}

static void book_close(struct book *b)
{
	free(b->run);
	free(b->rank);
	free(b->budget);
	free(b->worth);
	free(b->left);
	free(b->allowed);
	free(b->known);
}

/* ---- The choice ---- */

void candidates_ease(struct preemption *x, struct victim_search *victim_search)
{
	struct book b;
	book_open(&b, x);
	victim_search->book = (struct victim_cost_book){
		b.run, x->candidates.n, b.rank, b.allowed, b.left, b.nknown};
	victim_search->worth = b.worth;
	victim_search->world = x;
	for (size_t i = 0; i < x->candidates.nfree; i++)
		reservation_take_away(x->candidates.free[i].reservation);
	victim_search_ease(victim_search, x->candidates.goes);
	for (size_t i = 0; i < x->candidates.nfree; i++)
		reservation_put_back(x->candidates.free[i].reservation);
	book_close(&b);
}

void candidates_displace(struct preemption *x)
{
	const struct candidates *l = &x->candidates;
	x->nvictims = 0;
	for (size_t i = 0; i < l->nfree; i++)
		victim_add(x, l->free[i].reservation, l->free[i].reason);
	for (size_t i = 0; i < l->n; i++)
		if (l->goes[i])
			victim_add(x, l->who[i].reservation, l->who[i].reason);
}
