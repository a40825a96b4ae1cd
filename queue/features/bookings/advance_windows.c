#include "queue/features/bookings/advance_windows.h"

#include <stdlib.h>

#include "base/mem.h"
#include "queue/core/core.h"
#include "queue/features/bookings/advance_rows.h"
#include "queue/features/targets.h"
#include "sluice/quantity.h"
#include "queue/features/windows/calendar_ref.h"

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
	/* One that was accepted may look so while the clock is wrong. */
	if (!a->spec.accepted && a->spec.until_ms - q->now_ms > ADVANCE_AHEAD_MAX_MS)
		return say(a, "TooFarAhead",
			"spec.until is more than 366 days ahead; make another AdvanceReservation that ends sooner, or wait");
	window_add(a, a->spec.from_ms, a->spec.until_ms);
	return true;
}

/* When the Calendar became as it is now; not before first_ms. It is looked for from now backwards, so that a
 * Calendar that has opened each minute for years costs few steps. */
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

static bool say_no_calendar(const struct queue *q, struct advance_reservation *a)
{
	struct text t = text_over(a->message, sizeof(a->message));
	a->reason = "CalendarNotFound";
	advance_say_no_calendar(q, a, &t);
	return false;
}

/* A window that is open when the object is made begins then. So it begins at the same moment
 * whenever it is looked up. */
static bool calendar_windows(struct queue *q, struct advance_reservation *a)
{
	struct calendar *c = a->calendar_ref->calendar;
	int64_t last_ms = quantity_add(q->now_ms, ADVANCE_AHEAD_MAX_MS);
	int64_t first_ms = q->now_ms - ADVANCE_AHEAD_MAX_MS; /* one of a file has no creation */
	if (!c)
		return say_no_calendar(q, a);
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

static void pieces_move(struct advance_window *to, struct advance_window *from)
{
	to->piece = from->piece;
	to->npieces = from->npieces;
	from->piece = NULL;
	from->npieces = 0;
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
			pieces_move(&a->window[k], &old[i]);
		advance_window_unbook(q, &old[i]);
	}
	free(old);
}
