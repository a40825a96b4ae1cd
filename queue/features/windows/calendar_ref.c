#include "queue/features/windows/calendar_ref.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/must.h"
#include "queue/core/model/state.h"
#include "queue/core/model/feature.h"
#include "queue/features/money/plan.h"
#include "sluice/quantity.h"
#include "queue/core/model/tell.h"
#include "queue/features/windows/window_state.h"

static void calendar_ref_free(struct named_objects *all, struct calendar_ref *t)
{
	must(list_empty(&t->policies) && list_empty(&t->rates) && list_empty(&t->reserved));
	named_object_leave(all, &t->object);
	calendar_free(t->calendar);
	free(t);
}

void calendar_refs_done(struct named_objects *all)
{
	for (struct named_object *o; (o = named_object_at(all, 0));)
		calendar_ref_free(all, container_of(o, struct calendar_ref, object));
}

static struct calendar_ref *calendar_ref_find(const struct queue *q, const char *name)
{
	struct named_object *o = named_object_find(q->calendar_refs, name);
	return o ? container_of(o, struct calendar_ref, object) : NULL;
}

struct calendar_ref *calendar_ref_keep(struct queue *q, const char *name)
{
	struct calendar_ref *t = calendar_ref_find(q, name);
	if (!t) {
		t = mem_alloc(sizeof(*t));
		named_object_enter(q->calendar_refs, &t->object, name);
		t->state.until_ms = CALENDAR_NEVER;
		alarm_init(&t->alarm, ALARM_CALENDAR, t->object.serial, t);
		list_init(&t->policies);
		list_init(&t->rates);
		list_init(&t->reserved);
		feature_wakes(q, &window_feature);
	}
	t->refs++;
	return t;
}

void calendar_ref_put(struct queue *q, struct calendar_ref *t)
{
	must(t->refs > 0);
	if (--t->refs > 0)
		return;
	must(!calendar_ref_exists(t));
	alarm_clear(&q->alarms, &t->alarm);
	calendar_ref_free(q->calendar_refs, t);
}

/* "Never" means not before the horizon. At the horizon it is looked at again. */
static int64_t next_look_ms(const struct queue *q, const struct calendar_ref *t)
{
	if (!t->calendar)
		return INT64_MAX;
	if (t->state.until_ms == CALENDAR_NEVER)
		return quantity_add(q->now_ms, CALENDAR_HORIZON_S * 1000);
	return t->state.until_ms;
}

void calendar_ref_turn(struct queue *q, struct calendar_ref *t)
{
	t->state = t->calendar ? calendar_at(t->calendar, q->now_ms)
			       : (struct calendar_state){.until_ms = CALENDAR_NEVER};
	alarm_set(&q->alarms, &t->alarm, next_look_ms(q, t));
	window_states_turn(q, t);
	q->counters.version++;
}

void calendar_refs_set_back(struct queue *q)
{
	struct named_object *o = named_object_at(q->calendar_refs, 0);
	for (; o; o = named_object_next(o))
		calendar_ref_turn(q, container_of(o, struct calendar_ref, object));
}

/* Called before the change too, so that runs are billed by the old Calendar up to now. */
static void tell_plans(struct queue *q, struct calendar_ref *t)
{
	list_each_entry(&t->rates, const struct plan_rate, rate, of_calendar_ref)
		plan_renew(q, rate->plan);
}

static void change(struct queue *q, struct calendar_ref *t, struct calendar *c, int64_t generation)
{
	tell_plans(q, t);
	calendar_free(t->calendar);
	t->calendar = c;
	t->generation = generation;
	named_object_set_invalid(&t->object, NULL);
	t->zone_unknown = false;
	q->counters.terms_edits++;
	calendar_ref_turn(q, t);
	tell_plans(q, t);
}

/* ---- Facts ---- */

/* The record, with the object's one reference. */
static struct calendar_ref *object_keep(struct queue *q, const char *name)
{
	struct calendar_ref *t = calendar_ref_keep(q, name);
	if (calendar_ref_exists(t))
		t->refs--;
	return t;
}

static void refuse(struct queue *q, const char *name, const char *sentence, bool zone_unknown)
{
	struct calendar_ref *t = object_keep(q, name);
	named_object_refuse(q, &t->object, sentence);
	t->zone_unknown = zone_unknown;
}

int queue_set_calendar(struct queue *q, const struct calendar_spec *s, struct err *e)
{
	queue_tell(q, SET_CALENDAR, .calendar = s);
	struct err own;
	struct calendar *c;
	int code = calendar_new(s, &c, &own);
	if (code) {
		err_wrap(&own, "Calendar %s", s->name);
		refuse(q, s->name, own.text, !s->zone);
		return err_set(e, code, "%s", own.text);
	}
	change(q, object_keep(q, s->name), c, s->generation);
	return 0;
}

void queue_reject_calendar(struct queue *q, const char *name, const char *sentence)
{
	queue_tell(q, REJECT_CALENDAR, .name = name, .sentence = sentence);
	refuse(q, name, sentence, false);
}

void queue_drop_calendar(struct queue *q, const char *name)
{
	queue_tell(q, DROP_CALENDAR, .name = name);
	struct calendar_ref *t = calendar_ref_find(q, name);
	if (!t || !calendar_ref_exists(t))
		return;
	change(q, t, NULL, 0);
	calendar_ref_put(q, t);
}
