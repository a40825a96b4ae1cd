/*
 * The kubelets, asked one by one through the API server's node proxy for what their node and its
 * pods use (/metrics/resource, or the path that the node's annotation names). At most eight at a
 * time.
 *
 * Kubelets have counters of cpu time: two readings make a sample, the mean between them. A counter
 * that went back begins anew. A kubelet that does not answer keeps its last readings; the next
 * sample is the mean since then.
 */
#ifndef SLUICE_CONTROLLER_OVERCOMMIT_KUBELETS_H
#define SLUICE_CONTROLLER_OVERCOMMIT_KUBELETS_H

#include <stddef.h>
#include <stdint.h>

#include "controller/kube/client.h"
#include "overcommit/facts.h"

struct kubelets;
struct usage_poller_node;

struct kubelets_events {
	void (*sample)(const struct usage_facts *u, void *ctx);
	/* All of the round have answered; also at once, without kubelets. */
	void (*over)(void *ctx);
	void *ctx;
};

struct kubelets *kubelets_new(struct kube_client *client, const struct kubelets_events *e);
void kubelets_free(struct kubelets *k);

/* Sets the nodes to ask in the next round; copied. */
void kubelets_set(struct kubelets *k, const struct usage_poller_node *nodes, size_t n);
void kubelets_go(struct kubelets *k, int64_t now_ms);

/* Tells how many of the last round did not answer, and the sentence of the first; "" when all
 * did. */
const char *kubelets_trouble(const struct kubelets *k);

#endif
