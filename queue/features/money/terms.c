#include "queue/features/money/terms.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "queue/core/model/state.h"
#include "queue/features/money/explain_money.h"
#include "queue/core/model/reservation.h"
#include "queue/core/model/booked_runs.h"
#include "queue/features/money/booked_start.h"
#include "queue/core/model/feature.h"
#include "queue/features/windows/window_close.h"
#include "queue/features/windows/window_state.h"
#include "sluice/quantity.h"
#include "queue/price/tariff.h"
#include "queue/features/money/plan.h"
#include "queue/features/money/bill.h"

/* ---- The record ---- */

static bool asks_anything(const struct job_terms *a)
{
	return a->start_after_ms > 0 || a->deadline_ms > 0 || a->cheapest || a->has_max_price;
}

static const char *resource_of(const struct job_terms *a)
{
	return a->has_max_price && a->max_price_resource ? a->max_price_resource : "";
}

bool terms_differ(const struct workload *w, const struct job_terms *asked)
{
	if (!w->terms)
		return asks_anything(asked);
	const struct job_terms *a = &w->terms->asked;
	return a->start_after_ms != asked->start_after_ms || a->deadline_ms != asked->deadline_ms ||
	       a->hold_when_missed != asked->hold_when_missed || a->cheapest != asked->cheapest ||
	       a->has_max_price != asked->has_max_price || a->max_price != asked->max_price ||
	       strcmp(resource_of(a), resource_of(asked)) != 0;
}

static size_t terms_size(const struct terms *t)
{
	return sizeof(*t) + strlen(t->asked.max_price_resource) + 1;
}

void terms_forget(struct queue *q, struct workload *w)
{
	struct terms *t = w->terms;
	if (!t)
		return;
	terms_unstand(q, w);
	booked_start_drop(q, w);
	q->workload_bytes -= terms_size(t);
	free((char *)(uintptr_t)t->asked.max_price_resource);
	free(t);
	w->terms = NULL;
}

/* A workload with a reservation keeps its place. */
void terms_take(struct queue *q, struct workload *w, const struct job_terms *asked)
{
	bool stood = w->terms && list_in(&w->terms->of_clusterqueue);
	bool told_is_over = w->terms && w->terms->told_is_over;
	terms_forget(q, w);
	if (!asks_anything(asked))
		return;
	struct terms *t = mem_alloc(sizeof(*t));
	t->asked = *asked;
	t->asked.max_price_resource = mem_strdup(resource_of(asked));
	t->w = w;
	t->told_is_over = told_is_over;
	alarm_init(&t->alarm, ALARM_TERMS, ++q->counters.alarms, w);
	q->workload_bytes += terms_size(t);
	w->terms = t;
	if (stood)
		terms_stand(q, w);
}

/* ---- What is known ---- */

/* A look ahead from one moment. */
struct outlook {
	struct queue *q;
	const struct job_terms *asked;
	const struct window_state *window_state;
	struct plan *plan;
	int64_t now_ms;
	int64_t earliest_ms;	    /* now or start-after */
	int64_t lasts_ms;	    /* the expected or assumed duration */
	int64_t limit_ms;	    /* nothing later is looked at */
	int64_t unit_price;	    /* at factor one, of the unit that max-price names; or -1 */
	struct booking_lines lines; /* for which there has to be room in the plan of quota */
	bool any_price; /* the earliest start, not the cheapest; max-price does not count */
};

static void outlook_init(
	struct outlook *o, struct queue *q, const struct workload *w, int64_t now_ms)
{
	const struct job_terms *a = &w->terms->asked;
	*o = (struct outlook){.q = q, .asked = a, .now_ms = now_ms, .unit_price = -1};
	o->window_state = window_state_of(w->lq);
	o->plan = plan_of(q, w->lq->cq);
	o->earliest_ms = greater(now_ms, a->start_after_ms);
	o->lasts_ms = plan_lasts_ms(w->expected_ms);
	o->limit_ms = quantity_add(o->earliest_ms, PLAN_HORIZON_MS);
	if (o->plan && a->has_max_price)
		o->unit_price = plan_unit_price(o->plan, a->max_price_resource);
}

