/*
 * The guard of memory: holds lent pods where they are when the node runs short, and ends them one by
 * one when that is not enough. node/squeeze.h says when.
 *
 * A pod is ended only after the controller was told, which is not waited for; only if the newest
 * orders name it and let it; and at most one in 500 ms, and none while processes of the one before
 * are left, for three seconds at most.
 */
#ifndef SLUICE_AGENT_MEMORY_GUARD_H
#define SLUICE_AGENT_MEMORY_GUARD_H

#include "agent/usage.h"
#include "node/squeeze.h"

/* Zero: calm. */
struct memory_guard {
	struct squeeze squeeze;
	struct uid doomed; /* the pod that is to be ended, or was ended last */
	int64_t doom_ms;   /* when; 0: none is */
};

/* Looks at the memory of the node and holds pods, or lets them go: what they are to say, for
 * lent_pod_settle(). True: a pod is to be ended in 20 ms, and the controller is to be told first. */
bool memory_guard_look(struct memory_guard *g, struct lent_pods *pods,
	const struct node_reading *node, int64_t now_ms);
/* Holds a pod that came since the last look, if pods are held. */
void memory_guard_take_in(
	const struct memory_guard *g, const struct lent_pods *pods, struct lent_pod *p);
/* Ends the pod that is to be ended by now, if the newest orders still let it be. */
void memory_guard_end(struct memory_guard *g, struct lent_pods *pods, int64_t now_ms);

#endif
