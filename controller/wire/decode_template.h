/*
 * From the wire to queue/cluster/pod.h and its neighbours. As decode.h: one block each, to be freed
 * with free().
 */
#ifndef SLUICE_CONTROLLER_WIRE_DECODE_TEMPLATE_H
#define SLUICE_CONTROLLER_WIRE_DECODE_TEMPLATE_H

#include "base/err.h"
#include "queue/cluster/nodes.h"
#include "queue/cluster/resource_quota.h"

struct cJSON;

/*
 * Decodes a pod template in namespace ns (or a Pod: metadata and spec are in the same place).
 *
 * The record is the pod that the API server will make of the template. matchLabelKeys are merged,
 * ports of hostNetwork are ports of the host, and the two tolerations of the plugin
 * DefaultTolerationSeconds are there (not-ready and unreachable, NoExecute); it is on unless an
 * admin turned it off. Other admission is left to others: LimitRanges
 * (queue/requests/accounting.h), RuntimeClasses (nodes_set_runtime_class), webhooks, and the labels
 * that the Job controller gives each pod (its completion index).
 */
int decode_template(const char *ns, const struct cJSON *o, struct pod **ret, struct err *e);
/* Decodes a Pod, as the nodes are told of it; node is "" while it is not bound. */
int decode_bound_pod(const struct cJSON *o, struct bound_pod **ret, struct err *e);
int decode_resource_quota(const struct cJSON *o, struct resource_quota **ret, struct err *e);
/* Decodes a ResourceQuota of a manifest: its limits are those of its spec, and nothing is used,
 * whatever its status says. What the API server would refuse (an unknown scope or name) is a fault
 * here, and so is a quota that limits nothing. */
int decode_written_quota(const struct cJSON *o, struct resource_quota **ret, struct err *e);
int decode_node_spec(const struct cJSON *o, struct node_spec **ret, struct err *e);

#endif
