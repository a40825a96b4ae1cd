#include "controller/answers/budgets.h"

#include "base/instant.h"
#include "queue/price/forecast.h"
#include "queue/price/money.h"

static void put_text(struct json_writer *w, const char *key, const char *value)
{
	jw_text(w, key, value ? value : "");
}

static void put_forecast(struct json_writer *w, const struct budget_view *v, int64_t now_ms)
{
	struct forecast x;
	struct forecast_facts f = {.from_ms = v->period_from_ms,
		.to_ms = v->period_to_ms,
		.now_ms = now_ms,
		.amount = v->amount,
		.spent = money_add(v->spent, v->accrued)};
	if (!forecast_spending(&f, &x))
		return;
	money_put(w, "forecast", x.spent);
	instant_put(w, "exhaustedAt", x.exhausted_ms);
}

/* Puts the period; nothing where none is known yet. */
static void put_period(struct json_writer *w, const struct budget_view *v, int64_t now_ms)
{
	if (v->period_to_ms == 0)
		return;
	instant_put(w, "from", v->period_from_ms);
	instant_put(w, "until", v->period_to_ms);
	put_text(w, "timeZone", v->time_zone);
	put_forecast(w, v, now_ms);
}

static void put_budget(struct json_writer *w, const struct budget_view *v, int64_t now_ms)
{
	jw_object(w, NULL);
	jw_text(w, "name", v->name);
	put_text(w, "clusterQueue", v->clusterqueue);
	put_text(w, "namespace", v->localqueue_ns);
	put_text(w, "localQueue", v->localqueue);
	put_text(w, "currency", v->currency);
	money_put(w, "amount", v->amount);
	money_put(w, "spent", v->spent);
	money_put(w, "reserved", v->reserved);
	money_put(w, "remaining", v->remaining);
	jw_bool(w, "active", v->active.ok);
	put_text(w, "reason", v->active.reason);
	put_text(w, "message", v->active.message);
	put_period(w, v, now_ms);
	jw_end(w);
}

void budgets_put(const struct queue *q, int64_t now_ms, struct json_writer *w)
{
	struct budget_view v;
	jw_array(w, "budgets");
	for (size_t i = 0; queue_view_budget(q, i, &v); i++)
		put_budget(w, &v, now_ms);
	jw_end(w);
}
