/* What operators see of forecasts (forecasts.h), also in /metrics. */
#ifndef SLUICE_CONTROLLER_FORECAST_FORECASTS_COUNTS_H
#define SLUICE_CONTROLLER_FORECAST_FORECASTS_COUNTS_H

#include <stdint.h>

struct forecasts_counts {
	uint64_t plays;	   /* plays that came to their end */
	int64_t cpu_us;	   /* processor time of asks that were answered */
	uint64_t failures; /* asks that were not answered */
	int64_t age_ms;	   /* of the answer that is told; -1: no answer is */
};

#endif
