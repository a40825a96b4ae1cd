/*
 * Reclaim: room in what is lent, and wanted back (overcommit/reclaim.h decides whose, and how
 * much).
 *
 * Who may go on with fewer pods by its own min-parallelism is told to, and keeps its quota until
 * they are gone; everybody else is stopped, keeps its place in the order, and waits for
 * RECLAIM_PAUSE_MS. It is told once of each number; the next one must be a smaller one.
 */
#ifndef SLUICE_QUEUE_RULES_RECLAIM_H
#define SLUICE_QUEUE_RULES_RECLAIM_H

#include "queue/model/reservation.h"

/* False: it is stopping already, or runs, or will soon, with no more than that. */
bool reclaim_ask(struct queue *q, struct reservation *r, int32_t pods, const char *why);

/* Is it to be stopped for it? */
bool reclaim_stops(const struct reservation *r);
/* Is it to be told a smaller number? Once for each; *ret. */
bool reclaim_tell(struct reservation *r, struct decision *ret);

void reclaim_done(struct queue *q, struct reservation *r);

#endif
