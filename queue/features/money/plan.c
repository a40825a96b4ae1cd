/* PricePlans as admins describe them: the records, which one holds for a ClusterQueue, and what an
 * edit changes. */
#include "queue/features/money/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "queue/core/model/state.h"
#include "queue/core/model/feature.h"
#include "queue/core/model/reservation.h"
#include "base/symbol.h"
#include "queue/features/money/terms.h"
#include "queue/features/windows/runpolicy.h"
#include "sluice/quantity.h"
#include "queue/core/model/tell.h"
#include "queue/features/money/budget.h"
#include "queue/features/money/bill.h"
#include "queue/job/specs.h"

/* ---- What can be wrong with a spec ---- */

static int check_bases(const struct priceplan_spec *s, struct err *e)
{
	for (size_t i = 0; i < s->nbases; i++) {
		const struct price_base *b = &s->base[i];
		if (b->per_hour < 0)
			return err_set(e, ERR_INVALID,
				"PricePlan %s: spec.base: the price of %s is negative; it must be 0 or more",
				s->name, b->resource);
		for (size_t k = 0; k < i; k++)
			if (strcmp(b->resource, s->base[k].resource) == 0)
				return err_set(e, ERR_INVALID,
					"PricePlan %s: spec.base has %s a second time; keep one price for it",
					s->name, b->resource);
	}
	return 0;
}

static int check_factor(const struct priceplan_spec *s, const char *field, const char *name,
	int64_t factor, bool may_be_negative, struct err *e)
{
	int64_t least = may_be_negative ? -PLAN_FACTOR_MAX : 0;
	if (factor >= least && factor <= PLAN_FACTOR_MAX)
		return 0;
	return err_set(e, ERR_INVALID,
		"PricePlan %s: %s: the factor of %s must be from %s to 10000; correct it%s",
		s->name, field, name, may_be_negative ? "-10000" : "0",
		may_be_negative ? " or spec.series.reference" : "");
}

static int check_series(const struct priceplan_spec *s, struct err *e)
{
	int code = 0;
	for (size_t i = 0; code == 0 && i < s->nseries; i++) {
		if (i > 0 && s->series[i].from_ms <= s->series[i - 1].from_ms)
			return err_set(e, ERR_INVALID,
				"PricePlan %s: spec.series: point %zu is not later than the one before; write each time once, in order",
				s->name, i + 1);
		code = check_factor(s, "spec.series", "a point", s->series[i].factor, true, e);
	}
	return code;
}

static int plan_check(const struct priceplan_spec *s, struct err *e)
{
	if (!s->currency || !*s->currency)
		return err_set(e, ERR_INVALID,
			"PricePlan %s: spec.currency is empty; name one, such as EUR", s->name);
	int code = check_bases(s, e);
	for (size_t i = 0; code == 0 && i < s->nflavors; i++)
		code = check_factor(
			s, "spec.flavors", s->flavor[i].flavor, s->flavor[i].factor, false, e);
	for (size_t i = 0; code == 0 && i < s->nrates; i++)
		code = check_factor(
			s, "spec.rates", s->rate[i].calendar, s->rate[i].factor, false, e);
	return code ? code : check_series(s, e);
}

/* ---- The specs ---- */

void plans_init(struct plans *all)
{
	named_objects_init(&all->all);
	all->version = 1;
}

struct plan *plans_at(const struct queue *q, size_t i)
{
	struct named_object *o = named_object_at(&q->plans->all, i);
	return o ? container_of(o, struct plan, object) : NULL;
}

struct plan *plan_find(const struct queue *q, const char *name)
{
	struct named_object *o = named_object_find(&q->plans->all, name);
	return o ? container_of(o, struct plan, object) : NULL;
}

static struct plan *plan_make(struct queue *q, const char *name)
{
	struct plan *p = plan_find(q, name);
	if (p)
		return p;
	p = mem_alloc(sizeof(*p));
	named_object_enter(&q->plans->all, &p->object, name);
	alarm_init(&p->alarm, ALARM_PLAN, p->object.serial, p);
	feature_wakes(q, &price_feature);
	feature_wakes(q, &budget_feature);
	return p;
}

static void forget_spec(struct queue *q, struct plan *p)
{
	for (size_t i = 0; i < p->spec.nrates; i++) {
		list_leave(&p->rate[i].of_calendar_ref);
		calendar_ref_put(q, p->rate[i].calendar_ref);
	}
	free(p->rate);
	p->rate = NULL;
	p->spec = (struct priceplan_spec){0};
	arena_done(&p->memory);
}

static void forget_steps(struct plan *p)
{
	p->nsteps = 0;
	p->known_from_ms = p->known_to_ms = 0;
}

static void plan_free(struct queue *q, struct plan *p)
{
	forget_spec(q, p);
	alarm_clear(&q->alarms, &p->alarm);
	named_object_leave(&q->plans->all, &p->object);
	free(p->step);
	free(p);
}

