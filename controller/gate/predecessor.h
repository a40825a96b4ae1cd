/*
 * A Job as those that wait for it are told of it (sluice/dependency.h): from the watch by the gate,
 * from the API server by controller/watch/predecessors.h.
 *
 * It only ever goes forward: a Job that was started stays one, and one that has ended does not run
 * again. So it does no harm when the watch tells twice of the same Job, the older one last.
 */
#ifndef SLUICE_CONTROLLER_GATE_PREDECESSOR_H
#define SLUICE_CONTROLLER_GATE_PREDECESSOR_H

#include "sluice/dependency.h"
#include "sluice/job.h"

/* Borrows from the Job. */
struct predecessor predecessor_of_job(const struct job *j, bool followed);

#endif
