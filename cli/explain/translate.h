/*
 * Objects of the API server, as the controller's own HTTP API would write them (/api/v1/jobs and
 * /api/v1/queues): so explain prints one kind of answer, whichever was asked.
 *
 * Pure: a tree goes in, JSON comes out.
 */
#ifndef SLUICE_CLI_EXPLAIN_TRANSLATE_H
#define SLUICE_CLI_EXPLAIN_TRANSLATE_H

#include "base/buf.h"
#include "controller/kube/json.h"

/* job: a QueuedJob of the aggregated API. */
void translate_job(const cJSON *job, struct buf *out);

/* A LocalQueue and the ClusterQueue that it leads to. */
struct queue_objects {
	const cJSON *local, *cluster; /* NULL: there is none, or it may not be read */
	/* Not "" where it may not be read: then no more than this is known of it. */
	const char *hidden_local, *hidden_cluster;
	const char *ns;
};

/* A queue that is hidden has "hidden": true. Of one that does not exist nothing is written. */
void translate_queues(const struct queue_objects *q, struct buf *out);

#endif
