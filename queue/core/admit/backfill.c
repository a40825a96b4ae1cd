#include "queue/core/admit/backfill.h"

#include <stdlib.h>

#include "base/mem.h"
#include "queue/core/admit/backfill_heads.h"
#include "queue/core/model/reservation.h"
#include "queue/core/model/run_ends.h"
#include "sluice/quantity.h"

/* ---- The slot ---- */

static int64_t held_by(const struct reservation *r, const struct quota_row *row)
{
	int64_t held = 0;
	for (size_t i = 0; i < r->nlines; i++)
		if (r->line[i].row == row)
			held = quantity_add(held, reservation_line_then(r, &r->line[i]));
	return held;
}

/* The first moment at which the amount is free in the row. */
static int64_t fits_at(
	const struct clusterqueue *cq, const struct quota_row *row, int64_t amount, int64_t now_ms)
{
	__int128 free = quota_free(row, QUOTA_THEN);
	if (quota_has(row, QUOTA_THEN, amount))
		return now_ms;
	for (const struct reservation *r = run_ends_first(cq); r; r = run_ends_next(r)) {
		free += held_by(r, row);
		if (amount <= free)
			return r->ends_ms;
	}
	return INT64_MAX;
}

/* The flavor in which the group's needs fit first, and when. */
static size_t first_flavor(const struct clusterqueue *cq, const struct claim *c, size_t group,
	int64_t now_ms, int64_t *ret_at_ms)
{
	size_t n, best = SIZE_MAX;
	const struct need *need = claim_needs(c, group, &n);
	for (size_t f = 0; f < cq->spec.groups[group].nflavors; f++) {
		int64_t at_ms = now_ms;
		bool never = !claim_suits(c, group, f);
		for (size_t i = 0; i < n && !never; i++) {
			const struct quota_row *row = need_row(cq, &need[i], f);
			int64_t t = fits_at(cq, row, need[i].least, now_ms);
			at_ms = t > at_ms ? t : at_ms;
			never = need_too_large(row, &need[i]);
		}
		if (never)
			continue;
		if (best == SIZE_MAX || at_ms < *ret_at_ms) {
			best = f;
			*ret_at_ms = at_ms;
		}
	}
	return best;
}

static void reserve_group(struct backfill_slot *r, const struct clusterqueue *cq,
	const struct claim *c, size_t group, int64_t now_ms)
{
	size_t n;
	int64_t at_ms = now_ms;
	const struct need *need = claim_needs(c, group, &n);
	size_t flavor = n > 0 ? first_flavor(cq, c, group, now_ms, &at_ms) : SIZE_MAX;
	if (flavor == SIZE_MAX)
		return;
	r->at_ms = at_ms > r->at_ms ? at_ms : r->at_ms;
	for (size_t i = 0; i < n && r->nrows < QUEUE_LINES_MAX; i++)
		if (need[i].least > 0)
			r->row[r->nrows++] = (struct reserved_row){
				need_row(cq, &need[i], flavor), -(__int128)need[i].least};
}

static void count_spare(struct backfill_slot *r, const struct clusterqueue *cq)
{
	for (size_t i = 0; i < r->nrows; i++) {
		struct reserved_row *row = &r->row[i];
		row->spare += quota_free(row->row, QUOTA_THEN);
		const struct reservation *e = run_ends_first(cq);
		for (; e && e->ends_ms <= r->at_ms; e = run_ends_next(e))
			row->spare += held_by(e, row->row);
		if (r->at_ms == INT64_MAX || row->spare < 0)
			row->spare = 0;
	}
}

static struct backfill_slot *slot_of(struct clusterqueue *cq)
{
	if (!cq->backfill_slot)
		cq->backfill_slot = mem_alloc(sizeof(*cq->backfill_slot));
	return cq->backfill_slot;
}

static void watch_ends(struct queue *q, struct clusterqueue *cq)
{
	struct backfill_slot *r = cq->backfill_slot;
	const struct reservation *first = run_ends_first(cq);
	alarm_init(&r->alarm, ALARM_BACKFILL, cq->serial, cq);
	alarm_set(&q->alarms, &r->alarm, first ? quantity_add(first->ends_ms, 1) : INT64_MAX);
}

void backfill_reserve(struct queue *q, struct clusterqueue *cq, const struct group *g)
{
	run_ends_put_off(cq, q->now_ms);
	struct backfill_slot *r = slot_of(cq);
	r->on = true;
	r->head = g->key.uid;
	r->at_ms = q->now_ms;
	r->nrows = 0;
	for (size_t i = 0; i < cq->spec.ngroups; i++)
		reserve_group(r, cq, &g->claim, i, q->now_ms);
	count_spare(r, cq);
	watch_ends(q, cq);
}

