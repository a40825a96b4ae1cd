#include "queue/budget.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "base/order.h"
#include "calendar/civil.h"
#include "calendar/zone.h"
#include "price/money.h"
#include "queue/core.h"
#include "queue/offer.h"
#include "queue/room.h"
#include "queue/symbol.h"
#include "sluice/quantity.h"

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

/* ---- The specs ---- */

static int budget_order(const struct tree_node *a, const struct tree_node *b)
{
	return strcmp(container_of_const(a, struct budget, by_name)->name,
		container_of_const(b, struct budget, by_name)->name);
}

void budgets_init(struct budgets *all)
{
	tree_init(&all->all, budget_order, NULL);
	spending_init(&all->spending);
	all->made = 0;
	all->stale = false;
}

static struct budget *budget_at(const struct queue *q, size_t i)
{
	struct tree_node *n = tree_at(&q->budgets.all, i);
	return n ? container_of(n, struct budget, by_name) : NULL;
}

static struct budget *budget_find(const struct queue *q, const char *name)
{
	struct budget *b;
	for (size_t i = 0; (b = budget_at(q, i)); i++)
		if (strcmp(b->name, name) == 0)
			return b;
	return NULL;
}

static struct budget *budget_make(struct queue *q, const char *name)
{
	struct budget *b = budget_find(q, name);
	if (b)
		return b;
	b = mem_alloc(sizeof(*b));
	b->name = mem_strdup(name);
	b->serial = ++q->budgets.made;
	b->alarm.kind = ALARM_BUDGET;
	b->alarm.serial = b->serial;
	b->alarm.owner = b;
	tree_insert(&q->budgets.all, &b->by_name, b->serial);
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
		"Budget %s: spec.timeZone: %s is no zone of the system's database; write an IANA "
		"name such as Europe/Berlin",
		s->name, *s->time_zone ? s->time_zone : "\"\"");
}

/* The queue's list, in the order of the Budgets' names. */
static void join_owner(struct budget *b)
{
	struct link *all = b->cq ? &b->cq->budgets : &b->lq->budgets, *before = all->next;
	while (before != all &&
		strcmp(container_of(before, struct budget, of_owner)->name, b->name) < 0)
		before = before->next;
	list_add(before, &b->of_owner); /* at the end of the ring that begins with `before` */
}

static void touch_owner(struct queue *q, struct budget *b)
{
	struct clusterqueue *cq = b->cq ? b->cq : b->lq ? b->lq->cq : NULL;
	if (cq)
		queue_touch_queue(q, cq);
}

/* Where money counts, groups are of one duration, and of one LocalQueue with Budgets (group.h):
 * those who stand in one are taken from there, or placed. */
static void members_move(struct queue *q, struct localqueue *lq, enum workload_place from,
	void (*move)(struct queue *q, struct workload *w))
{
	list_each(&lq->members, l)
	{
		struct workload *w = container_of(l, struct workload, of_localqueue);
		if (w->place == from)
			move(q, w);
	}
}

