/*
 * Tells the queue of bound pods: those that have a node and have not ended.
 *
 * They are followed only while the queue wants them (queue_wants_pods(): clusterFit Now, affinity
 * ...): there may be 150,000, and most clusters are judged without. The watch of pods is shared
 * with the overcommit controller. 32 bytes and a slot of a map are kept of each pod, to see what a
 * new list does not have any more.
 *
 * A pod that cannot be understood stays as it was known, and the log says so. If it was never
 * known, it counts as absent: its place on the node counts as free, which the scheduler will see.
 */
#ifndef SLUICE_CONTROLLER_WATCH_BOUND_PODS_H
#define SLUICE_CONTROLLER_WATCH_BOUND_PODS_H

#include <stdbool.h>

#include "controller/kube/shared_watch.h"
#include "controller/common/log.h"
#include "sluice/queue.h"

struct bound_pods;

struct bound_pods_options {
	struct kube_shared_watch *pods; /* bound, and not ended */
	struct queue *queue;
	struct log *log;
	void (*changed)(void *ctx); /* the queue was told something: a pass is due */
	/* Tells what the watch says when it fails, for the log. */
	void (*trouble)(const char *sentence, void *ctx);
	/* Tells of a pod that cannot be read, or not understood: to be counted and logged. */
	void (*unreadable)(const char *ns, const char *name, const char *why, void *ctx);
	void (*listed)(void *ctx);
	void *ctx;
};

struct bound_pods *bound_pods_new(const struct bound_pods_options *o);
void bound_pods_free(struct bound_pods *l);

/* Tells that pods may not be read: the queue goes without, until they can be listed after all. */
void bound_pods_deny(struct bound_pods *l);

/* Follows pods when they are wanted, and stops when they are not. Not from a callback. */
void bound_pods_tick(struct bound_pods *l);

bool bound_pods_wanted(const struct bound_pods *l);
bool bound_pods_listed(const struct bound_pods *l); /* the queue knows all of them */

#endif