void plans_done(struct queue *q)
{
	struct plan *p;
	while ((p = plans_at(q, 0)))
		plan_free(q, p);
}

static void take_spec(struct queue *q, struct plan *p, const struct priceplan_spec *s)
{
	p->memory = (struct arena){0};
	p->spec = priceplan_spec_copy(&p->memory, s);
	p->spec.name = p->object.name;
	p->spec.currency = p->currency = symbol_of(&q->symbols, s->currency);
	p->rate = mem_array(s->nrates + 1, sizeof(*p->rate));
	for (size_t i = 0; i < s->nrates; i++) {
		p->rate[i].plan = p;
		p->rate[i].calendar_ref = calendar_ref_keep(q, s->rate[i].calendar);
		list_add(&p->rate[i].calendar_ref->rates, &p->rate[i].of_calendar_ref);
	}
}

/* ---- Which one holds for a ClusterQueue: plan.h has the order ---- */

static enum plan_claim claim_by(const char *glob, const char *clusterqueue)
{
	if (strcmp(glob, clusterqueue) == 0)
		return PLAN_NAMES_IT;
	return runpolicy_glob(glob, clusterqueue) ? PLAN_NAMES_BY_GLOB : PLAN_NAMES_NOT;
}

enum plan_claim plan_claim_of(const struct plan *p, const char *clusterqueue)
{
	if (!p->spec.name || p->spec.deleting)
		return PLAN_NAMES_NOT;
	enum plan_claim closest = p->spec.nqueues == 0 ? PLAN_NAMES_ALL : PLAN_NAMES_NOT;
	for (size_t i = 0; i < p->spec.nqueues && closest < PLAN_NAMES_IT; i++) {
		enum plan_claim claim = claim_by(p->spec.queues[i], clusterqueue);
		closest = claim > closest ? claim : closest;
	}
	return closest;
}

/* Budgets of LocalQueues are not asked: whoever may point a LocalQueue to another ClusterQueue
 * would decide by which plan others are charged. */
const struct budget *plan_stranger_to(const struct plan *p, const struct clusterqueue *cq)
{
	list_each_entry(&cq->budgets, const struct budget, b, of_owner)
		if (*b->spec.currency && strcmp(b->spec.currency, p->spec.currency) != 0)
			return b;
	return NULL;
}

bool plan_precedes(const struct plan *a, const struct plan *b, const struct clusterqueue *cq)
{
	enum plan_claim of_a = plan_claim_of(a, cq->name), of_b = plan_claim_of(b, cq->name);
	return of_a != of_b ? of_a > of_b : strcmp(a->object.name, b->object.name) < 0;
}

static bool is_better(const struct plan *a, const struct plan *b, const struct clusterqueue *cq)
{
	bool strange_a = plan_stranger_to(a, cq), strange_b = plan_stranger_to(b, cq);
	return strange_a != strange_b ? strange_b : plan_precedes(a, b, cq);
}

/* Looked up on demand, because records of ClusterQueues come and go in many ways. */
struct plan *plan_of(struct queue *q, struct clusterqueue *cq)
{
	if (!cq || cq->plan_version == q->plans->version)
		return cq ? cq->plan : NULL;
	struct plan *p;
	cq->plan = NULL;
	for (size_t i = 0; (p = plans_at(q, i)); i++) {
		bool named = plan_claim_of(p, cq->name) != PLAN_NAMES_NOT;
		if (named && (!cq->plan || is_better(p, cq->plan, cq)))
			cq->plan = p;
	}
	cq->plan_version = q->plans->version;
	return cq->plan;
}

bool plan_holds(struct queue *q, struct clusterqueue *cq)
{
	const struct plan *p = plan_of(q, cq);
	return p && p->spec.hold_when_stale && plan_stale(p, q->now_ms, NULL);
}

/* ---- When something changes ---- */

/* Asks Jobs again that have terms on prices. All Jobs may start now if starts were refused, or if a
 * Budget may have refused one, because expected costs have changed. */
static void ask_again(struct queue *q, struct plan *p, bool held)
{
	bool budgets = budgets_at(q, 0);
	struct tree_node *n = tree_first(&q->clusterqueues.shown);
	for (; n; n = tree_next(n)) {
		struct clusterqueue *cq = container_of(n, struct clusterqueue, by_name);
		if (plan_of(q, cq) != p)
			continue;
		terms_ask_again(q, cq);
		if (budgets || held != (p && p->spec.hold_when_stale && p->stale))
			queue_touch_queue(q, cq);
	}
	q->budgets->stale = true; /* prices decide when they are used up */
	q->counters.version++;
}

