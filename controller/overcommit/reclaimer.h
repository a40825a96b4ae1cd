/*
 * The reclaimer: takes back what was lent, the cheapest victims first.
 *
 * Each node with a new, fresh sample is looked at (overcommit/reclaim.h). The victims of all of
 * them are put into one order, and the Job of the first is told to make room; then the nodes that
 * have pods of it are looked at again, with those counted as gone, before the next is chosen. So a
 * Job that lies on two short nodes is stopped once and counts on both, and of two Jobs of which one
 * is enough only one goes.
 *
 * A Job is stopped (the gate does it, and it keeps its place in the order), or goes on with fewer
 * pods when all of its pods lie on nodes that are short: the Job controller chooses which of them
 * it deletes. Where evictions are no failures (podFailurePolicy) single pods are evicted instead.
 * An eviction that a PodDisruptionBudget refuses (429) is not asked for again for a minute, and the
 * node is looked at once more at the next tick: the next victim's turn. An Event on the pod says
 * why it went; of a Job that stops or shrinks the gate tells.
 *
 * A victim that was told counts as gone for two minutes (pods of a Job that goes on with fewer: for
 * one): what is there still then is a victim like any other.
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

/* True when the queue was told something: a pass is due. */
bool reclaimer_tick(struct reclaimer *r, int64_t now_ms);

/* How often which trigger came to which action: Jobs that were stopped or shrunk, pods that were
 * evicted. */
uint64_t reclaimer_count(const struct reclaimer *r, enum reclaim_trigger t, enum reclaim_action a);

#endif
