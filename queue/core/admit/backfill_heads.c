#include "queue/core/admit/backfill_heads.h"

#include "queue/core/model/booked_runs.h"
#include "queue/core/model/feature.h"
#include "queue/core/admit/combinations.h"
#include "queue/core/model/kept_start.h"
#include "sluice/quantity.h"

bool backfills_several_heads(const struct clusterqueue *cq)
{
	return cq->spec.strategy == BACKFILL && cq->spec.backfill_reservations > 1;
}

static struct kept_start *head_at(struct link *l)
{
	return container_of(l, struct kept_start, of_heads);
}

/* ---- Do they stand? ---- */

static bool has_room_from(struct queue *q, struct booking *b, int64_t from_ms)
{
	quota_plan_set_aside(&q->quota_plan, b);
	bool has = quota_plan_has_room(&q->quota_plan, (struct booking_lines){b->line, b->nlines},
		from_ms, quantity_add(from_ms, b->until_ms - b->from_ms));
	quota_plan_put_back(&q->quota_plan, b);
	return has;
}

/* When it would start by its booking. One that is due may start now. */
static int64_t starts_ms(const struct queue *q, const struct booking *b)
{
	return b->from_ms > q->now_ms ? b->from_ms : q->now_ms;
}

static bool all_stand(struct queue *q, const struct clusterqueue *cq)
{
	list_each_entry(&cq->heads, const struct kept_start, k, of_heads)
		if (!has_room_from(q, k->booking, starts_ms(q, k->booking)))
			return false;
	return true;
}

/* ---- The walk ---- */

void backfill_heads_begin(struct queue *q, struct clusterqueue *cq, bool searched)
{
	each_feature(f, q->features_awake, plan_asked)
		f->plan_asked(q);
	if (searched && !all_stand(q, cq))
		backfill_heads_end(q, cq);
	cq->walks++;
}

void backfill_heads_drop_rest(struct queue *q, struct clusterqueue *cq)
{
	for (struct link *l = cq->heads.next, *next; l != &cq->heads; l = next) {
		struct kept_start *k = head_at(l);
		next = l->next;
		if (k->walk == cq->walks)
			continue;
		kept_start_drop(q, k->w);
		cq->search = true;
	}
}

void backfill_heads_end(struct queue *q, struct clusterqueue *cq)
{
	while (!list_empty(&cq->heads))
		kept_start_drop(q, head_at(cq->heads.next)->w);
}

bool backfill_heads_walked(const struct queue *q, const struct workload *w)
{
	const struct kept_start *k = kept_start_get(q, w);
	return k && list_in(&k->of_heads) && k->walk == w->group->cq->walks;
}

bool backfill_heads_keep(struct queue *q, const struct workload *w)
{
	struct kept_start *k = kept_start_get(q, w);
	if (!k || !list_in(&k->of_heads))
		return false;
	k->walk = w->group->cq->walks;
	return true;
}

/* ---- A booking ---- */

struct head_place {
	int64_t at_ms;
	size_t n;
	struct booking_line line[QUEUE_LINES_MAX];
};

/* The earliest start, of all combinations of flavors. *ret->at_ms is INT64_MAX: there is none. */
static void find_earliest(struct queue *q, const struct workload *w, struct head_place *ret)
{
	const struct clusterqueue *cq = w->group->cq;
	struct combination k;
	struct head_place one;
	int64_t lasts_ms = w->expected_ms > 0 ? w->expected_ms : INT64_MAX;
	bool more = combination_first_bookable(&k, cq, &w->group->claim, true);
	ret->at_ms = INT64_MAX;
	for (int i = 0; more && i < COMBINATIONS_BOOKABLE; i++) {
		one.n = combination_lines(&k, true, one.line);
		one.at_ms =
			quota_plan_earliest(&q->quota_plan, (struct booking_lines){one.line, one.n},
				lasts_ms, q->now_ms, INT64_MAX - 1);
		if (one.at_ms < ret->at_ms)
			*ret = one;
		more = combination_next(&k);
	}
}

static bool is_at(const struct booking *b, const struct head_place *p, int64_t lasts_ms)
{
	return booking_is(b, (struct booking_lines){p->line, p->n}, p->at_ms,
		quantity_add(p->at_ms, lasts_ms));
}

/* One of unknown duration is only put earlier where it fits for ever. Else it stays where it is. */
static bool stays(struct queue *q, struct booking *b, int64_t lasts_ms, const struct head_place *p)
{
	return b && b->until_ms - b->from_ms == lasts_ms && starts_ms(q, b) < p->at_ms &&
	       has_room_from(q, b, starts_ms(q, b));
}

/* Returns when a head is asked again: when its time comes, or, if that has come, when facts change.
 * The end of a run that should be over by now is put off in a moment. */
