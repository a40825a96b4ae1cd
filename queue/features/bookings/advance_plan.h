/*
 * AdvanceReservations in the plan: what is still kept of their rows in their windows
 * (advance_extent.h).
 *
 * A window of one that Jobs may use is booked as what it still keeps: at each moment what is left
 * of the reserved amount, less what runs that may use it are planned to hold. So together with
 * these runs it takes what was reserved. Each such run is counted (advance_users.h) when it enters
 * the plan, and not any more when it leaves; the pieces follow at the next question. There are at
 * most ADVANCE_PIECES_MAX of a window: beyond that the last one keeps as much as any of those that
 * it stands for, so at some moments more than is needed.
 *
 * A Job that may use it is asked for less: what it wants beyond what is kept for it. Where quota
 * was lowered below what several keep, the older ones come first: it must fit beside them as it is.
 */
#ifndef SLUICE_QUEUE_FEATURES_BOOKINGS_ADVANCE_PLAN_H
#define SLUICE_QUEUE_FEATURES_BOOKINGS_ADVANCE_PLAN_H

#include "queue/core/model/quota_plan.h"
#include "queue/features/bookings/advance_extent.h"
#include "queue/features/bookings/advance_users.h"

/* What is kept of each row in a span of time: writes amounts, as many as there are rows, and until
 * when it is the same. */
void advance_kept(const struct advance_reservation *a, const struct advance_window *w,
	int64_t at_ms, int64_t *ret_amounts, int64_t *ret_until_ms);

/* Books all windows anew. `asks`: only where the firm layer has room. False: it has none in the window
 * *ret_window; then nothing is booked. */
bool advance_book(struct queue *q, struct advance_reservation *a, bool asks, size_t *ret_window);

/* From now on runs that come and go are counted, and Jobs are asked for less / not any more. */
void advance_join(struct queue *q, struct advance_reservation *a);
void advance_leave(struct queue *q, struct advance_reservation *a);

/* The booking of a run came / goes. */
void advance_run_booked(struct queue *q, struct reservation *r);
void advance_run_unbooked(struct queue *q, struct reservation *r);

/* Pieces in cq in that time are to be made anew. */
void advance_stale(struct queue *q, struct clusterqueue *cq, int64_t from_ms, int64_t until_ms);
/* Does that. */
void advance_refresh(struct queue *q);

/* Is there room for these lines, beside what others have reserved? What is kept for Jobs of this
 * user in this LocalQueue need not be free. */
bool advance_has_room(struct queue *q, enum plan_layer layer, const struct localqueue *lq,
	const struct user *user, struct booking_lines lines, int64_t from_ms, int64_t until_ms);
/* The first of what is reserved of that time for others than the Job; NULL: nothing is. */
const struct booking *advance_in_the_way(struct queue *q, const struct localqueue *lq,
	const struct user *user, struct booking_lines lines, int64_t from_ms, int64_t until_ms);
/* Is all of it kept for them now, by one that is open? */
bool advance_covers(struct queue *q, const struct localqueue *lq, const struct user *user,
	struct booking_lines lines);
/* Is any open in cq that Jobs may use? */
bool advance_is_open(const struct clusterqueue *cq);
/* Returns whether the object has a window in that time. */
bool advance_is_in_time(const struct advance_reservation *a, int64_t from_ms, int64_t until_ms);

/* ---- Has it its quota? For views ---- */

/* Says where it does not fit: of this row's tree so much is kept at some moment of the window, and
 * there is less. */
struct advance_misfit {
	const struct quota_row *row;
	__int128 kept, quota;
	bool several; /* reservations keep that */
};

/* Before its time: is there so much at all in its next window, beside other reservations alone, by
 * the quotas as they are? False: *ret says where not. */
bool advance_fits_alone(
	const struct queue *q, const struct advance_reservation *a, struct advance_misfit *ret);
/* In its time: is all that it still keeps free now, beside all that is held? */
bool advance_has_quota(const struct advance_reservation *a);

#endif
