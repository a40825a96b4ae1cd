/*
 * The extent of an AdvanceReservation: what it reserves, and when.
 *
 *   rows      of which (flavor, resource) at which nodes of the quota tree, and how much. Amounts of a whole
 *             flavor follow the quotas as they are, so rows are found anew after edits of quotas.
 *   windows   from spec.from until spec.until, or whenever its Calendar is open within a year from
 *             now.
 */
#ifndef SLUICE_QUEUE_FEATURES_BOOKINGS_ADVANCE_EXTENT_H
#define SLUICE_QUEUE_FEATURES_BOOKINGS_ADVANCE_EXTENT_H

#include "queue/job/text.h"
#include "queue/features/bookings/advance_reservation.h"

/* Finds the rows. False: the reason and the sentence in a say what is missing; what can be had is
 * in a->row all the same. */
bool advance_rows_find(struct queue *q, struct advance_reservation *a);
void advance_rows_free(struct advance_reservation *a);

/* Finds the windows from now on; none is booked. False: reason and sentence in a. */
bool advance_windows_find(struct queue *q, struct advance_reservation *a);
/* Finds the windows of one that is booked. Those that are as before keep their bookings; others
 * have none yet. */
void advance_windows_renew(struct queue *q, struct advance_reservation *a);
void advance_windows_free(struct queue *q, struct advance_reservation *a);
/* Appends that its Calendar is not there, and which one may have been meant. */
void advance_say_no_calendar(
	const struct queue *q, const struct advance_reservation *a, struct text *t);

void advance_window_unbook(struct queue *q, struct advance_window *w);
void advance_unbook(struct queue *q, struct advance_reservation *a); /* all of its windows */

#endif
