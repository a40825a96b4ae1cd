/*
 * Runs in the plan: in a tree of Cohorts that plans ahead each run, and each promise of quota, has a
 * booking of what it holds THEN, from its start until its expected end.
 *
 * A tree plans ahead once a Job of it books a start, a ClusterQueue of it has several heads of
 * Backfill, or an AdvanceReservation of its quota is judged. Before that no run is written down, so
 * where nothing books, runs cost what they did before.
 *
 * A run of unknown duration is expected to last PLAN_ASSUMED_MS. A run that lasts longer than
 * expected is expected to last twice as long, then four times, and so on, as for Backfill.
 */
#ifndef SLUICE_QUEUE_CORE_MODEL_BOOKED_RUNS_H
#define SLUICE_QUEUE_CORE_MODEL_BOOKED_RUNS_H

#include <stdbool.h>
#include <stdint.h>

#define PLAN_ASSUMED_MS INT64_C(3600000)

struct clusterqueue;
struct queue;
struct reservation;

/* The tree of cq plans ahead from now on. */
void booked_runs_begin(struct queue *q, struct clusterqueue *cq);
/* ClusterQueues are in other trees now. */
void booked_runs_form(struct queue *q);

/* Books what the run or promise holds THEN anew, if its tree plans ahead. */
void booked_run_enter(struct queue *q, struct reservation *r);
/* Drops the booking of a run that holds nothing THEN any more. */
void booked_run_over(struct queue *q, struct reservation *r);

/* Runs that should have ended by now are expected to end later. Before questions are asked. */
void booked_runs_put_off(struct queue *q);

/* The clock was set back, or an earlier leader's was fast: what runs holds quota now, so its
 * booking begins by now. After reservations_begin_by_now(). */
void booked_runs_begin_by_now(struct queue *q);

/* How long a Job takes, as the plan has it. */
int64_t plan_lasts_ms(int64_t expected_ms);

#endif
