/*
 * The plan: how much quota will be used when, and for what. docs/time.md
 *
 * It is made of bookings. A booking is an amount of each of some (flavor, resource) at one node of the
 * quota tree, from one moment until another. Runs are bookings, too, until their expected end, so
 * what the plan says of a moment is all that is known of it. For each row of the quota tree with
 * bookings there is a profile of its planned use (profile.h). What exceeds a row's local part counts in
 * its parent, as in quota.h. So bookings in different trees of Cohorts never meet.
 *
 * What is always true:
 *
 *   - at each moment a row's planned use is what quota_take() would make of the bookings of that
 *     moment, in the tree as it is now, and "fits" means what quota_has() says of them;
 *   - no answer depends on the order in which bookings were made.
 *
 * A booking is a note, not a hold: it may be made where there is no room (a run that lasts longer
 * than expected), and quota may become smaller under it. Whoever makes bookings asks first, and asks
 * again when facts have changed (quota_plan_stands()). What a booking is worth is up to them: the
 * plan starts, stops and refuses nothing.
 *
 * Layers: runs and AdvanceReservations are firm, what Jobs book is soft. Each question is asked in
 * one layer: beside all bookings, or beside the firm ones alone. The firm layer is kept from its
 * first booking or question on, so where nothing is reserved it costs nothing.
 *
 * Quotas of the future are taken to be those of now: what the windows and leads of RunPolicies will
 * make of them is not in the plan.
 *
 * Cost: profiles follow edits of quotas by themselves, at the next question (all bookings are added
 * again, if a lendingLimit or a parent is another one now). A booking costs as many steps of a
 * row as it covers, if the row has a local part (a lendingLimit); else a few steps and a look at
 * the heads of blocks. A question goes forward in time and looks at each step at most once, mostly at
 * far fewer. With no bookings there are no profiles.
 */
#ifndef SLUICE_QUEUE_CORE_MODEL_QUOTA_PLAN_H
#define SLUICE_QUEUE_CORE_MODEL_QUOTA_PLAN_H

#include "base/uid.h"
#include "queue/core/model/quota.h"

/* Bookings in one tree of Cohorts beside runs. Each makes questions slower for all, and any owner of
 * a Job can cause one. Those of AdvanceReservations count, but are always made: is_plan_full() of
 * advance_judge.c bounds them. */
#define QUOTA_PLAN_MAX 10000

enum booking_kind {
	BOOKING_RUN, /* what runs, until its expected end */
	BOOKING_HEAD, /* a Job that bookings keep from starting, or one of several heads of Backfill */
	BOOKING_CHEAPEST, /* the start that sluice.dev/start: Cheapest chose */
	BOOKING_ADVANCE,  /* an AdvanceReservation */
};

enum plan_layer {
	PLAN_ALL,
	PLAN_FIRM, /* runs and AdvanceReservations */
	PLAN_LAYERS,
};

struct booking_line {
	struct quota_row *row;
	int64_t amount;
};

/* What is asked for or booked: lines of one node, each of another row. */
struct booking_lines {
	const struct booking_line *line;
	size_t n;
};

/* Belongs to the plan; whoever had it made keeps the pointer. Read only. */
struct booking {
	enum booking_kind kind;
	struct uid who; /* the Job or the object */
	uint64_t serial;
	int64_t from_ms, until_ms; /* INT64_MAX: its end is not known */
	struct link of_plan;
	struct tree_node by_end; /* a run: in quota_plan.run_ends */
	bool aside;		 /* it does not count in its rows: quota_plan_set_aside() */
	struct quota_node *root; /* where it counts towards QUOTA_PLAN_MAX */
	size_t nlines;
	struct booking_line line[];
};

/* Returns the root above the booking's quota today (booking.root may be of before); NULL: no
 * lines. */
struct quota_node *booking_root(const struct booking *b);

struct quota_plan {
	const struct quota *quota;
	uint64_t as_of;	      /* quota.edits when the profiles were last right */
	struct link rows;     /* row_plan.of_plan */
	struct link booked;   /* booking.of_plan, in the order of making */
	struct tree run_ends; /* booking.by_end, of runs */
	uint64_t made;	      /* bookings, ever */
	bool layered;	      /* PLAN_FIRM is kept */
	bool used;	      /* some Cohort tree plans ahead, or has (booked_runs.h) */
	size_t reserving;     /* AdvanceReservations that are known, booked or not */
};

