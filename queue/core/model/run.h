/*
 * Runs: how long a run may go on, and what earlier attempts leave behind.
 *
 *   pods ready   once confirmed, pods must become ready within a timeout; when they are ready no
 *                more, they must recover within another (waitForPodsReady). Else the run is stopped
 *                and the Job waits for a back-off, twice as long each time. Its place in the queue
 *                is that of the stop (config.requeue_at_creation: of its creation). After too many
 *                such stops it is deactivated.
 *                Pods that a run has more since it grew (growth.h) have as long as those of a start,
 *                counted from the growth, also where a recovery has no timeout. A new leader does
 *                not know whether a run with a minimum has just grown, so it counts from its
 *                takeover.
 *   max run      the run time of all attempts together. At its end the Job is deactivated.
 *
 * A deactivated Job waits until annotation sluice.dev/hold is taken off, and begins anew.
 *
 * The alarm of a run is its next deadline; nothing looks at runs in between. What earlier attempts
 * left behind is a record of its own, because most waiting Jobs have none.
 */
#ifndef SLUICE_QUEUE_CORE_MODEL_RUN_H
#define SLUICE_QUEUE_CORE_MODEL_RUN_H

#include "queue/core/model/reservation.h"

struct past {
	int32_t requeues;   /* stops because the pods were not ready in time */
	int64_t queued_ms;  /* its place in the order, unless there is: */
	int64_t evicted_ms; /* the stop of a run because its pods were not ready in time; or 0 */
	int64_t ran_ms;
	int64_t max_run_ms;	      /* the limit that held when it was deactivated */
	enum stop_reason deactivated; /* STOP_REASON_NONE: it is not */
	int32_t suspensions;	      /* stops because a window closed or the price rose */
	int64_t reclaims_paid_ms;     /* queue/job/stop_rate.h */
};

/* Takes over the history as an earlier leader recorded it. With a reservation: as it is at the end
 * of that attempt. */
void past_recall(struct queue *q, struct workload *w, const struct job_history *h);
/* Takes over the history before the attempt for which the workload may hold a reservation. */
void past_recall_before(struct queue *q, struct workload *w, const struct job_history *h);
/* Moves a Job that was known by its reservation alone to its place by job_queued_ms(). The place
 * also moves back where Jobs without a queue are managed, and this one gets its label. */
void past_queued(struct workload *w, const struct job *j);
void past_forget(struct queue *q, struct workload *w);
bool past_deactivated(const struct workload *w);
/* Takes a deactivation back, because the run ended otherwise. */
void past_keep_active(struct queue *q, struct workload *w);
/* Begins the counts of a deactivated Job anew, so that it may start. */
void past_reactivate(struct queue *q, struct workload *w);

/* Sets the run's next deadline: its start, the state of its pods or a limit has changed. */
void run_arm(struct queue *q, struct reservation *r);
void run_disarm(struct queue *q, struct reservation *r);
/* Moves the run's deadlines with the clock, which was set on by so much, or back. */
void run_clock_stepped(struct queue *q, struct reservation *r, int64_t step_ms);
/* Moves the run's times to now at the latest. The clock was set back, by how much is not known: no
 * pod is awaited for longer than it would have been, and the run lasts no longer than it may from
 * now on. */
void run_begins_by_now(struct queue *q, struct reservation *r);
/* Returns when a confirmed run began, by the clock as it is now: for deadlines and plans. What the
 * run costs goes by the ledger's times. */
int64_t run_began_ms(const struct reservation *r);
/* Awaits the pods that the run has more since then, or will have; 0: awaits none. */
void run_grew(struct queue *q, struct reservation *r, int64_t now_ms);
/* Follows the end of a growth: the Job says so, or the run does not grow after all. Whether its
 * pods are ready is told before: if so, none is awaited. */
void run_has_grown(struct queue *q, struct reservation *r, int64_t now_ms);
/* Returns until when the pods of a run that grew are awaited; 0: none is, or for ever. */
int64_t run_grown_due_ms(const struct queue *q, const struct reservation *r);
/* Notes the time of the first decision since the run was adopted. */
void run_taken_over(struct queue *q, struct reservation *r);
void run_ready(struct queue *q, struct reservation *r, bool ready, int64_t now_ms);

/* Returns which deadline has passed; STOP_REASON_NONE: none. */
enum stop_reason run_stop_reason(const struct queue *q, const struct reservation *r);
/* Notes that a stop was decided, for whatever reason. */
void run_stopping(struct queue *q, struct reservation *r, enum stop_reason reason);

/* Returns the Job's history as it is if its run, if it has one, ends now. */
struct job_history past_history(const struct queue *q, const struct workload *w, int64_t now_ms);
/* Ends the run. Its workload stands nowhere, and is placed afterwards by its new past. */
void run_end(struct queue *q, struct reservation *r, int64_t now_ms);

#endif
