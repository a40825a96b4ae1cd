/*
 * An attempt to run a Job: the current one, or the last. attempt.c alone opens, writes and closes
 * it; other files tell it what they have seen, by the functions below.
 *
 * A function that may end a phase returns the next phase, or the present one when the Job stays in
 * it. phase.c enters it.
 */
#ifndef SLUICE_CONTROLLER_GATE_ATTEMPT_H
#define SLUICE_CONTROLLER_GATE_ATTEMPT_H

#include <stdbool.h>
#include <stdint.h>

#include "controller/gate/phase.h"

#define PROVISION_OF_EARLIER_LEADER (-1)

struct decision;
struct gate;
struct gate_job;
struct ledger_reservation;
struct ledger_result;

struct attempt {
	int32_t number;
	/* Changes of its size, of which inherited_sizes were under an earlier leader. The last
	 * SHRINK or GROW has the number sizes. */
	int32_t sizes, inherited_sizes;
	int32_t provision; /* the ProvisioningRequest that its pods name (provision.h); 0: none */
	int32_t pods;	   /* that the reservation is for; INT32_MAX: adopted, and not known yet */
	const char *clusterqueue; /* whose quota it has: the queue's string, or "" */
	int64_t generation;	  /* of the Job that was decided on */
	int64_t started_ms;	  /* by the clock on the wall */
	int64_t not_before_ms;	  /* of the next attempt, if this is called off; by the wall */
	bool committed;		  /* COMMIT was made */
	bool told_ledger;	  /* STOP was made */
	bool estimated;		  /* its bill is: it was adopted without a RESERVE */
	bool adopting;		  /* the ledger has not answered ADOPT yet */
	bool sent;		  /* a start PATCH went out */
	bool doubt;		  /* a start PATCH may still land */
	bool acked;		  /* the Job controller has seen the start */
	bool behind;		  /* adopted, and not read since: attempt_is_behind() */
	bool moved;		  /* the queue label or the story changed since the decision */
	bool told_ready;	  /* the queue was told that all pods are ready */
	unsigned refusals;	  /* of the ledger, in a row */
	uint8_t restless;	  /* starts of late that came to nothing by the owner's doing */
	int32_t restless_s;	  /* when the last of these was, by tick_ms, in seconds */
};

/* Opens an attempt; wants a run stopped: as the queue decided. */
enum phase attempt_decided_start(struct gate *g, struct gate_job *j, const struct decision *d);
void attempt_decided_stop(struct gate *g, struct gate_job *j, const struct decision *d);
enum phase attempt_adopt(struct gate *g, struct gate_job *j, const struct ledger_reservation *r);
/* Say that ADOPT will be made; that the ledger has taken it. In between the queue has no run to
 * charge: the ledger may have charged this attempt before. */
void attempt_adopting(struct gate_job *j);
void attempt_adopted(struct gate *g, struct gate_job *j);
/* Forgets an attempt that the ledger has closed already. */
enum phase attempt_adopted_in_vain(struct gate *g, struct gate_job *j);
enum phase attempt_reserved(struct gate *g, struct gate_job *j, const struct ledger_result *r);
/* Begins the run: the start landed. */
enum phase attempt_run(struct gate *g, struct gate_job *j);
void attempt_init(struct attempt *a);
/* Says that the queue label or the story is another one. */
void attempt_moved(struct gate_job *j);
/* Say that a start PATCH goes out; that there was no answer to it. */
void attempt_sent(struct gate_job *j);
void attempt_in_doubt(struct gate_job *j);
/* Keeps the number of the ProvisioningRequest that its pods name. */
void attempt_provisioned(struct gate_job *j, int32_t number);
/* Tells whether it was adopted, and the Job is seen as before the attempt. Until the Job is read
 * the queue is told nothing of it, so that it stops no run for what is out of date. */
bool attempt_is_behind(const struct gate_job *j);
void attempt_caught_up(struct gate_job *j);
/* Says that the Job controller has seen the start. */
void attempt_acked(struct gate_job *j);
/* Delays the next attempt until then. */
void attempt_pause(struct gate_job *j, int64_t not_before_ms);
/* Finds out how many pods a reservation is for that was adopted before the Job was seen. */
void attempt_know_pods(struct gate *g, struct gate_job *j);
/* Tells the queue whether all pods of the run are ready, when that is news. */
void attempt_tell_ready(struct gate *g, struct gate_job *j);
/* Lowers the reservation to so many pods, if it is for more. */
void attempt_shrink(struct gate *g, struct gate_job *j, int32_t pods);
/* Makes the GROW of a reservation that the queue has raised. Returns its number. */
int32_t attempt_begin_growth(struct gate *g, struct gate_job *j);
/* Raises the reservation to so many pods: GROW is durable. */
void attempt_grow(struct gate_job *j, int32_t pods);
/* Counts a start that failed by its owner's doing. Returns the pause until the next, often 0. */
int64_t attempt_restless_ms(struct gate *g, struct gate_job *j);
/* Tells whether the start is to be called off unless it landed: the Job has changed. */
bool attempt_must_not_start(const struct gate *g, const struct gate_job *j);
/* Tells whether the Job has no story, and its spec was changed since the decision (on generation 1,
 * for all a later leader knows): the start may have landed unseen. */
bool attempt_story_is_lost(const struct gate_job *j);
/* Gives back the reservation: the start has not landed, and cannot. */
enum phase attempt_call_off(struct gate *g, struct gate_job *j);
/* Calls off a start that was in doubt: the fence keeps its PATCHes from landing. */
enum phase attempt_fenced(struct gate *g, struct gate_job *j);
/* Starts the drain of a run that ended: the reservation is kept until no pod is left. */
enum phase attempt_drain(struct gate *g, struct gate_job *j);
/* Gives back the reservation: no pod is left. */
enum phase attempt_release(struct gate *g, struct gate_job *j);

#endif
