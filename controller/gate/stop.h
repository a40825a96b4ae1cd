/*
 * The end of a run: whether it is wanted, why, and since when pods are waited for. What is wanted
 * before the run began calls its start off.
 */
#ifndef SLUICE_CONTROLLER_GATE_STOP_H
#define SLUICE_CONTROLLER_GATE_STOP_H

#include <stdbool.h>
#include <stdint.h>

struct decision;
struct gate;
struct gate_job;

/* Texts are static, or the struct's own. */
struct stop {
	bool wanted;	     /* the Job is not to run, or not to be started */
	const char *reason;  /* one word; "" while the run goes on */
	const char *actor;   /* the party that ended it: our identity, "user", "job-controller" */
	const char *message; /* a sentence to go with reason; or NULL */
	const char *preemption; /* why the run was preempted; "" when it was not */
	char *preemptor;   /* "namespace/name" of the Job that needs the room, for the ledger; or
			     NULL. Not to be shown: stop_preemptor_shown() */
	char *preempting;  /* the ClusterQueue of that Job, or NULL */
	char *sentence;	   /* that message or hold points to */
	char *pod_trouble; /* what kept its pods from running, a sentence, or NULL */
	const char *hold;  /* the sentence with which the end puts the Job on hold; or NULL */
	/* The annotation for the hold is not written yet: until it is, the Job is held here. If it
	 * was refused too, the Job stays held here until its owner changes it. */
	bool hold_owed, hold_refused;
	int64_t stopped_ms;	/* by the clock on the wall; what follows by tick_ms */
	int64_t drains_ms;	/* since when its pods are waited for */
	int64_t overdue_ms;	/* when to complain about pods that do not go */
	bool finish_noted;	/* its NOTE_FINISH was made, by us or before us */
	unsigned reapplied;	/* short runs in a row that a manifest suspended */
	unsigned rejected;	/* short runs in a row that were stopped by stop_at_limit() */
	int64_t barred_ms;	/* when it is queued again after one of these; 0: it is */
	const char *barred_for; /* why not before, a sentence */
};

extern const char MANIFEST_SUSPENDS[];

void stop_init(struct stop *s);
void stop_done(struct stop *s);

void stop_want(struct gate_job *j);
void stop_unwant(struct gate_job *j);

/* Keep why the run ends. The first reason stays: later ones change nothing. Texts are static, or
 * the gate's; message may be NULL. */
void stop_because(struct gate_job *j, const char *reason, const char *actor);
void stop_because_of(
	struct gate_job *j, const char *reason, const char *actor, const char *message);
/* Keeps why the run ends, as stop_because_of() does; message becomes the stop's. */
void stop_with_sentence(struct gate_job *j, const char *reason, const char *actor, char *message);
/* Keep why the queue stops the run, and the hold that follows; sentence becomes the stop's. */
void stop_decided(struct gate *g, struct gate_job *j, const struct decision *d);
void stop_told(struct gate *g, struct gate_job *j, const struct decision *d, char *sentence);
/* Keeps that another client suspended the run. */
void stop_suspended(struct gate *g, struct gate_job *j);
/* Keeps what to tell a Job without a reservation that was suspended while it ran. */
void stop_suspended_unseen(struct gate_job *j);
/* Wants the run stopped before one more rejected pod fails the Job. Copies why. */
void stop_at_limit(struct gate *g, struct gate_job *j, const char *why);
/* Puts the Job on hold: its start was refused too often. */
void stop_refused_for_good(struct gate *g, struct gate_job *j, const char *said);
/* Puts the Job on hold, with a copy of why: what it waits for can never come. */
void stop_never_starts(struct gate_job *j, const char *why, const char *actor);
/* Forgets reason and hold: the run goes on, or another begins. */
void stop_forget(struct gate_job *j);
/* Keeps what kept its pods; sentence becomes the stop's. */
void stop_keep_trouble(struct gate_job *j, char *sentence);

/* Tells whether the end puts the Job on hold. */
bool stop_holds(const struct gate_job *j);
/* Say of the hold's annotation: it did not go with the stop; it was refused; it is there, or not
 * needed. */
void stop_owe_hold(struct gate_job *j);
void stop_hold_refused(struct gate_job *j);
void stop_hold_settled(struct gate_job *j);
/* Tells whether that annotation is still to be written. */
bool stop_owes_hold(struct gate_job *j);
/* Tells whether the Job is not queued yet: a manifest suspends it, or kubelets reject its pods,
 * again and again. */
bool stop_bars(struct gate *g, struct gate_job *j);

/* Keeps that the run ended by itself, whatever the reason was. */
void stop_finished(struct gate_job *j);
/* Begin to wait for the pods of a run that is over; anew, where what was known does not count. */
void stop_drain(struct gate *g, struct gate_job *j);
void stop_drain_adopted(struct gate *g, struct gate_job *j); /* it ended under another leader */
void stop_drain_anew(struct gate *g, struct gate_job *j);
void stop_note(struct gate *g, struct gate_job *j);
/* Notes that a run without a reservation was stopped. */
void stop_note_intruder(struct gate *g, struct gate_job *j);
void stop_note_finish(struct gate *g, struct gate_job *j);
/* Says now and then that pods are left for too long. */
void stop_complain(struct gate *g, struct gate_job *j);
/* Returns when the run ended, by the clock on the wall, if pods are left for too long; else 0. */
int64_t stop_overdue_ms(const struct gate *g, const struct gate_job *j);

/* Tells the work that a stop at that time would throw away: pods that are active, times how long
 * the attempt will have run. A deletion also loses pods that went before the Job and had not ended
 * well. */
int64_t stop_loses_ms(const struct gate_job *j, int64_t until_ms);
int64_t stop_lost_ms(const struct gate *g, const struct gate_job *j);

#endif
