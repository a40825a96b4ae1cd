/*
 * Suppression: how much cpu the lent pods of a node may have together, second by second.
 *
 *     free = capacity x percent / 100 - ordinary - max(system, reserved)
 *     may  = max(free, capacity x min_percent / 100, 50 milli a pod);
 *
 * ordinary is what kubepods used without the lent pods, system what the node used without
 * kubepods. Down at once, by the last sample. Up with patience: to the least of the last three
 * seconds, by rise_percent of capacity a second at most; and not in the first three seconds after a
 * start. A change of less than 1 % of capacity is none, but a fall below what was used.
 *
 * Source of the formula: Koordinator's cpusuppress, policy cfsQuota. Unlike there it bounds each lent
 * pod (share_out.h), not the tier above them: the tier is the kubelet's, which resets it.
 *
 * A sample with something missing is no sample: what was said last holds on. After more than three
 * seconds without one it has to wait for three seconds again before it rises.
 */
#ifndef SLUICE_NODE_SUPPRESS_H
#define SLUICE_NODE_SUPPRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "node/orders.h"

enum { SUPPRESS_REMEMBERS = 16, SUPPRESS_PATIENCE_MS = 3000, SUPPRESS_POD_LEAST_MILLI = 50 };

struct suppress_use { /* thousandths of a core, over the last tick; -1: missing */
	int64_t node, pods, lent;
	size_t npods; /* lent ones */
};

/* What is remembered between ticks. Zero: nothing, as at a start. */
struct suppress {
	struct {
		int64_t at_ms, free_milli;
	} recent[SUPPRESS_REMEMBERS]; /* of the last three seconds, each more than those before */
	size_t nrecent;
	int64_t began_ms, last_ms, may_milli;
	bool has_begun, has_said;
};

/* Begins with what lent pods may have together by the quotas that were found; -1: one has none. */
void suppress_begin(struct suppress *s, int64_t found_milli);

/* Takes a tick and returns what lent pods may have together, in thousandths of a core; -1: nothing
 * is divided, for the orders do not want it, or nothing is known yet. now_ms is of a clock that only
 * goes on. */
int64_t suppress_tick(
	struct suppress *s, const struct orders *o, const struct suppress_use *use, int64_t now_ms);

/* Whether cpu.idle is to be on. For CPU_IDLE_AUTO the kernel decides: from 5.15 to 6.5; later ones
 * need it not. */
bool suppress_wants_idle(enum cpu_idle idle, int kernel_major, int kernel_minor);

#endif
