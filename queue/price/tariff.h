/*
 * A tariff: what an hour costs, from when on. Constant between its steps.
 *
 * A PricePlan says what a unit of each resource costs and when (plan.h); for one Job that comes to
 * one such list of steps. Here is what is asked of it: what a run costs, and when a run would cost
 * least (reference A.4 rule 6).
 *
 * Exact: a run's cost is summed over the steps in 128 bits and rounded up to a millionth once. The
 * cheapest start is one of the earliest, the latest, and those at which the run begins or ends with
 * a step, because between these the cost changes in a straight line. All of them are looked at, in
 * one walk over the steps.
 */
#ifndef SLUICE_QUEUE_PRICE_TARIFF_H
#define SLUICE_QUEUE_PRICE_TARIFF_H

#include <stddef.h>
#include <stdint.h>

struct tariff_step {
	int64_t from_ms;
	int64_t per_hour; /* millionths of the currency's unit; may be negative, as power prices are
			   */
};

/* The first step holds before its from_ms as well, the last one for ever. Steps stand in order of
 * time, and n >= 1. Belongs to the caller. */
struct tariff {
	const struct tariff_step *step;
	size_t n;
};

/* The index of the step that holds at at_ms. */
size_t tariff_step_at(const struct tariff *t, int64_t at_ms);

/* The price of that moment. */
int64_t tariff_at(const struct tariff *t, int64_t at_ms);

/* What [from_ms, to_ms) costs; from_ms <= to_ms. Stops at the limits of 64 bits. */
int64_t tariff_cost(const struct tariff *t, int64_t from_ms, int64_t to_ms);

/* The same exactly: per_hour times milliseconds, summed. For who has more to multiply it by, or
 * goes on adding, before the one rounding. */
__int128 tariff_weight(const struct tariff *t, int64_t from_ms, int64_t to_ms);

struct tariff_start {
	int64_t at_ms;
	int64_t cost;
};

/* When to start a run of duration_ms in [earliest_ms, latest_ms] so that it costs least; the
 * earliest of those that cost the same. Needs earliest_ms <= latest_ms, duration_ms >= 0. */
struct tariff_start tariff_cheapest(
	const struct tariff *t, int64_t earliest_ms, int64_t latest_ms, int64_t duration_ms);

#endif
