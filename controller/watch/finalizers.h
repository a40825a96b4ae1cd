/*
 * Finalizers: what is in use does not go when it is deleted.
 *
 * The leader puts sluice.dev/resource-in-use on every ClusterQueue and ResourceFlavor. When one is
 * deleted the API server keeps it, with a deletionTimestamp, until the leader takes the finalizer
 * off: when the queue says that nothing uses it any more (queue/explain/users.c). Meanwhile nothing
 * starts in such a ClusterQueue, a ResourceFlavor works as before, and their conditions say what
 * uses them (queue/explain/view.c, status_writer.h). Other finalizers are never touched.
 *
 * No other kind has it. Without a Cohort its members only stop lending each other quota. Without a
 * LocalQueue its Jobs run to their end, and waiting ones can be given another; a namespace that is
 * deleted must not wait for a controller. RunPolicies, Calendars, PricePlans, Budgets and
 * AdvanceReservations hold no Job.
 *
 * Finalizers wait for everything else: a write is small, guarded by the resourceVersion that was
 * seen, and at most two are under way. A write that failed is due again with what is seen next, or
 * after a few seconds. An older role of ours may not patch these kinds. That is said once and tried
 * once a minute: everything else works, and deleted objects go at once.
 */
#ifndef SLUICE_CONTROLLER_WATCH_FINALIZERS_H
#define SLUICE_CONTROLLER_WATCH_FINALIZERS_H

#include <stdint.h>

#include "controller/kube/client.h"
#include "controller/common/log.h"
#include "controller/write/status_writer.h"
#include "sluice/queue.h"

struct cJSON;
struct finalizers;

struct finalizers_options {
	struct kube_client *client;
	const struct queue *queue;
	struct log *log;
};

struct finalizers *finalizers_new(const struct finalizers_options *o);
/* Frees it after the client, or when no more answers come. */
void finalizers_free(struct finalizers *f);

/* Take an object as it is on the API server, or its loss. Kinds without our finalizer are passed
 * over. */
void finalizers_see(struct finalizers *f, enum status_writer_kind kind, const struct cJSON *object);
void finalizers_lose(struct finalizers *f, enum status_writer_kind kind, const char *name);

/* Writes what is due, about once a second, while leading. */
void finalizers_tick(struct finalizers *f, int64_t now_ms);

#endif
