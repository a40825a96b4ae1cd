/*
 * The change that `sluice hold` and `sluice release` make, for commands that have looked at the Job
 * already.
 */
#ifndef SLUICE_CLI_HOLD_H
#define SLUICE_CLI_HOLD_H

#include "cli/job_change.h"

/* Puts the Job that a names on hold, or releases it. Appends to out what follows. ERR_INVALID: it
 * would have no effect, or do harm; the sentence has the cure. Errors else as question_ask(). */
int hold_job(const struct job_asked *a, bool release, struct buf *out, struct err *e);

#endif
