/*
 * PricePlans: what a unit of each resource costs an hour, and when.
 *
 * One plan holds for a ClusterQueue: the first, in name order, that names it. Its price at a moment
 * is the base price times a factor of the time: the series' where that has a price that is not
 * stale, else the first rate whose Calendar is open, else one; times the flavor's.
 *
 * The factors to come are one list of steps (a tariff, price/tariff.h) for all queues of the plan,
 * from now to PLAN_HORIZON_MS ahead. It is made when the plan changes, and prolonged as time goes
 * on; the plan's alarm rings at each step, and then who waits for a price is asked again.
 */
#ifndef SLUICE_QUEUE_PLAN_H
#define SLUICE_QUEUE_PLAN_H

#include "price/tariff.h"
#include "queue/arena.h"
#include "queue/timetable.h"
#include "sluice/queue.h"

struct room;

#define PLAN_HORIZON_MS (INT64_C(35) * 24 * 3600 * 1000)

struct plan_rate {
	struct timetable *timetable;
	struct link of_timetable;
	struct plan *plan;
};

struct plan {
	char *name;
	uint64_t serial;
	struct tree_node by_name;
	struct priceplan_spec spec; /* in force; strings in memory */
	struct arena memory;
	char *invalid;
	struct plan_rate *rate;
	size_t queues;
	struct tariff_step *step; /* factors: per_hour is in millionths of one */
	size_t nsteps;
	int64_t known_to_ms; /* the steps are right until then */
	bool stale;
	struct alarm alarm;
};

struct plans {
	struct tree all; /* by name */
};

/* A Calendar turned or was edited, or a plan: steps made anew, and who waits for a price, or has
 * one too high, is asked again. */
void plan_turn(struct queue *q, struct plan *p);
/* Queues or plans came or went: which plan holds for which ClusterQueue (clusterqueue.plan). */
void plans_form(struct queue *q);

/* The factors from from_ms to to_ms at least (as far as PLAN_HORIZON_MS ahead). */
struct tariff plan_factors(struct queue *q, struct plan *p, int64_t from_ms, int64_t to_ms);

/* What an hour of these lines costs at factor one: millionths, every flavor's factor in it. */
int64_t plan_base_per_hour(const struct plan *p, const struct quota_line *lines, size_t n);
/* The base price of one unit, "cpu" or "memory-gib", ...; -1: the plan has none. */
int64_t plan_unit_price(const struct plan *p, const char *resource);

#endif
