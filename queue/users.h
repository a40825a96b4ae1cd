/*
 * Users: what still needs a ClusterQueue or a ResourceFlavor that an admin deletes.
 *
 *   ClusterQueue    reservations: Jobs that run in it, are being started, or have pods left.
 *                   A waiting Job and a LocalQueue are no users: they can be given another one
 *   ResourceFlavor  ClusterQueues and Cohorts that name it (spec in force), and reservations in it
 *
 * Worked out from the facts when asked, so that nothing has to be kept. Sentences name queues and
 * never a Job: conditions are read in namespaces that may not list the Jobs of others.
 */
#ifndef SLUICE_QUEUE_USERS_H
#define SLUICE_QUEUE_USERS_H

#include "queue/job/text.h"
#include "queue/core.h"

/* Each appends "2 Jobs, one of them of LocalQueue team/main, hold quota in it"; false, and nothing
 * is appended, when it has no user. */
bool users_of_clusterqueue(const struct clusterqueue *cq, struct text *t);
bool users_of_flavor(const struct queue *q, const char *flavor, struct text *t);

#endif
