#include "queue/ration.h"

#include <string.h>

#include "queue/core.h"
#include "queue/lead.h"
#include "queue/window_state.h"

static const struct window_quota_spec *set_of(
	const struct runpolicy *p, const struct quota_row *row)
{
	const char *shown = p->calendar_ref ? p->calendar_ref->state.window : NULL;
	for (size_t i = 0; shown && i < p->spec.nquotas; i++) {
		const struct window_quota_spec *x = &p->spec.quota[i];
		if (strcmp(x->window, shown) == 0 && strcmp(x->flavor, row->flavor) == 0 &&
			strcmp(x->resource, row->resource) == 0)
			return x;
	}
	return NULL;
}

const struct window_quota_spec *ration_set(
	const struct clusterqueue *cq, const struct quota_row *row)
{
	const struct window_quota_spec *x = NULL;
	for (size_t i = 0; !x && row->in_spec && i < cq->window_state->npolicies; i++)
		x = set_of(cq->window_state->policy[i], row);
	return x;
}

static struct quota_limits due_of(const struct clusterqueue *cq, const struct quota_row *row)
{
	struct quota_limits l = row->said;
	const struct window_quota_spec *x = cq ? ration_set(cq, row) : NULL;
	if (x) {
		l.nominal = x->nominal;
		l.borrowing = x->has_borrowing ? x->borrowing_limit : l.borrowing;
		l.lending = x->has_lending ? x->lending_limit : l.lending;
	}
	if (cq && lead_is_on(cq))
		l.lending = 0;
	return l;
}

static bool limits_same(const struct quota_limits *a, const struct quota_limits *b)
{
	return a->nominal == b->nominal && a->borrowing == b->borrowing && a->lending == b->lending;
}

/* False: they were the same. */
static bool row_limit(struct quota_row *row, const struct quota_limits *l)
{
	struct quota_limits now = {row->nominal, row->borrowing_limit, row->lending_limit};
	if (limits_same(&now, l))
		return false;
	quota_set_limits(row, l);
	return true;
}

static void lot_stale(struct queue *q, struct quota_lot *lot)
{
	if (!list_in(&lot->stale))
		list_add(&q->quota.stale, &lot->stale);
}

bool ration_apply(struct queue *q, struct quota_node *node)
{
	bool changed = false;
	for (size_t i = 0; i < node->nrows; i++) {
		struct quota_row *row = node->row[i];
		struct quota_limits due = due_of(node->owner, row);
		if (row->lot->lent && !limits_same(&row->due, &due))
			lot_stale(q, row->lot);
		row->due = due;
		if (!row->lot->lent)
			changed = row_limit(row, &due) || changed;
	}
	return changed;
}

/* ---- Pools ---- */

/* amount * part / whole, rounded down; what is beyond counting is just much. */
static int64_t scale(int64_t amount, int64_t part, __int128 whole)
{
	__int128 scaled = whole > 0 ? (__int128)amount * part / whole : 0;
	return scaled < QUOTA_UNLIMITED ? (int64_t)scaled : QUOTA_UNLIMITED - 1;
}

static int64_t scale_limit(int64_t limit, int64_t part, __int128 whole)
{
	return limit == QUOTA_UNLIMITED ? QUOTA_UNLIMITED : scale(limit, part, whole);
}

static __int128 sum_due(const struct quota_lot *lot)
{
	__int128 sum = 0;
	list_each(&lot->rows, l)
		sum += container_of(l, struct quota_row, of_lot)->due.nominal;
	return sum;
}

static struct quota_limits limits_of(const struct quota_row *row, int64_t pool, __int128 sum)
{
	if (!row->lot->lent)
		return row->due;
	return (struct quota_limits){scale(row->due.nominal, pool, sum),
		scale_limit(row->due.borrowing, pool, sum),
		scale_limit(row->due.lending, pool, sum)};
}

/* The trees in which it changed anything are left unsettled. */
static void lot_divide(struct quota_lot *lot)
{
	int64_t pool = scale(lot->pool, lot->share_permille, 1000);
	__int128 sum = sum_due(lot);
	list_each(&lot->rows, l) {
		struct quota_row *row = container_of(l, struct quota_row, of_lot);
		struct quota_node *root = quota_root(row->node);
		struct quota_limits limits = limits_of(row, pool, sum);
		bool more = limits.nominal > row->nominal;
		if (!row_limit(row, &limits) && !(lot->resized && row->in_spec))
			continue;
		root->unsettled = true;
		root->grown = root->grown || more || lot->resized;
	}
	lot->resized = false;
}

static void root_settle(struct queue *q, struct quota_node *root)
{
	bool grown = root->grown;
	if (!root->unsettled)
		return;
	root->unsettled = root->grown = false;
	struct clusterqueue *any =
		root->cohort_tree ? cohort_tree_take_stale_back(q, root->cohort_tree) : NULL;
	quota_settle(&q->quota, root);
	if (grown)
		queue_touch(q, any);
	else
		queue_touch_reservation(q, any);
}

void ration_divide(struct queue *q)
{
	if (list_empty(&q->quota.stale))
		return;
	list_each(&q->quota.stale, l)
		lot_divide(container_of(l, struct quota_lot, stale));
	list_each(&q->quota.stale, s) {
		struct quota_lot *lot = container_of(s, struct quota_lot, stale);
		list_each(&lot->rows, l)
			root_settle(q, quota_root(container_of(l, struct quota_row, of_lot)->node));
	}
	while (!list_empty(&q->quota.stale))
		list_leave(q->quota.stale.next);
	q->version++;
}

/* What idle room is counted in. */
static const char *const counted[] = {"cpu", "memory"};
#define NCOUNTED (sizeof(counted) / sizeof(counted[0]))

void ration_lend(struct queue *q, const struct flavor *f)
{
	for (size_t i = 0; i < NCOUNTED; i++) {
		struct quota_lot *lot = quota_lot_of(&q->quota, f->name, counted[i]);
		if (lot->lent == f->lending && lot->share_permille == f->share_permille)
			continue;
		if (lot->lent != f->lending)
			lot->resized = true; /* for all, whatever it comes to */
		lot->lent = f->lending;
		lot->share_permille = f->share_permille;
		lot_stale(q, lot);
	}
	ration_divide(q);
}

static int64_t at_least_0(int64_t n)
{
	return n > 0 ? n : 0;
}

void ration_pool(struct queue *q, const struct idle_pool *p)
{
	const int64_t pool[NCOUNTED] = {at_least_0(p->cpu_milli), at_least_0(p->memory_bytes)};
	const int64_t most[NCOUNTED] = {
		at_least_0(p->most_cpu_milli), at_least_0(p->most_memory_bytes)};
	for (size_t i = 0; i < NCOUNTED; i++) {
		struct quota_lot *lot = quota_lot_of(&q->quota, p->flavor, counted[i]);
		if (lot->pool == pool[i] && lot->most == most[i])
			continue;
		lot->resized = lot->resized || lot->most != most[i];
		lot->pool = pool[i];
		lot->most = most[i];
		if (lot->lent)
			lot_stale(q, lot);
	}
	ration_divide(q);
}
