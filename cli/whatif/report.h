/*
 * The report of `sluice whatif`, by a WhatIf (visibility.sluice.dev): which Jobs that wait would
 * start earlier, which later, and what their runs would cost.
 *
 * Pure: a tree goes in, text comes out. Times are in the user's zone.
 */
#ifndef SLUICE_CLI_WHATIF_REPORT_H
#define SLUICE_CLI_WHATIF_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "cli/table.h"
#include "base/json.h"

struct whatif_report_options {
	bool all; /* shows all Jobs of the answer, not the first few */
	int64_t now_ms;
	const struct style *style;
};

void whatif_report_render(
	const cJSON *root, const struct whatif_report_options *o, struct buf *out);

#endif
