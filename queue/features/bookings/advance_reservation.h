/*
 * AdvanceReservations: quota that admins keep for a time. docs/time.md
 *
 * A reservation is told as a fact, and judged by the next decision, when all other facts are told:
 * in the order of creation, then by name, those first that were accepted before. One is accepted if
 * the plan (queue/core/model/quota_plan.h) has room for it beside runs and other reservations at
 * each moment of its windows. From then on it is booked, and stays accepted whatever comes, until
 * it is dropped or what it reserves is edited. One that is refused is judged again once a minute.
 *
 * What is always true:
 *
 *   - only an accepted one is booked, and only from now on: a window that has ended is booked no
 *     more;
 *   - which are accepted depends on spec.accepted and on facts, never on the order in which they were
 *     told;
 *   - where statuses are awaited (queue_await_statuses()), others start on what is given back only after
 *     the status has said so.
 */
#ifndef SLUICE_QUEUE_FEATURES_BOOKINGS_ADVANCE_RESERVATION_H
#define SLUICE_QUEUE_FEATURES_BOOKINGS_ADVANCE_RESERVATION_H

#include "base/arena.h"
#include "base/list.h"
#include "queue/core/model/alarm.h"
#include "queue/core/model/named_object.h"
#include "sluice/queue.h"

#define ADVANCE_RETRY_MS INT64_C(60000)		/* one that was refused is judged again */
#define ADVANCE_ROLL_MS (INT64_C(24) * 3600000) /* the windows of Calendars are looked up again */
#define ADVANCE_SETTLE_MS                                                                          \
	INT64_C(3000) /* a status that an earlier leader wrote is usually heard of by then */
#define ADVANCE_PIECES_MAX 64 /* in which a window is booked */

struct booking;
struct calendar_ref;
struct clusterqueue;
struct quota_row;
struct reservation;

/* What an AdvanceReservation reserves of one row. */
struct advance_row {
	struct quota_row *row;
	int64_t amount;
	int64_t left;	 /* in the window that begins at left_from_ms */
	int64_t offered; /* what is to be left of it once the status says so */
	__int128 most; /* that runs used which may use it, since the period of releaseAfter began */
	bool asked;    /* advance_users.c: whether it can have other runs */
};

/* A time in which it reserves. It is booked in pieces: in each what it still keeps, beside what runs
 * hold that may use it. */
struct advance_window {
	int64_t from_ms, until_ms;
	struct booking **piece; /* in the order of time; of each moment one for each node */
	size_t npieces;
};

struct advance_reservation {
	struct named_object object;
	/* In force; its strings are in memory; spec.name NULL: none. spec.accepted is what the queue
	 * says. */
	struct advance_reservation_spec spec;
	struct arena memory;
	struct calendar_ref *calendar_ref; /* NULL: it has none */
	struct link of_calendar_ref;

	/* The judgement: one of the reasons of advance_reservation_view, and its sentence. */
	const char *reason;
	char message[512];
	int64_t possible_from_ms;

	/* While it is accepted. */
	bool booked;
	struct clusterqueue
		*cq; /* with a reference; NULL: it does not name one, or is not booked */
	struct link of_clusterqueue; /* cq->reserved, if Jobs may use it */
	struct advance_row *row;     /* by node; those of one node stand together */
	size_t nrows;
	struct advance_window *window; /* those that have not ended, in their order */
	size_t nwindows;
	int64_t stale_from_ms,
		stale_until_ms;	 /* pieces in this time are to be made anew; or from >= until */
	int64_t left_from_ms;	 /* 0: of no window anything was given back */
	bool open;		 /* the first window is */
	int64_t open_from_ms;	 /* ... and began then */
	int64_t period_from_ms;	 /* of releaseAfter */
	int64_t watched_from_ms; /* what was used is known from here on */
	int64_t settled_ms;	 /* no run is stopped for it before */
	int64_t rolled_ms;	 /* when its windows were looked up */
	struct alarm alarm;
	uint64_t crowded_as_of; /* counters.version at which `crowded` was right (advance_plan.c) */
	bool crowded;
	bool due;  /* to be looked at by the next decision */
	bool anew; /* its windows are to be looked up again */
	uint64_t stopped_total;
	size_t users_group; /* advance_users.c: of those that share runs */
};

struct advance_reservations {
	struct named_objects all;
	size_t nbooked;				/* so many are */
	bool due;				/* some is */
	bool stale;				/* pieces of some are */
	bool clears;				/* runs are to be stopped: advance_clear.h */
	bool awaits;				/* statuses are: queue_await_statuses() */
	uint64_t quotas_as_of, calendars_as_of; /* edits that were seen */
};

void advance_reservations_init(struct advance_reservations *all);
void advance_reservations_done(struct queue *q);

/* In name order; NULL: none. */
struct advance_reservation *advance_reservation_first(const struct queue *q);
struct advance_reservation *advance_reservation_next(const struct advance_reservation *a);

/* In the order of creation, then by name. */
int advance_reservation_cmp(
	const struct advance_reservation *a, const struct advance_reservation *b);

/* Finds the AdvanceReservation that made a booking; NULL: none, or b is NULL. */
const struct advance_reservation *advance_reservation_of(
	const struct queue *q, const struct booking *b);

/* Returns whether the object reserves quota of cq: named, or for all. */
bool advance_reservation_concerns(
	const struct advance_reservation *a, const struct clusterqueue *cq);

/* What is left of a row in that window, used or not. */
static inline int64_t advance_row_left(const struct advance_reservation *a,
	const struct advance_window *w, const struct advance_row *x)
{
	return w->from_ms == a->left_from_ms ? x->left : x->amount;
}

/* Has the next decision look at the object: facts about it, or the clock, have changed. */
void advance_reservation_due(struct queue *q, struct advance_reservation *a);
/* Drops all that the object has booked: it reserves nothing any more. */
void advance_reservation_end(struct queue *q, struct advance_reservation *a);
/* Follows the object's alarm: the next decision looks. */
void advance_reservation_ring(struct queue *q, struct advance_reservation *a);
/* The clock was set back: windows that had ended may be to come. */
void advance_reservations_set_back(struct queue *q);

/* Judges, books, gives back: before Jobs are asked. */
void advance_reservations_decide(struct queue *q);

/* Says what is wrong with it, by itself (advance_spec.c). */
int advance_spec_check(const struct advance_reservation_spec *s, struct err *e);
/* Is the same quota reserved for the same time? Who may use it, and releaseAfter, may differ. */
bool advance_spec_reserves_same(
	const struct advance_reservation_spec *a, const struct advance_reservation_spec *b);
/* Does the status say the same of what was given back? */
bool advance_spec_left_same(
	const struct advance_reservation_spec *a, const struct advance_reservation_spec *b);
/* Returns whether the same Jobs may use what is reserved. */
bool advance_spec_usable_same(
	const struct advance_reservation_spec *a, const struct advance_reservation_spec *b);

#endif
