/*
 * Reclaim: idle resources are taken back from a run. overcommit/reclaim.h decides from which run,
 * and how much.
 *
 * If the Job's min-parallelism allows it, the run goes on with fewer pods, and keeps its quota
 * until the others are gone. Else it is stopped, keeps its place in the order, and waits for
 * RECLAIM_PAUSE_MS. The gate is told each number once; the next number must be smaller.
 */
#ifndef SLUICE_QUEUE_RULES_RECLAIM_H
#define SLUICE_QUEUE_RULES_RECLAIM_H

#include "queue/model/reservation.h"

/* False: it is stopping already, or has (or will soon have) no more pods than that. */
bool reclaim_ask(struct queue *q, struct reservation *r, int32_t pods, const char *why);

/* Has it to stop for this? */
bool reclaim_stops(const struct reservation *r);
/* Is there a smaller number to tell? True once for each; *ret. */
bool reclaim_tell(struct reservation *r, struct decision *ret);

void reclaim_done(struct queue *q, struct reservation *r);

#endif
