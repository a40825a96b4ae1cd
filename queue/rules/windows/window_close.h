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
 *
 * A start that is not confirmed yet has done no work: minRun and overrun do not count for it. The
 * gate calls it off if it was not sent, and else stops what began.
 */
#ifndef SLUICE_QUEUE_RULES_WINDOWS_WINDOW_CLOSE_H
#define SLUICE_QUEUE_RULES_WINDOWS_WINDOW_CLOSE_H

#include "queue/rules/windows/window_state.h"
#include "queue/model/reservation.h"

/* STOP_REASON_NONE, STOP_REASON_WINDOW_CLOSED; *ret_by (may be NULL): the policy that says so. */
enum stop_reason window_close_stop_reason(
	const struct queue *q, const struct reservation *r, struct runpolicy **ret_by);

/* When this run will be stopped by a window, as things stand; INT64_MAX: it will not. *ret_by (may
 * be NULL): by which policy. */
int64_t window_close_stop_ms(
	const struct queue *q, const struct reservation *r, struct runpolicy **ret_by);
/* When it is to be told: stop less notice, at once if that has passed; INT64_MAX: never, or it was
 * told of this stop. *ret_stop_ms: of what it is to be told. */
int64_t window_close_notice_ms(
	const struct queue *q, const struct reservation *r, int64_t *ret_stop_ms);
/* When it must be looked at again because of all that. */
int64_t window_close_next_ms(const struct queue *q, const struct reservation *r);

/* Until when the policy keeps its hands off this run, whatever the reason: INT64_MAX for good
 * (exempt, maxSuspensions), else minRun's end. */
int64_t window_close_spares_until_ms(const struct runpolicy *p, const struct reservation *r);

#endif
