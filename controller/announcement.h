/*
 * The announcement: tells the API server where the leader is, and how it shows itself.
 *
 * All replicas listen, and only the leader knows. So the Service sluice-visibility has no selector,
 * and the leader writes:
 *
 *   - its address into the one EndpointSlice of the Service: server-side apply with force, of the
 *     whole object, which it makes where there is none. The Service has a port for browsers beside the
 *     API server's: the page is wanted from the leader, too;
 *   - its certificate, where it made that itself, into spec.caBundle of the APIService: a merge
 *     patch of that field alone. It never makes an APIService, as an apply would.
 *
 * Both are compared at once when it begins to lead or its port or certificate change, and then
 * every ten seconds. Another client's change is written over, and logged once: the newest leader's
 * word holds. A write that fails is tried again with growing pauses, and logged once.
 *
 * Where the component is not installed there is no APIService: then nothing is written, and it is
 * looked for again a minute later. Nothing here can hold up a start of a Job: one small request is
 * under way at a time.
 *
 * API servers of 1.34 to 1.36 read EndpointSlices for an APIService, and no Endpoints. They want
 * the port's name to be the Service's (https), and in the certificate the name
 * sluice-visibility.NAMESPACE.svc, also where the Service is an ExternalName. From 1.36 on the
 * check of whether an APIService is available verifies the certificate, too.
 */
#ifndef SLUICE_CONTROLLER_ANNOUNCEMENT_H
#define SLUICE_CONTROLLER_ANNOUNCEMENT_H

#include <stdint.h>

#include "controller/common/log.h"
#include "controller/kube/client.h"

#define VISIBILITY_APISERVICE "v1alpha1.visibility.sluice.dev"
#define VISIBILITY_SERVICE "sluice-visibility"

struct announcement;

struct announcement_options {
	struct kube_client *client;
	struct log *log;
	const char *namespace_name; /* the namespace of the Service; borrowed */
	const char *address; /* an IP address of this replica; NULL: no EndpointSlice. Borrowed */
	uint16_t page_port;  /* of --listen, which has the page (page/page.h); 0: not told */
	uint64_t seed;
};

struct announcement *announcement_new(const struct announcement_options *o);
/* Frees it before its client: what is under way is cancelled. NULL is fine. */
void announcement_free(struct announcement *a);

/* Announces the leader, once a second while it leads. port: where it listens; 0: nowhere, and
 * nothing is written. ca: PEM that goes into caBundle; NULL: another client writes that
 * (cert-manager). Borrowed for the call. */
void announcement_tick(struct announcement *a, uint16_t port, const char *ca, int64_t tick_ms);
/* Writes nothing more: this replica does not lead. */
void announcement_pause(struct announcement *a);

#endif
