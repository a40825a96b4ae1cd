/*
 * Calendars. Times, weekdays and dates are read here (queue/calendar/notation.h). Whether they make
 * sense together is the matter of calendar_new(), which knows the zone.
 */
#include "base/span.h"
#include "queue/calendar/notation.h"
#include "controller/wire/decode.h"
#include "controller/wire/decode_parts.h"

#define TEXT_MAX 64 /* of a time or a date */

static void fault_of(struct decoder *d, const struct path *at, const struct err *why)
{
	decoder_fault(d, at, "%s", why->text);
}

/* ---- windows --------------------------------------------------------------------------------- */

static int clock_field(
	struct decoder *d, const struct path *up, const cJSON *object, const char *key)
{
	struct err why;
	int minute = 0;
	if (notation_clock(slice_of(text_field(d, up, object, key, TEXT_MAX)), &minute, &why) < 0)
		fault_of(d, PATH(up, key), &why);
	return minute;
}

static struct week_point week_point_field(
	struct decoder *d, const struct path *up, const cJSON *object, const char *key)
{
	struct err why;
	struct week_point p = {0};
	if (notation_week_point(slice_of(text_field(d, up, object, key, TEXT_MAX)), &p, &why) < 0)
		fault_of(d, PATH(up, key), &why);
	return p;
}

static int64_t local_field(
	struct decoder *d, const struct path *up, const cJSON *object, const char *key)
{
	struct err why;
	int64_t local_s = 0;
	if (notation_local(slice_of(text_field(d, up, object, key, TEXT_MAX)), &local_s, &why) < 0)
		fault_of(d, PATH(up, key), &why);
	return local_s;
}

/* Gives the text of an item, "" when it is no string: its reader refuses that. */
static struct slice text_item(struct decoder *d, const struct path *at, const cJSON *item)
{
	return slice_of(cJSON_IsString(item) ? text_keep(d, at, item->valuestring, TEXT_MAX) : "");
}

/* Reads days, "Mon" and "Mon-Thu" alike. */
static unsigned days_field(struct decoder *d, const struct path *up, const cJSON *object)
{
	const struct path *at = PATH(up, "days");
	unsigned all = 0, days;
	size_t n = 0, count;
	const cJSON *list = list_field(d, up, object, "days", 14, &count);
	json_each(item, list) {
		struct err why;
		const struct path *here = PATH_INDEX(at, n);
		if (notation_days(text_item(d, here, item), &days, &why) < 0)
			fault_of(d, here, &why);
		else
			all |= days;
		n++;
	}
	if (count == 0)
		decoder_fault(d, at, "names no weekday; write e.g. [Mon, Tue] or [Mon-Thu]");
	return all;
}

static int64_t duration_field(struct decoder *d, const struct path *up, const cJSON *object)
{
	int64_t ms = 0;
	const char *text = text_field(d, up, object, "duration", TEXT_MAX);
	char shown[SHOWN_SIZE];
	if (!span_parse_seconds(text, &ms) || ms % 1000 != 0)
		decoder_fault(d, PATH(up, "duration"),
			"%s is not a duration of whole seconds; write e.g. 6h or 90m",
			text_show(text, shown));
	return ms / 1000;
}

/* Gives the shape of a window, which has exactly one, and refuses fields that would say nothing. */
static enum window_shape shape_of(struct decoder *d, const struct path *at, const cJSON *o)
{
	bool days = json_get(o, "days"), cron = json_get(o, "cron"), once = json_get(o, "at");
	bool from = json_get(o, "from"), to = json_get(o, "to");
	if (days + cron + once > 1)
		decoder_fault(
			d, at, "has more than one of days, cron and at; make a window of each");
	else if ((cron || once) && (from || to))
		decoder_fault(d, PATH(at, from ? "from" : "to"), "does not go with %s; %s",
			cron ? "cron" : "at", cron ? "write duration" : "write it within at");
	else if (!cron && json_get(o, "duration"))
		decoder_fault(d, PATH(at, "duration"), "goes with cron only; write to");
	else if (!days && !cron && !once && !from && !to)
		decoder_fault(d, at,
			"says no time; write days, from and to; or from: \"Fri 19:00\" and to: \"Mon 07:00\"; or cron and duration; or at");
	return once ? WINDOW_ONCE : cron ? WINDOW_CRON : days ? WINDOW_DAYS : WINDOW_WEEK;
}

