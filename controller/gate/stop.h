/*
 * The end of a run: whether it is wanted, why, and since when pods are waited for. stop.c alone
 * writes it.
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
	bool wanted;	     /* it is not to run, or not to be started */
	const char *reason;  /* one word; "" while it goes on */
	const char *actor;   /* the party that ended it: our identity, "user", "job-controller" */
	const char *message; /* a sentence to go with reason; or NULL */
	const char *preemption; /* why it was preempted; "" when it was not */
	char *preemptor;   /* "namespace/name" of the Job that needs the room, for the ledger; or
			     NULL. Not to be shown: stop_preemptor_shown() */
	char *preempting;  /* the ClusterQueue of that Job, or NULL */
	char *sentence;	   /* that message or hold points to */
	char *pod_trouble; /* what kept its pods from running, a sentence, or NULL */
	const char *hold;  /* the end puts the Job on hold with this sentence; or NULL */
	/* The annotation for that is to be written still: until then the Job is held here. It was
	 * refused: it stays held here until its owner changes it. */
	bool hold_owed, hold_refused;
	int64_t stopped_ms; /* by the clock on the wall; what follows by tick_ms */
	int64_t drains_ms;  /* since then its pods are waited for */
	int64_t overdue_ms; /* when to complain about pods that do not go */
	bool finish_noted;  /* its NOTE_FINISH was made, by us or before us */
	unsigned reapplied; /* runs in a row, none of them long, that a manifest suspended */
	unsigned
		rejected; /* ... that were stopped before a rejected pod would have failed the Job */
	int64_t barred_ms;	/* it is not queued again before, for one of these; 0: it is */
	const char *barred_for; /* that one, a sentence */
};

extern const char MANIFEST_SUSPENDS[];

void stop_init(struct stop *s);
void stop_done(struct stop *s);

void stop_want(struct gate_job *j);
void stop_unwant(struct gate_job *j);

/* Why it ends. The first reason is the reason: later ones change nothing. Texts are static, or the
 * gate's; message may be NULL. */
void stop_because(struct gate_job *j, const char *reason, const char *actor);
void stop_because_of(
	struct gate_job *j, const char *reason, const char *actor, const char *message);
/* The same; message becomes the stop's. */
void stop_with_sentence(struct gate_job *j, const char *reason, const char *actor, char *message);
void stop_decided(struct gate *g, struct gate_job *j, const struct decision *d);
/* The same; sentence becomes the stop's. */
void stop_told(struct gate *g, struct gate_job *j, const struct decision *d, char *sentence);
/* It was suspended while it ran, and not by us. */
void stop_suspended(struct gate *g, struct gate_job *j);
/* The same, of a Job that has no reservation any more: what its story is to tell. */
void stop_suspended_unseen(struct gate_job *j);
/* It is to stop, for of one more pod like that its Job would fail; why: which pod. Keeps a copy. */
void stop_at_limit(struct gate *g, struct gate_job *j, const char *why);
/* Its start was refused too often. */
void stop_refused_for_good(struct gate *g, struct gate_job *j, const char *said);
/* What it waits for can never hold: it goes on hold with why. Keeps a copy. */
void stop_never_starts(struct gate_job *j, const char *why, const char *actor);
/* It goes on, or begins anew. */
void stop_forget(struct gate_job *j);
/* What kept its pods when it was stopped; becomes the stop's. */
void stop_keep_trouble(struct gate_job *j, char *sentence);

/* The end puts it on hold. */
bool stop_holds(const struct gate_job *j);
/* The annotation for that did not go with the stop; it was refused; it is there, or not to be
 * written any more. */
void stop_owe_hold(struct gate_job *j);
void stop_hold_refused(struct gate_job *j);
void stop_hold_settled(struct gate_job *j);
/* It is to be written still. */
bool stop_owes_hold(struct gate_job *j);
/* It is not queued again yet: a manifest that suspends it is applied again and again, or kubelets reject
 * its pods. */
bool stop_bars(struct gate *g, struct gate_job *j);

/* By itself: that counts more than any reason. */
void stop_finished(struct gate_job *j);
/* The run is over, its pods are waited for; anew, since what was known of them does not count. */
void stop_drain(struct gate *g, struct gate_job *j);
void stop_drain_adopted(struct gate *g, struct gate_job *j); /* under another leader */
void stop_drain_anew(struct gate *g, struct gate_job *j);
void stop_note(struct gate *g, struct gate_job *j);
/* It ran without a reservation, and was stopped. */
void stop_note_intruder(struct gate *g, struct gate_job *j);
/* Its owner's end, once a run. */
void stop_note_finish(struct gate *g, struct gate_job *j);
/* Says now and then that pods are left for too long. */
void stop_complain(struct gate *g, struct gate_job *j);

/* The work a stop at that time would throw away: pods that are active, times how long the attempt
 * will have run. Of a Job that is deleted also pods that went before it, and had not ended well. */
int64_t stop_loses_ms(const struct gate_job *j, int64_t until_ms);
/* What its stop has thrown away. */
int64_t stop_lost_ms(const struct gate *g, const struct gate_job *j);

#endif
