/*
 * A ClusterQueue or LocalQueue as the API server has it: what `sluice queue` and `sluice explain` read of its
 * metadata, spec and status.
 *
 * Pure. An object of any form is taken: what is not there reads as "" or 0.
 */
#ifndef SLUICE_CLI_QUEUE_OBJECT_H
#define SLUICE_CLI_QUEUE_OBJECT_H

#include "cli/table.h"
#include "base/json.h"

const char *queue_object_name(const cJSON *q);
const char *queue_object_namespace(const cJSON *q); /* "": a ClusterQueue */
/* A text of its spec: "cohortName", "clusterQueue". */
const char *queue_object_says(const cJSON *q, const char *key);
/* A number of its status: "pendingWorkloads". */
int64_t queue_object_count(const cJSON *q, const char *key);
const char *queue_object_strategy(const cJSON *q);

/* Whether it starts Jobs, by its condition Active. */
struct queue_verdict {
	bool active;
	bool is_refused;  /* its newest spec is wrong; an older one may be in force */
	bool is_outdated; /* its spec is newer than its status */
	const char *reason, *message;
};
struct queue_verdict queue_object_verdict(const cJSON *q);

/* A row for each flavor and resource with its quota of this moment and what is held of it; lead puts what stands in
 * front of each. */
void queue_object_quotas(struct table *t, const cJSON *clusterqueue, const struct style *style,
	void (*lead)(struct table *t, bool first, const cJSON *clusterqueue, const void *ctx),
	const void *ctx);

/* A quantity in the units in which its resource is counted. 0: it is none. */
int64_t queue_object_amount(const cJSON *object, const char *key, const char *resource);

#endif
