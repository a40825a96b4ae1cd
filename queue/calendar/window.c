#include "queue/calendar/window.h"

#include <stdio.h>

#include "base/must.h"
#include "base/order.h"
#include "queue/calendar/civil.h"

#define WEEK_MINUTES (7 * DAY_MINUTES)

/* ---- birth ----------------------------------------------------------------------------------- */

static int week_minute(struct week_point p)
{
	return (p.weekday * DAY_MINUTES + p.minute) % WEEK_MINUTES;
}

static int64_t longest_wait_s(const struct cron *c)
{
	int longest = 0, before = cron_minute_from(c, 0);
	for (int next; (next = cron_minute_from(c, before + 1)) >= 0; before = next)
		if (next - before > longest)
			longest = next - before;
	return longest * INT64_C(60);
}

void window_init(struct window *w, const struct window_spec *spec, const struct zone *z)
{
	*w = (struct window){.shape = spec->shape};
	snprintf(w->name, sizeof(w->name), "%s", spec->name);
	switch (spec->shape) {
	case WINDOW_DAYS:
		w->days = spec->days;
		w->from = spec->from_minute;
		w->to = spec->to_minute;
		break;
	case WINDOW_WEEK:
		w->from = week_minute(spec->from);
		w->to = week_minute(spec->to);
		break;
	case WINDOW_CRON:
		must(cron_parse(spec->cron, &w->cron, NULL) == 0);
		w->duration_s = spec->duration_s;
		w->spacing_s = longest_wait_s(&w->cron);
		w->known_day = INT32_MIN;
		break;
	case WINDOW_ONCE:
		w->opens_s = zone_instant_s(z, spec->from_local_s);
		w->closes_s = zone_instant_s(z, spec->to_local_s);
		break;
	}
}

void moment_init(struct moment *m, const struct zone *z, const struct almanac *a, int64_t at_s)
{
	int64_t clock_s = zone_clock_s(z, at_s);
	*m = (struct moment){.zone = z, .almanac = a, .at_s = at_s};
	m->day = civil_day_of(clock_s);
	m->minute = civil_second_of(clock_s) / 60;
	m->day_end_s = zone_instant_s(z, (m->day + 1) * DAY_S);
	m->even = m->day_end_s - zone_instant_s(z, m->day * DAY_S) == DAY_S;
	m->weekday = almanac_weekday(a, m->day);
	m->yesterday = almanac_weekday(a, m->day - 1);
}

/* ---- shapes ---------------------------------------------------------------------------------- */

/* The instant of a minute of that date; after at_s, if the minute is to come. */
static int64_t instant_of(const struct moment *m, int minute)
{
	return zone_instant_s(m->zone, m->day * DAY_S + minute * 60);
}

/* The first of two minutes that is to come on that date, else its end. */
static int64_t next_of(const struct moment *m, int a, int b)
{
	int next = DAY_MINUTES;
	if (a > m->minute && a < next)
		next = a;
	if (b > m->minute && b < next)
		next = b;
	return next == DAY_MINUTES ? m->day_end_s : instant_of(m, next);
}

static struct window_answer days_at(const struct window *w, const struct moment *m)
{
	bool wraps = w->to <= w->from;
	bool today = w->days >> m->weekday & 1, yesterday = w->days >> m->yesterday & 1;
	bool begun = today && m->minute >= w->from && (wraps || m->minute < w->to);
	bool carried = wraps && yesterday && m->minute < w->to;
	int64_t until_s = today || yesterday ? next_of(m, w->from, w->to) : m->day_end_s;
	return (struct window_answer){begun || carried, until_s};
}

static struct window_answer week_at(const struct window *w, const struct moment *m)
{
	int midnight = m->weekday * DAY_MINUTES, here = midnight + m->minute;
	bool open =
		w->from < w->to ? here >= w->from && here < w->to : here >= w->from || here < w->to;
	return (struct window_answer){open, next_of(m, w->from - midnight, w->to - midnight)};
}

static bool starts_on(const struct window *w, const struct moment *m, int32_t day)
{
	return cron_on(&w->cron, day, almanac_weekday(m->almanac, day));
}

/* The last date up to `day` on which it starts and that may matter on `day`; INT32_MIN: none. */
static int32_t last_start_day(struct window *w, const struct moment *m, int32_t day)
{
	/* Clocks jump by about a date at most: two dates more than it can last are enough. */
	int32_t first = day - (int32_t)(w->duration_s / DAY_S) - 2;
	if (w->known_day > day || w->known_day < first) {
		w->known_day = first - 1;
		w->known_start = INT32_MIN;
	}
	for (int32_t d = day; d > w->known_day; d--)
		if (starts_on(w, m, d)) {
			w->known_start = d;
			break;
		}
	w->known_day = day;
	return w->known_start;
}

/* The last start up to the moment with an opening that may not be over; INT64_MIN: none. All
 * openings last equally long, so an earlier one is over before it. */
static int64_t last_start_s(struct window *w, const struct moment *m)
{
	int minute = starts_on(w, m, m->day) ? cron_minute_until(&w->cron, m->minute) : -1;
	if (minute >= 0)
		return instant_of(m, minute);
	int32_t day = last_start_day(w, m, m->day - 1);
	if (day == INT32_MIN)
		return INT64_MIN;
	minute = cron_minute_until(&w->cron, DAY_MINUTES - 1);
	return zone_instant_s(m->zone, day * DAY_S + minute * 60);
}

/* Starts that follow each other before the last opening is over are one opening. On a date without
 * jumps not each of them is looked at. */
static int64_t open_until_s(const struct window *w, const struct moment *m, int64_t start_s)
{
	int last = -1;
	if (m->even && w->spacing_s <= w->duration_s && starts_on(w, m, m->day) &&
		start_s >= instant_of(m, 0))
		last = cron_minute_until(&w->cron, DAY_MINUTES - 1);
	return (last >= 0 ? instant_of(m, last) : start_s) + w->duration_s;
}

static struct window_answer cron_at(struct window *w, const struct moment *m)
{
	int64_t start_s = last_start_s(w, m);
	if (start_s != INT64_MIN && m->at_s < start_s + w->duration_s)
		return (struct window_answer){
			true, least(open_until_s(w, m, start_s), m->day_end_s)};
	int next = starts_on(w, m, m->day) ? cron_minute_from(&w->cron, m->minute + 1) : -1;
	return (struct window_answer){false, next < 0 ? m->day_end_s : instant_of(m, next)};
}

static struct window_answer once_at(const struct window *w, const struct moment *m)
{
	int64_t until_s = m->at_s < w->opens_s	  ? w->opens_s
			  : m->at_s < w->closes_s ? w->closes_s
						  : m->day_end_s;
	return (struct window_answer){
		m->at_s >= w->opens_s && m->at_s < w->closes_s, least(until_s, m->day_end_s)};
}

struct window_answer window_at(struct window *w, const struct moment *m)
{
	switch (w->shape) {
	case WINDOW_DAYS:
		return days_at(w, m);
	case WINDOW_WEEK:
		return week_at(w, m);
	case WINDOW_CRON:
		return cron_at(w, m);
	case WINDOW_ONCE:
		return once_at(w, m);
	}
	must_not_get_here();
}
