/*
 * The quota of windows: a RunPolicy of a ClusterQueue may have a quota for the window that its
 * Calendar shows. That replaces the spec's. Of several policies the first by name counts that has
 * one for the row.
 */
#ifndef SLUICE_QUEUE_FEATURES_WINDOWS_WINDOW_QUOTA_H
#define SLUICE_QUEUE_FEATURES_WINDOWS_WINDOW_QUOTA_H

#include "queue/core/model/quota.h"
#include "sluice/policy.h"

struct clusterqueue;
struct runpolicy;

/* What the row's spec says, with a window's quota in its place (NULL: none). */
struct quota_limits window_quota_with(
	const struct quota_row *row, const struct window_quota_spec *x);
/* The window's quota that counts for this row now; NULL: its spec's does. */
const struct window_quota_spec *window_quota_now(
	const struct clusterqueue *cq, const struct quota_row *row);
/* Returns the quota of one policy that counts for this row while its Calendar shows that window
 * (NULL: none). */
const struct window_quota_spec *window_quota_in(
	const struct runpolicy *p, const char *window, const struct quota_row *row);

#endif
