#include "queue/rules/windows/window_close.h"

#include "queue/model/run.h"
#include "sluice/quantity.h"

/* So many closes and ends of protections of one Calendar are looked at. */
#define LOOKS_MAX 1000

/* ---- Protections ---- */

bool window_close_exempts(const struct runpolicy *p, const struct workload *w)
{
	return (p->spec.has_exempt_priority && w->key.priority >= p->spec.exempt_priority) ||
	       (p->exempts >= 0 && (w->exempt >> p->exempts & 1));
}

static bool had_enough(const struct runpolicy *p, const struct workload *w)
{
	return p->spec.max_suspensions != RUNPOLICY_SUSPENSIONS_UNLIMITED &&
	       (w->past ? w->past->suspensions : 0) >= p->spec.max_suspensions;
}

/* Without minRun nothing is spared, not even a start in the future (by a clock set back). */
int64_t window_close_spares_until_ms(const struct runpolicy *p, const struct reservation *r)
{
	if (window_close_exempts(p, r->w) || had_enough(p, r->w))
		return INT64_MAX;
	if (!r->confirmed || p->spec.min_run_ms == 0)
		return INT64_MIN;
	return quantity_add(r->since_ms, p->spec.min_run_ms);
}

/* The Calendar is closed at at_ms: since when? INT64_MIN: longer than within_ms. */
static int64_t closed_since(struct calendar *c, int64_t at_ms, int64_t within_ms)
{
	int64_t since = INT64_MIN, next, from = at_ms > within_ms ? at_ms - within_ms : 0;
	while ((next = calendar_next_change(c, from)) <= at_ms)
		since = from = next;
	return since;
}

static int64_t expected_end_ms(const struct reservation *r)
{
	if (!r->confirmed || r->w->expected_ms <= 0)
		return INT64_MAX;
	return quantity_add(r->since_ms, r->w->expected_ms);
}

/* The Calendar is closed at at_ms: until when does overrun keep the run going? */
static int64_t overrun_until_ms(
	const struct runpolicy *p, const struct reservation *r, int64_t at_ms)
{
	int64_t end_ms = expected_end_ms(r), overrun_ms = p->spec.overrun_ms;
	if (overrun_ms == 0 || end_ms == INT64_MAX)
		return INT64_MIN;
	int64_t since = closed_since(p->calendar_ref->calendar, at_ms, overrun_ms);
	if (since == INT64_MIN || end_ms > since + overrun_ms)
		return INT64_MIN;
	return since + overrun_ms;
}

/* ---- When ---- */

/* The first moment from now on at which the policy stops it. */
static int64_t policy_stop_ms(
	const struct queue *q, const struct runpolicy *p, const struct reservation *r)
{
	if (p->spec.action != CLOSE_SUSPEND || !p->calendar_ref || !p->calendar_ref->calendar)
		return INT64_MAX;
	int64_t spares = window_close_spares_until_ms(p, r), at_ms = q->now_ms;
	if (spares == INT64_MAX)
		return INT64_MAX;
	struct calendar *c = p->calendar_ref->calendar;
	for (int looks = 0; looks < LOOKS_MAX; looks++) {
		if (calendar_at(c, at_ms).open)
			at_ms = calendar_next_change(c, at_ms);
		if (at_ms == CALENDAR_NEVER)
			return INT64_MAX;
		int64_t overrun = overrun_until_ms(p, r, at_ms);
		int64_t until = spares > overrun ? spares : overrun;
		if (until <= at_ms)
			return at_ms;
		at_ms = until;
	}
	return INT64_MAX;
}

struct window_close {
	int64_t stop_ms, notice_ms; /* the longest notice of the policies that stop it then */
	struct runpolicy *by;	    /* the first of these policies; NULL: none */
};

static void window_close_add(const struct queue *q, const struct reservation *r,
	const struct window_state *window_state, struct window_close *c)
{
	for (size_t i = 0; i < window_state->npolicies; i++) {
		struct runpolicy *p = window_state->policy[i];
		int64_t stop_ms = policy_stop_ms(q, p, r);
		if (stop_ms == INT64_MAX || stop_ms > c->stop_ms)
			continue;
		if (stop_ms < c->stop_ms)
			*c = (struct window_close){stop_ms, 0, p};
		if (p->spec.notice_ms > c->notice_ms)
			c->notice_ms = p->spec.notice_ms;
	}
}

/* Its LocalQueue may belong to another ClusterQueue by now: both window states count. */
static struct window_close window_close_of(const struct queue *q, const struct reservation *r)
{
	struct window_close c = {.stop_ms = INT64_MAX};
	bool joined = r->lq->window_state && r->lq->cq == r->cq;
	if (r->cq && !joined)
		window_close_add(q, r, r->cq->window_state, &c);
	if (r->lq->window_state)
		window_close_add(q, r, r->lq->window_state, &c);
	return c;
}

int64_t window_close_stop_ms(
	const struct queue *q, const struct reservation *r, struct runpolicy **ret_by)
{
	struct window_close c = window_close_of(q, r);
	if (ret_by)
		*ret_by = c.by;
	return c.stop_ms;
}

enum stop_reason window_close_stop_reason(
	const struct queue *q, const struct reservation *r, struct runpolicy **ret_by)
{
	return window_close_stop_ms(q, r, ret_by) <= q->now_ms ? STOP_REASON_WINDOW_CLOSED
							       : STOP_REASON_NONE;
}

/* Compared in whole seconds, as the Job's annotation has them. */
static int64_t notice_of(const struct window_close *c, const struct reservation *r)
{
	if (c->stop_ms == INT64_MAX || c->notice_ms == 0 || !r->confirmed ||
		c->stop_ms / 1000 == r->run.noticed_ms / 1000)
		return INT64_MAX;
	return c->stop_ms - c->notice_ms;
}

int64_t window_close_notice_ms(
	const struct queue *q, const struct reservation *r, int64_t *ret_stop_ms)
{
	struct window_close c = window_close_of(q, r);
	*ret_stop_ms = c.stop_ms;
	return notice_of(&c, r);
}

int64_t window_close_next_ms(const struct queue *q, const struct reservation *r)
{
	struct window_close c = window_close_of(q, r);
	int64_t notice = notice_of(&c, r);
	return notice < c.stop_ms ? notice : c.stop_ms;
}
