/*
 * Rations: what quota a ClusterQueue has at this moment. As its spec says, but for
 *
 *   a window's set   while the Calendar of a RunPolicy that names the ClusterQueue shows a window
 *                    for which the policy has a quota, that is the quota; of several policies the
 *                    first in name order that has one for the row
 *   a lead           shortly before a window opens nothing of it is lent (lead.h)
 *
 * Quota that is lowered under use evicts nobody; it only stops growth.
 */
#ifndef SLUICE_QUEUE_RATION_H
#define SLUICE_QUEUE_RATION_H

#include "queue/clusterqueue.h"

/* True when any limit is another one now: the tree is to be settled. */
bool ration_apply(struct clusterqueue *cq);

/* The set that gives this row its quota now; NULL: its spec does. */
const struct window_quota_spec *ration_set(
	const struct clusterqueue *cq, const struct quota_row *row);

#endif
