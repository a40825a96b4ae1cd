/* The status of what admins describe of time and money. */
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "calendar/zone.h"
#include "controller/stamp.h"
#include "controller/status.h"
#include "price/money.h"

/* ---- parts ----------------------------------------------------------------------------------- */

static void put_text(struct buf *out, const char *key, const char *value)
{
	buf_printf(out, "\"%s\":", key);
	buf_json_string(out, value);
	buf_putc(out, ',');
}

/* null takes a field away. */
static void put_null(struct buf *out, const char *key)
{
	buf_printf(out, "\"%s\":null,", key);
}

static void put_time(struct buf *out, const char *key, int64_t ms)
{
	char text[STAMP_TEXT_SIZE];
	if (ms <= 0 || ms == CALENDAR_NEVER)
		put_null(out, key);
	else
		put_text(out, key, stamp_format_seconds(ms, text));
}

static void put_money(struct buf *out, const char *key, int64_t micro)
{
	char text[MONEY_TEXT_SIZE];
	money_format(micro, text);
	put_text(out, key, text);
}

static void put_count(struct buf *out, const char *key, size_t n)
{
	buf_printf(out, "\"%s\":%zu,", key, n > INT32_MAX ? (size_t)INT32_MAX : n);
}

static void put_condition(struct buf *out, const struct status_conditions *c, size_t i,
	const char *reason, const char *message, int64_t generation)
{
	buf_puts(out, "{");
	put_text(out, "type", c->type[i]);
	put_text(out, "status", c->is[i] ? "True" : "False");
	put_text(out, "reason", reason && *reason ? reason : "Unknown");
	put_text(out, "message", message);
	put_text(out, "lastTransitionTime", c->since[i] ? c->since[i] : "");
	buf_printf(out, "\"observedGeneration\":%" PRId64 "}", generation > 0 ? generation : 0);
}

static bool is_reason(const struct condition_view *c, const char *reason)
{
	return c->reason && strcmp(c->reason, reason) == 0;
}

/* ---- Calendar -------------------------------------------------------------------------------- */

/* One that never opens can be understood. */
void status_judge_calendar(const struct calendar_view *v, struct status_conditions *ret)
{
	bool never = is_reason(&v->valid, "NeverOpens");
	ret->type[0] = "Valid";
	ret->is[0] = v->valid.ok || never;
	ret->type[1] = "NeverOpens";
	ret->is[1] = never;
}

static void put_turn(struct buf *out, const struct zone *zone, bool opens, int64_t at_ms)
{
	char at[STAMP_TEXT_SIZE], local[ZONE_TEXT_SIZE];
	buf_printf(out, "{\"state\":\"%s\",\"at\":\"%s\",\"local\":", opens ? "Open" : "Closed",
		stamp_format_seconds(at_ms, at));
	buf_json_string(out, zone_text(zone, at_ms / 1000, local));
	buf_putc(out, '}');
}

static void put_next(struct buf *out, const struct calendar_view *v)
{
	bool opens = !v->state.open;
	buf_puts(out, "\"next\":[");
	for (size_t i = 0; i < 5 && v->next_ms[i] != CALENDAR_NEVER; i++, opens = !opens) {
		if (i > 0)
			buf_putc(out, ',');
		put_turn(out, v->zone, opens, v->next_ms[i]);
	}
	buf_puts(out, "],");
}

static void put_state(struct buf *out, const struct calendar_view *v)
{
	put_text(out, "state", v->state.open ? "Open" : "Closed");
	put_text(out, "window", v->state.window ? v->state.window : "");
	if (v->state.exception)
		put_text(out, "exception", v->state.exception);
	else
		put_null(out, "exception");
	put_time(out, "closesAt", v->state.open ? v->next_ms[0] : CALENDAR_NEVER);
	put_next(out, v);
}

