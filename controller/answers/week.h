/*
 * A ClusterQueueWeek: the week of a ClusterQueue (sluice/week.h).
 *
 * The week is seven days, from the beginning of today in UTC. Openings and steps are clipped to it.
 * A list that was cut has "more": true, and "until": it is right up to there. Factors are exact
 * decimals, as in the PricePlan.
 */
#ifndef SLUICE_CONTROLLER_ANSWERS_WEEK_H
#define SLUICE_CONTROLLER_ANSWERS_WEEK_H

#include "base/err.h"
#include "base/json_writer.h"
#include "sluice/queue.h"

struct queue_week;

/* Puts the members of the week. ERR_GONE: there is no such ClusterQueue. */
int week_put(const struct queue *q, const char *clusterqueue, int64_t now_ms, struct json_writer *w,
	struct err *e);

/* Put the members "windows" and "prices" of any stretch of time. */
void week_put_windows(struct json_writer *w, const struct queue_week *week);
void week_put_prices(struct json_writer *w, const struct queue_week *week);

#endif
