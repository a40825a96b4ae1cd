#include "words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "queue/calendar/notation.h"
#include "queue/calendar/tzdata.h"

void calendar_words_init(struct calendar_words *w)
{
	*w = (struct calendar_words){0};
}

void calendar_words_done(struct calendar_words *w)
{
	calendar_free(w->calendar);
	zone_free(w->zone);
	for (size_t i = 0; i < w->nkept; i++)
		free(w->kept[i]);
	*w = (struct calendar_words){0};
}

static void *keep(struct calendar_words *w, void *p)
{
	if (w->nkept == sizeof(w->kept) / sizeof(*w->kept))
		abort();
	return w->kept[w->nkept++] = p;
}

static char *keep_text(struct calendar_words *w, struct slice s)
{
	return keep(w, mem_strndup(s.ptr, s.len));
}

/* What is before `mark` and after it; false when it does not occur. */
static bool split(struct slice s, const char *mark, struct slice *head, struct slice *tail)
{
	const char *found = memmem(s.ptr, s.len, mark, strlen(mark));
	if (!found)
		return false;
	*head = (struct slice){s.ptr, (size_t)(found - s.ptr)};
	*tail = (struct slice){found + strlen(mark), s.len - head->len - strlen(mark)};
	return true;
}

static void note(struct calendar_words *w, int rc, const struct err *e)
{
	if (rc < 0 && !*w->said.text)
		w->said = *e;
}

static struct slice after(struct slice s, const char *lead)
{
	return (struct slice){s.ptr + strlen(lead), s.len - strlen(lead)};
}

static int64_t length_of(struct slice s)
{
	char text[32], *end;
	snprintf(text, sizeof(text), "%.*s", (int)s.len, s.ptr);
	long n = strtol(text, &end, 10);
	return n * (*end == 'h' ? 3600 : *end == 'm' ? 60 : 1);
}

static bool add_window(struct calendar_words *w, struct slice name, struct slice rule)
{
	struct window_spec *o = &w->window[w->nwindows++];
	struct slice a, b, c;
	struct err e = {""};
	*o = (struct window_spec){.name = keep_text(w, name)};
	if (slice_starts(rule, "days ") && split(after(rule, "days "), ", ", &a, &b) &&
		split(b, " to ", &b, &c)) {
		o->shape = WINDOW_DAYS;
		note(w, notation_days(a, &o->days, &e), &e);
		note(w, notation_clock(b, &o->from_minute, &e), &e);
		note(w, notation_clock(c, &o->to_minute, &e), &e);
		return true;
	}
	if (slice_starts(rule, "week ") && split(after(rule, "week "), " to ", &a, &b)) {
		o->shape = WINDOW_WEEK;
		note(w, notation_week_point(a, &o->from, &e), &e);
		note(w, notation_week_point(b, &o->to, &e), &e);
		return true;
	}
	if (slice_starts(rule, "cron ") && split(after(rule, "cron "), ", for ", &a, &b)) {
		o->shape = WINDOW_CRON;
		o->cron = keep_text(w, a);
		o->duration_s = length_of(b);
		return true;
	}
	if (slice_starts(rule, "at ") && split(after(rule, "at "), " to ", &a, &b)) {
		o->shape = WINDOW_ONCE;
		note(w, notation_local(a, &o->from_local_s, &e), &e);
		note(w, notation_local(b, &o->to_local_s, &e), &e);
		return true;
	}
	return false;
}

static int treat_as_of(struct slice s)
{
	int weekday = -1;
	if (slice_is(s, "Open"))
		return TREAT_AS_OPEN;
	if (slice_is(s, "Closed"))
		return TREAT_AS_CLOSED;
	notation_weekday(s, &weekday, NULL);
	return weekday;
}

static bool add_exception(struct calendar_words *w, struct slice name, struct slice rule)
{
	struct exception_spec *x = &w->exception[w->nexceptions++];
	struct slice dates, treat_as, one;
	struct err e = {""};
	if (!split(rule, " as ", &dates, &treat_as))
		return false;
	struct date_range *date = keep(w, mem_array(dates.len + 1, sizeof(*date)));
	*x = (struct exception_spec){
		.name = keep_text(w, name), .treat_as = treat_as_of(treat_as), .date = date};
	while (dates.len > 0) {
		if (!split(dates, " ", &one, &dates)) {
			one = dates;
			dates.len = 0;
		}
		note(w, notation_dates(one, &date[x->ndates++], &e), &e);
	}
	return true;
}

/* Cached, because thousands of calendars share a few zones. */
static int zone_of(const char *name, struct zone **ret, struct err *e)
{
	static struct zone *known[64];
	static size_t n;
	for (size_t i = 0; i < n; i++)
		if (strcmp(known[i]->name, name) == 0) {
			*ret = zone_copy(known[i]);
			return 0;
		}
	int rc = tzdata_load(name, ret, e);
	if (rc == 0 && n < sizeof(known) / sizeof(*known))
		known[n++] = zone_copy(*ret);
	return rc;
}

bool calendar_words_line(struct calendar_words *w, const char *line)
{
	struct slice name, rule;
	struct err e = {""};
	if (strncmp(line, "zone ", 5) == 0) {
		snprintf(w->time_zone, sizeof(w->time_zone), "%s", line + 5);
		zone_free(w->zone);
		w->zone = NULL;
		note(w, zone_of(line + 5, &w->zone, &e), &e);
		return true;
	}
	if (strncmp(line, "open ", 5) == 0 && split(slice_of(line + 5), ": ", &name, &rule))
		return w->nwindows < WORDS_LIST_MAX && add_window(w, name, rule);
	if (strncmp(line, "except ", 7) == 0 && split(slice_of(line + 7), ": ", &name, &rule))
		return w->nexceptions < WORDS_LIST_MAX && add_exception(w, name, rule);
	return false;
}

struct calendar *calendar_words_get(struct calendar_words *w)
{
	struct calendar_spec spec = {
		.name = "words",
		.time_zone = w->time_zone,
		.zone = w->zone,
		.window = w->window,
		.nwindows = w->nwindows,
		.exception = w->exception,
		.nexceptions = w->nexceptions,
	};
	if (!w->calendar && !*w->said.text)
		calendar_new(&spec, &w->calendar, &w->said);
	return w->calendar;
}

bool calendar_words_time(const struct calendar_words *w, const char *text, int64_t *ret_s)
{
	struct slice s = slice_of(text);
	bool utc = s.len > 0 && s.ptr[s.len - 1] == 'Z';
	int64_t local_s;
	s.len -= utc;
	if (notation_local(s, &local_s, NULL) < 0)
		return false;
	*ret_s = utc || !w->zone ? local_s : zone_instant_s(w->zone, local_s);
	return true;
}
