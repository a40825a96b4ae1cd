/*
 * Quantiles: by when a Job starts, of the starts that several plays of one queue gave it.
 *
 * p10, p50 and p90 are the times by which it starts with a probability of 10, 50 and 90 %. With n
 * plays the k-th start in order stands for k / (n + 1), since the truth is as likely to fall into
 * each of the n + 1 gaps; between two, the time is taken in proportion. A play in which the Job does
 * not start counts as later than all times. So a Job that starts in half of the plays may have a p10
 * and no p90.
 */
#ifndef SLUICE_FORECAST_QUANTILES_H
#define SLUICE_FORECAST_QUANTILES_H

#include <stddef.h>
#include <stdint.h>

#define QUANTILES_DRAWS_MAX 256

struct quantiles {
	int64_t p10_ms, p50_ms, p90_ms; /* PLAY_NEVER (play.h): too few plays start the Job */
	size_t started;			/* plays in which the Job starts */
};

/* Returns the quantiles of 1 to QUANTILES_DRAWS_MAX starts, and sorts these. */
struct quantiles quantiles_of(int64_t *start_ms, size_t n);

#endif