/* The next period at or after *at_ms in which it may start, prices aside. */
static bool next_stretch(
	const struct outlook *o, int64_t limit_ms, int64_t *at_ms, int64_t *ret_to_ms)
{
	if (!window_state_next_open(o->window_state, o->lasts_ms, limit_ms, at_ms, ret_to_ms))
		return false;
	if (*ret_to_ms < CALENDAR_NEVER)
		*ret_to_ms = greater(*at_ms, *ret_to_ms + 1 - TERMS_SLACK_MS);
	return true;
}

/* The last moment in [earliest, latest] at which it may start, prices aside; INT64_MIN: none. */
static int64_t last_open(const struct outlook *o, int64_t latest_ms)
{
	int64_t at_ms = o->earliest_ms, to_ms, last_ms = INT64_MIN;
	if (latest_ms > o->limit_ms)
		return latest_ms; /* too far ahead to look */
	while (at_ms <= latest_ms && next_stretch(o, quantity_add(latest_ms, 1), &at_ms, &to_ms)) {
		last_ms = least(to_ms, latest_ms);
		if (to_ms >= latest_ms)
			break;
		at_ms = quantity_add(to_ms, TERMS_SLACK_MS);
	}
	return last_ms;
}

/* ---- Prices ---- */

static bool minds_max_price(const struct outlook *o)
{
	return o->asked->has_max_price && !o->any_price;
}

static bool wants_cheapest(const struct outlook *o)
{
	return o->asked->cheapest && !o->any_price;
}

static bool price_allows(const struct outlook *o, int64_t factor)
{
	if (!minds_max_price(o))
		return true;
	return (__int128)o->unit_price * factor <= (__int128)o->asked->max_price * PRICE_FACTOR_ONE;
}

struct best {
	bool found;
	int64_t at_ms;
	__int128 weight;
};

static void consider(const struct outlook *o, const struct tariff *t, int64_t from_ms,
	int64_t to_ms, struct best *b)
{
	struct tariff_start s = {from_ms, 0};
	if (wants_cheapest(o))
		s = tariff_cheapest(t, from_ms, to_ms, o->lasts_ms);
	__int128 weight = tariff_weight(t, s.at_ms, quantity_add(s.at_ms, o->lasts_ms));
	if (b->found && (!wants_cheapest(o) || weight >= b->weight))
		return;
	*b = (struct best){true, s.at_ms, weight};
}

/* The queue is open in [from, to]: considers the parts in which max-price allows a start. */
static void consider_open(const struct outlook *o, const struct tariff *t, int64_t from_ms,
	int64_t to_ms, struct best *b)
{
	if (!minds_max_price(o)) {
		consider(o, t, from_ms, to_ms, b);
		return;
	}
	size_t first = tariff_step_at(t, from_ms);
	for (size_t i = first; i < t->n; i++) {
		int64_t begin = i == first ? from_ms : t->step[i].from_ms;
		if (begin > to_ms)
			break;
		int64_t end = i + 1 < t->n ? least(to_ms, t->step[i + 1].from_ms - 1) : to_ms;
		if (price_allows(o, t->step[i].per_hour))
			consider(o, t, begin, end, b);
	}
}

/* Considers the parts with room of [from, to], in which the queue is open. */
static void consider_room(const struct outlook *o, const struct tariff *t, int64_t from_ms,
	int64_t to_ms, struct best *b)
{
	int64_t last_ms;
	if (o->lines.n == 0) {
		consider_open(o, t, from_ms, to_ms, b);
		return;
	}
	while (from_ms <= to_ms && quota_plan_next_starts(&o->q->quota_plan, o->lines, o->lasts_ms,
					   to_ms, &from_ms, &last_ms)) {
		consider_open(o, t, from_ms, last_ms, b);
		if (b->found && !wants_cheapest(o))
			return;
		from_ms = quantity_add(last_ms, 1);
	}
}

