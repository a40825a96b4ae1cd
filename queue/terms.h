/*
 * Terms: what the owner of a Job asks of time and money (struct job_terms), and what follows from
 * them now. A record of its own: most workloads have none, and a million waiting ones are not to
 * pay for it.
 *
 * All of it comes to one moment, before which the Job is set aside as it would be in a back-off
 * (workload.h), with the reason that explain tells:
 *
 *   start-after          that time
 *   start: Cheapest      of all starts at which its queue is open and that end, by what is expected
 *                        and the safety margin, before the deadline, the cheapest: exactly
 *                        (price/tariff.h); of equals the earliest. Without a deadline: within
 *                        TERMS_PATIENCE_MS
 *   max-price            the next moment at which the plan's price of that unit is not above it
 *   the latest start     deadline less duration: from then on prices do not matter any more, unless
 *                        on-missed-deadline is Fail
 *
 * When even a start now would end after the deadline it is unreachable, which is said at once; it
 * starts regardless as soon as it can (RunAnyway), or is deactivated (Fail).
 *
 * Workloads with terms are asked again at every step of their plan (plan_turn()), when their regime
 * turns, and at their own moment.
 */
#ifndef SLUICE_QUEUE_TERMS_H
#define SLUICE_QUEUE_TERMS_H

#include "queue/list.h"
#include "queue/workload.h"
#include "sluice/queue.h"

#define TERMS_PATIENCE_MS (INT64_C(7) * 24 * 3600 * 1000)

struct terms {
	struct job_terms asked; /* strings are symbols */
	struct link
		of_clusterqueue; /* clusterqueue.timed: all that wait, or run with a max-price */
	struct workload *w;
};

/* What they come to now. */
struct verdict_of_terms {
	int64_t not_before_ms;	 /* 0: it may start; INT64_MAX: nobody can say */
	enum wait_reason reason; /* WAIT_START_AFTER, WAIT_PRICE, WAIT_DEACTIVATED, or WAIT_NOT */
	int64_t latest_ms;	 /* the latest start; INT64_MAX without a deadline */
	bool unreachable;
};
struct verdict_of_terms terms_now(struct queue *q, const struct workload *w, int64_t now_ms);

/* The price of the run is above its max-price, and atPriceRise says Suspend. */
bool terms_price_too_high(struct queue *q, const struct room *r);

#endif
