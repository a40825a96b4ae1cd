/*
 * The report of `sluice queue`: what /api/v1/queues says, as a table or as JSON.
 *
 * Pure: a tree goes in, text comes out. Where the tree is made of objects (translate.h) it has more:
 *
 *   clusterQueuesHidden   the user may not list them: LocalQueues tell what they hold themselves
 *   notices               sentences about the answer as a whole
 *   outdated              of a queue: its spec is newer than its status
 */
#ifndef SLUICE_CLI_QUEUE_REPORT_H
#define SLUICE_CLI_QUEUE_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "cli/table.h"
#include "controller/kube/json.h"

/* What is shown. NULL: all. */
struct queue_filter {
	const char *clusterqueue;
	const char *ns; /* those that a LocalQueue of this namespace leads to */
};

/* These two return how many ClusterQueues and LocalQueues they showed. JSON has no notices. */
size_t queue_render_table(const cJSON *root, const struct queue_filter *f, bool wide,
	const struct style *style, struct buf *out);
size_t queue_render_json(const cJSON *root, const struct queue_filter *f, struct buf *out);

/* The notices, a line each. */
void queue_render_notices(const cJSON *root, struct buf *out);

#endif
