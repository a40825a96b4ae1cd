/*
 * Terms: the conditions of a Job's owner on time and money (struct job_terms), and what follows
 * from them now. They are a record of their own, because most workloads have none.
 *
 * Together they give one moment. Until then the Job is set aside (workload.h), with a reason:
 *
 *   start-after       that time
 *   start: Cheapest   the cheapest start at which its queue is open and it is expected to end, with
 *                     the safety margin, before the deadline. It is exact (queue/price/tariff.h);
 *                     of equals it is the earliest. Without a deadline: within TERMS_PATIENCE_MS
 *                     of its queueing
 *   max-price         the next moment at which the plan's price of that unit is not above it; with
 *                     Cheapest, the cheapest of these. While there is no price, it waits
 *   latest start      deadline less duration, or the last moment before at which the queue is open.
 *                     From then on prices do not matter, unless on-missed-deadline is Hold
 *
 * A Job of unknown duration counts as one of PLAN_ASSUMED_MS. It looks PLAN_HORIZON_MS ahead.
 *
 * If even a start now would end after the deadline, that is unreachable, and explain says so at
 * once. Then the Job starts as soon as it can (RunAnyway), or waits as deactivated (Fail). Nothing
 * is written: another deadline makes it wait again.
 *
 * A Job that may start but does not fit waits in the order like all others. It is asked again when
 * a start would not be the cheapest any more. From its latest start on it is before other Jobs of
 * its priority, the earliest latest start first (order_key.due_ms). A Job that was queued too late
 * to meet its deadline gets no such place.
 *
 * Cheapest books the start that it chose (booked_start.h); what is said above of the moment is then
 * said of the booking.
 *
 * Workloads with terms are asked again at each step of their plan (plan_ring()), when their window
 * state changes, and at their own moment.
 */
#ifndef SLUICE_QUEUE_FEATURES_MONEY_TERMS_H
#define SLUICE_QUEUE_FEATURES_MONEY_TERMS_H

#include "queue/core/model/alarm.h"
#include "base/list.h"
#include "queue/core/model/workload.h"
#include "queue/core/model/quota_plan.h"
#include "queue/price/charge.h"
#include "sluice/queue.h"

#define TERMS_PATIENCE_MS (INT64_C(7) * 24 * 3600 * 1000)
/* The last planned start is so long before a close, or before it would not fit any more, because
 * writing a start takes time. */
#define TERMS_SLACK_MS 60000

struct terms {
	struct job_terms asked;	     /* the resource is a copy */
	struct link of_clusterqueue; /* clusterqueue.timed */
	struct workload *w;
	struct alarm alarm; /* when it is asked again */
	/* The start that it has booked, or NULL (booked_start.h), and of what it was found. */
	struct booking *booking;
	bool booked_late;      /* after its latest start */
	bool booked_dearer;    /* than its cheapest start, for which there is no quota */
	int64_t booked_for_ms; /* its start, before that was put off */
	struct charge booked_cost;
	uint64_t booked_as_of; /* counters.terms_edits */
	/* The start that an earlier leader booked and wrote onto the Job; 0: none. It counts until
	 * the Job has been asked here. */
	int64_t told_ms;
	bool told_is_over;
};

/* Takes over what the Job says. */
void terms_take(struct queue *q, struct workload *w, const struct job_terms *asked);
bool terms_differ(const struct workload *w, const struct job_terms *asked);
void terms_forget(struct queue *q, struct workload *w);

/* What follows from them now. */
struct verdict_of_terms {
	int64_t not_before_ms;	 /* 0: it may start; INT64_MAX: unknown */
	enum wait_reason reason; /* WAIT_START_AFTER, WAIT_PRICE, WAIT_DEACTIVATED, or WAIT_NOT */
	int64_t latest_ms;	 /* the latest start; INT64_MAX without a deadline */
	bool unreachable;
	bool pressing;	 /* its latest start has come */
	int64_t due_ms;	 /* from which on it is before others; 0: it is not */
	int64_t next_ms; /* when time alone may change the answer */
};
struct verdict_of_terms terms_now(struct queue *q, const struct workload *w, int64_t now_ms);

/* The best start from now on that its terms, windows and prices allow, and at which there is room for
 * these lines in the plan of quota (of none: wherever there is). */
struct start_search {
	struct booking_lines lines;
	bool at_all;	 /* as early as possible, whatever it costs and however late */
	int64_t only_ms; /* at that moment, or now if it is past; 0: at any */
};
struct found_start {
	int64_t at_ms; /* INT64_MAX: there is none */
	__int128
		weight; /* what it costs, for each unit of money that an hour costs at factor one */
};
struct found_start terms_find_start(
	struct queue *q, const struct workload *w, const struct start_search *s);

/* Returns whether the Job may start by its terms; else it is set aside. Sets due_ms and the
 * alarm. */
bool terms_let(struct queue *q, struct workload *w);
/* Enters the workload in clusterqueue.timed / takes it out. */
void terms_stand(struct queue *q, struct workload *w);
void terms_unstand(struct queue *q, struct workload *w);

/* Prices or windows have changed: asks all with terms in cq again. */
void terms_ask_again(struct queue *q, struct clusterqueue *cq);

/* The price of the unit that max-price names, in its ClusterQueue; -1: there is none. */
int64_t terms_unit_price(struct queue *q, const struct workload *w, int64_t at_ms);

/* Sleeps until there is a PricePlan or a Job with terms. */
extern const struct feature price_feature;

#endif