static void move_payers(struct queue *q, struct clusterqueue *cq, struct localqueue *lq,
	enum workload_place from, void (*move)(struct queue *q, struct workload *w))
{
	if (lq)
		members_move(q, lq, from, move);
	if (cq)
		list_each(&cq->localqueues, l) members_move(
			q, container_of(l, struct localqueue, of_clusterqueue), from, move);
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

/* It counts for nobody any more. */
static void stop_paying(struct queue *q, struct budget *b)
{
	move_payers(q, b->cq, b->lq, PLACE_READY, workload_unplace);
	list_leave(&b->of_owner);
	move_payers(q, b->cq, b->lq, PLACE_NOWHERE, workload_place);
	forget_spec(q, b);
}

static void take_spec(struct queue *q, struct budget *b, const struct budget_spec *s)
{
	b->memory = (struct arena){0};
	b->spec = *s;
	b->spec.name = b->name;
	b->spec.clusterqueue = arena_string(&b->memory, s->clusterqueue);
	b->spec.localqueue_ns = arena_string(&b->memory, s->localqueue_ns);
	b->spec.localqueue = arena_string(&b->memory, s->localqueue);
	b->spec.time_zone = arena_string(&b->memory, s->time_zone);
	b->spec.currency = b->currency = symbol_of(&q->symbols, s->currency);
	b->spec.zone = NULL;
	b->zone = s->zone ? zone_copy(s->zone) : NULL;
	if (*s->clusterqueue)
		b->cq = clusterqueue_keep(&q->clusterqueues, s->clusterqueue);
	else
		b->lq = localqueue_keep(&q->localqueues, s->localqueue_ns, s->localqueue);
	b->to_ms = 0;
	b->counted = false;
}

int queue_set_budget(struct queue *q, const struct budget_spec *s, struct err *e)
{
	struct err own;
	int code = budget_check(s, &own);
	if (code == 0 && !s->zone)
		code = refuse_zone(s, &own);
	struct budget *b = budget_make(q, s->name);
	if (code && (s->zone || b->spec.name)) {
		queue_reject_budget(q, s->name, own.text);
		return err_set(e, code, "%s", own.text);
	}
	touch_owner(q, b);
	stop_paying(q, b);
	take_spec(q, b, s);
	move_payers(q, b->cq, b->lq, PLACE_READY, workload_unplace);
	join_owner(b);
	move_payers(q, b->cq, b->lq, PLACE_NOWHERE, workload_place);
	free(b->invalid);
	b->invalid = code ? mem_strdup(own.text) : NULL;
	alarm_set(&q->alarms, &b->alarm, q->now_ms);
	touch_owner(q, b);
	q->version++;
	return code ? err_set(e, code, "%s", own.text) : 0;
}

void queue_reject_budget(struct queue *q, const char *name, const char *sentence)
{
	struct budget *b = budget_make(q, name);
	free(b->invalid);
	b->invalid = mem_strdup(sentence);
	q->version++;
}

static void budget_free(struct queue *q, struct budget *b)
{
	stop_paying(q, b);
	alarm_clear(&q->alarms, &b->alarm);
	tree_remove(&q->budgets.all, &b->by_name);
	free(b->name);
	free(b->invalid);
	free(b);
}

void queue_drop_budget(struct queue *q, const char *name)
{
	struct budget *b = budget_find(q, name);
	if (!b)
		return;
	touch_owner(q, b);
	budget_free(q, b);
	q->version++;
}

void budgets_done(struct queue *q)
{
	struct budget *b;
	while ((b = budget_at(q, 0)))
		budget_free(q, b);
	spending_done(&q->budgets.spending);
}

/* ---- What runs cost ---- */

static int64_t starts_ms(const struct room *r)
{
	return r->confirmed ? r->since_ms : r->reserved_ms;
}

static bool concerns(const struct budget *b, const struct room *r)
{
	int64_t at_ms = starts_ms(r);
	return at_ms >= b->from_ms && at_ms < b->to_ms && (!b->lq || r->lq == b->lq) &&
	       (!r->bill.currency || r->bill.currency == b->currency);
}

static int64_t reserved_for(
	struct queue *q, const struct budget *b, const struct room *r, int64_t cost)
{
	if (b->spec.charge == CHARGE_ACTUAL)
		return cost;
	if (r->bill.duration_ms > 0 || !r->confirmed)
		return greater(r->bill.expected, cost);
	return greater(cost, bill_cost(q, r, quantity_add(q->now_ms, HOUR_MS)));
}

static void count_room(struct queue *q, struct budget *b, const struct room *r)
{
	if (!concerns(b, r))
		return;
	int64_t cost = bill_cost(q, r, q->now_ms);
	b->accrued = money_add(b->accrued, cost);
	b->reserved = money_add(b->reserved, reserved_for(q, b, r, cost));
}

static void count_rooms(struct queue *q, struct budget *b)
{
	struct clusterqueue *cq = b->cq ? b->cq : b->lq->cq;
	b->reserved = b->accrued = 0;
	if (b->cq)
		list_each(&b->cq->rooms, l)
			count_room(q, b, container_of(l, struct room, of_clusterqueue));
	else
		list_each(&b->lq->rooms, l)
			count_room(q, b, container_of(l, struct room, of_localqueue));
	if (cq)
		list_each(&cq->promised, l)
			count_room(q, b, container_of(l, struct room, of_clusterqueue));
}

static int64_t spent_in(const struct queue *q, const struct budget *b)
{
	return spending_sum(&q->budgets.spending, b->spec.clusterqueue, b->spec.localqueue_ns,
		b->spec.localqueue, b->currency, b->from_ms, b->to_ms);
}

/* A Budget that names no currency is in that of its queue's PricePlan. */
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
		b->spent = spent_in(q, b);
		b->counted = false;
	}
	if (b->counted && b->counted_ms == q->now_ms)
		return;
	count_rooms(q, b);
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

/* ---- Starts ---- */

/* True when b keeps somebody who is expected to cost so much from starting. */
static bool refuses(struct queue *q, struct budget *b, int64_t cost)
{
	if (b->spec.on_exhausted == EXHAUSTED_WARN)
		return false;
	if (budget_fault(q, b))
		return true;
	budget_count(q, b);
	int64_t remaining = budget_remaining(b);
	return remaining <= 0 || (b->spec.charge == CHARGE_EXPECTED && cost > remaining);
}