static int64_t asked_ms(const struct queue *q, const struct booking *b)
{
	const struct booking *first = quota_plan_first_end(&q->quota_plan);
	if (b->from_ms > q->now_ms)
		return b->from_ms;
	return first && first->until_ms <= q->now_ms ? quantity_add(q->now_ms, 1) : INT64_MAX;
}

static struct kept_start *enter(struct queue *q, struct clusterqueue *cq, struct kept_start *k)
{
	if (!list_in(&k->of_heads))
		list_add(&cq->heads, &k->of_heads);
	k->walk = cq->walks;
	alarm_set(&q->alarms, &k->alarm, asked_ms(q, k->booking));
	return k;
}

static struct kept_start *move(struct queue *q, struct workload *w, const struct head_place *p)
{
	struct clusterqueue *cq = w->group->cq;
	cq->search = cq->search || kept_start_get(q, w);
	struct kept_start *k = kept_start_put(q, w, (struct booking_lines){p->line, p->n}, p->at_ms,
		plan_lasts_ms(w->expected_ms));
	return k ? enter(q, cq, k) : NULL;
}

bool backfill_heads_book(struct queue *q, struct workload *w)
{
	struct kept_start *k = kept_start_get(q, w);
	struct booking *b = k ? k->booking : NULL;
	int64_t lasts_ms = plan_lasts_ms(w->expected_ms);
	struct head_place p;
	if (!k && quota_plan_full(w->group->cq->node))
		return false;
	quota_plan_set_aside(&q->quota_plan, b);
	find_earliest(q, w, &p);
	quota_plan_put_back(&q->quota_plan, b);
	if (stays(q, b, lasts_ms, &p)) {
		quota_plan_move(&q->quota_plan, b, starts_ms(q, b),
			quantity_add(starts_ms(q, b), lasts_ms));
		return enter(q, w->group->cq, k);
	}
	if (p.at_ms == INT64_MAX) {
		kept_start_drop(q, w);
		return false;
	}
	if (b && is_at(b, &p, lasts_ms))
		return enter(q, w->group->cq, k);
	return move(q, w, &p);
}

/* ---- What is in the way of whom ---- */

static bool needs(const struct clusterqueue *cq, const struct claim *c, const struct quota_row *row)
{
	for (size_t i = 0; i < c->nneeds; i++) {
		const struct resource_group *g = &cq->spec.groups[c->need[i].group];
		for (size_t f = 0; c->need[i].each > 0 && f < g->nflavors; f++)
			if (need_row(cq, &c->need[i], f) == row)
				return true;
	}
	return false;
}

static bool shares(const struct workload *w, const struct booking *b)
{
	for (size_t i = 0; i < b->nlines; i++)
		if (needs(w->group->cq, &w->group->claim, b->line[i].row))
			return true;
	return false;
}

static bool is_before(const struct workload *a, const struct workload *b)
{
	return order_cmp(workload_standing(a), workload_standing(b)) < 0;
}

bool backfill_heads_before(const struct workload *w)
{
	list_each_entry(&w->group->cq->heads, const struct kept_start, k, of_heads)
		if (k->w != w && is_before(k->w, w) && shares(w, k->booking))
			return true;
	return false;
}

/* The first head in order that uses what w needs at that moment. */
static const struct kept_start *head_then(const struct workload *w, int64_t at_ms)
{
	const struct kept_start *found = NULL;
	list_each_entry(&w->group->cq->heads, const struct kept_start, k, of_heads) {
		const struct booking *b = k->booking;
		if (k->w != w && b->from_ms <= at_ms && b->until_ms > at_ms && shares(w, b) &&
			(!found || is_before(k->w, found->w)))
			found = k;
	}
	return found;
}

int64_t backfill_heads_room_until(
	struct queue *q, const struct workload *w, const struct kept_start **ret_head)
{
	const struct clusterqueue *cq = w->group->cq;
	struct booking *own = kept_start_of(q, w);
	struct combination k;
	int64_t best_ms = 0;
	struct head_place one;
	each_feature(f, q->features_awake, plan_asked)
		f->plan_asked(q);
	quota_plan_set_aside(&q->quota_plan, own);
	bool more = combination_first_bookable(&k, cq, &w->group->claim, true);
	for (int i = 0; more && i < COMBINATIONS_BOOKABLE; i++) {
		one.n = combination_lines(&k, true, one.line);
		int64_t until_ms = quota_plan_room_until(
			&q->quota_plan, (struct booking_lines){one.line, one.n}, q->now_ms);
		if (until_ms > q->now_ms && until_ms > best_ms)
			best_ms = until_ms;
		more = combination_next(&k);
	}
	quota_plan_put_back(&q->quota_plan, own);
	*ret_head = best_ms > 0 && best_ms < INT64_MAX ? head_then(w, best_ms) : NULL;
	return best_ms;
}
