/* Lists of resources: finding, comparing, copying and merging. */
#ifndef SLUICE_QUEUE_JOB_RESOURCES_H
#define SLUICE_QUEUE_JOB_RESOURCES_H

#include "base/arena.h"
#include "sluice/job.h"

/* Returns the resource of that name; NULL: it is not listed. */
const struct resource *resources_find(const struct resource_list *l, const char *name);
/* Returns whether both have the same names with the same amounts, in whatever order. */
bool resource_list_same(const struct resource_list *a, const struct resource_list *b);
bool resource_all_same(const struct resource *a, size_t na, const struct resource *b, size_t nb);
/* Copies without the style in which amounts were written. */
struct resource_list resource_list_copy(struct arena *a, const struct resource_list *from);
const struct resource *resource_copies(struct arena *a, const struct resource *from, size_t n);
/* `first`, and what of `then` is not in `first`. Borrows the strings. */
struct resource_list resources_merge(
	struct arena *a, const struct resource_list *first, const struct resource_list *then);

#endif
