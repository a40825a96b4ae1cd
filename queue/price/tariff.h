/*
 * A tariff: the price of an hour over time, constant between its steps.
 *
 * A PricePlan has prices of units of resources over time (plan.h); for one Job these make one
 * tariff. It answers what a run costs, and when a run would cost least.
 *
 * Exact: a run's cost is summed over the steps in 128 bits and rounded up to a millionth once. The
 * cheapest start is the earliest, the latest, or one at which the run begins or ends with a step,
 * because between these the cost is linear. All of them are tried, in one pass over the steps.
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

/* The first step counts before its from_ms as well, the last one for ever. Steps are in order of
 * time, and n >= 1. Belongs to the caller. */
struct tariff {
	const struct tariff_step *step;
	size_t n;
};

/* The index of the step at at_ms. */
size_t tariff_step_at(const struct tariff *t, int64_t at_ms);

/* The price at that moment. */
int64_t tariff_at(const struct tariff *t, int64_t at_ms);

/* What [from_ms, to_ms) costs; from_ms <= to_ms. Saturated at 64 bits. */
int64_t tariff_cost(const struct tariff *t, int64_t from_ms, int64_t to_ms);

/* Returns what [from_ms, to_ms) costs, exactly: per_hour times milliseconds, summed. For callers
 * that multiply or add before the one rounding. */
__int128 tariff_weight(const struct tariff *t, int64_t from_ms, int64_t to_ms);

struct tariff_start {
	int64_t at_ms;
	int64_t cost;
};

/* The cheapest start of a run of duration_ms in [earliest_ms, latest_ms]; of equals the earliest.
 * Needs earliest_ms <= latest_ms, duration_ms >= 0. */
struct tariff_start tariff_cheapest(
	const struct tariff *t, int64_t earliest_ms, int64_t latest_ms, int64_t duration_ms);

#endif
