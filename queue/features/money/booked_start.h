/*
 * Booked starts: a Job with sluice.dev/start: Cheapest books the start that it chose, in the plan of
 * quota (queue/core/model/quota_plan.h), so that quota is free when its time comes.
 *
 * Which     The cheapest start, and of equals the earliest, that terms.h allows and at which the
 *           plan has quota for as long as the Job is expected to take. If there is none in time,
 *           the earliest at all. Of several flavors the one in which it costs least.
 * When      As Jobs come, in the order in which they are asked. A Job that got another start than
 *           its cheapest makes its Cohort tree improvable, and so does a run that ends earlier than
 *           expected. Then all Jobs of the tree that wait for their time book again, the widest
 *           first, then the longest, at most once in BOOKED_IMPROVE_MS. The new bookings stand if
 *           fewer Jobs miss their deadline; or as many, and all together cost less; or as much, and
 *           they start earlier. Else what was booked before stands.
 * How long Until the Job starts, is edited, held or gone. It is booked anew when something else
 * runs
 *           into its booking (a run that lasts longer, smaller quota, other prices), and when it
 *           could not start at its time.
 *
 * Some Jobs are not booked, and wait as without a plan: those of unknown duration, without a
 * PricePlan, in a queue that is not active, with a plan that is full (QUOTA_PLAN_MAX), or that ask
 * for more than there is.
 *
 * What was told outlives a leader: a booked start stands on its Job (annotation
 * sluice.dev/booked-start). A queue that has just been made books it as it was told, before Jobs
 * that were told nothing, if its terms allow it and the plan has room. If its time has passed
 * meanwhile, it is booked from now on.
 *
 * From its time on it is before other Jobs of its priority (order_key.due_ms). One whose start would
 * be too late need not wait for it: it starts as soon as it overlaps nothing (kept_start.h).
 */
#ifndef SLUICE_QUEUE_FEATURES_MONEY_BOOKED_START_H
#define SLUICE_QUEUE_FEATURES_MONEY_BOOKED_START_H

#include <stdbool.h>
#include <stdint.h>

#define BOOKED_IMPROVE_MS 60000
#define BOOKED_IMPROVE_MAX 1000

struct booking;
struct queue;
struct reservation;
struct workload;

/* Keeps the booking of a Job that waits and is asked when it may start, or books a start. Only
 * while a decision is made, because else the time is not known. */
void booked_start_ask(struct queue *q, struct workload *w);
/* Takes over the start that is written on the Job; 0: none. It counts until the Job has been asked
 * in a decision that may start Jobs. */
void booked_start_told(struct queue *q, struct workload *w, int64_t at_ms);
/* Drops the booking of a Job that starts / that waits for no start any more. */
void booked_start_over(struct queue *q, struct workload *w);
void booked_start_drop(struct queue *q, struct workload *w);
/* Returns the Job's booking; NULL: none. */
struct booking *booked_start_of(const struct workload *w);

/* Lets booked starts improve, if the run ends before its expected end. */
void booked_starts_gain(struct queue *q, struct reservation *r);
/* Books starts anew that may be better. True: some have moved, so alarms may have to ring. */
bool booked_starts_improve(struct queue *q);

#endif
