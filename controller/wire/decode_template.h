/*
 * From the wire to queue/cluster/pod.h and its neighbours. As decode.h: one block each, to be freed with
 * free().
 */
#ifndef SLUICE_CONTROLLER_WIRE_DECODE_TEMPLATE_H
#define SLUICE_CONTROLLER_WIRE_DECODE_TEMPLATE_H

#include "base/err.h"
#include "queue/cluster/nodes.h"
#include "queue/cluster/resource_quota.h"

struct cJSON;

/*
 * ns and a pod template's object (or a Pod: metadata and spec are in the same place).
 *
 * The record is the pod as the API server will have made it of the template: matchLabelKeys are
 * merged, ports of hostNetwork are ports of the host, and the two tolerations are there that its
 * plugin DefaultTolerationSeconds adds (not-ready and unreachable, NoExecute), which is on unless
 * an admin turned it off. What other admission does is left to others: LimitRanges
 * (queue/requests/accounting.h), RuntimeClasses (nodes_set_runtime_class), webhooks, and the labels that the
 * Job controller gives each pod (its completion index).
 */
int decode_template(const char *ns, const struct cJSON *o, struct pod **ret, struct err *e);
/* A Pod, as the nodes are told of it; node is "" while it is not bound. */
int decode_bound_pod(const struct cJSON *o, struct bound_pod **ret, struct err *e);
int decode_resource_quota(const struct cJSON *o, struct resource_quota **ret, struct err *e);
/* The same of a manifest: hard is that of its spec, nothing is used, whatever a status
 * says. What no API server takes (a scope, a name that there is not) is a fault here, and so is one
 * that limits nothing. */
int decode_written_quota(const struct cJSON *o, struct resource_quota **ret, struct err *e);
int decode_node_spec(const struct cJSON *o, struct node_spec **ret, struct err *e);

#endif
