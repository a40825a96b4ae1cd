#include "queue/features/money/budget.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "base/order.h"
#include "base/symbol.h"
#include "queue/calendar/civil.h"
#include "queue/calendar/zone.h"
#include "queue/core/model/state.h"
#include "queue/core/model/feature.h"
#include "queue/core/model/reservation.h"
#include "queue/price/money.h"
#include "queue/core/model/tell.h"
#include "sluice/quantity.h"
#include "queue/features/money/plan.h"
#include "queue/features/money/bill.h"
#include "queue/job/specs.h"

#define HOUR_MS INT64_C(3600000)
#define LAST_S INT64_C(253370764800) /* the beginning of 9999 */

/* ---- Periods ---- */

static int32_t period_begins(enum budget_period period, int32_t day)
{
	struct civil c = civil_of(day);
	switch (period) {
	case PERIOD_DAILY:
		return day;
	case PERIOD_WEEKLY:
		return day - (civil_weekday(day) + 6) % 7;
	case PERIOD_MONTHLY:
		return civil_days(c.year, c.month, 1);
	case PERIOD_YEARLY:
		return civil_days(c.year, 1, 1);
	}
	must_not_get_here();
}

static int32_t period_ends(enum budget_period period, int32_t first)
{
	struct civil c = civil_of(first);
	switch (period) {
	case PERIOD_DAILY:
		return first + 1;
	case PERIOD_WEEKLY:
		return first + 7;
	case PERIOD_MONTHLY:
		return c.month == 12 ? civil_days(c.year + 1, 1, 1)
				     : civil_days(c.year, c.month + 1, 1);
	case PERIOD_YEARLY:
		return civil_days(c.year + 1, 1, 1);
	}
	must_not_get_here();
}

static void period_at(enum budget_period period, const struct zone *z, int64_t now_ms,
	int64_t *ret_from_ms, int64_t *ret_to_ms)
{
	int64_t now_s = civil_floor(now_ms < 0 ? 0 : now_ms, 1000);
	int32_t day = civil_day_of(zone_clock_s(z, now_s < LAST_S ? now_s : LAST_S));
	int32_t first = period_begins(period, day);
	*ret_from_ms = zone_instant_s(z, first * DAY_S) * 1000;
	*ret_to_ms = zone_instant_s(z, period_ends(period, first) * DAY_S) * 1000;
}

/* ---- What runs cost ---- */

bool budget_counts(const struct budget *b, const struct reservation *r)
{
	int64_t at_ms = reservation_since_ms(r);
	return at_ms >= b->from_ms && at_ms < b->to_ms && (!b->lq || r->lq == b->lq) &&
	       (!r->bill.currency || r->bill.currency == b->currency);
}

static int64_t reserved_for(
	struct queue *q, const struct budget *b, const struct reservation *r, int64_t cost)
{
	if (b->spec.charge == CHARGE_ACTUAL)
		return cost;
	if (r->expected_ms > 0 || !r->confirmed)
		return greater(r->bill.expected, cost);
	return greater(cost, bill_cost(q, r, quantity_add(q->now_ms, HOUR_MS)));
}

static void count_reservation(struct queue *q, struct budget *b, const struct reservation *r)
{
	if (!budget_counts(b, r))
		return;
	int64_t cost = bill_cost(q, r, q->now_ms);
	b->accrued = money_add(b->accrued, cost);
	b->reserved = money_add(b->reserved, reserved_for(q, b, r, cost));
}

static void count_reservations(struct queue *q, struct budget *b)
{
	struct clusterqueue *cq = b->cq ? b->cq : b->lq->cq;
	b->reserved = b->accrued = 0;
	if (b->cq)
		list_each_entry(&b->cq->reservations, const struct reservation, r, of_clusterqueue)
			count_reservation(q, b, r);
	else
		list_each_entry(&b->lq->reservations, const struct reservation, r, of_localqueue)
			count_reservation(q, b, r);
	if (cq)
		list_each_entry(&cq->promised, const struct reservation, r, of_clusterqueue)
			count_reservation(q, b, r);
}

/* A Budget without a currency has that of its queue's PricePlan. */
static void take_currency(struct queue *q, struct budget *b)
{
	struct clusterqueue *cq = b->cq ? b->cq : b->lq->cq;
	const struct plan *p = *b->spec.currency ? NULL : plan_of(q, cq);
	if (!p || b->currency == p->currency)
		return;
	b->currency = p->currency;
	b->to_ms = 0;
}

