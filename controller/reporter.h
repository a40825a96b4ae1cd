/*
 * The reporter: keeps the status of ClusterQueues and LocalQueues as the queue library sees them.
 *
 * One merge patch on /status when the rendered text differs from what was last written, by the
 * leader alone, at most once a second per object and with few under way at once: people read it,
 * and Jobs are waiting for the same API server. While Job writes stand in line it steps back to
 * once in five seconds. A write that failed is simply due again.
 *
 * lastTransitionTime is kept when the condition's status did not change, also over a restart: what
 * the object itself says is taken in with reporter_see().
 */
#ifndef SLUICE_CONTROLLER_REPORTER_H
#define SLUICE_CONTROLLER_REPORTER_H

#include <stdbool.h>
#include <stdint.h>

#include "controller/kube/client.h"
#include "controller/log.h"
#include "sluice/queue.h"

struct cJSON;
struct reporter;

enum reporter_kind {
	REPORT_CLUSTERQUEUE,
	REPORT_LOCALQUEUE,
};

struct reporter *reporter_new(struct kube_client *client, const struct queue *q, struct log *log);
/* After the client is freed, or has been told of no more answers: nothing may be under way. */
void reporter_free(struct reporter *r);

/* An object as it is on the API server. */
void reporter_see(struct reporter *r, enum reporter_kind kind, const struct cJSON *object);
void reporter_lose(struct reporter *r, enum reporter_kind kind, const char *ns, const char *name);

/* Writes what is due. Called about once a second, while leading. */
void reporter_tick(struct reporter *r, int64_t now_ms);

#endif
