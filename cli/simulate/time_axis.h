/*
 * The ticks of a chart's time axis: round local times of one zone. A day's tick is at its midnight,
 * even where that comes 23 or 25 hours after the last one; weeks begin on Monday.
 */
#ifndef SLUICE_CLI_SIMULATE_TIME_AXIS_H
#define SLUICE_CLI_SIMULATE_TIME_AXIS_H

#include <stddef.h>
#include <stdint.h>

struct zone;

enum { TIME_AXIS_TICKS = 12, TIME_AXIS_TEXT = 24 };

struct time_tick {
	int64_t at_ms;
	char text[TIME_AXIS_TEXT]; /* "18:00"; at a midnight "Sat 21 Nov" */
};

/* Fills ret with about ten ticks within [first_ms, last_ms], oldest first; returns how many. */
size_t time_axis(const struct zone *z, int64_t first_ms, int64_t last_ms,
	struct time_tick ret[TIME_AXIS_TICKS]);

#endif