/* The best start in [earliest, last]. */
static struct best best_start(const struct outlook *o, const struct tariff *t, int64_t last_ms)
{
	struct best b = {.found = false};
	int64_t at_ms = o->earliest_ms, to_ms, end_ms = least(last_ms, o->limit_ms);
	while (at_ms <= end_ms && next_stretch(o, quantity_add(end_ms, 1), &at_ms, &to_ms)) {
		to_ms = least(to_ms, end_ms);
		consider_room(o, t, at_ms, to_ms, &b);
		if (b.found && !wants_cheapest(o))
			break;
		at_ms = quantity_add(to_ms, TERMS_SLACK_MS);
	}
	return b;
}

/* Until when a start costs as little as now: until its end would fall into the next step. */
static int64_t price_stands_until(const struct outlook *o, const struct tariff *t)
{
	for (size_t i = 0; o->asked->cheapest && i < t->n; i++) {
		int64_t at_ms = t->step[i].from_ms - o->lasts_ms;
		if (at_ms >= o->now_ms)
			return at_ms + 1;
	}
	return INT64_MAX;
}

/* ---- The verdict ---- */

static void wait_for_price(struct verdict_of_terms *v, int64_t until_ms)
{
	v->reason = WAIT_PRICE;
	v->not_before_ms = until_ms;
}

/* The last start of Cheapest without a deadline. */
static int64_t patience_ends(const struct outlook *o, const struct workload *w)
{
	return quantity_add(greater(w->key.queued_ms, o->asked->start_after_ms), TERMS_PATIENCE_MS);
}

/* The last start that is looked at. */
static int64_t last_start(
	const struct outlook *o, const struct workload *w, const struct verdict_of_terms *v)
{
	if (v->latest_ms != INT64_MAX)
		return v->latest_ms;
	return o->asked->cheapest ? greater(patience_ends(o, w), o->earliest_ms) : o->limit_ms;
}

static void judge_price(
	const struct outlook *o, const struct workload *w, struct verdict_of_terms *v)
{
	bool has_deadline = v->latest_ms != INT64_MAX, holds = o->asked->hold_when_missed;
	int64_t last_ms = last_start(o, w, v);
	int64_t otherwise_ms = has_deadline && !holds ? v->latest_ms : INT64_MAX;
	if (has_deadline && !holds && o->now_ms >= v->latest_ms)
		return;
	if (!o->plan || (o->asked->has_max_price && o->unit_price < 0)) {
		if (o->asked->has_max_price)
			wait_for_price(v, otherwise_ms);
		return;
	}
	struct tariff t = plan_factors(
		o->q, o->plan, o->now_ms, quantity_add(least(last_ms, o->limit_ms), o->lasts_ms));
	struct best b = best_start(o, &t, last_ms);
	if (!b.found && !has_deadline && o->asked->cheapest && o->asked->has_max_price) {
		last_ms = o->limit_ms; /* patience is over, but max-price still counts */
		b = best_start(o, &t, last_ms);
	}
	if (b.found && b.at_ms <= o->now_ms)
		v->next_ms = price_stands_until(o, &t);
	else if (b.found || o->asked->has_max_price)
		wait_for_price(v, b.found ? b.at_ms : otherwise_ms);
}

static void judge_deadline(
	const struct outlook *o, const struct workload *w, struct verdict_of_terms *v)
{
	int64_t lasts_ms = window_state_lasts_ms(o->window_state, o->lasts_ms);
	int64_t latest_ms = o->asked->deadline_ms - lasts_ms;
	int64_t last_ms = latest_ms < o->earliest_ms ? INT64_MIN : last_open(o, latest_ms);
	v->unreachable = last_ms == INT64_MIN;
	v->latest_ms = v->unreachable ? latest_ms : last_ms;
	v->pressing = o->now_ms >= v->latest_ms && v->latest_ms >= w->key.queued_ms;
}

/* At its latest start the Job is pressing, and right after it is too late. If a close, not the
 * deadline, makes it the latest start, it is pressing for TERMS_SLACK_MS. */
