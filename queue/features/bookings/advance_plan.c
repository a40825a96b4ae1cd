#include "queue/features/bookings/advance_plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "queue/core/model/state.h"
#include "queue/core/model/reservation.h"
#include "sluice/quantity.h"

#define INTERVALS_MAX 128 /* of a question; a Job that lasts longer is asked for all of the rest */

/* ---- What is kept ---- */

void advance_kept(const struct advance_reservation *a, const struct advance_window *w,
	int64_t at_ms, int64_t *ret_amounts, int64_t *ret_until_ms)
{
	*ret_until_ms = w->until_ms;
	for (size_t i = 0; i < a->nrows; i++) {
		struct advance_row *x = &a->row[i];
		int64_t left = advance_row_left(a, w, x);
		bool usable = a->cq && !a->spec.maintenance;
		ret_amounts[i] =
			left - (usable ? advance_used(a, x, left, at_ms, ret_until_ms) : 0);
	}
}

struct span {
	int64_t from_ms, until_ms;
	int64_t *amount; /* of each row */
};

/* The window in spans of equal amounts, at most ADVANCE_PIECES_MAX. The last takes in all others, and
 * keeps the most of them. */
static size_t spans_of(const struct advance_reservation *a, const struct advance_window *w,
	struct span *span, int64_t *amounts)
{
	size_t n = 0, bytes = a->nrows * sizeof(*amounts);
	int64_t end_ms;
	for (int64_t at_ms = w->from_ms; at_ms < w->until_ms; at_ms = end_ms) {
		int64_t *own = amounts + n * a->nrows;
		advance_kept(a, w, at_ms, own, &end_ms);
		if (n > 0 && memcmp(own, span[n - 1].amount, bytes) == 0) {
			span[n - 1].until_ms = end_ms;
		} else if (n < ADVANCE_PIECES_MAX) {
			span[n++] = (struct span){at_ms, end_ms, own};
		} else {
			int64_t *last = span[n - 1].amount;
			for (size_t i = 0; i < a->nrows; i++)
				last[i] = own[i] > last[i] ? own[i] : last[i];
			span[n - 1].until_ms = end_ms;
		}
	}
	return n;
}

/* ---- Booking ---- */

/* The lines of one node from row i on; *ret_next: behind them. */
static struct booking_lines lines_of_node(const struct advance_reservation *a,
	const int64_t *amount, size_t i, struct booking_line *line, size_t *ret_next)
{
	size_t n = 0;
	const struct quota_node *node = a->row[i].row->node;
	for (; i < a->nrows && a->row[i].row->node == node; i++)
		if (amount[i] > 0)
			line[n++] = (struct booking_line){a->row[i].row, amount[i]};
	*ret_next = i;
	return (struct booking_lines){line, n};
}

/* A piece that was booked so already is kept. */
static struct booking *piece_of(struct queue *q, struct advance_reservation *a,
	struct advance_window *old, const struct span *s, struct booking_lines lines)
{
	for (size_t i = 0; i < old->npieces; i++) {
		struct booking *b = old->piece[i];
		if (b && booking_is(b, lines, s->from_ms, s->until_ms)) {
			old->piece[i] = NULL;
			return b;
		}
	}
	return quota_plan_book(
		&q->quota_plan, BOOKING_ADVANCE, &a->spec.uid, lines, s->from_ms, s->until_ms);
}

/* False: there is no room, or the plan is full. What was booked so far is in w. */
static bool span_book(struct queue *q, struct advance_reservation *a, struct advance_window *w,
	struct advance_window *old, const struct span *s, bool asks)
{
	struct booking_line *line = mem_array(a->nrows, sizeof(*line));
	bool fits = true;
	for (size_t i = 0; fits && i < a->nrows;) {
		struct booking_lines lines = lines_of_node(a, s->amount, i, line, &i);
		if (lines.n == 0)
			continue;
		int64_t from_ms = s->from_ms > q->now_ms ? s->from_ms : q->now_ms;
		fits = !asks || from_ms >= s->until_ms ||
		       quota_plan_has_room_in(
			       &q->quota_plan, PLAN_FIRM, lines, from_ms, s->until_ms);
		struct booking *b = fits ? piece_of(q, a, old, s, lines) : NULL;
		if (b) {
			w->piece = mem_grow(w->piece, w->npieces + 1, sizeof(struct booking *));
			w->piece[w->npieces++] = b;
		}
		fits = b || (fits && !asks);
	}
	free(line);
	return fits;
}

