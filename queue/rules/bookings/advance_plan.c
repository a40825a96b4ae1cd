#include "queue/rules/bookings/advance_plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "queue/core.h"
#include "queue/model/reservation.h"
#include "sluice/quantity.h"

#define INTERVALS_MAX 128 /* of a question; a Job that lasts longer is asked for all of the rest */

/* ---- Rows ---- */

static void row_add(struct advance_reservation *a, struct quota_row *row, int64_t amount)
{
	if (amount <= 0)
		return;
	a->row = mem_grow(a->row, a->nrows + 1, sizeof(*a->row));
	struct advance_row *x = &a->row[a->nrows++];
	*x = (struct advance_row){.row = row, .amount = amount, .left = amount};
	profile_init(&x->held);
}

void advance_rows_free(struct advance_reservation *a)
{
	for (size_t i = 0; i < a->nrows; i++)
		profile_done(&a->row[i].held);
	free(a->row);
	a->row = NULL;
	a->nrows = 0;
}

/* What the node itself has, whatever a window or a lead makes of it now. Of a lent flavor: its part. */
static int64_t own_quota(const struct quota_row *row)
{
	bool lent = row->flavor_pool->lent != LENDING_NONE;
	return !row->in_spec ? 0 : lent ? row->nominal : row->said.nominal;
}

static int row_order(const void *a, const void *b)
{
	const struct quota_row *x = *(struct quota_row *const *)a;
	const struct quota_row *y = *(struct quota_row *const *)b;
	int order = strcmp(x->node->name, y->node->name);
	if (order == 0)
		order = strcmp(x->flavor, y->flavor);
	return order ? order : strcmp(x->resource, y->resource);
}

/* All rows of the flavor with quota of their own. */
static void rows_of_flavor(struct queue *q, struct advance_reservation *a, const char *flavor)
{
	size_t n = 0;
	struct quota_row *row, **all = mem_array(q->quota.rows.count, sizeof(struct quota_row *));
	map_each(&q->quota.rows, i, row)
		if (strcmp(row->flavor, flavor) == 0 && own_quota(row) > 0)
			all[n++] = row;
	if (n > 1)
		qsort(all, n, sizeof(struct quota_row *), row_order);
	for (size_t i = 0; i < n; i++)
		row_add(a, all[i], own_quota(all[i]));
	free(all);
}

static int by_node(const void *a, const void *b)
{
	const struct advance_row *x = a, *y = b;
	const struct quota_row *p = x->row, *r = y->row;
	return row_order(&p, &r);
}

static bool say_no_flavor(struct advance_reservation *a, const struct advance_amount *x)
{
	struct text t = text_over(a->message, sizeof(a->message));
	if (*a->spec.clusterqueue)
		text_add(&t, "ClusterQueue %s has no quota of ", a->spec.clusterqueue);
	else
		text_add(&t, "no ClusterQueue has quota of ");
	if (*x->resource)
		text_add(&t, "%s in ", x->resource);
	text_add(&t, "flavor %s; correct spec.flavors, or add it there", x->flavor);
	return false;
}

static bool rows_of_all(struct queue *q, struct advance_reservation *a)
{
	bool found = true;
	for (size_t i = 0; i < a->spec.namounts; i++) {
		size_t before = a->nrows;
		rows_of_flavor(q, a, a->spec.amount[i].flavor);
		if (a->nrows == before && found)
			found = say_no_flavor(a, &a->spec.amount[i]);
	}
	if (a->nrows > 1)
		qsort(a->row, a->nrows, sizeof(*a->row), by_node);
	return found;
}

/* Of one amount: the resource, or each of the flavor. */
static void rows_of_amount(struct advance_reservation *a, const struct clusterqueue *cq,
	const struct advance_amount *x)
{
	for (size_t g = 0; g < cq->spec.ngroups; g++) {
		const struct resource_group *rg = &cq->spec.groups[g];
		for (size_t f = 0; f < rg->nflavors; f++)
			for (size_t r = 0; r < rg->nresources; r++) {
				struct quota_row *row = rg->row[f * rg->nresources + r];
				bool own = !*x->resource;
				if (strcmp(row->flavor, x->flavor) == 0 &&
					(own || strcmp(row->resource, x->resource) == 0))
					row_add(a, row, own ? own_quota(row) : x->amount);
			}
	}
}

