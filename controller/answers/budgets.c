#include "controller/answers/budgets.h"

#include "controller/answers/members.h"
#include "queue/price/forecast.h"
#include "queue/price/money.h"

static void put_forecast(struct buf *out, const struct budget_view *v, int64_t now_ms)
{
	struct forecast x;
	struct forecast_facts f = {.from_ms = v->period_from_ms,
		.to_ms = v->period_to_ms,
		.now_ms = now_ms,
		.amount = v->amount,
		.spent = money_add(v->spent, v->accrued)};
	if (!forecast_spending(&f, &x))
		return;
	put_member_money(out, "forecast", x.spent);
	if (x.exhausted_ms > 0)
		put_member_time(out, "exhaustedAt", x.exhausted_ms);
}

/* Nothing where no period is known yet. */
static void put_period(struct buf *out, const struct budget_view *v, int64_t now_ms)
{
	if (v->period_to_ms == 0)
		return;
	put_member_time(out, "from", v->period_from_ms);
	put_member_time(out, "until", v->period_to_ms);
	put_member(out, "timeZone", v->time_zone);
	put_forecast(out, v, now_ms);
}

static void put_budget(struct buf *out, const struct budget_view *v, int64_t now_ms)
{
	buf_puts(out, "{\"name\":");
	buf_json_string(out, v->name);
	put_member(out, "clusterQueue", v->clusterqueue);
	put_member(out, "namespace", v->localqueue_ns);
	put_member(out, "localQueue", v->localqueue);
	put_member(out, "currency", v->currency);
	put_member_money(out, "amount", v->amount);
	put_member_money(out, "spent", v->spent);
	put_member_money(out, "reserved", v->reserved);
	put_member_money(out, "remaining", v->remaining);
	put_member_bool(out, "active", v->active.ok);
	put_member(out, "reason", v->active.reason);
	put_member(out, "message", v->active.message);
	put_period(out, v, now_ms);
	buf_putc(out, '}');
}

struct http_reply budgets_answer(const struct api_sources *s, struct buf *out)
{
	struct budget_view v;
	buf_puts(out, "{\"budgets\":[");
	for (size_t i = 0; queue_view_budget(s->metrics.queue, i, &v); i++) {
		if (i > 0)
			buf_putc(out, ',');
		put_budget(out, &v, s->now_ms);
	}
	buf_puts(out, "]}\n");
	return (struct http_reply){200, "application/json"};
}
