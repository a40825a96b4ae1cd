/*
 * What `sluice reserve` says of the queue's verdict.
 *
 * Pure: trees go in, text comes out.
 */
#ifndef SLUICE_CLI_RESERVE_REPORT_H
#define SLUICE_CLI_RESERVE_REPORT_H

#include "base/buf.h"
#include "cli/reserve/carry_out.h"
#include "base/json.h"

/* Appends the verdict on an object that was created. object may be NULL where it is not judged. */
void reserve_report_render(
	const char *name, const cJSON *object, enum reserve_verdict v, struct buf *out);

#endif
