/*
 * P12: no run is preempted in its first preemption.minRun, as its controller knows the ClusterQueue
 * and by its own clock, but for a Job of a ClusterQueue that takes back what is its own with
 * reclaimWithinCohort Any (that such a Job takes back no more is the scenarios' to show).
 *
 * And the rules that Kueue does not have, drawn for some worlds: minRun and gapFillers.
 */
#ifndef SLUICE_TEST_SIM_MIN_RUN_H
#define SLUICE_TEST_SIM_MIN_RUN_H

#include "sluice/queue.h"

struct config;
struct model_job;
struct model_reservation;
struct replica;
struct sim;

void min_run_begin(struct sim *s);
/* What an admin says of it in a ClusterQueue. */
void min_run_draw(struct sim *s, struct config *clusterqueue);

/* The queue of a controller has decided to stop a run for another Job. */
void min_run_check(
	struct sim *s, const struct replica *r, const struct decision *d, int64_t now_ms);
/* At rest: has this run run its minimum, for so long that each leader has seen it by its clock? */
bool min_run_is_over(const struct sim *s, const struct model_reservation *h);

#endif
