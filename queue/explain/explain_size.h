/*
 * Why a run has as many pods as it has, for explanations: it gives some, it grows, or why it does not
 * (yet).
 */
#ifndef SLUICE_QUEUE_EXPLAIN_EXPLAIN_SIZE_H
#define SLUICE_QUEUE_EXPLAIN_EXPLAIN_SIZE_H

#include "queue/job/text.h"
#include "queue/core.h"

/* Adds "; ..." where the run has fewer pods than its owner asked for, or will have. */
void explain_size(const struct queue *q, const struct reservation *r, struct text *t);

#endif
