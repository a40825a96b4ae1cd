/* What keeps a Job that runs out of its queue (intake.c): the sentence. */
#ifndef SLUICE_QUEUE_EXPLAIN_EXPLAIN_INTAKE_H
#define SLUICE_QUEUE_EXPLAIN_EXPLAIN_INTAKE_H

#include "queue/core.h"
#include "queue/job/text.h"

/* Not how much is free, nor what was asked of nodes. claim: on its ClusterQueue, empty without one.
 * False: nothing does. */
bool explain_intake(const struct queue *q, const struct workload *w, const struct claim *claim,
	int64_t now_ms, struct text *t);

#endif
