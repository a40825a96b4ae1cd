/*
 * Worlds with --bookings: they have windows and prices, and half of their Jobs want their cheapest start
 * (sluice.dev/start: Cheapest), most of them by a deadline some minutes ahead. So the plan of quota
 * (docs/time.md) has bookings, and facts run into these: quotas are edited, runs last longer than they
 * say, clocks step, leaders die.
 *
 * When faults stop, owners do not ask for the cheapest start any more. All bookings go, and what was kept
 * from starting for them must start (P7). What a booking is worth while it is there is
 * test/unit/queue/booked_starts_test.c's.
 *
 * It draws from a generator of its own: other worlds stay what they were.
 */
#ifndef SLUICE_TEST_SIM_BOOKINGS_H
#define SLUICE_TEST_SIM_BOOKINGS_H

#include <stdbool.h>
#include <stddef.h>

#include "test/sim/rng.h"

struct decision;
struct replica;
struct sim;
struct snap;

struct bookings {
	struct rng rng;
	bool on;
};

void bookings_begin(struct sim *s);
/* What the owner of a new Job asks for. */
void bookings_draw(struct sim *s, struct snap *n);
/* Owners do not ask for it any more. */
void bookings_calm(struct sim *s);

/* The queue of a controller has made these decisions. */
void bookings_count(struct sim *s, const struct replica *r, const struct decision *d, size_t n);

#endif
