/*
 * The report of `sluice jobs --group`: a row for each group of a SummaryReport. Pure.
 */
#ifndef SLUICE_CLI_JOBS_GROUPS_H
#define SLUICE_CLI_JOBS_GROUPS_H

#include "base/json.h"
#include "cli/table.h"

/* Appends the table, and what needs attention; nothing where there is no Job. namespaces: sweeps
 * have a column of these. */
void groups_render(const cJSON *summary, bool namespaces, int64_t now_ms, const struct style *style,
	struct buf *out);

#endif
