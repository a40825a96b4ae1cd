#include "queue/rules/windows/window_state.h"

#include <stdlib.h>

#include "base/mem.h"
#include "queue/model/clusterqueue.h"
#include "queue/model/localqueue.h"
#include "sluice/quantity.h"

#define YEAR_MS (INT64_C(366) * 24 * 3600 * 1000)
#define LOOKS_MAX 4000 /* for Calendars that are never open at the same time */

const struct window_state WINDOW_STATE_ALWAYS = {
	.open = true,
	.opens_ms = 0,
	.closes_ms = CALENDAR_NEVER,
	.require_ms = CALENDAR_NEVER,
	.prefer_ms = CALENDAR_NEVER,
};

struct window_state *window_state_new(uint64_t hash)
{
	struct window_state *r = mem_alloc(sizeof(*r));
	*r = WINDOW_STATE_ALWAYS;
	r->hash = hash;
	return r;
}

void window_state_free(struct window_state *r)
{
	if (!r)
		return;
	free(r->policy);
	free(r);
}

const struct window_state *window_state_of(const struct localqueue *lq)
{
	if (lq->window_state)
		return lq->window_state;
	return lq->cq ? lq->cq->window_state : &WINDOW_STATE_ALWAYS;
}

/* ---- Fit ---- */

int64_t window_state_lasts_ms(const struct window_state *r, int64_t expected_ms)
{
	int64_t thousandths = quantity_times(expected_ms, 1000 + (int64_t)r->margin_permille);
	return thousandths == INT64_MAX ? INT64_MAX : (thousandths + 999) / 1000;
}

enum window_fit window_fit(const struct window_state *r, int64_t expected_ms, int64_t now_ms)
{
	if (!r->open)
		return WINDOW_DOES_NOT_FIT;
	if (!r->times_fit)
		return WINDOW_FITS;
	if (expected_ms <= 0)
		return r->hold_unknown ? WINDOW_DOES_NOT_FIT : WINDOW_FITS;
	int64_t end_ms = quantity_add(now_ms, window_state_lasts_ms(r, expected_ms));
	if (end_ms > r->require_ms)
		return WINDOW_DOES_NOT_FIT;
	return end_ms > r->prefer_ms ? WINDOW_PREFERS_LATER : WINDOW_FITS;
}

int64_t window_fit_until_ms(const struct window_state *r, int64_t expected_ms, int64_t now_ms)
{
	enum window_fit fit = window_fit(r, expected_ms, now_ms);
	if (fit == WINDOW_DOES_NOT_FIT || expected_ms <= 0 || !r->times_fit)
		return CALENDAR_NEVER;
	int64_t by_ms = r->require_ms;
	if (fit == WINDOW_FITS && r->prefer_ms < by_ms)
		by_ms = r->prefer_ms;
	return by_ms == CALENDAR_NEVER ? by_ms : by_ms - window_state_lasts_ms(r, expected_ms);
}

/* ---- What the Calendars say ---- */

static bool understood(const struct runpolicy *p)
{
	return p->calendar_ref && p->calendar_ref->calendar;
}

/* The first moment from at_ms on at which all are open; CALENDAR_NEVER: none before limit_ms. */
static int64_t opens_at(const struct window_state *r, int64_t at_ms, int64_t limit_ms)
{
	size_t open = 0;
	for (size_t i = 0; i < r->npolicies; i++)
		if (!understood(r->policy[i]))
			return CALENDAR_NEVER;
	for (size_t i = 0, looks = 0; open < r->npolicies; i = (i + 1) % r->npolicies) {
		struct calendar *c = r->policy[i]->calendar_ref->calendar;
		if (calendar_at(c, at_ms).open) {
			open++;
			continue;
		}
		at_ms = calendar_next_change(c, at_ms);
		open = 1;
		if (at_ms > limit_ms || ++looks > LOOKS_MAX)
			return CALENDAR_NEVER;
	}
	return at_ms;
}

/* While all are open: the first close among the policies with a fit that counts. */
static int64_t closes_at(
	const struct window_state *r, int64_t at_ms, bool (*counts)(enum start_fit f))
{
	int64_t first = CALENDAR_NEVER;
	for (size_t i = 0; i < r->npolicies; i++) {
		const struct runpolicy *p = r->policy[i];
		int64_t closes = counts(p->spec.fit)
					 ? calendar_next_change(p->calendar_ref->calendar, at_ms)
					 : CALENDAR_NEVER;
		first = closes < first ? closes : first;
	}
	return first;
}

static bool any_fit(enum start_fit f)
{
	(void)f;
	return true;
}

static bool is_require(enum start_fit f)
{
	return f == FIT_REQUIRE;
}

static bool is_prefer(enum start_fit f)
{
	return f == FIT_PREFER;
}

static void compute_open(struct window_state *r, int64_t now_ms)
{
	r->opens_ms = now_ms;
	r->closes_ms = closes_at(r, now_ms, any_fit);
	r->require_ms = closes_at(r, now_ms, is_require);
	r->prefer_ms = closes_at(r, now_ms, is_prefer);
	for (size_t i = 0; i < r->npolicies; i++) {
		const struct runpolicy *p = r->policy[i];
		bool closes =
			p->spec.fit != FIT_IGNORE && p->spec.hold_unknown &&
			calendar_next_change(p->calendar_ref->calendar, now_ms) != CALENDAR_NEVER;
		r->hold_unknown = r->hold_unknown || closes;
	}
}

void window_state_compute(struct window_state *r, int64_t now_ms)
{
	struct window_state now = WINDOW_STATE_ALWAYS;
	now.policy = r->policy;
	now.npolicies = r->npolicies;
	now.hash = r->hash;
	for (size_t i = 0; i < r->npolicies; i++) {
		const struct runpolicy *p = r->policy[i];
		if (p->spec.fit != FIT_IGNORE) {
			now.times_fit = true;
			if (p->spec.margin_permille > now.margin_permille)
				now.margin_permille = p->spec.margin_permille;
		}
		if (!now.closed_by &&
			(!understood(p) || !calendar_at(p->calendar_ref->calendar, now_ms).open))
			now.closed_by = p;
	}
	now.open = !now.closed_by;
	if (now.open && now.npolicies > 0)
		compute_open(&now, now_ms);
	else if (!now.open)
		now.opens_ms = opens_at(&now, now_ms, quantity_add(now_ms, YEAR_MS));
	*r = now;
}

/* ---- The future ---- */

bool window_state_next_open(const struct window_state *r, int64_t duration_ms, int64_t limit_ms,
	int64_t *from_ms, int64_t *ret_to_ms)
{
	int64_t at_ms = *from_ms;
	int64_t lasts_ms = duration_ms > 0 ? window_state_lasts_ms(r, duration_ms) : 0;
	for (size_t looks = 0; looks < LOOKS_MAX && at_ms < limit_ms; looks++) {
		at_ms = opens_at(r, at_ms, limit_ms);
		if (at_ms >= limit_ms)
			return false;
		int64_t close_ms = closes_at(r, at_ms, any_fit);
		int64_t by_ms = lasts_ms > 0 ? closes_at(r, at_ms, is_require) : CALENDAR_NEVER;
		int64_t last_ms = close_ms == CALENDAR_NEVER ? CALENDAR_NEVER : close_ms - 1;
		if (by_ms != CALENDAR_NEVER && by_ms - lasts_ms < last_ms)
			last_ms = by_ms - lasts_ms;
		if (last_ms >= at_ms) {
			*from_ms = at_ms;
			*ret_to_ms = last_ms;
			return true;
		}
		at_ms = close_ms;
	}
	return false;
}
