/*
 * Jobs of a trace that were submitted after another had ended (fields 17 and 18 of the Standard
 * Workload Format: preceding job, think time). In the simulation such a Job is submitted when that
 * one has ended and the think time has passed, if that is later than its own submit time: a user
 * who waits for a result goes on later when the result comes later.
 *
 * A Job that never ran, that is not in the trace, or that does not come before it in the order of
 * submission is no condition. So there are no circles.
 */
#ifndef SLUICE_CLI_SIMULATE_THINK_H
#define SLUICE_CLI_SIMULATE_THINK_H

#include "cli/simulate/world.h"

struct think {
	const struct world *w;
	/* By Job of the trace: the first that waits for it, and the next that waits for the same;
	 * SIZE_MAX: none. NULL when no Job of the trace has a preceding one. */
	size_t *first, *next;
};

void think_init(struct think *t, const struct world *w);
void think_done(struct think *t);

/* The moment at which a Job that could be submitted at now_ms is: now_ms, when nothing is to be
 * waited for. NEVER_MS: the preceding one has not ended. Then think_next() names it once. */
int64_t think_submit_ms(struct think *t, size_t sim_job, int64_t now_ms);
/* A Job that waits for this one, which has just ended; SIZE_MAX: none any more. *ret_ms: when its
 * think time is over. */
size_t think_next(struct think *t, size_t sim_job, int64_t now_ms, int64_t *ret_ms);

#endif
