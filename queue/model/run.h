/*
 * Runs: how long a workload with room may go on, and what its attempts leave behind.
 *
 *   pods ready   once confirmed, its pods have so long to become ready, and so long to recover when
 *                they are not any more (reference 12.1). Who does not is stopped and waits for the
 *                back-off, twice as long each time, at the place of the moment of the stop; once
 * too often, and it is deactivated (12.2) max run      the run time of all attempts together
 * (12.3). At its end it is deactivated
 *
 * Who is deactivated waits until somebody takes annotation sluice.dev/hold off it, and begins anew.
 *
 * A run's next moment of truth is its alarm; nobody looks at runs in between. What earlier attempts
 * left behind is a record of its own: most workloads never have one, and a million waiting ones are
 * not to pay for it.
 */
#ifndef SLUICE_QUEUE_MODEL_RUN_H
#define SLUICE_QUEUE_MODEL_RUN_H

#include "queue/model/reservation.h"

struct past {
	int32_t requeues;   /* stops because the pods were not ready in time */
	int64_t created_ms; /* its place in the order but for: */
	int64_t evicted_ms; /* the last stop of an attempt that ran, when that was why; else 0 */
	int64_t ran_ms;
	int64_t max_run_ms;	      /* what it was deactivated for, if that was why */
	enum stop_reason deactivated; /* STOP_REASON_NONE: it is not */
	int32_t suspensions;	      /* stops because a window closed or the price rose */
};

/* What somebody before this queue knew: of the attempts before, or at the end of the one that it
 * still holds room for. */
void past_recall(struct queue *q, struct workload *w, const struct job_history *h);
/* Only of the attempts before, though it may hold room. */
void past_recall_before(struct queue *q, struct workload *w, const struct job_history *h);
void past_forget(struct queue *q, struct workload *w);
bool past_deactivated(const struct workload *w);
/* It was decided to deactivate it, but it has ended otherwise. */
void past_keep_active(struct queue *q, struct workload *w);
/* Counts begin anew, and it may start. */
void past_reactivate(struct queue *q, struct workload *w);

/* Something that a moment of truth follows from is another one: since when it runs, its pods, the
 * time it may have. */
void run_arm(struct queue *q, struct reservation *r);
void run_disarm(struct queue *q, struct reservation *r);
void run_ready(struct queue *q, struct reservation *r, bool ready, int64_t now_ms);

/* Why it has been going on for too long; STOP_REASON_NONE: it has not. */
enum stop_reason run_stop_reason(const struct queue *q, const struct reservation *r);
/* It was decided to stop it, for whatever reason. */
void run_stopping(struct queue *q, struct reservation *r, enum stop_reason reason);

/* What is left behind if what it runs, if anything, ends now. */
struct job_history past_history(const struct queue *q, const struct workload *w, int64_t now_ms);
/* It ends: its workload stands nowhere, and is to be placed by what its past then says. */
void run_end(struct queue *q, struct reservation *r, int64_t now_ms);

#endif
