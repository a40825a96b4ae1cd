/*
 * Displacements: which Job was displaced for which, since quota last came free otherwise
 * (cohort_tree.news). One book for each Cohort tree.
 *
 * With fair sharing A may displace B, B displace C and C displace A for ever, with no work done:
 * priorities, reclaim and shares of different resources can form a circle. So a Job never displaces
 * one of another ClusterQueue through which it was displaced itself: that for which it was stopped,
 * that for which this one was stopped, and so on. In its own ClusterQueue priority and age form no
 * circle. What is forbidden closes circles and nothing else, so every chain ends.
 *
 * The book is bounded. When it is full a Job that was displaced asks no other ClusterQueue.
 */
#ifndef SLUICE_QUEUE_MODEL_DISPLACEMENTS_H
#define SLUICE_QUEUE_MODEL_DISPLACEMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/uid.h"

#define DISPLACEMENTS_KEPT 128

struct displacement {
	struct uid by, victim;
};

struct displacements {
	uint32_t news; /* the cohort_tree.news of all of them */
	bool full;     /* some were not entered */
	size_t n;
	struct displacement *all; /* NULL: there never was one */
};

void displacements_done(struct displacements *d);

void displacements_enter(
	struct displacements *d, uint32_t news, const struct uid *by, const struct uid *victim);

/* Writes the Jobs through which this one was displaced, none twice. False: not all are known. */
bool displacements_through(const struct displacements *d, uint32_t news, const struct uid *victim,
	struct uid ret[DISPLACEMENTS_KEPT], size_t *ret_n);

#endif
