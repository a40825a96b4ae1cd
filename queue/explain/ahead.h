/*
 * Ahead: how many Jobs of its ClusterQueue a Job waits behind. One figure for the API, QueuedJobs, the
 * page, sluice and the sentences.
 *
 * The line of a ClusterQueue (admit/precedence.h) also has Jobs that do not compete with it now: their
 * window is closed until Wednesday, as many of their LocalQueue run as may, or they ask for more than
 * there is. Such Jobs are passed over, hold up none, and do not count as ahead of one that may start:
 *
 *   may start now          counts those that may start now, by all rules and by quota that may come free
 *   a rule keeps it        counts these, and those that a rule keeps: each may be the first to start
 *   can never start        counts all
 *
 * Of a ClusterQueue whose waiting Jobs are of more than 1,000 groups all count, so that an answer costs little.
 * Only told: no decision looks at it.
 */
#ifndef SLUICE_QUEUE_EXPLAIN_AHEAD_H
#define SLUICE_QUEUE_EXPLAIN_AHEAD_H

#include "queue/core.h"

/* Counts those ahead of w; 0: it stands in no line. */
size_t ahead_of(const struct queue *q, const struct workload *w);
/* Can no Job that asks for this start, whatever ends? open: its windows are, now. */
bool ahead_exceeds(const struct clusterqueue *cq, const struct claim *c, bool open);

#endif