static bool window_book(
	struct queue *q, struct advance_reservation *a, struct advance_window *w, bool asks)
{
	struct span span[ADVANCE_PIECES_MAX];
	int64_t *amounts = mem_array((ADVANCE_PIECES_MAX + 1) * (a->nrows + 1), sizeof(*amounts));
	struct advance_window old = *w;
	size_t n = a->nrows > 0 ? spans_of(a, w, span, amounts) : 0;
	bool fits = true;
	w->piece = NULL;
	w->npieces = 0;
	for (size_t i = 0; fits && i < n; i++)
		fits = span_book(q, a, w, &old, &span[i], asks);
	advance_window_unbook(q, &old);
	free(amounts);
	return fits;
}

bool advance_book(struct queue *q, struct advance_reservation *a, bool asks, size_t *ret_window)
{
	a->stale_from_ms = a->stale_until_ms = 0;
	for (size_t i = 0; i < a->nwindows; i++)
		if (!window_book(q, a, &a->window[i], asks) && asks) {
			*ret_window = i;
			advance_unbook(q, a);
			return false;
		}
	return true;
}

/* ---- Runs that may use it ---- */

static void stale(struct queue *q, struct advance_reservation *a, int64_t from_ms, int64_t until_ms)
{
	bool fresh = a->stale_from_ms >= a->stale_until_ms;
	if (fresh || from_ms < a->stale_from_ms)
		a->stale_from_ms = from_ms;
	if (fresh || until_ms > a->stale_until_ms)
		a->stale_until_ms = until_ms;
	q->advance_reservations->stale = true;
}

void advance_stale(struct queue *q, struct clusterqueue *cq, int64_t from_ms, int64_t until_ms)
{
	list_each_entry(&cq->reserved, struct advance_reservation, a, of_clusterqueue)
		stale(q, a, from_ms, until_ms);
}

static void count(struct queue *q, struct reservation *r, int times)
{
	if (!r->cq || list_empty(&r->cq->reserved))
		return;
	advance_users_count(r, times, q->now_ms);
	list_each_entry(&r->cq->reserved, struct advance_reservation, a, of_clusterqueue) {
		if (!advance_users_concern(r, a))
			continue;
		stale(q, a, r->booking->from_ms, r->booking->until_ms);
		/* it keeps now what the run used */
		q->advance_reservations->clears |= a->open && times < 0;
	}
}

void advance_run_booked(struct queue *q, struct reservation *r)
{
	count(q, r, 1);
}

void advance_run_unbooked(struct queue *q, struct reservation *r)
{
	count(q, r, -1);
}

/* Moves the ClusterQueue's Jobs that stand at `from`. They are parted by who submitted them, so
 * they leave their groups and join others. */
static void members_move(struct queue *q, struct clusterqueue *cq, enum workload_place from,
	void (*move)(struct queue *q, struct workload *w))
{
	list_each_entry(&cq->localqueues, struct localqueue, lq, of_clusterqueue) {
		list_each_entry(&lq->members, struct workload, w, of_localqueue)
			if (w->place == from)
				move(q, w);
	}
}

/* In the order of creation, whenever they were accepted. */
static struct link *first_after(struct clusterqueue *cq, const struct advance_reservation *a)
{
	struct link *l = cq->reserved.next;
	while (l != &cq->reserved &&
		advance_reservation_cmp(
			container_of(l, struct advance_reservation, of_clusterqueue), a) <= 0)
		l = l->next;
	return l;
}

void advance_join(struct queue *q, struct advance_reservation *a)
{
	struct clusterqueue *cq = a->cq;
	if (!cq || a->spec.maintenance)
		return;
	members_move(q, cq, PLACE_READY, workload_unplace);
	list_add(first_after(cq, a), &a->of_clusterqueue);
	advance_users_anew(cq, a, q->now_ms);
	advance_stale(q, cq, INT64_MIN, INT64_MAX);
	features_edited(q);
	members_move(q, cq, PLACE_NOWHERE, workload_place);
}

void advance_leave(struct queue *q, struct advance_reservation *a)
{
	if (!list_in(&a->of_clusterqueue)) {
		if (a->cq && !a->spec.maintenance) /* it was judged */
			advance_users_anew(a->cq, NULL, q->now_ms);
		return;
	}
	members_move(q, a->cq, PLACE_READY, workload_unplace);
	list_leave(&a->of_clusterqueue);
	advance_users_anew(a->cq, NULL, q->now_ms);
	advance_stale(q, a->cq, INT64_MIN, INT64_MAX);
	features_edited(q);
	members_move(q, a->cq, PLACE_NOWHERE, workload_place);
}

