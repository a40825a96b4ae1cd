#include "queue/features/bookings/advance_reservation.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "queue/core/model/state.h"
#include "queue/job/specs.h"
#include "queue/features/bookings/advance_plan.h"
#include "queue/core/model/tell.h"
#include "queue/features/windows/calendar_ref.h"

static struct advance_reservation *of_object(struct named_object *o)
{
	return o ? container_of(o, struct advance_reservation, object) : NULL;
}

void advance_reservations_init(struct advance_reservations *all)
{
	named_objects_init(&all->all);
}

struct advance_reservation *advance_reservation_first(const struct queue *q)
{
	return of_object(named_object_at(&q->advance_reservations->all, 0));
}

struct advance_reservation *advance_reservation_next(const struct advance_reservation *a)
{
	return of_object(named_object_next(&a->object));
}

static struct advance_reservation *find(const struct queue *q, const char *name)
{
	return of_object(named_object_find(&q->advance_reservations->all, name));
}

static bool has_flavor(const struct clusterqueue *cq, const char *flavor)
{
	for (size_t g = 0; g < cq->spec.ngroups; g++)
		for (size_t f = 0; f < cq->spec.groups[g].nflavors; f++)
			if (strcmp(cq->spec.groups[g].flavors[f]->name, flavor) == 0)
				return true;
	return false;
}

int advance_reservation_cmp(
	const struct advance_reservation *a, const struct advance_reservation *b)
{
	if (a->spec.created_ms != b->spec.created_ms)
		return a->spec.created_ms < b->spec.created_ms ? -1 : 1;
	return strcmp(a->object.name, b->object.name);
}

const struct advance_reservation *advance_reservation_of(
	const struct queue *q, const struct booking *b)
{
	const struct advance_reservation *x = b ? advance_reservation_first(q) : NULL;
	while (x && uid_cmp(&x->spec.uid, &b->who) != 0)
		x = advance_reservation_next(x);
	return x;
}

bool advance_reservation_concerns(
	const struct advance_reservation *a, const struct clusterqueue *cq)
{
	if (!a->spec.name || a->spec.deleting)
		return false;
	if (*a->spec.clusterqueue)
		return strcmp(a->spec.clusterqueue, cq->name) == 0;
	for (size_t i = 0; i < a->spec.namounts; i++)
		if (has_flavor(cq, a->spec.amount[i].flavor))
			return true;
	return false;
}

/* ---- Facts ---- */

static struct advance_reservation *object_of(struct queue *q, const char *name)
{
	struct advance_reservation *a = find(q, name);
	if (a)
		return a;
	a = mem_alloc(sizeof(*a));
	named_object_enter(&q->advance_reservations->all, &a->object, name);
	a->reason = "NotJudgedYet";
	alarm_init(&a->alarm, ALARM_ADVANCE, a->object.serial, a);
	q->quota_plan.reserving++;
	return a;
}

static void spec_take(struct advance_reservation *x, const struct advance_reservation_spec *s)
{
	struct arena old = x->memory;
	x->memory = (struct arena){0};
	x->spec = advance_reservation_spec_copy(&x->memory, s);
	x->spec.name = x->object.name;
	arena_done(&old);
}

static void calendar_take(struct queue *q, struct advance_reservation *x, const char *calendar)
{
	struct calendar_ref *t = calendar && *calendar ? calendar_ref_keep(q, calendar) : NULL;
	list_leave(&x->of_calendar_ref);
	if (x->calendar_ref)
		calendar_ref_put(q, x->calendar_ref);
	x->calendar_ref = t;
	if (t)
		list_add(&t->reserved, &x->of_calendar_ref);
}

/* Returns whether the object is as it was told last. Each write of its status is told again. */
static bool is_known(const struct advance_reservation *x, const struct advance_reservation_spec *s)
{
	return x->spec.name && !x->object.invalid && uid_cmp(&x->spec.uid, &s->uid) == 0 &&
	       x->spec.generation == s->generation && x->spec.created_ms == s->created_ms &&
	       x->spec.deleting == s->deleting && advance_spec_reserves_same(&x->spec, s) &&
	       advance_spec_usable_same(&x->spec, s) &&
	       x->spec.release_after_ms == s->release_after_ms &&
	       (x->spec.accepted || !s->accepted) && advance_spec_left_same(&x->spec, s);
}

/* A status that lags behind, or an edit of who may use it, takes nothing back. */
int queue_set_advance_reservation(
	struct queue *q, const struct advance_reservation_spec *s, struct err *e)
{
	queue_tell(q, SET_ADVANCE_RESERVATION, .advance_reservation = s);
	struct err own;
	int code = advance_spec_check(s, &own);
	if (code) {
		err_wrap(&own, "AdvanceReservation %s", s->name);
		named_object_refuse(q, &object_of(q, s->name)->object, own.text);
		return err_set(e, code, "%s", own.text);
	}
	struct advance_reservation *x = object_of(q, s->name);
	if (is_known(x, s))
		return 0;
	bool same = x->spec.name && uid_cmp(&x->spec.uid, &s->uid) == 0 &&
		    advance_spec_reserves_same(&x->spec, s) && !s->deleting;
	bool stays = same && x->spec.accepted, booked = same && x->booked;
	bool as_usable = booked && advance_spec_usable_same(&x->spec, s);
	if (!booked)
		advance_reservation_end(q, x);
	else if (!as_usable)
		advance_leave(q, x);
	spec_take(x, s);
	x->spec.accepted = x->spec.accepted || stays;
	if (booked && !as_usable) {
		advance_join(q, x);
		/* of runs that may not use it any more */
		q->advance_reservations->clears |= x->open;
	}
	calendar_take(q, x, x->spec.calendar);
	advance_reservation_due(q, x);
	named_object_set_invalid(&x->object, NULL);
	q->counters.version++;
	return 0;
}

void queue_await_statuses(struct queue *q, bool awaits)
{
	queue_tell(q, AWAIT_STATUSES, .flag = awaits);
	q->advance_reservations->awaits = awaits;
	struct advance_reservation *a = advance_reservation_first(q);
	for (; a; a = advance_reservation_next(a))
		advance_reservation_due(q, a);
}

void queue_reject_advance_reservation(struct queue *q, const char *name, const char *sentence)
{
	queue_tell(q, REJECT_ADVANCE_RESERVATION, .name = name, .sentence = sentence);
	named_object_refuse(q, &object_of(q, name)->object, sentence);
}

static void free_one(struct queue *q, struct advance_reservation *x)
{
	q->quota_plan.reserving--;
	advance_reservation_end(q, x);
	calendar_take(q, x, NULL);
	arena_done(&x->memory);
	named_object_leave(&q->advance_reservations->all, &x->object);
	free(x);
}

void queue_drop_advance_reservation(struct queue *q, const char *name)
{
	queue_tell(q, DROP_ADVANCE_RESERVATION, .name = name);
	struct advance_reservation *x = find(q, name);
	if (!x)
		return;
	free_one(q, x);
	q->counters.version++;
}

void advance_reservations_done(struct queue *q)
{
	for (struct advance_reservation *x; (x = advance_reservation_first(q));)
		free_one(q, x);
}
