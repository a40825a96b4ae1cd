#include "queue/calendar/notation.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "queue/calendar/civil.h"

static const char *const weekday_names[7] = {
	"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static struct slice trim(struct slice s)
{
	while (s.len > 0 && is_blank(s.ptr[0])) {
		s.ptr++;
		s.len--;
	}
	while (s.len > 0 && is_blank(s.ptr[s.len - 1]))
		s.len--;
	return s;
}

/* What is before the first of `mark`; *rest becomes what is after it, empty when there is none. */
static struct slice take_until(struct slice *rest, const char *mark)
{
	struct slice head = *rest;
	const char *found = head.len ? memmem(head.ptr, head.len, mark, strlen(mark)) : NULL;
	if (!found) {
		*rest = (struct slice){head.ptr + head.len, 0};
		return head;
	}
	head.len = (size_t)(found - head.ptr);
	size_t used = head.len + strlen(mark);
	*rest = (struct slice){found + strlen(mark), rest->len - used};
	return head;
}

/* The first word; *rest becomes what is after the blanks behind it. */
static struct slice take_word(struct slice *rest)
{
	struct slice head = *rest;
	head.len = 0;
	while (head.len < rest->len && !is_blank(rest->ptr[head.len]))
		head.len++;
	*rest = trim((struct slice){head.ptr + head.len, rest->len - head.len});
	return head;
}

/* Digits where the pattern has 0, else its own characters: "0000-00-00". Writes the numbers. */
static bool matches(struct slice s, const char *pattern, int *ret_number)
{
	bool inside = false;
	if (s.len != strlen(pattern))
		return false;
	for (size_t i = 0; i < s.len; i++) {
		bool digit = s.ptr[i] >= '0' && s.ptr[i] <= '9';
		if (pattern[i] == '0' ? !digit : s.ptr[i] != pattern[i])
			return false;
		if (pattern[i] == '0')
			*ret_number = (inside ? *ret_number * 10 : 0) + s.ptr[i] - '0';
		else
			ret_number++;
		inside = pattern[i] == '0';
	}
	return true;
}

static int refuse(struct slice text, struct err *e, const char *instead)
{
	char shown[SLICE_SHOWN_SIZE];
	return err_set(e, ERR_INVALID, "%s %s", slice_show(trim(text), shown), instead);
}

/* ---- Times of day, weekdays ------------------------------------------------------------------ */

static bool clock_of(struct slice s, int *ret_minute)
{
	int n[2];
	if ((!matches(s, "00:00", n) && !matches(s, "0:00", n)) || n[1] > 59 ||
		n[0] * 60 + n[1] > DAY_MINUTES)
		return false;
	*ret_minute = n[0] * 60 + n[1];
	return true;
}

static bool weekday_of(struct slice s, int *ret)
{
	for (int i = 0; i < 7; i++) {
		if (s.len != 3 && s.len != strlen(weekday_names[i]))
			continue;
		if (strncasecmp(s.ptr, weekday_names[i], s.len) != 0)
			continue;
		*ret = i;
		return true;
	}
	return false;
}

int notation_clock(struct slice text, int *ret_minute, struct err *e)
{
	if (clock_of(trim(text), ret_minute))
		return 0;
	return refuse(text, e, "is not a time of day; write 00:00 to 24:00, as in \"19:00\"");
}

int notation_weekday(struct slice text, int *ret_weekday, struct err *e)
{
	if (weekday_of(trim(text), ret_weekday))
		return 0;
	return refuse(text, e, "is not a weekday; write Mon, Tue, Wed, Thu, Fri, Sat or Sun");
}

/* "Fri-Mon" includes Saturday and Sunday. */
static bool add_days(struct slice s, unsigned *days)
{
	int first, last;
	struct slice rest = s;
	struct slice head = take_until(&rest, "-");
	bool range = head.len < s.len;
	if (!weekday_of(trim(head), &first))
		return false;
	last = first;
	if (range && !weekday_of(trim(rest), &last))
		return false;
	for (int d = first;; d = (d + 1) % 7) {
		*days |= 1u << d;
		if (d == last)
			return true;
	}
}

int notation_days(struct slice text, unsigned *ret_days, struct err *e)
{
	unsigned days = 0;
	struct slice rest = trim(text), item;
	bool more;
	do {
		size_t before = rest.len;
		item = take_until(&rest, ",");
		more = item.len < before;
		if (!add_days(trim(item), &days))
			return refuse(text, e,
				"does not name weekdays; write e.g. Mon, Mon-Thu or \"Mon,Wed,Fri-Sun\"");
	} while (more);
	*ret_days = days;
	return 0;
}

int notation_week_point(struct slice text, struct week_point *ret, struct err *e)
{
	struct week_point p;
	struct slice clock = trim(text);
	struct slice day = take_word(&clock);
	if (!weekday_of(day, &p.weekday) || !clock_of(clock, &p.minute))
		return refuse(text, e, "is not a time of the week; write e.g. \"Fri 19:00\"");
	*ret = p;
	return 0;
}

/* ---- dates ----------------------------------------------------------------------------------- */

static bool date_of(struct slice s, int32_t *ret_day)
{
	int n[3];
	if (!matches(s, "0000-00-00", n) || !civil_exists(n[0], n[1], n[2]))
		return false;
	if (n[0] < CALENDAR_FIRST_YEAR || n[0] > CALENDAR_LAST_YEAR)
		return false;
	*ret_day = civil_days(n[0], n[1], n[2]);
	return true;
}

int notation_date(struct slice text, int32_t *ret_day, struct err *e)
{
	if (date_of(trim(text), ret_day))
		return 0;
	return refuse(text, e,
		"is not a date of the years 1970 to 2100; write year-month-day, as in 2026-12-24");
}

int notation_dates(struct slice text, struct date_range *ret, struct err *e)
{
	struct date_range r;
	struct slice last = trim(text), all = last;
	struct slice first = trim(take_until(&last, ".."));
	if (!memmem(all.len ? all.ptr : "", all.len, "..", 2))
		last = first;
	if (!date_of(first, &r.first_day) || !date_of(trim(last), &r.last_day))
		return refuse(text, e,
			"is neither a date nor a range of dates of the years 1970 to 2100; write e.g. 2026-12-24 or 2026-12-24..2026-12-26");
	if (r.last_day < r.first_day)
		return refuse(text, e, "ends before it begins; write the earlier date first");
	*ret = r;
	return 0;
}

int notation_local(struct slice text, int64_t *ret_local_s, struct err *e)
{
	int32_t day;
	int minute;
	struct slice clock = trim(text);
	bool joined = clock.len && memchr(clock.ptr, 'T', clock.len);
	struct slice date = joined ? take_until(&clock, "T") : take_word(&clock);
	if (!date_of(date, &day) || !clock_of(clock, &minute))
		return refuse(text, e,
			"is not a local time of the years 1970 to 2100; write it without a zone, as in \"2026-09-12 08:00\"");
	*ret_local_s = day * DAY_S + minute * 60;
	return 0;
}

static int take_line(struct slice *rest, struct date_range *ret, bool *ret_empty, struct err *e)
{
	struct slice line = take_until(rest, "\n");
	line = trim(take_until(&line, "#"));
	*ret_empty = line.len == 0;
	return *ret_empty ? 0 : notation_dates(line, ret, e);
}

int notation_date_list(struct slice text, size_t max, struct date_range **ret_date,
	size_t *ret_count, struct err *e)
{
	struct date_range *date = NULL;
	size_t n = 0, room = 0;
	int rc = 0;
	for (size_t line = 1; text.len > 0 && rc == 0; line++) {
		struct date_range r;
		bool empty;
		rc = take_line(&text, &r, &empty, e);
		if (rc == 0 && !empty && n == max)
			rc = err_set(
				e, ERR_LIMIT, "has more than %zu dates; remove past ones", max);
		if (rc < 0)
			err_wrap(e, "line %zu", line);
		if (rc < 0 || empty)
			continue;
		date = mem_room(date, n, &room, 16, sizeof(*date));
		date[n++] = r;
	}
	if (rc < 0) {
		free(date);
		return rc;
	}
	*ret_date = date;
	*ret_count = n;
	return 0;
}

/* ---- Writing --------------------------------------------------------------------------------- */

const char *notation_write_clock(int minute, char ret_text[NOTATION_TEXT_SIZE])
{
	snprintf(ret_text, NOTATION_TEXT_SIZE, "%02d:%02d", minute / 60, minute % 60);
	return ret_text;
}

const char *notation_write_dates(struct date_range dates, char ret_text[NOTATION_TEXT_SIZE])
{
	struct civil a = civil_of(dates.first_day), b = civil_of(dates.last_day);
	int n = snprintf(ret_text, NOTATION_TEXT_SIZE, "%04d-%02d-%02d", a.year, a.month, a.day);
	if (dates.first_day != dates.last_day)
		snprintf(ret_text + n, NOTATION_TEXT_SIZE - (size_t)n, "..%04d-%02d-%02d", b.year,
			b.month, b.day);
	return ret_text;
}
