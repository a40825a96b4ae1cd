/*
 * Taking back: which low-priority pods of a node have to go, so that ordinary ones have what is
 * theirs. (docs/idle.md)
 *
 * Triggers, looked at once for each new sample of the node:
 *
 *   ALLOCATABLE  pods ask for more than evict_..._allocatable percent of what may be lent now: down
 *                to their lower percent. Two samples in a row. Nothing lent at all: all.
 *   MEMORY       the node uses evict_memory percent of its memory: down to evict_memory_lower. One
 *                sample is enough: a pod that waits here is killed by the kernel.
 *   CPU          no more may be lent than evict_cpu_lower percent of what low-priority pods ask
 *                for, and they use evict_cpu_usage percent of what may be lent: until that is
 *                evict_cpu_upper percent of what they ask for. Two samples in a row.
 *
 * An agent's samples come each second, so two in a row are nothing: there ALLOCATABLE must hold for
 * ten seconds, and CPU for evict_cpu_window_s.
 *
 * MEMORY is looked at first, then ALLOCATABLE, then CPU. After something was taken back nothing is
 * for cool_down_s. A pod on its way out counts as gone. Nothing is ever taken back on data that is
 * not FRESH (window.h): a node that is degraded or disabled lends nothing more, but no pod is
 * stopped for that.
 *
 * The order of victims. What comes first, decides:
 *   - a pod whose Job goes on after a stop, before one whose Job would end as Complete by it;
 *   - the least koordinator.sh/eviction-priority, then the lowest spec.priority;
 *   - a borrower, before a Job within its own quota;
 *   - the pod that frees most of what is short: asked for, used, or used in proportion to what it
 *     asks for (without a sample it uses what it asks for);
 *   - the youngest; by name.
 * A pod that frees nothing of what is short is passed over. High-priority pods are never victims.
 */
#ifndef SLUICE_OVERCOMMIT_RECLAIM_H
#define SLUICE_OVERCOMMIT_RECLAIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "overcommit/load.h"
#include "overcommit/strategy.h"

enum reclaim_trigger { RECLAIM_NONE, RECLAIM_ALLOCATABLE, RECLAIM_MEMORY, RECLAIM_CPU };

const char *reclaim_trigger_name(enum reclaim_trigger t); /* "allocatable" ... */

struct reclaim_pod {	   /* low-priority, on the node */
	const char *name;  /* "namespace/name" */
	struct load asked; /* under any of the names */
	bool has_used;
	struct load used;
	int32_t eviction_priority, priority;
	bool borrows;
	bool ends_when_stopped; /* as queue_job_ends_when_stopped() */
	bool leaving;		/* deleted, or told to stop: counts as gone */
	bool movable;		/* ours to stop; else it counts, but is no victim */
	int64_t started_ms;
};

struct reclaim_node {
	struct load capacity, used; /* the newest sample */
	struct load lent;	    /* what may be lent now, whichever name */
	const struct reclaim_pod *pods;
	size_t npods;
	bool by_agent; /* the sample is an agent's */
};

/* Since when all samples of a node say that something is short. Zero: the last did not. */
struct reclaim_hold {
	uint8_t hits; /* 2: or more */
	int64_t since_ms, last_ms;
};

/* What is remembered of a node between samples. Zero: nothing. */
struct reclaim_memory {
	struct reclaim_hold allocatable, cpu;
	int64_t last_ms; /* when something was last taken back */
};

/* Chooses victims: called once for each new, fresh sample. Writes their indexes in their order, and
 * how many there are; together they free what is short. ret_victims has room for npods.
 * RECLAIM_NONE: no pod has to go, or none can. */
enum reclaim_trigger reclaim_look(struct reclaim_memory *m, const struct strategy *s,
	const struct reclaim_node *n, int64_t now_ms, size_t *ret_victims, size_t *ret_nvictims);

/* Compares two victims of a cluster in the order of victims. Where requests decide, cpu comes first
 * (reclaim_look() has memory first where that alone is short). */
int reclaim_compare(
	enum reclaim_trigger t, const struct reclaim_pod *a, const struct reclaim_pod *b);

#endif
