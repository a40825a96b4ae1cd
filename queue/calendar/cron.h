/*
 * The five fields of crontab(5), as Kubernetes reads them: minute, hour, day of the month, month,
 * weekday; numbers, names, lists, ranges, steps, and @daily and the like. When both a day of the
 * month and a weekday are given, either is enough.
 *
 * A CronJob fires when the wall clock shows a minute that matches. A minute that clocks skip does
 * not fire, and one that they repeat fires twice (kubernetes/kubernetes#121594; simulated alike).
 * Windows of a calendar start otherwise (sluice/calendar.h): in a gap at the jump, in a fold once.
 */
#ifndef SLUICE_QUEUE_CALENDAR_CRON_H
#define SLUICE_QUEUE_CALENDAR_CRON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "queue/calendar/zone.h"

struct cron {
	uint64_t minute, hour, day, month, weekday; /* a bit for each that matches */
	bool any_day, any_weekday;		    /* '*': only the other one counts */
};

/* The sentence names neither object nor field. */
int cron_parse(const char *schedule, struct cron *ret, struct err *e);

/* Whether it fires on that date (days since 1970), taken as that weekday (0 is Sunday). */
bool cron_on(const struct cron *c, int32_t day, int weekday);
/* The first matching minute of a day from `minute` on, the last one up to `minute`; -1: none. */
int cron_minute_from(const struct cron *c, int minute);
int cron_minute_until(const struct cron *c, int minute);

/* When a CronJob fires first after after_ms, at most last_ms and, as in Kubernetes, within five
 * years; INT64_MAX when it does not. Whole days that do not match are skipped. */
int64_t cron_next_ms(const struct cron *c, const struct zone *z, int64_t after_ms, int64_t last_ms);

#endif
