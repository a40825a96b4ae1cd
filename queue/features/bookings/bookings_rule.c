/*
 * The rule of bookings: a Job starts only if it overlaps nothing that others have booked.
 *
 * It overlaps when, at some moment until its expected end, there is not quota for it beside all
 * bookings but its own. One of unknown duration is taken to last an hour. A Job of a higher priority
 * than the first booking in its way starts all the same, and so does one that preempts: what it
 * runs into is booked anew. A Job that is refused gets a booking of its own (kept_start.h). In a
 * ClusterQueue with several heads of Backfill only heads book (backfill_heads.h).
 *
 * No Job starts over an AdvanceReservation, whatever its priority is and which runs it preempts.
 * For a Job that may use one, what that keeps need not be free (advance_plan.h). So where there is
 * one, Jobs are parted by their LocalQueue and their user.
 */
#include "base/instant.h"
#include "queue/core/admit/nominee.h"
#include "queue/core/model/state.h"
#include "queue/core/model/reservation.h"
#include "queue/features/bookings/advance_plan.h"
#include "queue/core/admit/backfill_heads.h"
#include "queue/core/model/kept_start.h"
#include "queue/features/money/booked_start.h"
#include "queue/core/model/feature.h"
#include "sluice/quantity.h"

static bool bookings_concern(struct queue *q, struct clusterqueue *cq)
{
	(void)q;
	return cq->cohort_tree && cq->cohort_tree->plans;
}

static bool has_bookings(struct queue *q, const struct clusterqueue *cq)
{
	return quota_plan_has_bookings(&q->quota_plan, cq->node);
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
	bool fits = advance_has_room(q, PLAN_ALL, w->lq, w->user, lines, q->now_ms, until_ms);
	quota_plan_put_back(&q->quota_plan, own);
	quota_plan_put_back(&q->quota_plan, kept);
	return fits;
}

/* Tells whether what a run holds is kept for others when it goes: it may use something that w may
 * not. */
static bool leaves_to_others(
	const struct reservation *r, const struct workload *w, int64_t now_ms, int64_t until_ms)
{
	list_each_entry(&r->cq->reserved, const struct advance_reservation, a, of_clusterqueue)
		if (advance_is_in_time(a, now_ms, until_ms) &&
			advance_usable_by(a, r->lq, r->user) &&
			(w->lq->cq != r->cq || !advance_usable_by(a, w->lq, w->user)))
			return true;
	return false;
}

static void set_victims_aside(
	struct queue *q, const struct proposal *a, int64_t until_ms, bool aside)
{
	for (size_t i = 0; i < a->nvictims; i++) {
		const struct reservation *r = a->victim[i].reservation;
		if (!aside)
			quota_plan_put_back(&q->quota_plan, r->booking);
		else if (r->cq && !leaves_to_others(r, a->nominee->w, q->now_ms, until_ms))
			quota_plan_set_aside(&q->quota_plan, r->booking);
	}
}

/* Beside runs that go on and what others have reserved. */
static bool overlaps_nothing_firm(
	struct queue *q, const struct proposal *a, struct booking_lines lines, int64_t until_ms)
{
	const struct workload *w = a->nominee->w;
	set_victims_aside(q, a, until_ms, true);
	bool fits = advance_has_room(q, PLAN_FIRM, w->lq, w->user, lines, q->now_ms, until_ms);
	set_victims_aside(q, a, until_ms, false);
	return fits;
}

/* All of it may be used just now, so that nothing of it is booked. */
static bool is_anything_reserved(const struct queue *q)
{
	return q->advance_reservations->nbooked > 0;
}

/* By one that is open. Then it starts, whatever other Jobs have booked. */
static bool is_kept_for_it(struct queue *q, const struct nominee *e, struct booking_lines lines)
{
	return advance_is_open(e->cq) && advance_covers(q, e->w->lq, e->w->user, lines);
}

/* Returns whether the nominee borrows nothing, where another ClusterQueue's head has booked
 * that. */
static bool is_its_own(
	struct queue *q, const struct nominee *e, struct booking_lines lines, int64_t until_ms)
{
	const struct booking *b = quota_plan_in_the_way(&q->quota_plan, lines, q->now_ms, until_ms);
	const struct workload *other = b ? queue_find_workload(q, &b->who) : NULL;
	return e->choice.level == 0 && other && other->group && other->group->cq != e->cq &&
	       backfills_several_heads(other->group->cq);
}