void budget_count(struct queue *q, struct budget *b)
{
	if (!b->zone)
		return;
	take_currency(q, b);
	if (q->now_ms < b->from_ms || q->now_ms >= b->to_ms) {
		period_at(b->spec.period, b->zone, q->now_ms, &b->from_ms, &b->to_ms);
		b->spent = spending_sum(&q->budgets->spending, b->spec.clusterqueue,
			b->spec.localqueue_ns, b->spec.localqueue, b->currency, b->from_ms,
			b->to_ms);
		b->counted = false;
	}
	if (b->counted && b->counted_ms == q->now_ms)
		return;
	count_reservations(q, b);
	b->counted = true;
	b->counted_ms = q->now_ms;
}

int64_t budget_remaining(const struct budget *b)
{
	return money_add(money_add(b->spec.amount, -b->spent), -b->reserved);
}

const char *budget_fault(struct queue *q, const struct budget *b)
{
	struct clusterqueue *cq = b->cq ? b->cq : b->lq->cq;
	const struct plan *p = plan_of(q, cq);
	if (!b->zone)
		return "its time zone is unknown";
	if (p && *b->spec.currency && p->currency != b->currency)
		return "its currency is not that of the PricePlan";
	return NULL;
}

/* ---- The life of a run ---- */

static void change(struct queue *q, const struct link *budgets)
{
	list_each_entry(budgets, struct budget, b, of_owner) {
		b->counted = false;
		q->budgets->stale = true;
	}
}

bool budget_concerns(const struct reservation *r)
{
	return (r->cq && !list_empty(&r->cq->budgets)) || !list_empty(&r->lq->budgets);
}

void budget_changed(struct queue *q, struct reservation *r)
{
	if (r->cq)
		change(q, &r->cq->budgets);
	change(q, &r->lq->budgets);
}

static void start_in(struct queue *q, const struct link *budgets, struct reservation *r)
{
	list_each_entry(budgets, struct budget, b, of_owner) {
		if (b->counted && b->counted_ms == q->now_ms && budget_counts(b, r))
			b->reserved = money_add(b->reserved, reserved_for(q, b, r, 0));
		q->budgets->stale = true;
	}
}

void budget_started(struct queue *q, struct reservation *r)
{
	if (!budget_concerns(r))
		return; /* `expected` is not needed before it is confirmed */
	bill_expect(q, r);
	if (r->cq)
		start_in(q, &r->cq->budgets, r);
	start_in(q, &r->lq->budgets, r);
}

/* Adds the cost of an ended run, if it started in the period. */
static void spend_in(struct budget *b, const char *currency, int64_t started_ms, int64_t cost)
{
	if (b->zone && strcmp(b->currency, currency) == 0 && started_ms >= b->from_ms &&
		started_ms < b->to_ms)
		b->spent = money_add(b->spent, cost);
}

static void spend(struct queue *q, const char *clusterqueue, const char *ns, const char *localqueue,
	const char *currency, int64_t started_ms, int64_t cost)
{
	spending_add(
		&q->budgets->spending, clusterqueue, ns, localqueue, currency, started_ms, cost);
	struct budget *b;
	for (size_t i = 0; (b = budgets_at(q, i)); i++) {
		if (!b->spec.name)
			continue;
		bool meant = b->cq ? strcmp(b->spec.clusterqueue, clusterqueue) == 0
				   : strcmp(b->spec.localqueue, localqueue) == 0 &&
					     strcmp(b->spec.localqueue_ns, ns) == 0;
		if (meant)
			spend_in(b, currency, started_ms, cost);
	}
	q->budgets->stale = true;
}

void budget_ended(struct queue *q, struct reservation *r, int64_t cost)
{
	budget_changed(q, r);
	if (r->confirmed && r->bill.currency)
		spend(q, r->cq ? r->cq->name : "", r->lq->ns->name, r->lq->name, r->bill.currency,
			r->since_ms, cost);
}

void queue_recall_spent(struct queue *q, const char *clusterqueue, const char *ns,
	const char *localqueue, const char *currency, int64_t started_ms, int64_t cost)
{
	queue_tell(q, RECALL_SPENT, .clusterqueue_name = clusterqueue, .ns = ns,
		.localqueue_name = localqueue, .currency = currency, .started_ms = started_ms,
		.cost = cost);
	spend(q, clusterqueue, ns, localqueue, currency, started_ms, cost);
	q->counters.version++;
}

