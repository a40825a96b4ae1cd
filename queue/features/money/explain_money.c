#include "queue/features/money/explain_money.h"

#include <string.h>

#include "base/instant.h"
#include "base/order.h"
#include "base/span.h"
#include "queue/calendar/zone.h"
#include "queue/price/money.h"
#include "queue/core/model/state.h"
#include "queue/core/model/reservation.h"
#include "queue/core/model/booked_runs.h"
#include "queue/features/money/terms.h"
#include "sluice/quantity.h"
#include "queue/features/money/budget.h"
#include "queue/features/money/plan.h"
#include "queue/features/money/bill.h"

/* "12.5 EUR", or without a currency "12.5". */
static struct words money_words(int64_t amount, const char *currency)
{
	struct words w = {""};
	char money[MONEY_TEXT_SIZE];
	struct text t = text_over(w.s, sizeof(w.s));
	money_format(amount, money);
	text_add(&t, "%s%s%s", money, *currency ? " " : "", currency);
	return w;
}

/* In the zone of the plan's first Calendar, else in UTC: "Sat 2026-11-21 22:00 CET". */
static struct words local_words(const struct plan *p, int64_t ms)
{
	struct words w = {""};
	for (size_t i = 0; p && i < p->spec.nrates; i++) {
		struct calendar *c = p->rate[i].calendar_ref->calendar;
		if (c) {
			zone_text(calendar_zone(c), ms / 1000, w.s);
			return w;
		}
	}
	struct zone *utc = zone_utc();
	zone_text(utc, ms / 1000, w.s);
	zone_free(utc);
	return w;
}

/* Writes what a Job asks for, each in the first flavor that suits. */
static size_t lines_of(
	const struct clusterqueue *cq, const struct claim *claim, struct quota_line *line)
{
	size_t n = claim->nneeds < QUEUE_LINES_MAX ? claim->nneeds : QUEUE_LINES_MAX;
	for (size_t i = 0; i < n; i++) {
		const struct need *need = &claim->need[i];
		const struct resource_group *g = &cq->spec.groups[need->group];
		size_t f = 0;
		while (f + 1 < g->nflavors && !claim_suits(claim, need->group, f))
			f++;
		const struct quota_row *row = group_row(g, f, need->resource);
		line[i] = (struct quota_line){"", row->flavor, row->resource, need->amount};
	}
	return n;
}

/* ---- Terms ---- */

struct telling {
	struct queue *q;
	const struct workload *w;
	struct clusterqueue *cq;
	const struct claim *claim;
	struct plan *plan;
	int64_t now_ms;
	struct verdict_of_terms verdict;
	struct text *t;
};

static void tell_deactivated(const struct telling *a)
{
	text_add(a->t,
		"does not start: it can no longer end by its deadline, %s (latest start %s), and annotation sluice.dev/on-missed-deadline is Hold; to queue it again, set a later sluice.dev/deadline or remove it",
		local_words(a->plan, a->w->terms->asked.deadline_ms).s,
		local_words(a->plan, a->verdict.latest_ms).s);
}

static void tell_start_after(const struct telling *a)
{
	text_add(a->t, "waits until %s (annotation sluice.dev/start-after)",
		local_words(a->plan, a->w->terms->asked.start_after_ms).s);
}

