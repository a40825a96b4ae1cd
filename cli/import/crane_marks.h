/*
 * Marks: what the rules of Crane say of a NodeOvercommit when they are taken together.
 *
 *     rule                          its action throttles           its action evicts
 *     cpu_total_utilization, usage  cpuSuppressThresholdPercent    cpuEvictBEUsageThresholdPercent
 *     memory_total_utilization, ... -                              memoryEvictThresholdPercent
 *     ext_cpu_total_distribute      -                              cpuAllocatableEvictThresholdPercent
 *
 * Of several rules for the same mark the lowest value counts. A rule of strategy Preview acts on
 * nothing: where no other rule throttles (evicts), suppress (reclaim) becomes false.
 */
#ifndef SLUICE_CLI_IMPORT_CRANE_MARKS_H
#define SLUICE_CLI_IMPORT_CRANE_MARKS_H

#include "cli/import/crane.h"
#include "cli/import/item.h"

enum crane_mark {
	MARK_SUPPRESS,
	MARK_SUPPRESS_LEAST,
	MARK_EVICT_CPU,
	MARK_EVICT_CPU_WINDOW,
	MARK_EVICT_MEMORY,
	MARK_EVICT_ALLOCATABLE,
	MARK_COOL_DOWN,
	CRANE_MARKS,
};

struct crane_marks {
	int64_t value[CRANE_MARKS];	  /* -1: not said */
	bool throttles, evicts;		  /* some rule does */
	bool would_throttle, would_evict; /* some previewed rule would */
};

/* A rule of a NodeQOS, and where it stands. */
struct crane_rule {
	const cJSON *rule;
	struct import_item *item; /* which gets the notes */
	const char *where;
	size_t index;
	struct load least, most; /* capacity of the nodes that are selected; 0: no node is known */
};

void crane_marks_begin(struct crane_marks *m);
/* Takes a rule. action: NULL: there is none of that name. Rules that act come before previewed
 * ones. */
void crane_marks_take(
	struct crane_marks *m, const struct crane_rule *r, const struct crane_action *action);
bool crane_rule_is_preview(const cJSON *rule);
/* Adds the fields to the spec of a NodeOvercommit. */
void crane_marks_put(const struct crane_marks *m, cJSON *spec);

#endif
