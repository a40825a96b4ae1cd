#include "controller/answers/histogram.h"

#include <inttypes.h>
#include <stdbool.h>

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

void histogram_render(const struct histogram *h, const char *name, struct buf *out)
{
	uint64_t below = 0;
	for (size_t i = 0; i < h->nbounds; i++) {
		below += h->count[i];
		double bound = h->bounds[i];
		/* 5 is written 5.0, the canonical form, so that no two scrapers see two series. */
		bool whole = bound == (double)(int64_t)bound;
		buf_printf(out, "%s_bucket{le=\"%.9g%s\"} %" PRIu64 "\n", name, bound,
			whole ? ".0" : "", below);
	}
	uint64_t total = histogram_total(h);
	buf_printf(out, "%s_bucket{le=\"+Inf\"} %" PRIu64 "\n", name, total);
	buf_printf(out, "%s_sum %.9g\n%s_count %" PRIu64 "\n", name, h->sum, name, total);
}
