/*
 * What is in the way of an AdvanceReservation that is refused as NotFree: other ones by name, and runs
 * as a number and their last expected end. No Job is named: whoever reads AdvanceReservations may not be
 * one who may see it.
 */
#ifndef SLUICE_QUEUE_FEATURES_BOOKINGS_ADVANCE_OBSTACLES_H
#define SLUICE_QUEUE_FEATURES_BOOKINGS_ADVANCE_OBSTACLES_H

#include "queue/features/bookings/advance_reservation.h"

/* Of that window, in a's reason and sentence, with possible_from_ms. */
void advance_say_not_free(
	struct queue *q, struct advance_reservation *a, const struct advance_window *w);

#endif
