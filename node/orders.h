/*
 * Orders: what the controller wants of a node, and all that the agent knows of its pods.
 *
 * They name the lent pods of one node (pods that ask for kubernetes.io/batch-cpu and the like, or for
 * gocran.io/cpu) in the order in which they give way: the agent never decides who goes first. An
 * order says what a pod asks for, never what it is: no name, no spec, no image.
 *
 * Always true of orders that were read (wire.h):
 *   - no uid stands twice, no number is below 0, and there are no more than the bounds below;
 *   - memory percents rise: hold below end, both of 100;
 *   - containers of a pod are only named where it has several. A pod without them is limited as a
 *     whole.
 *
 * A pod that the orders do not name is not touched: no limit, no clamp, no end. Orders with lends
 * false name none, and take back what was done for earlier ones.
 */
#ifndef SLUICE_NODE_ORDERS_H
#define SLUICE_NODE_ORDERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/uid.h"
#include "overcommit/cpu_idle.h"
#include "overcommit/load.h"

enum {
	ORDERS_PODS_MAX = 1024,	      /* more than any kubelet runs */
	ORDERS_CONTAINERS_MAX = 64,   /* of a pod, sidecars included */
	ORDERS_CONTAINERS_ALL = 256,  /* of all pods of a node; an agent has open files of each */
	ORDERS_BYTES_MAX = 512 << 10, /* as JSON */
	CONTAINER_ID_SIZE = 65,	      /* 64 hex digits and the NUL */
};

/* What a pod, or a container of it, asks for under the lent names: thousandths of a core, bytes.
 * 0: it asks for none of it, and that resource is not limited. */
struct ordered_container {
	char id[CONTAINER_ID_SIZE];
	struct load asked;
};

struct ordered_pod {
	struct uid uid;
	struct load asked; /* the most that it may need at once, as the scheduler counts */
	bool stays;	   /* of no queued Job: limited and held as any other, and never ended */
	const struct ordered_container *containers;
	size_t ncontainers;
};

struct orders {
	int64_t generation;   /* differs whenever anything else does; never 0 */
	bool lends;	      /* false: this node lends nothing */
	bool limits;	      /* what pods ask for is written into their cgroups (limits.h) */
	bool suppress;	      /* cpu is divided among them (suppress.h) */
	struct load capacity; /* of the node */
	struct load reserved; /* by the node's annotation; 0: none */
	int64_t suppress_percent, suppress_min_percent, suppress_rise_percent; /* of capacity */
	enum cpu_idle idle;
	int64_t hold_percent, end_percent; /* of memory in use (squeeze.h); 0: never */
	const struct ordered_pod *pods;	   /* in the order in which they give way */
	size_t npods;
};

/* Frees orders that were read or copied: one block. NULL is fine. */
void orders_free(struct orders *o);

/* Finds a pod. NULL: the orders do not name it. */
const struct ordered_pod *orders_find(const struct orders *o, const struct uid *uid);

#endif
