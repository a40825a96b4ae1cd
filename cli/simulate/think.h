/*
 * Jobs of a trace that were submitted after another had ended (fields 17 and 18 of the Standard
 * Workload Format: preceding job, think time). In the simulation such a Job is submitted when the
 * other has ended and the think time has passed, but not before its own submit time. So a user who
 * gets a result later goes on later.
 *
 * A preceding Job does not count if it never ran, is not in the trace, or does not come before in
 * the order of submission. So there are no circles.
 */
#ifndef SLUICE_CLI_SIMULATE_THINK_H
#define SLUICE_CLI_SIMULATE_THINK_H

#include "cli/simulate/world.h"

struct think {
	const struct world *w;
	/* For each Job of the trace: the first that waits for it, and the next that waits for the
	 * same one; SIZE_MAX: none. NULL when no Job of the trace has a preceding one. */
	size_t *first, *next;
};

void think_init(struct think *t, const struct world *w);
void think_done(struct think *t);

/* Returns when a Job that could be submitted at now_ms is submitted: now_ms, when there is nothing
 * to wait for. NEVER_MS: the preceding Job has not ended; think_next() names this one then,
 * once. */
int64_t think_submit_ms(struct think *t, size_t sim_job, int64_t now_ms);
/* Returns a Job that waits for this one, which has just ended; SIZE_MAX: no more. *ret_ms: when its
 * think time is over. */
size_t think_next(struct think *t, size_t sim_job, int64_t now_ms, int64_t *ret_ms);

#endif
