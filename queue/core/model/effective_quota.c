#include "queue/core/model/effective_quota.h"

#include "queue/core/model/state.h"
#include "queue/core/model/feature.h"

static bool limits_fell(const struct quota_limits *was, const struct quota_limits *is)
{
	return is->nominal < was->nominal || is->borrowing < was->borrowing ||
	       is->lending < was->lending;
}

/* Keeps what it is before anything is kept back. */
static struct quota_limits due_of(struct clusterqueue *cq, struct quota_row *row)
{
	struct quota_limits l = row->said;
	if (!cq) {
		row->timed = l;
		return l;
	}
	each_feature(f, ALL_FEATURES, quota_timed)
		f->quota_timed(cq, row, &l);
	cq->quota_fell = cq->quota_fell || limits_fell(&row->timed, &l);
	row->timed = l;
	each_feature(f, ALL_FEATURES, quota_due)
		f->quota_due(cq, &l);
	return l;
}

/* False: they were the same. */
static bool row_limit(struct quota_row *row, const struct quota_limits *l)
{
	struct quota_limits now = {row->nominal, row->borrowing_limit, row->lending_limit};
	if (quota_limits_same(&now, l))
		return false;
	quota_set_limits(row, l);
	return true;
}

static void flavor_pool_stale(struct queue *q, struct flavor_pool *flavor_pool)
{
	if (!list_in(&flavor_pool->stale))
		list_add(&q->quota.stale, &flavor_pool->stale);
}

bool effective_quota_apply(struct queue *q, struct quota_node *node)
{
	bool changed = false;
	if (node->owner)
		node->owner->quota_fell = false;
	for (size_t i = 0; i < node->nrows; i++) {
		struct quota_row *row = node->row[i];
		struct quota_limits due = due_of(node->owner, row);
		if (row->flavor_pool->lent && !quota_limits_same(&row->due, &due))
			flavor_pool_stale(q, row->flavor_pool);
		row->due = due;
		if (!row->flavor_pool->lent)
			changed = row_limit(row, &due) || changed;
	}
	return changed;
}

/* ---- Pools ---- */

/* amount * part / whole, rounded down; saturates below QUOTA_UNLIMITED. */
static int64_t scale(int64_t amount, int64_t part, __int128 whole)
{
	__int128 scaled = whole > 0 ? (__int128)amount * part / whole : 0;
	return scaled < QUOTA_UNLIMITED ? (int64_t)scaled : QUOTA_UNLIMITED - 1;
}

static int64_t scale_limit(int64_t limit, int64_t part, __int128 whole)
{
	return limit == QUOTA_UNLIMITED ? QUOTA_UNLIMITED : scale(limit, part, whole);
}

static __int128 sum_due(const struct flavor_pool *flavor_pool)
{
	__int128 sum = 0;
	list_each_entry(&flavor_pool->rows, const struct quota_row, row, of_flavor_pool)
		sum += row->due.nominal;
	return sum;
}

static struct quota_limits limits_of(const struct quota_row *row, int64_t pool, __int128 sum)
{
	if (!row->flavor_pool->lent)
		return row->due;
	return (struct quota_limits){scale(row->due.nominal, pool, sum),
		scale_limit(row->due.borrowing, pool, sum),
		scale_limit(row->due.lending, pool, sum)};
}

/* Marks the roots in which it changed anything as unsettled. */
static void flavor_pool_divide(struct flavor_pool *flavor_pool)
{
	int64_t pool = scale(flavor_pool->pool, flavor_pool->share_permille, 1000);
	__int128 sum = sum_due(flavor_pool);
	list_each_entry(&flavor_pool->rows, struct quota_row, row, of_flavor_pool) {
		struct quota_node *root = quota_root(row->node);
		struct quota_limits limits = limits_of(row, pool, sum);
		bool more = limits.nominal > row->nominal;
		if (!row_limit(row, &limits) && !(flavor_pool->resized && row->in_spec))
			continue;
		root->unsettled = true;
		root->grown = root->grown || more || flavor_pool->resized;
	}
	flavor_pool->resized = false;
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
		queue_touch_tree_of(q, any);
}

void effective_quota_divide(struct queue *q)
{
	if (list_empty(&q->quota.stale))
		return;
	list_each_entry(&q->quota.stale, struct flavor_pool, flavor_pool, stale)
		flavor_pool_divide(flavor_pool);
	list_each_entry(&q->quota.stale, struct flavor_pool, flavor_pool, stale)
		list_each_entry(&flavor_pool->rows, const struct quota_row, row, of_flavor_pool)
			root_settle(q, quota_root(row->node));
	while (!list_empty(&q->quota.stale))
		list_leave(q->quota.stale.next);
	q->counters.version++;
}

/* What idle resources are counted in. */
static const char *const counted[] = {"cpu", "memory"};
#define NCOUNTED (sizeof(counted) / sizeof(counted[0]))

void effective_quota_lend(struct queue *q, const struct flavor *f)
{
	for (size_t i = 0; i < NCOUNTED; i++) {
		struct flavor_pool *flavor_pool = flavor_pool_of(&q->quota, f->name, counted[i]);
		if (flavor_pool->lent == f->lending &&
			flavor_pool->share_permille == f->share_permille)
			continue;
		if (flavor_pool->lent != f->lending)
			flavor_pool->resized = true; /* for all rows, even if no limit changes */
		flavor_pool->lent = f->lending;
		flavor_pool->share_permille = f->share_permille;
		flavor_pool_stale(q, flavor_pool);
	}
	effective_quota_divide(q);
}

static int64_t at_least_0(int64_t n)
{
	return n > 0 ? n : 0;
}

void effective_quota_pool(struct queue *q, const struct idle_pool *p)
{
	const int64_t pool[NCOUNTED] = {at_least_0(p->cpu_milli), at_least_0(p->memory_bytes)};
	const int64_t most[NCOUNTED] = {
		at_least_0(p->most_cpu_milli), at_least_0(p->most_memory_bytes)};
	for (size_t i = 0; i < NCOUNTED; i++) {
		struct flavor_pool *flavor_pool = flavor_pool_of(&q->quota, p->flavor, counted[i]);
		if (flavor_pool->pool == pool[i] && flavor_pool->most == most[i])
			continue;
		flavor_pool->resized = flavor_pool->resized || flavor_pool->most != most[i];
		flavor_pool->pool = pool[i];
		flavor_pool->most = most[i];
		if (flavor_pool->lent)
			flavor_pool_stale(q, flavor_pool);
	}
	effective_quota_divide(q);
}
