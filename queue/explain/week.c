#include "sluice/week.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "queue/features/windows/window_quota.h"
#include "queue/calendar/zone.h"
#include "queue/core/model/state.h"
#include "queue/explain/view.h"
#include "queue/features/money/plan.h"
#include "queue/features/windows/window_state.h"

struct week_builder {
	struct queue_week *week;
	struct week_step *step; /* of one list, while it is followed */
	size_t looks;		/* of all lists */
};

/* ---- Lists of steps ---- */

/* What counts at at_ms; from_ms is not filled in. *ret_until_ms: so long at least. */
typedef struct week_step step_at_fn(const void *of, int64_t at_ms, int64_t *ret_until_ms);

static bool is_same(const struct week_step *a, const struct week_step *b)
{
	bool same_label =
		a->label == b->label || (a->label && b->label && strcmp(a->label, b->label) == 0);
	return a->value == b->value && same_label;
}

static struct week_steps keep_steps(struct week_builder *b, size_t n, int64_t until_ms)
{
	struct week_step *step = arena_take(&b->week->memory, n, sizeof(*step));
	if (n > 0)
		memcpy(step, b->step, n * sizeof(*step));
	return (struct week_steps){step, n, until_ms};
}

static struct week_steps follow_steps(struct week_builder *b, step_at_fn *step_at, const void *of)
{
	size_t n = 0;
	int64_t at_ms = b->week->from_ms;
	for (size_t looks = 0; at_ms < b->week->until_ms; looks++) {
		if (looks == WEEK_LOOKS_MAX || b->looks == WEEK_ALL_LOOKS_MAX)
			return keep_steps(b, n, at_ms);
		b->looks++;
		int64_t until_ms;
		struct week_step s = step_at(of, at_ms, &until_ms);
		s.from_ms = at_ms;
		if (n == 0 || !is_same(&b->step[n - 1], &s))
			b->step[n++] = s;
		at_ms = until_ms > at_ms ? until_ms : INT64_MAX;
	}
	return keep_steps(b, n, b->week->until_ms);
}

/* A list that nothing changes: no Calendar is looked at. */
static struct week_steps one_step(struct week_builder *b, int64_t value)
{
	b->step[0] = (struct week_step){.from_ms = b->week->from_ms, .value = value};
	return keep_steps(b, 1, b->week->until_ms);
}

/* ---- Windows ---- */

static struct calendar *calendar_of(const struct runpolicy *p)
{
	return p->calendar_ref ? p->calendar_ref->calendar : NULL;
}

static struct week_step open_at(const void *of, int64_t at_ms, int64_t *ret_until_ms)
{
	struct calendar_state s = calendar_at(calendar_of(of), at_ms);
	*ret_until_ms = s.until_ms;
	return (struct week_step){.value = s.open};
}

static struct week_window window_of(struct week_builder *b, const struct runpolicy *p)
{
	struct week_window w = {.policy = p->object.name, .calendar = p->spec.calendar};
	struct calendar *c = calendar_of(p);
	if (!c) {
		w.open = one_step(b, 0);
		return w;
	}
	w.zone = calendar_zone(c)->name;
	w.open = follow_steps(b, open_at, p);
	return w;
}

static void make_windows(struct week_builder *b, const struct window_state *s)
{
	struct week_window *window = arena_take(&b->week->memory, s->npolicies, sizeof(*window));
	for (size_t i = 0; i < s->npolicies; i++)
		window[i] = window_of(b, s->policy[i]);
	b->week->window = window;
	b->week->nwindows = s->npolicies;
}

/* ---- Prices ---- */

static struct week_step factor_at(const void *of, int64_t at_ms, int64_t *ret_until_ms)
{
	struct week_step s = {0};
	s.value = plan_spec_factor_at(of, at_ms, &s.label, ret_until_ms);
	return s;
}

static void make_factors(struct week_builder *b, const struct plan *p)
{
	if (!p)
		return;
	b->week->plan = p->object.name;
	b->week->currency = p->currency;
	b->week->factor = follow_steps(b, factor_at, p);
}

/* ---- Quota ---- */

struct timed_row {
	const struct quota_row *row;
	const struct window_state *state;
};

/* As window_quota_now(), at another time. */
static struct week_step nominal_at(const void *of, int64_t at_ms, int64_t *ret_until_ms)
{
	const struct timed_row *t = of;
	const struct window_quota_spec *x = NULL;
	*ret_until_ms = CALENDAR_NEVER;
	for (size_t i = 0; !x && i < t->state->npolicies; i++) {
		const struct runpolicy *p = t->state->policy[i];
		struct calendar *c = calendar_of(p);
		if (!c || p->spec.nquotas == 0)
			continue;
		struct calendar_state s = calendar_at(c, at_ms);
		*ret_until_ms = s.until_ms < *ret_until_ms ? s.until_ms : *ret_until_ms;
		x = window_quota_in(p, s.window, t->row);
	}
	return (struct week_step){.value = window_quota_with(t->row, x).nominal};
}

static bool policy_sets(const struct runpolicy *p, const struct quota_row *row)
{
	for (size_t i = 0; i < p->spec.nquotas; i++)
		if (strcmp(p->spec.quota[i].flavor, row->flavor) == 0 &&
			strcmp(p->spec.quota[i].resource, row->resource) == 0)
			return true;
	return false;
}

static bool changes_by_windows(const struct timed_row *t)
{
	for (size_t i = 0; i < t->state->npolicies; i++)
		if (policy_sets(t->state->policy[i], t->row))
			return true;
	return false;
}

static void add_quota(struct week_builder *b, struct week_quota *quota, const struct timed_row *t)
{
	if (t->row->flavor_pool->lent)
		return;
	quota[b->week->nquotas++] = (struct week_quota){.flavor = t->row->flavor,
		.resource = t->row->resource,
		.nominal = changes_by_windows(t) ? follow_steps(b, nominal_at, t)
						 : one_step(b, t->row->said.nominal)};
}

static size_t rows_of(const struct resource_group *g)
{
	return g->nflavors * g->nresources;
}

static void make_quotas(struct week_builder *b, const struct clusterqueue *cq)
{
	size_t most = 0;
	for (size_t g = 0; g < cq->spec.ngroups; g++)
		most += rows_of(&cq->spec.groups[g]);
	struct week_quota *quota = arena_take(&b->week->memory, most, sizeof(*quota));
	for (size_t g = 0; g < cq->spec.ngroups; g++)
		for (size_t i = 0; i < rows_of(&cq->spec.groups[g]); i++)
			add_quota(b, quota,
				&(struct timed_row){cq->spec.groups[g].row[i], cq->window_state});
	b->week->quota = quota;
}

/* ---- All of it ---- */

bool queue_view_week(const struct queue *q, const char *clusterqueue, int64_t from_ms,
	int64_t until_ms, struct queue_week *ret)
{
	struct clusterqueue *cq = clusterqueue_find(&q->clusterqueues, clusterqueue);
	if (!cq || !tree_in(&cq->by_name))
		return false;
	*ret = (struct queue_week){.from_ms = from_ms, .until_ms = until_ms};
	struct week_builder b = {.week = ret, .step = mem_array(WEEK_LOOKS_MAX, sizeof(*b.step))};
	make_windows(&b, cq->window_state);
	make_factors(&b, plan_of(view_working(q), cq));
	make_quotas(&b, cq);
	free(b.step);
	return true;
}

void queue_week_done(struct queue_week *w)
{
	arena_done(&w->memory);
}
