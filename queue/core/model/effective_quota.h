/*
 * Effective quota: the quota of a ClusterQueue or Cohort at this moment. It is what the spec says,
 * changed in this order by
 *
 *   features   quota_timed: a window may have another quota (features/windows/window_quota.h). Then quota_due:
 *              shortly before a window opens, lendingLimit is 0 (lead.h)
 *   a pool     for a flavor with spec.idlePool, nominal quotas are proportions. What its nodes lend
 *              now is divided by them, rounded down. Limits are scaled alike. A nominal quota of 0
 *              has no part, but may borrow
 *
 * Quota that is lowered under use stops no run; it only stops growth. Where a window lowers it, runs
 * give pods (features/windows/smaller_quota.h).
 */
#ifndef SLUICE_QUEUE_CORE_MODEL_EFFECTIVE_QUOTA_H
#define SLUICE_QUEUE_CORE_MODEL_EFFECTIVE_QUOTA_H

#include "queue/core/model/clusterqueue.h"

struct queue;

/* After the spec, the windows or the lead of a node may have changed. True when any limit has
 * changed: the caller settles the tree. Call effective_quota_divide() afterwards. */
bool effective_quota_apply(struct queue *q, struct quota_node *node);
/* Divides the pools in quota.stale anew; settles and touches the trees in which that changed any
 * quota. */
void effective_quota_divide(struct queue *q);

/* A flavor's lending and share / what its nodes lend. The same again does nothing. */
void effective_quota_lend(struct queue *q, const struct flavor *f);
void effective_quota_pool(struct queue *q, const struct idle_pool *p);

#endif