void quota_plan_init(struct quota_plan *p, const struct quota *quota);
void quota_plan_done(struct quota_plan *p); /* before quota_done() */

/* NULL: the tree has QUOTA_PLAN_MAX bookings already; what is firm is always booked. Copies the lines;
 * those of 0 are left out. Needs from_ms < until_ms. */
struct booking *quota_plan_book(struct quota_plan *p, enum booking_kind kind, const struct uid *who,
	struct booking_lines lines, int64_t from_ms, int64_t until_ms);
/* Returns whether the tree of that node has any bookings, runs aside. */
bool quota_plan_has_bookings(struct quota_plan *p, const struct quota_node *node);
/* Returns whether the tree of that node has as many bookings as it may have. Then a look for a
 * start is in vain. */
bool quota_plan_full(const struct quota_node *node);
void quota_plan_unbook(struct quota_plan *p, struct booking *b); /* frees it; NULL is fine */
void quota_plan_move(struct quota_plan *p, struct booking *b, int64_t from_ms, int64_t until_ms);

/* Of runs the one that is expected to end first; NULL: none is booked. */
struct booking *quota_plan_first_end(const struct quota_plan *p);

/* ---- Questions: is there room beside all bookings? Those of _in: of a layer ---- */

/* From from_ms until until_ms? */
bool quota_plan_has_room(
	struct quota_plan *p, struct booking_lines lines, int64_t from_ms, int64_t until_ms);
bool quota_plan_has_room_in(struct quota_plan *p, enum plan_layer layer, struct booking_lines lines,
	int64_t from_ms, int64_t until_ms);
/* The first moment at or after from_ms at which there is none; INT64_MAX: there is always. */
int64_t quota_plan_room_until(struct quota_plan *p, struct booking_lines lines, int64_t from_ms);
/* The earliest moment in [from_ms, latest_ms] from which on there is for length_ms (INT64_MAX: for
 * ever). INT64_MAX: there is none. */
int64_t quota_plan_earliest(struct quota_plan *p, struct booking_lines lines, int64_t length_ms,
	int64_t from_ms, int64_t latest_ms);
int64_t quota_plan_earliest_in(struct quota_plan *p, enum plan_layer layer,
	struct booking_lines lines, int64_t length_ms, int64_t from_ms, int64_t latest_ms);
/* Finds the earliest start from *from_ms on, and how long one may put it off: at each moment of
 * [*from_ms, *ret_to_ms] there is room for length_ms, and at *ret_to_ms + 1 there is not, or it is
 * later than latest_ms. False: there is no such moment up to latest_ms. */
bool quota_plan_next_starts(struct quota_plan *p, struct booking_lines lines, int64_t length_ms,
	int64_t latest_ms, int64_t *from_ms, int64_t *ret_to_ms);

/* Takes a booking out of the count until it is put back, moved or dropped. NULL is fine. */
void quota_plan_set_aside(struct quota_plan *p, struct booking *b);
void quota_plan_put_back(struct quota_plan *p, struct booking *b);

/* Returns whether the booking still fits beside all others. */
bool quota_plan_stands(struct quota_plan *p, struct booking *b);

/* For explanations: the first booking of a Job, of those in [from_ms, until_ms) that use what these
 * lines need, by its beginning, then by its making. NULL: there is none. Goes through all bookings. */
const struct booking *quota_plan_in_the_way(
	struct quota_plan *p, struct booking_lines lines, int64_t from_ms, int64_t until_ms);
/* Returns the first booking of an AdvanceReservation, as quota_plan_in_the_way() does of a Job. */
const struct booking *quota_plan_reserved_in_the_way(
	struct quota_plan *p, struct booking_lines lines, int64_t from_ms, int64_t until_ms);
/* Returns whether the booking is of just these amounts and times. */
bool booking_is(
	const struct booking *b, struct booking_lines lines, int64_t from_ms, int64_t until_ms);
/* Returns whether the booking and the lines use the same pair, in trees that meet. */
bool booking_meets(const struct booking *b, struct booking_lines lines);

/* Returns how much is planned to be used of the row at that moment. */
__int128 quota_plan_use(struct quota_plan *p, const struct quota_row *row, int64_t at_ms);
__int128 quota_plan_use_in(
	struct quota_plan *p, enum plan_layer layer, const struct quota_row *row, int64_t at_ms);

#endif
