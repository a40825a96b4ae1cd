#include "queue/rules/money/budget.h"

#include <string.h>

#include "base/must.h"
#include "base/order.h"
#include "queue/calendar/civil.h"
#include "queue/calendar/zone.h"
#include "queue/price/money.h"
#include "queue/core.h"
#include "queue/admit/nominate.h"
#include "queue/model/reservation.h"
#include "sluice/quantity.h"
#include "queue/tell.h"

#define HOUR_MS INT64_C(3600000)
#define LAST_S INT64_C(253370764800) /* the beginning of 9999 */

/* ---- Periods ---- */

static int32_t period_begins(enum budget_period period, int32_t day)
{
	struct civil c = civil_of(day);
	switch (period) {
	case PERIOD_DAILY:
		return day;
	case PERIOD_WEEKLY:
		return day - (civil_weekday(day) + 6) % 7;
	case PERIOD_MONTHLY:
		return civil_days(c.year, c.month, 1);
	case PERIOD_YEARLY:
		return civil_days(c.year, 1, 1);
	}
	must_not_get_here();
}

static int32_t period_ends(enum budget_period period, int32_t first)
{
	struct civil c = civil_of(first);
	switch (period) {
	case PERIOD_DAILY:
		return first + 1;
	case PERIOD_WEEKLY:
		return first + 7;
	case PERIOD_MONTHLY:
		return c.month == 12 ? civil_days(c.year + 1, 1, 1)
				     : civil_days(c.year, c.month + 1, 1);
	case PERIOD_YEARLY:
		return civil_days(c.year + 1, 1, 1);
	}
	must_not_get_here();
}

static void period_at(enum budget_period period, const struct zone *z, int64_t now_ms,
	int64_t *ret_from_ms, int64_t *ret_to_ms)
{
	int64_t now_s = civil_floor(now_ms < 0 ? 0 : now_ms, 1000);
	int32_t day = civil_day_of(zone_clock_s(z, now_s < LAST_S ? now_s : LAST_S));
	int32_t first = period_begins(period, day);
	*ret_from_ms = zone_instant_s(z, first * DAY_S) * 1000;
	*ret_to_ms = zone_instant_s(z, period_ends(period, first) * DAY_S) * 1000;
}

/* ---- What runs cost ---- */

static int64_t starts_ms(const struct reservation *r)
{
	return r->confirmed ? r->since_ms : r->reserved_ms;
}

bool budget_counts(const struct budget *b, const struct reservation *r)
{
	int64_t at_ms = starts_ms(r);
	return at_ms >= b->from_ms && at_ms < b->to_ms && (!b->lq || r->lq == b->lq) &&
	       (!r->bill.currency || r->bill.currency == b->currency);
}

static int64_t reserved_for(
	struct queue *q, const struct budget *b, const struct reservation *r, int64_t cost)
{
	if (b->spec.charge == CHARGE_ACTUAL)
		return cost;
	if (r->bill.duration_ms > 0 || !r->confirmed)
		return greater(r->bill.expected, cost);
	return greater(cost, bill_cost(q, r, quantity_add(q->now_ms, HOUR_MS)));
}

static void count_reservation(struct queue *q, struct budget *b, const struct reservation *r)
{
	if (!budget_counts(b, r))
		return;
	int64_t cost = bill_cost(q, r, q->now_ms);
	b->accrued = money_add(b->accrued, cost);
	b->reserved = money_add(b->reserved, reserved_for(q, b, r, cost));
}

static void count_reservations(struct queue *q, struct budget *b)
{
	struct clusterqueue *cq = b->cq ? b->cq : b->lq->cq;
	b->reserved = b->accrued = 0;
	if (b->cq)
		list_each(&b->cq->reservations, l)
			count_reservation(
				q, b, container_of(l, struct reservation, of_clusterqueue));
	else
		list_each(&b->lq->reservations, l)
			count_reservation(q, b, container_of(l, struct reservation, of_localqueue));
	if (cq)
		list_each(&cq->promised, l)
			count_reservation(
				q, b, container_of(l, struct reservation, of_clusterqueue));
}

static int64_t spent_in(const struct queue *q, const struct budget *b)
{
	return spending_sum(&q->budgets.spending, b->spec.clusterqueue, b->spec.localqueue_ns,
		b->spec.localqueue, b->currency, b->from_ms, b->to_ms);
}

