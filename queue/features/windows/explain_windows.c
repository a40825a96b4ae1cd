#include "queue/features/windows/explain_windows.h"

#include "base/span.h"
#include "queue/calendar/zone.h"
#include "queue/features/windows/window_quota.h"
#include "queue/features/windows/smaller_quota.h"
#include "queue/features/windows/window_close.h"
#include "queue/core/model/reservation.h"
#include "sluice/quantity.h"

#define QUOTA_LOOKS_MAX 100
#define YEAR_MS (INT64_C(366) * 24 * 3600 * 1000)

/* As the clock on the wall of the policy's Calendar says it. */
static struct words local_words(const struct runpolicy *p, int64_t at_ms)
{
	struct words w = {""};
	zone_text(calendar_zone(p->calendar_ref->calendar), at_ms / 1000, w.s);
	return w;
}

static void add_not_understood(struct text *t, const struct runpolicy *p)
{
	if (p->calendar_ref->object.invalid)
		text_add(t, "RunPolicy %s starts nothing: its Calendar has no valid spec: %s",
			p->object.name, p->calendar_ref->object.invalid);
	else
		text_add(t,
			"RunPolicy %s starts nothing: Calendar %s does not exist; create it or correct spec.calendar of the RunPolicy",
			p->object.name, p->spec.calendar);
}

/* Adds when the window opens, of a state that is closed at now_ms. */
static void add_closed(struct text *t, const struct window_state *r, int64_t now_ms)
{
	const struct runpolicy *p = r->closed_by;
	text_add(t, "outside its window: ");
	if (!p->calendar_ref->calendar) {
		add_not_understood(t, p);
		return;
	}
	int64_t opens_ms = calendar_next_change(p->calendar_ref->calendar, now_ms);
	text_add(t, "RunPolicy %s (Calendar %s) ", p->object.name, p->spec.calendar);
	if (opens_ms == CALENDAR_NEVER) {
		text_add(t, "does not open within five years; correct the Calendar");
		return;
	}
	text_add(t, "opens %s", local_words(p, opens_ms).s);
	if (r->opens_ms == CALENDAR_NEVER)
		text_add(t,
			"; its %zu RunPolicies are never all open at the same time within a year",
			r->npolicies);
	else if (r->opens_ms != opens_ms)
		text_add(t, "; all of its %zu RunPolicies are open from %s on", r->npolicies,
			local_words(p, r->opens_ms).s);
}

/* The policy with the first close, of those that do not let it in. */
static const struct runpolicy *too_short(const struct window_state *r, bool unknown, int64_t now_ms)
{
	const struct runpolicy *first = NULL;
	int64_t first_ms = CALENDAR_NEVER;
	for (size_t i = 0; i < r->npolicies; i++) {
		const struct runpolicy *p = r->policy[i];
		int64_t closes_ms = calendar_next_change(p->calendar_ref->calendar, now_ms);
		bool counts = unknown ? p->spec.hold_unknown && p->spec.fit != FIT_IGNORE
				      : p->spec.fit == FIT_REQUIRE;
		if (counts && closes_ms < first_ms) {
			first = p;
			first_ms = closes_ms;
		}
	}
	return first;
}

static void add_too_short(struct text *t, const struct window_state *r, int64_t expected_ms,
	int64_t not_before_ms, int64_t now_ms)
{
	const struct runpolicy *p = too_short(r, expected_ms <= 0, now_ms);
	if (!p)
		return;
	if (expected_ms <= 0) {
		text_add(t,
			"the Job has no expected duration, and RunPolicy %s (Calendar %s) holds such Jobs (unknownDuration: Hold): set annotation sluice.dev/expected-duration",
			p->object.name, p->spec.calendar);
		return;
	}
	text_add(t,
		"the Job would not end in time: it is expected to run %s%s, and RunPolicy %s (Calendar %s) closes %s",
		span_exact(window_state_lasts_ms(r, expected_ms)).s,
		r->margin_permille ? " with safetyMargin" : "", p->object.name, p->spec.calendar,
		local_words(p, calendar_next_change(p->calendar_ref->calendar, now_ms)).s);
	if (not_before_ms == 0)
		text_add(t, "; no window within a year is long enough");
	else
		text_add(t, "; the next window that is long enough opens %s",
			local_words(p, not_before_ms).s);
}

static bool fits_once_open(const struct window_state *r, int64_t expected_ms)
{
	if (r->opens_ms == CALENDAR_NEVER)
		return true;
	struct window_state then = window_state_at(r, r->opens_ms);
	return window_fit(&then, expected_ms, r->opens_ms) != WINDOW_DOES_NOT_FIT;
}

/* Adds to "opens Tue 19:00" that the Job does not start then either. */
static void add_closed_to_job(
	struct text *t, const struct window_state *r, int64_t expected_ms, int64_t not_before_ms)
{
	if (fits_once_open(r, expected_ms))
		return;
	struct window_state then = window_state_at(r, r->opens_ms);
	text_add(t, ", but ");
	add_too_short(t, &then, expected_ms, not_before_ms, r->opens_ms);
}

