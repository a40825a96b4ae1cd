/*
 * P7 beside what fits: no Job at rest could take back what is its ClusterQueue's own.
 *
 * Judged where plain arithmetic can: without fair sharing, windows, a cluster and a hostile tenant;
 * in a Cohort without others in it or above it, and without limits; for a Job that with what it
 * asks for stays within its ClusterQueue's nominal quota, and lacks one resource. Then, as in
 * Kueue, runs of the other ClusterQueues go, in each from the lowest priority on, for as long as it
 * borrows that resource. Which of one priority goes first is not known here, so the least counts
 * that any order would free.
 */
#ifndef SLUICE_TEST_SIM_TAKE_BACK_H
#define SLUICE_TEST_SIM_TAKE_BACK_H

#include <stdbool.h>
#include <stdint.h>

struct config;
struct model_job;
struct sim;

/* For the planted bug, which lives in the queue: no Job that waits is enabled by a start. */
void take_back_begin(const struct sim *s);

/* j waits in cq, which may start Jobs. */
bool take_back_is_possible(
	struct sim *s, const struct model_job *j, const struct config *cq, int32_t priority);

#endif
