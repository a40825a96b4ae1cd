/*
 * The rule of bookings: a Job starts only if it overlaps nothing that others have booked.
 *
 * It overlaps when, at some moment until its expected end, there is not quota for it beside all
 * bookings but its own. One of unknown duration is taken to last an hour. A Job of a higher priority
 * than the first booking in its way starts all the same, and so does one that preempts: what it
 * runs into is booked anew. A Job that is refused gets a booking of its own (kept_start.h).
 */
#include "queue/admit/nominate.h"
#include "queue/core.h"
#include "queue/model/reservation.h"
#include "queue/rules/bookings/backfill_heads.h"
#include "queue/rules/bookings/kept_start.h"
#include "queue/rules/money/booked_start.h"
#include "queue/rules/rule.h"
#include "sluice/quantity.h"

static bool bookings_concern(struct queue *q, struct clusterqueue *cq)
{
	(void)q;
	return cq->cohort_tree && cq->cohort_tree->plans;
}

static bool has_bookings(const struct clusterqueue *cq)
{
	return quota_root(cq->node)->bookings > 0;
}

struct wanted_lines {
	struct booking_line line[QUEUE_LINES_MAX];
	struct booking_lines lines;
};

static void lines_of(const struct nominee *e, struct wanted_lines *ret)
{
	struct demand d;
	size_t n = nominee_demand(e, &d) ? d.nlines : 0;
	for (size_t i = 0; i < n; i++)
		ret->line[i] = (struct booking_line){d.line[i].row, d.line[i].amount};
	ret->lines = (struct booking_lines){ret->line, n};
}

/* Is the first booking in its way that of a Job of a lower priority? */
static bool is_above_it(
	struct queue *q, const struct workload *w, struct booking_lines lines, int64_t until_ms)
{
	const struct booking *b = quota_plan_in_the_way(&q->quota_plan, lines, q->now_ms, until_ms);
	const struct workload *other = b ? queue_find_workload(q, &b->who) : NULL;
	return other && other->key.priority < w->key.priority;
}

/* Beside all but its own booking. */
static bool overlaps_nothing(
	struct queue *q, const struct workload *w, struct booking_lines lines, int64_t until_ms)
{
	struct booking *own = booked_start_of(w), *kept = kept_start_of(q, w);
	quota_plan_set_aside(&q->quota_plan, own);
	quota_plan_set_aside(&q->quota_plan, kept);
	bool fits = quota_plan_has_room(&q->quota_plan, lines, q->now_ms, until_ms);
	quota_plan_put_back(&q->quota_plan, own);
	quota_plan_put_back(&q->quota_plan, kept);
	return fits;
}

/* Does it borrow nothing, where another ClusterQueue has booked what it would borrow? */
static bool is_its_own(
	struct queue *q, const struct nominee *e, struct booking_lines lines, int64_t until_ms)
{
	const struct booking *b = quota_plan_in_the_way(&q->quota_plan, lines, q->now_ms, until_ms);
	const struct workload *other = b ? queue_find_workload(q, &b->who) : NULL;
	return e->choice.level == 0 && other && other->group && other->group->cq != e->cq &&
	       backfill_heads_of(other->group->cq);
}

/* Until then it must overlap nothing. One of unknown duration never passes a head of Backfill, unless its
 * own booked time has come. */
static int64_t overlaps_until_ms(const struct queue *q, const struct nominee *e)
{
	const struct booking *kept = kept_start_of(q, e->w);
	bool passes = backfill_heads_of(e->cq) && !(kept && kept->from_ms <= q->now_ms);
	if (e->w->expected_ms <= 0 && passes)
		return INT64_MAX;
	return quantity_add(q->now_ms, plan_lasts_ms(e->w->expected_ms));
}

static bool bookings_choice_may(struct queue *q, const struct attempt *a)
{
	const struct nominee *e = a->nominee;
	struct wanted_lines x;
	if (!has_bookings(e->cq) || e->verdict != ASSIGN_FITS || a->nvictims > 0)
		return true;
	int64_t lasts_ms = plan_lasts_ms(e->w->expected_ms);
	int64_t until_ms = overlaps_until_ms(q, e);
	lines_of(e, &x);
	if (overlaps_nothing(q, e->w, x.lines, until_ms) || is_its_own(q, e, x.lines, until_ms))
		return true;
	if (backfill_heads_of(e->cq)) /* which Jobs of it book: backfill_heads.h */
		return is_above_it(q, e->w, x.lines, until_ms);
	if (kept_start_stands(q, e->w, x.lines, lasts_ms))
		return false;
	if (is_above_it(q, e->w, x.lines, until_ms))
		return true;
	return !booked_start_of(e->w) && !kept_start_book(q, e->w, x.lines, lasts_ms);
}

static bool bookings_look_at_duration(const struct localqueue *lq)
{
	return lq->cq->cohort_tree && lq->cq->cohort_tree->plans;
}

/* All of the pods that it may take, or none. */
static int32_t bookings_growth_pods(struct queue *q, const struct reservation *r, int32_t more)
{
	struct booking_line line[QUEUE_LINES_MAX];
	size_t n = 0;
	if (!r->cq || !has_bookings(r->cq) || !r->booking)
		return more;
	for (size_t i = 0; i < r->nlines && n < QUEUE_LINES_MAX; i++)
		line[n++] = (struct booking_line){r->line[i].row, reservation_more(r, i, more)};
	int64_t until_ms = backfill_heads_of(r->cq) && r->w->expected_ms <= 0
				   ? INT64_MAX
				   : r->booking->until_ms;
	return quota_plan_has_room(
		       &q->quota_plan, (struct booking_lines){line, n}, q->now_ms, until_ms)
		       ? more
		       : 0;
}

/* Backfill with several heads: would it run into a booking that is none of theirs? Of heads explain.c
 * tells. */
static bool is_kept_by_others(const struct question *a)
{
	struct queue *q = (struct queue *)(uintptr_t)a->q; /* as it was afterwards */
	const struct kept_start *head;
	if (a->w->place != PLACE_READY || assign_now(a->cq, a->claim) != ASSIGN_FITS)
		return false;
	int64_t until_ms = backfill_heads_room_until(q, a->w, &head);
	int64_t ends_ms =
		a->w->expected_ms > 0 ? quantity_add(q->now_ms, a->w->expected_ms) : INT64_MAX;
	return !head && until_ms > 0 && until_ms < ends_ms;
}

static enum wait_reason bookings_explain(struct question *a)
{
	const struct booking *b = kept_start_of(a->q, a->w);
	if (backfill_heads_of(a->cq) ? !is_kept_by_others(a) : !b)
		return WAIT_NOT;
	text_add(a->text, "fits now, but would run into starts that other Jobs have booked");
	if (b) {
		text_add(a->text, "; it has booked ");
		text_add_time(a->text, b->from_ms);
		text_add(a->text, ", and starts before that if it runs into none");
	}
	if (a->w->expected_ms <= 0)
		text_add(a->text,
			" (it does not say how long it takes, annotation sluice.dev/expected-duration, so that is planned for an hour)");
	return WAIT_BEHIND;
}

const struct rule bookings_rule = {
	.name = "bookings",
	.concerns = bookings_concern,
	.choice_may = bookings_choice_may,
	.looks_at_duration = bookings_look_at_duration,
	.growth_pods = bookings_growth_pods,
	.growth_refused = "it would run into starts that other Jobs have booked",
	.explain = bookings_explain,
};