static int64_t deadline_stands_until(const struct outlook *o, const struct verdict_of_terms *v)
{
	int64_t own_ms =
		o->asked->deadline_ms - window_state_lasts_ms(o->window_state, o->lasts_ms);
	if (v->latest_ms > o->now_ms)
		return v->latest_ms;
	return quantity_add(v->latest_ms, v->latest_ms < own_ms ? TERMS_SLACK_MS : 1);
}

struct found_start terms_find_start(
	struct queue *q, const struct workload *w, const struct start_search *s)
{
	struct verdict_of_terms v = {.latest_ms = INT64_MAX};
	struct outlook o;
	outlook_init(&o, q, w, q->now_ms);
	o.lines = s->lines;
	o.any_price = s->at_all;
	if (o.asked->deadline_ms > 0)
		judge_deadline(&o, w, &v);
	int64_t last_ms = s->at_all ? o.limit_ms : last_start(&o, w, &v);
	if (s->only_ms > 0) {
		o.earliest_ms = greater(s->only_ms, o.earliest_ms);
		last_ms = least(last_ms, o.earliest_ms);
	}
	if ((v.unreachable && !s->at_all) || last_ms < o.earliest_ms)
		return (struct found_start){INT64_MAX, 0};
	struct tariff t = plan_factors(
		q, o.plan, q->now_ms, quantity_add(least(last_ms, o.limit_ms), o.lasts_ms));
	struct best b = best_start(&o, &t, last_ms);
	return (struct found_start){b.found ? b.at_ms : INT64_MAX, b.weight};
}

/* Judges a Job that has a booked start: it waits for that. One that is booked late starts as soon
 * as it can. */
static void judge_booking(const struct terms *t, int64_t now_ms, struct verdict_of_terms *v)
{
	int64_t from_ms = t->booking->from_ms;
	v->next_ms = from_ms > now_ms ? from_ms : quantity_add(now_ms, TERMS_SLACK_MS);
	v->due_ms = from_ms <= now_ms ? greater(t->booked_for_ms, 1) : 0;
	if (from_ms > now_ms && !t->booked_late)
		wait_for_price(v, from_ms);
}

struct verdict_of_terms terms_now(struct queue *q, const struct workload *w, int64_t now_ms)
{
	struct verdict_of_terms v = {
		.reason = WAIT_NOT, .latest_ms = INT64_MAX, .next_ms = INT64_MAX};
	struct outlook o;
	if (!w->terms)
		return v;
	outlook_init(&o, q, w, now_ms);
	const struct job_terms *a = o.asked;
	if (a->deadline_ms > 0)
		judge_deadline(&o, w, &v);
	if (v.unreachable && a->hold_when_missed) {
		v.reason = WAIT_DEACTIVATED;
		v.not_before_ms = INT64_MAX;
		return v;
	}
	if (v.pressing)
		v.due_ms = greater(v.latest_ms, 1);
	if (w->terms->booking)
		judge_booking(w->terms, now_ms, &v);
	else if (!v.unreachable && (a->cheapest || a->has_max_price))
		judge_price(&o, w, &v);
	if (a->start_after_ms > now_ms) {
		v.reason = WAIT_START_AFTER;
		v.not_before_ms = greater(v.not_before_ms, a->start_after_ms);
	}
	if (v.not_before_ms > now_ms)
		v.next_ms = least(v.next_ms, v.not_before_ms);
	if (!v.unreachable && v.latest_ms != INT64_MAX && !w->terms->booking)
		v.next_ms = least(v.next_ms, deadline_stands_until(&o, &v));
	return v;
}

/* ---- Its place ---- */

bool terms_let(struct queue *q, struct workload *w)
{
	if (!w->terms)
		return true;
	if (q->deciding)
		booked_start_ask(q, w);
	struct verdict_of_terms v = terms_now(q, w, q->now_ms);
	w->key.due_ms = v.due_ms;
	/* Between decisions the time is not known: then it is asked again at the next one. */
	alarm_set(&q->alarms, &w->terms->alarm, q->deciding ? v.next_ms : q->now_ms);
	return v.not_before_ms <= q->now_ms;
}

