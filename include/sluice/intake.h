/*
 * The intake of a Job with known places of its pods: queue_intake() for a caller that asked for
 * them.
 */
#ifndef SLUICE_INTAKE_H
#define SLUICE_INTAKE_H

#include "sluice/queue.h"

/* Finds what queue_intake() does, with the flavors of the nodes on which the Job's pods are.
 * `node`: their names, one for each pod; none: as queue_intake(). False, too, while there are too
 * many pods, which the Job controller will mend. */
bool queue_intake_on(struct queue *q, const struct uid *uid, int32_t pods, const char *const *node,
	size_t nnodes, int64_t now_ms, struct intake *ret);

#endif
