/*
 * How people write times of day, weekdays and dates. Pure, and without a zone: this reads local
 * wall time, and only a zone (zone.h) makes instants of it.
 *
 * All return 0, or ERR_INVALID with a sentence that shows the text and an example of what to write.
 * The caller adds the field. Blanks around the text are ignored. The CRD of Calendars takes and
 * refuses the same texts: test/unit/calendar/grammar_test.c compares the two.
 */
#ifndef SLUICE_QUEUE_CALENDAR_NOTATION_H
#define SLUICE_QUEUE_CALENDAR_NOTATION_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/slice.h"
#include "sluice/calendar.h"

/* "19:00", "7:00", "00:00" to "24:00": minutes since midnight. */
int notation_clock(struct slice text, int *ret_minute, struct err *e);

/* "Mon" or "Monday", in any case: 0 is Sunday. */
int notation_weekday(struct slice text, int *ret_weekday, struct err *e);

/* "Mon", "Mon-Thu", "Fri-Mon" (across the end of the week), "Mon,Wed,Fri-Sun": bit 0 is Sunday. */
int notation_days(struct slice text, unsigned *ret_days, struct err *e);

/* "Fri 19:00" */
int notation_week_point(struct slice text, struct week_point *ret, struct err *e);

/* "2026-12-24", of the years 1970 to 2100: days since 1970-01-01. */
int notation_date(struct slice text, int32_t *ret_day, struct err *e);

/* "2026-12-24" or "2026-12-24..2026-12-26", both included. */
int notation_dates(struct slice text, struct date_range *ret, struct err *e);

/* "2026-09-12 08:00" or "2026-09-12T08:00": seconds as zone.h counts local time. */
int notation_local(struct slice text, int64_t *ret_local_s, struct err *e);

/* A text of dates, one or a range a line. Comments after # and empty lines are ignored. *ret_date
 * is the caller's (free; NULL when there are none). ERR_LIMIT: more than max. The sentence names
 * the line. */
int notation_date_list(struct slice text, size_t max, struct date_range **ret_date,
	size_t *ret_count, struct err *e);

/* ---- Writing --------------------------------------------------------------------------------- */

#define NOTATION_TEXT_SIZE 40

/* Write a time of day, and dates; both return ret_text. */
const char *notation_write_clock(int minute, char ret_text[NOTATION_TEXT_SIZE]);
const char *notation_write_dates(struct date_range dates, char ret_text[NOTATION_TEXT_SIZE]);

#endif
