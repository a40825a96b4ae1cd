/*
 * The started pod: the pod that a start on certain flavors makes of a template.
 *
 * A start writes the flavors' node labels and tolerations beside its owner's (directives.h), and
 * where a flavor's room is lent the names under which that is asked for (lending.h). What the
 * cluster is asked before the start is asked of that pod.
 */
#ifndef SLUICE_QUEUE_RULES_NODES_STARTED_POD_H
#define SLUICE_QUEUE_RULES_NODES_STARTED_POD_H

#include "queue/cluster/pod.h"
#include "queue/requests/directives.h"

/* Of p, with as many flavors as n, lent resources by the names of l. Borrows from all of them. */
struct pod started_pod_of(struct arena *a, const struct pod *p, const struct flavor *const *flavors,
	size_t n, enum lending l);

/* A start on these flavors writes the names of this, for one that asks for cpu or memory in each.
 */
enum lending started_pod_lending(const struct flavor *const *flavors, size_t n);

#endif
