#include "controller/answers/histogram.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/must.h"

void histogram_init(struct histogram *h, const double *bounds, size_t nbounds)
{
	must(nbounds <= HISTOGRAM_BOUNDS_MAX);
	*h = (struct histogram){.bounds = bounds, .nbounds = nbounds};
}

void histogram_add(struct histogram *h, double value)
{
	size_t i = 0;
	while (i < h->nbounds && value > h->bounds[i])
		i++;
	h->count[i]++;
	h->sum += value;
}

uint64_t histogram_total(const struct histogram *h)
{
	uint64_t total = 0;
	for (size_t i = 0; i <= h->nbounds; i++)
		total += h->count[i];
	return total;
}

void histogram_render(const struct histogram *h, enum metric m, const char *value, struct buf *out)
{
	uint64_t below = 0;
	char text[32];
	for (size_t i = 0; i < h->nbounds; i++) {
		below += h->count[i];
		double bound = h->bounds[i];
		/* 5 is written 5.0, the canonical form, so that no two scrapers see two series. */
		bool whole = bound == (double)(int64_t)bound;
		snprintf(text, sizeof(text), "%.9g%s", bound, whole ? ".0" : "");
		metrics_put_part(out, m, "_bucket", value, text);
		buf_printf(out, "%" PRIu64 "\n", below);
	}
	uint64_t total = histogram_total(h);
	metrics_put_part(out, m, "_bucket", value, "+Inf");
	buf_printf(out, "%" PRIu64 "\n", total);
	metrics_put_part(out, m, "_sum", value, NULL);
	buf_printf(out, "%.9g\n", h->sum);
	metrics_put_part(out, m, "_count", value, NULL);
	buf_printf(out, "%" PRIu64 "\n", total);
}
