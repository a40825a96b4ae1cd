/* The talk with the API server: the one request that a Job has wanted, or under way. */
#ifndef SLUICE_CONTROLLER_GATE_REQUESTS_H
#define SLUICE_CONTROLLER_GATE_REQUESTS_H

#include <stdbool.h>
#include <stdint.h>

#include "controller/gate/due.h"
#include "controller/gate/phase.h"

struct gate;
struct gate_job;
struct intent;
struct job_answer;

/* The request that is wanted, and the one that is under way or was last. */
struct job_request {
	bool wanting;
	enum intent_kind want;
	enum phase want_in; /* the phase it was wanted in */
	uint64_t id;	    /* of the one under way; 0: none is */
	enum intent_kind asked;
	enum phase asked_in; /* the phase it was wanted in */
	int64_t asked_ms;
	bool asked_lost;       /* the Job was off the watch when it was asked */
	int64_t asked_version; /* of the Job, as it was known then: no answer is older */
	struct gate_job *next_want;
	unsigned tries;	    /* in this phase */
	unsigned refused;   /* writes answered JOB_REFUSED in a row, in this phase */
	int64_t retry_ms;   /* no request before */
	int64_t look_ms;    /* when to GET a lost Job again; 0: it was not looked for yet */
	struct alarm alarm; /* when to look at the Job again */
};

/* Tells whether the request is still wanted by the newest facts. */
bool request_wanted(const struct gate *g, const struct gate_job *j);
/* Puts into the Job's intent all that its kind is to say. */
void request_tell(struct gate *g, struct gate_job *j, struct intent *i);
/* Takes the answer to what was asked; returns the phase that comes next. */
enum phase request_answered(struct gate *g, struct gate_job *j, const struct job_answer *a);

#endif
