/*
 * The digest of a QueuedJob: a number that changes when there is something to be told of it.
 *
 * What only passes with the clock does not count: ages, costs, and within the sentence the lengths of
 * time ("closes in 12m05s") and the last ten minutes of a time of day, as some of those are reckoned
 * from now ("it is expected to run until ...").
 *
 * Each play of the queue (forecasts.h) says another start. One that is told for the first time counts, one
 * that has moved (moves.h), and one that is no longer told.
 */
#ifndef SLUICE_CONTROLLER_ANSWERS_ROW_DIGEST_H
#define SLUICE_CONTROLLER_ANSWERS_ROW_DIGEST_H

#include <stdint.h>

#include "controller/answers/queued_job.h"

uint64_t row_digest(const struct queued_jobs_sources *s, const struct queued_job *j);

/* Appends the sentence, without what does not count. */
void row_digest_sentence(const char *sentence, struct buf *out);

#endif
