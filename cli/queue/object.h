/*
 * A ClusterQueue or LocalQueue as the API server has it: what `sluice queue` and `sluice explain`
 * read of its metadata, spec and status.
 *
 * Pure. An object of any form is taken: what is not there reads as "" or 0.
 */
#ifndef SLUICE_CLI_QUEUE_OBJECT_H
#define SLUICE_CLI_QUEUE_OBJECT_H

#include "cli/table.h"
#include "base/json.h"

const char *queue_object_name(const cJSON *q);
const char *queue_object_namespace(const cJSON *q); /* "": a ClusterQueue */
/* Returns a text of the spec: "cohortName", "clusterQueue". */
const char *queue_object_says(const cJSON *q, const char *key);
/* Returns a number of the status: "pendingWorkloads". */
int64_t queue_object_count(const cJSON *q, const char *key);
const char *queue_object_strategy(const cJSON *q);

/* Whether a queue starts Jobs, by its condition Active. */
struct queue_verdict {
	bool active;
	bool is_refused;  /* the newest spec is wrong; an older one may be in force */
	bool is_outdated; /* the spec is newer than the status */
	const char *reason, *message;
};
struct queue_verdict queue_object_verdict(const cJSON *q);

/* Adds a row for each flavor and resource, with its quota of this moment and what is held of it.
 * lead adds the cells in front. */
void queue_object_quotas(struct table *t, const cJSON *clusterqueue, const struct style *style,
	void (*lead)(struct table *t, bool first, const cJSON *clusterqueue, const void *ctx),
	const void *ctx);

/* Reads a quantity in the units in which its resource is counted. 0: it is none. */
int64_t queue_object_amount(const cJSON *object, const char *key, const char *resource);

#endif
