/* When a Budget will be used up, and which runs stop then. */
#include "queue/rules/money/budget.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "queue/price/money.h"
#include "queue/core.h"
#include "queue/model/reservation.h"
#include "sluice/quantity.h"

#define HOUR_MS INT64_C(3600000)

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
	list_each(budgets, l) {
		struct budget *b = container_of(l, struct budget, of_owner);
		if (is_exhausted(q, b) && budget_counts(b, r) && bill_per_hour(q, r, q->now_ms) > 0)
			return b;
	}
	return NULL;
}

bool budget_stops(struct queue *q, const struct reservation *r, const struct budget **ret_by)
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
		list_each(&b->cq->reservations, l) {
			const struct reservation *r =
				container_of(l, struct reservation, of_clusterqueue);
			if (r->confirmed && budget_counts(b, r))
				sum = money_add(sum, bill_per_hour(q, r, q->now_ms));
		}
		return sum;
	}
	list_each(&b->lq->reservations, l) {
		const struct reservation *r = container_of(l, struct reservation, of_localqueue);
		if (r->confirmed && budget_counts(b, r))
			sum = money_add(sum, bill_per_hour(q, r, q->now_ms));
	}
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
	q->budgets.stale = true;
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
	if (!q->budgets.stale)
		return;
	q->budgets.stale = false;
	for (size_t i = 0; (b = budgets_at(q, i)); i++)
		arm(q, b);
}
