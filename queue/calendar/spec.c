#include "queue/calendar/spec.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "queue/calendar/civil.h"
#include "queue/calendar/cron.h"
#include "queue/calendar/ics.h"
#include "queue/calendar/notation.h"

/* ---- completing ------------------------------------------------------------------------------ */

void resolved_done(struct resolved *r)
{
	for (size_t i = 0; i < r->spec.nexceptions; i++)
		free(r->date[i]);
	free(r->date);
	free(r->exception);
	*r = (struct resolved){0};
}

static int read_ics(struct slice text, struct date_range horizon, struct resolved *r,
	struct date_range **ret_date, size_t *ret_count, struct err *e)
{
	struct ics *ics;
	int rc = ics_read(text, horizon, &ics, e);
	if (rc < 0)
		return rc;
	if (ics->nskips > 0 && r->nleft_out == 0)
		r->left_out = ics->skip[0];
	r->nleft_out += ics->nskips;
	*ret_count = ics->nholidays;
	*ret_date = mem_array(ics->nholidays + 1, sizeof(**ret_date));
	for (size_t i = 0; i < ics->nholidays; i++)
		(*ret_date)[i] = ics->holiday[i].dates;
	ics_free(ics);
	return 0;
}

/* The exception's own dates first, then those of the text. */
static void join(struct exception_spec *x, struct date_range **own, const struct date_range *more,
	size_t nmore)
{
	struct date_range *all = mem_array(x->ndates + nmore + 1, sizeof(*all));
	if (x->ndates > 0)
		memcpy(all, x->date, x->ndates * sizeof(*all));
	if (nmore > 0)
		memcpy(all + x->ndates, more, nmore * sizeof(*all));
	x->date = *own = all;
	x->ndates += nmore;
}

static int add_dates(
	struct resolved *r, size_t i, struct slice text, struct date_range horizon, struct err *e)
{
	struct date_range *date = NULL;
	size_t n = 0;
	struct exception_spec *x = &r->exception[i];
	char shown[SLICE_SHOWN_SIZE], shown_key[SLICE_SHOWN_SIZE];
	if (!text.ptr)
		return err_set(e, ERR_GONE,
			"spec.except[%zu].datesFrom: there is no ConfigMap %s with key %s; create it, or remove datesFrom",
			i, slice_show(slice_of(x->dates_configmap), shown),
			slice_show(slice_of(x->dates_key), shown_key));
	bool is_ics = slice_starts(text, "BEGIN:VCALENDAR");
	int rc = is_ics ? read_ics(text, horizon, r, &date, &n, e)
			: notation_date_list(text, CALENDAR_DATES_MAX, &date, &n, e);
	if (rc < 0)
		err_wrap(e, "spec.except[%zu].datesFrom: ConfigMap %s", i,
			slice_show(slice_of(x->dates_configmap), shown));
	else
		join(x, &r->date[i], date, n);
	free(date);
	return rc;
}

int calendar_resolve(const struct calendar_spec *spec, const struct zone *zone,
	struct date_range horizon, resolve_find find, void *ctx, struct resolved *ret,
	struct err *e)
{
	struct resolved r = {.spec = *spec};
	int rc = 0;
	r.exception = mem_array(spec->nexceptions + 1, sizeof(*r.exception));
	r.date = mem_array(spec->nexceptions + 1, sizeof(*r.date));
	if (spec->nexceptions > 0)
		memcpy(r.exception, spec->exception, spec->nexceptions * sizeof(*r.exception));
	r.spec.zone = zone;
	r.spec.exception = r.exception;
	for (size_t i = 0; i < spec->nexceptions && rc == 0; i++) {
		struct slice text = {NULL, 0};
		if (!r.exception[i].dates_configmap || !*r.exception[i].dates_configmap)
			continue;
		if (find)
			text = find(r.exception[i].dates_configmap, r.exception[i].dates_key, ctx);
		rc = add_dates(&r, i, text, horizon, e);
	}
	if (rc == 0)
		*ret = r;
	else
		resolved_done(&r);
	return rc;
}

/* ---- checking -------------------------------------------------------------------------------- */

static int32_t first_day(void)
{
	return civil_days(CALENDAR_FIRST_YEAR, 1, 1);
}

