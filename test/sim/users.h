/*
 * P16: no user runs more Jobs of a LocalQueue, or holds more of it, than spec.limits.perUser says,
 * asked at each start and growth of what the queue that decided it knows. And at rest no Job waits
 * for these limits that would not be beyond them (a part of P7).
 *
 * Worlds with --users: LocalQueues have such limits, and Jobs have one of a few submitters, or none
 * that is known. It draws from a generator of its own.
 */
#ifndef SLUICE_TEST_SIM_USERS_H
#define SLUICE_TEST_SIM_USERS_H

#include "sluice/queue.h"
#include "test/sim/people.h"
#include "test/sim/rng.h"

struct model_job;
struct replica;
struct sim;
struct snap;

struct users {
	struct rng rng;
	struct user_limits limits[LOCALQUEUES];
	struct resource cpu[LOCALQUEUES]; /* of their quotas */
};

void users_begin(struct sim *s);
/* A new Job. */
void users_draw(struct sim *s, struct snap *n);

/* The queue of a controller has decided that. */
void users_check(struct sim *s, const struct replica *r, const struct decision *d);
/* At rest: may the Job wait because of these limits? */
bool users_may_wait(const struct sim *s, const struct model_job *j);

#endif
