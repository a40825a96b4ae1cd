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

/* Returns whether the run's Job says that it can do with fewer pods. *ret_least: with so few. */
bool giving_may(const struct reservation *r, int32_t *ret_least);
/* Lets the run go on with so many pods. by: the Job that gets the room; NULL: for a window. */
void giving_begin(struct queue *q, struct reservation *r, int32_t keeps, const struct workload *by,
	enum preemption_reason why);
/* Begins giving because a window made the quota of a row smaller. */
void giving_begin_for_quota(
	struct queue *q, struct reservation *r, int32_t keeps, const struct quota_row *quota);
/* Cancels the giving of a run whose Job cannot be told to, if it is for a smaller quota, or a stop
 * would end the Job as Complete: the run keeps its pods, and whom they were for chooses anew. */
void giving_cancel(struct queue *q, struct reservation *r);
/* Ends the giving: the pods are gone, or the run leaves with all of them. */
void giving_end(struct queue *q, struct reservation *r);

/* Asks the run to give back the idle resources of all but so many pods; if it may not, it stops.
 * False: it is stopping already, or has (or will soon have) no more pods than that. */
bool reclaim_ask(struct queue *q, struct reservation *r, int32_t pods, const char *why);
/* Returns how many pods keep their idle resources; 0: the run has to stop; INT32_MAX: all do. */
int32_t reclaim_keeps(const struct reservation *r);
/* Returns whether the run was told to go on with fewer pods, and does so with `pods`. */
bool reclaim_done_by(const struct reservation *r, int32_t pods);
/* Returns whether the run ends because of a reclaim. Also where no stop was decided: the gate stops
 * a run that cannot go on with fewer pods. (One that its owner suspends in the same seconds is
 * taken for that.) */
bool reclaim_ended(const struct reservation *r);
/* Frees what is kept for a reclaim: the reservation is gone. */
void reclaim_done(struct queue *q, struct reservation *r);

/* Returns whether there is a smaller number of pods to tell. *ret: the decision. */
bool shrink_tell(struct queue *q, struct reservation *r, struct decision *ret);

#endif
