/*
 * Rations: what quota a ClusterQueue or Cohort has at this moment. As its spec says, but for
 *
 *   a window's set   while the Calendar of a RunPolicy that names the ClusterQueue shows a window
 *                    for which the policy has a quota, that is the quota; of several policies the
 *                    first in name order that has one for the row
 *   a lead           shortly before a window opens nothing of it is lent (lead.h)
 *   a pool           of a flavor whose room is lent (spec.idlePool) everybody has the part that its
 *                    nominal quota, as the two above leave it, is of the sum of all of them,
 * rounded down: what a flavor gives is what its nodes lend now, and no more. Limits are taken in
 * the same proportion. Who says 0 has nothing, and may borrow
 *
 * Quota that is lowered under use evicts nobody; it only stops growth.
 */
#ifndef SLUICE_QUEUE_ADMIT_EFFECTIVE_QUOTA_H
#define SLUICE_QUEUE_ADMIT_EFFECTIVE_QUOTA_H

#include "queue/model/clusterqueue.h"

struct queue;

/* After what a node's spec, windows or lead say may have changed. True when any limit is another
 * one now: the tree is to be settled. Then, effective_quota_divide(). */
bool effective_quota_apply(struct queue *q, struct quota_node *node);
/* The pools in which somebody's part may be another one; settles and touches who is concerned. */
void effective_quota_divide(struct queue *q);

/* A flavor's room is lent or its own, and how much of it is to be had / what its nodes lend. The
 * same again does nothing. */
void effective_quota_lend(struct queue *q, const struct flavor *f);
void effective_quota_pool(struct queue *q, const struct idle_pool *p);

/* The set that gives this row its quota now; NULL: its spec does. */
const struct window_quota_spec *effective_quota_set(
	const struct clusterqueue *cq, const struct quota_row *row);

#endif
