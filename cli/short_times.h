/*
 * Times of an answer in few letters, for people.
 *
 *     14:10 CET: on the same day as the time before it.
 *     Tue 14:10: within a week from now.
 *     2026-12-20 14:10: else.
 *
 * Times are in the user's zone, which is named with the first, and again where it changes.
 */
#ifndef SLUICE_CLI_SHORT_TIMES_H
#define SLUICE_CLI_SHORT_TIMES_H

#include <stdint.h>

#include "base/buf.h"
#include "cli/local_times.h"

/* The state of one answer. */
struct short_times {
	int64_t now_ms;
	int64_t day_ms; /* a time of the same day as this one is written without its day */
	struct local_times *named; /* the zone that was named last; borrowed */
};

/* Begins an answer whose sentences name the zone by `named`, too. Borrows it. */
static inline struct short_times short_times_from(int64_t now_ms, struct local_times *named)
{
	return (struct short_times){.now_ms = now_ms, .day_ms = now_ms, .named = named};
}

/* Appends the time; the next one is written beside it. */
void short_times_put(struct short_times *t, int64_t at_ms, struct buf *out);

#endif
