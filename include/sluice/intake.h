/*
 * The intake of a Job of which it is known where its pods are: queue_intake() for those who have asked.
 */
#ifndef SLUICE_INTAKE_H
#define SLUICE_INTAKE_H

#include "sluice/queue.h"

/* queue_intake(), with the flavors of the nodes on which its pods are. `node`: their names, one
 * each pod; of no pod: as queue_intake(). While they are too many, which the Job controller will
 * mend, it is not taken. */
bool queue_intake_on(struct queue *q, const struct uid *uid, int32_t pods, const char *const *node,
	size_t nnodes, int64_t now_ms, struct intake *ret);

#endif
