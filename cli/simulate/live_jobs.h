/*
 * The Jobs of a live cluster, as the simulation takes them over. Each is read as the controller
 * reads it, and becomes one of these:
 *
 *   it waits: it is suspended, and no pods are left. Its place in line is by its times, as in the
 *       live queue: creation, sluice.dev/queued-at, and what its story tells of earlier attempts
 *       (back-off, requeues, suspensions).
 *   it runs: its story (sluice.dev/admission) says Started. The story tells what it holds, or else
 *       the queue does (queue_intake()). It began at status.startTime.
 *   it leaves: it was stopped or is being deleted, and pods are left. It keeps what it holds until
 *       the grace of its pods is over at the latest.
 *   nothing: it has ended. The length of its run tells what to expect of its family (ends.h).
 *
 * A Job that runs and was never started by Sluice waits, for the controller stops it. But where its
 * Namespace says that it may be adopted (sluice.dev/adopt-begun-by) it runs.
 *
 * The signature of a story cannot be checked here, for the key is the ledger's. So whoever may write
 * that annotation (the policies let no tenant) can make a simulation wrong, and nothing else.
 *
 * Jobs are kept until all are read, and then added in the order of the queue. The order of Jobs of
 * one second is that of the API server's resourceVersion, or of ranks that a caller knows.
 */
#ifndef SLUICE_CLI_SIMULATE_LIVE_JOBS_H
#define SLUICE_CLI_SIMULATE_LIVE_JOBS_H

#include "cli/simulate/ends.h"
#include "cli/simulate/world.h"
#include "base/json.h"

struct live_job;
struct live_adoption;

struct live_jobs {
	struct world *w;
	struct ends *ends;
	struct json *story;
	struct live_job *job;
	size_t n;
	struct live_adoption *adoption; /* Namespaces whose Jobs may be adopted */
	size_t nadoptions;
	int64_t newest_ms;	 /* the latest time that was seen: time begins no earlier */
	bool go_by_pod_priority; /* some Jobs do */
	/* How many Jobs there are of each kind, after live_jobs_add(). */
	size_t waiting, running, leaving, intruders;
};

void live_jobs_init(struct live_jobs *l, struct world *w, struct ends *ends);
void live_jobs_done(struct live_jobs *l);

/* Reads a Namespace; before the Jobs. */
void live_jobs_see_namespace(struct live_jobs *l, const cJSON *o);
/* Reads a Job that names a queue. ERR_INVALID: what came is no Job. */
int live_jobs_see(struct live_jobs *l, const cJSON *o, struct err *e);

/* True if two Jobs that wait were queued in the same second: their order is not known for sure. */
bool live_jobs_have_ties(struct live_jobs *l);
/* Ranks a Job: of Jobs of one second the lowest rank is first. Unknown names are passed over. */
void live_jobs_rank(struct live_jobs *l, const char *ns, const char *name, uint64_t rank);

/* Adds all Jobs to the world, at world.now_ms. */
int live_jobs_add(struct live_jobs *l, struct err *e);

/* Reads any Job of a namespace in which Jobs wait for others; after live_jobs_add(). A Job that is
 * played already, or that a file describes, is passed over. */
int live_jobs_see_other(struct live_jobs *l, const cJSON *o, struct err *e);

#endif