/* A Budget without a currency has that of its queue's PricePlan. */
static void take_currency(struct queue *q, struct budget *b)
{
	struct clusterqueue *cq = b->cq ? b->cq : b->lq->cq;
	const struct plan *p = *b->spec.currency ? NULL : plan_of(q, cq);
	if (!p || b->currency == p->currency)
		return;
	b->currency = p->currency;
	b->to_ms = 0;
}

void budget_count(struct queue *q, struct budget *b)
{
	if (!b->zone)
		return;
	take_currency(q, b);
	if (q->now_ms < b->from_ms || q->now_ms >= b->to_ms) {
		period_at(b->spec.period, b->zone, q->now_ms, &b->from_ms, &b->to_ms);
		b->spent = spent_in(q, b);
		b->counted = false;
	}
	if (b->counted && b->counted_ms == q->now_ms)
		return;
	count_reservations(q, b);
	b->counted = true;
	b->counted_ms = q->now_ms;
}

int64_t budget_remaining(const struct budget *b)
{
	return money_add(money_add(b->spec.amount, -b->spent), -b->reserved);
}

const char *budget_fault(struct queue *q, const struct budget *b)
{
	struct clusterqueue *cq = b->cq ? b->cq : b->lq->cq;
	const struct plan *p = plan_of(q, cq);
	if (!b->zone)
		return "its time zone is unknown";
	if (p && *b->spec.currency && p->currency != b->currency)
		return "its currency is not that of the PricePlan";
	return NULL;
}

/* ---- Starts ---- */

/* Does b refuse a start with this expected cost? */
static bool refuses(struct queue *q, struct budget *b, int64_t cost)
{
	if (b->spec.on_exhausted == EXHAUSTED_WARN)
		return false;
	if (budget_fault(q, b))
		return true;
	budget_count(q, b);
	int64_t remaining = budget_remaining(b);
	return remaining <= 0 || (b->spec.charge == CHARGE_EXPECTED && cost > remaining);
}

static struct budget *refusing(struct queue *q, const struct link *budgets, int64_t cost)
{
	list_each(budgets, l) {
		struct budget *b = container_of(l, struct budget, of_owner);
		if (refuses(q, b, cost))
			return b;
	}
	return NULL;
}

bool budget_holds_all(struct queue *q, struct clusterqueue *cq)
{
	return plan_of(q, cq) && refusing(q, &cq->budgets, 0);
}

bool budget_lets_lines(struct queue *q, struct clusterqueue *cq, const struct workload *w,
	const struct quota_line *lines, size_t n, const struct budget **ret_by, int64_t *ret_cost)
{
	bool none = list_empty(&cq->budgets) && list_empty(&w->lq->budgets);
	*ret_cost = 0;
	if (none || !plan_of(q, cq))
		return true;
	int64_t lasts_ms = w->expected_ms > 0 ? w->expected_ms : HOUR_MS;
	int64_t cost = bill_expected(q, cq, lines, n, q->now_ms, lasts_ms);
	const struct budget *by = refusing(q, &cq->budgets, cost);
	if (!by)
		by = refusing(q, &w->lq->budgets, cost);
	*ret_cost = cost;
	if (by && ret_by)
		*ret_by = by;
	return !by;
}

bool budget_lets(struct queue *q, const struct nominee *e, const struct budget **ret_by)
{
	struct demand d;
	struct quota_line line[QUEUE_LINES_MAX];
	int64_t cost;
	if (list_empty(&e->cq->budgets) && list_empty(&e->w->lq->budgets))
		return true;
	nominee_demand(e, &d);
	for (size_t i = 0; i < d.nlines; i++)
		line[i] = (struct quota_line){
			"", d.line[i].row->flavor, d.line[i].row->resource, d.line[i].amount};
	return budget_lets_lines(q, e->cq, e->w, line, d.nlines, ret_by, &cost);
}

bool budget_lets_grow(struct queue *q, const struct reservation *r, int32_t more)
{
	struct quota_line line[QUEUE_LINES_MAX];
	size_t n = r->nlines < QUEUE_LINES_MAX ? r->nlines : QUEUE_LINES_MAX;
	if (!budget_concerns(r) || !plan_of(q, r->cq))
		return true;
	for (size_t i = 0; i < n; i++)
		line[i] = (struct quota_line){"", r->line[i].row->flavor, r->line[i].row->resource,
			reservation_more(r, i, more)};
	int64_t ran_ms = q->now_ms - r->since_ms, lasts_ms = r->bill.duration_ms;
	/* One that has run for longer than expected may go on for any time, too. */
	int64_t left_ms = lasts_ms > ran_ms ? lasts_ms - ran_ms : HOUR_MS;
	int64_t cost = bill_expected(q, r->cq, line, n, q->now_ms, left_ms);
	return !refusing(q, &r->cq->budgets, cost) && !refusing(q, &r->lq->budgets, cost);
}

