/*
 * The informer: follows all that Sluice reads from the API server and turns it into facts for the
 * queue (what admins describe) and the gate (Jobs).
 *
 * Callbacks only record facts and say changed(); nothing is decided here. What a new list does not
 * have any more is dropped. An object that cannot be decoded, or that the queue refuses, is shown
 * at the object itself (queue_reject_*, its last valid spec stays in force) and in the log.
 *
 * Jobs are listed after
 * - LimitRanges and RuntimeClasses, by which the queue counts what they ask for;
 * - LocalQueues, which say how many of them are kept;
 * - RunPolicies, which exempt some, and namespaces, by which some are not managed.
 * When one of those changes how Jobs are judged, they are listed again, at most every ten seconds.
 * ConfigMaps, of one namespace, are listed after the objects that name some (time_specs.h). Twice a
 * minute the informer looks whether the zone database is still the same.
 *
 * An object that cannot be read, and a Job or pod that cannot be decoded, stays as it was known: it
 * is not lost in a list either. Each is counted and named in the log, at most twenty a minute of a
 * kind. An object of our own kinds says so in its status as well (queue_reject_*).
 *
 * When every kind has been listed once, the gate is told (gate_set_synced), and before it the queue
 * (queue_know_cluster). A kind whose CRD is not installed is logged with the cure, once a minute,
 * and tried again for as long as it takes.
 *
 * The roles of an older deployment may deny what the queue can do without (Nodes, ResourceQuotas,
 * PodDisruptionBudgets, Pods). That is logged with the cure and the effect, and the rest goes on.
 * Without Nodes the cluster is not known. A denied kind is tried again, so a right that is given
 * later needs no restart. A denial counts only from a server that lets us read something else: one
 * that has just started denies everything.
 *
 * Kinds of other programs (NodePools of Karpenter), and kinds that an API server may be without
 * (DeviceClasses), may come and go while we run. Where they are not served, or their server fails,
 * nothing waits for them. A server denies a kind before it looks whether it serves it, so a
 * denied one is absent where discovery does not know its API.
 *
 * What is followed, kind by kind: kinds.h; the pods: bound_pods.h.
 */
#ifndef SLUICE_CONTROLLER_WATCH_INFORMER_H
#define SLUICE_CONTROLLER_WATCH_INFORMER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "controller/watch/finalizers.h"
#include "controller/gate/gate.h"
#include "controller/wire/decode.h"
#include "controller/watch/kind_health.h"
#include "controller/kube/client.h"
#include "controller/kube/shared_watch.h"
#include "controller/common/log.h"
#include "controller/watch/job_scope.h"
#include "controller/write/status_writer.h"
#include "controller/watch/time_specs.h"
#include "controller/common/zones.h"

struct informer;

struct informer_options {
	struct kube_client *client;
	struct kube_shared_watch *nodes, *pods; /* pods: bound, and not ended */
	struct queue *queue;
	struct gate *gate;
	struct status_writer *status_writer;
	struct finalizers *finalizers;
	struct job_scope *job_scope;
	struct time_specs *time_specs;
	struct job_context job_context; /* for decode_job() */
	struct zones *zones;
	struct overcommit_controller *overcommit_controller;
	const char *config_namespace; /* the namespace of the ConfigMaps */
	bool without_queue_name;      /* Jobs that name no queue are followed as well */
	struct log *log;
	uint64_t seed;
	void (*changed)(void *ctx); /* a fact was recorded: a pass is due */
	void *ctx;
};

struct informer *informer_new(const struct informer_options *o); /* starts at once */
void informer_free(struct informer *o);

/* Does what is due, about once a second. */
void informer_tick(struct informer *o);

bool informer_synced(const struct informer *o);
/* Whether the API server shows older Jobs than it did. */
bool informer_went_back(const struct informer *o);
/* Appends the kinds that have not been listed yet: "jobs, clusterqueues". */
void informer_missing(const struct informer *o, struct buf *out);
/* Tells of each kind; returns how many there are. */
size_t informer_health(const struct informer *o, struct kind_health ret[KIND_HEALTH_MAX]);
/* Tells for how long Jobs have not been followed; 0: they are, or were never listed. */
int64_t informer_jobs_stalled_ms(const struct informer *o);
/* Appends the kinds that it may not follow: "nodes, resourcequotas". */
void informer_denied(const struct informer *o, struct buf *out);
/* Tells whether it may not read pods. Known only while they are wanted (queue_wants_pods()). */
bool informer_pods_denied(const struct informer *o);

#endif
