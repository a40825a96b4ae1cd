#include "queue/features/bookings/advance_extent.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "queue/core/model/state.h"
#include "queue/features/targets.h"
#include "queue/features/windows/calendar_ref.h"
#include "sluice/quantity.h"

/* ---- Rows ---- */

static void row_add(struct advance_reservation *a, struct quota_row *row, int64_t amount)
{
	if (amount <= 0)
		return;
	a->row = mem_grow(a->row, a->nrows + 1, sizeof(*a->row));
	struct advance_row *x = &a->row[a->nrows++];
	*x = (struct advance_row){.row = row, .amount = amount, .left = amount, .offered = amount};
}

void advance_rows_free(struct advance_reservation *a)
{
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

/* All rows of the flavor with quota of their own. */
static void rows_of_flavor(struct queue *q, struct advance_reservation *a, const char *flavor)
{
	struct quota_row *row;
	map_each(&q->quota.rows, i, row)
		if (strcmp(row->flavor, flavor) == 0)
			row_add(a, row, own_quota(row));
}

/* Says what of an amount is missing. cq: NULL where it reserves of all. */
static bool say_no_flavor(const struct queue *q, struct advance_reservation *a,
	const struct clusterqueue *cq, const struct advance_amount *x)
{
	struct text t = text_over(a->message, sizeof(a->message));
	struct named flavor = {.name = x->flavor, .within = cq};
	a->reason = "FlavorNotFound";
	if (!cq) {
		text_add(&t, "no ClusterQueue or Cohort has quota of flavor %s", x->flavor);
		target_suggest(&target_flavor_with_quota, q, &flavor, &t);
		text_add(&t, "; add it to one, or make another AdvanceReservation");
		return false;
	}
	bool knows_flavor = target_flavor_of_clusterqueue.found(q, &flavor);
	text_add(&t, "ClusterQueue %s has no quota of ", cq->name);
	if (*x->resource) {
		struct named resource = {.name = x->resource, .within = cq, .of = x->flavor};
		text_add(&t, "%s", x->resource);
		target_suggest(&target_resource_of_clusterqueue, q, &resource, &t);
		text_add(&t, " in ");
	}
	text_add(&t, "flavor %s", x->flavor);
	if (!knows_flavor)
		target_suggest(&target_flavor_of_clusterqueue, q, &flavor, &t);
	text_add(&t, "; add it there, or make another AdvanceReservation");
	return false;
}

static bool say_no_clusterqueue(const struct queue *q, struct advance_reservation *a)
{
	struct text t = text_over(a->message, sizeof(a->message));
	struct named n = {.name = a->spec.clusterqueue};
	a->reason = "ClusterQueueNotFound";
	target_clusterqueue.say_missing(&n, &t);
	target_suggest(&target_clusterqueue, q, &n, &t);
	text_add(&t, "; create it, or reserve in another one");
	return false;
}

/* The rows of one amount: its resource, or each of the flavor. */
static void rows_of_amount(struct advance_reservation *a, const struct clusterqueue *cq,
	const struct advance_amount *x)
{
	for (size_t g = 0; g < cq->spec.ngroups; g++) {
		const struct resource_group *rg = &cq->spec.groups[g];
		for (size_t f = 0; f < rg->nflavors; f++)
			for (size_t r = 0; r < rg->nresources; r++) {
				struct quota_row *row = group_row(rg, f, r);
				bool own = !*x->resource;
				if (strcmp(row->flavor, x->flavor) == 0 &&
					(own || strcmp(row->resource, x->resource) == 0))
					row_add(a, row, own ? own_quota(row) : x->amount);
			}
	}
}

static int by_node(const void *a, const void *b)
{
	const struct advance_row *x = a, *y = b;
	return quota_row_cmp(x->row, y->row);
}

bool advance_rows_find(struct queue *q, struct advance_reservation *a)
{
	const struct clusterqueue *cq = NULL;
	bool found = true;
	advance_rows_free(a);
	if (*a->spec.clusterqueue) {
		cq = clusterqueue_find(&q->clusterqueues, a->spec.clusterqueue);
		if (!cq || !cq->exists)
			return say_no_clusterqueue(q, a);
	}
	for (size_t i = 0; i < a->spec.namounts; i++) {
		size_t before = a->nrows;
		if (cq)
			rows_of_amount(a, cq, &a->spec.amount[i]);
		else
			rows_of_flavor(q, a, a->spec.amount[i].flavor);
		if (a->nrows == before && found)
			found = say_no_flavor(q, a, cq, &a->spec.amount[i]);
	}
	if (!cq && a->nrows > 1)
		qsort(a->row, a->nrows, sizeof(*a->row), by_node);
	return found;
}

/* ---- Windows ---- */

static void window_add(struct advance_reservation *a, int64_t from_ms, int64_t until_ms)
{
	a->window = mem_grow(a->window, a->nwindows + 1, sizeof(*a->window));
	a->window[a->nwindows++] =
		(struct advance_window){.from_ms = from_ms, .until_ms = until_ms};
}

void advance_window_unbook(struct queue *q, struct advance_window *w)
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
		advance_window_unbook(q, &a->window[i]);
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
	/* An accepted AdvanceReservation may look so while the clock is wrong. */
	if (!a->spec.accepted && a->spec.until_ms - q->now_ms > ADVANCE_AHEAD_MAX_MS)
		return say(a, "TooFarAhead",
			"spec.until is more than 366 days ahead; make another AdvanceReservation that ends sooner, or wait");
	window_add(a, a->spec.from_ms, a->spec.until_ms);
	return true;
}

