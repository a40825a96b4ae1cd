/*
 * The provisioner: carries the two intents about ProvisioningRequests out (controller/gate/provision.h).
 *
 * To ask takes three requests, one after the other:
 *
 *   1. the start PATCH as a dry run. Its answer has the very template that the pods would have, with
 *      all that the API server and its policies make of it. And a start that would be refused is
 *      refused before an autoscaler makes nodes for it;
 *   2. a PodTemplate with that template;
 *   3. the ProvisioningRequest.
 *
 * To delete takes two: the ProvisioningRequest, then the PodTemplate. What is there already, or is
 * gone already, counts as done. The gate gets one answer for the whole; if it asks again all begins
 * anew.
 */
#ifndef SLUICE_CONTROLLER_WRITE_PROVISIONER_H
#define SLUICE_CONTROLLER_WRITE_PROVISIONER_H

#include <stddef.h>

#include "controller/gate/gate.h"
#include "controller/kube/client.h"

struct provisioner;

struct provisioner_options {
	struct kube_client *client;
	/* Judges what an answer means, and when to come again; finds what the server itself
	 * said. */
	struct job_answer (*judge)(const struct kube_answer *a, void *ctx);
	const char *(*words)(const struct kube_answer *a, void *ctx);
	void (*answer)(uint64_t id, const struct job_answer *a, void *ctx);
	void *ctx;
};

struct provisioner *provisioner_new(const struct provisioner_options *o);
void provisioner_free(struct provisioner *p); /* cancels what is under way */

void provisioner_ask(struct provisioner *p, const struct intent *i);
void provisioner_delete(struct provisioner *p, const struct intent *i);
size_t provisioner_under_way(const struct provisioner *p);

#endif