/* Says whether the owner wrote a currency where a resource may stand: "0.05 EUR". */
static bool is_currency(const struct plan *p, const char *resource)
{
	bool is_code = strlen(resource) == 3 && strspn(resource, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == 3;
	return is_code || (p && strcmp(resource, p->currency) == 0);
}

static void tell_unpriced(const struct telling *a)
{
	const struct job_terms *asked = &a->w->terms->asked;
	const char *resource = asked->max_price_resource;
	if (is_currency(a->plan, resource))
		text_add(a->t,
			"annotation sluice.dev/max-price contains %s; write the price without a currency: %s",
			resource, money_words(asked->max_price, "").s);
	else if (!a->plan)
		text_add(a->t,
			"annotation sluice.dev/max-price needs the price of %s, but no PricePlan applies to ClusterQueue %s; create one or remove the annotation",
			resource, a->cq->name);
	else
		text_add(a->t,
			"annotation sluice.dev/max-price needs the price of %s, but PricePlan %s has none; add it to spec.base or remove the annotation",
			resource, a->plan->object.name);
}

static void tell_ceiling(const struct telling *a)
{
	const struct job_terms *asked = &a->w->terms->asked;
	int64_t start_ms = a->verdict.not_before_ms;
	text_add(a->t, "%s costs %s an hour now, more than annotation sluice.dev/max-price of %s",
		asked->max_price_resource,
		money_words(terms_unit_price(a->q, a->w, a->now_ms), a->plan->currency).s,
		money_words(asked->max_price, "").s);
	if (start_ms == INT64_MAX)
		text_add(a->t,
			"; PricePlan %s has no price that low in the next %d days while the Job may start: raise or remove the annotation",
			a->plan->object.name, (int)(PLAN_HORIZON_MS / (24 * 3600 * 1000)));
	else
		text_add(a->t, "; it starts %s%s", local_words(a->plan, start_ms).s,
			start_ms == a->verdict.latest_ms ? ", its latest start" : "");
}

static int64_t costs_at(const struct telling *a, int64_t at_ms)
{
	struct quota_line line[QUEUE_LINES_MAX];
	size_t n = lines_of(a->cq, a->claim, line);
	int64_t lasts_ms = plan_lasts_ms(a->w->expected_ms);
	return bill_expected(a->q, a->cq, line, n, at_ms, lasts_ms);
}

static void tell_cheapest(const struct telling *a)
{
	const char *by =
		a->verdict.latest_ms != INT64_MAX ? "before its deadline" : "within a week";
	bool taken = a->w->terms->booking && a->w->terms->booked_dearer;
	text_add(a->t, "cheapest start %s%s is %s: the run would cost %s then, and %s now",
		taken ? "with quota that is not booked " : "", by,
		local_words(a->plan, a->verdict.not_before_ms).s,
		money_words(costs_at(a, a->verdict.not_before_ms), a->plan->currency).s,
		money_words(costs_at(a, a->now_ms), "").s);
	if (a->w->expected_ms <= 0)
		text_add(a->t, " (for an hour: how long it takes is unknown)");
	text_add(a->t, "; to start without that wait, remove annotation sluice.dev/start");
}

static void tell_price(const struct telling *a)
{
	const struct job_terms *asked = &a->w->terms->asked;
	int64_t price = asked->has_max_price ? terms_unit_price(a->q, a->w, a->now_ms) : 0;
	if (price < 0)
		tell_unpriced(a);
	else if (asked->has_max_price && price > asked->max_price)
		tell_ceiling(a);
	else
		tell_cheapest(a);
}

static void tell_held(const struct telling *a)
{
	text_add(a->t,
		"PricePlan %s has no price for now (%s), and spec.series.whenStale is HoldStarts",
		a->plan->object.name,
		a->plan->spec.series_fault ? a->plan->spec.series_fault : "its series is stale");
}

bool explain_terms(struct queue *q, const struct workload *w, const struct clusterqueue *cq,
	const struct claim *claim, int64_t now_ms, enum wait_reason tier, struct text *t)
{
	struct clusterqueue *own = (struct clusterqueue *)(uintptr_t)cq;
	struct telling a = {.q = q, .w = w, .cq = own, .claim = claim, .now_ms = now_ms, .t = t};
	a.plan = plan_of(q, own);
	if (tier == WAIT_PRICE && plan_holds(q, own)) {
		tell_held(&a);
		return true;
	}
	a.verdict = terms_now(q, w, now_ms);
	if (a.verdict.reason != tier)
		return false;
	if (tier == WAIT_DEACTIVATED)
		tell_deactivated(&a);
	else if (tier == WAIT_START_AFTER)
		tell_start_after(&a);
	else
		tell_price(&a);
	return true;
}

/* ---- Budgets ---- */

static void tell_fault(const struct budget *b, const struct plan *p, struct text *t)
{
	if (!b->zone)
		text_add(t, "Budget %s starts nothing: %s", b->object.name, b->object.invalid);
	else
		text_add(t,
			"Budget %s starts nothing: it counts in %s, but PricePlan %s in %s; make both the same",
			b->object.name, b->currency, p->object.name, p->currency);
}

/* At today's price not even an empty period has room. */
static void tell_too_dear(const struct budget *b, int64_t cost, struct text *t)
{
	text_add(t,
		"the Job is expected to cost %s if it starts now, more than the whole of Budget %s (%s): a new period alone does not help; ask for less, say how long it takes (annotation sluice.dev/expected-duration), have the Budget raised, or wait for a lower price",
		money_words(cost, b->currency).s, b->object.name,
		money_words(b->spec.amount, "").s);
}

static void tell_budget(const struct budget *b, int64_t cost, struct text *t)
{
	char text[ZONE_TEXT_SIZE];
	text_add(t,
		"Budget %s has %s left of %s (%s spent, %s reserved for started Jobs) until %s; this Job is expected to cost %s",
		b->object.name, money_words(greater(budget_remaining(b), 0), b->currency).s,
		money_words(b->spec.amount, "").s, money_words(b->spent, "").s,
		money_words(b->reserved, "").s, zone_text(b->zone, b->to_ms / 1000, text),
		money_words(cost, "").s);
}

bool explain_budget(struct queue *q, const struct workload *w, const struct clusterqueue *cq,
	const struct claim *claim, struct text *t)
{
	struct quota_line line[QUEUE_LINES_MAX];
	struct clusterqueue *own = (struct clusterqueue *)(uintptr_t)cq;
	const struct budget *by;
	int64_t cost;
	size_t n = lines_of(cq, claim, line);
	if (w->promise || budget_lets_lines(q, own, w, line, n, &by, &cost))
		return false;
	if (budget_fault(q, by))
		tell_fault(by, plan_of(q, own), t);
	else if (cost > by->spec.amount && by->spec.charge == CHARGE_EXPECTED)
		tell_too_dear(by, cost, t);
	else
		tell_budget(by, cost, t);
	return true;
}

void explain_unreachable(const struct explanation *x, struct text *t)
{
	if (!x->unreachable || x->reason == WAIT_DEACTIVATED)
		return;
	text_add(
		t, "; its deadline, %s, cannot be met any more", instant_seconds(x->deadline_ms).s);
	if (x->expected_ms > 0)
		text_add(t, ": it is expected to run %s", span_exact(x->expected_ms).s);
}

/* ---- Fields ---- */

void explain_times(
	struct queue *q, const struct workload *w, int64_t now_ms, struct explanation *ret)
{
	const struct reservation *r = w->reservation;
	ret->expected_ms = w->expected_ms;
	ret->expected_from = w->expected_from;
	ret->deadline_ms = 0;
	ret->unreachable = false;
	if (!w->terms)
		return;
	ret->deadline_ms = w->terms->asked.deadline_ms;
	if (r) {
		int64_t since_ms = reservation_since_ms(r);
		int64_t end_ms =
			w->expected_ms > 0 ? quantity_add(since_ms, w->expected_ms) : now_ms;
		ret->unreachable = ret->deadline_ms > 0 && end_ms > ret->deadline_ms;
		return;
	}
	struct verdict_of_terms v = terms_now(q, w, now_ms);
	ret->unreachable = v.unreachable;
	if (v.not_before_ms != INT64_MAX && v.not_before_ms > ret->not_before_ms)
		ret->not_before_ms = v.not_before_ms;
}
