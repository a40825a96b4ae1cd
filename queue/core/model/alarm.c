#include "queue/core/model/alarm.h"

#include "base/list.h"

static int alarm_order(const struct tree_node *x, const struct tree_node *y)
{
	const struct alarm *a = container_of_const(x, struct alarm, node);
	const struct alarm *b = container_of_const(y, struct alarm, node);
	if (a->at_ms != b->at_ms)
		return a->at_ms < b->at_ms ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return a->serial < b->serial ? -1 : a->serial > b->serial;
}

void alarms_init(struct tree *alarms)
{
	tree_init(alarms, alarm_order, NULL);
}

void alarm_init(struct alarm *a, enum alarm_kind kind, uint64_t serial, void *owner)
{
	a->kind = kind;
	a->serial = serial;
	a->owner = owner;
}

void alarm_clear(struct tree *alarms, struct alarm *a)
{
	if (tree_in(&a->node))
		tree_remove(alarms, &a->node);
}

void alarm_set(struct tree *alarms, struct alarm *a, int64_t at_ms)
{
	if (tree_in(&a->node) && a->at_ms == at_ms)
		return;
	alarm_clear(alarms, a);
	a->at_ms = at_ms;
	if (at_ms != INT64_MAX)
		tree_insert(alarms, &a->node, a->serial * 16 + a->kind);
}

int64_t alarm_at(const struct alarm *a)
{
	return tree_in(&a->node) ? a->at_ms : INT64_MAX;
}

static struct alarm *first(const struct tree *alarms)
{
	struct tree_node *n = tree_first(alarms);
	return n ? container_of(n, struct alarm, node) : NULL;
}

struct alarm *alarms_take(struct tree *alarms, int64_t now_ms)
{
	struct alarm *a = first(alarms);
	if (!a || a->at_ms > now_ms)
		return NULL;
	alarm_clear(alarms, a);
	return a;
}

int64_t alarms_next(const struct tree *alarms)
{
	const struct alarm *a = first(alarms);
	return a ? a->at_ms : INT64_MAX;
}