static int32_t last_day(void)
{
	return civil_days(CALENDAR_LAST_YEAR, 12, 31);
}

/* "to: must be ..." becomes "spec.open[2].to: must be ..."; passes rc on. */
static int within(const char *list, size_t i, int rc, struct err *e)
{
	if (rc < 0 && e) {
		struct err inner = *e;
		err_set(e, rc, "spec.%s[%zu].%s", list, i, inner.text);
	}
	return rc;
}

/* ---- windows: the sentence begins with a field of the window --------------------------------- */

static int check_name(const char *name, struct err *e)
{
	if (!name || !*name)
		return err_set(e, ERR_INVALID,
			"name: is missing; give it one, for it is shown wherever it matters");
	if (strlen(name) > CALENDAR_NAME_MAX)
		return err_set(e, ERR_INVALID, "name: has more than %d bytes; shorten it",
			CALENDAR_NAME_MAX);
	return 0;
}

static int check_days(const struct window_spec *w, struct err *e)
{
	char clock[NOTATION_TEXT_SIZE];
	if (w->days == 0 || w->days > 127)
		return err_set(e, ERR_INVALID, "days: names no weekday; write e.g. [Mon, Tue]");
	if (w->from_minute < 0 || w->from_minute >= DAY_MINUTES)
		return err_set(e, ERR_INVALID, "from: must be 00:00 to 23:59");
	if (w->to_minute < 0 || w->to_minute > DAY_MINUTES)
		return err_set(e, ERR_INVALID, "to: must be 00:00 to 24:00");
	if (w->from_minute == w->to_minute)
		return err_set(e, ERR_INVALID,
			"to: is %s as `from` is, which could mean no time at all or a whole day; for whole days write from: \"00:00\", to: \"24:00\"",
			notation_write_clock(w->to_minute, clock));
	return 0;
}

static bool is_week_point(struct week_point p)
{
	return p.weekday >= 0 && p.weekday < 7 && p.minute >= 0 && p.minute <= DAY_MINUTES;
}

static int check_week(const struct window_spec *w, struct err *e)
{
	if (!is_week_point(w->from))
		return err_set(e, ERR_INVALID, "from: must be like \"Fri 19:00\"");
	if (!is_week_point(w->to))
		return err_set(e, ERR_INVALID, "to: must be like \"Mon 07:00\"");
	if (w->from.weekday == w->to.weekday && w->from.minute == w->to.minute)
		return err_set(e, ERR_INVALID,
			"to: is the same as `from`, which could mean no time at all or a whole week; for whole weeks write from: \"Mon 00:00\", to: \"Sun 24:00\"");
	return 0;
}

static int check_cron(const struct window_spec *w, struct err *e)
{
	struct cron c;
	if (!w->cron || strlen(w->cron) > CALENDAR_CRON_MAX)
		return err_set(e, ERR_INVALID,
			"cron: must be a schedule of at most %d bytes, as in \"0 18 * * 5\"",
			CALENDAR_CRON_MAX);
	int rc = cron_parse(w->cron, &c, e);
	if (rc < 0) {
		err_wrap(e, "cron");
		return rc;
	}
	if (w->duration_s < 60 || w->duration_s > CALENDAR_CRON_DURATION_MAX_S)
		return err_set(e, ERR_INVALID,
			"duration: must be 1m to 744h (31 days); for longer ones write at: {from, to}");
	return 0;
}

static int check_once(const struct window_spec *w, struct err *e)
{
	int64_t low_s = first_day() * DAY_S, high_s = (last_day() + 1) * DAY_S;
	if (w->from_local_s < low_s || w->from_local_s > high_s)
		return err_set(e, ERR_INVALID, "at.from: must be of the years 1970 to 2100");
	if (w->to_local_s < low_s || w->to_local_s > high_s)
		return err_set(e, ERR_INVALID, "at.to: must be of the years 1970 to 2100");
	if (w->from_local_s >= w->to_local_s)
		return err_set(e, ERR_INVALID, "at.to: must be later than at.from");
	return 0;
}