bool advance_rows_find(struct queue *q, struct advance_reservation *a, const char **ret_reason)
{
	bool found = true;
	advance_rows_free(a);
	*ret_reason = "FlavorNotFound";
	if (!*a->spec.clusterqueue)
		return rows_of_all(q, a);
	const struct clusterqueue *cq = clusterqueue_find(&q->clusterqueues, a->spec.clusterqueue);
	if (!cq || !cq->exists) {
		struct text t = text_over(a->message, sizeof(a->message));
		*ret_reason = "ClusterQueueNotFound";
		text_add(&t,
			"ClusterQueue %s does not exist; create it, or reserve in another one",
			a->spec.clusterqueue);
		return false;
	}
	for (size_t i = 0; i < a->spec.namounts; i++) {
		size_t before = a->nrows;
		rows_of_amount(a, cq, &a->spec.amount[i]);
		if (a->nrows == before && found)
			found = say_no_flavor(a, &a->spec.amount[i]);
	}
	return found;
}

/* ---- Windows ---- */

static void window_add(struct advance_reservation *a, int64_t from_ms, int64_t until_ms)
{
	a->window = mem_grow(a->window, a->nwindows + 1, sizeof(*a->window));
	a->window[a->nwindows++] = (struct advance_window){.from_ms = from_ms, .until_ms = until_ms};
}

static void pieces_drop(struct queue *q, struct advance_window *w)
{
	for (size_t i = 0; i < w->npieces; i++)
		quota_plan_unbook(&q->quota_plan, w->piece[i]);
	free(w->piece);
	w->piece = NULL;
	w->npieces = 0;
}

void advance_unbook(struct queue *q, struct advance_reservation *a)
{
	for (size_t i = 0; i < a->nwindows; i++)
		pieces_drop(q, &a->window[i]);
}

void advance_windows_free(struct queue *q, struct advance_reservation *a)
{
	advance_unbook(q, a);
	free(a->window);
	a->window = NULL;
	a->nwindows = 0;
}

static bool say(struct advance_reservation *a, const char *reason, const char *sentence)
{
	struct text t = text_over(a->message, sizeof(a->message));
	a->reason = reason;
	text_add(&t, "%s", sentence);
	return false;
}

static bool fixed_window(struct queue *q, struct advance_reservation *a)
{
	if (a->spec.until_ms <= q->now_ms)
		return say(a, "InThePast",
			"spec.until has passed; make another AdvanceReservation with a later time");
	if (a->spec.until_ms - q->now_ms > ADVANCE_AHEAD_MAX_MS)
		return say(a, "TooFarAhead",
			"spec.until is more than 366 days ahead; end it sooner, or make it later");
	window_add(a, a->spec.from_ms, a->spec.until_ms);
	return true;
}

/* A window that is open when the object is made begins then. So it begins at the same moment
 * whenever it is looked up. */
static bool calendar_windows(struct queue *q, struct advance_reservation *a)
{
	struct calendar *c = a->calendar_ref->calendar;
	int64_t last_ms = quantity_add(q->now_ms, ADVANCE_AHEAD_MAX_MS);
	int64_t at_ms = q->now_ms - ADVANCE_AHEAD_MAX_MS;
	if (!c)
		return say(a, "CalendarNotFound",
			"its Calendar does not exist or has no valid spec; create it, or make another AdvanceReservation");
	if (a->spec.created_ms > at_ms)
		at_ms = a->spec.created_ms < q->now_ms ? a->spec.created_ms : q->now_ms;
	bool open = calendar_at(c, at_ms).open;
	while (at_ms < last_ms) {
		int64_t change_ms = calendar_next_change(c, at_ms);
		int64_t end_ms = change_ms < last_ms ? change_ms : last_ms;
		if (open && end_ms > q->now_ms && a->nwindows == ADVANCE_WINDOWS_MAX)
			return say(a, "TooManyWindows",
				"its Calendar opens more than 1000 times within a year; take another Calendar, or reserve with from and until");
		if (open && end_ms > q->now_ms)
			window_add(a, at_ms, end_ms);
		open = !open;
		at_ms = change_ms;
	}
	if (a->nwindows == 0)
		return say(a, "NeverOpens", "its Calendar does not open within a year; correct the Calendar");
	return true;
}

