/* Metrics of what admins describe of time and money. */
#include <inttypes.h>

#include "controller/answers/metrics.h"
#include "controller/write/metrics_put.h"
#include "queue/price/money.h"

#define SAMPLES_MAX_BYTES (16 * 1024 * 1024) /* size of one family */

static void put_money(struct buf *out, int64_t micro)
{
	char text[MONEY_TEXT_SIZE];
	money_format(micro, text);
	buf_printf(out, "%s\n", text);
}

/* Puts a sample for an object, with the reason that its status shows: so what is wrong can be told
 * from what is as it should be, and alerted on. */
static void put_condition(struct buf *out, enum metric m, const char *name, const char *reason)
{
	metrics_put_sample(out, m, name, reason ? reason : "", NULL);
	buf_puts(out, "1\n");
}

static void put_calendars(struct buf *out, const struct queue *q)
{
	struct calendar_view v;
	metrics_put_family(out, METRIC_WINDOW_OPEN);
	for (size_t i = 0; queue_view_calendar(q, i, &v); i++)
		if (v.zone) {
			metrics_put_sample(out, METRIC_WINDOW_OPEN, v.name, NULL);
			buf_printf(out, "%d\n", v.state.open);
		}
	metrics_put_family(out, METRIC_WINDOW_NEXT_TRANSITION);
	for (size_t i = 0; queue_view_calendar(q, i, &v); i++)
		if (v.zone && v.next_ms[0] != CALENDAR_NEVER) {
			metrics_put_sample(out, METRIC_WINDOW_NEXT_TRANSITION, v.name, NULL);
			buf_printf(out, "%" PRId64 "\n", v.next_ms[0] / 1000);
		}
	metrics_put_family(out, METRIC_CALENDAR_CONDITION);
	for (size_t i = 0; queue_view_calendar(q, i, &v); i++)
		put_condition(out, METRIC_CALENDAR_CONDITION, v.name, v.valid.reason);
}

static void put_policies(struct buf *out, const struct queue *q)
{
	struct runpolicy_view v;
	metrics_put_family(out, METRIC_RUN_POLICY_CONDITION);
	for (size_t i = 0; queue_view_runpolicy(q, i, &v); i++)
		put_condition(out, METRIC_RUN_POLICY_CONDITION, v.name, v.active.reason);
}

static void put_plans(struct buf *out, const struct queue *q)
{
	struct priceplan_view v;
	metrics_put_family(out, METRIC_PRICE_FACTOR);
	for (size_t i = 0; queue_view_priceplan(q, i, &v); i++) {
		metrics_put_sample(out, METRIC_PRICE_FACTOR, v.name, NULL);
		put_money(out, v.factor);
	}
	metrics_put_family(out, METRIC_PRICE_PLAN_CONDITION);
	for (size_t i = 0; queue_view_priceplan(q, i, &v); i++)
		put_condition(out, METRIC_PRICE_PLAN_CONDITION, v.name, v.active.reason);
}

static void put_budgets(struct buf *out, const struct queue *q)
{
	static const enum metric family[] = {METRIC_BUDGET_AMOUNT, METRIC_BUDGET_SPENT,
		METRIC_BUDGET_RESERVED, METRIC_BUDGET_REMAINING};
	struct budget_view v;
	for (size_t f = 0; f < sizeof(family) / sizeof(*family); f++) {
		metrics_put_family(out, family[f]);
		for (size_t i = 0; queue_view_budget(q, i, &v); i++) {
			int64_t value[] = {v.amount, v.spent, v.reserved, v.remaining};
			metrics_put_sample(out, family[f], v.name, v.currency, NULL);
			put_money(out, value[f]);
		}
	}
	metrics_put_family(out, METRIC_BUDGET_CONDITION);
	for (size_t i = 0; queue_view_budget(q, i, &v); i++)
		put_condition(out, METRIC_BUDGET_CONDITION, v.name, v.active.reason);
}

/* Puts the AdvanceReservations. A view is worked out from what is booked, so each is looked at
 * once: the samples of a family are gathered beside the others. */
static void put_reservations(struct buf *out, const struct queue *q)
{
	struct advance_reservation_view v;
	struct buf kept, stopped;
	buf_init(&kept, SAMPLES_MAX_BYTES);
	buf_init(&stopped, SAMPLES_MAX_BYTES);
	metrics_put_family(out, METRIC_ADVANCE_RESERVATION_ACCEPTED);
	metrics_put_family(&kept, METRIC_ADVANCE_RESERVATION_KEPT);
	metrics_put_family(&stopped, METRIC_ADVANCE_RESERVATION_STOPPED_RUNS);
	for (size_t i = 0; queue_view_advance_reservation(q, i, &v); i++) {
		put_condition(out, METRIC_ADVANCE_RESERVATION_ACCEPTED, v.name, v.accepted.reason);
		if (v.accepted.ok && v.state != ADVANCE_ENDED)
			put_condition(
				&kept, METRIC_ADVANCE_RESERVATION_KEPT, v.name, v.kept.reason);
		metrics_put_sample(&stopped, METRIC_ADVANCE_RESERVATION_STOPPED_RUNS, v.name, NULL);
		buf_printf(&stopped, "%" PRIu64 "\n", v.stopped_total);
	}
	buf_puts(out, buf_text(&kept));
	buf_puts(out, buf_text(&stopped));
	buf_done(&kept);
	buf_done(&stopped);
}

void metrics_put_time(struct buf *out, const struct queue *q)
{
	put_calendars(out, q);
	put_policies(out, q);
	put_plans(out, q);
	put_budgets(out, q);
	put_reservations(out, q);
}
