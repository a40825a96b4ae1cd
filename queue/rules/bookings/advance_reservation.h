/*
 * AdvanceReservations: quota that admins keep for a time. docs/reservations.md
 *
 * A reservation is told as a fact, and judged by the next decision, when all other facts are told: in the
 * order of creation, then by name, those first that were accepted before. One is accepted if the
 * plan (queue/plan/quota_plan.h) has room for it beside runs and other reservations at each moment of its
 * windows. From then on it is booked, and stays accepted whatever comes, until it is dropped or
 * what it reserves is edited. One that is refused is judged again once a minute.
 *
 * What is always true:
 *
 *   - only an accepted one is booked, and only from now on: a window that has ended is booked no more
 *   - which are accepted depends on spec.accepted and on facts, never on the order in which they were
 *     told
 */
#ifndef SLUICE_QUEUE_RULES_BOOKINGS_ADVANCE_RESERVATION_H
#define SLUICE_QUEUE_RULES_BOOKINGS_ADVANCE_RESERVATION_H

#include "base/arena.h"
#include "base/list.h"
#include "base/tree.h"
#include "sluice/queue.h"

#define ADVANCE_RELEASE_MAX_MS (INT64_C(31) * 24 * 3600 * 1000)

struct calendar_ref;
struct clusterqueue;

struct advance_reservation {
	char *name;
	uint64_t serial;
	struct tree_node by_name;
	/* In force; its strings are in memory; spec.name NULL: none. spec.accepted is what the queue
	 * says. */
	struct advance_reservation_spec spec;
	struct arena memory;
	char *invalid;
	struct calendar_ref *calendar_ref; /* NULL: it has none */
	struct link of_calendar_ref;
	uint64_t stopped_total;
};

struct advance_reservations {
	struct tree all; /* by name */
	uint64_t serials;
};

void advance_reservations_init(struct advance_reservations *all);
void advance_reservations_done(struct queue *q);

/* In name order; NULL: none. */
struct advance_reservation *advance_reservation_first(const struct queue *q);
struct advance_reservation *advance_reservation_next(const struct advance_reservation *a);

/* Does it reserve quota of cq: named, or for all? */
bool advance_reservation_concerns(
	const struct advance_reservation *a, const struct clusterqueue *cq);

/* Says what is wrong with it, by itself (advance_spec.c). */
int advance_spec_check(const struct advance_reservation_spec *s, struct err *e);
/* Is the same quota reserved for the same time? Who may use it, and releaseAfter, may differ. */
bool advance_spec_reserves_same(
	const struct advance_reservation_spec *a, const struct advance_reservation_spec *b);

#endif
