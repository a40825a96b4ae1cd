/*
 * The reclaimer: takes back what was lent, the cheapest victims first.
 *
 * Each node with a new, fresh sample is looked at (overcommit/reclaim.h). All their victims are put
 * into one order, and the Job of the first is told to make room. Then the nodes that have pods of
 * it are looked at again, with those counted as gone, before the next is chosen. So a Job that lies
 * on two short nodes is stopped once and counts on both, and of two Jobs only one goes if that is
 * enough.
 *
 * A Job is stopped (the gate does it, and the Job keeps its place in the order). If all of its pods
 * lie on nodes that are short, it may go on with fewer: the Job controller chooses which pods it
 * deletes. Where evictions are no failures (podFailurePolicy) single pods are evicted instead. If a
 * PodDisruptionBudget refuses an eviction (429), that is not asked for again for a minute, and the
 * next tick looks at the node once more: the next victim's turn. An Event on the pod says why it
 * went; the gate tells of a Job that stops or shrinks.
 *
 * A victim that was told counts as gone for two minutes (pods of a Job that goes on with fewer: for
 * one). If it is still there then, it is a victim like any other.
 */
#ifndef SLUICE_CONTROLLER_OVERCOMMIT_RECLAIMER_H
#define SLUICE_CONTROLLER_OVERCOMMIT_RECLAIMER_H

#include <stdbool.h>
#include <stdint.h>

#include "controller/gate/gate.h"
#include "controller/write/events.h"
#include "controller/kube/client.h"
#include "controller/common/log.h"
#include "controller/overcommit/inventory.h"
#include "sluice/queue.h"

struct reclaimer;

enum reclaim_action { RECLAIM_STOP, RECLAIM_SHRINK, RECLAIM_EVICT, RECLAIM_ACTIONS };

const char *reclaim_action_name(enum reclaim_action a); /* "stop" ... */

struct reclaimer_options {
	struct kube_client *client;
	struct inventory *inventory;
	struct queue *queue;
	struct gate *gate;     /* NULL: no pod may be evicted */
	struct events *events; /* NULL: no Events */
	struct log *log;
};

struct reclaimer *reclaimer_new(const struct reclaimer_options *o);
void reclaimer_free(struct reclaimer *r); /* cancels what is under way */

/* Does a round; true when the queue was told something: a pass is due. */
bool reclaimer_tick(struct reclaimer *r, int64_t now_ms);

/* Counts how often a trigger led to an action: Jobs that were stopped or shrunk, pods that were
 * evicted. */
uint64_t reclaimer_count(const struct reclaimer *r, enum reclaim_trigger t, enum reclaim_action a);

#endif