/* The alarm rings when the factor changes next, or at the horizon. */
static void arm(struct queue *q, struct plan *p)
{
	int64_t next_ms = p->known_to_ms, until_ms = INT64_MAX;
	for (size_t i = 0; i < p->nsteps; i++) {
		if (p->step[i].from_ms > q->now_ms) {
			next_ms = p->step[i].from_ms;
			break;
		}
	}
	if (p->spec.hold_when_stale)
		plan_stale(p, q->now_ms, &until_ms); /* may be no step, but holds starts */
	alarm_set(&q->alarms, &p->alarm, until_ms < next_ms ? until_ms : next_ms);
}

void plan_ring(struct queue *q, struct plan *p)
{
	bool held = p->spec.hold_when_stale && p->stale;
	if (!p->spec.name)
		return;
	if (p->known_to_ms < quantity_add(q->now_ms, PLAN_HORIZON_MS / 2))
		plan_renew(q, p);
	else {
		p->stale = plan_stale(p, q->now_ms, NULL);
		ask_again(q, p, held);
		arm(q, p);
	}
}

/* Counts the costs of the plan's runs up to now, by the prices up to now. */
static void settle_runs(struct queue *q, struct plan *p)
{
	struct clusterqueue *cq;
	map_each(&q->clusterqueues.map, i, cq) {
		if (plan_of(q, cq) != p)
			continue;
		list_each_entry(&cq->reservations, struct reservation, r, of_clusterqueue)
			bill_settle(q, r, q->now_ms);
	}
}

static void expect_anew(struct queue *q)
{
	struct clusterqueue *cq;
	map_each(&q->clusterqueues.map, i, cq)
		list_each_entry(&cq->reservations, struct reservation, r, of_clusterqueue)
			bill_expect(q, r);
	budgets_recount(q);
}

void plan_renew(struct queue *q, struct plan *p)
{
	bool held = p->spec.hold_when_stale && p->stale;
	if (!p->spec.name)
		return;
	if (q->now_ms == 0) {
		forget_steps(p); /* a bill has them made anew; all else is for plans_begin() */
		return;
	}
	settle_runs(q, p);
	forget_steps(p);
	plan_factors(q, p, q->now_ms, INT64_MAX);
	expect_anew(q);
	p->stale = plan_stale(p, q->now_ms, NULL);
	ask_again(q, p, held);
	arm(q, p);
}

void plans_begin(struct queue *q)
{
	struct plan *p;
	for (size_t i = 0; (p = plans_at(q, i)); i++) {
		if (!p->spec.name)
			continue;
		forget_steps(p);
		plan_factors(q, p, q->now_ms, INT64_MAX);
		p->stale = plan_stale(p, q->now_ms, NULL);
		arm(q, p);
	}
	expect_anew(q);
	q->budgets->stale = true;
}

void plans_set_back(struct queue *q)
{
	struct plan *p;
	for (size_t i = 0; (p = plans_at(q, i)); i++)
		plan_renew(q, p);
}

void plans_settle(struct queue *q)
{
	struct plan *p;
	for (size_t i = 0; (p = plans_at(q, i)); i++)
		settle_runs(q, p);
	settle_runs(q, NULL);
}

void plans_form(struct queue *q)
{
	q->plans->version++;
	q->counters.terms_edits++;
	features_edited(q);
	expect_anew(q);
	struct tree_node *n = tree_first(&q->clusterqueues.shown);
	for (; n; n = tree_next(n)) {
		struct clusterqueue *cq = container_of(n, struct clusterqueue, by_name);
		terms_ask_again(q, cq);
		queue_touch_queue(q, cq);
	}
	q->counters.version++;
}

int queue_set_priceplan(struct queue *q, const struct priceplan_spec *s, struct err *e)
{
	queue_tell(q, SET_PRICEPLAN, .priceplan = s);
	struct err own;
	int code = plan_check(s, &own);
	if (code) {
		named_object_refuse(q, &plan_make(q, s->name)->object, own.text);
		return err_set(e, code, "%s", own.text);
	}
	plans_settle(q);
	struct plan *p = plan_make(q, s->name);
	struct plan old = {.spec = p->spec, .memory = p->memory, .rate = p->rate};
	take_spec(q, p, s); /* before the old one goes: they may share Calendars */
	named_object_set_invalid(&p->object, NULL);
	forget_spec(q, &old);
	forget_steps(p);
	p->stale = plan_stale(p, q->now_ms, NULL);
	alarm_set(
		&q->alarms, &p->alarm, q->now_ms); /* it is asked again as soon as time is known */
	plans_form(q);
	return 0;
}

void queue_reject_priceplan(struct queue *q, const char *name, const char *sentence)
{
	queue_tell(q, REJECT_PRICEPLAN, .name = name, .sentence = sentence);
	named_object_refuse(q, &plan_make(q, name)->object, sentence);
}

void queue_drop_priceplan(struct queue *q, const char *name)
{
	queue_tell(q, DROP_PRICEPLAN, .name = name);
	struct plan *p = plan_find(q, name);
	if (!p)
		return;
	plans_settle(q);
	plan_free(q, p);
	plans_form(q);
}
