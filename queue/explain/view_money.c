/* PricePlans and Budgets as their status shows them. */
#include <string.h>

#include "queue/calendar/zone.h"
#include "queue/price/money.h"
#include "queue/core/model/state.h"
#include "queue/explain/view.h"
#include "queue/job/text.h"
#include "queue/features/money/booked_start.h"
#include "queue/features/money/terms.h"
#include "queue/features/targets.h"
#include "queue/features/money/budget.h"
#include "queue/features/money/plan.h"
#include "queue/features/windows/calendar_ref.h"

/* ---- PricePlans ---- */

/* For which ClusterQueues a plan holds, and what keeps it from others that it names. */
struct plan_reach {
	size_t queues;
	const struct plan *other; /* that holds for one of them; NULL: none does */
	const struct budget
		*stranger; /* a Budget that counts in another currency; NULL: there is none */
};

static struct plan_reach reach_of(struct queue *q, const struct plan *p)
{
	struct plan_reach r = {0};
	struct tree_node *node = tree_first(&q->clusterqueues.shown);
	for (; node; node = tree_next(node)) {
		struct clusterqueue *cq = container_of(node, struct clusterqueue, by_name);
		const struct plan *holds = plan_of(q, cq);
		r.queues += holds == p;
		if (plan_claim_of(p, cq->name) == PLAN_NAMES_NOT)
			continue;
		if (holds != p)
			r.other = holds;
		if (!r.stranger && (holds == p || plan_precedes(p, holds, cq)))
			r.stranger = plan_stranger_to(p, cq);
	}
	return r;
}

static const struct calendar_ref *missing_calendar(const struct plan *p)
{
	for (size_t i = 0; i < p->spec.nrates; i++)
		if (!p->rate[i].calendar_ref->calendar)
			return p->rate[i].calendar_ref;
	return NULL;
}

const char *view_missing_calendar_of_rates(const struct plan *p)
{
	const struct calendar_ref *missing = p->object.invalid ? NULL : missing_calendar(p);
	return missing && !missing->object.invalid ? missing->object.name : NULL;
}

static void say_missing_calendar(
	const struct queue *q, const struct calendar_ref *missing, struct text *t)
{
	text_add(t, "Calendar %s does not exist or has no valid spec", missing->object.name);
	if (!calendar_ref_exists(missing))
		target_suggest(
			&target_calendar, q, &(struct named){.name = missing->object.name}, t);
}

static void say_stranger(
	struct queue *q, const struct plan *p, const struct budget *b, struct text *t)
{
	const struct plan *holds = plan_of(q, b->cq);
	text_add(t, "its prices are in %s, but Budget %s of ClusterQueue %s counts in %s: ",
		p->currency, b->object.name, b->cq->name, b->currency);
	if (holds == p)
		text_add(t, "nothing starts there; make both the same");
	else
		text_add(t,
			"so PricePlan %s holds for it; name other ClusterQueues in spec.queues, or make both the same",
			holds->object.name);
}

/* Writes the condition of a PricePlan. A queue's plan taken by another is told, even if this plan
 * holds elsewhere. */
static bool condition_of(struct queue *q, const struct plan *p, const struct plan_reach *reach,
	const char **ret_reason, struct text *t)
{
	int64_t until_ms;
	const struct calendar_ref *missing = missing_calendar(p);
	const char *held = p->spec.hold_when_stale ? "nothing starts in its queues meanwhile"
						   : "the rates hold meanwhile";
	*ret_reason = "Active";
	if (p->object.invalid) {
		*ret_reason = "InvalidSpec";
		text_add(t, "%s%s",
			p->spec.name
				? "the newest spec was refused, so the previous one stays in force: "
				: "",
			p->object.invalid);
	} else if (missing) {
		*ret_reason = "CalendarNotFound";
		say_missing_calendar(q, missing, t);
		text_add(t, "; its rate does not count, create it or correct spec.rates");
	} else if (p->spec.has_series && p->spec.series_fault) {
		*ret_reason = "SeriesMissing";
		text_add(t, "%s; %s", p->spec.series_fault, held);
	} else if (p->spec.has_series &&
		   strcmp(plan_source_at(p, q->now_ms, &until_ms), "series") != 0) {
		*ret_reason = "SeriesStale";
		text_add(t, "the series has no price for now; %s", held);
	} else if (reach->stranger) {
		*ret_reason = "CurrencyMismatch";
		say_stranger(q, p, reach->stranger, t);
	} else if (reach->queues == 0 && reach->other) {
		*ret_reason = "Overshadowed";
		text_add(t,
			"PricePlan %s, which names them more closely or comes first by name, applies to all queues that this one names",
			reach->other->object.name);
	} else {
		text_add(t, "holds for %s", count_words(reach->queues, "ClusterQueue").s);
	}
	return strcmp(*ret_reason, "Active") == 0;
}

