#include "queue/features/windows/window_close.h"

#include "queue/core/model/state.h"
#include "queue/features/windows/explain_windows.h"
#include "queue/core/model/run.h"
#include "queue/core/model/feature.h"
#include "sluice/quantity.h"
#include "queue/features/windows/lead.h"
#include "queue/features/windows/smaller_quota.h"
#include "queue/features/windows/window_quota.h"

/* The most closes and ends of protections of one Calendar that are looked at. */
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

/* Returns the first moment from now on at which the policy stops the run. */
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

/* Finds when windows stop the run: those of its ClusterQueue, and those of its LocalQueue if it has
 * a window state of its own. That may belong to another ClusterQueue by now. */
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

/* ---- The rule of RunPolicies ---- */

static bool window_concerns(struct queue *q, struct clusterqueue *cq)
{
	(void)q;
	if (cq->window_state->npolicies > 0)
		return true;
	list_each_entry(&cq->localqueues, const struct localqueue, lq, of_clusterqueue)
		if (lq->window_state)
			return true;
	return false;
}

static bool window_queue_may(struct queue *q, struct clusterqueue *cq)
{
	(void)q;
	return cq->window_state->open;
}

static enum answer answer_of(enum window_fit fit)
{
	switch (fit) {
	case WINDOW_FITS:
		return ANSWER_YES;
	case WINDOW_PREFERS_LATER:
		return ANSWER_LAST;
	case WINDOW_DOES_NOT_FIT:
		return ANSWER_NO;
	}
	return ANSWER_NO;
}

static struct ruling window_group_may(const struct queue *q, const struct group *g)
{
	const struct window_state *s = window_state_of(g->head->lq);
	struct ruling ruling = RULING_YES;
	ruling.answer = answer_of(window_fit(s, g->expected_ms, q->now_ms));
	ruling.until_ms = window_fit_until_ms(s, g->expected_ms, q->now_ms);
	return ruling;
}

/* LocalQueues only add policies: a start that the ClusterQueue's windows refuse, all refuse. */
static bool window_subtree_may(const struct queue *q, const struct group *root)
{
	const struct window_state *s = root->cq->window_state;
	return s->open && (root->least_timed_ms == 0 || window_fit(s, root->least_timed_ms,
								q->now_ms) != WINDOW_DOES_NOT_FIT);
}

static bool window_puts_last(const struct clusterqueue *cq)
{
	if (cq->window_state->prefer_ms != CALENDAR_NEVER)
		return true;
	list_each_entry(&cq->localqueues, const struct localqueue, lq, of_clusterqueue)
		if (lq->window_state && lq->window_state->prefer_ms != CALENDAR_NEVER)
			return true;
	return false;
}

static void window_parts(const struct workload *w, struct parting *p)
{
	const struct window_state *own = w->lq->window_state;
	if (own)
		parting_add_hashed(p, own, own->hash);
}

static bool window_looks_at_duration(const struct localqueue *lq)
{
	return window_state_of(lq)->times_fit;
}

static bool window_may_return(const struct workload *w, int64_t now_ms)
{
	return window_fit(window_state_of(w->lq), w->expected_ms, now_ms) != WINDOW_DOES_NOT_FIT;
}

/* Returns whether the window of the promise's Job is still open and long enough. */
static bool window_promise_may(struct queue *q, struct reservation *r)
{
	return window_may_return(r->w, q->now_ms);
}

static int32_t window_growth_pods(struct queue *q, const struct reservation *r, int32_t more)
{
	(void)q;
	return window_state_of(r->lq)->open ? more : 0;
}

static enum stop_reason window_stops(
	struct queue *q, struct reservation *r, const char **ret_policy)
{
	struct runpolicy *policy;
	if (r->stop_given || r->state != RESERVATION_HELD ||
		window_close_stop_ms(q, r, &policy) > q->now_ms)
		return STOP_REASON_NONE;
	*ret_policy = policy->object.name;
	policy->stopped_total++;
	return STOP_REASON_WINDOW_CLOSED;
}

