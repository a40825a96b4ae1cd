/*
 * Terms: what the owner of a Job asks of time and money (struct job_terms), and what follows from
 * them now. A record of its own: most workloads have none, and a million waiting ones are not to
 * pay for it.
 *
 * All of it comes to one moment, before which the Job is set aside (workload.h), with the reason
 * that explain tells:
 *
 *   start-after          that time
 *   start: Cheapest      of all starts at which its queue is open and that end, by what is expected
 *                        and the safety margin, before the deadline, the cheapest: exactly
 *                        (queue/price/tariff.h); of equals the earliest. Without a deadline: within
 *                        TERMS_PATIENCE_MS of its queueing
 *   max-price            the next moment at which the plan's price of that unit is not above it;
 *                        together with Cheapest, the cheapest of such moments. Nobody can say what
 *                        has no price, so without one it waits
 *   the latest start     deadline less duration: from then on prices do not matter any more, unless
 *                        on-missed-deadline is Fail. The last moment before it at which the queue
 * is open, if it is not open then
 *
 * A Job of unknown duration is taken for one of TERMS_ASSUMED_MS: the cheapest hour decides, and an
 * hour before the deadline is its latest start. As far as PLAN_HORIZON_MS ahead is looked.
 *
 * When even a start now would end after the deadline it is unreachable, which is said at once; it
 * starts regardless as soon as it can (RunAnyway), or is deactivated (Fail): a level answer,
 * nothing is written, and another deadline makes it wait again.
 *
 * Who may start and finds no room waits in the order like everybody else, and is asked again
 * when starting would not be the cheapest any more. From its latest start on it is before all
 * others of its priority that are not in that case, the latest start that came first before the
 * rest (order_key.due_ms): who has time left lets those pass who have none. Whoever came too
 * late to meet its deadline gains nothing by it.
 *
 * Workloads with terms are asked again at every step of their plan (plan_ring()), when their regime
 * turns, and at their own moment.
 */
#ifndef SLUICE_QUEUE_RULES_MONEY_TERMS_H
#define SLUICE_QUEUE_RULES_MONEY_TERMS_H

#include "queue/model/alarm.h"
#include "base/list.h"
#include "queue/model/workload.h"
#include "sluice/queue.h"

#define TERMS_PATIENCE_MS (INT64_C(7) * 24 * 3600 * 1000)
/* So long before a close, or before what does not fit any more, is the last start that is planned
 * with: writing a start takes time. */
#define TERMS_SLACK_MS 60000
#define TERMS_ASSUMED_MS INT64_C(3600000)

struct runpolicy;

struct terms {
	struct job_terms asked;	     /* the resource is a copy */
	struct link of_clusterqueue; /* clusterqueue.timed: wherever it stands there */
	struct workload *w;
	struct alarm alarm; /* when it is asked again */
};

/* Takes over what the Job says. */
void terms_take(struct queue *q, struct workload *w, const struct job_terms *asked);
bool terms_differ(const struct workload *w, const struct job_terms *asked);
void terms_forget(struct queue *q, struct workload *w);

/* What they come to now. */
struct verdict_of_terms {
	int64_t not_before_ms;	 /* 0: it may start; INT64_MAX: nobody can say */
	enum wait_reason reason; /* WAIT_START_AFTER, WAIT_PRICE, WAIT_DEACTIVATED, or WAIT_NOT */
	int64_t latest_ms;	 /* the latest start; INT64_MAX without a deadline */
	bool unreachable;
	bool pressing;	 /* its latest start has come */
	int64_t next_ms; /* when time alone may change the answer */
};
struct verdict_of_terms terms_now(struct queue *q, const struct workload *w, int64_t now_ms);

/* It is placed, and asked again in time / it leaves its place. False: it has to be set aside. */
bool terms_let(struct queue *q, struct workload *w);
void terms_stand(struct queue *q, struct workload *w);
void terms_unstand(struct queue *q, struct workload *w);

/* Prices, or when it is open, are others: all with terms in cq. */
void terms_ask_again(struct queue *q, struct clusterqueue *cq);

/* The price of the run is above its max-price, atPriceRise says Suspend, and nothing protects it;
 * *ret_by (may be NULL): the policy that says so. A run that could not start again before its
 * deadline goes on, unless that is to fail. */
bool terms_price_too_high(
	struct queue *q, const struct reservation *r, const struct runpolicy **ret_by);
/* When a protection against that ends; INT64_MAX: there is nothing to look at. */
int64_t terms_next_ms(struct queue *q, const struct reservation *r);

/* The price of what max-price names, in its ClusterQueue; -1: there is none. */
int64_t terms_unit_price(struct queue *q, const struct workload *w, int64_t at_ms);

#endif