bool queue_view_priceplan(const struct queue *q, size_t index, struct priceplan_view *ret)
{
	struct plan *p = plans_at(q, index);
	if (!p)
		return false;
	struct plan_reach reach = {0};
	*ret = (struct priceplan_view){.name = p->object.name,
		.currency = p->currency ? p->currency : "",
		.generation = p->spec.generation,
		.factor = PRICE_FACTOR_ONE,
		.rate = "base",
		.until_ms = CALENDAR_NEVER};
	struct text t = text_over(ret->active.message, sizeof(ret->active.message));
	if (p->spec.name) {
		reach = reach_of(view_working(q), p);
		ret->queues = reach.queues;
		ret->rate = plan_source_at(p, q->now_ms, &ret->until_ms);
		ret->factor = plan_factor_at(view_working(q), p, q->now_ms);
	}
	ret->active.ok = condition_of(view_working(q), p, &reach, &ret->active.reason, &t);
	return true;
}

/* ---- Budgets ---- */

static struct words money_words(int64_t amount)
{
	struct words w = {""};
	money_format(amount, w.s);
	return w;
}

static const char *reason_of(struct queue *q, const struct budget *b)
{
	if (!b->spec.name)
		return "InvalidSpec";
	if (!b->zone)
		return "InvalidZone";
	if (b->object.invalid)
		return "InvalidSpec";
	if (b->cq ? !b->cq->exists : !b->lq->exists)
		return "QueueNotFound";
	if (budget_fault(q, b))
		return "CurrencyMismatch";
	return budget_remaining(b) <= 0 ? "Exhausted" : "Active";
}

const char *view_missing_queue(const struct queue *q, const struct budget *b)
{
	bool missing = strcmp(reason_of(view_working(q), b), "QueueNotFound") == 0;
	return !missing ? NULL : b->cq ? b->cq->name : b->lq->name;
}

static void say_reason(struct queue *q, const struct budget *b, const char *reason, struct text *t)
{
	const struct plan *p = b->spec.name ? plan_of(q, b->cq ? b->cq : b->lq->cq) : NULL;
	if (b->object.invalid) {
		text_add(t, "%s%s",
			b->zone ? "the newest spec was refused, so the previous one stays in force: "
				: "",
			b->object.invalid);
	} else if (strcmp(reason, "QueueNotFound") == 0) {
		const struct target *target = b->cq ? &target_clusterqueue : &target_localqueue;
		const struct named n = {.name = b->cq ? b->cq->name : b->lq->name,
			.of = b->cq ? NULL : b->lq->ns->name};
		if (b->cq)
			text_add(t, "ClusterQueue %s does not exist", b->cq->name);
		else
			text_add(
				t, "LocalQueue %s/%s does not exist", b->lq->ns->name, b->lq->name);
		if (!target->found(q, &n))
			target_suggest(target, q, &n, t);
		text_add(t, "; create it or correct spec.%s", b->cq ? "queue" : "localQueue");
	} else if (p && strcmp(reason, "CurrencyMismatch") == 0) {
		text_add(t,
			"counts in %s, but PricePlan %s of its queue in %s: nothing starts; make both the same",
			b->currency, p->object.name, p->currency);
	} else if (!p) {
		text_add(t, "no PricePlan applies to its queue, so nothing is charged");
	} else {
		text_add(t, "%s spent and %s %s reserved of %s %s", money_words(b->spent).s,
			money_words(b->reserved).s, b->currency, money_words(b->spec.amount).s,
			b->currency);
		if (strcmp(reason, "Exhausted") == 0 && b->spec.on_exhausted != EXHAUSTED_WARN)
			text_add(t, "; nothing starts in this period");
	}
}

bool queue_view_budget(const struct queue *q, size_t index, struct budget_view *ret)
{
	struct budget *b = budgets_at(q, index);
	if (!b)
		return false;
	*ret = (struct budget_view){.name = b->object.name,
		.clusterqueue = b->spec.name ? b->spec.clusterqueue : "",
		.localqueue_ns = b->spec.name ? b->spec.localqueue_ns : "",
		.localqueue = b->spec.name ? b->spec.localqueue : "",
		.currency = b->currency ? b->currency : "",
		.time_zone = b->spec.name ? b->spec.time_zone : "",
		.generation = b->spec.generation,
		.amount = b->spec.amount};
	struct text t = text_over(ret->active.message, sizeof(ret->active.message));
	if (b->spec.name && b->zone) {
		budget_count(view_working(q), b);
		ret->spent = b->spent;
		ret->accrued = b->accrued;
		ret->reserved = b->reserved;
		ret->period_from_ms = b->from_ms;
		ret->period_to_ms = b->to_ms;
	}
	ret->remaining = b->spec.name ? budget_remaining(b) : 0;
	ret->active.reason = reason_of(view_working(q), b);
	ret->active.ok = strcmp(ret->active.reason, "Active") == 0;
	say_reason(view_working(q), b, ret->active.reason, &t);
	return true;
}

/* ---- Booked starts ---- */

int64_t queue_booked_start_ms(const struct queue *q, const struct uid *uid)
{
	const struct workload *w = queue_find_workload(q, uid);
	const struct booking *b = w ? booked_start_of(w) : NULL;
	return b && !w->terms->booked_late ? b->from_ms : 0;
}
