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
static void put_condition(
	struct buf *out, const char *family, const char *key, const char *name, const char *reason)
{
	metrics_put_labelled(out, family, key, name, "reason", reason ? reason : "", NULL);
	buf_puts(out, "1\n");
}

static void put_calendars(struct buf *out, const struct queue *q)
{
	struct calendar_view v;
	metrics_put_family(out, "sluice_window_open", GAUGE, "",
		"1 while the Calendar is open. One that makes no sense has no sample.");
	for (size_t i = 0; queue_view_calendar(q, i, &v); i++)
		if (v.zone) {
			metrics_put_labelled(out, "sluice_window_open", "calendar", v.name, NULL);
			buf_printf(out, "%d\n", v.state.open);
		}
	metrics_put_family(out, "sluice_window_next_transition_timestamp_seconds", GAUGE, "seconds",
		"When it opens or closes next; none when not within five years.");
	for (size_t i = 0; queue_view_calendar(q, i, &v); i++)
		if (v.zone && v.next_ms[0] != CALENDAR_NEVER) {
			metrics_put_labelled(out, "sluice_window_next_transition_timestamp_seconds",
				"calendar", v.name, NULL);
			buf_printf(out, "%" PRId64 "\n", v.next_ms[0] / 1000);
		}
	metrics_put_family(out, "sluice_calendar_condition", GAUGE, "",
		"1, with what the Calendar's status says: Valid, NeverOpens, InvalidSpec ...");
	for (size_t i = 0; queue_view_calendar(q, i, &v); i++)
		put_condition(out, "sluice_calendar_condition", "calendar", v.name, v.valid.reason);
}

static void put_policies(struct buf *out, const struct queue *q)
{
	struct runpolicy_view v;
	metrics_put_family(out, "sluice_run_policy_condition", GAUGE, "",
		"1, with what the RunPolicy's status says: Active, CalendarNotFound ...");
	for (size_t i = 0; queue_view_runpolicy(q, i, &v); i++)
		put_condition(
			out, "sluice_run_policy_condition", "run_policy", v.name, v.active.reason);
}

static void put_plans(struct buf *out, const struct queue *q)
{
	struct priceplan_view v;
	metrics_put_family(
		out, "sluice_price_factor", GAUGE, "", "What base prices are multiplied by now.");
	for (size_t i = 0; queue_view_priceplan(q, i, &v); i++) {
		metrics_put_labelled(out, "sluice_price_factor", "price_plan", v.name, NULL);
		put_money(out, v.factor);
	}
	metrics_put_family(out, "sluice_price_plan_condition", GAUGE, "",
		"1, with what the PricePlan's status says: Active, SeriesStale, SeriesMissing ...");
	for (size_t i = 0; queue_view_priceplan(q, i, &v); i++)
		put_condition(
			out, "sluice_price_plan_condition", "price_plan", v.name, v.active.reason);
}

static void put_budgets(struct buf *out, const struct queue *q)
{
	static const struct {
		const char *name, *help;
	} family[] = {
		{"sluice_budget_amount", "How much may be spent in a period."},
		{"sluice_budget_spent", "What this period's runs have cost that ended."},
		{"sluice_budget_reserved", "What is kept for runs that go on."},
		{"sluice_budget_remaining", "What is left; below 0 when more was spent."},
	};
	struct budget_view v;
	for (size_t f = 0; f < sizeof(family) / sizeof(*family); f++) {
		metrics_put_family(out, family[f].name, GAUGE, "", family[f].help);
		for (size_t i = 0; queue_view_budget(q, i, &v); i++) {
			int64_t value[] = {v.amount, v.spent, v.reserved, v.remaining};
			metrics_put_labelled(out, family[f].name, "budget", v.name, "currency",
				v.currency, NULL);
			put_money(out, value[f]);
		}
	}
	metrics_put_family(out, "sluice_budget_condition", GAUGE, "",
		"1, with what the Budget's status says: Active, Exhausted, CurrencyMismatch ...");
	for (size_t i = 0; queue_view_budget(q, i, &v); i++)
		put_condition(out, "sluice_budget_condition", "budget", v.name, v.active.reason);
}

/* Puts the AdvanceReservations. A view is worked out from what is booked, so each is looked at
 * once: the samples of a family are gathered beside the others. */
static void put_reservations(struct buf *out, const struct queue *q)
{
	static const char key[] = "advance_reservation";
	struct advance_reservation_view v;
	struct buf kept, stopped;
	buf_init(&kept, SAMPLES_MAX_BYTES);
	buf_init(&stopped, SAMPLES_MAX_BYTES);
	metrics_put_family(out, "sluice_advance_reservation_accepted", GAUGE, "",
		"1, with what its condition Accepted says: Accepted, NotFree, TooMuch, InThePast ...");
	metrics_put_family(&kept, "sluice_advance_reservation_kept", GAUGE, "",
		"1, with what its condition Kept says, from its acceptance to its end: Kept, QuotaLowered, PodsDidNotEnd ...");
	metrics_put_family(&stopped, "sluice_advance_reservation_stopped_runs", COUNTER, "",
		"Runs that were stopped because their quota was reserved.");
	for (size_t i = 0; queue_view_advance_reservation(q, i, &v); i++) {
		put_condition(
			out, "sluice_advance_reservation_accepted", key, v.name, v.accepted.reason);
		if (v.accepted.ok && v.state != ADVANCE_ENDED)
			put_condition(&kept, "sluice_advance_reservation_kept", key, v.name,
				v.kept.reason);
		metrics_put_labelled(&stopped, "sluice_advance_reservation_stopped_runs_total", key,
			v.name, NULL);
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
