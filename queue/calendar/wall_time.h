/*
 * A time as people write it, wherever Sluice takes one: in annotations, on command lines, in
 * parameters of its API. Pure, and without a zone: this reads what the clock on a wall shows, and
 * only a zone makes an instant of it.
 *
 *     [DAY] [CLOCK] [ZONE]
 *
 *     DAY      2026-11-30, Mon, Monday, today, yesterday, tomorrow
 *     CLOCK    9:00, 09:00, 24:00. Without it the day begins: 00:00
 *     ZONE     of the IANA database. What a time without one means is for the caller to say
 *
 * 2026-11-30T09:00 is a day and a clock, too. RFC 3339 (base/instant.h) is for the caller to ask first.
 * Without a day, and with a weekday, it is the next one, or the last one where the past is asked about.
 */
#ifndef SLUICE_QUEUE_CALENDAR_WALL_TIME_H
#define SLUICE_QUEUE_CALENDAR_WALL_TIME_H

#include "base/err.h"
#include "base/slice.h"
#include "queue/calendar/zone.h"
#include "sluice/calendar.h"

/* What to write, for the sentences of callers. */
#define WALL_TIME_EXAMPLES                                                                         \
	"\"Mon 9:00\", \"today 21:00\", \"2026-11-30 09:00\", \"2026-11-30\" or \"9:00\""

/* ret_zone: a part of text, empty when it names none. ERR_INVALID: it is no time; the sentence is
 * about the date where it has one that is not, else "" is left in *e for the caller's own. */
int wall_time_read(struct slice text, struct wall_time *ret, struct slice *ret_zone, struct err *e);

/* Local seconds as zone.h counts them, of the next after `about_s`, or the last at or before it. */
int64_t wall_time_local_s(
	const struct wall_time *w, const struct zone *z, int64_t about_s, bool last);

#endif
