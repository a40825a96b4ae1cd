#include "queue/features/dependencies/wanted.h"

#include "base/must.h"
#include "queue/core/model/state.h"
#include "sluice/quantity.h"
#include "queue/features/dependencies/predecessors.h"

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
	list_init(&all->lines);
	map_init(&all->asked, wanted_is);
	all->last_id = 0;
}

void wanteds_done(struct wanteds *all)
{
	must(list_empty(&all->lines) && all->asked.count == 0);
	map_done(&all->asked);
}

void wanted_line_init(struct wanted_line *l)
{
	list_init(&l->waiting);
}

/* Lets the line have a turn while a question of it may be taken. It keeps its turn among those that
 * have one. */
static void line_moved(struct wanteds *all, struct wanted_line *l)
{
	if (list_empty(&l->waiting) || l->nasked >= WANTED_ASKED_MAX)
		list_leave(&l->of_all);
	else if (!list_in(&l->of_all))
		list_add(&all->lines, &l->of_all);
}

void wanted_ask(struct queue *q, struct wanted *w, struct wanted_line *l)
{
	struct wanteds *all = &q->predecessors->wanteds;
	if (w->state == WANTED_WANTED || w->state == WANTED_ASKED)
		return;
	alarm_clear(&q->alarms, &w->alarm);
	if (w->id == 0) {
		w->id = ++all->last_id;
		w->line = l;
		alarm_init(&w->alarm, ALARM_WANTED, w->id, w);
	}
	w->state = WANTED_WANTED;
	list_add(&l->waiting, &w->waiting);
	line_moved(all, l);
}

struct wanted *wanted_take(struct queue *q)
{
	struct wanteds *all = &q->predecessors->wanteds;
	if (list_empty(&all->lines))
		return NULL;
	struct wanted_line *l = container_of(all->lines.next, struct wanted_line, of_all);
	struct wanted *w = container_of(l->waiting.next, struct wanted, waiting);
	list_leave(&l->of_all);
	list_leave(&w->waiting);
	l->nasked++;
	line_moved(all, l);
	w->state = WANTED_ASKED;
	w->taken++;
	map_put(&all->asked, id_hash(w->id), w);
	return w;
}

struct wanted *wanted_answered(struct queue *q, uint64_t id)
{
	struct wanteds *all = &q->predecessors->wanteds;
	struct wanted *w = map_take(&all->asked, id_hash(id), &id);
	if (!w)
		return NULL;
	w->state = WANTED_QUIET;
	w->line->nasked--;
	line_moved(all, w->line);
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
		wanted_ask(q, w, w->line);
		return;
	}
	w->state = WANTED_QUIET;
	wanted_rest(q, w);
}

void wanteds_set_back(struct queue *q)
{
	int64_t last_ms = quantity_add(q->now_ms, PREDECESSOR_AGAIN_MS);
	for (size_t i = tree_count(&q->alarms); i > 0;) {
		struct alarm *a = container_of(tree_at(&q->alarms, i - 1), struct alarm, node);
		if (a->kind == ALARM_WANTED && a->at_ms > last_ms)
			alarm_set(
				&q->alarms, a, last_ms); /* the one before it comes to its place */
		else
			i--;
	}
}

void wanted_forget(struct queue *q, struct wanted *w)
{
	list_leave(&w->waiting);
	if (w->line)
		line_moved(&q->predecessors->wanteds, w->line);
	alarm_clear(&q->alarms, &w->alarm);
	if (w->state == WANTED_ASKED)
		wanted_answered(q, w->id);
	w->state = WANTED_QUIET;
}
