/*
 * The started pod: the pod that a start on certain flavors makes of a template.
 *
 * A start adds the flavors' directives to its owner's (directives.h), and writes the names of lent
 * resources (lending.h). It adds labels, too, which matter only to a pod that looks at other pods:
 * of one that does not the template has none (pod_template.h). Questions to the cluster before the
 * start are about that pod.
 */
#ifndef SLUICE_QUEUE_RULES_NODES_STARTED_POD_H
#define SLUICE_QUEUE_RULES_NODES_STARTED_POD_H

#include "queue/cluster/pod.h"
#include "queue/requests/directives.h"

/* Of p with n flavors. cq and lq may be NULL, where labels decide nothing. Borrows from all of
 * them. */
struct pod started_pod_of(struct arena *a, const struct pod *p, const struct flavor *const *flavors,
	size_t n, const struct clusterqueue *cq, const struct localqueue *lq);

/* The kind of lending of these flavors: the first that is not LENDING_NONE. */
enum lending started_pod_lending(const struct flavor *const *flavors, size_t n);

#endif
