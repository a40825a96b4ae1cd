/*
 * A predecessor: a Job as it is told to Jobs that wait for it (sluice/dependency.h). The gate tells
 * what the watch shows, controller/watch/predecessors.h what it asks the API server.
 *
 * A predecessor only ever goes forward: a Job that was started stays so, and a Job that has ended
 * does not run again. So it does no harm when the watch tells twice of the same Job, the older one
 * last.
 */
#ifndef SLUICE_CONTROLLER_GATE_PREDECESSOR_H
#define SLUICE_CONTROLLER_GATE_PREDECESSOR_H

#include "sluice/dependency.h"
#include "sluice/job.h"

/* Makes it of a Job, from which it borrows. */
struct predecessor predecessor_of_job(const struct job *j, bool followed);

#endif