void backfill_watch(struct queue *q, struct clusterqueue *cq)
{
	if (list_empty(&cq->heads)) {
		backfill_end(q, cq);
		return;
	}
	run_ends_put_off(cq, q->now_ms);
	slot_of(cq)->on = false;
	watch_ends(q, cq);
}

void backfill_end(struct queue *q, struct clusterqueue *cq)
{
	backfill_heads_end(q, cq);
	if (!cq->backfill_slot)
		return;
	cq->backfill_slot->on = false;
	alarm_clear(&q->alarms, &cq->backfill_slot->alarm);
}

/* ---- Which Jobs may pass ---- */

/* The head's row that it would take from; NULL: it takes from none. */
static struct reserved_row *reserved(
	const struct clusterqueue *cq, const struct need *n, const struct choice *choice)
{
	struct backfill_slot *r = cq->backfill_slot;
	const struct quota_row *row = need_row(cq, n, choice->flavor[n->group]);
	for (size_t i = 0; n->each > 0 && i < r->nrows; i++)
		if (r->row[i].row == row)
			return &r->row[i];
	return NULL;
}

bool backfill_lets(const struct clusterqueue *cq, const struct group *g,
	const struct choice *choice, bool displaces, int64_t now_ms)
{
	const struct backfill_slot *r = cq->backfill_slot;
	if (!r || !r->on || uid_cmp(&r->head, &g->key.uid) == 0)
		return true;
	bool known = g->expected_ms > 0;
	bool in_time = known && run_ends_at(g->expected_ms, now_ms) <= r->at_ms;
	for (size_t i = 0; i < g->claim.nneeds; i++) {
		const struct need *n = &g->claim.need[i];
		const struct reserved_row *row = reserved(cq, n, choice);
		bool fits = in_time || (known && row && need_amount(n, choice->pods) <= row->spare);
		if (row && (displaces || !fits))
			return false;
	}
	return true;
}

void backfill_started(struct queue *q, struct clusterqueue *cq, const struct group *g,
	const struct choice *choice)
{
	struct backfill_slot *r = cq->backfill_slot;
	if (!r || !r->on)
		return;
	int64_t end_ms = run_ends_at(g->expected_ms, q->now_ms);
	if (end_ms < alarm_at(&r->alarm))
		alarm_set(&q->alarms, &r->alarm, quantity_add(end_ms, 1));
	if (end_ms <= r->at_ms)
		return;
	for (size_t i = 0; i < g->claim.nneeds; i++) {
		const struct need *n = &g->claim.need[i];
		struct reserved_row *row = reserved(cq, n, choice);
		if (row)
			row->spare -= need_amount(n, choice->pods);
	}
}

/* The head's row of a line; NULL: the head does not ask for it, or nothing is asked of it. */
static struct reserved_row *reserved_line(
	const struct reservation *r, const struct reservation_line *l)
{
	struct backfill_slot *slot = r->cq->backfill_slot;
	for (size_t i = 0; slot && slot->on && i < slot->nrows; i++)
		if (slot->row[i].row == l->row)
			return &slot->row[i];
	return NULL;
}

/* Returns whether the run ends by the slot, as was expected of it before. With more pods it ends
 * rather sooner. */
static bool ends_in_time(const struct reservation *r)
{
	const struct backfill_slot *slot = r->cq->backfill_slot;
	return tree_in(&r->by_end) && r->ends_ms <= slot->at_ms;
}

bool backfill_lets_grow(const struct reservation *r, int32_t more)
{
	for (size_t i = 0; i < r->nlines; i++) {
		const struct reserved_row *row = reserved_line(r, &r->line[i]);
		if (row && !ends_in_time(r) &&
			(!tree_in(&r->by_end) || reservation_more(r, i, more) > row->spare))
			return false;
	}
	return true;
}

void backfill_grew(struct reservation *r, int32_t more)
{
	for (size_t i = 0; i < r->nlines; i++) {
		struct reserved_row *row = reserved_line(r, &r->line[i]);
		if (row && !ends_in_time(r))
			row->spare -= reservation_more(r, i, more);
	}
}

/* For a moment, takes away what is free beyond the spare quota. */
void backfill_keys(const struct clusterqueue *cq, int64_t ret_available[])
{
	const struct backfill_slot *r = cq->backfill_slot;
	int64_t taken[QUEUE_LINES_MAX];
	for (size_t i = 0; i < r->nrows; i++) {
		__int128 over = quota_free(r->row[i].row, QUOTA_THEN) - r->row[i].spare;
		taken[i] = over <= 0 ? 0 : over > INT64_MAX ? INT64_MAX : (int64_t)over;
		quota_take(r->row[i].row, QUOTA_THEN, taken[i]);
	}
	keys_available(cq, KEYS_FREE, ret_available);
	for (size_t i = r->nrows; i-- > 0;)
		quota_give(r->row[i].row, QUOTA_THEN, taken[i]);
}
