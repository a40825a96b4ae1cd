#include "queue/calendar/ics.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "queue/calendar/civil.h"
#include "queue/calendar/ics_line.h"

#define EXDATES_MAX 512
#define EVENT_DAYS_MAX 366
#define NO_OCCURRENCE INT32_MIN /* it is no occurrence of another event */
#define UNCLEAR_OCCURRENCE INT32_MAX

struct event {
	size_t line;
	char *uid; /* NULL: none */
	int sequence;
	bool cancelled;
	int32_t occurrence; /* which day of the event of its UID it takes the place of */
	char summary[ICS_SUMMARY_SIZE];
	bool has_start, has_end, yearly;
	int32_t start, end;  /* end is the day after the last */
	int32_t days;	     /* of DURATION; 0: none */
	int interval, count; /* count 0: without end */
	int32_t until;
	int by_month, by_day; /* 0: not said */
	int32_t exdate[EXDATES_MAX];
	size_t nexdates;
	struct err why; /* why it is left out; "": it is not */
};

/* An event of the file that has a UID. All are known before a date is kept: a change may stand before
 * what it changes. */
struct version {
	char *uid;
	int32_t occurrence;
	bool cancelled;
	int sequence;
	size_t line;
};

struct reader {
	struct version *version; /* once all are there: by UID, occurrence, line */
	size_t nversions, versions_room;
	bool versions_done; /* the second reading: dates are kept */
	struct ics_lines lines;
	struct date_range horizon;
	struct ics *ics;
	size_t room;
	bool in_calendar, in_event;
	size_t calendars;
	size_t inner; /* depth of nested components, which are ignored */
	struct event event;
};

/* ---- one event ------------------------------------------------------------------------------- */