static void refresh(struct queue *q, struct advance_reservation *a)
{
	for (size_t i = 0; i < a->nwindows; i++) {
		struct advance_window *w = &a->window[i];
		if (w->from_ms < a->stale_until_ms && w->until_ms > a->stale_from_ms)
			window_book(q, a, w, false);
	}
	a->stale_from_ms = a->stale_until_ms = 0;
}

void advance_refresh(struct queue *q)
{
	if (!q->advance_reservations->stale)
		return;
	q->advance_reservations->stale = false;
	struct advance_reservation *a = advance_reservation_first(q);
	for (; a; a = advance_reservation_next(a))
		if (a->booked && a->stale_from_ms < a->stale_until_ms)
			refresh(q, a);
}

/* ---- Questions ---- */

/* Takes what the window keeps at that moment off the lines. *until_ms: lowered to when that
 * changes. */
static void lower(const struct advance_window *w, int64_t at_ms, struct booking_line *line,
	size_t n, int64_t *until_ms)
{
	for (size_t i = 0; i < w->npieces; i++) {
		const struct booking *b = w->piece[i];
		int64_t change_ms = at_ms < b->from_ms ? b->from_ms : b->until_ms;
		if (b->until_ms <= at_ms)
			continue;
		*until_ms = change_ms < *until_ms ? change_ms : *until_ms;
		if (b->from_ms > at_ms)
			return;
		for (size_t k = 0; k < b->nlines; k++)
			for (size_t m = 0; m < n; m++)
				if (line[m].row == b->line[k].row) {
					int64_t rest = line[m].amount - b->line[k].amount;
					line[m].amount = rest > 0 ? rest : 0;
				}
	}
}

/* All that may be used take their part; returns until when it is the same. */
static int64_t lower_all(const struct localqueue *lq, const struct user *user, int64_t at_ms,
	int64_t until_ms, struct booking_line *line, size_t n)
{
	list_each_entry(&lq->cq->reserved, const struct advance_reservation, a, of_clusterqueue) {
		if (!advance_usable_by(a, lq, user))
			continue;
		for (size_t i = 0; i < a->nwindows && a->window[i].from_ms < until_ms; i++)
			if (a->window[i].until_ms > at_ms)
				lower(&a->window[i], at_ms, line, n, &until_ms);
	}
	return until_ms;
}

/* Do AdvanceReservations alone not fit beside each other in its next window? Then quota was lowered. */
static bool is_crowded(struct queue *q, struct advance_reservation *a)
{
	struct advance_misfit ignored;
	if (a->crowded_as_of != q->counters.version)
		a->crowded = !advance_fits_alone(q, a, &ignored);
	a->crowded_as_of = q->counters.version;
	return a->crowded;
}

/* Returns the last of those that keep these lines for the Job now, in the order of creation; NULL:
 * none is open. */
static struct advance_reservation *last_that_keeps(const struct queue *q,
	const struct localqueue *lq, const struct user *user, struct booking_lines lines)
{
	struct booking_line line[QUEUE_LINES_MAX];
	struct advance_reservation *last = NULL;
	int64_t wanted = 1;
	memcpy(line, lines.line, lines.n * sizeof(*line));
	list_each_entry(&lq->cq->reserved, struct advance_reservation, a, of_clusterqueue) {
		int64_t until_ms = INT64_MAX;
		if (wanted == 0 || !a->open || a->nwindows == 0 || !advance_usable_by(a, lq, user))
			continue;
		lower(&a->window[0], q->now_ms, line, lines.n, &until_ms);
		last = a;
		wanted = 0;
		for (size_t i = 0; i < lines.n; i++)
			wanted |= line[i].amount;
	}
	return last;
}

/* A question that a Job asks of what is reserved: for lines of one node, in a span of time. */
struct asked {
	const struct localqueue *lq;
	const struct user *user;
	struct booking_lines lines;
	int64_t from_ms, until_ms;
	/* The last that keeps them for the Job, where quota was lowered below what several keep:
	 * the older ones would stop the Job, and have what there is. NULL: all have what they keep. */
	const struct advance_reservation *crowded;
};

/* Returns the last that the Job may use in that time and that has not all that it keeps; NULL:
 * there is none. */
static struct advance_reservation *last_crowded(struct queue *q, const struct localqueue *lq,
	const struct user *user, int64_t from_ms, int64_t until_ms)
{
	struct advance_reservation *last = NULL;
	list_each_entry(&lq->cq->reserved, struct advance_reservation, a, of_clusterqueue)
		if (!a->open && advance_is_in_time(a, from_ms, until_ms) &&
			advance_usable_by(a, lq, user) && is_crowded(q, a))
			last = a;
	return last;
}

