/* Why a Job waits: those that it waits for (sluice.dev/after). */
#ifndef SLUICE_QUEUE_FEATURES_DEPENDENCIES_EXPLAIN_DEPENDENCIES_H
#define SLUICE_QUEUE_FEATURES_DEPENDENCIES_EXPLAIN_DEPENDENCIES_H

#include "queue/features/dependencies/dependency_wait.h"
#include "queue/core/model/feature.h"

/* WAIT_DEPENDENCY, WAIT_DEPENDENCY_NEVER, or WAIT_NOT. explain() says into a->text why w waits, of
 * which a has the rest. */
enum wait_reason explain_dependencies(
	struct question *a, void (*explain)(struct question *a, const struct workload *w));

/* "waits for afterok:prep, which can never be met: prep failed (BackoffLimitExceeded: ...); ...". */
void explain_failed_dependency(const struct dependency_wait *x, struct text *t);

/* The earliest moment at which all that it waits for can have ended, by expected durations; now_ms
 * at least. */
int64_t explain_chain_ms(const struct queue *q, const struct workload *w, int64_t now_ms);

#endif
