/*
 * What sluice.dev/nice does to a Job's place in line (queue/model/nice.h), for explanations.
 */
#ifndef SLUICE_QUEUE_EXPLAIN_EXPLAIN_NICE_H
#define SLUICE_QUEUE_EXPLAIN_EXPLAIN_NICE_H

#include "queue/core.h"
#include "queue/job/text.h"

/* Adds "; before 3 Jobs of alice by its sluice.dev/nice -5", or why that is not heeded. */
void explain_nice(const struct workload *w, struct text *t);

#endif
