/*
 * Budgets: how much a queue may spend in a period (a day, a week, a month, a year of the Budget's
 * zone).
 *
 * A run is charged to the period in which it starts, whole. So what a period spent is the sum of
 * the bills of the runs that started in it, and nothing else (promise P6):
 *
 *   spent      the bills of those that have ended
 *   reserved   for those that run, the greater of what was expected of them and what they have cost
 *              (charge: Actual: what they have cost). A run of unknown duration is expected to cost
 *              an hour more than it has
 *   remaining  amount - spent - reserved
 *
 * A start needs what it is expected to cost to remain, in all Budgets of its queues. With
 * onExhausted Suspend runs are stopped once what was spent and what runs have cost reach the
 * amount, the last in order first; with Warn nothing is kept from anybody.
 */
#ifndef SLUICE_QUEUE_BUDGET_H
#define SLUICE_QUEUE_BUDGET_H

#include "queue/alarm.h"
#include "queue/arena.h"
#include "queue/list.h"
#include "sluice/queue.h"

struct room;
struct entry;

struct budget {
	char *name;
	uint64_t serial;
	struct tree_node by_name;
	struct budget_spec spec; /* in force; strings in memory */
	struct arena memory;
	struct zone *zone;
	char *invalid;
	int64_t from_ms, to_ms; /* the period */
	int64_t spent;		/* of runs that started in it and have ended */
	struct alarm alarm;	/* the period's end, or when what runs cost may have used it up */
};

struct budgets {
	struct tree all; /* by name */
};

/* What was ever told of spending, by queue and quarter of an hour, as far back as the longest
 * period: a Budget that is made in the middle of the month knows what the month has cost. */
struct spending;

/* May the offer start now, by all Budgets that concern it? If not *ret_by is the first that says
 * no. */
bool budget_lets(struct queue *q, const struct entry *e, const struct budget **ret_by);
/* It started: its reservation. / It was released: the bill takes its place. */
void budget_started(struct queue *q, struct room *r);
void budget_ended(struct queue *q, struct room *r, int64_t cost);

enum stop_reason budget_stop_reason(struct queue *q, const struct room *r);

void budget_turn(struct queue *q, struct budget *b);

#endif
