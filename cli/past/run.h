/*
 * A run of a JobHistory in words. The text is as it came: whatever prints it replaces what a terminal would
 * obey.
 */
#ifndef SLUICE_CLI_PAST_RUN_H
#define SLUICE_CLI_PAST_RUN_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/json.h"

enum { RUN_TEXT_MAX = 4096 };

bool past_run_is(const cJSON *run, const char *state);

/* What ended it: "Finished", "Preempted for team/urgent". Nothing where that is not known. */
void past_run_reason(const cJSON *run, struct buf *out);
/* The same with its state: "runs", "is about to start", "Preempted for team/urgent, its pods are waited
 * for". */
void past_run_why(const cJSON *run, struct buf *out);
/* "1.20 EUR". Nothing where it has no price, or has not ended. */
void past_run_cost(const cJSON *run, struct buf *out);

#endif
