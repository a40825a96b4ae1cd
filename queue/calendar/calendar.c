/*
 * A calendar: its zone, its windows, and the exceptions by date (almanac.h).
 *
 * A window says whether it is open at a moment, and until when that is surely so. Its answer never
 * goes beyond the local date of the moment: a look at the calendar ends there, too, and the next
 * date is asked anew. So a window need not know how exceptions, jumps of clocks and its shape play
 * together from one date to the next.
 */
#include "sluice/calendar.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "base/order.h"
#include "queue/calendar/almanac.h"
#include "queue/calendar/civil.h"
#include "queue/calendar/cron.h"
#include "queue/calendar/spec.h"
#include "queue/calendar/zone.h"

#define WEEK_MINUTES (7 * DAY_MINUTES)
#define LAST_S INT64_C(253402300799) /* the end of 9999 */

/* One window of the spec. */
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

struct exception {
	char name[CALENDAR_NAME_MAX + 1];
};

/* What is open, and by which rule. */
struct look {
	bool open;
	int window, exception; /* indexes, -1: none */
	int64_t until_s;       /* true until here at least */
};

/* A look that is true from from_s to until_s, as far as was asked. */
struct stretch {
	struct look look;
	int64_t from_s;
	int64_t until_s; /* 0: nothing is remembered */
	bool ended;	 /* at until_s it changes; else that was not looked at yet */
};

struct calendar {
	struct zone *zone;
	struct almanac almanac;
	struct window *window;
	size_t nwindows;
	struct exception *exception;
	struct stretch shown; /* the last answer of calendar_at() */
	struct stretch state; /* of open or closed alone */
};

/* ---- a window -------------------------------------------------------------------------------- */

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

/* spec has been checked. */
static void window_init(struct window *w, const struct window_spec *spec, const struct zone *z)
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

static void moment_init(
	struct moment *m, const struct zone *z, const struct almanac *a, int64_t at_s)
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

/* ---- shapes of windows ----------------------------------------------------------------------- */

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

static struct window_answer window_at(struct window *w, const struct moment *m)
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

/* ---- the calendar ------------------------------------------------------------------------------ */

int calendar_new(const struct calendar_spec *spec, struct calendar **ret, struct err *e)
{
	int rc = calendar_check(spec, e);
	if (rc < 0)
		return rc;
	struct calendar *c = mem_alloc(sizeof(*c));
	c->zone = zone_copy(spec->zone);
	c->nwindows = spec->nwindows;
	c->window = mem_array(spec->nwindows + 1, sizeof(*c->window));
	for (size_t i = 0; i < spec->nwindows; i++)
		window_init(&c->window[i], &spec->window[i], c->zone);
	almanac_init(&c->almanac, spec->exception, spec->nexceptions);
	c->exception = mem_array(spec->nexceptions + 1, sizeof(*c->exception));
	for (size_t i = 0; i < spec->nexceptions; i++)
		snprintf(c->exception[i].name, sizeof(c->exception[i].name), "%s",
			spec->exception[i].name);
	*ret = c;
	return 0;
}

void calendar_free(struct calendar *c)
{
	if (!c)
		return;
	zone_free(c->zone);
	almanac_done(&c->almanac);
	free(c->window);
	free(c->exception);
	free(c);
}

bool calendar_has_window(const struct calendar *c, const char *name)
{
	for (size_t i = 0; i < c->nwindows; i++)
		if (strcmp(c->window[i].name, name) == 0)
			return true;
	return false;
}

const char *calendar_window_name(const struct calendar *c, size_t i)
{
	return i < c->nwindows ? c->window[i].name : NULL;
}

const struct zone *calendar_zone(const struct calendar *c)
{
	return c->zone;
}

/* ---- a look at one instant ------------------------------------------------------------------- */

