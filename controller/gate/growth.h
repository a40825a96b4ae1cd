/*
 * Growth: a run goes on with more pods (DECISION_GROW), up to what its owner asked for. growth.c
 * alone writes it.
 *
 * The order is that of a start: GROW in the ledger, and only when that is durable the PATCH that
 * raises parallelism (and completions, where they were taken down with it). So at every instant the
 * reservation is for at least the pods that may be there.
 *
 *   RESERVING  GROW is on its way to the ledger. The reservation is as before
 *   TELLING    GROW is durable, the reservation is for all of the pods. The PATCH is sent, and sent
 *              again, until the Job says the number, or its owner says another one. It tests uid,
 *              generation and story, and writes a story that says the new number
 *
 * Until then nothing is taken off the reservation, whatever pods end. When the growth is called off
 * it goes back to what it was. Where a PATCH may have landed before its owner edited the Job, pods
 * are counted first (scale_down.c). It does not begin while pods of a larger size may be left.
 *
 * A growth that the API server refuses is called off. If an earlier PATCH was not answered it may
 * land yet: then the Job is told its story anew first (INTENT_RETELL), after which that PATCH
 * cannot.
 *
 * A stop goes first, and so does what makes the run smaller: their PATCHes write a story, too, after
 * which no PATCH of a growth can land.
 *
 * A leader that dies between GROW and PATCH leaves a reservation for more pods than the Job says,
 * and a PATCH that may be under way. Its successor does not know what the growth was for, and takes
 * back what is not used. But first it tells the Job its story anew (INTENT_RETELL), after which no
 * PATCH of an earlier leader can land.
 */
#ifndef SLUICE_CONTROLLER_GATE_GROWTH_H
#define SLUICE_CONTROLLER_GATE_GROWTH_H

#include <stdbool.h>
#include <stdint.h>

#include "controller/ledger/ledger.h"

struct decision;
struct gate;
struct gate_job;
struct intent;
struct job_answer;

enum growth_step {
	GROWTH_NONE,
	GROWTH_RESERVING,
	GROWTH_TELLING,
};

struct growth {
	enum growth_step step;
	int32_t from, to;     /* pods that the reservation is for, before and after */
	int32_t seq;	      /* the number of its GROW */
	bool may_have_landed; /* its PATCH may have, or its owner's manifest with no fewer pods */
	bool fenced;	      /* no PATCH sent so far can land: the story is another one */
	bool dropped;	      /* the run is to be smaller: no PATCH is sent any more */
	bool denied;	      /* the API server refused it: no PATCH is sent any more */
	unsigned denials;     /* in a row */
	int64_t denied_ms;    /* no growth before, by tick_ms: the API server refused one */
};

void growth_decided(struct gate *g, struct gate_job *j, const struct decision *d);
/* Takes the ledger's answer to the GROW of that number. */
void growth_reserved(struct gate *g, struct gate_job *j, int32_t seq, enum ledger_verdict v);
/* Ends the growth of a run that goes on, if it has landed or cannot any more. */
void growth_settle(struct gate *g, struct gate_job *j);
/* Asks for the PATCH that is due, unless the run is to stop or be smaller. False: none is. */
bool growth_see_to(struct gate *g, struct gate_job *j);
/* Has no PATCH sent any more: the run is to be smaller. */
void growth_drop(struct gate_job *j);
/* Tells whether the reservation is for more pods than there are, and stays so. */
bool growth_keeps(const struct gate *g, const struct gate_job *j);
/* Tells whether a PATCH of a growth may be due, or under way. */
bool growth_tells(const struct gate_job *j);
/* INTENT_GROW. */
bool growth_wanted(const struct gate *g, const struct gate_job *j);
void growth_tell(struct gate_job *j, struct intent *i);
bool growth_answered(struct gate *g, struct gate_job *j, const struct job_answer *a);
void growth_denied(struct gate *g, struct gate_job *j, const char *said);
/* INTENT_RETELL. */
bool growth_retell_wanted(const struct gate *g, const struct gate_job *j);
void growth_retell(struct gate *g, const struct gate_job *j, struct intent *i);
/* Says that another story stands there: PATCHes sent before cannot land. */
void growth_retold(struct gate_job *j);
/* Ends with the attempt. */
void growth_end(struct gate_job *j);

#endif