static void fill_window(
	struct decoder *d, const struct path *at, const cJSON *o, struct window_spec *w)
{
	const cJSON *once = object_field(d, at, o, "at");
	w->name = text_field(d, at, o, "name", CALENDAR_NAME_MAX);
	w->shape = shape_of(d, at, o);
	switch (w->shape) {
	case WINDOW_DAYS:
		w->days = days_field(d, at, o);
		w->from_minute = clock_field(d, at, o, "from");
		w->to_minute = clock_field(d, at, o, "to");
		break;
	case WINDOW_WEEK:
		w->from = week_point_field(d, at, o, "from");
		w->to = week_point_field(d, at, o, "to");
		break;
	case WINDOW_CRON:
		w->cron = text_field(d, at, o, "cron", CALENDAR_CRON_MAX);
		w->duration_s = duration_field(d, at, o);
		break;
	case WINDOW_ONCE:
		w->from_local_s = local_field(d, PATH(at, "at"), once, "from");
		w->to_local_s = local_field(d, PATH(at, "at"), once, "to");
		break;
	}
}

/* ---- exceptions ------------------------------------------------------------------------------ */

static int treat_as_field(struct decoder *d, const struct path *up, const cJSON *o)
{
	int weekday = TREAT_AS_CLOSED;
	char shown[SHOWN_SIZE];
	const char *text = text_field(d, up, o, "treatAs", TEXT_MAX);
	if (strcmp(text, "Open") == 0)
		return TREAT_AS_OPEN;
	if (strcmp(text, "Closed") == 0)
		return TREAT_AS_CLOSED;
	if (*text && notation_weekday(slice_of(text), &weekday, NULL) < 0)
		decoder_fault(d, PATH(up, "treatAs"), "%s is neither Open, Closed nor a weekday",
			text_show(text, shown));
	return weekday; /* Closed without treatAs */
}

static void dates_field(
	struct decoder *d, const struct path *up, const cJSON *o, struct exception_spec *x)
{
	size_t n = 0;
	const cJSON *list = list_field(d, up, o, "dates", CALENDAR_DATES_MAX, &x->ndates);
	struct date_range *date = parcel_array(&d->parcel, x->ndates, sizeof(*date));
	x->date = date;
	json_each(item, list) {
		struct err why;
		const struct path *here = PATH_INDEX(PATH(up, "dates"), n);
		if (notation_dates(text_item(d, here, item), &date[n], &why) < 0)
			fault_of(d, here, &why);
		n++;
	}
}

static void fill_exception(
	struct decoder *d, const struct path *at, const cJSON *o, struct exception_spec *x)
{
	const struct path *below = PATH(at, "datesFrom");
	const cJSON *from = object_field(d, at, o, "datesFrom");
	x->name = text_field(d, at, o, "name", CALENDAR_NAME_MAX);
	x->treat_as = treat_as_field(d, at, o);
	dates_field(d, at, o, x);
	x->dates_configmap = text_field(d, below, from, "configMap", NAME_MAX_BYTES);
	x->dates_key = text_field(d, below, from, "key", NAME_MAX_BYTES);
	if (from && (!*x->dates_configmap || !*x->dates_key))
		decoder_fault(d, below,
			"names no ConfigMap and key; write e.g. {configMap: holidays-de, key: dates}");
	if (!from && x->ndates == 0)
		decoder_fault(d, PATH(at, "dates"),
			"names no date; write e.g. [\"2026-12-24..2026-12-26\"], or datesFrom");
}

/* ---- the object ------------------------------------------------------------------------------ */

static int fill_calendar(struct decoder *d, const cJSON *o, struct err *e)
{
	const struct path *at = PATH(NULL, "spec");
	struct calendar_spec *s = parcel_array(&d->parcel, 1, sizeof(*s));
	const cJSON *spec = object_field(d, NULL, o, "spec");
	meta_fields(d, o, s);
	s->time_zone = text_field(d, at, spec, "timeZone", TEXT_MAX);
	decode_objects(d, at, spec, "open", CALENDAR_WINDOWS_MAX, struct window_spec, fill_window,
		&s->window, &s->nwindows);
	decode_objects(d, at, spec, "except", CALENDAR_EXCEPTIONS_MAX, struct exception_spec,
		fill_exception, &s->exception, &s->nexceptions);
	return decoder_verdict(d, "Calendar", o, e);
}

DECODER(decode_calendar, calendar_spec, "Calendar", 4096, fill_calendar)