void terms_stand(struct queue *q, struct workload *w)
{
	struct clusterqueue *cq = w->reservation ? w->reservation->cq : w->lq ? w->lq->cq : NULL;
	(void)q;
	if (w->terms && cq)
		list_add(&cq->timed, &w->terms->of_clusterqueue);
}

void terms_unstand(struct queue *q, struct workload *w)
{
	if (!w->terms)
		return;
	list_leave(&w->terms->of_clusterqueue);
	alarm_clear(&q->alarms, &w->terms->alarm);
}

/* Asking moves each to the end of the list, so it goes through as many as there are now. */
void terms_ask_again(struct queue *q, struct clusterqueue *cq)
{
	size_t n = list_count(&cq->timed);
	while (n-- > 0) {
		struct terms *t = container_of(cq->timed.next, struct terms, of_clusterqueue);
		struct workload *w = t->w;
		list_leave(&t->of_clusterqueue);
		list_add(&cq->timed, &t->of_clusterqueue);
		if (!w->reservation)
			workload_replace(q, w);
		else if (t->asked.has_max_price)
			reservation_suspect(q, w->reservation);
	}
}

/* ---- Runs ---- */

int64_t terms_unit_price(struct queue *q, const struct workload *w, int64_t at_ms)
{
	struct clusterqueue *cq = w->reservation ? w->reservation->cq : w->lq->cq;
	struct plan *p = w->terms ? plan_of(q, cq) : NULL;
	int64_t price = p ? plan_unit_price(p, w->terms->asked.max_price_resource) : -1;
	return price < 0 ? -1
			 : hourly_price_told(
				   (struct hourly_price){price, 0}, plan_factor_at(q, p, at_ms));
}

/* Is the price above its max-price now, whatever policy spares the run? A run that could not finish
 * in time after a restart goes on, unless on-missed-deadline is Hold. */
static bool above_ceiling(struct queue *q, const struct reservation *r)
{
	struct outlook o;
	if (!r->confirmed || r->stop_given || !r->w->terms || !r->w->terms->asked.has_max_price)
		return false;
	outlook_init(&o, q, r->w, q->now_ms);
	o.plan = plan_of(q, r->cq);
	if (!o.plan)
		return false;
	o.unit_price = plan_unit_price(o.plan, o.asked->max_price_resource);
	if (o.unit_price < 0 || price_allows(&o, plan_factor_at(q, o.plan, q->now_ms)))
		return false;
	int64_t deadline_ms = o.asked->deadline_ms;
	bool in_time = deadline_ms == 0 || o.asked->hold_when_missed ||
		       quantity_add(q->now_ms, window_state_lasts_ms(o.window_state, o.lasts_ms)) <
			       deadline_ms;
	return in_time;
}

/* Until when policies with atPriceRise Suspend spare the run. *ret_by: the policy that spares it
 * the shortest. */
static int64_t spared_until(const struct reservation *r, const struct runpolicy **ret_by)
{
	const struct window_state *window_state = window_state_of(r->lq);
	int64_t least = INT64_MAX;
	for (size_t i = 0; i < window_state->npolicies; i++) {
		const struct runpolicy *p = window_state->policy[i];
		if (p->spec.at_price_rise != CLOSE_SUSPEND)
			continue;
		int64_t until_ms = window_close_spares_until_ms(p, r);
		if (until_ms < least) {
			least = until_ms;
			*ret_by = p;
		}
	}
	return least;
}

/* Is the run's price above its max-price, does a policy's atPriceRise say Suspend, and does nothing
 * protect it? *ret_by: that policy. */
static bool terms_price_too_high(
	struct queue *q, const struct reservation *r, const struct runpolicy **ret_by)
{
	const struct runpolicy *by = NULL;
	if (!above_ceiling(q, r) || spared_until(r, &by) > q->now_ms)
		return false;
	*ret_by = by;
	return true;
}

