/* The status of what admins describe of time and money. */
#include <string.h>

#include "base/instant.h"
#include "base/order.h"
#include "queue/calendar/zone.h"
#include "controller/common/status_patch.h"
#include "controller/write/status.h"
#include "queue/price/money.h"
#include "sluice/quantity.h"

/* ---- parts ----------------------------------------------------------------------------------- */

static void put_conditions(
	struct json_writer *w, const struct status_conditions *c, int64_t generation)
{
	jw_array(w, "conditions");
	for (size_t i = 0; i < STATUS_CONDITIONS_MAX && c->type[i]; i++)
		status_put_condition(w, c->type[i], c->is[i], c->reason[i], c->message[i],
			c->since[i] ? c->since[i] : "", generation);
	jw_end(w);
}

static void judge(struct status_conditions *c, size_t i, const char *type, bool is, bool bad,
	const char *reason, const char *message)
{
	c->type[i] = type;
	c->is[i] = is;
	c->bad[i] = bad;
	c->cured[i] = false;
	c->reason[i] = reason;
	c->message[i] = message;
	if (i + 1 < STATUS_CONDITIONS_MAX)
		c->type[i + 1] = NULL;
}

void status_add_effect(struct status_conditions *c, const struct status_effect *effect)
{
	size_t i = 0;
	while (i < STATUS_CONDITIONS_MAX && c->type[i])
		i++;
	if (!effect || i == STATUS_CONDITIONS_MAX)
		return;
	judge(c, i, "Effective", effect->is, !effect->is, effect->reason, effect->message);
	c->since[i] = effect->since;
}

/* Judges the only condition of most kinds. */
static void judge_active(struct status_conditions *c, const struct condition_view *v)
{
	judge(c, 0, "Active", v->ok, !v->ok, v->reason, v->message);
	c->type[1] = NULL;
}

static bool is_reason(const struct condition_view *c, const char *reason)
{
	return c->reason && strcmp(c->reason, reason) == 0;
}

/* ---- Calendar -------------------------------------------------------------------------------- */

/* A Calendar that never opens is valid all the same: it can be understood. */
void status_judge_calendar(const struct calendar_view *v, struct status_conditions *ret)
{
	bool never = is_reason(&v->valid, "NeverOpens");
	if (never)
		judge(ret, 0, "Valid", true, false, "Valid", "the Calendar is valid");
	else
		judge(ret, 0, "Valid", v->valid.ok, !v->valid.ok, v->valid.reason,
			v->valid.message);
	if (never)
		judge(ret, 1, "NeverOpens", true, true, "NeverOpens", v->valid.message);
	else if (!v->valid.ok)
		ret->type[1] = NULL; /* nothing is known of what it would do */
	else
		judge(ret, 1, "NeverOpens", false, false, "Opens",
			"it is open now, or will be within five years");
}

static void put_turn(struct json_writer *w, const struct zone *zone, bool opens, int64_t at_ms)
{
	char local[ZONE_TEXT_SIZE];
	jw_object(w, NULL);
	jw_text(w, "state", opens ? "Open" : "Closed");
	instant_put(w, "at", at_ms);
	jw_text(w, "local", zone_text(zone, at_ms / 1000, local));
	jw_end(w);
}

static void put_state(struct json_writer *w, const struct calendar_view *v)
{
	bool opens = !v->state.open;
	jw_text(w, "state", v->state.open ? "Open" : "Closed");
	jw_text(w, "window", v->state.window ? v->state.window : "");
	if (v->state.exception)
		jw_text(w, "exception", v->state.exception);
	instant_put(w, "closesAt", v->state.open ? v->next_ms[0] : CALENDAR_NEVER);
	jw_array(w, "next");
	for (size_t i = 0; i < 5 && v->next_ms[i] != CALENDAR_NEVER; i++, opens = !opens)
		put_turn(w, v->zone, opens, v->next_ms[i]);
	jw_end(w);
}

void status_put_calendar(struct json_writer *w, const struct calendar_view *v, const char *tzdata,
	const struct status_conditions *c)
{
	if (v->zone) /* else no spec was ever understood */
		put_state(w, v);
	jw_text(w, "tzdata", tzdata);
	put_conditions(w, c, v->generation);
}

/* ---- RunPolicy ------------------------------------------------------------------------------- */

void status_judge_runpolicy(const struct runpolicy_view *v, struct status_conditions *ret)
{
	judge_active(ret, &v->active);
}

void status_put_runpolicy(
	struct json_writer *w, const struct runpolicy_view *v, const struct status_conditions *c)
{
	bool unknown = is_reason(&v->active, "CalendarNotFound") ||
		       is_reason(&v->active, "CalendarInvalid");
	if (!unknown)
		jw_text(w, "state", v->open ? "Open" : "Closed");
	instant_put(w, "until", unknown ? CALENDAR_NEVER : v->until_ms);
	status_put_count(w, "queues", v->queues);
	status_put_count(w, "localQueues", v->localqueues);
	status_put_count(w, "runs", v->runs);
	status_put_count(w, "exempt", v->exempt_runs);
	put_conditions(w, c, v->generation);
}

/* ---- PricePlan ------------------------------------------------------------------------------- */

void status_judge_priceplan(const struct priceplan_view *v, struct status_conditions *ret)
{
	judge_active(ret, &v->active);
}

