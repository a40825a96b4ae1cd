/*
 * Budgets: how much a queue may spend in a period (a day, a week, a month, a year of the Budget's
 * zone).
 *
 * A run is charged to the period in which it starts, whole. So what a period spent is the sum of
 * the bills of the runs that started in it, and nothing else (promise P6):
 *
 *   spent      the bills of those that have ended (spending.h)
 *   reserved   for those that run, the greater of what was expected of them and what they have cost
 *              (charge: Actual: what they have cost). A run of unknown duration is expected to cost
 *              an hour more than it has
 *   remaining  amount - spent - reserved
 *
 * A start needs what it is expected to cost to remain, with charge Actual something to remain, in
 * all Budgets of its queues; a Budget of which nothing remains holds all starts. With onExhausted
 * Suspend runs that started in the period are stopped once what was spent and what runs have cost
 * reach the amount, the last in order first; with Warn nothing is kept from anybody.
 *
 * A Budget that cannot be understood (an unknown zone, another currency than its queue's plan)
 * starts nothing, unless it only warns, and stops nothing. In a queue without a plan nothing costs
 * anything.
 *
 * What is reserved is summed over the runs when somebody asks, once a decision at most.
 */
#ifndef SLUICE_QUEUE_RULES_MONEY_BUDGET_H
#define SLUICE_QUEUE_RULES_MONEY_BUDGET_H

#include "queue/model/alarm.h"
#include "base/arena.h"
#include "base/list.h"
#include "queue/rules/money/spending.h"
#include "sluice/queue.h"

struct clusterqueue;
struct nominee;
struct localqueue;
struct reservation;
struct workload;

struct budget {
	char *name;
	uint64_t serial;
	struct tree_node by_name;
	struct budget_spec spec; /* in force; strings in memory; spec.name NULL: none */
	struct arena memory;
	const char *currency; /* a symbol; "": of a plan that is not here yet */
	struct zone *zone;    /* NULL: unknown */
	char *invalid;	      /* the sentence about a newer spec that was refused, or NULL */
	/* Whose it is: one of the two; the records are held. */
	struct clusterqueue *cq;
	struct localqueue *lq;
	struct link of_owner; /* clusterqueue.budgets or localqueue.budgets, by name */

	int64_t from_ms, to_ms; /* the period; to_ms 0: none is known yet */
	int64_t spent;		/* of runs that started in it and have ended */
	bool counted;		/* what follows is right at counted_ms: */
	int64_t counted_ms;
	int64_t reserved, accrued; /* for those that run / what they have cost */
	bool holds;		   /* starts were held by it when it was looked at last */
	struct alarm alarm; /* the period's end, or when what runs cost may have used it up */
};

struct budgets {
	struct tree all; /* by name */
	uint64_t made;
	bool stale; /* alarms have to be set anew */
	struct spending spending;
};

void budgets_init(struct budgets *all);
void budgets_done(struct queue *q);

/* May the offer start now, by all Budgets that concern it? If not *ret_by (may be NULL) is the
 * first that says no. */
bool budget_lets(struct queue *q, const struct nominee *e, const struct budget **ret_by);
/* The same for whoever asks for these lines. *ret_cost: what it is expected to cost. */
bool budget_lets_lines(struct queue *q, struct clusterqueue *cq, const struct workload *w,
	const struct quota_line *lines, size_t n, const struct budget **ret_by, int64_t *ret_cost);
/* Nothing of cq can start, whatever it costs. */
bool budget_holds_all(struct queue *q, struct clusterqueue *cq);

/* It started, or was promised room: its reservation. / Its start, lines or end are others. / It was
 * released: the bill takes its place. */
void budget_started(struct queue *q, struct reservation *r);
void budget_changed(struct queue *q, struct reservation *r);
void budget_ended(struct queue *q, struct reservation *r, int64_t cost);
/* Prices are others. */
void budgets_recount(struct queue *q);

bool budget_concerns(const struct reservation *r); /* any */
/* The run has to stop: *ret_by says so. */
bool budget_stops(struct queue *q, const struct reservation *r, const struct budget **ret_by);

/* Its alarm rang. */
void budget_turn(struct queue *q, struct budget *b);
/* The clock went backwards / the end of a decision. */
void budgets_turn(struct queue *q);
void budgets_arm(struct queue *q);

/* What there is now: sums and period are made right. */
void budget_count(struct queue *q, struct budget *b);
int64_t budget_remaining(const struct budget *b);
/* Why it can say nothing of money: a sentence's part, or NULL. */
const char *budget_fault(struct queue *q, const struct budget *b);

/* ---- Between the files of this module ---- */

struct budget *budgets_at(const struct queue *q, size_t i); /* by name; NULL behind the last */
void budget_touch_owner(struct queue *q, struct budget *b);
/* The run started in the Budget's period, for its queue, and is paid in its currency. */
bool budget_counts(const struct budget *b, const struct reservation *r);

#endif
