#include "queue/calendar/cron.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/slice.h"
#include "queue/calendar/civil.h"

struct field {
	const char *name;
	int low, high;
	const char *const *words; /* NULL, or names from low on */
};

static const char *const months[] = {
	"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec", NULL};
static const char *const weekdays[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat", NULL};

static const struct field fields[5] = {
	{"minute", 0, 59, NULL},
	{"hour", 0, 23, NULL},
	{"day of the month", 1, 31, NULL},
	{"month", 1, 12, months},
	{"day of the week", 0, 6, weekdays},
};

static bool take_value(const char **p, const struct field *f, int *ret)
{
	if (**p >= '0' && **p <= '9') {
		char *end;
		long value = strtol(*p, &end, 10);
		*p = end;
		*ret = (int)(value > 1000 ? 1000 : value);
		return true;
	}
	for (int i = 0; f->words && f->words[i]; i++) {
		if (strncasecmp(*p, f->words[i], 3) == 0) {
			*p += 3;
			*ret = f->low + i;
			return true;
		}
	}
	return false;
}

/* "*", "5", "1-5", "10-40/10", "*\/15", up to a comma, blank or the end. */
static bool take_range(const char **p, const struct field *f, uint64_t *bits, bool *ret_any)
{
	int low = f->low, high = f->high, step = 1;
	bool star = **p == '*' || **p == '?';
	if (star) {
		(*p)++;
	} else {
		if (!take_value(p, f, &low))
			return false;
		high = **p == '/' ? f->high : low; /* "5/15" is "5-59/15" */
		if (**p == '-' && ((*p)++, !take_value(p, f, &high)))
			return false;
	}
	if (**p == '/') {
		(*p)++;
		if (**p < '0' || **p > '9' || !take_value(p, f, &step))
			return false;
	}
	if (low < f->low || high > f->high || low > high || step < 1)
		return false;
	for (int v = low; v <= high; v += step)
		*bits |= UINT64_C(1) << v;
	*ret_any |= star && step == 1;
	return true;
}

static int take_field(
	const char **p, const struct field *f, uint64_t *bits, bool *ret_any, struct err *e)
{
	char shown[SLICE_SHOWN_SIZE];
	*p += strspn(*p, " \t");
	const char *start = *p;
	bool good = take_range(p, f, bits, ret_any);
	while (good && **p == ',') {
		(*p)++;
		good = take_range(p, f, bits, ret_any);
	}
	if (good && (**p == '\0' || **p == ' ' || **p == '\t'))
		return 0;
	return err_set(e, ERR_INVALID,
		"the %s (%s) must be *, or numbers from %d to %d, as in 0, 1-5, */2 or 1,3",
		f->name, slice_show((struct slice){start, strcspn(start, " \t")}, shown), f->low,
		f->high);
}

static const char *unalias(const char *schedule)
{
	static const char *const alias[][2] = {
		{"@hourly", "0 * * * *"},
		{"@daily", "0 0 * * *"},
		{"@midnight", "0 0 * * *"},
		{"@weekly", "0 0 * * 0"},
		{"@monthly", "0 0 1 * *"},
		{"@yearly", "0 0 1 1 *"},
		{"@annually", "0 0 1 1 *"},
	};
	for (size_t i = 0; i < sizeof(alias) / sizeof(*alias); i++)
		if (strcmp(schedule, alias[i][0]) == 0)
			return alias[i][1];
	return schedule;
}

int cron_parse(const char *schedule, struct cron *ret, struct err *e)
{
	struct cron c = {0};
	uint64_t *const bits[5] = {&c.minute, &c.hour, &c.day, &c.month, &c.weekday};
	bool any[5] = {false};
	const char *p = unalias(schedule);
	for (int i = 0; i < 5; i++) {
		int rc = take_field(&p, &fields[i], bits[i], &any[i], e);
		if (rc < 0)
			return rc;
	}
	if (p[strspn(p, " \t")])
		return err_set(e, ERR_INVALID, "has more than five fields");
	c.any_day = any[2];
	c.any_weekday = any[4];
	*ret = c;
	return 0;
}

/* ---- when ------------------------------------------------------------------------------------ */

static bool has(uint64_t bits, int i)
{
	return bits >> i & 1;
}

bool cron_on(const struct cron *c, int32_t day, int weekday)
{
	struct civil date = civil_of(day);
	bool of_month = has(c->day, date.day), of_week = has(c->weekday, weekday);
	if (!has(c->month, date.month))
		return false;
	return c->any_day || c->any_weekday ? of_month && of_week : of_month || of_week;
}

/* The lowest bit from `from` on, the highest up to `upto`; -1: none. Both are 0 to 63. */
static int bit_from(uint64_t bits, int from)
{
	bits &= ~UINT64_C(0) << from;
	return bits ? __builtin_ctzll(bits) : -1;
}

static int bit_until(uint64_t bits, int upto)
{
	bits &= ~UINT64_C(0) >> (63 - upto);
	return bits ? 63 - __builtin_clzll(bits) : -1;
}

int cron_minute_from(const struct cron *c, int minute)
{
	int hour = minute / 60;
	if (minute >= DAY_MINUTES)
		return -1;
	if (has(c->hour, hour) && bit_from(c->minute, minute % 60) >= 0)
		return hour * 60 + bit_from(c->minute, minute % 60);
	hour = bit_from(c->hour, hour + 1);
	return hour < 0 ? -1 : hour * 60 + bit_from(c->minute, 0);
}

int cron_minute_until(const struct cron *c, int minute)
{
	int hour = minute / 60;
	if (minute < 0)
		return -1;
	if (has(c->hour, hour) && bit_until(c->minute, minute % 60) >= 0)
		return hour * 60 + bit_until(c->minute, minute % 60);
	hour = hour > 0 ? bit_until(c->hour, hour - 1) : -1;
	return hour < 0 ? -1 : hour * 60 + bit_until(c->minute, 59);
}

/* The first local time from from_s on and before end_s that matches, else INT64_MAX. */
static int64_t next_local(const struct cron *c, int64_t from_s, int64_t end_s)
{
	int32_t day = civil_day_of(from_s + 59);
	int minute = civil_second_of(from_s + 59) / 60;
	for (; day * DAY_S < end_s; day++, minute = 0) {
		int found = cron_on(c, day, civil_weekday(day)) ? cron_minute_from(c, minute) : -1;
		int64_t local_s = day * DAY_S + found * 60;
		if (found >= 0)
			return local_s < end_s ? local_s : INT64_MAX;
	}
	return INT64_MAX;
}

#define CRON_HORIZON_S (5 * 366 * DAY_S)

int64_t cron_next_ms(const struct cron *c, const struct zone *z, int64_t after_ms, int64_t last_ms)
{
	int64_t from_s = civil_floor(after_ms, 1000) + 1, last_s = civil_floor(last_ms, 1000);
	if (from_s <= -ZONE_FAR_S || from_s >= ZONE_FAR_S)
		return INT64_MAX;
	if (last_s > from_s + CRON_HORIZON_S)
		last_s = from_s + CRON_HORIZON_S;
	/* Within a span local time runs like UTC. */
	for (const struct zone_span *s = zone_span_at(z, from_s); from_s <= last_s; s++) {
		bool last = s + 1 == z->span + z->nspans;
		int64_t end_s = last || s[1].from_s > last_s ? last_s + 1 : s[1].from_s;
		int64_t local_s = next_local(c, from_s + s->offset_s, end_s + s->offset_s);
		if (local_s != INT64_MAX)
			return (local_s - s->offset_s) * 1000;
		from_s = end_s;
	}
	return INT64_MAX;
}
