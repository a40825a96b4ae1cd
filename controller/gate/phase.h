/*
 * The life of an attempt: in which phase a Job is, and what moves it to the next. phase.c alone
 * enters one, and never looks at another Job.
 */
#ifndef SLUICE_CONTROLLER_GATE_PHASE_H
#define SLUICE_CONTROLLER_GATE_PHASE_H

#include <stdbool.h>
#include <stdint.h>

#include "controller/gate/gate.h"

struct gate_job;

enum phase {
	PHASE_WAITING,
	PHASE_RESERVING,
	PHASE_STARTING,
	PHASE_FENCING,
	PHASE_RUNNING,
	PHASE_STOPPING,
	PHASE_DRAINING,
	PHASE_EVICTING,
	PHASES
};

void job_reconcile(struct gate *g, struct gate_job *j); /* may free j */
/* Take what the queue, the ledger or the API server says of the Job. */
void job_decided(struct gate *g, struct gate_job *j, const struct decision *d);
void job_reserved(struct gate *g, struct gate_job *j, const struct ledger_result *r);
void job_answered(struct gate *g, struct gate_job *j, const struct job_answer *a);
void job_grown(struct gate *g, struct gate_job *j, const struct ledger_op *op,
	const struct ledger_result *r);
/* Adopts the open reservation that an earlier leader made for the Job. */
void job_adopt(struct gate *g, struct gate_job *j, const struct ledger_reservation *r);
/* Adopts a Job without a reservation by its own story. False: that tells nothing, or is not believed. */
bool job_adopt_by_story(struct gate *g, struct gate_job *j);
/* Takes the ledger's answer to ADOPT. LEDGER_SPENT: it had closed that attempt. */
void job_adopted(
	struct gate *g, struct gate_job *j, int32_t attempt, const struct ledger_result *r);
/* Tells whether another client resumed the Job with other pods than those that quota is reserved
 * for. */
bool job_is_another(const struct gate *g, const struct gate_job *j);

#endif