/* Tells whether the state that is kept is not that of now_ms. What is asked about may lie before the
 * last pass, as at the end of a play, or behind a turn of a Calendar that no pass has seen. */
static bool is_of_another_time(const struct queue *q, const struct window_state *r, int64_t now_ms)
{
	int64_t turns_ms = r->open ? r->closes_ms : r->opens_ms;
	return r->npolicies > 0 && (now_ms < q->now_ms || now_ms >= turns_ms);
}

enum wait_reason explain_window(const struct queue *q, const struct workload *w, int64_t now_ms,
	struct text *t, int64_t *ret_not_before_ms)
{
	const struct window_state *kept = window_state_of(w->lq);
	bool anew = is_of_another_time(q, kept, now_ms);
	struct window_state r = anew ? window_state_at(kept, now_ms) : *kept;
	if (window_fit(&r, w->expected_ms, anew ? now_ms : q->now_ms) != WINDOW_DOES_NOT_FIT)
		return WAIT_NOT;
	int64_t from = now_ms, to;
	bool opens = window_state_next_open(
		&r, w->expected_ms, quantity_add(now_ms, YEAR_MS), &from, &to);
	bool unknown = w->expected_ms <= 0 && (r.open || !fits_once_open(&r, w->expected_ms));
	*ret_not_before_ms = opens && !unknown ? from : 0;
	if (r.open) {
		add_too_short(t, &r, w->expected_ms, *ret_not_before_ms, now_ms);
		return WAIT_WINDOW_FIT;
	}
	add_closed(t, &r, now_ms);
	add_closed_to_job(t, &r, w->expected_ms, *ret_not_before_ms);
	return WAIT_WINDOW;
}

int64_t explain_stop(const struct queue *q, const struct reservation *r, struct text *t)
{
	struct runpolicy *p;
	int64_t stop_ms = r->stop_given ? INT64_MAX : window_close_stop_ms(q, r, &p);
	if (stop_ms == INT64_MAX)
		return 0;
	text_add(t, "; RunPolicy %s (Calendar %s) will stop it %s", p->object.name,
		p->spec.calendar, local_words(p, stop_ms).s);
	return stop_ms;
}

/* When the policy's Calendar shows a window with another quota for the row; CALENDAR_NEVER: not within
 * what is looked at. */
static int64_t quota_until_ms(
	const struct queue *q, const struct runpolicy *p, const struct quota_row *row)
{
	struct calendar *c = p->calendar_ref ? p->calendar_ref->calendar : NULL;
	int64_t at_ms = q->now_ms;
	for (int looks = 0; c && looks < QUOTA_LOOKS_MAX; looks++) {
		struct calendar_state now = calendar_at(c, at_ms);
		const struct window_quota_spec *x = window_quota_in(p, now.window, row);
		struct quota_limits then = window_quota_with(row, x);
		if (!quota_limits_same(&then, &row->timed))
			return at_ms;
		if (now.until_ms == CALENDAR_NEVER)
			break;
		at_ms = now.until_ms;
	}
	return CALENDAR_NEVER;
}

static void add_limit(struct text *t, const char *what, int64_t limit, const char *resource)
{
	if (limit != QUOTA_UNLIMITED)
		text_add(t, ", %s %s at most", what, amount_words(limit, resource).s);
}

void explain_smaller_quota(const struct queue *q, const struct quota_row *row, struct text *t)
{
	const struct window_quota_spec *now = NULL, *more = NULL;
	const struct clusterqueue *cq = row->node->owner;
	const struct runpolicy *p = cq ? smaller_quota_policy(cq, row, &now, &more) : NULL;
	if (!p) {
		text_add(t, "a window has made quota smaller");
		return;
	}
	text_add(t,
		now ? "the quota of ClusterQueue %s in window %s is %s in flavor %s"
		    : "the quota of ClusterQueue %s is smaller since window %s is over: %s in flavor %s",
		cq->name, now ? now->window : more->window,
		amount_words(row->timed.nominal, row->resource).s, row->flavor);
	add_limit(t, "borrowing", row->timed.borrowing, row->resource);
	add_limit(t, "lending", row->timed.lending, row->resource);
	int64_t until_ms = quota_until_ms(q, p, row);
	if (until_ms != CALENDAR_NEVER)
		text_add(t, " until %s", local_words(p, until_ms).s);
	text_add(t, " (RunPolicy %s)", p->object.name);
}

bool explain_has_window_quotas(const struct clusterqueue *cq)
{
	for (size_t i = 0; i < cq->window_state->npolicies; i++)
		if (cq->window_state->policy[i]->spec.nquotas > 0)
			return true;
	return false;
}
