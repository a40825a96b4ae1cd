/*
 * Window close: which runs are stopped at the end of a window, and when (docs/time.md).
 *
 * Level, not edge: a run has to stop while a policy that binds it says Suspend, its Calendar is
 * closed, and nothing protects the run:
 *
 *   exempt            by its priority or its labels;
 *   minRun            it started less than that ago; it is looked at again then;
 *   maxSuspensions    it was stopped so often before; it goes on to its end;
 *   overrun           the close was less than that ago, and the run is expected to end within.
 *
 * The time of the close comes from the Calendar itself (the last change before now), so it is right
 * after a restart and after a jump of the clock. An unknown Calendar stops none.
 *
 * A start that is not confirmed has done no work: minRun and overrun do not protect it. The gate
 * calls it off if it was not sent, and else stops it.
 */
#ifndef SLUICE_QUEUE_FEATURES_WINDOWS_WINDOW_CLOSE_H
#define SLUICE_QUEUE_FEATURES_WINDOWS_WINDOW_CLOSE_H

#include "queue/features/windows/window_state.h"
#include "queue/core/model/reservation.h"

/* When this run will be stopped by a window, as things stand; INT64_MAX: it will not. *ret_by (may
 * be NULL): by which policy. */
int64_t window_close_stop_ms(
	const struct queue *q, const struct reservation *r, struct runpolicy **ret_by);
/* When its notice is due: the stop less the notice period, which may have passed. INT64_MAX: never,
 * or it was given for this stop. *ret_stop_ms: the stop. */
int64_t window_close_notice_ms(
	const struct queue *q, const struct reservation *r, int64_t *ret_stop_ms);

/* Returns whether the policy exempts the Job, by its priority or its labels. */
bool window_close_exempts(const struct runpolicy *p, const struct workload *w);
/* Until when the policy spares this run: INT64_MAX for good (exempt, maxSuspensions), else minRun's
 * end. */
int64_t window_close_spares_until_ms(const struct runpolicy *p, const struct reservation *r);

#endif
