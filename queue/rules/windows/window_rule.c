/* The rule of RunPolicies: nothing starts while a window is closed, or ends behind its close. */
#include "queue/core.h"
#include "queue/explain/explain_time.h"
#include "queue/rules/rule.h"
#include "queue/rules/windows/window_close.h"

static bool window_concerns(struct queue *q, struct clusterqueue *cq)
{
	(void)q;
	if (cq->window_state->npolicies > 0)
		return true;
	list_each(&cq->localqueues, l)
		if (container_of(l, struct localqueue, of_clusterqueue)->window_state)
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
	const struct window_state *s = g->parting.window_state;
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
	list_each(&cq->localqueues, l) {
		const struct localqueue *lq =
			container_of_const(l, struct localqueue, of_clusterqueue);
		if (lq->window_state && lq->window_state->prefer_ms != CALENDAR_NEVER)
			return true;
	}
	return false;
}

static uint64_t window_parts(const struct workload *w, struct parting *ret)
{
	ret->window_state = window_state_of(w->lq);
	return ret->window_state->hash * 0xA0761D6478BD642Fu;
}

static bool window_looks_at_duration(const struct localqueue *lq)
{
	return window_state_of(lq)->times_fit;
}

static bool window_may_return(const struct workload *w, int64_t now_ms)
{
	return window_fit(window_state_of(w->lq), w->expected_ms, now_ms) != WINDOW_DOES_NOT_FIT;
}

/* Its window may have closed, or be too short by now. */
static bool window_promise_may(struct queue *q, struct reservation *r)
{
	return window_may_return(r->w, q->now_ms);
}

static int32_t window_growth_pods(struct queue *q, const struct reservation *r, int32_t more)
{
	(void)q;
	return window_state_of(r->lq)->open ? more : 0;
}

static enum stop_reason window_stops(struct queue *q, struct reservation *r)
{
	struct runpolicy *policy;
	if (r->stop_given || r->state != RESERVATION_HELD ||
		window_close_stop_reason(q, r, &policy) == STOP_REASON_NONE)
		return STOP_REASON_NONE;
	r->stop_policy = policy->name;
	policy->stopped_total++;
	return STOP_REASON_WINDOW_CLOSED;
}

static int64_t window_next_ms(struct queue *q, const struct reservation *r)
{
	return window_close_next_ms(q, r);
}

static enum wait_reason window_explain(struct question *a)
{
	return explain_window(a->q, a->w, a->now_ms, a->text, &a->not_before_ms);
}

const struct rule window_rule = {
	.name = "window",
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
};