static struct budget *refusing(struct queue *q, const struct link *budgets, int64_t cost)
{
	list_each(budgets, l)
	{
		struct budget *b = container_of(l, struct budget, of_owner);
		if (refuses(q, b, cost))
			return b;
	}
	return NULL;
}

bool budget_holds_all(struct queue *q, struct clusterqueue *cq)
{
	return plan_of(q, cq) && refusing(q, &cq->budgets, 0);
}

bool budget_lets_lines(struct queue *q, struct clusterqueue *cq, const struct workload *w,
	const struct quota_line *lines, size_t n, const struct budget **ret_by, int64_t *ret_cost)
{
	bool none = list_empty(&cq->budgets) && list_empty(&w->lq->budgets);
	*ret_cost = 0;
	if (none || !plan_of(q, cq))
		return true;
	int64_t lasts_ms = w->expected_ms > 0 ? w->expected_ms : HOUR_MS;
	int64_t cost = bill_expected(q, cq, lines, n, q->now_ms, lasts_ms);
	const struct budget *by = refusing(q, &cq->budgets, cost);
	if (!by)
		by = refusing(q, &w->lq->budgets, cost);
	*ret_cost = cost;
	if (by && ret_by)
		*ret_by = by;
	return !by;
}

bool budget_lets(struct queue *q, const struct entry *e, const struct budget **ret_by)
{
	struct demand d;
	struct quota_line line[QUEUE_LINES_MAX];
	int64_t cost;
	if (list_empty(&e->cq->budgets) && list_empty(&e->w->lq->budgets))
		return true;
	entry_demand(e, &d);
	for (size_t i = 0; i < d.nlines; i++)
		line[i] = (struct quota_line){
			"", d.line[i].row->flavor, d.line[i].row->resource, d.line[i].amount};
	return budget_lets_lines(q, e->cq, e->w, line, d.nlines, ret_by, &cost);
}

/* ---- The life of a run ---- */

static void change(struct queue *q, const struct link *budgets)
{
	list_each(budgets, l)
	{
		container_of(l, struct budget, of_owner)->counted = false;
		q->budgets.stale = true;
	}
}

bool budget_concerns(const struct room *r)
{
	return (r->cq && !list_empty(&r->cq->budgets)) || !list_empty(&r->lq->budgets);
}

void budget_changed(struct queue *q, struct room *r)
{
	if (r->cq)
		change(q, &r->cq->budgets);
	change(q, &r->lq->budgets);
}

static void start_in(struct queue *q, const struct link *budgets, struct room *r)
{
	list_each(budgets, l)
	{
		struct budget *b = container_of(l, struct budget, of_owner);
		if (b->counted && b->counted_ms == q->now_ms && concerns(b, r))
			b->reserved = money_add(b->reserved, reserved_for(q, b, r, 0));
		q->budgets.stale = true;
	}
}

void budget_started(struct queue *q, struct room *r)
{
	r->bill.duration_ms = r->w->expected_ms;
	if (!budget_concerns(r))
		return; /* nobody asks before it is confirmed */
	bill_expect(q, r);
	if (r->cq)
		start_in(q, &r->cq->budgets, r);
	start_in(q, &r->lq->budgets, r);
}

/* What a run that started then cost is spent. */
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
		&q->budgets.spending, clusterqueue, ns, localqueue, currency, started_ms, cost);
	struct budget *b;
	for (size_t i = 0; (b = budget_at(q, i)); i++) {
		if (!b->spec.name)
			continue;
		bool meant = b->cq ? strcmp(b->spec.clusterqueue, clusterqueue) == 0
				   : strcmp(b->spec.localqueue, localqueue) == 0 &&
					     strcmp(b->spec.localqueue_ns, ns) == 0;
		if (meant)
			spend_in(b, currency, started_ms, cost);
	}
	q->budgets.stale = true;
}

void budget_ended(struct queue *q, struct room *r, int64_t cost)
{
	budget_changed(q, r);
	if (r->confirmed && r->bill.currency)
		spend(q, r->cq ? r->cq->name : "", r->lq->ns->name, r->lq->name, r->bill.currency,
			r->since_ms, cost);
}

void queue_recall_spent(struct queue *q, const char *clusterqueue, const char *ns,
	const char *localqueue, const char *currency, int64_t started_ms, int64_t cost)
{
	spend(q, clusterqueue, ns, localqueue, currency, started_ms, cost);
	q->version++;
}

