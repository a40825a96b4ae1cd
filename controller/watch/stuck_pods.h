/*
 * Follows Pending pods, and the Events about refused pods, for the gate's troubles
 * (gate/trouble.h): for as long as the gate wants them and a minute longer.
 *
 * Pods of started Jobs alone are asked for, by their label sluice.dev/cluster-queue-name and
 * status.phase=Pending; and Events FailedCreate of Jobs. While all runs have the pods they need
 * neither is followed, so the API server does not tell more as more runs.
 *
 * Pods that a kubelet rejected (gate/rejection.h) are followed all the time while this controller
 * leads: a Job may have failed a second after its pod. They are told from other Failed pods by
 * their lack of an address, so nothing is heard where none is rejected.
 *
 * Nothing hangs on it. If it may not look (an older ClusterRole), the log says so, and Jobs run all
 * the same.
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

/* Opens and closes the watches, about once a second; tick_ms is the gate's. */
void stuck_pods_tick(struct stuck_pods *l, int64_t tick_ms);

#endif
