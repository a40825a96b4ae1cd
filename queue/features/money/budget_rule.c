/* The rule of Budgets: a start must be paid for, and runs may stop when money is used up. */
#include <stdlib.h>

#include "base/mem.h"
#include "queue/core/admit/nominee.h"
#include "queue/core/model/state.h"
#include "queue/features/money/explain_money.h"
#include "queue/core/model/reservation.h"
#include "queue/price/money.h"
#include "queue/core/model/feature.h"
#include "sluice/quantity.h"
#include "queue/features/money/budget.h"
#include "queue/features/money/plan.h"
#include "queue/features/money/bill.h"

#define HOUR_MS INT64_C(3600000)

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
	list_each_entry(budgets, struct budget, b, of_owner)
		if (refuses(q, b, cost))
			return b;
	return NULL;
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

/* Do all Budgets of its queues let the run have so many pods more, for what is left of its expected
 * duration? */
static bool budget_lets_grow(struct queue *q, const struct reservation *r, int32_t more)
{
	struct quota_line line[QUEUE_LINES_MAX];
	size_t n = r->nlines < QUEUE_LINES_MAX ? r->nlines : QUEUE_LINES_MAX;
	if (!budget_concerns(r) || !plan_of(q, r->cq))
		return true;
	for (size_t i = 0; i < n; i++)
		line[i] = (struct quota_line){"", r->line[i].row->flavor, r->line[i].row->resource,
			reservation_more(r, i, more)};
	int64_t ran_ms = q->now_ms - r->since_ms, lasts_ms = r->expected_ms;
	/* A run that has lasted longer than expected may go on for any time, too. */
	int64_t left_ms = lasts_ms > ran_ms ? lasts_ms - ran_ms : HOUR_MS;
	int64_t cost = bill_expected(q, r->cq, line, n, q->now_ms, left_ms);
	return !refusing(q, &r->cq->budgets, cost) && !refusing(q, &r->lq->budgets, cost);
}

/* ---- Used up ---- */

static bool is_exhausted(struct queue *q, struct budget *b)
{
	if (!b->spec.name || b->spec.on_exhausted != EXHAUSTED_SUSPEND || budget_fault(q, b))
		return false;
	budget_count(q, b);
	return money_add(b->spent, b->accrued) >= b->spec.amount;
}

static const struct budget *stopping(
	struct queue *q, const struct link *budgets, const struct reservation *r)
{
	list_each_entry(budgets, struct budget, b, of_owner)
		if (is_exhausted(q, b) && budget_counts(b, r) && bill_per_hour(q, r, q->now_ms) > 0)
			return b;
	return NULL;
}

/* Has the run to stop? *ret_by: the Budget that stops it. */
static bool budget_stops(struct queue *q, const struct reservation *r, const struct budget **ret_by)
{
	*ret_by = r->cq ? stopping(q, &r->cq->budgets, r) : NULL;
	if (!*ret_by)
		*ret_by = stopping(q, &r->lq->budgets, r);
	return *ret_by != NULL;
}

static int last_first(const void *va, const void *vb)
{
	const struct reservation *a = *(struct reservation *const *)va,
				 *b = *(struct reservation *const *)vb;
	return order_cmp(&b->w->key, &a->w->key);
}

static void suspect_runs(struct queue *q, struct budget *b)
{
	size_t n = 0;
	const struct link *reservations = b->cq ? &b->cq->reservations : &b->lq->reservations;
	list_each(reservations, l)
		n++;
	struct reservation **all = mem_array(n, sizeof(*all));
	n = 0;
	list_each(reservations, l)
		all[n++] = b->cq ? container_of(l, struct reservation, of_clusterqueue)
				 : container_of(l, struct reservation, of_localqueue);
	if (n > 1)
		qsort(all, n, sizeof(struct reservation *), last_first);
	for (size_t i = 0; i < n; i++)
		reservation_suspect(q, all[i]);
	free(all);
}

/* ---- Over time ---- */

/* What all its runs together cost an hour now. */
static int64_t rate_of(struct queue *q, const struct budget *b)
{
	int64_t sum = 0;
	if (b->cq) {
		list_each_entry(&b->cq->reservations, const struct reservation, r, of_clusterqueue)
			if (r->confirmed && budget_counts(b, r))
				sum = money_add(sum, bill_per_hour(q, r, q->now_ms));
		return sum;
	}
	list_each_entry(&b->lq->reservations, const struct reservation, r, of_localqueue)
		if (r->confirmed && budget_counts(b, r))
			sum = money_add(sum, bill_per_hour(q, r, q->now_ms));
	return sum;
}

/* When its runs will have used it up, at present prices. At each step of the plan it is computed
 * again. */
static int64_t exhausted_at(struct queue *q, struct budget *b)
{
	if (b->spec.on_exhausted != EXHAUSTED_SUSPEND || budget_fault(q, b))
		return INT64_MAX;
	int64_t left = money_add(money_add(b->spec.amount, -b->spent), -b->accrued);
	int64_t rate = rate_of(q, b);
	if (rate <= 0 || left <= 0)
		return INT64_MAX;
	__int128 ms = ((__int128)left * HOUR_MS + rate - 1) / rate;
	return ms > INT64_MAX / 2 ? INT64_MAX : quantity_add(q->now_ms, (int64_t)ms);
}

