/*
 * The squeeze: what the memory of a node asks for. Clamp, tell, end, in that order.
 *
 *     CALM     nothing
 *     HELD     from hold_percent in use on, or less than 300 MiB available: every lent pod stays at
 *              what it uses now, so that an ordinary one can take the rest. Until 5 percent below
 *     ENDING   from end_percent in use on, or less than 200 MiB available: the first lent pod in
 *              the order of the orders is ended, and the next after 500 ms if it is still so. Pods
 *              are held as well, unless hold_percent is 0
 *
 * "In use" is MemTotal - MemAvailable, the kernel's own estimate. Where that is absent there is no
 * level at all: what was held stays held, and nothing is ended. A pressure notice only hastens the
 * next look.
 *
 * Why before the kernel does it: the kernel kills by oom_score, and an ordinary Burstable pod that
 * uses much has a higher one than a lent pod that uses little.
 *
 * hold_percent 0: never held; end_percent 0: never ended. On a node with less than 1 GiB the 200
 * MiB are a fifth of it, and the 300 half as much again: so it is held first on small nodes, too.
 */
#ifndef SLUICE_NODE_SQUEEZE_H
#define SLUICE_NODE_SQUEEZE_H

#include <stdbool.h>
#include <stdint.h>

#include "node/orders.h"

enum { SQUEEZE_LOWER_PERCENT = 5, SQUEEZE_PAUSE_MS = 500, SQUEEZE_AVAILABLE_MIN = 200 << 20 };

enum squeeze_level { SQUEEZE_CALM, SQUEEZE_HELD, SQUEEZE_ENDING };

/* What is remembered between looks. Zero: calm. */
struct squeeze {
	enum squeeze_level level;
	bool has_ended;
	int64_t ended_ms; /* when a pod was last ended */
};

/* Looks, and returns the level. total and available: bytes of /proc/meminfo; -1: absent. */
enum squeeze_level squeeze_look(
	struct squeeze *s, const struct orders *o, int64_t total, int64_t available);

/* Whether a pod may be ended now: the level is ENDING and the last one is 500 ms ago. Then the
 * caller ends one and says so with squeeze_ended(). now_ms is of a clock that only goes on. */
bool squeeze_may_end(const struct squeeze *s, int64_t now_ms);
void squeeze_ended(struct squeeze *s, int64_t now_ms);

/* Whether memory is so near its first mark that a second is long. */
bool squeeze_is_near(
	const struct squeeze *s, const struct orders *o, int64_t total, int64_t available);

#endif
