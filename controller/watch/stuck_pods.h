/*
 * Follows Pending pods, and the Events about refused pods, for the gate's troubles
 * (gate/trouble.h): for as long as the gate wants them and a minute longer.
 *
 * Pods of started Jobs alone: their label sluice.dev/cluster-queue-name is asked for, and
 * status.phase=Pending. Events: FailedCreate of Jobs. While all runs have the pods they need
 * neither is followed, so what the API server has to say does not grow with what runs.
 *
 * Pods that a kubelet rejected (gate/rejection.h) are followed all the time while this controller
 * leads: a Job may have failed a second after its pod. They are told from other Failed pods by
 * their lack of an address, so there is nothing to hear where none is rejected.
 *
 * Nothing hangs on it. When it may not look (an older ClusterRole) that is in the log, and Jobs run
 * as they did.
 */
#ifndef SLUICE_CONTROLLER_WATCH_STUCK_PODS_H
#define SLUICE_CONTROLLER_WATCH_STUCK_PODS_H

#include <stdint.h>

#include "controller/gate/gate.h"
#include "controller/kube/client.h"
#include "controller/common/log.h"

struct stuck_pods;

struct stuck_pods_options {
	struct kube_client *client;
	struct gate *gate;
	struct log *log;
	uint64_t seed;
};

struct stuck_pods *stuck_pods_new(const struct stuck_pods_options *o);
void stuck_pods_free(struct stuck_pods *l); /* before the client */

/* About once a second; tick_ms is the gate's. */
void stuck_pods_tick(struct stuck_pods *l, int64_t tick_ms);

#endif
