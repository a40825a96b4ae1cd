/*
 * A namespace's own queues: the ClusterQueues of which an answer about one namespace tells, as sums.
 *
 * They are those that its LocalQueues lead to. Whoever may write LocalQueues can name any
 * ClusterQueue in one. So a ClusterQueue is told of only if its namespaceSelector lets the namespace
 * in, or if Jobs of that LocalQueue hold quota in it.
 */
#ifndef SLUICE_CONTROLLER_ANSWERS_OWN_QUEUES_H
#define SLUICE_CONTROLLER_ANSWERS_OWN_QUEUES_H

#include <stdbool.h>
#include <stddef.h>

#include "sluice/queue.h"

/* Names by strcmp(), each once. They live until the next fact is told to the queue. */
struct own_queues {
	const char **name;
	size_t n;
};

/* Returns whether the ClusterQueue of that LocalQueue is told of to the LocalQueue's namespace. */
bool own_queues_tell(const struct localqueue_view *v);

/* Finds the own queues of a namespace. The caller calls own_queues_done(). */
struct own_queues own_queues_of(const struct queue *q, const char *ns);
void own_queues_done(struct own_queues *o);

#endif
