/*
 * The report of `sluice when --why-not-earlier`: when a Job starts, and what would change that. It
 * is of a StartReview (visibility.sluice.dev), which has the Job in variants, each played as the
 * Job itself was.
 *
 *     Expected start 14:10 CET, 90 % sure by 15:30.
 *
 *     40 min earlier with 8 pods         kubectl patch job train-8 -n team --type merge -p '...'
 *     Not earlier: with class high.
 *
 * Pure: a tree goes in, text comes out. The commands are for a shell to be pasted into, so a
 * command is printed only when all that is put into it is plain text.
 */
#ifndef SLUICE_CLI_START_VARIANTS_H
#define SLUICE_CLI_START_VARIANTS_H

#include <stdint.h>

#include "base/buf.h"
#include "cli/table.h"
#include "base/json.h"

void start_variants_render(
	const cJSON *review, int64_t now_ms, const struct style *style, struct buf *out);
/* Appends {"namespace", "name"} and the status of the StartReview, as it came. */
void start_variants_json(const cJSON *review, struct buf *out);

/* Appends what the user is to do: a command, or what to write where. False: that is not known. */
bool start_variants_cure(const cJSON *variant, const char *ns, const char *job, struct buf *out);

#endif
