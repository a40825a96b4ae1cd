/*
 * Budgets: how much a queue may spend in a period (a day, a week, a month, a year of the Budget's
 * zone).
 *
 * The whole cost of a run is charged to the period in which it starts. So the use of a period is
 * the sum of the bills of the runs that started in it, and nothing else (promise P6):
 *
 *   spent      the bills of runs that have ended (spending.h)
 *   reserved   for each run the greater of its expected cost and its cost so far (with charge
 *              Actual: its cost so far). A run of unknown duration is expected to cost an hour more
 *              than it has
 *   remaining  amount - spent - reserved
 *
 * A start needs its expected cost to remain in all Budgets of its queues; with charge Actual, any
 * amount. A Budget with nothing left refuses all starts. With onExhausted Suspend, once the bills
 * and the costs so far reach the amount, runs that started in the period are stopped, the last in
 * order first. With Warn nothing is refused or stopped.
 *
 * A Budget with a fault (an unknown zone, another currency than its queue's plan) lets nothing
 * start, unless it only warns, and stops nothing. In a queue without a plan everything is free.
 *
 * What is reserved is summed over the runs on demand, once a decision at most.
 */
#ifndef SLUICE_QUEUE_FEATURES_MONEY_BUDGET_H
#define SLUICE_QUEUE_FEATURES_MONEY_BUDGET_H

#include "queue/core/model/alarm.h"
#include "queue/core/model/named_object.h"
#include "base/arena.h"
#include "base/list.h"
#include "queue/features/money/spending.h"
#include "sluice/queue.h"

struct clusterqueue;
struct localqueue;
struct reservation;
struct workload;

struct budget {
	struct named_object object;
	struct budget_spec spec; /* in force; strings in memory; spec.name NULL: none */
	struct arena memory;
	const char *currency; /* a symbol; "": its plan's, which is not known yet */
	struct zone *zone;    /* NULL: unknown */
	/* The Budget's owner, one of the two; with a reference. */
	struct clusterqueue *cq;
	struct localqueue *lq;
	struct link of_owner; /* clusterqueue.budgets or localqueue.budgets, by name */

	int64_t from_ms, to_ms; /* the period; to_ms 0: none is known yet */
	int64_t spent;		/* of runs that started in it and have ended */
	bool counted;		/* the next three lines are right at counted_ms */
	int64_t counted_ms;
	int64_t reserved, accrued; /* of runs; what they have cost so far */
	bool holds;		   /* starts were refused by it when it was looked at last */
	struct alarm alarm;	   /* the period's end, or when it may be used up */
};

struct budgets {
	struct named_objects all;
	bool stale; /* alarms have to be set anew */
	struct spending spending;
};

void budgets_init(struct budgets *all);
void budgets_done(struct queue *q);

/* Do all Budgets of its queues let w start now with these lines? *ret_by (may be NULL): the first
 * that does not. *ret_cost: its expected cost. */
bool budget_lets_lines(struct queue *q, struct clusterqueue *cq, const struct workload *w,
	const struct quota_line *lines, size_t n, const struct budget **ret_by, int64_t *ret_cost);

/* Reserves money for a run that starts, or for a promise. */
void budget_started(struct queue *q, struct reservation *r);
/* Has Budgets counted anew, because the run's start, lines or end have changed. */
void budget_changed(struct queue *q, struct reservation *r);
/* Spends the bill of a run that was released. */
void budget_ended(struct queue *q, struct reservation *r, int64_t cost);
/* Has all Budgets counted anew, because prices have changed. */
void budgets_recount(struct queue *q);

bool budget_concerns(const struct reservation *r); /* does any? */

/* The alarm of the Budget rang, or the clock was set back. */
void budget_ring(struct queue *q, struct budget *b);
/* The clock was set back: all Budgets. */
void budgets_set_back(struct queue *q);
/* Sets the alarms of all Budgets, at the end of a decision. */
void budgets_arm(struct queue *q);

/* Works out period and sums for now. */
void budget_count(struct queue *q, struct budget *b);
int64_t budget_remaining(const struct budget *b);
/* Returns the Budget's fault, as a part of a sentence, or NULL. */
const char *budget_fault(struct queue *q, const struct budget *b);

struct budget *budgets_find(const struct queue *q, const char *name);
struct budget *budgets_at(const struct queue *q, size_t i); /* by name; NULL behind the last */
void budget_touch_owner(struct queue *q, struct budget *b);
/* Returns whether the run started in the Budget's period, in its LocalQueue if it is of one, and in
 * its currency. */
bool budget_counts(const struct budget *b, const struct reservation *r);

/* Sleeps until there is a Budget or a PricePlan: what runs cost is kept for later Budgets
 * (budget_rule.c). */
extern const struct feature budget_feature;

#endif
