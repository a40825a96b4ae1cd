/*
 * Effective quota: the quota of a ClusterQueue or Cohort at this moment. It is what the spec says,
 * changed in this order by
 *
 *   a window   a RunPolicy of the ClusterQueue may have a quota for the window that its Calendar
 *              shows. That replaces the spec's. Of several policies the first by name counts that
 *              has one for the row
 *   a lead     shortly before a window opens, lendingLimit is 0 (lead.h)
 *   a pool     for a flavor with spec.idlePool, nominal quotas are proportions. What its nodes lend
 *              now is divided by them, rounded down. Limits are scaled alike. A nominal quota of 0
 *              has no part, but may borrow
 *
 * Quota that is lowered under use stops no run; it only stops growth. Where a window lowers it, runs
 * give pods (smaller_quota.h).
 */
#ifndef SLUICE_QUEUE_FEATURES_WINDOWS_EFFECTIVE_QUOTA_H
#define SLUICE_QUEUE_FEATURES_WINDOWS_EFFECTIVE_QUOTA_H

#include "queue/core/model/clusterqueue.h"

struct queue;
struct runpolicy;

/* After the spec, the windows or the lead of a node may have changed. True when any limit has
 * changed: the caller settles the tree. Call effective_quota_divide() afterwards. */
bool effective_quota_apply(struct queue *q, struct quota_node *node);
/* Divides the pools in quota.stale anew; settles and touches the trees in which that changed any
 * quota. */
void effective_quota_divide(struct queue *q);

/* A flavor's lending and share / what its nodes lend. The same again does nothing. */
void effective_quota_lend(struct queue *q, const struct flavor *f);
void effective_quota_pool(struct queue *q, const struct idle_pool *p);

/* What the row's spec says, with a window's quota in its place (NULL: none). */
struct quota_limits effective_quota_with(
	const struct quota_row *row, const struct window_quota_spec *x);
/* The window's quota that counts for this row now; NULL: its spec's does. */
const struct window_quota_spec *effective_quota_set(
	const struct clusterqueue *cq, const struct quota_row *row);
/* The same of one policy, while its Calendar shows that window (NULL: none). */
const struct window_quota_spec *effective_quota_in(
	const struct runpolicy *p, const char *window, const struct quota_row *row);

#endif
