/* Lists of resources: finding, comparing, copying and merging. */
#ifndef SLUICE_QUEUE_JOB_RESOURCES_H
#define SLUICE_QUEUE_JOB_RESOURCES_H

#include "base/arena.h"
#include "sluice/job.h"

/* NULL when it is not listed. */
const struct resource *resources_find(const struct resource_list *l, const char *name);
/* The same names with the same amounts, in whatever order. */
bool resources_same(const struct resource_list *a, const struct resource_list *b);
struct resource_list resources_copy(struct arena *a, const struct resource_list *from);
/* `first`, and what of `then` is not in `first`. Borrows the strings. */
struct resource_list resources_merge(
	struct arena *a, const struct resource_list *first, const struct resource_list *then);

#endif