/* Returns when the run must be looked at again for its stop or notice. */
static int64_t window_next_ms(struct queue *q, const struct reservation *r)
{
	struct window_close c = window_close_of(q, r);
	int64_t notice = notice_of(&c, r);
	return notice < c.stop_ms ? notice : c.stop_ms;
}

static enum wait_reason window_explain(struct question *a)
{
	return explain_window(a->q, a->w, a->now_ms, a->text, &a->not_before_ms);
}

static void window_goes_on(struct queue *q, struct reservation *r)
{
	if (r->cq)
		smaller_quota_begins(q, r->cq->cohort_tree);
}

static void window_queue_made(struct clusterqueue *cq)
{
	cq->window_state = window_state_new(cq->serial);
}

static void window_queue_freed(struct clusterqueue *cq)
{
	lead_free(cq);
	window_state_free(cq->window_state);
}

static void window_line_freed(struct localqueue *lq)
{
	window_state_free(lq->window_state);
}

static void window_quota_timed(
	const struct clusterqueue *cq, const struct quota_row *row, struct quota_limits *limits)
{
	*limits = window_quota_with(row, window_quota_now(cq, row));
}

static void window_quota_due(const struct clusterqueue *cq, struct quota_limits *limits)
{
	if (lead_is_on(cq))
		limits->lending = 0;
}

/* Takes over what windows look at: labels, and the notice. */
static void window_job_seen(
	struct queue *q, struct workload *w, const struct job *j, const struct progress *was)
{
	(void)was;
	uint64_t exempt = runpolicies_exempt(q, j);
	bool again = exempt != w->exempt && w->reservation;
	if (exempt != w->exempt)
		workload_edited(q, w);
	w->exempt = exempt;
	w->stopping_at_ms = j->annotations.stopping_at_ms;
	if (!again)
		return;
	reservation_suspect(q, w->reservation);
	q->counters.version++; /* its RunPolicy shows how many runs it spares */
}

/* Gives notice of a stop by a window, once for each stop. */
static bool window_gives_notice(struct queue *q, struct reservation *r, struct decision *ret)
{
	int64_t stop_ms;
	struct runpolicy *by = NULL;
	if (r->stop_given || window_close_notice_ms(q, r, &stop_ms) > q->now_ms)
		return false;
	r->run.noticed_ms = stop_ms;
	window_close_stop_ms(q, r, &by);
	*ret = (struct decision){.kind = DECISION_NOTICE,
		.uid = r->w->key.uid,
		.reason = STOP_REASON_WINDOW_CLOSED,
		.stop_ms = stop_ms,
		.policy = by ? by->object.name : NULL};
	return true;
}

/* Returns whether an earlier leader gave notice of a stop. */
static bool window_asked_for(const struct job *j)
{
	return j->annotations.stopping_at_ms != 0;
}

/* Nothing starts while a window is closed, nor, with fit Require, what would end after its
 * close. */
const struct feature window_feature = {
	.sleeps = true,
	.asked_for = window_asked_for,
	.concerns = window_concerns,
	.queue_may = window_queue_may,
	.group_may = window_group_may,
	.subtree_may = window_subtree_may,
	.puts_last = window_puts_last,
	.parts = window_parts,
	.looks_at_duration = window_looks_at_duration,
	.promise_may = window_promise_may,
	.may_return = window_may_return,
	.stops = window_stops,
	.growth_pods = window_growth_pods,
	.growth_refused = "its window is closed",
	.next_ms = window_next_ms,
	.explain = window_explain,
	.after = {[RUN_CONFIRMED] = smaller_quota_look_again,
		[RUN_ADOPTED] = window_goes_on,
		[RUN_GOES_ON] = window_goes_on},
	.recalled_by = lead_policy,
	.lowered_by = smaller_quota_tell,
	.queue_made = window_queue_made,
	.queue_freed = window_queue_freed,
	.line_freed = window_line_freed,
	.quota_timed = window_quota_timed,
	.quota_due = window_quota_due,
	.gives_notice = window_gives_notice,
	.job_seen = window_job_seen,
	.asks_for_label = runpolicies_ask_for,
	.queue_formed = window_states_form_queue,
	.line_formed = window_states_form_localqueue,
};
