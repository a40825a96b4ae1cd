/*
 * A run that gives pods: it is to go on with fewer, because another Job needs the room, a window opens
 * soon for the queue whose quota it borrows, or a window has made quota smaller.
 *
 * What it gives counts NOW until the pods are gone (queue_shrink_job()), and THEN no more, as of a
 * run that leaves. What it keeps counts in both. It may be told to give again before that, or be
 * stopped. It does not grow meanwhile.
 *
 * The gate is told each number once. A run that is growing gives, too; the gate is told when it has
 * said what became of the growth. A Job that cannot be told to go on with fewer pods is stopped by
 * the gate; then all of its quota leaves. But where only a window made quota smaller, or a stop would
 * end it as Complete, nothing is stopped: it keeps its pods (giving_cancel()), and is not asked again.
 */
#ifndef SLUICE_QUEUE_CORE_MODEL_GIVING_H
#define SLUICE_QUEUE_CORE_MODEL_GIVING_H

#include "queue/core/model/reservation.h"

/* Does its Job say that it can do with fewer pods? *ret_least: with so few. */
bool giving_may(const struct reservation *r, int32_t *ret_least);

/* How many pods it has THEN. */
static inline int32_t giving_pods_then(const struct reservation *r)
{
	int32_t keeps = reservation_keeps(r);
	return keeps > 0 ? keeps : r->pods;
}

/* It goes on with so many. by: the Job that gets the room; NULL: for a window. */
void giving_begin(struct queue *q, struct reservation *r, int32_t keeps, const struct workload *by,
	enum preemption_reason why);
/* The same, because a window made the quota of a row smaller. */
void giving_begin_for_quota(
	struct queue *q, struct reservation *r, int32_t keeps, const struct quota_row *quota);
/* Its Job cannot be told to: if it is for a smaller quota, or a stop would end it as Complete, it keeps its
 * pods, and whom they were for chooses anew. */
void giving_cancel(struct queue *q, struct reservation *r);
/* Its pods are gone, or it leaves with all of them. */
void giving_end(struct queue *q, struct reservation *r);

/* Is there a smaller number to tell? True once for each; *ret. */
bool giving_tell(struct queue *q, struct reservation *r, struct decision *ret);

#endif