/* The first listed window that is open. Windows behind it change nothing. */
static void find_shown(struct calendar *c, const struct moment *m, struct look *l)
{
	for (size_t i = 0; i < c->nwindows && l->window < 0; i++) {
		struct window_answer a = window_at(&c->window[i], m);
		if (a.open)
			l->window = (int)i;
		if (a.until_s < l->until_s)
			l->until_s = a.until_s;
	}
}

/* Of the open windows the one that lasts longest. If only open or closed matters, the answer is the
 * same where another window opens or closes. */
static void find_longest(struct calendar *c, const struct moment *m, struct look *l)
{
	int64_t closed_until_s = l->until_s, open_until_s = 0;
	for (size_t i = 0; i < c->nwindows && open_until_s < m->day_end_s; i++) {
		struct window_answer a = window_at(&c->window[i], m);
		if (a.open && a.until_s > open_until_s) {
			open_until_s = a.until_s;
			l->window = (int)i;
		}
		if (a.until_s < closed_until_s)
			closed_until_s = a.until_s;
	}
	l->until_s = l->window >= 0 ? open_until_s : closed_until_s;
}

static struct look look_at(struct calendar *c, int64_t at_s, bool shown)
{
	struct moment m;
	moment_init(&m, c->zone, &c->almanac, at_s);
	struct look l = {
		.window = -1,
		.exception = almanac_exception(&c->almanac, m.day),
		.until_s = m.day_end_s,
	};
	int treat_as = l.exception >= 0 ? c->almanac.treat_as[l.exception] : 0;
	bool all_open = treat_as == TREAT_AS_OPEN, all_closed = treat_as == TREAT_AS_CLOSED;
	if (shown && !all_closed)
		find_shown(c, &m, &l);
	else if (!all_open && !all_closed)
		find_longest(c, &m, &l);
	l.open = l.window >= 0 || all_open;
	return l;
}

static bool same(const struct look *a, const struct look *b, bool shown)
{
	return a->open == b->open &&
	       (!shown || (a->window == b->window && a->exception == b->exception));
}

/*
 * When the state at at_s ends: all that is shown, or open or closed alone. CALENDAR_NEVER: not
 * within the horizon. The stretch is kept and extended, to save time only. One that has not ended
 * was followed beyond the horizon of the last question, and is followed further for later ones.
 */
static int64_t follow(struct calendar *c, struct stretch *s, int64_t at_s, bool shown)
{
	if (at_s < s->from_s || at_s >= s->until_s) {
		struct look l = look_at(c, at_s, shown);
		*s = (struct stretch){.look = l, .from_s = at_s, .until_s = l.until_s};
	}
	while (!s->ended && s->until_s <= at_s + CALENDAR_HORIZON_S) {
		struct look next = look_at(c, s->until_s, shown);
		if (same(&s->look, &next, shown))
			s->until_s = next.until_s;
		else
			s->ended = true;
	}
	return s->until_s <= at_s + CALENDAR_HORIZON_S ? s->until_s : CALENDAR_NEVER;
}

static int64_t seconds_of(int64_t at_ms)
{
	return least(greater(at_ms, 0) / 1000, LAST_S);
}

static int64_t ms_of(int64_t at_s)
{
	return at_s == CALENDAR_NEVER ? CALENDAR_NEVER : at_s * 1000;
}

struct calendar_state calendar_at(struct calendar *c, int64_t at_ms)
{
	int64_t until_s = follow(c, &c->shown, seconds_of(at_ms), true);
	const struct look *l = &c->shown.look;
	return (struct calendar_state){
		.open = l->open,
		.window = l->window >= 0 ? c->window[l->window].name : NULL,
		.exception = l->exception >= 0 ? c->exception[l->exception].name : NULL,
		.until_ms = ms_of(until_s),
	};
}

int64_t calendar_next_change(struct calendar *c, int64_t at_ms)
{
	return ms_of(follow(c, &c->state, seconds_of(at_ms), false));
}

bool calendar_never_opens(struct calendar *c, int64_t at_ms)
{
	return calendar_next_change(c, at_ms) == CALENDAR_NEVER && !c->state.look.open;
}
