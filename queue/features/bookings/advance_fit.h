/*
 * Has an AdvanceReservation its quota? Before its time: is there so much at all, beside other reservations
 * alone, by the quotas as they are. In its time: is what it still keeps free, beside all that is held.
 *
 * Both are asked for views, so they look at what is booked and change nothing.
 */
#ifndef SLUICE_QUEUE_FEATURES_BOOKINGS_ADVANCE_FIT_H
#define SLUICE_QUEUE_FEATURES_BOOKINGS_ADVANCE_FIT_H

#include <stdbool.h>
#include <stdint.h>

struct advance_reservation;
struct queue;
struct quota_row;

/* Where it does not fit: of this row's tree so much is kept at some moment of the window, and there is
 * less. */
struct advance_misfit {
	const struct quota_row *row;
	__int128 kept, quota;
	bool several; /* reservations keep that */
};

/* In its next window, beside other reservations alone? False: *ret says where not. */
bool advance_fits_alone(
	const struct queue *q, const struct advance_reservation *a, struct advance_misfit *ret);
/* One that is open: is all that it still keeps free now? */
bool advance_has_quota(const struct advance_reservation *a);

#endif
