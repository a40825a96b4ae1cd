#include "sluice/calendar.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "queue/calendar/almanac.h"
#include "queue/calendar/check.h"
#include "queue/calendar/civil.h"
#include "queue/calendar/window.h"
#include "queue/calendar/zone.h"

#define LAST_S INT64_C(253402300799) /* the end of 9999 */

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
	int64_t at_s = at_ms < 0 ? 0 : at_ms / 1000;
	return at_s < LAST_S ? at_s : LAST_S;
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
