/* Budgets as admins describe them: the records, their queues, and what an edit changes. */
#include "queue/rules/money/budget.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "queue/calendar/zone.h"
#include "queue/core.h"
#include "base/symbol.h"
#include "queue/tell.h"

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

struct budget *budgets_at(const struct queue *q, size_t i)
{
	struct tree_node *n = tree_at(&q->budgets.all, i);
	return n ? container_of(n, struct budget, by_name) : NULL;
}

struct budget *budgets_find(const struct queue *q, const char *name)
{
	struct budget *b;
	for (size_t i = 0; (b = budgets_at(q, i)); i++)
		if (strcmp(b->name, name) == 0)
			return b;
	return NULL;
}

static struct budget *budget_make(struct queue *q, const char *name)
{
	struct budget *b = budgets_find(q, name);
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
		"Budget %s: spec.timeZone: %s is no zone of the system's database; write an IANA name such as Europe/Berlin",
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
	list_each(&lq->members, l) {
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
		list_each(&cq->localqueues, l)
			members_move(
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

/* It counts for no queue any more. */
static void stop_paying(struct queue *q, struct budget *b)
{
	move_payers(q, b->cq, b->lq, PLACE_READY, workload_unplace);
	list_leave(&b->of_owner);
	rules_edited(q);
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

/* Its currency may decide which of several plans holds for its ClusterQueue (plan.h). */
static bool chooses_plan(const struct queue *q, const char *clusterqueue, const char *currency)
{
	return *clusterqueue && *currency && plans_at(q, 1);
}

static bool chose_plan(const struct queue *q, const struct budget *b)
{
	return b->spec.name && chooses_plan(q, b->spec.clusterqueue, b->spec.currency);
}

static void budget_reject(struct queue *q, const char *name, const char *sentence)
{
	struct budget *b = budget_make(q, name);
	free(b->invalid);
	b->invalid = mem_strdup(sentence);
	q->counters.version++;
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
		budget_reject(q, s->name, own.text);
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
	rules_edited(q);
	move_payers(q, b->cq, b->lq, PLACE_NOWHERE, workload_place);
	free(b->invalid);
	b->invalid = code ? mem_strdup(own.text) : NULL;
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
	budget_reject(q, name, sentence);
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
	spending_done(&q->budgets.spending);
}
