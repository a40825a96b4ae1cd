/* The state of Calendars and RunPolicies as their status shows it. */
#include "base/must.h"
#include "queue/features/windows/window_close.h"
#include "queue/core/model/state.h"
#include "queue/explain/view.h"
#include "queue/job/text.h"
#include "queue/features/targets.h"

/* ---- Calendars ---- */

static const struct calendar_ref *calendar_at_index(const struct queue *q, size_t index)
{
	struct named_object *o = named_object_at(q->calendar_refs, 0);
	for (; o; o = named_object_next(o)) {
		const struct calendar_ref *t = container_of(o, struct calendar_ref, object);
		if (calendar_ref_exists(t) && index-- == 0)
			return t;
	}
	return NULL;
}

static void calendar_condition(
	const struct queue *q, const struct calendar_ref *t, struct condition_view *ret)
{
	struct text text = text_over(ret->message, sizeof(ret->message));
	ret->ok = false;
	if (t->object.invalid) {
		ret->reason = t->zone_unknown ? "InvalidZone" : "InvalidSpec";
		text_add(&text, "%s; %s", t->object.invalid,
			t->calendar ? "the last valid spec stays in force"
				    : "until then nothing starts or stops by it");
	} else if (calendar_never_opens(t->calendar, q->now_ms)) {
		ret->reason = "NeverOpens";
		text_add(&text,
			"No window opens within five years; correct spec.open, or spec.except that closes what it opens");
	} else {
		ret->ok = true;
		ret->reason = "Valid";
		text_add(&text, "The Calendar is valid");
	}
}

bool queue_view_calendar(const struct queue *q, size_t index, struct calendar_view *ret)
{
	const struct calendar_ref *t = calendar_at_index(q, index);
	if (!t)
		return false;
	*ret = (struct calendar_view){.name = t->object.name, .generation = t->generation};
	ret->state.until_ms = CALENDAR_NEVER;
	calendar_condition(q, t, &ret->valid);
	int64_t at_ms = q->now_ms;
	if (t->calendar) {
		ret->state = calendar_at(t->calendar, at_ms);
		ret->zone = calendar_zone(t->calendar);
	}
	for (size_t i = 0; i < sizeof(ret->next_ms) / sizeof(ret->next_ms[0]); i++) {
		bool more = t->calendar && at_ms != CALENDAR_NEVER;
		at_ms = more ? calendar_next_change(t->calendar, at_ms) : CALENDAR_NEVER;
		ret->next_ms[i] = at_ms;
	}
	return true;
}

/* ---- RunPolicies ---- */

static bool has_policy(const struct window_state *r, const struct runpolicy *p)
{
	for (size_t i = 0; i < r->npolicies; i++)
		if (r->policy[i] == p)
			return true;
	return false;
}

static bool is_spared(const struct runpolicy *p, const struct reservation *r)
{
	return p->spec.action != CLOSE_SUSPEND || window_close_spares_until_ms(p, r) == INT64_MAX;
}

/* A run is bound by its ClusterQueue's name, or by that of the LocalQueue it started from. */
static void count_runs(const struct runpolicy *p, const struct clusterqueue *cq, bool bound,
	struct runpolicy_view *ret)
{
	list_each_entry(&cq->reservations, const struct reservation, r, of_clusterqueue) {
		if (!bound && !(r->lq->window_state && has_policy(r->lq->window_state, p)))
			continue;
		ret->runs++;
		ret->exempt_runs += is_spared(p, r);
	}
}

static void count_bound(
	const struct queue *q, const struct runpolicy *p, struct runpolicy_view *ret)
{
	for (struct tree_node *n = tree_first(&q->clusterqueues.shown); n; n = tree_next(n)) {
		const struct clusterqueue *cq = container_of(n, struct clusterqueue, by_name);
		bool bound = has_policy(cq->window_state, p);
		size_t locals = 0;
		list_each_entry(&cq->localqueues, const struct localqueue, lq, of_clusterqueue)
			locals += lq->window_state &&
				  runpolicy_names_localqueue(p, lq->ns->name, lq->name);
		ret->queues += bound;
		ret->localqueues += locals;
		if (bound || locals > 0)
			count_runs(p, cq, bound, ret);
	}
}

static bool has_strange_window(const struct runpolicy *p, struct text *t)
{
	for (size_t i = 0; i < p->spec.nquotas; i++) {
		if (calendar_has_window(p->calendar_ref->calendar, p->spec.quota[i].window))
			continue;
		text_add(t,
			"spec.quota[%zu].window: Calendar %s has no window %s, so this quota never applies; name one of its windows",
			i, p->spec.calendar, p->spec.quota[i].window);
		return true;
	}
	return false;
}

const char *view_missing_calendar(const struct runpolicy *p)
{
	const struct calendar_ref *time = p->calendar_ref;
	if (p->object.invalid)
		return NULL;
	must(time); /* a spec that is taken names a Calendar */
	return calendar_ref_exists(time) ? NULL : p->spec.calendar;
}

static const char *policy_reason(const struct queue *q, const struct runpolicy *p,
	const struct runpolicy_view *v, struct text *t)
{
	const struct calendar_ref *time = p->calendar_ref;
	if (p->object.invalid) {
		text_add(t, "%s%s", p->object.invalid,
			p->spec.name ? "; the last valid spec stays in force" : "");
		return "InvalidSpec";
	}
	must(time);
	if (view_missing_calendar(p)) {
		const struct named n = {.name = p->spec.calendar, .within = time};
		target_calendar.say_missing(&n, t);
		target_suggest(&target_calendar, q, &n, t);
		text_add(t,
			", so nothing starts or is stopped by this; create it or correct spec.calendar");
		return "CalendarNotFound";
	}
	if (!time->calendar) {
		text_add(t, "Nothing starts or is stopped by this: %s", time->object.invalid);
		return "CalendarInvalid";
	}
	if (v->queues == 0 && v->localqueues == 0) {
		text_add(t,
			"No queue has a name that spec.queues or spec.localQueues takes; correct them, or create the queue");
		return "NoQueues";
	}
	if (!has_strange_window(p, t))
		text_add(t, "Binds %zu ClusterQueues and %zu LocalQueues", v->queues,
			v->localqueues);
	return "Active";
}

bool queue_view_runpolicy(const struct queue *q, size_t index, struct runpolicy_view *ret)
{
	struct named_object *o = named_object_at(&q->runpolicies->all, index);
	if (!o)
		return false;
	const struct runpolicy *p = container_of(o, struct runpolicy, object);
	struct calendar *c = p->calendar_ref ? p->calendar_ref->calendar : NULL;
	*ret = (struct runpolicy_view){.name = p->object.name,
		.calendar = p->spec.name ? p->spec.calendar : "",
		.generation = p->spec.generation,
		.open = c && calendar_at(c, q->now_ms).open,
		.until_ms = c ? calendar_next_change(c, q->now_ms) : CALENDAR_NEVER,
		.stopped_total = p->stopped_total};
	count_bound(q, p, ret);
	struct text text = text_over(ret->active.message, sizeof(ret->active.message));
	ret->active.reason = policy_reason(q, p, ret, &text);
	ret->active.ok = *ret->active.reason == 'A';
	return true;
}