static struct asked ask_for(struct queue *q, const struct localqueue *lq, const struct user *user,
	struct booking_lines lines, int64_t from_ms, int64_t until_ms)
{
	struct advance_reservation *own = last_that_keeps(q, lq, user, lines);
	if (!own || !is_crowded(q, own))
		own = last_crowded(q, lq, user, from_ms, until_ms);
	return (struct asked){lq, user, lines, from_ms, until_ms, own};
}

static bool is_in_its_way(const struct asked *x, const struct advance_reservation *a)
{
	if (a->cq == x->lq->cq && advance_usable_by(a, x->lq, x->user))
		return false;
	return !x->crowded || advance_reservation_cmp(a, x->crowded) < 0;
}

static bool is_asked_of(const struct asked *x, const struct booking *b)
{
	return b->root == quota_root(x->lines.line[0].row->node) && b->from_ms < x->until_ms &&
	       b->until_ms > x->from_ms;
}

/* Does that to each piece of what is kept by AdvanceReservations that are not in the Job's way, its
 * own among them. */
static void each_harmless_piece(struct queue *q, const struct asked *x,
	void (*does)(struct quota_plan *p, struct booking *b))
{
	struct advance_reservation *a = advance_reservation_first(q);
	for (; a; a = advance_reservation_next(a)) {
		if (is_in_its_way(x, a))
			continue;
		for (size_t i = 0; i < a->nwindows && a->window[i].from_ms < x->until_ms; i++)
			for (size_t k = 0; k < a->window[i].npieces; k++)
				if (is_asked_of(x, a->window[i].piece[k]))
					does(&q->quota_plan, a->window[i].piece[k]);
	}
}

static bool has_room_beside_older(struct queue *q, const struct asked *x)
{
	if (!x->crowded)
		return true;
	each_harmless_piece(q, x, quota_plan_set_aside);
	bool fits = quota_plan_has_room_in(
		&q->quota_plan, PLAN_FIRM, x->lines, x->from_ms, x->until_ms);
	each_harmless_piece(q, x, quota_plan_put_back);
	return fits;
}

const struct booking *advance_in_the_way(struct queue *q, const struct localqueue *lq,
	const struct user *user, struct booking_lines lines, int64_t from_ms, int64_t until_ms)
{
	if (!lq->cq || list_empty(&lq->cq->reserved) || lines.n == 0)
		return quota_plan_reserved_in_the_way(&q->quota_plan, lines, from_ms, until_ms);
	const struct asked x = ask_for(q, lq, user, lines, from_ms, until_ms);
	each_harmless_piece(q, &x, quota_plan_set_aside);
	const struct booking *b =
		quota_plan_reserved_in_the_way(&q->quota_plan, lines, from_ms, until_ms);
	each_harmless_piece(q, &x, quota_plan_put_back);
	return b;
}

bool advance_has_room(struct queue *q, enum plan_layer layer, const struct localqueue *lq,
	const struct user *user, struct booking_lines lines, int64_t from_ms, int64_t until_ms)
{
	struct booking_line line[QUEUE_LINES_MAX];
	advance_refresh(q);
	if (quota_plan_has_room_in(&q->quota_plan, layer, lines, from_ms, until_ms))
		return true;
	if (!lq->cq || list_empty(&lq->cq->reserved))
		return false;
	const struct asked x = ask_for(q, lq, user, lines, from_ms, until_ms);
	if (!has_room_beside_older(q, &x))
		return false;
	for (int i = 0; from_ms < until_ms; i++) {
		memcpy(line, lines.line, lines.n * sizeof(*line));
		int64_t end_ms = i < INTERVALS_MAX
					 ? lower_all(lq, user, from_ms, until_ms, line, lines.n)
					 : until_ms;
		if (!quota_plan_has_room_in(&q->quota_plan, layer,
			    (struct booking_lines){line, lines.n}, from_ms, end_ms))
			return false;
		from_ms = end_ms;
	}
	return true;
}

bool advance_covers(struct queue *q, const struct localqueue *lq, const struct user *user,
	struct booking_lines lines)
{
	struct booking_line line[QUEUE_LINES_MAX];
	bool covered = lines.n > 0;
	if (!lq->cq || list_empty(&lq->cq->reserved))
		return false;
	advance_refresh(q);
	memcpy(line, lines.line, lines.n * sizeof(*line));
	lower_all(lq, user, q->now_ms, q->now_ms + 1, line, lines.n);
	for (size_t i = 0; i < lines.n; i++)
		covered = covered && line[i].amount == 0;
	return covered;
}

