/*
 * Calendars in words, for the scenarios of test/calendar/ and for probe.c.
 *
 *   zone Europe/Berlin
 *   open night: days Mon-Thu, 19:00 to 07:00
 *   open weekend: week Fri 19:00 to Mon 07:00
 *   open closing: cron 0 18 28-31 * *, for 6h
 *   open load-test: at 2026-09-12T08:00 to 2026-09-13T20:00
 *   except xmas: 2026-12-24..2026-12-26 2026-12-31 as Sunday
 */
#ifndef SLUICE_TEST_CALENDAR_WORDS_H
#define SLUICE_TEST_CALENDAR_WORDS_H

#include <stdbool.h>

#include "base/err.h"
#include "queue/calendar/zone.h"
#include "sluice/calendar.h"

#define WORDS_LIST_MAX (CALENDAR_WINDOWS_MAX + 8) /* so that too many can be tried */

struct calendar_words {
	struct zone *zone;
	char time_zone[128];
	struct window_spec window[WORDS_LIST_MAX];
	size_t nwindows;
	struct exception_spec exception[WORDS_LIST_MAX];
	size_t nexceptions;
	char *kept[8 * WORDS_LIST_MAX]; /* what the specs point to */
	size_t nkept;
	struct err said;	   /* the first refusal of a line; then there is no calendar */
	struct calendar *calendar; /* made at the first question */
};

void calendar_words_init(struct calendar_words *w);
void calendar_words_done(struct calendar_words *w);

/* False when the line is none of the above. A line with a fault is refused: see said. */
bool calendar_words_line(struct calendar_words *w, const char *line);

/* NULL: refused; said has the sentence. */
struct calendar *calendar_words_get(struct calendar_words *w);

/* "2026-03-29T03:00" in the zone, or "2026-03-29T01:00Z". */
bool calendar_words_time(const struct calendar_words *w, const char *text, int64_t *ret_s);

#endif
