/*
 * Gives tests the parts of a queue that they compare with sums of their own, so that they need not know the
 * body of struct queue (queue/core/model/state.h). Each part has a header of its own, which the test includes.
 */
#ifndef SLUICE_TEST_CORE_INSIDE_H
#define SLUICE_TEST_CORE_INSIDE_H

#include <stddef.h>
#include <stdint.h>

#include "sluice/queue.h"

/* Counts how often any Job was placed in its line: what an event costs. */
uint64_t inside_placed(const struct queue *q);
size_t inside_groups(const struct queue *q);
size_t inside_shapes(const struct queue *q);
size_t inside_kept_starts(const struct queue *q);
/* Counts the bytes of Jobs, reservations and users. */
size_t inside_job_bytes(const struct queue *q);

/* NULL: there is none. */
struct workload *inside_workload(const struct queue *q, const struct uid *uid);
struct clusterqueue *inside_clusterqueue(const struct queue *q, const char *name);
struct localqueue *inside_localqueue(const struct queue *q, const char *ns, const char *name);
const struct clusterqueues *inside_clusterqueues(const struct queue *q);
const struct nices *inside_nices(const struct queue *q);
const struct predecessors *inside_predecessors(const struct queue *q);
struct advance_reservations *inside_advance_reservations(struct queue *q);
struct overflow *inside_overflow(struct queue *q);
struct quota *inside_quota(struct queue *q);
struct quota_plan *inside_plan(struct queue *q);

#endif
