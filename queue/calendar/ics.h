/*
 * Holidays from an iCalendar file (RFC 5545), as dates, for `sluice calendar import`. It reads
 * events of whole days (DTSTART and DTEND as VALUE=DATE, or DURATION in days), repeated yearly
 * (RRULE with FREQ=YEARLY, INTERVAL, COUNT, UNTIL; EXDATE), and their SUMMARY. Of an event that is
 * there in several versions (one UID) the newest counts, by SEQUENCE; an occurrence that an event of
 * its own moves or cancels (RECURRENCE-ID) is not where it was. An event with anything else is left
 * out, and a sentence says why, with its line: an exception that is silently wrong is worse than a
 * missing one. What is cancelled is not left out: it is no holiday.
 *
 * The text is not trusted: all of it is bounded, and what is kept is safe to print.
 */
#ifndef SLUICE_QUEUE_CALENDAR_ICS_H
#define SLUICE_QUEUE_CALENDAR_ICS_H

#include <stddef.h>

#include "base/err.h"
#include "base/slice.h"
#include "sluice/calendar.h"

#define ICS_BYTES_MAX (4 * 1024 * 1024)
#define ICS_HOLIDAYS_MAX CALENDAR_DATES_MAX
#define ICS_SKIPS_MAX 64 /* sentences kept; the others are counted */
#define ICS_SUMMARY_SIZE (CALENDAR_NAME_MAX + 1)

struct ics_holiday {
	struct date_range dates;
	size_t line;			/* where its event begins */
	char summary[ICS_SUMMARY_SIZE]; /* "" when there is none */
};

struct ics {
	struct ics_holiday *holiday; /* by first date, then as in the file */
	size_t nholidays;
	struct err skip[ICS_SKIPS_MAX]; /* "line 12: \"Meeting\" has a time of day; ..." */
	size_t nskips;			/* may be more */
};

/* Reads the holidays that touch the horizon. ERR_INVALID: the text is no iCalendar; ERR_LIMIT: it
 * is too long, or has too many dates. The sentence says what to do. */
int ics_read(struct slice text, struct date_range horizon, struct ics **ret, struct err *e);
void ics_free(struct ics *i); /* NULL is fine */

#endif
