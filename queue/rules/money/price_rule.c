/* The rule of PricePlans: a plan without a price for now may refuse all starts, and runs above
 * their max-price may have to stop. */
#include "queue/core.h"
#include "queue/explain/explain_money.h"
#include "queue/model/reservation.h"
#include "queue/rules/money/terms.h"
#include "queue/rules/rule.h"

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

static enum stop_reason price_stops(struct queue *q, struct reservation *r)
{
	const struct runpolicy *policy;
	if (r->stop_given || !r->confirmed || r->state != RESERVATION_HELD ||
		!terms_price_too_high(q, r, &policy))
		return STOP_REASON_NONE;
	r->stop_policy = policy->name;
	return STOP_REASON_PRICE;
}

/* A run that its owner would not start at this price takes no more pods at it either. */
static int32_t price_growth_pods(struct queue *q, const struct reservation *r, int32_t more)
{
	return terms_above_max_price(q, r) ? 0 : more;
}

static enum wait_reason price_explain(struct question *a)
{
	struct queue *q = (struct queue *)(uintptr_t)a->q; /* only to keep answers */
	return explain_terms(q, a->w, a->cq, a->claim, a->now_ms, WAIT_PRICE, a->text) ? WAIT_PRICE
										       : WAIT_NOT;
}

const struct rule price_rule = {
	.name = "price",
	.concerns = price_concerns,
	.queue_may = price_queue_may,
	.promise_may = price_promise_may,
	.stops = price_stops,
	.next_ms = terms_next_ms,
	.growth_pods = price_growth_pods,
	.growth_refused = "the price is above its max-price",
	.explain = price_explain,
};
