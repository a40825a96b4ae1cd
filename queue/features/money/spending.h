/*
 * Spending: the bills of all runs that have ended, by queue, currency and the quarter of an hour in
 * which the run started. They are kept for the longest period, so that a Budget made in the middle
 * of a month knows what the month has cost.
 *
 * The days of every zone begin at a quarter of an hour, so the sum over a period is exact.
 */
#ifndef SLUICE_QUEUE_FEATURES_MONEY_SPENDING_H
#define SLUICE_QUEUE_FEATURES_MONEY_SPENDING_H

#include <stdint.h>

#include "base/map.h"

#define SPENDING_QUARTER_MS INT64_C(900000)
/* Older than a year, and some days for zones, is forgotten. */
#define SPENDING_KEPT_MS (INT64_C(370) * 24 * 3600 * 1000)

struct spending {
	struct map map;
};

void spending_init(struct spending *s);
void spending_done(struct spending *s);

void spending_add(struct spending *s, const char *clusterqueue, const char *ns,
	const char *localqueue, const char *currency, int64_t started_ms, int64_t cost);

/* The cost of runs that started in [from_ms, to_ms): of a ClusterQueue (ns and localqueue ""), or
 * of a LocalQueue (clusterqueue ""). */
int64_t spending_sum(const struct spending *s, const char *clusterqueue, const char *ns,
	const char *localqueue, const char *currency, int64_t from_ms, int64_t to_ms);

#endif
