/*
 * The report of `sluice queue`: an answer (answer.h) as a table or as JSON. Pure.
 *
 * Where the user may not list ClusterQueues, LocalQueues tell what they hold themselves.
 */
#ifndef SLUICE_CLI_QUEUE_REPORT_H
#define SLUICE_CLI_QUEUE_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "cli/queue/answer.h"
#include "cli/table.h"

/* What is shown. NULL: all. */
struct queue_filter {
	const char *clusterqueue;
	const char *ns; /* only ClusterQueues that a LocalQueue of this namespace leads to */
};

/* Renders the tables. Returns how many ClusterQueues and LocalQueues they show. */
size_t queue_render_table(const struct queue_answer *a, const struct queue_filter *f, bool wide,
	const struct style *style, struct buf *out);
/* Renders {"clusterQueues":[...],"localQueues":[...]}, with metadata (name and namespace), spec and
 * status of each, and "open" where a QueueReport has it. JSON has no notices. Returns as queue_render_table(). */
size_t queue_render_json(
	const struct queue_answer *a, const struct queue_filter *f, struct buf *out);

/* Appends the notices, a line each. */
void queue_render_notices(const struct queue_answer *a, struct buf *out);

#endif