/* Until then it must overlap nothing. One of unknown duration never passes a head of Backfill,
 * unless its own booked time has come. */
static int64_t overlaps_until_ms(const struct queue *q, const struct nominee *e)
{
	const struct booking *kept = kept_start_of(q, e->w);
	bool passes = backfills_several_heads(e->cq) && !(kept && kept->from_ms <= q->now_ms);
	if (e->w->expected_ms <= 0 && passes)
		return INT64_MAX;
	return quantity_add(q->now_ms, plan_lasts_ms(e->w->expected_ms));
}

/* Where it overlaps what is firm. In a queue with several heads the walk books (backfill_heads.h). */
static void book_behind_firm(
	struct queue *q, const struct nominee *e, struct booking_lines lines, int64_t lasts_ms)
{
	if (e->verdict == ASSIGN_FITS && !backfills_several_heads(e->cq) &&
		!kept_start_stands(q, e->w, lines, lasts_ms))
		kept_start_book(q, e->w, lines, lasts_ms);
}

static bool bookings_choice_may(struct queue *q, const struct proposal *a)
{
	const struct nominee *e = a->nominee;
	struct wanted_lines x;
	advance_refresh(q);
	if (!has_bookings(q, e->cq))
		return true;
	int64_t lasts_ms = plan_lasts_ms(e->w->expected_ms);
	lines_of(e, &x);
	if (is_anything_reserved(q) &&
		!overlaps_nothing_firm(q, a, x.lines, quantity_add(q->now_ms, lasts_ms))) {
		book_behind_firm(q, e, x.lines, lasts_ms);
		return false;
	}
	if (e->verdict != ASSIGN_FITS || a->nvictims > 0 || is_kept_for_it(q, e, x.lines))
		return true;
	int64_t until_ms = overlaps_until_ms(q, e);
	if (overlaps_nothing(q, e->w, x.lines, until_ms) || is_its_own(q, e, x.lines, until_ms))
		return true;
	if (backfills_several_heads(e->cq))
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
	advance_refresh(q);
	if (!r->cq || !has_bookings(q, r->cq) || !r->booking)
		return more;
	for (size_t i = 0; i < r->nlines && n < QUEUE_LINES_MAX; i++)
		line[n++] = (struct booking_line){r->line[i].row, reservation_more(r, i, more)};
	int64_t until_ms = backfills_several_heads(r->cq) && r->w->expected_ms <= 0
				   ? INT64_MAX
				   : r->booking->until_ms;
	return advance_has_room(q, PLAN_ALL, r->lq, r->user, (struct booking_lines){line, n},
		       q->now_ms, until_ms)
		       ? more
		       : 0;
}

/* Some of its victims may hold what is reserved, or be expected to run into it. */
static bool bookings_look_at_victims(const struct queue *q, const struct nominee *e)
{
	return is_anything_reserved(q) && e->cq->cohort_tree->plans;
}

/* Of a promise that was made before something was reserved: is there still time for it? */
static bool bookings_promise_may(struct queue *q, struct reservation *r)
{
	struct booking *own = r->booking;
	advance_refresh(q);
	if (!own || !is_anything_reserved(q) || !has_bookings(q, r->cq))
		return true;
	quota_plan_set_aside(&q->quota_plan, own);
	bool fits = advance_has_room(q, PLAN_FIRM, r->lq, r->user,
		(struct booking_lines){own->line, own->nlines}, q->now_ms, own->until_ms);
	quota_plan_put_back(&q->quota_plan, own);
	return fits;
}

static void bookings_parts(const struct workload *w, struct parting *p)
{
	if (!w->lq->cq || list_empty(&w->lq->cq->reserved))
		return;
	parting_add(p, w->lq, w->lq->name);
	parting_add(p, w->user, w->user->name);
}

/* Says that the Job waits for what somebody has reserved, by what it wanted when it was asked last.
 * False: it does not. */