static void arm(struct queue *q, struct budget *b)
{
	if (!b->spec.name || !b->zone)
		return;
	budget_count(q, b);
	int64_t at_ms = exhausted_at(q, b);
	alarm_set(&q->alarms, &b->alarm, at_ms < b->to_ms ? at_ms : b->to_ms);
}

void budget_ring(struct queue *q, struct budget *b)
{
	if (!b->spec.name)
		return;
	budget_count(q, b);
	budget_touch_owner(q, b);
	if (is_exhausted(q, b))
		suspect_runs(q, b);
	q->budgets->stale = true;
	q->counters.version++;
}

void budgets_set_back(struct queue *q)
{
	struct budget *b;
	for (size_t i = 0; (b = budgets_at(q, i)); i++)
		budget_ring(q, b);
}

void budgets_arm(struct queue *q)
{
	struct budget *b;
	if (!q->budgets->stale)
		return;
	q->budgets->stale = false;
	for (size_t i = 0; (b = budgets_at(q, i)); i++)
		arm(q, b);
}

/* ---- The rule ---- */

static bool budget_concerns_queue(struct queue *q, struct clusterqueue *cq)
{
	(void)q;
	if (!list_empty(&cq->budgets))
		return true;
	list_each_entry(&cq->localqueues, const struct localqueue, lq, of_clusterqueue)
		if (!list_empty(&lq->budgets))
			return true;
	return false;
}

/* Where nothing is left nothing can start, whatever it costs. */
static bool budget_queue_may(struct queue *q, struct clusterqueue *cq)
{
	return !plan_of(q, cq) || !refusing(q, &cq->budgets, 0);
}

static bool budget_choice_may(struct queue *q, const struct proposal *a)
{
	const struct nominee *e = a->nominee;
	struct demand d;
	struct quota_line line[QUEUE_LINES_MAX];
	int64_t cost;
	if (list_empty(&e->cq->budgets) && list_empty(&e->w->lq->budgets))
		return true;
	nominee_demand(e, &d);
	for (size_t i = 0; i < d.nlines; i++)
		line[i] = (struct quota_line){
			"", d.line[i].row->flavor, d.line[i].row->resource, d.line[i].amount};
	return budget_lets_lines(q, e->cq, e->w, line, d.nlines, NULL, &cost);
}

static void budget_parts(const struct workload *w, struct parting *p)
{
	if (!list_empty(&w->lq->budgets))
		parting_add(p, w->lq, w->lq->name);
}

static bool budget_looks_at_duration(const struct localqueue *lq)
{
	return !list_empty(&lq->cq->budgets) || !list_empty(&lq->budgets);
}

static enum stop_reason budget_stops_run(
	struct queue *q, struct reservation *r, const char **ret_policy)
{
	const struct budget *budget;
	if (r->stop_given || !r->confirmed || r->state != RESERVATION_HELD ||
		!budget_stops(q, r, &budget))
		return STOP_REASON_NONE;
	*ret_policy = budget->object.name;
	return STOP_REASON_BUDGET;
}

/* Half as many, until they can be paid for. */
static int32_t budget_growth_pods(struct queue *q, const struct reservation *r, int32_t more)
{
	while (more > 0 && !budget_lets_grow(q, r, more))
		more /= 2;
	return more;
}

static enum wait_reason budget_explain(struct question *a)
{
	struct queue *q = (struct queue *)(uintptr_t)a->q; /* only to keep answers */
	return explain_budget(q, a->w, a->cq, a->claim, a->text) ? WAIT_BUDGET : WAIT_NOT;
}

/* A Budget may stop it. */
static void budget_confirmed(struct queue *q, struct reservation *r)
{
	budget_changed(q, r);
	if (budget_concerns(r))
		reservation_suspect(q, r);
}

static void budget_settled(struct queue *q, struct reservation *r, int64_t now_ms)
{
	budget_ended(q, r, bill_cost(q, r, now_ms));
}

const struct feature budget_feature = {
	.sleeps = true,
	.concerns = budget_concerns_queue,
	.queue_may = budget_queue_may,
	.choice_may = budget_choice_may,
	.parts = budget_parts,
	.looks_at_duration = budget_looks_at_duration,
	.stops = budget_stops_run,
	.growth_pods = budget_growth_pods,
	.growth_refused = "a Budget has not enough left",
	.explain = budget_explain,
	.before = {[RUN_UNPROMISED] = budget_changed, [RUN_ENDED] = budget_changed},
	.after = {[RUN_PROMISED] = budget_started,
		[RUN_RESERVED] = budget_started,
		[RUN_KEPT] = budget_changed,
		[RUN_CONFIRMED] = budget_confirmed,
		[RUN_RESIZED] = budget_changed},
	.run_settled = budget_settled,
};