void status_put_priceplan(
	struct json_writer *w, const struct priceplan_view *v, const struct status_conditions *c)
{
	money_put(w, "factor", v->factor);
	jw_text(w, "rate", v->rate ? v->rate : "base");
	instant_put(w, "until", v->until_ms);
	status_put_count(w, "queues", v->queues);
	put_conditions(w, c, v->generation);
}

/* ---- Budget ---------------------------------------------------------------------------------- */

/* A Budget that is used up is in force, too. */
void status_judge_budget(const struct budget_view *v, struct status_conditions *ret)
{
	bool exhausted = is_reason(&v->active, "Exhausted");
	if (exhausted)
		judge(ret, 0, "Active", true, false, "Active", "the Budget is in force");
	else
		judge_active(ret, &v->active);
	if (exhausted)
		judge(ret, 1, "Exhausted", true, true, "Exhausted", v->active.message);
	else if (v->active.ok && v->remaining <= 0)
		judge(ret, 1, "Exhausted", true, true, "Exhausted",
			"no money is left in this period");
	else
		judge(ret, 1, "Exhausted", false, false, "Remaining",
			"money is left in this period");
}

void status_put_budget(
	struct json_writer *w, const struct budget_view *v, const struct status_conditions *c)
{
	instant_put(w, "periodFrom", v->period_from_ms);
	instant_put(w, "periodTo", v->period_to_ms);
	money_put(w, "spent", v->spent);
	money_put(w, "reserved", v->reserved);
	money_put(w, "remaining", v->remaining);
	put_conditions(w, c, v->generation);
}

/* ---- AdvanceReservation ---------------------------------------------------------------------- */

/* Rows that the CRD takes of one flavor. */
#define RESERVED_ROWS_MAX 256

static const char *message_of(const struct condition_view *c, const char *when_well)
{
	return c->ok && !*c->message ? when_well : c->message;
}

/* If the AdvanceReservation is not accepted there is nothing to keep. */
void status_judge_advance_reservation(
	const struct advance_reservation_view *v, struct status_conditions *ret)
{
	judge(ret, 0, "Accepted", v->accepted.ok, !v->accepted.ok, v->accepted.reason,
		message_of(&v->accepted, "the requested quota is reserved"));
	judge(ret, 1, "Kept", v->kept.ok, !v->kept.ok, v->kept.reason,
		message_of(&v->kept, "the reserved quota is available"));
	ret->cured[0] = ret->cured[1] = true;
	if (!v->accepted.ok)
		ret->type[1] = NULL;
}

static const char *advance_state_name(enum advance_state state)
{
	switch (state) {
	case ADVANCE_REFUSED:
		return "Refused";
	case ADVANCE_SCHEDULED:
		return "Scheduled";
	case ADVANCE_ACTIVE:
		return "Active";
	case ADVANCE_ENDED:
		return "Ended";
	}
	return "Refused";
}

static struct usage_view *row_of(struct usage_view *row, size_t n, const struct advance_use *u)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(row[i].flavor, u->flavor) == 0 &&
			strcmp(row[i].resource, u->resource) == 0)
			return &row[i];
	return NULL;
}

/* Adds up the rows of all ClusterQueues: nominal has the amount, reserved what is left of it.
 * Others start on the rest once this is read back. False: there are too many for the status. */
static bool add_up(const struct advance_reservation_view *v, struct usage_view *row, size_t *n)
{
	*n = 0;
	for (size_t i = 0; i < v->nuse; i++) {
		const struct advance_use *u = &v->use[i];
		struct usage_view *r = row_of(row, *n, u);
		if (!r && *n == RESERVED_ROWS_MAX)
			return false;
		if (!r) {
			r = &row[(*n)++];
			*r = (struct usage_view){.flavor = u->flavor, .resource = u->resource};
		}
		r->nominal = quantity_add(r->nominal, u->amount);
		r->reserved = quantity_add(r->reserved, u->offered);
		r->used = quantity_add(r->used, least(u->used, u->offered));
	}
	return true;
}

static void put_reserved(struct json_writer *w, const struct usage_view *row, const void *ctx)
{
	(void)ctx;
	quantity_put(w, "amount", row->nominal, row->resource);
	quantity_put(w, "left", row->reserved, row->resource);
	quantity_put(w, "used", row->used, row->resource);
}

/* What was given back is told with all rows or none: else another leader would take the other rows
 * for given back. */
static void put_window(struct json_writer *w, const struct advance_reservation_view *v)
{
	struct usage_view row[RESERVED_ROWS_MAX];
	size_t n;
	bool whole = add_up(v, row, &n);
	instant_put(w, "from", v->from_ms);
	instant_put(w, "until", v->until_ms);
	/* This time is exact: read back, it is compared with the beginning of a window. */
	instant_put_shortest(w, "leftFrom", whole ? v->left_from_ms : 0);
	status_put_flavors(w, "flavors", row, n, put_reserved, NULL);
}

static void put_cost(struct json_writer *w, const struct advance_reservation_view *v)
{
	if (!v->has_cost)
		return;
	money_put(w, "cost", v->cost);
	jw_text(w, "currency", v->currency ? v->currency : "");
}

void status_put_advance_reservation(struct json_writer *w, const struct advance_reservation_view *v,
	const struct status_conditions *c)
{
	jw_text(w, "state", advance_state_name(v->state));
	put_window(w, v);
	instant_put(w, "possibleFrom", v->accepted.ok ? 0 : v->possible_from_ms);
	put_cost(w, v);
	status_put_count(w, "stoppedRuns", v->stopped_total);
	put_conditions(w, c, v->generation);
}
