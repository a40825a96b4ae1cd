/*
 * Alternatives: what a Job that waits could ask for instead, as far as the queue knows of it.
 *
 * For people who ask what would make their Job start earlier. Nothing is judged here: a play
 * (forecast/play.h) finds out whether an alternative helps. All of it is told to anyone who may see
 * the Job: names of flavors of its ClusterQueue, of LocalQueues of its own namespace, and of
 * WorkloadPriorityClasses.
 */
#ifndef SLUICE_ALTERNATIVES_H
#define SLUICE_ALTERNATIVES_H

#include <stdbool.h>
#include <stddef.h>

#include "sluice/placement.h"

struct queue;
struct uid;

#define ALTERNATIVES_MAX 16 /* of each list */

struct alternative_flavor {
	const char *name;
	const struct node_group *nodes;
};

/* Texts and nodes are the queue's, until the next fact is told. */
struct alternatives {
	/* The flavors that have quota for what the Job asks for, in the order of its
	 * ClusterQueue. */
	struct alternative_flavor flavor[ALTERNATIVES_MAX];
	size_t nflavors;

	/* Other LocalQueues of its namespace whose Jobs may start: first those of other
	 * ClusterQueues, by name. */
	const char *localqueue[ALTERNATIVES_MAX];
	size_t nlocalqueues;

	/* WorkloadPriorityClasses with which the Job would count for more. NULL: there is none. */
	const char *next_class, *highest_class;		   /* two names, or highest_class is NULL */
	int32_t priority, next_priority, highest_priority; /* that count: now, and with these */
	bool capped; /* there are higher ones, but its ClusterQueue counts no more (maxPriority) */

	bool length_matters; /* its start may depend on how long it is expected to run */
};

/* Finds the alternatives of a Job. False: it is unknown, holds quota, or its LocalQueue has no
 * ClusterQueue. */
bool queue_alternatives(const struct queue *q, const struct uid *uid, struct alternatives *ret);

#endif
