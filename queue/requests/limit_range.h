/*
 * LimitRanges: defaults of a namespace's pods, and bounds of their requests.
 *
 * Several in one namespace are combined as in Kueue: the lowest max, the highest min, the first
 * default. The first is by name, so that the order of arrival does not matter. They are combined
 * when one changes, not for each Job.
 */
#ifndef SLUICE_QUEUE_REQUESTS_LIMIT_RANGE_H
#define SLUICE_QUEUE_REQUESTS_LIMIT_RANGE_H

#include "base/map.h"
#include "base/arena.h"
#include "sluice/spec.h"

struct bound {
	const char *resource;
	int64_t amount;
	const char *range; /* the LimitRange that it is from */
};

struct bounds {
	const struct bound *item;
	size_t count;
};

/* For containers, or for pods. Lists may be empty. */
struct limits {
	struct resource_list defaults, default_requests;
	struct bounds min, max;
};

/* The limits of a namespace that has a LimitRange at least. */
struct namespace_limits {
	char *ns;
	struct limit_range **range; /* by name */
	size_t nranges;
	struct limits container, pod;
	struct arena memory; /* of the sums' arrays; their strings belong to the ranges */
};

struct limit_ranges {
	struct map namespaces;
};

void limit_ranges_init(struct limit_ranges *all);
void limit_ranges_done(struct limit_ranges *all);

/* False: nothing is different now. */
bool limit_range_set(struct limit_ranges *all, const struct limit_range_spec *s);
bool limit_range_unset(struct limit_ranges *all, const char *ns, const char *name);

/* NULL when the namespace has none. */
const struct namespace_limits *limit_ranges_of(const struct limit_ranges *all, const char *ns);

/* The LimitRange from which pods, or else containers, get their default limit of a resource. There
 * is one. */
const char *limit_range_with_default(
	const struct namespace_limits *n, bool of_pod, const char *resource);

#endif
