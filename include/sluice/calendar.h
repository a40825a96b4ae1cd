/*
 * A calendar: when something may run. Named windows of local time, and dates that are exceptions.
 * Pure: the zone comes as a table (queue/calendar/zone.h), the time as an argument.
 *
 * Level, not edge: the only question is "is this instant inside?". There are no firings to miss or
 * to double, and no state to lose; asking again after a restart, a jump of the clock or an edit
 * gives the answer that always was right.
 *
 * The rules (docs/time.md tells them to admins):
 *
 * - The clock is the zone's, but never runs back: zone_clock_s(). A local time that is skipped
 *   happens at the jump, and one that is repeated happens the first time. So a window never ends
 *   before it begins, and adjacent windows leave no hole and do not overlap.
 * - A date D has an effective weekday: that of the first exception listed that covers D and names
 *   one, else its own.
 * - DAYS: open on D at t when D's effective weekday is among the days and from <= t < to. With
 *   to <= from the window wraps midnight: from `from` on, and on the next date until `to`, whatever
 *   weekday that date counts as. The day is the day on which it starts.
 * - WEEK: open when (effective weekday of D, t) is in the span, which may wrap the week.
 * - CRON: each start lasts `duration_s` of elapsed time, so its closing hour moves when the clocks
 *   do. A start falls on D when D's month and day of the month and its effective weekday match. Two
 *   starts that overlap are one opening.
 * - ONCE: from one local time to another.
 * - Windows unite. The window that is shown is the first one listed that is open.
 * - An exception treated as Open or Closed makes exactly 00:00 to 24:00 of its dates open or
 *   closed, whatever the windows say. What a window carries into the next date is not touched.
 */
#ifndef SLUICE_CALENDAR_H
#define SLUICE_CALENDAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct zone;

#define CALENDAR_WINDOWS_MAX 64
#define CALENDAR_EXCEPTIONS_MAX 64
#define CALENDAR_DATES_MAX 4096 /* of all exceptions together, a range counts as one */
#define CALENDAR_NAME_MAX 63
#define CALENDAR_CRON_MAX 128		     /* bytes of a schedule */
#define CALENDAR_CRON_DURATION_MAX_S 2678400 /* 31 days */
#define CALENDAR_FIRST_YEAR 1970
#define CALENDAR_LAST_YEAR 2100
#define CALENDAR_HORIZON_S (INT64_C(5) * 366 * 86400) /* beyond it, a change is never */
#define CALENDAR_NEVER INT64_MAX

enum window_shape { WINDOW_DAYS, WINDOW_WEEK, WINDOW_CRON, WINDOW_ONCE };

struct week_point {
	int weekday; /* 0 is Sunday */
	int minute;  /* of the day, 0 to 1440 */
};

/* How the day of a wall_time is given, and by which of its fields. */
enum wall_day {
	WALL_ANY_DAY,  /* by none: the first day on which that time fits */
	WALL_WEEKDAY,  /* by weekday: the first that fits */
	WALL_DAY_NEAR, /* by days_ahead, from the present day */
	WALL_DATE,     /* by date */
};

/* A time by the clock on a wall, as somebody wrote it (queue/calendar/wall_time.h). Small, for each
 * Job has two. */
struct wall_time {
	int64_t date;	   /* days since 1970-01-01 */
	int16_t minute;	   /* of the day, 0 to 1440 */
	uint8_t day;	   /* enum wall_day */
	uint8_t weekday;   /* 0 is Sunday */
	int8_t days_ahead; /* -1 is yesterday */
	bool has_clock;	   /* else minute is 0 */
};

/* A window of one shape; the fields of other shapes are ignored. */
struct window_spec {
	const char *name;
	enum window_shape shape;
	/* DAYS. From 00:00 to 24:00 is the whole day; from == to is refused, for it could mean
	 * nothing or a whole day. */
	unsigned days;		    /* bit 0 is Sunday; not 0 */
	int from_minute, to_minute; /* of the day; 0 to 1439, 0 to 1440 */
	/* WEEK. The same point twice is refused; "Mon 00:00" to "Sun 24:00" is the whole week. */
	struct week_point from, to;
	/* CRON: queue/calendar/cron.h */
	const char *cron;
	int64_t duration_s; /* 1 minute to 31 days */
	/* ONCE: local seconds (queue/calendar/zone.h), from < to */
	int64_t from_local_s, to_local_s;
};

enum treat_as { /* the weekdays are 0 to 6, from Sunday on */
	TREAT_AS_OPEN = 7,
	TREAT_AS_CLOSED = 8,
};

struct date_range {
	int32_t first_day, last_day; /* local dates, days since 1970-01-01; both included */
};

struct exception_spec {
	const char *name;
	int treat_as; /* a weekday, or enum treat_as */
	const struct date_range *date;
	size_t ndates;
	/* spec.except[].datesFrom, "" when absent. Not read here: the caller resolves it into
	 * `date`. */
	const char *dates_configmap, *dates_key;
};

/* A Calendar's spec, decoded. Borrowed by the call it is passed to. */
struct calendar_spec {
	const char *name;
	int64_t generation;
	bool deleting;
	const char *time_zone;	 /* spec.timeZone, as written; "" when absent. Only for sentences */
	const struct zone *zone; /* NULL: there is no such zone; calendar_new() refuses */
	const struct window_spec *window;
	size_t nwindows;
	const struct exception_spec *exception;
	size_t nexceptions;
};

struct calendar;

/* Makes a calendar of a copy of spec, the zone included. ERR_INVALID, ERR_LIMIT: the sentence
 * begins with the field, as in "spec.open[2].to: ...", and says what to write instead. */
int calendar_new(const struct calendar_spec *spec, struct calendar **ret, struct err *e);
void calendar_free(struct calendar *c); /* NULL is fine */

struct calendar_state {
	bool open;
	const char *window; /* the first listed that is open; NULL when closed, or open only by an
			       exception. Lives as long as the calendar, as does: */
	const char *exception; /* the one that covers this date, or NULL */
	int64_t until_ms;      /* when any of the three changes next; CALENDAR_NEVER */
};

/*
 * Says whether the calendar is open at at_ms, milliseconds since the epoch. Times before 1970 count
 * as 1970, after 9999 as 9999.
 *
 * The last answer is remembered for as long as it holds: asking again costs nothing. A new answer
 * looks at each window for every local date until something changes, each well below 1 us. The
 * worst is a calendar that never changes: 1,830 dates, once.
 */
struct calendar_state calendar_at(struct calendar *c, int64_t at_ms);

/* Returns when the calendar opens or closes next, after at_ms; CALENDAR_NEVER when not within
 * CALENDAR_HORIZON_S. */
int64_t calendar_next_change(struct calendar *c, int64_t at_ms);

/* Tells whether the calendar is closed at at_ms and for the next five years: condition
 * NeverOpens. */
bool calendar_never_opens(struct calendar *c, int64_t at_ms);

bool calendar_has_window(const struct calendar *c, const char *name);
/* Returns the name of a window by index, as listed; NULL past the last. */
const char *calendar_window_name(const struct calendar *c, size_t i);

const struct zone *calendar_zone(const struct calendar *c);

#endif
