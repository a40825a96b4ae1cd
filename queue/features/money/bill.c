#include "queue/features/money/bill.h"

#include <stdlib.h>
#include <string.h>

#include "base/instant.h"
#include "base/mem.h"
#include "base/must.h"
#include "queue/price/money.h"
#include "queue/core/model/state.h"
#include "queue/core/model/reservation.h"
#include "base/symbol.h"
#include "queue/job/text.h"
#include "sluice/quantity.h"
#include "queue/price/tariff.h"
#include "queue/features/money/plan.h"

#define HOUR_MS INT64_C(3600000)

static struct hourly_price base_of(const struct plan *p, const struct reservation *r)
{
	struct quota_line line[QUEUE_LINES_MAX];
	size_t n = r->nlines < QUEUE_LINES_MAX ? r->nlines : QUEUE_LINES_MAX;
	for (size_t i = 0; i < n; i++) {
		const struct quota_row *row = r->line[i].row;
		line[i] = (struct quota_line){"", row->flavor, row->resource, r->line[i].amount};
	}
	return plan_hourly_price(p, line, n);
}

/* ---- Prices ---- */

/* The prices of a run from some moment on: a base, and factors over time. */
struct prices {
	struct hourly_price base;
	struct tariff factors;
	struct tariff_step constant;
};

static bool is_foreign(const struct reservation *r, const struct plan *p)
{
	return r->bill.currency && p && r->bill.currency != p->currency;
}

static void prices_of(struct queue *q, const struct reservation *r, int64_t from_ms, int64_t to_ms,
	struct prices *ret)
{
	struct plan *p = plan_of(q, r->cq);
	*ret = (struct prices){.constant = {0, PRICE_FACTOR_ONE}};
	ret->factors = (struct tariff){&ret->constant, 1};
	if (is_foreign(r, p)) {
		ret->base = r->bill.price;
		ret->constant.per_hour = r->bill.factor;
	} else if (p) {
		ret->base = base_of(p, r);
		ret->factors = plan_factors(q, p, from_ms, to_ms);
	}
}

static struct charge charge_between(
	struct queue *q, const struct reservation *r, int64_t from_ms, int64_t to_ms)
{
	struct prices prices;
	if (to_ms <= from_ms)
		return (struct charge){0};
	prices_of(q, r, from_ms, to_ms, &prices);
	return charge_of(prices.base, tariff_weight(&prices.factors, from_ms, to_ms));
}

/* ---- Counting ---- */

/* From when on it is not counted yet. */
static int64_t open_ms(const struct reservation *r)
{
	return r->bill.until_ms > r->since_ms ? r->bill.until_ms : r->since_ms;
}

static struct charge charge_until(struct queue *q, const struct reservation *r, int64_t now_ms)
{
	return charge_add(r->bill.charge, charge_between(q, r, open_ms(r), now_ms));
}

/* If there are too many, the first two are joined. */
static void add_item(struct bill *b, struct bill_item item)
{
	struct bill_item *last = b->nitems > 0 ? &b->item[b->nitems - 1] : NULL;
	if (last && last->per_hour == item.per_hour && !last->several) {
		last->charge = charge_add(last->charge, item.charge);
		return;
	}
	if (b->nitems == BILL_ITEMS_MAX) {
		b->item[0].charge = charge_add(b->item[0].charge, b->item[1].charge);
		b->item[0].several = true;
		memmove(&b->item[1], &b->item[2], (--b->nitems - 1) * sizeof(*b->item));
	}
	b->item = mem_grow(b->item, BILL_ITEMS_MAX, sizeof(*b->item));
	b->item[b->nitems++] = item;
}

static void add_items(struct queue *q, const struct reservation *r, struct bill *b, int64_t from_ms,
	int64_t to_ms)
{
	struct prices prices;
	prices_of(q, r, from_ms, to_ms, &prices);
	const struct tariff *t = &prices.factors;
	for (size_t i = 0; i < t->n; i++) {
		int64_t from = i > 0 && t->step[i].from_ms > from_ms ? t->step[i].from_ms : from_ms;
		int64_t to = i + 1 < t->n && t->step[i + 1].from_ms < to_ms ? t->step[i + 1].from_ms
									    : to_ms;
		int64_t factor = t->step[i].per_hour;
		if (from < to)
			add_item(b, (struct bill_item){from, hourly_price_told(prices.base, factor),
					    charge_of(prices.base, (__int128)factor * (to - from)),
					    false});
	}
}

static void name_plan(struct queue *q, struct reservation *r)
{
	const struct plan *p = plan_of(q, r->cq);
	if (!p || is_foreign(r, p))
		return;
	r->bill.plan = symbol_of(&q->symbols, p->object.name);
	r->bill.currency = p->currency;
}

/* For a plan in another currency, in which the run goes on at the price that it had. */
static void keep_price(struct queue *q, struct reservation *r, int64_t now_ms)
{
	struct prices prices;
	prices_of(q, r, now_ms, now_ms, &prices);
	r->bill.price = prices.base;
	r->bill.factor = tariff_at(&prices.factors, now_ms);
}

