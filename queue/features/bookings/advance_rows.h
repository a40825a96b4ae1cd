/*
 * The rows of an AdvanceReservation: of which (flavor, resource) at which nodes of the quota tree it
 * reserves how much. Amounts of a whole flavor follow the quotas as they are, so rows are found anew
 * after edits of quotas.
 */
#ifndef SLUICE_QUEUE_FEATURES_BOOKINGS_ADVANCE_ROWS_H
#define SLUICE_QUEUE_FEATURES_BOOKINGS_ADVANCE_ROWS_H

#include "queue/features/bookings/advance_reservation.h"

/* False: the sentence in a says what is missing; *ret_reason: ClusterQueueNotFound, FlavorNotFound. What
 * can be had is in a->row all the same. */
bool advance_rows_find(struct queue *q, struct advance_reservation *a, const char **ret_reason);
void advance_rows_free(struct advance_reservation *a);

#endif
