/*
 * RunPolicies: the specs in force, which queues they bind, and which Calendar they go by.
 *
 * Which queues a policy binds is looked up when it, or a queue, comes or goes: names and globs.
 */
#ifndef SLUICE_QUEUE_RUNPOLICY_H
#define SLUICE_QUEUE_RUNPOLICY_H

#include "queue/arena.h"
#include "queue/timetable.h"
#include "sluice/queue.h"

struct runpolicy {
	char *name;
	struct tree_node by_name;
	struct runpolicy_spec spec; /* in force; its strings are in memory; spec.name NULL: none */
	struct arena memory;
	char *invalid;
	struct timetable *timetable;
	struct link of_timetable;
	size_t queues, localqueues; /* bound now */
	uint64_t stopped_total;
	bool had_exempt_selector;
};

struct runpolicies {
	struct tree all; /* by name */
};

/* Whether a glob (* and ?) or a name takes this name. */
bool runpolicy_glob(const char *glob, const char *name);

/* Queues came, went, or policies did: who is bound by what is looked up anew, and what differs now
 * is touched. */
void regimes_form(struct queue *q);
/* A Calendar turned: the regimes of those bound by it are computed anew, quota sets applied, runs
 * suspected. */
void regimes_turn(struct queue *q, struct timetable *t);

#endif