static int check_window(const struct window_spec *w, struct err *e)
{
	int rc = check_name(w->name, e);
	if (rc < 0)
		return rc;
	switch (w->shape) {
	case WINDOW_DAYS:
		return check_days(w, e);
	case WINDOW_WEEK:
		return check_week(w, e);
	case WINDOW_CRON:
		return check_cron(w, e);
	case WINDOW_ONCE:
		return check_once(w, e);
	}
	return err_set(e, ERR_INVALID, "shape: is none that is known");
}

static int check_windows(const struct calendar_spec *s, struct err *e)
{
	char shown[SLICE_SHOWN_SIZE];
	if (s->nwindows > CALENDAR_WINDOWS_MAX)
		return err_set(e, ERR_LIMIT, "spec.open: has %zu windows; at most %d are supported",
			s->nwindows, CALENDAR_WINDOWS_MAX);
	for (size_t i = 0; i < s->nwindows; i++) {
		int rc = check_window(&s->window[i], e);
		for (size_t k = 0; rc == 0 && k < i; k++)
			if (strcmp(s->window[k].name, s->window[i].name) == 0)
				rc = err_set(e, ERR_INVALID,
					"name: %s is that of open[%zu] too; rename one",
					slice_show(slice_of(s->window[i].name), shown), k);
		if (rc < 0)
			return within("open", i, rc, e);
	}
	return 0;
}

/* ---- exceptions ------------------------------------------------------------------------------ */

static int check_exception(const struct exception_spec *x, struct err *e)
{
	int rc = check_name(x->name, e);
	if (rc < 0)
		return rc;
	if (x->treat_as < 0 || x->treat_as > TREAT_AS_CLOSED)
		return err_set(e, ERR_INVALID, "treatAs: must be Open, Closed or a weekday");
	for (size_t i = 0; i < x->ndates; i++) {
		struct date_range r = x->date[i];
		if (r.first_day < first_day() || r.last_day > last_day())
			return err_set(
				e, ERR_INVALID, "dates[%zu]: must be of the years 1970 to 2100", i);
		if (r.first_day > r.last_day)
			return err_set(e, ERR_INVALID,
				"dates[%zu]: ends before it begins; write the earlier date first",
				i);
	}
	return 0;
}

static int check_exceptions(const struct calendar_spec *s, struct err *e)
{
	char shown[SLICE_SHOWN_SIZE];
	size_t ndates = 0;
	if (s->nexceptions > CALENDAR_EXCEPTIONS_MAX)
		return err_set(e, ERR_LIMIT, "spec.except: has %zu items; at most %d are supported",
			s->nexceptions, CALENDAR_EXCEPTIONS_MAX);
	for (size_t i = 0; i < s->nexceptions; i++) {
		ndates += s->exception[i].ndates;
		if (ndates > CALENDAR_DATES_MAX)
			return err_set(e, ERR_LIMIT,
				"spec.except: has more than %d dates; join neighbours into ranges, or remove past ones",
				CALENDAR_DATES_MAX);
		int rc = check_exception(&s->exception[i], e);
		for (size_t k = 0; rc == 0 && k < i; k++)
			if (strcmp(s->exception[k].name, s->exception[i].name) == 0)
				rc = err_set(e, ERR_INVALID,
					"name: %s is that of except[%zu] too; rename one",
					slice_show(slice_of(s->exception[i].name), shown), k);
		if (rc < 0)
			return within("except", i, rc, e);
	}
	return 0;
}

static int check_zone(const struct calendar_spec *s, struct err *e)
{
	char shown[SLICE_SHOWN_SIZE];
	if (s->zone)
		return 0;
	if (!s->time_zone || !*s->time_zone)
		return err_set(e, ERR_INVALID,
			"spec.timeZone: is missing; write an IANA name such as Europe/Berlin, or UTC");
	return err_set(e, ERR_INVALID,
		"spec.timeZone: %s is not a time zone; write an IANA name such as Europe/Berlin, or UTC",
		slice_show(slice_of(s->time_zone), shown));
}

int calendar_check(const struct calendar_spec *spec, struct err *e)
{
	int rc = check_zone(spec, e);
	if (rc == 0)
		rc = check_windows(spec, e);
	if (rc == 0)
		rc = check_exceptions(spec, e);
	return rc;
}
