/*
 * The report of `sluice jobs`: QueuedJobs of the aggregated API, page by page, as a table, as names
 * or as one list in JSON, in the API's order.
 *
 * Pure: trees go in, text comes out.
 */
#ifndef SLUICE_CLI_JOBS_REPORT_H
#define SLUICE_CLI_JOBS_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/options.h"
#include "cli/table.h"
#include "base/json.h"

struct jobs_report_options {
	enum output output;
	bool namespaces; /* with a column of namespaces */
	unsigned states; /* other states are left out; see jobs/options.h */
	int64_t now_ms;
	struct style style;
};

struct jobs_report;

struct jobs_report *jobs_report_new(const struct jobs_report_options *o);
void jobs_report_free(struct jobs_report *r);

/* Adds a QueuedJobList; nothing of it is kept. */
void jobs_report_add(struct jobs_report *r, const cJSON *list);
/* Forgets what was added. */
void jobs_report_reset(struct jobs_report *r);

size_t jobs_report_count(const struct jobs_report *r); /* number of Jobs shown */
/* Appends the report; without a Job nothing, but in JSON. */
void jobs_report_render(const struct jobs_report *r, struct buf *out);

#endif
