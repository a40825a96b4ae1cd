/*
 * The usage poller: reads what nodes and pods use, every interval, from metrics.k8s.io (two lists
 * for the whole cluster, streamed) or from the kubelets (kubelets.h).
 *
 * A missing metric is never zero use: what a round does not mention keeps its last sample, which
 * ages. A round that fails (503 while metrics-server is away, 404 while the API is not served) is
 * told as trouble, once, with the cure, and is tried again at the next interval. A round is not
 * begun while the last one is under way.
 */
#ifndef SLUICE_CONTROLLER_OVERCOMMIT_USAGE_POLLER_H
#define SLUICE_CONTROLLER_OVERCOMMIT_USAGE_POLLER_H

#include <stdbool.h>
#include <stdint.h>

#include "controller/kube/client.h"
#include "controller/common/log.h"
#include "overcommit/facts.h"

struct usage_poller;

struct usage_poller_events {
	void (*sample)(const struct usage_facts *u, void *ctx); /* valid during the call */
	void (*round)(bool complete, void *ctx); /* ends a round; figures may be made */
	void *ctx;
};

struct usage_poller *usage_poller_new(
	struct kube_client *client, struct log *log, const struct usage_poller_events *e);
void usage_poller_free(struct usage_poller *g);

/* A node whose kubelet is asked. */
struct usage_poller_node {
	const char *name, *path; /* path "": /metrics/resource */
};
void usage_poller_tick(struct usage_poller *g, int64_t now_ms, int64_t interval_ms,
	bool metrics_api, const struct usage_poller_node *kubelets, size_t nkubelets);

bool usage_poller_busy(const struct usage_poller *g);		/* a round is under way */
const char *usage_poller_trouble(const struct usage_poller *g); /* "" while it works */

#endif