void bill_settle(struct queue *q, struct reservation *r, int64_t now_ms)
{
	int64_t from_ms = open_ms(r);
	if (!r->confirmed)
		return;
	name_plan(q, r);
	if (!r->bill.currency)
		r->bill.until_ms = now_ms > from_ms ? now_ms : from_ms;
	if (!r->bill.currency || now_ms <= from_ms)
		return;
	add_items(q, r, &r->bill, from_ms, now_ms);
	r->bill.charge = charge_until(q, r, now_ms);
	keep_price(q, r, now_ms);
	r->bill.until_ms = now_ms;
}

void bill_done(struct reservation *r)
{
	free(r->bill.item);
	r->bill.item = NULL;
}

void bill_expect(struct queue *q, struct reservation *r)
{
	int64_t begin_ms = reservation_since_ms(r);
	int64_t lasts_ms = r->expected_ms > 0 ? r->expected_ms : HOUR_MS;
	int64_t from_ms = r->confirmed ? open_ms(r) : begin_ms;
	if (r->confirmed)
		name_plan(q, r);
	struct charge to_come = charge_between(q, r, from_ms, quantity_add(begin_ms, lasts_ms));
	r->bill.expected = charge_told(charge_add(r->bill.charge, to_come));
}

int64_t bill_cost(struct queue *q, const struct reservation *r, int64_t now_ms)
{
	return r->confirmed ? charge_told(charge_until(q, r, now_ms)) : 0;
}

int64_t bill_per_hour(struct queue *q, const struct reservation *r, int64_t now_ms)
{
	struct prices prices;
	prices_of(q, r, now_ms, now_ms, &prices);
	return hourly_price_told(prices.base, tariff_at(&prices.factors, now_ms));
}

int64_t bill_expected(struct queue *q, struct clusterqueue *cq, const struct quota_line *lines,
	size_t n, int64_t from_ms, int64_t duration_ms)
{
	struct plan *p = plan_of(q, cq);
	if (!p || duration_ms <= 0)
		return 0;
	int64_t to_ms = quantity_add(from_ms, duration_ms);
	struct tariff factors = plan_factors(q, p, from_ms, to_ms);
	__int128 weight = tariff_weight(&factors, from_ms, to_ms);
	return charge_told(charge_of(plan_hourly_price(p, lines, n), weight));
}

/* ---- Told ---- */

static void write_item(struct buf *b, const struct bill_item *item)
{
	char money[MONEY_TEXT_SIZE];
	money_format(item->several ? charge_told(item->charge) : item->per_hour, money);
	buf_printf(b, "{\"from\":\"%s\",\"%s\":\"%s\"}", instant_seconds(item->from_ms).s,
		item->several ? "cost" : "perHour", money);
}

static void write_detail(
	struct queue *q, const struct reservation *r, int64_t now_ms, struct buf *b)
{
	struct bill copy = r->bill;
	copy.item = mem_array(BILL_ITEMS_MAX, sizeof(*copy.item));
	if (copy.nitems > 0)
		memcpy(copy.item, r->bill.item, copy.nitems * sizeof(*copy.item));
	if (open_ms(r) < now_ms)
		add_items(q, r, &copy, open_ms(r), now_ms);
	buf_puts(b, "[");
	for (size_t i = 0; i < copy.nitems; i++) {
		buf_puts(b, i ? "," : "");
		write_item(b, &copy.item[i]);
	}
	buf_puts(b, "]");
	free(copy.item);
}

/* NULL: it has no room, or was not confirmed. */
static struct reservation *billed(struct queue *q, const struct uid *uid)
{
	struct reservation *r = queue_find_reservation(q, uid);
	if (!r || !r->confirmed)
		return NULL;
	name_plan(q, r);
	return r;
}

bool queue_job_cost(struct queue *q, const struct uid *uid, int64_t now_ms, struct run_cost *ret)
{
	const struct reservation *r = billed(q, uid);
	*ret = (struct run_cost){.currency = ""};
	if (r && r->bill.currency)
		*ret = (struct run_cost){true, r->bill.currency, bill_cost(q, r, now_ms)};
	return r;
}

bool queue_job_cost_of(struct queue *q, const struct uid *uid, int64_t from_ms, int64_t duration_ms,
	struct run_cost *ret)
{
	const struct reservation *r = billed(q, uid);
	*ret = (struct run_cost){.currency = ""};
	if (r && r->bill.currency)
		*ret = (struct run_cost){true, r->bill.currency,
			charge_told(
				charge_between(q, r, from_ms, quantity_add(from_ms, duration_ms)))};
	return r;
}

bool queue_job_bill(struct queue *q, const struct uid *uid, int64_t now_ms, struct run_bill *ret)
{
	struct reservation *r = billed(q, uid);
	*ret = (struct run_bill){.plan = "", .currency = "", .detail = "[]", .expected_cost = -1};
	if (!r)
		return false;
	if (!r->bill.currency)
		return true;
	ret->priced = true;
	ret->plan = r->bill.plan;
	ret->currency = r->bill.currency;
	ret->cost = bill_cost(q, r, now_ms);
	ret->per_hour = bill_per_hour(q, r, now_ms);
	if (r->expected_ms > 0)
		ret->expected_cost = r->bill.expected > ret->cost ? r->bill.expected : ret->cost;
	buf_reset(&q->bill_text);
	write_detail(q, r, now_ms, &q->bill_text);
	ret->detail = buf_text(&q->bill_text);
	return true;
}
