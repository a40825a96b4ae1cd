/*
 * A weight is a price at factor one (millionths an hour) times a factor (millionths) times
 * milliseconds; HOUR_WEIGHT of it is a millionth. With the bounds of plan.h a run of a hundred
 * years stays below 2^126.
 */
#include "queue/rules/money/bill.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "queue/price/money.h"
#include "queue/core.h"
#include "queue/model/reservation.h"
#include "base/symbol.h"
#include "queue/job/text.h"
#include "sluice/quantity.h"

#define HOUR_MS INT64_C(3600000)
#define HOUR_WEIGHT ((__int128)HOUR_MS * PRICE_FACTOR_ONE)

static int64_t cost_of(__int128 weight)
{
	__int128 cost = weight / HOUR_WEIGHT;
	if (weight % HOUR_WEIGHT > 0)
		cost++;
	return cost > INT64_MAX ? INT64_MAX : cost < INT64_MIN ? INT64_MIN : (int64_t)cost;
}

static int64_t base_of(const struct plan *p, const struct reservation *r)
{
	struct quota_line line[QUEUE_LINES_MAX];
	size_t n = r->nlines < QUEUE_LINES_MAX ? r->nlines : QUEUE_LINES_MAX;
	for (size_t i = 0; i < n; i++) {
		const struct quota_row *row = r->line[i].row;
		line[i] = (struct quota_line){"", row->flavor, row->resource, r->line[i].amount};
	}
	return plan_base_per_hour(p, line, n);
}

/* ---- Prices ---- */

/* The prices of a run from some moment on: a base, and factors over time. */
struct prices {
	int64_t base;
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
		ret->base = r->bill.per_hour;
	} else if (p) {
		ret->base = base_of(p, r);
		ret->factors = plan_factors(q, p, from_ms, to_ms);
	}
}

static __int128 weight_between(
	struct queue *q, const struct reservation *r, int64_t from_ms, int64_t to_ms)
{
	struct prices prices;
	if (to_ms <= from_ms)
		return 0;
	prices_of(q, r, from_ms, to_ms, &prices);
	return prices.base * tariff_weight(&prices.factors, from_ms, to_ms);
}

/* ---- Counting ---- */

/* From when on it is not counted yet. */
static int64_t open_ms(const struct reservation *r)
{
	return r->bill.until_ms > r->since_ms ? r->bill.until_ms : r->since_ms;
}

static __int128 weight_until(struct queue *q, const struct reservation *r, int64_t now_ms)
{
	return r->bill.weight + weight_between(q, r, open_ms(r), now_ms);
}

/* If there are too many, the first two are joined. */
static void add_item(struct bill *b, struct bill_item item)
{
	struct bill_item *last = b->nitems > 0 ? &b->item[b->nitems - 1] : NULL;
	if (last && last->per_hour == item.per_hour && !last->several) {
		last->weight += item.weight;
		return;
	}
	if (b->nitems == BILL_ITEMS_MAX) {
		b->item[0].weight += b->item[1].weight;
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
		if (from < to)
			add_item(b,
				(struct bill_item){from,
					plan_times(prices.base, t->step[i].per_hour),
					(__int128)prices.base * t->step[i].per_hour * (to - from),
					false});
	}
}

static void name_plan(struct queue *q, struct reservation *r)
{
	const struct plan *p = plan_of(q, r->cq);
	if (!p || is_foreign(r, p))
		return;
	r->bill.plan = symbol_of(&q->symbols, p->name);
	r->bill.currency = p->currency;
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
	r->bill.per_hour = bill_per_hour(q, r, now_ms);
	r->bill.weight = weight_until(q, r, now_ms);
	r->bill.until_ms = now_ms;
}

void bill_done(struct reservation *r)
{
	free(r->bill.item);
	r->bill.item = NULL;
}

void bill_expect(struct queue *q, struct reservation *r)
{
	int64_t begin_ms = r->confirmed ? r->since_ms : r->reserved_ms;
	int64_t lasts_ms = r->bill.duration_ms > 0 ? r->bill.duration_ms : HOUR_MS;
	int64_t from_ms = r->confirmed ? open_ms(r) : begin_ms;
	if (r->confirmed)
		name_plan(q, r);
	r->bill.expected = cost_of(
		r->bill.weight + weight_between(q, r, from_ms, quantity_add(begin_ms, lasts_ms)));
}

int64_t bill_cost(struct queue *q, const struct reservation *r, int64_t now_ms)
{
	return r->confirmed ? cost_of(weight_until(q, r, now_ms)) : 0;
}

int64_t bill_per_hour(struct queue *q, const struct reservation *r, int64_t now_ms)
{
	struct prices prices;
	prices_of(q, r, now_ms, now_ms, &prices);
	return plan_times(prices.base, tariff_at(&prices.factors, now_ms));
}

int64_t bill_expected(struct queue *q, struct clusterqueue *cq, const struct quota_line *lines,
	size_t n, int64_t from_ms, int64_t duration_ms)
{
	struct plan *p = plan_of(q, cq);
	if (!p || duration_ms <= 0)
		return 0;
	int64_t to_ms = quantity_add(from_ms, duration_ms);
	struct tariff factors = plan_factors(q, p, from_ms, to_ms);
	return cost_of(plan_base_per_hour(p, lines, n) * tariff_weight(&factors, from_ms, to_ms));
}

/* ---- Told ---- */

static void write_time(struct buf *b, int64_t ms)
{
	char text[64];
	struct text t = text_over(text, sizeof(text));
	text_add_time(&t, ms);
	buf_printf(b, "\"%s\"", text);
}

static void write_item(struct buf *b, const struct bill_item *item)
{
	char money[MONEY_TEXT_SIZE];
	money_format(item->several ? cost_of(item->weight) : item->per_hour, money);
	buf_puts(b, "{\"from\":");
	write_time(b, item->from_ms);
	buf_printf(b, ",\"%s\":\"%s\"}", item->several ? "cost" : "perHour", money);
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
	struct workload *w = queue_find_workload(q, uid);
	if (!w || !w->reservation || !w->reservation->confirmed)
		return NULL;
	name_plan(q, w->reservation);
	return w->reservation;
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
			cost_of(weight_between(q, r, from_ms, quantity_add(from_ms, duration_ms)))};
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
	if (r->bill.duration_ms > 0)
		ret->expected_cost = r->bill.expected > ret->cost ? r->bill.expected : ret->cost;
	buf_reset(&q->bill_text);
	write_detail(q, r, now_ms, &q->bill_text);
	ret->detail = buf_text(&q->bill_text);
	return true;
}
