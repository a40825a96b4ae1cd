/*
 * What a Job holds that runs, is being started or is being stopped, for explanations; and why it has as
 * many pods as it has: it gives some, it grows, or why it does not (yet).
 */
#ifndef SLUICE_QUEUE_EXPLAIN_EXPLAIN_RUN_H
#define SLUICE_QUEUE_EXPLAIN_EXPLAIN_RUN_H

#include "queue/job/text.h"
#include "queue/core.h"

/* Adds "runs since ..: holds 12 cpu in flavor spot", and what concerns its owner beside that. */
void explain_run(const struct queue *q, const struct reservation *r, struct text *t);

#endif
