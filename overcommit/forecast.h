/*
 * The forecast: what a node's high-priority pods and system are going to use, from what they used.
 *
 * The 99th percentile of a week of samples, a minute apart, of which older ones weigh less (half
 * after 24 hours), and a margin on it. Kept as a histogram whose
 * buckets are 5 % wide at most, in 3 KB a node however many samples there are; a percentile is the
 * upper end of its bucket, so it errs on the safe side, by 5 % at most (and below 32 thousandths of
 * a core and 16 MiB, by that). Less than 24 hours of history is no forecast: from the oldest sample
 * to the newest, which is itself not older than that, and with 24 samples at least.
 *
 * Weights are not decayed one by one: a new sample weighs more, and when the weights get large all
 * are scaled down together.
 */
#ifndef SLUICE_OVERCOMMIT_FORECAST_H
#define SLUICE_OVERCOMMIT_FORECAST_H

#include <stdbool.h>
#include <stdint.h>

#include "overcommit/load.h"

#define FORECAST_RETENTION_MS (INT64_C(7) * 24 * 3600 * 1000)

struct forecast;

struct forecast *forecast_new(void);
void forecast_free(struct forecast *f); /* NULL is fine */

/* In any order; what is older than the retention is not counted. */
void forecast_add(struct forecast *f, int64_t at_ms, struct load taken);

/* False: less than 24 hours of history. The margin is in percent. */
bool forecast_get(
	const struct forecast *f, int64_t now_ms, int64_t margin_percent, struct load *ret);

#endif
