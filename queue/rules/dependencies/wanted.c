#include "queue/rules/dependencies/wanted.h"

#include "base/must.h"
#include "queue/core.h"
#include "sluice/quantity.h"

static bool wanted_is(const void *value, const void *key)
{
	return ((const struct wanted *)value)->id == *(const uint64_t *)key;
}

static uint64_t id_hash(uint64_t id)
{
	return map_hash_bytes(&id, sizeof(id));
}

void wanteds_init(struct wanteds *all)
{
	list_init(&all->waiting);
	map_init(&all->asked, wanted_is);
	all->last_id = 0;
}

void wanteds_done(struct wanteds *all)
{
	must(list_empty(&all->waiting) && all->asked.count == 0);
	map_done(&all->asked);
}

void wanted_ask(struct queue *q, struct wanted *w)
{
	struct wanteds *all = &q->predecessors.wanteds;
	if (w->state == WANTED_WANTED || w->state == WANTED_ASKED)
		return;
	alarm_clear(&q->alarms, &w->alarm);
	if (w->id == 0) {
		w->id = ++all->last_id;
		w->alarm.kind = ALARM_WANTED;
		w->alarm.serial = w->id;
		w->alarm.owner = w;
	}
	w->state = WANTED_WANTED;
	list_add(&all->waiting, &w->waiting);
}

struct wanted *wanted_take(struct queue *q)
{
	struct wanteds *all = &q->predecessors.wanteds;
	if (list_empty(&all->waiting))
		return NULL;
	struct wanted *w = container_of(all->waiting.next, struct wanted, waiting);
	list_leave(&w->waiting);
	w->state = WANTED_ASKED;
	map_put(&all->asked, id_hash(w->id), w);
	return w;
}

struct wanted *wanted_answered(struct queue *q, uint64_t id)
{
	struct wanted *w = map_take(&q->predecessors.wanteds.asked, id_hash(id), &id);
	if (w)
		w->state = WANTED_QUIET;
	return w;
}

/* Between decisions the time is not known. So the alarm first comes with the next decision, and
 * then at the moment that is meant. */
void wanted_rest(struct queue *q, struct wanted *w)
{
	must(w->state == WANTED_QUIET);
	w->state = WANTED_RESTING;
	w->timed = q->deciding;
	int64_t at_ms = w->timed ? quantity_add(q->now_ms, PREDECESSOR_AGAIN_MS) : q->now_ms;
	alarm_set(&q->alarms, &w->alarm, at_ms);
}

void wanted_ring(struct queue *q, struct wanted *w)
{
	if (w->timed) {
		wanted_ask(q, w);
		return;
	}
	w->state = WANTED_QUIET;
	wanted_rest(q, w);
}

void wanted_forget(struct queue *q, struct wanted *w)
{
	list_leave(&w->waiting);
	alarm_clear(&q->alarms, &w->alarm);
	if (w->state == WANTED_ASKED)
		wanted_answered(q, w->id);
	w->state = WANTED_QUIET;
}
