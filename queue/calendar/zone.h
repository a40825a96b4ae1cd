/*
 * A time zone as a table of offsets from UTC. Pure; tzdata.h makes the table from the system's
 * database, for the years 1970 to 2100. Before and after, the first and the last offset go on.
 *
 * A local time is written as seconds "as if it were UTC": 1970-01-01 19:00 is 68,400 in every zone.
 * All seconds are within +-ZONE_FAR_S, four million years.
 *
 * Wall clocks jump: in a gap they skip local times, in a fold they repeat them. Windows of local
 * times need a clock that never runs back. Else a window could end before it begins, and adjacent
 * windows could overlap. So there is one rule, in three equivalent forms:
 *
 *     zone_instant_s   a local time happens at the first instant that has this or a later local
 *                      time: in a gap at the jump, in a fold the first time.
 *     zone_clock_s     the latest local time that has been seen so far. In a fold it stands still
 *                      until the wall clock has caught up.
 *     for all t and l: zone_instant_s(l) <= t exactly when l <= zone_clock_s(t).
 *
 * The rule of RFC 5545 is another one, and is not monotone: with it a window from 02:30 to 03:15
 * ends before it starts, in the night in which Berlin's clocks skip an hour.
 */
#ifndef SLUICE_QUEUE_CALENDAR_ZONE_H
#define SLUICE_QUEUE_CALENDAR_ZONE_H

#include <stddef.h>
#include <stdint.h>

#define ZONE_NAME_SIZE 64
#define ZONE_TEXT_SIZE 48
#define ZONE_FAR_S (INT64_C(1) << 47)

struct zone_span {
	int64_t from_s;	  /* UTC; the first one's is INT64_MIN */
	int32_t offset_s; /* local time minus UTC; within +-26 h */
	char abbreviation[12];
	/* Set by zone_new(): local times below this happen in this span or before; INT64_MAX in the
	 * last. Never decreases. */
	int64_t reach_s;
};

struct zone {
	char name[ZONE_NAME_SIZE];
	size_t nspans;
	struct zone_span span[]; /* by from_s */
};

/* Copies the spans. There is at least one, they ascend, and the first one's from_s is ignored. */
struct zone *zone_new(const char *name, const struct zone_span *span, size_t nspans);
struct zone *zone_utc(void);
struct zone *zone_copy(const struct zone *z);
void zone_free(struct zone *z); /* NULL is fine */

/* The span at at_s. */
const struct zone_span *zone_span_at(const struct zone *z, int64_t at_s);

int64_t zone_local_s(const struct zone *z, int64_t at_s); /* what the wall clock shows */
int64_t zone_clock_s(const struct zone *z, int64_t at_s);
int64_t zone_instant_s(const struct zone *z, int64_t local_s);

/* "Sun 2026-03-29 03:00 CEST", with seconds when there are any. Returns ret_text. */
const char *zone_text(const struct zone *z, int64_t at_s, char ret_text[ZONE_TEXT_SIZE]);

#endif
