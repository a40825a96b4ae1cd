/* AdvanceReservations as their status shows them. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "queue/core/model/state.h"
#include "queue/explain/view.h"
#include "queue/job/text.h"
#include "queue/features/bookings/advance_clear.h"
#include "queue/features/bookings/advance_plan.h"
#include "queue/features/money/plan.h"

/* ---- Accepted ---- */

static void fill_accepted(const struct advance_reservation *a, struct condition_view *ret)
{
	struct text t = text_over(ret->message, sizeof(ret->message));
	ret->ok = a->spec.name && a->spec.accepted && a->booked;
	ret->reason = ret->ok ? "Accepted" : a->reason;
	if (a->object.invalid && !ret->ok)
		ret->reason = "InvalidSpec";
	if (a->object.invalid)
		text_add(&t, "%s%s",
			a->spec.name
				? "the newest spec was refused, so the previous one stays in force: "
				: "",
			a->object.invalid);
	else if (!ret->ok)
		text_add(&t, "%s", a->message);
}

/* ---- Kept ---- */

static bool is_unknown(const struct queue *q, const struct advance_reservation *a,
	const char **ret_reason, struct text *t)
{
	struct advance_reservation now = {.spec = a->spec};
	bool known = advance_rows_find(view_working(q), &now);
	if (!known) {
		*ret_reason = now.reason;
		text_add(t, "%s", now.message);
	} else if (a->calendar_ref && !a->calendar_ref->calendar) {
		known = false;
		*ret_reason = "CalendarNotFound";
		advance_say_no_calendar(q, a, t);
	}
	advance_rows_free(&now);
	return !known;
}

static bool is_lowered(const struct queue *q, const struct advance_reservation *a,
	const char **ret_reason, struct text *t)
{
	struct advance_misfit x;
	if (advance_fits_alone(q, a, &x))
		return false;
	*ret_reason = x.several ? "Overlaps" : "QuotaLowered";
	text_add(t,
		"%s %s of flavor %s, but quota is %s now; raise it, or delete an AdvanceReservation",
		x.several ? "AdvanceReservations of this time keep" : "it keeps",
		amount_words(quota_shown(x.kept), x.row->resource).s, x.row->flavor,
		number_words(quota_shown(x.quota), x.row->resource).s);
	return true;
}

static void fill_kept(
	const struct queue *q, const struct advance_reservation *a, struct condition_view *ret)
{
	struct text t = text_over(ret->message, sizeof(ret->message));
	ret->reason = "";
	if (!a->booked)
		return;
	size_t leaving = a->open ? advance_still_leaving(q, a) : 0;
	ret->reason = "Kept";
	if (is_unknown(q, a, &ret->reason, &t) || is_lowered(q, a, &ret->reason, &t))
		return;
	if (advance_has_quota(a)) {
		ret->ok = true;
		return;
	}
	if (a->settled_ms > q->now_ms) {
		ret->ok = true;
		text_add(&t,
			"a new leader has just begun, and stops no run before it knows what was given back");
		return;
	}
	ret->reason = "PodsDidNotEnd";
	if (leaving > 0)
		text_add(&t, "%zu %s stopped for it, and %s pods have not ended", leaving,
			leaving == 1 ? "run was" : "runs were", leaving == 1 ? "its" : "their");
	else
		text_add(&t, "ending runs still hold the reserved quota");
}

/* ---- What it has ---- */

static void fill_use(const struct queue *q, const struct advance_reservation *a,
	struct advance_reservation_view *ret)
{
	struct queue *own = view_working(q);
	own->advance_uses = mem_grow(own->advance_uses, a->nrows + 1, sizeof(*own->advance_uses));
	bool open = a->open && a->nwindows > 0;
	int64_t until_ms, *kept = mem_array(a->nrows, sizeof(*kept));
	if (open)
		advance_kept(a, &a->window[0], ADVANCE_PRESENT, kept, &until_ms);
	for (size_t i = 0; i < a->nrows; i++) {
		const struct advance_row *x = &a->row[i];
		int64_t left = open ? x->left : x->amount, offered = open ? x->offered : left;
		int64_t used = open ? left - kept[i] : 0;
		const char *node = x->row->node->name;
		const char *slash = strchr(node, '/');
		own->advance_uses[i] = (struct advance_use){slash ? slash + 1 : node,
			x->row->flavor, x->row->resource, x->amount, left, offered, used};
	}
	free(kept);
	ret->use = own->advance_uses;
	ret->nuse = a->nwindows > 0 ? a->nrows : 0;
}

static void fill_cost(const struct queue *q, const struct advance_reservation *a,
	struct advance_reservation_view *ret)
{
	struct queue *own = view_working(q);
	struct plan *p = a->cq ? plan_of(own, a->cq) : NULL;
	if (!p || a->nwindows == 0)
		return;
	struct quota_line *line = mem_array(a->nrows, sizeof(*line));
	for (size_t i = 0; i < a->nrows; i++)
		line[i] = (struct quota_line){
			"", a->row[i].row->flavor, a->row[i].row->resource, a->row[i].amount};
	const struct advance_window *w = &a->window[0];
	struct tariff t = plan_factors(own, p, w->from_ms, w->until_ms);
	ret->has_cost = true;
	ret->currency = p->currency;
	ret->cost = charge_told(charge_of(
		plan_hourly_price(p, line, a->nrows), tariff_weight(&t, w->from_ms, w->until_ms)));
	free(line);
}

static enum advance_state state_of(const struct advance_reservation *a)
{
	if (!a->booked)
		return ADVANCE_REFUSED;
	if (a->open)
		return ADVANCE_ACTIVE;
	return a->nwindows > 0 || a->calendar_ref ? ADVANCE_SCHEDULED : ADVANCE_ENDED;
}

bool queue_view_advance_reservation(
	const struct queue *q, size_t index, struct advance_reservation_view *ret)
{
	struct named_object *o = named_object_at(&q->advance_reservations->all, index);
	if (!o)
		return false;
	const struct advance_reservation *a = container_of(o, struct advance_reservation, object);
	advance_refresh(view_working(q));
	*ret = (struct advance_reservation_view){.name = a->object.name,
		.clusterqueue = a->spec.name ? a->spec.clusterqueue : "",
		.generation = a->spec.generation,
		.undecided = a->due,
		.state = state_of(a),
		.possible_from_ms = a->booked ? 0 : a->possible_from_ms,
		.currency = "",
		.left_from_ms = a->left_from_ms,
		.stopped_total = a->stopped_total};
	if (a->nwindows > 0) {
		ret->from_ms = a->window[0].from_ms;
		ret->until_ms = a->window[0].until_ms;
	}
	fill_accepted(a, &ret->accepted);
	fill_kept(q, a, &ret->kept);
	fill_use(q, a, ret);
	fill_cost(q, a, ret);
	return true;
}