int64_t queue_recall_spent_since_ms(const struct queue *q, int64_t now_ms)
{
	int64_t since_ms = 0;
	bool any = false;
	struct budget *b;
	for (size_t i = 0; (b = budget_at(q, i)); i++) {
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
	for (size_t i = 0; (b = budget_at(q, i)); i++)
		b->counted = false;
	q->budgets.stale = true;
}

/* ---- Exhausted ---- */

static bool is_exhausted(struct queue *q, struct budget *b)
{
	if (!b->spec.name || b->spec.on_exhausted != EXHAUSTED_SUSPEND || budget_fault(q, b))
		return false;
	budget_count(q, b);
	return money_add(b->spent, b->accrued) >= b->spec.amount;
}

static const struct budget *stopping(
	struct queue *q, const struct link *budgets, const struct room *r)
{
	list_each(budgets, l)
	{
		struct budget *b = container_of(l, struct budget, of_owner);
		if (is_exhausted(q, b) && concerns(b, r) && bill_per_hour(q, r, q->now_ms) > 0)
			return b;
	}
	return NULL;
}

bool budget_stops(struct queue *q, const struct room *r, const struct budget **ret_by)
{
	*ret_by = r->cq ? stopping(q, &r->cq->budgets, r) : NULL;
	if (!*ret_by)
		*ret_by = stopping(q, &r->lq->budgets, r);
	return *ret_by != NULL;
}

static int last_first(const void *va, const void *vb)
{
	const struct room *a = *(struct room *const *)va, *b = *(struct room *const *)vb;
	return order_cmp(&b->w->key, &a->w->key);
}

static void suspect_runs(struct queue *q, struct budget *b)
{
	size_t n = 0;
	const struct link *rooms = b->cq ? &b->cq->rooms : &b->lq->rooms;
	list_each(rooms, l) n++;
	struct room **all = mem_array(n, sizeof(*all));
	n = 0;
	list_each(rooms, l) all[n++] = b->cq ? container_of(l, struct room, of_clusterqueue)
					     : container_of(l, struct room, of_localqueue);
	if (n > 1)
		qsort(all, n, sizeof(struct room *), last_first);
	for (size_t i = 0; i < n; i++)
		room_suspect(q, all[i]);
	free(all);
}

/* ---- Over time ---- */

/* What all that runs and counts costs an hour now. */
static int64_t rate_of(struct queue *q, const struct budget *b)
{
	int64_t sum = 0;
	if (b->cq) {
		list_each(&b->cq->rooms, l)
		{
			const struct room *r = container_of(l, struct room, of_clusterqueue);
			if (r->confirmed && concerns(b, r))
				sum = money_add(sum, bill_per_hour(q, r, q->now_ms));
		}
		return sum;
	}
	list_each(&b->lq->rooms, l)
	{
		const struct room *r = container_of(l, struct room, of_localqueue);
		if (r->confirmed && concerns(b, r))
			sum = money_add(sum, bill_per_hour(q, r, q->now_ms));
	}
	return sum;
}

/* When what runs will have used it up, at the prices of now; the plan's own steps make it look
 * again. */
static int64_t exhausted_at(struct queue *q, struct budget *b)
{
	if (b->spec.on_exhausted != EXHAUSTED_SUSPEND || budget_fault(q, b))
		return INT64_MAX;
	int64_t left = money_add(money_add(b->spec.amount, -b->spent), -b->accrued);
	int64_t rate = rate_of(q, b);
	if (rate <= 0 || left <= 0)
		return INT64_MAX;
	__int128 ms = ((__int128)left * HOUR_MS + rate - 1) / rate;
	return ms > INT64_MAX / 2 ? INT64_MAX : quantity_add(q->now_ms, (int64_t)ms);
}

static void arm(struct queue *q, struct budget *b)
{
	if (!b->spec.name || !b->zone)
		return;
	budget_count(q, b);
	int64_t at_ms = exhausted_at(q, b);
	alarm_set(&q->alarms, &b->alarm, at_ms < b->to_ms ? at_ms : b->to_ms);
}

void budget_turn(struct queue *q, struct budget *b)
{
	if (!b->spec.name)
		return;
	budget_count(q, b);
	touch_owner(q, b);
	if (is_exhausted(q, b))
		suspect_runs(q, b);
	q->budgets.stale = true;
	q->version++;
}

void budgets_turn(struct queue *q)
{
	struct budget *b;
	for (size_t i = 0; (b = budget_at(q, i)); i++)
		budget_turn(q, b);
}

void budgets_arm(struct queue *q)
{
	struct budget *b;
	if (!q->budgets.stale)
		return;
	q->budgets.stale = false;
	for (size_t i = 0; (b = budget_at(q, i)); i++)
		arm(q, b);
}
