/*
 * Do the controllers know adoption? A controller of 0.1.0 stops a Job that gets its label while it
 * runs, and such a one may lead during an upgrade or a way back.
 *
 * No object of the API server says who leads, or what the leader knows. There are only the pods,
 * with their images; and an image says its version only if its tag does. A digest, :latest (as in
 * the manifests of 0.1.0) or a tag of somebody's own says nothing.
 */
#ifndef SLUICE_CLI_ADOPT_CONTROLLERS_H
#define SLUICE_CLI_ADOPT_CONTROLLERS_H

#include "base/err.h"
#include "controller/kube/client.h"

struct ev_loop;

/* Returns 0 if the namespace has pods of a controller, each of 0.2.0 or later. ERR_GONE: that is
 * not so, or cannot be seen, and the sentence has the cure. Else: what kept us from asking. */
int adopt_controllers_check(struct ev_loop *loop, struct kube_client *client,
	const char *namespace_name, struct err *e);

#endif
