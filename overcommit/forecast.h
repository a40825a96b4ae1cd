/*
 * The forecast: what a node's high-priority pods and system are going to use, from what they used.
 *
 * A forecast is the 99th percentile of a week of samples, a minute apart, and a margin on it. Older
 * samples weigh less: half after 24 hours. They are kept as a histogram, in 3 KB a node, however
 * many there are. A percentile is the upper end of its bucket, so it errs on the safe side: by at
 * most 5 %, or by 32 thousandths of a core and 16 MiB where there is less. There is no forecast
 * before 24 samples and 24 hours from the oldest to the newest, nor when the newest is older than
 * 24 hours.
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

/* Adds a sample, in any order of time. A sample older than the retention does not count. */
void forecast_add(struct forecast *f, int64_t at_ms, struct load taken);

/* Gives the forecast. False: there is none yet. */
bool forecast_get(
	const struct forecast *f, int64_t now_ms, int64_t margin_percent, struct load *ret);

#endif
