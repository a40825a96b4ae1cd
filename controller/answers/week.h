/*
 * A ClusterQueueWeek: the week of a ClusterQueue (sluice/week.h).
 *
 * Seven days, from the beginning of today in UTC. Openings and steps are clipped to that. A list that was
 * cut has "more": true, and "until": it is right up to there. Factors are exact decimals, as in the
 * PricePlan.
 */
#ifndef SLUICE_CONTROLLER_ANSWERS_WEEK_H
#define SLUICE_CONTROLLER_ANSWERS_WEEK_H

#include "base/buf.h"
#include "base/err.h"
#include "sluice/queue.h"

/* Appends an object. ERR_GONE: there is no such ClusterQueue. */
int week_put(const struct queue *q, const char *clusterqueue, int64_t now_ms, struct buf *out,
	struct err *e);

#endif
