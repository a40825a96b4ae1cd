/*
 * /api/v1/queues: ClusterQueues, LocalQueues and Cohorts with their quotas, as JSON.
 *
 * Amounts are told twice: as people write them ("1500m"), and in the units that the queue counts in, for
 * charts. The subtree of a Cohort is what it and all below it bring.
 *
 * weightedShare stands where the status of Kueue's objects has it: with fair sharing, and below a Cohort.
 * One that borrows with a weight of 0 has borrowsWithoutWeight instead, for its share is beyond all numbers.
 */
#ifndef SLUICE_CONTROLLER_ANSWERS_QUEUES_H
#define SLUICE_CONTROLLER_ANSWERS_QUEUES_H

#include "controller/answers/api.h"

/* names: Jobs that are stuck may be named. */
struct http_reply queues_answer(const struct api_sources *s, bool names, struct buf *out);

#endif
