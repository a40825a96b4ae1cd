/*
 * Clearing: when an AdvanceReservation begins, runs are stopped that still hold what it reserves.
 *
 * Nothing has been started that was expected to run into it. So these are runs that last longer than
 * expected, that were there before quota was lowered, or that an earlier leader started. Of the runs
 * whose end makes quota free for it one after the other goes, until it has its quota, in the order of
 * preemption: promises, runs that end anyway, lower priority, later start. Then those stay that turned
 * out to be unnecessary. So none of them goes for nothing, but another set might be smaller. Runs that
 * may use this AdvanceReservation stay. Runs that may use another open one go last, and they stay
 * when an older AdvanceReservation would keep all that their end gives. Runs that a stop would end
 * as Complete go behind all of these.
 *
 * Runs are cleared when the window begins, after edits of quotas, once a minute, and when runs go
 * that use the AdvanceReservation: what they held is kept, and may not be free where quota was
 * lowered.
 */
#ifndef SLUICE_QUEUE_FEATURES_BOOKINGS_ADVANCE_CLEAR_H
#define SLUICE_QUEUE_FEATURES_BOOKINGS_ADVANCE_CLEAR_H

#include <stddef.h>

struct advance_reservation;
struct queue;

void advance_clear(struct queue *q);
/* How many runs that were stopped for it still have pods. */
size_t advance_still_leaving(const struct queue *q, const struct advance_reservation *a);

#endif