bool advance_is_in_time(const struct advance_reservation *a, int64_t from_ms, int64_t until_ms)
{
	for (size_t i = 0; i < a->nwindows; i++)
		if (a->window[i].from_ms < until_ms && a->window[i].until_ms > from_ms)
			return true;
	return false;
}

bool advance_is_open(const struct clusterqueue *cq)
{
	list_each_entry(&cq->reserved, const struct advance_reservation, a, of_clusterqueue)
		if (a->open)
			return true;
	return false;
}

/* ---- Has it its quota? ---- */

static const struct quota_row *top_of(const struct quota_row *row)
{
	while (row->up)
		row = row->up;
	return row;
}

/* Counts, as often as that (1 or -1), what it keeps at that moment of the tree below `top`. False:
 * it keeps nothing there. */
static bool suppose(const struct advance_reservation *a, const struct quota_row *top, int64_t at_ms,
	int times, __int128 *kept)
{
	bool any = false;
	for (size_t w = 0; w < a->nwindows && a->window[w].from_ms <= at_ms; w++)
		for (size_t i = 0; at_ms < a->window[w].until_ms && i < a->nrows; i++) {
			int64_t amount = advance_row_left(a, &a->window[w], &a->row[i]);
			if (top_of(a->row[i].row) != top)
				continue;
			(times > 0 ? quota_take : quota_give)(
				a->row[i].row, QUOTA_SUPPOSED, amount);
			*kept += times * amount;
			any = true;
		}
	return any;
}

/* Counts so what all that are booked keep; returns how many keep something. */
static size_t suppose_all(const struct queue *q, const struct quota_row *top, int64_t at_ms,
	int times, __int128 *kept)
{
	size_t n = 0;
	const struct advance_reservation *a = advance_reservation_first(q);
	for (; a; a = advance_reservation_next(a))
		n += a->booked && suppose(a, top, at_ms, times, kept);
	return n;
}

static bool fits_at(const struct queue *q, const struct quota_row *row, int64_t at_ms,
	struct advance_misfit *ret)
{
	__int128 kept = 0;
	size_t keep = suppose_all(q, top_of(row), at_ms, 1, &kept);
	__int128 left = quota_free(row, QUOTA_SUPPOSED);
	if (left < 0)
		*ret = (struct advance_misfit){row, kept, kept + left, keep > 1};
	suppose_all(q, top_of(row), at_ms, -1, &kept);
	return left >= 0;
}

static bool row_fits(const struct queue *q, const struct advance_reservation *a,
	const struct quota_row *row, struct advance_misfit *ret)
{
	const struct advance_window *own = &a->window[0];
	int64_t from_ms = own->from_ms > q->now_ms ? own->from_ms : q->now_ms;
	if (!fits_at(q, row, from_ms, ret))
		return false;
	const struct advance_reservation *o = advance_reservation_first(q);
	for (; o; o = advance_reservation_next(o))
		for (size_t w = 0; o != a && w < o->nwindows; w++) {
			int64_t at_ms = o->window[w].from_ms;
			if (at_ms >= own->until_ms)
				break;
			if (at_ms > from_ms && !fits_at(q, row, at_ms, ret))
				return false;
		}
	return true;
}

bool advance_fits_alone(
	const struct queue *q, const struct advance_reservation *a, struct advance_misfit *ret)
{
	for (size_t i = 0; a->nwindows > 0 && i < a->nrows; i++)
		if (!row_fits(q, a, a->row[i].row, ret))
			return false;
	return true;
}

/* Each row is taken when it was found, so that the next one does not count on it. */
bool advance_has_quota(const struct advance_reservation *a)
{
	size_t n = 0;
	int64_t until_ms;
	if (!a->open || a->nwindows == 0)
		return true;
	int64_t *kept = mem_array(a->nrows, sizeof(*kept));
	advance_kept(a, &a->window[0], ADVANCE_PRESENT, kept, &until_ms);
	for (; n < a->nrows && quota_has(a->row[n].row, QUOTA_NOW, kept[n]); n++)
		quota_take(a->row[n].row, QUOTA_NOW, kept[n]);
	for (size_t i = 0; i < n; i++)
		quota_give(a->row[i].row, QUOTA_NOW, kept[i]);
	free(kept);
	return n == a->nrows;
}
