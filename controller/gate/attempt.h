/*
 * An attempt to run a Job: the current one, or the last. attempt.c alone opens, writes and closes
 * it; others say by name what they have seen of it.
 *
 * What may end a phase returns the next one: the one that the Job is in when it stays. phase.c
 * enters it.
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
	/* How often its size has changed: the last SHRINK or GROW has that number. Of these, so many
	 * under an earlier leader. */
	int32_t sizes, inherited_sizes;
	int32_t provision; /* the ProvisioningRequest that its pods name (provision.h); 0: none */
	int32_t pods;	   /* that the reservation is for; INT32_MAX: adopted, and not known yet */
	const char *clusterqueue; /* has its quota: the queue's string, or "" */
	int64_t generation;	  /* of the Job that was decided on */
	int64_t started_ms;	  /* by the clock on the wall */
	int64_t not_before_ms;	  /* the same: no other attempt before, once this is called off */
	bool committed;		  /* COMMIT was made */
	bool told_ledger;	  /* STOP was made */
	bool estimated;		  /* its bill: the ledger lost its RESERVE (adoption.c) */
	bool adopting;		  /* the ledger has not answered ADOPT yet */
	bool sent;		  /* a start PATCH went out */
	bool doubt;		  /* one of them may still land */
	bool acked;		  /* the Job controller has seen the start */
	bool behind;		  /* adopted, and not read since: attempt_is_behind() */
	bool moved;		  /* the queue label or the story changed since the decision */
	bool told_ready;	  /* the queue was told that all pods are ready */
	unsigned refusals;	  /* of the ledger, in a row */
	uint8_t restless;	  /* starts of late that came to nothing by the owner's doing */
	int32_t restless_s;	  /* the last of these, by tick_ms, in seconds */
};

/* The queue wants the Job started, its run stopped. */
enum phase attempt_decided_start(struct gate *g, struct gate_job *j, const struct decision *d);
void attempt_decided_stop(struct gate *g, struct gate_job *j, const struct decision *d);
enum phase attempt_adopt(struct gate *g, struct gate_job *j, const struct ledger_reservation *r);
/* ADOPT will be made; the ledger has taken it. In between the queue does not take it for a run, which
 * would be charged: the ledger may have closed, and charged, that attempt before. */
void attempt_adopting(struct gate_job *j);
void attempt_adopted(struct gate *g, struct gate_job *j);
/* The ledger has closed this attempt already. */
enum phase attempt_adopted_in_vain(struct gate *g, struct gate_job *j);
enum phase attempt_reserved(struct gate *g, struct gate_job *j, const struct ledger_result *r);
/* The start landed: it runs. */
enum phase attempt_run(struct gate *g, struct gate_job *j);
void attempt_init(struct attempt *a);
/* The queue label or the story is another one. */
void attempt_moved(struct gate_job *j);
/* A start PATCH goes out; there was no answer to it. */
void attempt_sent(struct gate_job *j);
void attempt_in_doubt(struct gate_job *j);
/* It names that ProvisioningRequest. */
void attempt_provisioned(struct gate_job *j, int32_t number);
/* Adopted, and the Job is seen as it was before it. It is to be read first; what is seen of it until
 * then is not told to the queue, which would decide on a stop by what does not hold any more. */
bool attempt_is_behind(const struct gate_job *j);
/* The Job was read. */
void attempt_caught_up(struct gate_job *j);
/* The Job controller has seen the start. */
void attempt_acked(struct gate_job *j);
/* No other attempt before that. */
void attempt_pause(struct gate_job *j, int64_t not_before_ms);
/* It was adopted before the Job was seen: how many pods its reservation is for. */
void attempt_know_pods(struct gate *g, struct gate_job *j);
/* Tells the queue whether all pods of the run are ready, when that is news. */
void attempt_tell_ready(struct gate *g, struct gate_job *j);
/* So many pods are left to it at most. */
void attempt_shrink(struct gate *g, struct gate_job *j, int32_t pods);
/* Makes the GROW of a reservation that the queue has raised. Returns the number of this change of size. */
int32_t attempt_begin_growth(struct gate *g, struct gate_job *j);
/* Raises the reservation to so many pods: GROW is durable. */
void attempt_grow(struct gate_job *j, int32_t pods);
/* A start came to nothing by its owner's doing: the pause until the next, often 0. */
int64_t attempt_restless_ms(struct gate *g, struct gate_job *j);
/* Tells whether it is called off unless it began already: something of the Job has changed. */
bool attempt_must_not_start(const struct gate *g, const struct gate_job *j);
/* Tells whether the Job has no story, and its spec was changed since the decision (made on generation 1,
 * as far as a later leader knows): the start may have landed, and nothing on the Job would tell. */
bool attempt_story_is_lost(const struct gate_job *j);
/* It never began, and cannot any more. */
enum phase attempt_call_off(struct gate *g, struct gate_job *j);
/* The same, once no start PATCH can land any more. */
enum phase attempt_fenced(struct gate *g, struct gate_job *j);
/* It ended: what it holds is kept until its pods are gone; then it is given back. */
enum phase attempt_drain(struct gate *g, struct gate_job *j);
enum phase attempt_release(struct gate *g, struct gate_job *j);

#endif
