/*
 * The started pod: the pod that a start on certain flavors makes of a template.
 *
 * A start adds the flavors' node labels and tolerations to its owner's (directives.h), and writes
 * the names of lent resources (lending.h). Questions to the cluster before the start are about that
 * pod.
 */
#ifndef SLUICE_QUEUE_RULES_NODES_STARTED_POD_H
#define SLUICE_QUEUE_RULES_NODES_STARTED_POD_H

#include "queue/cluster/pod.h"
#include "queue/requests/directives.h"

/* Of p with n flavors, lent resources under the names of l. Borrows from all of them. */
struct pod started_pod_of(struct arena *a, const struct pod *p, const struct flavor *const *flavors,
	size_t n, enum lending l);

/* The kind of lending of these flavors: the first that is not LENDING_NONE. */
enum lending started_pod_lending(const struct flavor *const *flavors, size_t n);

#endif
