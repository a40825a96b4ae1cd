/*
 * Clearing: when an AdvanceReservation begins, runs are stopped that still hold what it reserves.
 *
 * Nothing has been started that was expected to run into it. So these are runs that last longer than
 * expected, that were there before quota was lowered, or that an earlier leader started. Of all runs
 * whose end makes quota free for it the fewest go, in the order of preemption: promises, runs that end
 * anyway, lower priority, later start. Runs that may use it stay. Runs that may use another one that is
 * open go last.
 *
 * It is done when the window begins, after edits of quotas, and once a minute until it has its quota.
 */
#ifndef SLUICE_QUEUE_RULES_BOOKINGS_ADVANCE_CLEAR_H
#define SLUICE_QUEUE_RULES_BOOKINGS_ADVANCE_CLEAR_H

#include <stddef.h>

struct advance_reservation;
struct queue;

void advance_clear(struct queue *q);
/* How many runs that were stopped for it still have pods. */
size_t advance_still_leaving(const struct queue *q, const struct advance_reservation *a);

#endif
