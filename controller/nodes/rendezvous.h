/*
 * The rendezvous: the ConfigMap sluice-nodes, in which agents read where the leader is, and by which
 * certificate they know it.
 *
 *     data:
 *       address: 10.1.2.3:8444
 *       certificate: |
 *         -----BEGIN CERTIFICATE-----
 *
 * The component ships the object, empty. The leader patches these two members, and keeps them as its
 * own (kube/upkeep.h); it never makes the object. An agent may read this object and nothing else of
 * the API server.
 */
#ifndef SLUICE_CONTROLLER_NODES_RENDEZVOUS_H
#define SLUICE_CONTROLLER_NODES_RENDEZVOUS_H

#include <stdint.h>

#include "controller/common/log.h"
#include "controller/kube/client.h"

struct rendezvous;

struct rendezvous_options {
	struct kube_client *client;
	struct log *log;
	const char *namespace_name; /* of the ConfigMap; borrowed */
	const char *address;	    /* an IP address of this replica; borrowed */
	uint64_t seed;
};

struct rendezvous *rendezvous_new(const struct rendezvous_options *o);
/* Frees it before its client: what is under way is cancelled. NULL is fine. */
void rendezvous_free(struct rendezvous *r);

/* Tells where the leader is, once a second while it leads. certificate: PEM; borrowed for the call.
 * tick_ms: of a clock that only goes on. */
void rendezvous_tick(struct rendezvous *r, uint16_t port, const char *certificate, int64_t tick_ms);
/* Writes nothing more: this replica does not lead. */
void rendezvous_pause(struct rendezvous *r);

#endif
