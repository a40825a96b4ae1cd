/*
 * What is told is only borrowed: deep copies of it, into an arena, and whether two are the same.
 *
 * specs_copy.c and specs_same.c make these functions of include/sluice/specs.def, four for each struct
 * that stands there. Here are those that somebody calls.
 *
 *   x_copy(a, from)           a copy of one; what it points to is the arena's
 *   x_copies(a, from, n)      a list of copies; NULL: n is 0
 *   x_same(a, b)              is each field the same?
 *   x_all_same(a, na, b, nb)  is each of two lists, in this order?
 *
 * A time zone is no part of that: it is NULL in a copy (zone_copy() makes another), and two specs with
 * different ones may be the same.
 */
#ifndef SLUICE_QUEUE_JOB_SPECS_H
#define SLUICE_QUEUE_JOB_SPECS_H

#include "base/arena.h"
#include "base/err.h"
#include "sluice/placement.h"
#include "sluice/policy.h"
#include "sluice/spec.h"

/* Checks each number and each duration against the bounds of its row. ERR_INVALID: "spec.leadTime
 * must be 0s to 744h"; at is what stands in front of the field ("spec."). */
#define BOUNDS(tag) int tag##_bounds(const struct tag *s, const char *at, struct err *e);

BOUNDS(advance_reservation_spec)
BOUNDS(clusterqueue_spec)
BOUNDS(preemption_spec)
BOUNDS(runpolicy_spec)

#undef BOUNDS

#define COPY(tag) struct tag tag##_copy(struct arena *a, const struct tag *from);
#define COPIES(tag)                                                                                \
	const struct tag *tag##_copies(struct arena *a, const struct tag *from, size_t n);
#define SAME(tag) bool tag##_same(const struct tag *a, const struct tag *b);
#define ALL_SAME(tag)                                                                              \
	bool tag##_all_same(const struct tag *a, size_t na, const struct tag *b, size_t nb);

COPIES(label)
COPIES(taint)
COPIES(toleration)
SAME(toleration)
COPY(selector_term)
SAME(selector_term)
COPIES(node_term)
COPY(placement)
SAME(placement)
COPY(pod_metadata)
SAME(pod_metadata)
COPY(template_metadata)
COPY(node_group)
SAME(node_group)

COPY(queue_config)
COPY(fungibility_spec)
COPY(preemption_spec)
COPY(localqueue_limits)
SAME(localqueue_limits)
COPY(provisioning_spec)
SAME(provisioning_spec)
COPY(made_nodes_spec)
COPIES(limit_range_item)
ALL_SAME(limit_range_item)
COPY(runtime_class_spec)

COPY(runpolicy_spec)
COPY(priceplan_spec)
COPY(budget_spec)
COPY(advance_reservation_spec)
ALL_SAME(advance_amount)

#undef COPY
#undef COPIES
#undef SAME
#undef ALL_SAME

#endif
