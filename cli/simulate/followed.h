/*
 * What the queue is told, in the simulation, of Jobs that others wait for (sluice.dev/after): when
 * each Job of a manifest or CronJob comes, starts, ends or is deleted. Jobs of a trace are not
 * among them, nor are Jobs that name no queue.
 */
#ifndef SLUICE_CLI_SIMULATE_FOLLOWED_H
#define SLUICE_CLI_SIMULATE_FOLLOWED_H

#include "cli/simulate/world.h"

/* Tells that the Job has come, or that its state has changed. */
void followed_tell(struct world *w, size_t sim_job);
/* Answers what the queue asks. */
void followed_answer(struct world *w);

#endif