void status_render_calendar(const struct calendar_view *v, const char *tzdata,
	const struct status_conditions *c, struct buf *out)
{
	static const char *const fields[] = {"state", "window", "exception", "closesAt", "next"};
	bool never = c->is[1];
	buf_puts(out, "{\"status\":{");
	for (size_t i = 0; !v->zone && i < sizeof(fields) / sizeof(*fields); i++)
		put_null(out, fields[i]); /* no spec was ever understood: nobody can say */
	if (v->zone)
		put_state(out, v);
	put_text(out, "tzdata", tzdata);
	buf_puts(out, "\"conditions\":[");
	put_condition(out, c, 0, never ? "Valid" : v->valid.reason,
		never ? "the Calendar is understood" : v->valid.message, v->generation);
	buf_putc(out, ',');
	put_condition(out, c, 1, never ? "NeverOpens" : "Opens",
		never ? v->valid.message : "it is open now, or will be within five years",
		v->generation);
	buf_puts(out, "]}}");
}

/* ---- RunPolicy ------------------------------------------------------------------------------- */

void status_judge_runpolicy(const struct runpolicy_view *v, struct status_conditions *ret)
{
	ret->type[0] = "Active";
	ret->is[0] = v->active.ok;
	ret->type[1] = NULL;
}

void status_render_runpolicy(
	const struct runpolicy_view *v, const struct status_conditions *c, struct buf *out)
{
	bool unknown = is_reason(&v->active, "CalendarNotFound") ||
		       is_reason(&v->active, "CalendarInvalid");
	buf_puts(out, "{\"status\":{");
	if (unknown)
		put_null(out, "state");
	else
		put_text(out, "state", v->open ? "Open" : "Closed");
	put_time(out, "until", unknown ? CALENDAR_NEVER : v->until_ms);
	put_count(out, "queues", v->queues);
	put_count(out, "localQueues", v->localqueues);
	put_count(out, "runs", v->runs);
	put_count(out, "exempt", v->exempt_runs);
	buf_puts(out, "\"conditions\":[");
	put_condition(out, c, 0, v->active.reason, v->active.message, v->generation);
	buf_puts(out, "]}}");
}

/* ---- PricePlan ------------------------------------------------------------------------------- */

void status_judge_priceplan(const struct priceplan_view *v, struct status_conditions *ret)
{
	ret->type[0] = "Active";
	ret->is[0] = v->active.ok;
	ret->type[1] = NULL;
}

void status_render_priceplan(
	const struct priceplan_view *v, const struct status_conditions *c, struct buf *out)
{
	buf_puts(out, "{\"status\":{");
	put_money(out, "factor", v->factor);
	put_text(out, "rate", v->rate ? v->rate : "base");
	put_time(out, "until", v->until_ms);
	put_count(out, "queues", v->queues);
	buf_puts(out, "\"conditions\":[");
	put_condition(out, c, 0, v->active.reason, v->active.message, v->generation);
	buf_puts(out, "]}}");
}

/* ---- Budget ---------------------------------------------------------------------------------- */

/* One that is used up is in force all the more. */
void status_judge_budget(const struct budget_view *v, struct status_conditions *ret)
{
	bool exhausted = is_reason(&v->active, "Exhausted");
	ret->type[0] = "Active";
	ret->is[0] = v->active.ok || exhausted;
	ret->type[1] = "Exhausted";
	ret->is[1] = exhausted || (v->active.ok && v->remaining <= 0);
}

void status_render_budget(
	const struct budget_view *v, const struct status_conditions *c, struct buf *out)
{
	bool exhausted = is_reason(&v->active, "Exhausted");
	buf_puts(out, "{\"status\":{");
	put_time(out, "periodFrom", v->period_from_ms);
	put_time(out, "periodTo", v->period_to_ms);
	put_money(out, "spent", v->spent);
	put_money(out, "reserved", v->reserved);
	put_money(out, "remaining", v->remaining);
	buf_puts(out, "\"conditions\":[");
	put_condition(out, c, 0, exhausted ? "Active" : v->active.reason,
		exhausted ? "the Budget is in force" : v->active.message, v->generation);
	buf_putc(out, ',');
	put_condition(out, c, 1, c->is[1] ? "Exhausted" : "Remaining",
		exhausted  ? v->active.message
		: c->is[1] ? "nothing remains of it in this period"
			   : "something remains of it in this period",
		v->generation);
	buf_puts(out, "]}}");
}