static void leave_out(struct event *v, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void leave_out(struct event *v, const char *fmt, ...)
{
	va_list ap;
	if (*v->why.text)
		return;
	va_start(ap, fmt);
	vsnprintf(v->why.text, sizeof(v->why.text), fmt, ap);
	va_end(ap);
}

static bool number_of(struct slice s, int *ret)
{
	int n = 0;
	if (s.len == 0 || s.len > 6)
		return false;
	for (size_t i = 0; i < s.len; i++) {
		if (s.ptr[i] < '0' || s.ptr[i] > '9')
			return false;
		n = n * 10 + s.ptr[i] - '0';
	}
	*ret = n;
	return true;
}

/* "20261224" */
static bool date_of(struct slice s, int32_t *ret_day)
{
	int year, month, day;
	if (s.len != 8 || !number_of((struct slice){s.ptr, 4}, &year) ||
		!number_of((struct slice){s.ptr + 4, 2}, &month) ||
		!number_of((struct slice){s.ptr + 6, 2}, &day) || !civil_exists(year, month, day))
		return false;
	*ret_day = civil_days(year, month, day);
	return true;
}

/* DTSTART and DTEND */
static bool take_date(struct event *v, const struct ics_lines *l, int32_t *ret_day)
{
	char shown[SLICE_SHOWN_SIZE];
	if (date_of(l->value, ret_day))
		return true;
	if (memchr(l->value.ptr, 'T', l->value.len))
		leave_out(v, "has a time of day; only events of whole days can be exceptions");
	else
		leave_out(v, "has the date %s, which is none", slice_show(l->value, shown));
	return false;
}

/* "P3D", "P1W" */
static void take_duration(struct event *v, struct slice s)
{
	int n = 0;
	bool weeks = s.len > 2 && s.ptr[s.len - 1] == 'W';
	if (s.len < 3 || s.ptr[0] != 'P' || (!weeks && s.ptr[s.len - 1] != 'D') ||
		!number_of((struct slice){s.ptr + 1, s.len - 2}, &n) || n < 1 || n > EVENT_DAYS_MAX)
		leave_out(v, "has a DURATION that is not in days; write DTEND");
	v->days = n * (weeks ? 7 : 1);
}

static struct slice take_item(struct slice *list, char mark)
{
	struct slice item = *list;
	const char *end = memchr(item.ptr, mark, item.len);
	if (end)
		item.len = (size_t)(end - item.ptr);
	size_t used = item.len + (end != NULL);
	*list = (struct slice){list->ptr + used, list->len - used};
	return item;
}

static void take_exdates(struct event *v, struct slice list)
{
	while (list.len > 0) {
		int32_t day;
		if (!date_of(take_item(&list, ','), &day))
			leave_out(v, "has an EXDATE that is not a date");
		else if (v->nexdates == EXDATES_MAX)
			leave_out(v, "has more than %d EXDATEs", EXDATES_MAX);
		else
			v->exdate[v->nexdates++] = day;
	}
}

static bool take_rule_part(struct event *v, struct slice key, struct slice value)
{
	if (ics_same(key, "FREQ"))
		return v->yearly = ics_same(value, "YEARLY");
	if (ics_same(key, "INTERVAL"))
		return number_of(value, &v->interval) && v->interval >= 1;
	if (ics_same(key, "COUNT"))
		return number_of(value, &v->count) && v->count >= 1;
	if (ics_same(key, "UNTIL")) /* a date, or a time on it */
		return date_of((struct slice){value.ptr, value.len < 8 ? value.len : 8}, &v->until);
	if (ics_same(key, "BYMONTH"))
		return number_of(value, &v->by_month);
	if (ics_same(key, "BYMONTHDAY"))
		return number_of(value, &v->by_day);
	return ics_same(key, "WKST");
}

static void take_rule(struct event *v, struct slice rule)
{
	char shown[SLICE_SHOWN_SIZE];
	struct slice rest = rule;
	bool good = !v->yearly;
	v->interval = 1;
	v->until = INT32_MAX;
	while (rest.len > 0 && good) {
		struct slice value = take_item(&rest, ';');
		struct slice key = take_item(&value, '=');
		good = take_rule_part(v, key, value);
	}
	if (!good || !v->yearly)
		leave_out(v,
			"repeats by %s; only yearly on the same date is understood, so add its dates by hand",
			slice_show(rule, shown));
}

static void take_uid(struct event *v, struct slice uid)
{
	free(v->uid);
	v->uid = uid.len > 0 ? mem_strndup(uid.ptr, uid.len) : NULL;
}

/* With RANGE it would take the place of all later ones, too. */
static void take_occurrence(struct event *v, const struct ics_lines *l)
{
	char shown[SLICE_SHOWN_SIZE];
	if (ics_line_parameter(l, "RANGE").len == 0 && date_of(l->value, &v->occurrence))
		return;
	v->occurrence = UNCLEAR_OCCURRENCE;
	leave_out(v,
		"has RECURRENCE-ID %s, which is not the date of one occurrence; add its dates by hand",
		slice_show(l->value, shown));
}

static void take_property(struct event *v, const struct ics_lines *l)
{
	static const char *const more[] = {"RDATE", "EXRULE"};
	if (ics_line_is(l, "SUMMARY"))
		ics_text(l->value, v->summary, sizeof(v->summary));
	else if (ics_line_is(l, "DTSTART"))
		v->has_start = take_date(v, l, &v->start);
	else if (ics_line_is(l, "DTEND"))
		v->has_end = take_date(v, l, &v->end);
	else if (ics_line_is(l, "DURATION"))
		take_duration(v, l->value);
	else if (ics_line_is(l, "RRULE"))
		take_rule(v, l->value);
	else if (ics_line_is(l, "EXDATE"))
		take_exdates(v, l->value);
	else if (ics_line_is(l, "UID"))
		take_uid(v, l->value);
	else if (ics_line_is(l, "RECURRENCE-ID"))
		take_occurrence(v, l);
	else if (ics_line_is(l, "SEQUENCE"))
		(void)number_of(l->value, &v->sequence);
	else if (ics_line_is(l, "STATUS"))
		v->cancelled = ics_same(l->value, "CANCELLED");
	for (size_t i = 0; i < sizeof(more) / sizeof(*more); i++)
		if (ics_line_is(l, more[i]))
			leave_out(v, "has %s, which is not understood; add its dates by hand",
				more[i]);
	if (l->cut && !ics_line_is(l, "DESCRIPTION") && !ics_line_is(l, "ATTACH"))
		leave_out(v, "has a line of more than %d bytes", ICS_LINE_MAX);
}

/* ---- what else the file says of it ----------------------------------------------------------- */

static void add_version(struct reader *r)
{
	const struct event *v = &r->event;
	if (!v->uid)
		return;
	r->version = mem_room(r->version, r->nversions, &r->versions_room, 64, sizeof(*r->version));
	r->version[r->nversions++] = (struct version){
		mem_strdup(v->uid), v->occurrence, v->cancelled, v->sequence, v->line};
}

static int compare_places(const struct version *x, const struct version *y)
{
	int order = strcmp(x->uid, y->uid);
	return order ? order : (x->occurrence > y->occurrence) - (x->occurrence < y->occurrence);
}

static int compare_versions(const void *a, const void *b)
{
	const struct version *x = a, *y = b;
	int order = compare_places(x, y);
	return order ? order : (x->line > y->line) - (x->line < y->line);
}

/* The versions of one occurrence of the present event's UID, or of that event itself (NO_OCCURRENCE).
 * *ret_end is behind the last. */
static const struct version *versions_of(
	const struct reader *r, int32_t occurrence, const struct version **ret_end)
{
	struct version key = {.uid = r->event.uid, .occurrence = occurrence};
	*ret_end = NULL;
	if (r->nversions == 0)
		return NULL;
	size_t low = 0, high = key.uid ? r->nversions : 0, first;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (compare_places(&r->version[mid], &key) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	for (first = low;
		key.uid && low < r->nversions && compare_places(&r->version[low], &key) == 0;)
		low++;
	*ret_end = r->version + low;
	return r->version + first;
}

static bool has_version(const struct reader *r, int32_t occurrence, size_t *ret_line)
{
	const struct version *end, *n = versions_of(r, occurrence, &end);
	if (n < end && ret_line)
		*ret_line = n->line;
	return n < end;
}

/* Whether another version takes the place of the present event. Two events of one UID and SEQUENCE
 * are two: some programs give each the same. Two of one occurrence are not: the last one counts. */
static bool is_replaced(const struct reader *r)
{
	const struct event *v = &r->event;
	const struct version *end, *n = versions_of(r, v->occurrence, &end);
	bool is_occurrence = v->occurrence != NO_OCCURRENCE;
	for (; n < end; n++)
		if (n->sequence > v->sequence ||
			(is_occurrence && n->sequence == v->sequence && n->line > v->line))
			return true;
	n = versions_of(r, NO_OCCURRENCE, &end);
	for (; is_occurrence && n < end; n++)
		if (n->cancelled && n->sequence >= v->sequence) /* all that it repeats is */
			return true;
	return false;
}

/* ---- its dates ------------------------------------------------------------------------------- */

static void skip(struct reader *r)
{
	struct event *v = &r->event;
	char shown[SLICE_SHOWN_SIZE];
	if (r->ics->nskips++ >= ICS_SKIPS_MAX)
		return;
	err_set(&r->ics->skip[r->ics->nskips - 1], 0, "line %zu: %s %s", v->line,
		*v->summary ? slice_show(slice_of(v->summary), shown) : "an event", v->why.text);
}

static int keep(struct reader *r, int32_t first, int32_t days, struct err *e)
{
	struct ics *i = r->ics;
	struct date_range dates = {first, first + days - 1};
	if (dates.last_day < r->horizon.first_day || dates.first_day > r->horizon.last_day)
		return 0;
	for (size_t k = 0; k < r->event.nexdates; k++)
		if (r->event.exdate[k] == first)
			return 0;
	if (r->event.occurrence == NO_OCCURRENCE && has_version(r, first, NULL))
		return 0;
	if (i->nholidays == ICS_HOLIDAYS_MAX)
		return err_set(e, ERR_LIMIT, "has more than %d dates; ask for fewer years",
			ICS_HOLIDAYS_MAX);
	i->holiday = mem_room(i->holiday, i->nholidays, &r->room, 64, sizeof(*i->holiday));
	struct ics_holiday *h = &i->holiday[i->nholidays++];
	*h = (struct ics_holiday){.dates = dates, .line = r->event.line};
	memcpy(h->summary, r->event.summary, sizeof(h->summary));
	return 0;
}

/* The 29th of February exists in leap years only, and COUNT counts existing dates only (3.3.10). */
static int keep_yearly(struct reader *r, int32_t days, struct err *e)
{
	const struct event *v = &r->event;
	struct civil c = civil_of(v->start);
	int rc = 0, counted = 0;
	for (; c.year <= CALENDAR_LAST_YEAR && rc == 0; c.year += v->interval) {
		if (!civil_exists(c.year, c.month, c.day))
			continue;
		int32_t day = civil_days(c.year, c.month, c.day);
		if (day > v->until || (v->count > 0 && counted++ == v->count))
			break;
		rc = keep(r, day, days, e);
	}
	return rc;
}

/* Many programs repeat here what the start says anyway. */
static bool is_of_start(const struct event *v)
{
	struct civil start = civil_of(v->start);
	return (v->by_month == 0 || v->by_month == start.month) &&
	       (v->by_day == 0 || v->by_day == start.day);
}

static int end_event(struct reader *r, struct err *e)
{
	struct event *v = &r->event;
	size_t changed_by;
	/* Without an end it is one day; some write the same day for both. */
	int32_t days = v->has_end ? v->end - v->start : v->days;
	if (!r->versions_done) {
		add_version(r);
		return 0;
	}
	if (v->cancelled || is_replaced(r))
		return 0;
	if (v->occurrence != NO_OCCURRENCE && !v->uid)
		leave_out(v, "has RECURRENCE-ID and no UID, so what it changes is not known");
	if (v->occurrence == NO_OCCURRENCE && has_version(r, UNCLEAR_OCCURRENCE, &changed_by))
		leave_out(v,
			"is changed by the event of line %zu, whose RECURRENCE-ID is not the date of one occurrence; add its dates by hand",
			changed_by);
	if (!v->has_start)
		leave_out(v, "has no DTSTART");
	else if (!is_of_start(v))
		leave_out(v, "repeats on another date than it begins; add its dates by hand");
	if (days == 0)
		days = 1;
	if (days < 0)
		leave_out(v, "ends before it begins");
	if (days > EVENT_DAYS_MAX)
		leave_out(v, "lasts for more than %d days", EVENT_DAYS_MAX);
	if (*v->why.text) {
		skip(r);
		return 0;
	}
	return v->yearly ? keep_yearly(r, days, e) : keep(r, v->start, days, e);
}

/* ---- the file -------------------------------------------------------------------------------- */

static void begin(struct reader *r)
{
	struct slice what = r->lines.value;
	if (r->inner > 0 || r->in_event) {
		r->inner++;
	} else if (!r->in_calendar && ics_same(what, "VCALENDAR")) {
		r->in_calendar = true;
		r->calendars++;
	} else if (r->in_calendar && ics_same(what, "VEVENT")) {
		r->in_event = true;
		free(r->event.uid);
		r->event = (struct event){.line = r->lines.line, .occurrence = NO_OCCURRENCE};
	} else {
		r->inner++;
	}
}

static int end(struct reader *r, struct err *e)
{
	if (r->inner > 0) {
		r->inner--;
		return 0;
	}
	if (r->in_event) {
		r->in_event = false;
		return end_event(r, e);
	}
	if (!r->in_calendar)
		return err_set(e, ERR_INVALID, "ends something that did not begin");
	r->in_calendar = false;
	return 0;
}

static int read_line(struct reader *r, struct err *e)
{
	if (ics_line_is(&r->lines, "BEGIN"))
		begin(r);
	else if (ics_line_is(&r->lines, "END"))
		return end(r, e);
	else if (!r->in_calendar)
		return err_set(e, ERR_INVALID,
			"is not iCalendar, which begins with BEGIN:VCALENDAR; give a file that was exported as .ics");
	else if (r->in_event && r->inner == 0)
		take_property(&r->event, &r->lines);
	return 0;
}

static int read_lines(struct reader *r, struct slice text, struct err *e)
{
	int rc = 0;
	ics_lines_init(&r->lines, text);
	while (rc == 0 && ics_lines_next(&r->lines)) {
		rc = read_line(r, e);
		if (rc == ERR_INVALID)
			err_wrap(e, "line %zu", r->lines.line);
	}
	ics_lines_done(&r->lines);
	return rc;
}

/* Twice: first which versions there are of each event, then what is left of it. */
static int read_all(struct reader *r, struct slice text, struct err *e)
{
	int rc = read_lines(r, text, e);
	if (rc < 0)
		return rc;
	if (r->calendars == 0)
		return err_set(e, ERR_INVALID,
			"has no BEGIN:VCALENDAR; give a file that was exported as .ics");
	if (r->in_calendar || r->inner > 0)
		return err_set(
			e, ERR_INVALID, "is cut off: END:VCALENDAR is missing; get it again");
	if (r->nversions > 1)
		qsort(r->version, r->nversions, sizeof(*r->version), compare_versions);
	r->versions_done = true;
	return read_lines(r, text, e);
}

static void done(struct reader *r)
{
	for (size_t k = 0; k < r->nversions; k++)
		free(r->version[k].uid);
	free(r->version);
	free(r->event.uid);
	free(r);
}

static int compare(const void *a, const void *b)
{
	const struct ics_holiday *x = a, *y = b;
	if (x->dates.first_day != y->dates.first_day)
		return x->dates.first_day < y->dates.first_day ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

int ics_read(struct slice text, struct date_range horizon, struct ics **ret, struct err *e)
{
	if (text.len > ICS_BYTES_MAX)
		return err_set(e, ERR_LIMIT, "has more than %d MiB; give a smaller one",
			ICS_BYTES_MAX / 1024 / 1024);
	struct reader *r = mem_alloc(sizeof(*r));
	r->horizon = horizon;
	r->ics = mem_alloc(sizeof(*r->ics));
	int rc = read_all(r, text, e);
	if (rc == 0) {
		if (r->ics->nholidays > 1)
			qsort(r->ics->holiday, r->ics->nholidays, sizeof(*r->ics->holiday),
				compare);
		*ret = r->ics;
	} else {
		ics_free(r->ics);
	}
	done(r);
	return rc;
}

void ics_free(struct ics *i)
{
	if (!i)
		return;
	free(i->holiday);
	free(i);
}
