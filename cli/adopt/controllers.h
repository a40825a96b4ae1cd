/*
 * Do the controllers know adoption? One of 0.1.0 stops a Job that gets its label while it runs, and
 * while an upgrade or a way back is under way it may be the one that leads.
 *
 * Who leads, and what it knows, is in no object of the API server. What is there are the pods, with
 * the images that they run; and an image says its version only if its tag does. One that is named by
 * digest, by :latest (as the manifests of 0.1.0 had it) or by a tag of somebody's own says nothing.
 */
#ifndef SLUICE_CLI_ADOPT_CONTROLLERS_H
#define SLUICE_CLI_ADOPT_CONTROLLERS_H

#include "base/err.h"
#include "controller/kube/client.h"

struct ev_loop;

/* 0: each controller's pod of the namespace is of 0.2.0 or later, and there is one. ERR_GONE: that is
 * not so, or cannot be seen, and the sentence has the cure. Else what kept us from asking. */
int adopt_controllers_check(struct ev_loop *loop, struct kube_client *client,
	const char *namespace_name, struct err *e);

#endif
