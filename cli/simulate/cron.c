#include "cli/simulate/cron.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>

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
		high = low;
		if (**p == '-' && ((*p)++, !take_value(p, f, &high)))
			return false;
		else if (**p == '/' && high == low)
			high = f->high;
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
	const char *start = *p + strspn(*p, " \t");
	*p = start;
	do {
		*p += **p == ',';
		if (!take_range(p, f, bits, ret_any) || (**p && !strchr(", \t", **p)))
			return err_set(e, ERR_INVALID,
				"the %s (\"%.20s\") must be *, or numbers from %d to %d, as in 0, "
				"1-5, */2 or 1,3",
				f->name, start, f->low, f->high);
	} while (**p == ',');
	return 0;
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

static bool zone_exists(const char *zone)
{
	char path[128];
	struct stat st;
	if (!*zone || strcmp(zone, "UTC") == 0 || strcmp(zone, "Etc/UTC") == 0)
		return true;
	if (zone[0] == '/' || strstr(zone, "..") || strlen(zone) >= 64)
		return false;
	snprintf(path, sizeof(path), "/usr/share/zoneinfo/%s", zone);
	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

int cron_parse(const char *schedule, const char *zone, struct cron *ret, struct err *e)
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
	if (!zone_exists(zone))
		return err_set(e, ERR_INVALID,
			"\"%.40s\" is not in this machine's zone database; write an IANA name such "
			"as Europe/Berlin",
			zone);
	c.any_day = any[2];
	c.any_weekday = any[4];
	snprintf(c.zone, sizeof(c.zone), "%s", zone);
	*ret = c;
	return 0;
}

static bool has(uint64_t bits, int i)
{
	return bits >> i & 1;
}

/* Both the day of the month and that of the week are given: either is enough. */
static bool day_matches(const struct cron *c, const struct tm *t)
{
	bool day = has(c->day, t->tm_mday), weekday = has(c->weekday, t->tm_wday);
	if (!has(c->month, t->tm_mon + 1))
		return false;
	return c->any_day || c->any_weekday ? day && weekday : day || weekday;
}

/* One thread, and nobody else reads local times: the zone may be the process's. */
static void enter_zone(const char *zone)
{
	char value[80];
	snprintf(value, sizeof(value), ":%s", *zone ? zone : "UTC");
	setenv("TZ", value, 1);
	tzset();
}

int64_t cron_next_ms(const struct cron *c, int64_t after_ms, int64_t last_ms)
{
	enter_zone(c->zone);
	int64_t minute_ms = 60000, quarter_ms = 15 * minute_ms;
	int64_t t = (after_ms / minute_ms + 1) * minute_ms;
	while (t <= last_ms) {
		time_t seconds = (time_t)(t / 1000);
		struct tm tm;
		if (!localtime_r(&seconds, &tm))
			return INT64_MAX;
		bool today = day_matches(c, &tm);
		if (today && has(c->hour, tm.tm_hour) && has(c->minute, tm.tm_min))
			return t;
		/* Zones differ from UTC by quarters of an hour, so no day begins within one. */
		t = today && has(c->hour, tm.tm_hour) ? t + minute_ms
						      : (t / quarter_ms + 1) * quarter_ms;
	}
	return INT64_MAX;
}