static bool say_reserved(struct question *a, const struct booking *kept)
{
	struct queue *q = (struct queue *)(uintptr_t)a->q; /* profiles are made right first */
	struct booking_lines lines = {kept->line, kept->nlines};
	int64_t lasts_ms = plan_lasts_ms(a->w->expected_ms);
	int64_t until_ms = quantity_add(a->now_ms, lasts_ms);
	if (advance_has_room(q, PLAN_FIRM, a->w->lq, a->w->user, lines, a->now_ms, until_ms))
		return false;
	const struct booking *b =
		advance_in_the_way(q, a->w->lq, a->w->user, lines, a->now_ms, until_ms);
	const struct advance_reservation *x = advance_reservation_of(q, b);
	if (!x)
		return false;
	text_add(a->text, "the Job fits now, but AdvanceReservation %s keeps ", x->object.name);
	for (size_t i = 0; i < b->nlines; i++) {
		text_add(a->text, "%s", i > 0 ? ", " : "");
		text_add_amount(a->text, b->line[i].amount, b->line[i].row->resource);
		text_add(a->text, " of flavor %s", b->line[i].row->flavor);
	}
	text_add(a->text, " from %s until %s", instant_seconds(b->from_ms).s,
		instant_seconds(b->until_ms).s);
	if (b->from_ms > a->now_ms)
		text_add(a->text,
			"; this Job is expected to run into that time, and only one that ends before may start");
	return true;
}

static bool fits_now(const struct question *a)
{
	return a->w->place == PLACE_READY && plain_fit_now(a->cq, a->claim) == ASSIGN_FITS;
}

/* Backfill with several heads: would it run into a booking that is none of theirs? Of heads explain.c
 * tells. */
static bool is_kept_by_others(const struct question *a)
{
	struct queue *q = (struct queue *)(uintptr_t)a->q; /* as it was afterwards */
	const struct kept_start *head;
	if (!fits_now(a))
		return false;
	int64_t until_ms = backfill_heads_room_until(q, a->w, &head);
	int64_t ends_ms =
		a->w->expected_ms > 0 ? quantity_add(q->now_ms, a->w->expected_ms) : INT64_MAX;
	return !head && until_ms > 0 && until_ms < ends_ms;
}

static void say_unknown_duration(struct question *a)
{
	if (a->w->expected_ms <= 0)
		text_add(a->text,
			" (this Job has no annotation sluice.dev/expected-duration, so an hour is planned for it)");
}

static enum wait_reason bookings_explain(struct question *a)
{
	const struct booking *b = kept_start_of(a->q, a->w);
	/* A booked Job may have come to wait for quota; a head of Backfill is booked while it
	 * does. */
	bool fits = b && fits_now(a);
	if (fits && is_anything_reserved(a->q) && say_reserved(a, b)) {
		a->not_before_ms = b->from_ms > a->now_ms ? b->from_ms : 0;
		say_unknown_duration(a);
		return WAIT_RESERVED;
	}
	if (backfills_several_heads(a->cq) ? !is_kept_by_others(a) : !fits)
		return WAIT_NOT;
	text_add(a->text, "the Job fits now, but would overlap starts that other Jobs have booked");
	if (b)
		text_add(a->text, "; it has booked %s, and starts earlier if it overlaps none",
			instant_seconds(b->from_ms).s);
	say_unknown_duration(a);
	return WAIT_BEHIND;
}

/* Is all of it kept for its owner, by an AdvanceReservation that is open? It is in no other's way. */
static bool bookings_keep_for(struct queue *q, const struct nominee *e)
{
	struct wanted_lines x;
	if (e->verdict != ASSIGN_FITS || !advance_is_open(e->cq))
		return false;
	lines_of(e, &x);
	return advance_covers(q, e->w->lq, e->w->user, x.lines);
}

const struct feature bookings_feature = {
	.concerns = bookings_concern,
	.choice_may = bookings_choice_may,
	.parts = bookings_parts,
	.looks_at_victims = bookings_look_at_victims,
	.promise_may = bookings_promise_may,
	.looks_at_duration = bookings_look_at_duration,
	.growth_pods = bookings_growth_pods,
	.growth_refused = "it would overlap starts that other Jobs have booked",
	.explain = bookings_explain,
	.after = {[RUN_BOOKED] = advance_run_booked},
	.before = {[RUN_UNBOOKED] = advance_run_unbooked},
	.plan_asked = advance_refresh,
	.keeps_some = advance_is_open,
	.keeps_for = bookings_keep_for,
};