bool advance_windows_find(struct queue *q, struct advance_reservation *a)
{
	advance_windows_free(q, a);
	a->rolled_ms = q->now_ms;
	return a->calendar_ref ? calendar_windows(q, a) : fixed_window(q, a);
}

/* ---- What is kept ---- */

void advance_kept(const struct advance_reservation *a, const struct advance_window *w,
	int64_t at_ms, int64_t *ret_amounts, int64_t *ret_until_ms)
{
	*ret_until_ms = w->until_ms;
	for (size_t i = 0; i < a->nrows; i++) {
		const struct advance_row *x = &a->row[i];
		struct profile_place place = {0, 0};
		int64_t end_ms;
		int64_t left = w->from_ms == a->left_from_ms ? x->left : x->amount;
		__int128 kept = left - profile_at(&x->held, &place, at_ms, &end_ms);
		ret_amounts[i] = kept > 0 ? (int64_t)kept : 0;
		*ret_until_ms = end_ms < *ret_until_ms ? end_ms : *ret_until_ms;
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

static bool span_same(const struct booking *b, const struct span *s, struct booking_lines lines)
{
	bool same = b->from_ms == s->from_ms && b->until_ms == s->until_ms && b->nlines == lines.n;
	for (size_t i = 0; same && i < lines.n; i++)
		same = b->line[i].row == lines.line[i].row &&
		       b->line[i].amount == lines.line[i].amount;
	return same;
}

/* A piece that was booked so already is kept. */
static struct booking *piece_of(struct queue *q, struct advance_reservation *a,
	struct advance_window *old, const struct span *s, struct booking_lines lines)
{
	for (size_t i = 0; i < old->npieces; i++) {
		struct booking *b = old->piece[i];
		if (b && span_same(b, s, lines)) {
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
	int64_t *amounts =
		mem_array((ADVANCE_PIECES_MAX + 1) * (a->nrows + 1), sizeof(*amounts));
	struct advance_window old = *w;
	size_t n = a->nrows > 0 ? spans_of(a, w, span, amounts) : 0;
	bool fits = true;
	w->piece = NULL;
	w->npieces = 0;
	for (size_t i = 0; fits && i < n; i++)
		fits = span_book(q, a, w, &old, &span[i], asks);
	pieces_drop(q, &old);
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

static bool is_among(const char *const *names, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return n == 0;
}

bool advance_usable_by(
	const struct advance_reservation *a, const struct localqueue *lq, const struct user *user)
{
	return !a->spec.maintenance &&
	       is_among(a->spec.namespaces, a->spec.nnamespaces, lq->ns->name) &&
	       is_among(a->spec.users, a->spec.nusers, user->name);
}

static void row_uses(struct queue *q, struct advance_row *x, const struct booking *b, int times)
{
	for (size_t i = 0; i < b->nlines; i++)
		if (b->line[i].row == x->row)
			profile_add(&x->held, b->from_ms, b->until_ms,
				(__int128)times * b->line[i].amount);
	struct profile_place place = {0, 0};
	int64_t end_ms;
	__int128 now = profile_at(&x->held, &place, q->now_ms, &end_ms);
	x->most = now > x->most ? now : x->most;
}

static void stale(struct queue *q, struct advance_reservation *a, int64_t from_ms, int64_t until_ms)
{
	bool fresh = a->stale_from_ms >= a->stale_until_ms;
	if (fresh || from_ms < a->stale_from_ms)
		a->stale_from_ms = from_ms;
	if (fresh || until_ms > a->stale_until_ms)
		a->stale_until_ms = until_ms;
	q->advance_reservations.stale = true;
}

static void count(struct queue *q, struct advance_reservation *a, const struct reservation *r,
	int times)
{
	if (!r->booking || !advance_usable_by(a, r->lq, r->user))
		return;
	for (size_t i = 0; i < a->nrows; i++)
		row_uses(q, &a->row[i], r->booking, times);
	stale(q, a, r->booking->from_ms, r->booking->until_ms);
}

static void count_all(struct queue *q, const struct reservation *r, int times)
{
	if (!r->cq || list_empty(&r->cq->reserved))
		return;
	list_each(&r->cq->reserved, l)
		count(q, container_of(l, struct advance_reservation, of_clusterqueue), r, times);
}

void advance_run_booked(struct queue *q, const struct reservation *r)
{
	count_all(q, r, 1);
}

void advance_run_unbooked(struct queue *q, const struct reservation *r)
{
	count_all(q, r, -1);
}

void advance_count_runs(struct queue *q, struct advance_reservation *a)
{
	if (!a->cq || a->spec.maintenance)
		return;
	list_each(&a->cq->reservations, l)
		count(q, a, container_of(l, struct reservation, of_clusterqueue), 1);
	list_each(&a->cq->promised, l)
		count(q, a, container_of(l, struct reservation, of_clusterqueue), 1);
}

void advance_count_anew(struct queue *q, struct advance_reservation *a)
{
	for (size_t i = 0; i < a->nrows; i++) {
		profile_done(&a->row[i].held);
		profile_init(&a->row[i].held);
	}
	for (size_t i = 0; i < a->nwindows; i++)
		stale(q, a, a->window[i].from_ms, a->window[i].until_ms);
	advance_count_runs(q, a);
}

__int128 advance_used_now(const struct advance_reservation *a, size_t row)
{
	__int128 used = 0;
	if (!a->cq || a->spec.maintenance)
		return 0;
	list_each(&a->cq->reservations, l) {
		const struct reservation *r = container_of(l, struct reservation, of_clusterqueue);
		if (!advance_usable_by(a, r->lq, r->user))
			continue;
		for (size_t i = 0; i < r->nlines; i++)
			if (r->line[i].row == a->row[row].row)
				used += reservation_line_then(r, &r->line[i]);
	}
	return used;
}

/* Its Jobs are parted by who submitted them, so they leave their groups and join others. */
static void members_move(struct queue *q, struct clusterqueue *cq, enum workload_place from,
	void (*move)(struct queue *q, struct workload *w))
{
	list_each(&cq->localqueues, l) {
		struct localqueue *lq = container_of(l, struct localqueue, of_clusterqueue);
		list_each(&lq->members, m) {
			struct workload *w = container_of(m, struct workload, of_localqueue);
			if (w->place == from)
				move(q, w);
		}
	}
}

void advance_join(struct queue *q, struct advance_reservation *a)
{
	struct clusterqueue *cq = a->cq;
	if (!cq || a->spec.maintenance)
		return;
	members_move(q, cq, PLACE_READY, workload_unplace);
	list_add(&cq->reserved, &a->of_clusterqueue);
	rules_edited(q);
	members_move(q, cq, PLACE_NOWHERE, workload_place);
}

void advance_leave(struct queue *q, struct advance_reservation *a)
{
	if (!list_in(&a->of_clusterqueue))
		return;
	members_move(q, a->cq, PLACE_READY, workload_unplace);
	list_leave(&a->of_clusterqueue);
	rules_edited(q);
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
	if (!q->advance_reservations.stale)
		return;
	q->advance_reservations.stale = false;
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
	list_each(&lq->cq->reserved, l) {
		const struct advance_reservation *a =
			container_of(l, struct advance_reservation, of_clusterqueue);
		if (!advance_usable_by(a, lq, user))
			continue;
		for (size_t i = 0; i < a->nwindows && a->window[i].from_ms < until_ms; i++)
			if (a->window[i].until_ms > at_ms)
				lower(&a->window[i], at_ms, line, n, &until_ms);
	}
	return until_ms;
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

bool advance_is_open(const struct clusterqueue *cq)
{
	list_each(&cq->reserved, l)
		if (container_of(l, struct advance_reservation, of_clusterqueue)->open)
			return true;
	return false;
}
