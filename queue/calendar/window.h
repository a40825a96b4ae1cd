/*
 * One window of a calendar: is it open at a moment, and until when is that surely so?
 *
 * The answer never goes beyond the local date of the moment: the caller asks again at the end of
 * the date (calendar.c). So it need not know how exceptions, jumps of clocks and the window's shape
 * play together from one date to the next.
 */
#ifndef SLUICE_QUEUE_CALENDAR_WINDOW_H
#define SLUICE_QUEUE_CALENDAR_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "queue/calendar/almanac.h"
#include "queue/calendar/cron.h"
#include "queue/calendar/zone.h"
#include "sluice/calendar.h"

struct window {
	char name[CALENDAR_NAME_MAX + 1];
	enum window_shape shape;
	unsigned days; /* DAYS */
	int from, to;  /* DAYS: minutes of the day; WEEK: of the week, from Sunday on; from == to is
			  the whole week */
	struct cron cron;
	int64_t duration_s;
	int64_t spacing_s; /* CRON: the longest wait between two starts of one date */
	/* CRON: the last answer, so that going on from date to date looks at each once: the last
	 * date up to known_day on which it starts. INT32_MIN: none that matters any more. */
	int32_t known_day, known_start;
	int64_t opens_s, closes_s; /* ONCE: instants; equal when the clocks skip all of it */
};

/* The moment of a question, and its date. */
struct moment {
	const struct zone *zone;
	const struct almanac *almanac;
	int64_t at_s;
	int32_t day;		/* the local date by zone_clock_s() */
	int minute;		/* of that date */
	int64_t day_end_s;	/* the instant the next date begins */
	bool even;		/* the date has 24 hours: no clock jumps in it */
	int weekday, yesterday; /* effective */
};

struct window_answer {
	bool open;
	int64_t until_s; /* an instant after at_s, at most day_end_s */
};

/* spec has been checked. */
void window_init(struct window *w, const struct window_spec *spec, const struct zone *z);

void moment_init(struct moment *m, const struct zone *z, const struct almanac *a, int64_t at_s);
struct window_answer window_at(struct window *w, const struct moment *m);

#endif