/* ---- The life of a run ---- */

static void change(struct queue *q, const struct link *budgets)
{
	list_each(budgets, l) {
		container_of(l, struct budget, of_owner)->counted = false;
		q->budgets.stale = true;
	}
}

bool budget_concerns(const struct reservation *r)
{
	return (r->cq && !list_empty(&r->cq->budgets)) || !list_empty(&r->lq->budgets);
}

void budget_changed(struct queue *q, struct reservation *r)
{
	if (r->cq)
		change(q, &r->cq->budgets);
	change(q, &r->lq->budgets);
}

static void start_in(struct queue *q, const struct link *budgets, struct reservation *r)
{
	list_each(budgets, l) {
		struct budget *b = container_of(l, struct budget, of_owner);
		if (b->counted && b->counted_ms == q->now_ms && budget_counts(b, r))
			b->reserved = money_add(b->reserved, reserved_for(q, b, r, 0));
		q->budgets.stale = true;
	}
}

void budget_started(struct queue *q, struct reservation *r)
{
	r->bill.duration_ms = r->w->expected_ms;
	if (!budget_concerns(r))
		return; /* `expected` is not needed before it is confirmed */
	bill_expect(q, r);
	if (r->cq)
		start_in(q, &r->cq->budgets, r);
	start_in(q, &r->lq->budgets, r);
}

/* Adds the cost of an ended run, if it started in the period. */
static void spend_in(struct budget *b, const char *currency, int64_t started_ms, int64_t cost)
{
	if (b->zone && strcmp(b->currency, currency) == 0 && started_ms >= b->from_ms &&
		started_ms < b->to_ms)
		b->spent = money_add(b->spent, cost);
}

static void spend(struct queue *q, const char *clusterqueue, const char *ns, const char *localqueue,
	const char *currency, int64_t started_ms, int64_t cost)
{
	spending_add(
		&q->budgets.spending, clusterqueue, ns, localqueue, currency, started_ms, cost);
	struct budget *b;
	for (size_t i = 0; (b = budgets_at(q, i)); i++) {
		if (!b->spec.name)
			continue;
		bool meant = b->cq ? strcmp(b->spec.clusterqueue, clusterqueue) == 0
				   : strcmp(b->spec.localqueue, localqueue) == 0 &&
					     strcmp(b->spec.localqueue_ns, ns) == 0;
		if (meant)
			spend_in(b, currency, started_ms, cost);
	}
	q->budgets.stale = true;
}

void budget_ended(struct queue *q, struct reservation *r, int64_t cost)
{
	budget_changed(q, r);
	if (r->confirmed && r->bill.currency)
		spend(q, r->cq ? r->cq->name : "", r->lq->ns->name, r->lq->name, r->bill.currency,
			r->since_ms, cost);
}

void queue_recall_spent(struct queue *q, const char *clusterqueue, const char *ns,
	const char *localqueue, const char *currency, int64_t started_ms, int64_t cost)
{
	queue_tell(q, RECALL_SPENT, .clusterqueue_name = clusterqueue, .ns = ns,
		.localqueue_name = localqueue, .currency = currency, .started_ms = started_ms,
		.cost = cost);
	spend(q, clusterqueue, ns, localqueue, currency, started_ms, cost);
	q->counters.version++;
}

int64_t queue_recall_spent_since_ms(const struct queue *q, int64_t now_ms)
{
	int64_t since_ms = 0;
	bool any = false;
	struct budget *b;
	for (size_t i = 0; (b = budgets_at(q, i)); i++) {
		int64_t from_ms, to_ms;
		if (!b->spec.name || !b->zone)
			continue;
		period_at(b->spec.period, b->zone, now_ms, &from_ms, &to_ms);
		since_ms = any && since_ms < from_ms ? since_ms : from_ms;
		any = true;
	}
	return since_ms;
}

void budgets_recount(struct queue *q)
{
	struct budget *b;
	for (size_t i = 0; (b = budgets_at(q, i)); i++)
		b->counted = false;
	q->budgets.stale = true;
}
