/* The rule of Budgets: a start must be paid for, and runs may stop when money is used up. */
#include "queue/admit/nominee_order.h"
#include "queue/core.h"
#include "queue/explain/explain_money.h"
#include "queue/model/reservation.h"
#include "queue/rules/rule.h"

static bool budget_concerns_queue(struct queue *q, struct clusterqueue *cq)
{
	(void)q;
	if (!list_empty(&cq->budgets))
		return true;
	list_each(&cq->localqueues, l)
		if (!list_empty(&container_of(l, struct localqueue, of_clusterqueue)->budgets))
			return true;
	return false;
}

static bool budget_queue_may(struct queue *q, struct clusterqueue *cq)
{
	return !budget_holds_all(q, cq);
}

static bool budget_choice_may(struct queue *q, const struct attempt *a)
{
	return budget_lets(q, a->nominee, NULL);
}

static uint64_t budget_parts(const struct workload *w, struct parting *ret)
{
	if (list_empty(&w->lq->budgets))
		return 0;
	ret->alone = w->lq;
	return map_hash_string(w->lq->name) * 0x94D049BB133111EBu;
}

static bool budget_looks_at_duration(const struct localqueue *lq)
{
	return !list_empty(&lq->cq->budgets) || !list_empty(&lq->budgets);
}

static enum stop_reason budget_stops_run(struct queue *q, struct reservation *r)
{
	const struct budget *budget;
	if (r->stop_given || !r->confirmed || r->state != RESERVATION_HELD ||
		!budget_stops(q, r, &budget))
		return STOP_REASON_NONE;
	r->stop_policy = budget->name;
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

const struct rule budget_rule = {
	.name = "budget",
	.concerns = budget_concerns_queue,
	.queue_may = budget_queue_may,
	.choice_may = budget_choice_may,
	.parts = budget_parts,
	.looks_at_duration = budget_looks_at_duration,
	.stops = budget_stops_run,
	.growth_pods = budget_growth_pods,
	.growth_refused = "a Budget has not enough left",
	.explain = budget_explain,
};
