/*
 * Lent pods that an agent ended, because the memory of their node ran out (node/squeeze.h).
 *
 * Such a pod fails with exit code 137, which would count against its Job's backoffLimit. An agent
 * tells of it before it does it. So the condition DisruptionTarget goes onto the pod's status: a
 * podFailurePolicy that ignores it holds then. And the pod's Job is stopped as the reclaimer stops
 * one, to start again elsewhere, unless evictions are no failures of it: then it only loses this
 * pod. A Job without such a policy may lose an attempt all the same.
 *
 * An agent is believed of lent pods on its own node, once for each deed, and of each pod once in two
 * minutes (LENT_POD_LEAVING_MS).
 */
#ifndef SLUICE_CONTROLLER_OVERCOMMIT_ENDED_PODS_H
#define SLUICE_CONTROLLER_OVERCOMMIT_ENDED_PODS_H

#include <stdbool.h>
#include <stdint.h>

#include "controller/common/log.h"
#include "controller/gate/gate.h"
#include "controller/kube/client.h"
#include "controller/overcommit/inventory.h"
#include "controller/write/events.h"
#include "sluice/queue.h"

struct ended_pods;

enum { ENDED_PODS_UNDER_WAY = 64 }; /* conditions that are written at a time; more are left out */

struct ended_pods_options {
	struct kube_client *client;
	struct inventory *inventory;
	struct queue *queue;
	struct gate *gate;     /* NULL: no Job ignores disruptions */
	struct events *events; /* NULL: no Events */
	struct log *log;
};

struct ended_pods *ended_pods_new(const struct ended_pods_options *o);
void ended_pods_free(struct ended_pods *e); /* cancels what is under way */

/* Takes the deeds of a sample. True: the queue was told something, and a pass is due. */
bool ended_pods_take(
	struct ended_pods *e, struct inventory_node *n, const struct sample *s, int64_t now_ms);

#endif
