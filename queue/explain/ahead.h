/*
 * Ahead: how many Jobs of its ClusterQueue a Job waits behind. One figure for the API, QueuedJobs, the
 * page, sluice and the sentences.
 *
 * The line of a ClusterQueue (model/precedence.h) also has Jobs that do not compete with it now: their
 * window is closed until Wednesday, as many of their LocalQueue run as may, or they ask for more than
 * there is. Such Jobs are passed over, hold up none, and do not count as ahead of one that may start:
 *
 *   may start now          counts those that may start now, by all rules and by quota that may come free
 *   a rule keeps it        counts these, and those that a rule keeps: each may be the first to start
 *   can never start        counts all
 *
 * With StrictFIFO a Job that can never start holds up all behind it once it is first. There it
 * counts as one that may start, unless no node suits it: the rule of nodes passes that one over.
 *
 * An answer costs little: of a ClusterQueue at most so many groups are looked at, and of those that
 * do not compete at most so many kept. The others count. They are met in order; but where usage
 * orders LocalQueues, one LocalQueue after the other, whatever they have used.
 *
 * Only told: no decision looks at it. It is not unique, so lists are sorted by the rank in the
 * order itself.
 *
 * What sluice.dev/nice does to a Job's place in line (queue/core/model/nice.h) is told here, too.
 */
#ifndef SLUICE_QUEUE_EXPLAIN_AHEAD_H
#define SLUICE_QUEUE_EXPLAIN_AHEAD_H

#include "queue/core/model/state.h"
#include "queue/job/text.h"

/* Counts those ahead of w; 0: it stands in no line. rank: its precedence_rank(). */
size_t ahead_of(const struct queue *q, const struct workload *w, size_t rank);
/* Can no Job that asks for this start, whatever ends? open: its windows are, now. */
bool ahead_exceeds(const struct clusterqueue *cq, const struct claim *c, bool open);

/* Adds "; before 3 Jobs of alice by its sluice.dev/nice -5", or why that is not heeded. */
void explain_nice(const struct workload *w, struct text *t);

#endif
