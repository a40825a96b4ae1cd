/*
 * The windows of an AdvanceReservation: from spec.from until spec.until, or whenever its Calendar is open
 * within a year from now on.
 */
#ifndef SLUICE_QUEUE_FEATURES_BOOKINGS_ADVANCE_WINDOWS_H
#define SLUICE_QUEUE_FEATURES_BOOKINGS_ADVANCE_WINDOWS_H

#include "queue/job/text.h"
#include "queue/features/bookings/advance_reservation.h"

/* From now on; none is booked. False: reason and sentence in a. */
bool advance_windows_find(struct queue *q, struct advance_reservation *a);
/* Appends that its Calendar is not there, and which one may have been meant. */
void advance_say_no_calendar(
	const struct queue *q, const struct advance_reservation *a, struct text *t);
void advance_windows_free(struct queue *q, struct advance_reservation *a);
/* The same for one that is booked. Windows that are as before keep their bookings; others have none yet. */
void advance_windows_renew(struct queue *q, struct advance_reservation *a);

void advance_window_unbook(struct queue *q, struct advance_window *w);
void advance_unbook(struct queue *q, struct advance_reservation *a); /* all of them */

#endif