/* When the Calendar became as it is now; not before first_ms. It is looked for from now backwards,
 * so that a Calendar that has opened each minute for years costs few steps. */
static int64_t turned_ms(struct calendar *c, int64_t first_ms, int64_t now_ms)
{
	int64_t at_ms = now_ms;
	for (int64_t back_ms = 60000; at_ms > first_ms; back_ms *= 2) {
		at_ms = now_ms - first_ms > back_ms ? now_ms - back_ms : first_ms;
		int64_t change_ms = calendar_next_change(c, at_ms);
		if (change_ms > now_ms)
			continue;
		for (; change_ms <= now_ms; change_ms = calendar_next_change(c, change_ms))
			at_ms = change_ms;
		return at_ms;
	}
	return first_ms;
}

void advance_say_no_calendar(
	const struct queue *q, const struct advance_reservation *a, struct text *t)
{
	struct named n = {.name = a->spec.calendar};
	text_add(t, "Calendar %s does not exist or has no valid spec", a->spec.calendar);
	if (!calendar_ref_exists(a->calendar_ref))
		target_suggest(&target_calendar, q, &n, t);
	text_add(t, "; create it, or make another AdvanceReservation");
}

/* A window that is open when the object is made begins then. So it begins at the same moment
 * whenever it is looked up. */
static bool calendar_windows(struct queue *q, struct advance_reservation *a)
{
	struct calendar *c = a->calendar_ref->calendar;
	int64_t last_ms = quantity_add(q->now_ms, ADVANCE_AHEAD_MAX_MS);
	int64_t first_ms = q->now_ms - ADVANCE_AHEAD_MAX_MS; /* one of a file has no creation */
	if (!c) {
		struct text t = text_over(a->message, sizeof(a->message));
		advance_say_no_calendar(q, a, &t);
		a->reason = "CalendarNotFound";
		return false;
	}
	if (a->spec.created_ms > 0)
		first_ms = a->spec.created_ms < q->now_ms ? a->spec.created_ms : q->now_ms;
	int64_t at_ms = turned_ms(c, first_ms, q->now_ms);
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
		return say(a, "NeverOpens",
			"its Calendar does not open within a year; correct the Calendar");
	return true;
}

bool advance_windows_find(struct queue *q, struct advance_reservation *a)
{
	advance_windows_free(q, a);
	a->rolled_ms = q->now_ms;
	return a->calendar_ref ? calendar_windows(q, a) : fixed_window(q, a);
}

void advance_windows_renew(struct queue *q, struct advance_reservation *a)
{
	struct advance_window *old = a->window;
	size_t n = a->nwindows, k = 0;
	a->window = NULL;
	a->nwindows = 0;
	advance_windows_find(q, a);
	for (size_t i = 0; i < n; i++) {
		while (k < a->nwindows && a->window[k].from_ms < old[i].from_ms)
			k++;
		if (k < a->nwindows && a->window[k].from_ms == old[i].from_ms &&
			a->window[k].until_ms == old[i].until_ms)
			a->window[k] = old[i];
		else
			advance_window_unbook(q, &old[i]);
	}
	free(old);
}
