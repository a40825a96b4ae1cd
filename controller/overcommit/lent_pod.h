/*
 * A lent pod as the order in which pods give way sees it (overcommit/reclaim.h): what the inventory
 * knows of it, and the queue of its Job.
 */
#ifndef SLUICE_CONTROLLER_OVERCOMMIT_LENT_POD_H
#define SLUICE_CONTROLLER_OVERCOMMIT_LENT_POD_H

#include <stdbool.h>
#include <stdint.h>

#include "controller/overcommit/inventory.h"
#include "overcommit/reclaim.h"
#include "sluice/queue.h"

/* How long a pod that was told to go counts as gone. */
enum { LENT_POD_LEAVING_MS = 120000 };

/* Whether its Job holds quota, so that we may stop it. A pod may name any uid as its owner's: the Job
 * is of the pod's namespace. */
bool lent_pod_is_ours(const struct queue *q, const struct inventory_pod *p);

/* Whether it is deleted, or its Job was told to stop. p asks for lent resources. */
bool lent_pod_is_leaving(const struct inventory_pod *p, int64_t now_ms);

/* Gives the pod's row; also of a low pod that asks for nothing lent. Its name is borrowed. */
struct reclaim_pod lent_pod_row(const struct queue *q, const struct inventory_node *n,
	const struct inventory_pod *p, int64_t now_ms);

/* The lent pods of a node together, as its agent sees them. */
struct lent_sum {
	size_t pods, held, over; /* held: may have less cpu than they ask for */
	struct load asked, used; /* used: by those of which that is known */
};
struct lent_sum lent_sum_of(const struct inventory_node *n);

#endif
