/*
 * How a stretch of time is divided for a chart: into at most PAST_STEPS_MAX equal steps of whole minutes.
 *
 * Steps begin at round times (UTC). So a chart that is asked for again a minute later has the same steps. What
 * lies before the first round time is left out; the last step may be shorter, since it goes on.
 */
#ifndef SLUICE_CONTROLLER_PAST_STEPS_H
#define SLUICE_CONTROLLER_PAST_STEPS_H

#include <stdint.h>

enum { PAST_STEPS_MAX = 96 };

/* How long a step is. *from_ms, before to_ms, becomes the beginning of the first one; it stays where no step
 * begins in between. */
int64_t past_steps_divide(int64_t *from_ms, int64_t to_ms);

#endif