/* When a protection against that ends; INT64_MAX: there is nothing to look at. */
static int64_t terms_next_ms(struct queue *q, const struct reservation *r)
{
	const struct runpolicy *by = NULL;
	if (!above_ceiling(q, r))
		return INT64_MAX;
	int64_t until_ms = spared_until(r, &by);
	return until_ms > q->now_ms ? until_ms : INT64_MAX;
}

/* ---- The rule of PricePlans ---- */

static bool price_concerns(struct queue *q, struct clusterqueue *cq)
{
	return plan_of(q, cq) != NULL;
}

static bool price_queue_may(struct queue *q, struct clusterqueue *cq)
{
	return !plan_holds(q, cq);
}

static bool price_promise_may(struct queue *q, struct reservation *r)
{
	return !plan_holds(q, r->cq);
}

static enum stop_reason price_stops(struct queue *q, struct reservation *r, const char **ret_policy)
{
	const struct runpolicy *policy;
	if (r->stop_given || !r->confirmed || r->state != RESERVATION_HELD ||
		!terms_price_too_high(q, r, &policy))
		return STOP_REASON_NONE;
	*ret_policy = policy->object.name;
	return STOP_REASON_PRICE;
}

/* A run that its owner would not start at this price takes no more pods at it either. */
static int32_t price_growth_pods(struct queue *q, const struct reservation *r, int32_t more)
{
	return above_ceiling(q, r) ? 0 : more;
}

static enum wait_reason price_explain(struct question *a)
{
	struct queue *q = (struct queue *)(uintptr_t)a->q; /* only to keep answers */
	return explain_terms(q, a->w, a->cq, a->claim, a->now_ms, WAIT_PRICE, a->text) ? WAIT_PRICE
										       : WAIT_NOT;
}

/* Drops what the Job booked before it got its quota. */
static void price_begins(struct queue *q, struct reservation *r)
{
	booked_start_over(q, r->w);
}

/* Has the run looked at, because prices may stop it. */
static void price_confirmed(struct queue *q, struct reservation *r)
{
	bill_expect(q, r);
	if (r->w->terms)
		reservation_suspect(q, r);
}

static void price_forgotten(struct queue *q, struct reservation *r)
{
	(void)q;
	bill_done(r);
}

static bool price_differs(const struct workload *w, const struct job *j)
{
	return terms_differ(w, &j->terms);
}

static void price_read(struct queue *q, struct workload *w, const struct job *j)
{
	terms_take(q, w, &j->terms);
}

static void price_seen(
	struct queue *q, struct workload *w, const struct job *j, const struct progress *was)
{
	(void)was;
	booked_start_told(q, w, j->annotations.booked_start_ms);
}

static bool price_asked_for(const struct job *j)
{
	return asks_anything(&j->terms);
}

/* A plan without a price for now may refuse all starts, and runs above their max-price may have to
 * stop. */
const struct feature price_feature = {
	.sleeps = true,
	.asked_for = price_asked_for,
	.concerns = price_concerns,
	.queue_may = price_queue_may,
	.promise_may = price_promise_may,
	.stops = price_stops,
	.next_ms = terms_next_ms,
	.growth_pods = price_growth_pods,
	.growth_refused = "the price is above its max-price",
	.explain = price_explain,
	.before = {[RUN_ENDED] = booked_starts_gain},
	.after = {[RUN_PROMISED] = price_begins,
		[RUN_RESERVED] = price_begins,
		[RUN_CONFIRMED] = price_confirmed,
		[RUN_RESIZED] = bill_expect,
		[RUN_FORGOTTEN] = price_forgotten},
	.job_differs = price_differs,
	.job_read = price_read,
	.job_may_stand = terms_let,
	.job_aside = booked_start_drop,
	.job_stands = terms_stand,
	.job_leaves = terms_unstand,
	.job_forgotten = terms_forget,
	.run_settle = bill_settle,
	.job_seen = price_seen,
};
