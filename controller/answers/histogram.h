/*
 * A histogram with fixed bounds, as OpenMetrics wants it.
 */
#ifndef SLUICE_CONTROLLER_ANSWERS_HISTOGRAM_H
#define SLUICE_CONTROLLER_ANSWERS_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "controller/write/metrics_put.h"

enum { HISTOGRAM_BOUNDS_MAX = 24 };

struct histogram {
	const double *bounds; /* growing; static memory */
	size_t nbounds;
	/* Not cumulative; the last one is beyond all bounds. */
	uint64_t count[HISTOGRAM_BOUNDS_MAX + 1];
	double sum;
};

void histogram_init(struct histogram *h, const double *bounds, size_t nbounds);
void histogram_add(struct histogram *h, double value);
uint64_t histogram_total(const struct histogram *h);

/* Appends the samples NAME_bucket{le=...}, NAME_sum and NAME_count of the metric. Value is of its
 * label; NULL where it has none. */
void histogram_render(const struct histogram *h, enum metric m, const char *value, struct buf *out);

#endif
