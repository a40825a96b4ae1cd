/*
 * Whose record of outcomes (outcome_record.h) is to be written: workloads of which what the Job says may
 * not be what is known. Namespaces take turns, so that one with 10,000 followers keeps no other waiting.
 */
#ifndef SLUICE_QUEUE_RULES_DEPENDENCIES_UNRECORDED_H
#define SLUICE_QUEUE_RULES_DEPENDENCIES_UNRECORDED_H

#include "base/list.h"
#include "base/map.h"

struct dependency_wait;
struct queue;
struct job;

struct unrecorded {
	struct link lines; /* of namespaces: the one whose turn it is first */
	struct map by_ns;
};

void unrecorded_init(struct unrecorded *all);
void unrecorded_done(struct unrecorded *all); /* no Job is left */

/* It may be another record by now. */
void unrecorded_mark(struct queue *q, struct dependency_wait *x);
/* What the Job says on itself. */
void unrecorded_see(struct queue *q, struct dependency_wait *x, const struct job *j);

#endif
