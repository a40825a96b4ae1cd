/*
 * Reclaim: idle resources are taken back from a run. overcommit/reclaim.h decides from which run,
 * and how much.
 *
 * If the Job's min-parallelism allows it, the run goes on with fewer pods, and keeps its quota
 * until the others are gone. Else it is stopped, keeps its place in the order, and starts again as
 * soon as it fits; later only if this happens to it too often (queue/job/stop_rate.h). The gate is
 * told each number once; the next number must be smaller, unless the run has grown since. A run that
 * is just growing is told when it has.
 */
#ifndef SLUICE_QUEUE_CORE_MODEL_RECLAIM_H
#define SLUICE_QUEUE_CORE_MODEL_RECLAIM_H

#include "queue/core/model/reservation.h"

/* False: it is stopping already, or has (or will soon have) no more pods than that. */
bool reclaim_ask(struct queue *q, struct reservation *r, int32_t pods, const char *why);

/* Has it to stop for this? */
bool reclaim_stops(const struct reservation *r);
/* It was told to go on with fewer pods, and with so many it does. */
bool reclaim_done_by(const struct reservation *r, int32_t pods);
/* Is there a smaller number to tell? True once for each; *ret. */
bool reclaim_tell(struct reservation *r, struct decision *ret);

/* Does the run end because of this? Also where no stop was decided: the gate stops a run that cannot
 * go on with fewer pods. (One that its owner suspends in the same seconds is taken for that.) */
bool reclaim_ended(const struct reservation *r);

void reclaim_done(struct queue *q, struct reservation *r);

#endif
