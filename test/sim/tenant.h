/*
 * A hostile tenant, in one world of three: a user who may create, change and delete Jobs in his
 * namespace, where the admission policies are missing or older than the controller, and who wants
 * to run without quota, or to hold it without pods.
 *
 *   past         Jobs of any size that are made unsuspended, as children of others or alone
 *   by hand      Jobs that wait, unsuspended
 *   raised       parallelism and completions of a run, at any time, also while none leads
 *   re-applied   the manifest of a run that goes on with fewer pods; honest users do so, too
 *   kept         deleted, with a finalizer of his own: the Job controller lets go of them
 *   orphaned     deleted without their pods
 *   uncontrolled of another controller (which is not there), or with a selector of their own, so
 *                that their pods cannot be told
 *   unlabelled   the queue label taken off and put on again: people do that anyway
 *
 * What must hold is in promises.h, P11 above all. What is drawn here comes from a generator of its
 * own, so that worlds without him are what they were.
 */
#ifndef SLUICE_TEST_SIM_TENANT_H
#define SLUICE_TEST_SIM_TENANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "test/sim/rng.h"

struct job;
struct model_job;
struct sim;

struct tenant {
	bool on;
	int64_t every_ms;
	struct rng rng;
};

void tenant_begin(struct sim *s);

/* What a process is shown of a Job; planted faults leave something out. */
void tenant_show(struct sim *s, size_t replica, uint64_t life, struct job *j);
/* A count of pods by the uid of their Job does not find these. */
bool tenant_hides_pods(const struct sim *s, const struct model_job *j);

/* The manifest of a Job, of any owner, is applied again while it goes on with fewer pods; false
 * when it does not. */
bool tenant_reapplies(struct sim *s, struct model_job *j);

/* ---- Planted faults ---- */

bool tenant_is_no_child(void *sim, const struct job *j);

#endif
