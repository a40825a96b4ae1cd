/*
 * Who uses AdvanceReservations: what runs of a ClusterQueue hold now and are planned to hold over
 * time, in sets of runs that may use the same ones.
 *
 * At each moment a run counts for one of those that it may use, as far as that one keeps what the
 * run holds, and with the rest for the next. Runs are shared out by a maximum flow: the oldest
 * AdvanceReservation has as much of them as it can have, then the next one beside that, and so on.
 * So what each has does not depend on the order in which runs were counted.
 */
#ifndef SLUICE_QUEUE_FEATURES_BOOKINGS_ADVANCE_USERS_H
#define SLUICE_QUEUE_FEATURES_BOOKINGS_ADVANCE_USERS_H

#include "queue/features/bookings/advance_reservation.h"

struct localqueue;
struct user;

/* In place of a moment: what runs hold, not what is planned. For one that is open. */
#define ADVANCE_PRESENT INT64_MIN

/* May Jobs of this user in this LocalQueue, which is of its ClusterQueue, use it? */
bool advance_usable_by(
	const struct advance_reservation *a, const struct localqueue *lq, const struct user *user);

/* Counts all runs of the ClusterQueue anew, after it has other AdvanceReservations or these other
 * users. `judged`: counts as the youngest if it is not among them yet; NULL: none is judged. */
void advance_users_anew(
	struct clusterqueue *cq, struct advance_reservation *judged, int64_t now_ms);
/* Counts a run that is booked, `times` 1 or -1. */
void advance_users_count(struct reservation *r, int times, int64_t now_ms);
/* Does what one of these AdvanceReservations has depend on the run? Its own, and those that share
 * runs with them. */
bool advance_users_concern(const struct reservation *r, const struct advance_reservation *a);

/* What runs that may use it are planned to hold of a row. */
__int128 advance_users_hold(
	const struct advance_reservation *a, const struct quota_row *row, int64_t at_ms);
/* Returns how much of `left` of its row x is used by runs that count for it. *until_ms: lowered to
 * when that may change. */
int64_t advance_used(const struct advance_reservation *a, struct advance_row *x, int64_t left,
	int64_t at_ms, int64_t *until_ms);

#endif
