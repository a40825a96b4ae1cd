#include "queue/core/model/kept_start.h"

#include <stdlib.h>

#include "base/mem.h"
#include "queue/core/model/state.h"
#include "queue/core/model/feature.h"
#include "sluice/quantity.h"

static bool is_of(const void *value, const void *key)
{
	return uid_cmp(&((const struct kept_start *)value)->w->key.uid, key) == 0;
}

void kept_starts_init(struct map *all)
{
	map_init(all, is_of);
}

struct kept_start *kept_start_get(const struct queue *q, const struct workload *w)
{
	if (q->kept_starts.count == 0)
		return NULL;
	return map_get(&q->kept_starts, uid_hash(&w->key.uid), &w->key.uid);
}

struct booking *kept_start_of(const struct queue *q, const struct workload *w)
{
	const struct kept_start *k = kept_start_get(q, w);
	return k ? k->booking : NULL;
}

void kept_start_drop(struct queue *q, struct workload *w)
{
	struct kept_start *k = kept_start_get(q, w);
	if (!k)
		return;
	map_take(&q->kept_starts, uid_hash(&w->key.uid), &w->key.uid);
	alarm_clear(&q->alarms, &k->alarm);
	list_leave(&k->come);
	list_leave(&k->of_heads);
	quota_plan_unbook(&q->quota_plan, k->booking);
	free(k);
}

bool kept_start_stands(const struct queue *q, const struct workload *w, struct booking_lines lines,
	int64_t lasts_ms)
{
	struct queue *own = (struct queue *)(uintptr_t)q; /* profiles are made right first */
	const struct kept_start *k = kept_start_get(q, w);
	if (!k || k->booking->from_ms <= q->now_ms)
		return false;
	int64_t from_ms = k->booking->from_ms;
	return booking_is(k->booking, lines, from_ms, quantity_add(from_ms, lasts_ms)) &&
	       quota_plan_stands(&own->quota_plan, k->booking);
}

static struct kept_start *keep(struct queue *q, struct workload *w, struct booking *b)
{
	struct kept_start *k = mem_alloc(sizeof(*k));
	k->w = w;
	k->booking = b;
	alarm_init(&k->alarm, ALARM_KEPT_START, b->serial, k);
	map_put(&q->kept_starts, uid_hash(&w->key.uid), k);
	alarm_set(&q->alarms, &k->alarm, b->from_ms);
	return k;
}

struct kept_start *kept_start_put(struct queue *q, struct workload *w, struct booking_lines lines,
	int64_t at_ms, int64_t lasts_ms)
{
	kept_start_drop(q, w);
	struct booking *b = quota_plan_book(&q->quota_plan, BOOKING_HEAD, &w->key.uid, lines, at_ms,
		quantity_add(at_ms, lasts_ms));
	return b ? keep(q, w, b) : NULL;
}

bool kept_start_book(
	struct queue *q, struct workload *w, struct booking_lines lines, int64_t lasts_ms)
{
	kept_start_drop(q, w);
	int64_t at_ms =
		quota_plan_earliest(&q->quota_plan, lines, lasts_ms, q->now_ms, INT64_MAX - 1);
	return at_ms != INT64_MAX && kept_start_put(q, w, lines, at_ms, lasts_ms);
}

void kept_start_leave(struct queue *q, struct workload *w)
{
	const struct kept_start *k = kept_start_get(q, w);
	if (!k)
		return;
	const struct quota_node *root = booking_root(k->booking);
	if (root && root->cohort_tree)
		queue_touch_tree(q, root->cohort_tree);
	kept_start_drop(q, w);
}

void kept_start_ring(struct queue *q, struct kept_start *k)
{
	queue_touch_queue(q, k->w->lq->cq);
	list_add(&q->come_starts, &k->come);
}

/* All are asked before one goes: which of them stay does not depend on their order. */
void kept_starts_heed_quotas(struct queue *q)
{
	size_t n = 0;
	struct kept_start *k, **gone;
	if (q->kept_starts.count == 0 || q->kept_starts_as_of == q->quota.edits)
		return;
	q->kept_starts_as_of = q->quota.edits;
	each_feature(f, q->features_awake, plan_asked)
		f->plan_asked(q);
	gone = mem_array(q->kept_starts.count, sizeof(struct kept_start *));
	map_each(&q->kept_starts, i, k)
		if (!list_in(&k->of_heads) && !quota_plan_stands(&q->quota_plan, k->booking))
			gone[n++] = k;
	for (size_t i = 0; i < n; i++)
		kept_start_leave(q, gone[i]->w);
	free(gone);
}

bool kept_starts_expire(struct queue *q)
{
	bool any = false;
	if (q->paused || !list_empty(&q->dirty))
		return false; /* some were not asked yet */
	while (!list_empty(&q->come_starts)) {
		struct kept_start *k = container_of(q->come_starts.next, struct kept_start, come);
		list_leave(&k->come);
		if (list_in(&k->of_heads))
			continue; /* the walk books it anew, or drops it */
		kept_start_leave(q, k->w);
		any = true;
	}
	return any;
}