int64_t queue_recall_spent_since_ms(const struct queue *q, int64_t now_ms)
{
	int64_t since_ms = 0;
	bool any = false;
	struct budget *b;
	for (size_t i = 0; (b = budgets_at(q, i)); i++) {
		int64_t from_ms, to_ms;
		if (!b->spec.name || !b->zone)
			continue;
		period_at(b->spec.period, b->zone, now_ms, &from_ms, &to_ms);
		since_ms = any && since_ms < from_ms ? since_ms : from_ms;
		any = true;
	}
	return since_ms;
}

void budgets_recount(struct queue *q)
{
	struct budget *b;
	for (size_t i = 0; (b = budgets_at(q, i)); i++)
		b->counted = false;
	q->budgets->stale = true;
}

/* ---- As admins describe them: the records, their queues, and what an edit changes ---- */

void budgets_init(struct budgets *all)
{
	named_objects_init(&all->all);
	spending_init(&all->spending);
	all->stale = false;
}

struct budget *budgets_at(const struct queue *q, size_t i)
{
	struct named_object *o = named_object_at(&q->budgets->all, i);
	return o ? container_of(o, struct budget, object) : NULL;
}

struct budget *budgets_find(const struct queue *q, const char *name)
{
	struct named_object *o = named_object_find(&q->budgets->all, name);
	return o ? container_of(o, struct budget, object) : NULL;
}

static struct budget *budget_make(struct queue *q, const char *name)
{
	struct budget *b = budgets_find(q, name);
	if (b)
		return b;
	b = mem_alloc(sizeof(*b));
	named_object_enter(&q->budgets->all, &b->object, name);
	alarm_init(&b->alarm, ALARM_BUDGET, b->object.serial, b);
	feature_wakes(q, &budget_feature);
	return b;
}

static int budget_check(const struct budget_spec *s, struct err *e)
{
	bool of_cq = *s->clusterqueue != '\0', of_lq = *s->localqueue != '\0';
	if (of_cq == of_lq)
		return err_set(e, ERR_INVALID,
			"Budget %s: spec.queue and spec.localQueue: set exactly one of the two",
			s->name);
	if (s->amount < 0)
		return err_set(e, ERR_INVALID,
			"Budget %s: spec.amount is negative; it must be 0 or more", s->name);
	return 0;
}

static int refuse_zone(const struct budget_spec *s, struct err *e)
{
	return err_set(e, ERR_INVALID,
		"Budget %s: spec.timeZone: %s is no zone of the system's database; write an IANA name such as Europe/Berlin",
		s->name, *s->time_zone ? s->time_zone : "\"\"");
}

/* The queue's list, in the order of the Budgets' names. */
static void join_owner(struct budget *b)
{
	struct link *all = b->cq ? &b->cq->budgets : &b->lq->budgets, *before = all->next;
	while (before != all && strcmp(container_of(before, struct budget, of_owner)->object.name,
					b->object.name) < 0)
		before = before->next;
	list_add(before, &b->of_owner); /* at the end of the ring that begins with `before` */
}

void budget_touch_owner(struct queue *q, struct budget *b)
{
	struct clusterqueue *cq = b->cq ? b->cq : b->lq ? b->lq->cq : NULL;
	if (cq)
		queue_touch_queue(q, cq);
}

/* With Budgets, groups are parted by duration, and by a LocalQueue that has some (group.h). So its
 * Jobs are taken out of groups before a change, and placed after it. */
static void members_move(struct queue *q, struct localqueue *lq, enum workload_place from,
	void (*move)(struct queue *q, struct workload *w))
{
	list_each_entry(&lq->members, struct workload, w, of_localqueue)
		if (w->place == from)
			move(q, w);
}

static void move_payers(struct queue *q, struct clusterqueue *cq, struct localqueue *lq,
	enum workload_place from, void (*move)(struct queue *q, struct workload *w))
{
	if (lq)
		members_move(q, lq, from, move);
	if (cq)
		list_each_entry(&cq->localqueues, struct localqueue, other, of_clusterqueue)
			members_move(q, other, from, move);
}

