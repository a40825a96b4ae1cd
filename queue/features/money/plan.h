/*
 * PricePlans: what a unit of each resource costs an hour, and when.
 *
 * A ClusterQueue has one plan (plan_of()): of those that name it, the one
 *
 *   - that counts in the currency of the ClusterQueue's Budgets, if one of the plans does;
 *   - that names it most closely: by its name, then by a glob, then for having no spec.queues;
 *   - whose own name is the first.
 *
 * A price is the base price times the flavor's factor times a factor of the time. The latter is the
 * first of these:
 *
 *   - the series', where it has a price that is not stale;
 *   - that of the first rate with an open Calendar;
 *   - one.
 *
 * The factors of time are one list of steps (a tariff, queue/price/tariff.h) for all queues of the
 * plan. It reaches as far back as was asked lately, and PLAN_HORIZON_MS ahead. It follows from the
 * spec and the Calendars alone. So it is made when a question goes beyond its ends, and dropped
 * when the plan or a Calendar of it is edited. Before that the costs of runs so far are counted
 * (bill_settle()). At each step the plan's alarm rings, and Jobs that wait for a price are asked
 * again.
 */
#ifndef SLUICE_QUEUE_FEATURES_MONEY_PLAN_H
#define SLUICE_QUEUE_FEATURES_MONEY_PLAN_H

#include "queue/price/charge.h"
#include "queue/price/tariff.h"
#include "base/arena.h"
#include "queue/core/model/named_object.h"
#include "queue/features/windows/calendar_ref.h"
#include "sluice/queue.h"

struct budget;
struct clusterqueue;

#define PLAN_HORIZON_MS (INT64_C(35) * 24 * 3600 * 1000)

/* Bounds that keep a bill of a hundred years within 126 bits: factors of 10,000, an hour of a Job of
 * 10^9 units. */
#define PLAN_FACTOR_MAX (INT64_C(10000) * PRICE_FACTOR_ONE)
#define PLAN_HOUR_MAX INT64_C(1000000000000000)

struct plan_rate {
	struct calendar_ref *calendar_ref;
	struct link of_calendar_ref;
	struct plan *plan;
};

struct plan {
	struct named_object object;
	struct priceplan_spec spec; /* in force; strings in memory; spec.name NULL: none */
	struct arena memory;
	const char *currency;	  /* a symbol */
	struct plan_rate *rate;	  /* as many as spec.nrates */
	struct tariff_step *step; /* factors: per_hour is in millionths of one */
	size_t nsteps, steps_room;
	int64_t known_from_ms, known_to_ms; /* of the steps; equal: there are none */
	bool stale;			    /* there is a series, and it has no price now */
	struct alarm alarm;
};

struct plans {
	struct named_objects all;
	uint64_t version; /* renumbered when ClusterQueues must look up their plan again */
};

void plans_init(struct plans *all);
void plans_done(struct queue *q);

struct plan *plans_at(const struct queue *q, size_t i); /* by name; NULL behind the last */
struct plan *plan_find(const struct queue *q, const char *name);

/* How closely a spec names a ClusterQueue. */
enum plan_claim { PLAN_NAMES_NOT, PLAN_NAMES_ALL, PLAN_NAMES_BY_GLOB, PLAN_NAMES_IT };
enum plan_claim plan_claim_of(const struct plan *p, const char *clusterqueue);
/* The first Budget of cq itself that counts in another currency than p; NULL: there is none. */
const struct budget *plan_stranger_to(const struct plan *p, const struct clusterqueue *cq);
/* Would a hold for cq before b, if currencies were not asked? Both name it. */
bool plan_precedes(const struct plan *a, const struct plan *b, const struct clusterqueue *cq);
/* The plan of cq; NULL: none, or cq is NULL. */
struct plan *plan_of(struct queue *q, struct clusterqueue *cq);
/* ClusterQueues may get other plans: plans_settle() before the change counts the costs of all runs
 * up to now, plans_form() after it has everything looked up anew. */
void plans_settle(struct queue *q);
void plans_form(struct queue *q);

/* Makes the factors of a PricePlan anew, and asks Jobs with terms on prices again: a Calendar of
 * it was edited, or the clock was set back. */
void plan_renew(struct queue *q, struct plan *p);
/* Asks Jobs with terms on prices again, because the plan's alarm rang: the next step is reached, or
 * what a series says ends. */
void plan_ring(struct queue *q, struct plan *p);
/* The first decision: what is known was worked out when no time was. All Jobs with terms are asked
 * in this decision anyway, and must not be asked before. */
void plans_begin(struct queue *q);
/* The clock was set back: all PricePlans. */
void plans_set_back(struct queue *q);

/* The factors from from_ms to to_ms at least, but not further than PLAN_HORIZON_MS ahead of the
 * later of from_ms and now: there the last factor goes on. Valid until the plan's next call. */
struct tariff plan_factors(struct queue *q, struct plan *p, int64_t from_ms, int64_t to_ms);
int64_t plan_factor_at(struct queue *q, struct plan *p, int64_t at_ms);
/* Where the factor comes from: the name of a Calendar, "series", or "base"; *ret_until_ms: when
 * that may change. */
const char *plan_source_at(const struct plan *p, int64_t at_ms, int64_t *ret_until_ms);
/* The factor at any time by the spec and the Calendars as they are now, without the steps above.
 * *ret_label: the window of the rate that holds; its Calendar, where it names no window; "series"; or
 * "base". */
int64_t plan_spec_factor_at(
	const struct plan *p, int64_t at_ms, const char **ret_label, int64_t *ret_until_ms);

/* Returns whether the plan's series has no price at that time. *ret_until_ms (or NULL): when that
 * may change. */
bool plan_stale(const struct plan *p, int64_t at_ms, int64_t *ret_until_ms);
/* May nothing start in cq, because its plan says HoldStarts and its series has no price now? */
bool plan_holds(struct queue *q, struct clusterqueue *cq);

/* What an hour of these lines costs at factor one, with the flavors' factors, exactly. At most
 * PLAN_HOUR_MAX millionths. */
struct hourly_price plan_hourly_price(
	const struct plan *p, const struct quota_line *lines, size_t n);
/* The base price of one unit, "cpu" or "memory-gib", ...; -1: the plan has none. */
int64_t plan_unit_price(const struct plan *p, const char *resource);

#endif
