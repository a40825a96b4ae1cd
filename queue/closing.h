/*
 * Closing: which runs a window's end stops, and when (reference A.4).
 *
 * Level, not edge: a run has to stop when, at this moment, a policy that binds it has a Calendar
 * that is closed and says Suspend, and nothing protects the run:
 *
 *   exempt            its priority, or its labels
 *   minRun            it started less than that ago: it is looked at again then
 *   maxSuspensions    it was stopped so often before: it goes on to its end
 *   overrun           the close was less than that ago, and it is expected to end within
 *
 * When the close was is asked of the Calendar itself (the last change before now), so it holds
 * after a restart and after a jump of the clock. An unknown Calendar stops nobody.
 */
#ifndef SLUICE_QUEUE_CLOSING_H
#define SLUICE_QUEUE_CLOSING_H

#include "queue/regime.h"
#include "queue/room.h"

/* STOP_REASON_NONE, STOP_REASON_WINDOW_CLOSED; *ret_by: the policy that says so. */
enum stop_reason closing_stop_reason(
	struct queue *q, const struct room *r, const struct runpolicy **ret_by);

/* When this run will be stopped by a window, as things stand; INT64_MAX: it will not. */
int64_t closing_stop_ms(struct queue *q, const struct room *r);
/* When it is to be told: stop less notice, at once if that has passed; INT64_MAX: never, or it was
 * told of this stop. */
int64_t closing_notice_ms(struct queue *q, const struct room *r);
/* When it must be looked at again because of all that. */
int64_t closing_next_ms(struct queue *q, const struct room *r);

#endif
