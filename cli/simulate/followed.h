/*
 * What the queue is told of Jobs that others wait for (sluice.dev/after), in the simulation: of
 * each Job of a manifest or CronJob, when it comes, starts, ends or is deleted. Jobs of a trace are
 * not among them, nor are Jobs that name no queue.
 */
#ifndef SLUICE_CLI_SIMULATE_FOLLOWED_H
#define SLUICE_CLI_SIMULATE_FOLLOWED_H

#include "cli/simulate/world.h"

/* It has come, or its state is another one. */
void followed_tell(struct world *w, size_t sim_job);
/* Answers what the queue asks. */
void followed_answer(struct world *w);

#endif
