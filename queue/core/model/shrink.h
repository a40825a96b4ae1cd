/*
 * A shrink: a run is to go on with fewer pods. There are two causes, and one may come on top of the
 * other.
 *
 *   giving    another Job needs the room, a window opens soon for the queue whose quota the run borrows, or
 *             a window has made quota smaller. What it gives counts NOW until the pods are gone
 *             (queue_shrink_job()), and THEN no more, as of a run that leaves; what it keeps counts in
 *             both. It may be told to give again before that, or be stopped. It does not grow meanwhile
 *   reclaim   idle resources are taken back. overcommit/reclaim.h decides from which run, and how much. The
 *             run keeps its quota in both until the pods are gone. If its min-parallelism does not allow
 *             it, it is stopped, keeps its place in the order, and starts again as soon as it fits; later
 *             only if this happens to it too often (queue/job/stop_rate.h). The next number must be
 *             smaller, unless the run has grown since
 *
 * The gate is told once for each number of either, always the smaller of the two. A run that is
 * growing is told when the gate has said what became of the growth. A Job that cannot be told to go
 * on with fewer pods is stopped by the gate; then all of its quota leaves. But where only a window
 * made quota smaller, or a stop would end it as Complete, nothing is stopped: it keeps its pods
 * (giving_cancel()), and is not asked again.
 */
#ifndef SLUICE_QUEUE_CORE_MODEL_SHRINK_H
#define SLUICE_QUEUE_CORE_MODEL_SHRINK_H

#include "queue/core/model/reservation.h"

/* Does its Job say that it can do with fewer pods? *ret_least: with so few. */
bool giving_may(const struct reservation *r, int32_t *ret_least);
/* It goes on with so many. by: the Job that gets the room; NULL: for a window. */
void giving_begin(struct queue *q, struct reservation *r, int32_t keeps, const struct workload *by,
	enum preemption_reason why);
/* Begins it because a window made the quota of a row smaller. */
void giving_begin_for_quota(
	struct queue *q, struct reservation *r, int32_t keeps, const struct quota_row *quota);
/* Its Job cannot be told to: if it is for a smaller quota, or a stop would end it as Complete, it
 * keeps its pods, and whom they were for chooses anew. */
void giving_cancel(struct queue *q, struct reservation *r);
/* Its pods are gone, or it leaves with all of them. */
void giving_end(struct queue *q, struct reservation *r);

/* False: it is stopping already, or has (or will soon have) no more pods than that. */
bool reclaim_ask(struct queue *q, struct reservation *r, int32_t pods, const char *why);
/* So many pods keep their idle resources; 0: it has to stop; INT32_MAX: all do. */
int32_t reclaim_keeps(const struct reservation *r);
/* It was told to go on with fewer pods, and with so many it does. */
bool reclaim_done_by(const struct reservation *r, int32_t pods);
/* Does the run end because of this? Also where no stop was decided: the gate stops a run that cannot
 * go on with fewer pods. (One that its owner suspends in the same seconds is taken for that.) */
bool reclaim_ended(const struct reservation *r);
/* The reservation is gone: frees what is kept for it. */
void reclaim_done(struct queue *q, struct reservation *r);

/* Is there a smaller number to tell? *ret: the decision. */
bool shrink_tell(struct queue *q, struct reservation *r, struct decision *ret);

#endif