static void forget_spec(struct queue *q, struct budget *b)
{
	if (b->cq)
		clusterqueue_put(&q->clusterqueues, b->cq);
	if (b->lq)
		localqueue_put(&q->localqueues, b->lq);
	b->cq = NULL;
	b->lq = NULL;
	zone_free(b->zone);
	b->zone = NULL;
	b->spec = (struct budget_spec){0};
	arena_done(&b->memory);
}

/* Takes the Budget off its queue: it counts for none any more. */
static void stop_paying(struct queue *q, struct budget *b)
{
	move_payers(q, b->cq, b->lq, PLACE_READY, workload_unplace);
	list_leave(&b->of_owner);
	features_edited(q);
	move_payers(q, b->cq, b->lq, PLACE_NOWHERE, workload_place);
	forget_spec(q, b);
}

static void take_spec(struct queue *q, struct budget *b, const struct budget_spec *s)
{
	b->memory = (struct arena){0};
	b->spec = budget_spec_copy(&b->memory, s);
	b->spec.name = b->object.name;
	b->spec.currency = b->currency = symbol_of(&q->symbols, s->currency);
	b->zone = s->zone ? zone_copy(s->zone) : NULL;
	if (*s->clusterqueue)
		b->cq = clusterqueue_keep(&q->clusterqueues, s->clusterqueue);
	else
		b->lq = localqueue_keep(&q->localqueues, s->localqueue_ns, s->localqueue);
	b->to_ms = 0;
	b->counted = false;
}

/* Returns whether a Budget's currency may decide which of several plans holds for its ClusterQueue
 * (plan.h). */
static bool chooses_plan(const struct queue *q, const char *clusterqueue, const char *currency)
{
	return *clusterqueue && *currency && plans_at(q, 1);
}

static bool chose_plan(const struct queue *q, const struct budget *b)
{
	return b->spec.name && chooses_plan(q, b->spec.clusterqueue, b->spec.currency);
}

int queue_set_budget(struct queue *q, const struct budget_spec *s, struct err *e)
{
	queue_tell(q, SET_BUDGET, .budget = s);
	struct err own;
	int code = budget_check(s, &own);
	if (code == 0 && !s->zone)
		code = refuse_zone(s, &own);
	struct budget *b = budget_make(q, s->name);
	if (code && (s->zone || b->spec.name)) {
		named_object_refuse(q, &b->object, own.text);
		return err_set(e, code, "%s", own.text);
	}
	bool chooses = chooses_plan(q, s->clusterqueue, s->currency) || chose_plan(q, b);
	if (chooses)
		plans_settle(q);
	budget_touch_owner(q, b);
	stop_paying(q, b);
	take_spec(q, b, s);
	move_payers(q, b->cq, b->lq, PLACE_READY, workload_unplace);
	join_owner(b);
	features_edited(q);
	move_payers(q, b->cq, b->lq, PLACE_NOWHERE, workload_place);
	named_object_set_invalid(&b->object, code ? own.text : NULL);
	alarm_set(&q->alarms, &b->alarm, q->now_ms);
	if (chooses)
		plans_form(q);
	budget_touch_owner(q, b);
	q->counters.version++;
	return code ? err_set(e, code, "%s", own.text) : 0;
}

void queue_reject_budget(struct queue *q, const char *name, const char *sentence)
{
	queue_tell(q, REJECT_BUDGET, .name = name, .sentence = sentence);
	named_object_refuse(q, &budget_make(q, name)->object, sentence);
}

static void budget_free(struct queue *q, struct budget *b)
{
	stop_paying(q, b);
	alarm_clear(&q->alarms, &b->alarm);
	named_object_leave(&q->budgets->all, &b->object);
	free(b);
}

void queue_drop_budget(struct queue *q, const char *name)
{
	queue_tell(q, DROP_BUDGET, .name = name);
	struct budget *b = budgets_find(q, name);
	if (!b)
		return;
	bool chose = chose_plan(q, b);
	if (chose)
		plans_settle(q);
	budget_touch_owner(q, b);
	budget_free(q, b);
	if (chose)
		plans_form(q);
	q->counters.version++;
}

void budgets_done(struct queue *q)
{
	struct budget *b;
	while ((b = budgets_at(q, 0)))
		budget_free(q, b);
	spending_done(&q->budgets->spending);
}
