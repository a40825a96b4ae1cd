/*
 * The informer: follows all that Sluice reads from the API server and turns it into facts for the
 * queue (what admins describe) and the gate (Jobs).
 *
 * Callbacks only record facts and say changed(); nothing is decided here. What a new list does not
 * have any more is dropped. An object that cannot be decoded, or that the queue refuses, is shown
 * at the object itself (queue_reject_*, its last valid spec stays in force) and in the log.
 *
 * Jobs are listed after LimitRanges and RuntimeClasses, by which the queue counts what they ask
 * for, after LocalQueues, which say how many of them are kept, after RunPolicies, which exempt
 * some, and after namespaces, by which some Jobs are not managed; when one of those changes that,
 * they are listed again, at most every ten seconds. ConfigMaps, of one namespace, are listed after
 * the objects that name some (time_specs.h). Twice a minute it looks whether the zone database is
 * still the same.
 *
 * An object that cannot be read, and a Job or pod that cannot be decoded, stays as it was known: it
 * is not lost in a list either. Each is counted and named in the log, at most twenty a minute of a
 * kind. One of our own kinds says so in its status as well (queue_reject_*).
 *
 * When every kind has been listed once, the gate is told (gate_set_synced), and before it the queue
 * (queue_know_cluster). A kind whose CRD is not installed is said so with the cure, once a minute,
 * and tried again for as long as it takes.
 *
 * What the queue can do without (Nodes, ResourceQuotas, PodDisruptionBudgets, Pods) may be denied
 * by the roles of an older deployment: that is said with the cure and what comes of it, and the
 * rest goes on. Without Nodes the cluster is not known. It is tried again as well, and a right that
 * is given later needs no restart. Only a server that lets us read something else is believed in
 * this: one that has just started denies everything.
 *
 * Kinds of other programs (NodePools of Karpenter), and those that an API server may be without
 * (DeviceClasses), may not be served at all, and may come and go
 * while we run: where they are not there are none, and nothing waits for them, nor for one whose
 * server fails. A server denies them without a look at whether it serves them, so one that is denied
 * is absent where discovery does not know its API.
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
	struct kube_shared_watch *nodes, *pods; /* the latter bound, and not ended */
	struct queue *queue;
	struct gate *gate;
	struct status_writer *status_writer;
	struct finalizers *finalizers;
	struct job_scope *job_scope;
	struct time_specs *time_specs;
	struct job_context job_context; /* for decode_job() */
	struct zones *zones;
	struct overcommit_controller *overcommit_controller;
	const char *config_namespace; /* of the ConfigMaps */
	bool without_queue_name;      /* Jobs that name no queue are followed as well */
	struct log *log;
	uint64_t seed;
	void (*changed)(void *ctx); /* a fact was recorded: a pass is due */
	void *ctx;
};

struct informer *informer_new(const struct informer_options *o); /* starts at once */
void informer_free(struct informer *o);

/* About once a second. */
void informer_tick(struct informer *o);

bool informer_synced(const struct informer *o);
/* The API server shows older Jobs than it did. */
bool informer_went_back(const struct informer *o);
/* Appends the kinds that have not been listed yet: "jobs, clusterqueues". */
void informer_missing(const struct informer *o, struct buf *out);
/* Of each kind; returns how many there are. */
size_t informer_health(const struct informer *o, struct kind_health ret[KIND_HEALTH_MAX]);
/* For how long Jobs have not been followed; 0: they are, or they have not been listed yet. */
int64_t informer_jobs_stalled_ms(const struct informer *o);
/* Appends the kinds that it may not follow, and does without: "nodes, resourcequotas". */
void informer_denied(const struct informer *o, struct buf *out);

#endif
