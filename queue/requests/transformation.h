/*
 * Transformations: a request counts as other resources (Kueue's KEP-2937), say one GPU slice as 5
 * credits and 10 GiB of GPU memory.
 *
 * Outputs are summed apart from requests: outputs may be negative and cancel each other, but a
 * negative sum counts as zero and takes nothing off a request. Sums are exact; only the last step
 * rounds, up. Amounts saturate at INT64_MAX.
 */
#ifndef SLUICE_QUEUE_REQUESTS_TRANSFORMATION_H
#define SLUICE_QUEUE_REQUESTS_TRANSFORMATION_H

#include "base/arena.h"
#include "sluice/spec.h"

/* Of several for one input the first counts. `requested` is what factors are read from: all that
 * the pod requests, also what is excluded from `requests`. The result is sorted by name, without
 * zeroes. */
struct resource_list transformations_apply(struct arena *a, const struct transformation_spec *t,
	size_t n, const struct resource_list *requests, const struct resource_list *requested);

/* Returns one of those that apply whose factor is not requested: what the pod counts for is not
 * known then. NULL: none. */
const struct transformation_spec *transformations_lack(const struct transformation_spec *t,
	size_t n, const struct resource_list *requests, const struct resource_list *requested);

#endif
