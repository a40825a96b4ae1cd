#include "base/instant.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/json_writer.h"

#define TEXT_MAX 63
/* 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z: RFC 3339 has four digits for the year. */
#define FIRST_SECOND INT64_C(-62135596800)
#define LAST_SECOND INT64_C(253402300799)

/* Reads n digits at *p, which moves past them. */
static bool take_digits(const char **p, int n, int *ret)
{
	*ret = 0;
	for (int i = 0; i < n; i++, (*p)++) {
		if (**p < '0' || **p > '9')
			return false;
		*ret = *ret * 10 + (**p - '0');
	}
	return true;
}

static bool take_char(const char **p, const char *any)
{
	if (**p == '\0' || !strchr(any, **p))
		return false;
	(*p)++;
	return true;
}

/* Reads a fraction such as ".123456" as ms, rounded down. */
static bool take_fraction(const char **p, int64_t *ret_ms)
{
	int digit, n = 0;
	*ret_ms = 0;
	if (**p != '.')
		return true;
	for ((*p)++; take_digits(p, 1, &digit); n++)
		if (n < 3)
			*ret_ms = *ret_ms * 10 + digit;
	for (int i = n; i < 3; i++)
		*ret_ms *= 10;
	return n > 0;
}

static bool take_offset(const char **p, int *ret_seconds)
{
	int hours = 0, minutes = 0;
	bool west = **p == '-';
	if (take_char(p, "Zz")) {
		*ret_seconds = 0;
		return true;
	}
	if (!take_char(p, "+-") || !take_digits(p, 2, &hours) || !take_char(p, ":") ||
		!take_digits(p, 2, &minutes) || hours > 23 || minutes > 59)
		return false;
	*ret_seconds = (hours * 60 + minutes) * (west ? -60 : 60);
	return true;
}

static bool parse(const char *p, int64_t *ret_ms)
{
	int year, month, day, hour, minute, second, offset;
	int64_t ms;
	if (!take_digits(&p, 4, &year) || !take_char(&p, "-") || !take_digits(&p, 2, &month) ||
		!take_char(&p, "-") || !take_digits(&p, 2, &day) || !take_char(&p, "Tt") ||
		!take_digits(&p, 2, &hour) || !take_char(&p, ":") || !take_digits(&p, 2, &minute) ||
		!take_char(&p, ":") || !take_digits(&p, 2, &second) || !take_fraction(&p, &ms) ||
		!take_offset(&p, &offset) || *p != '\0')
		return false;
	struct tm tm = {.tm_year = year - 1900,
		.tm_mon = month - 1,
		.tm_mday = day,
		.tm_hour = hour,
		.tm_min = minute,
		.tm_sec = second};
	if (month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 60)
		return false;
	time_t t = timegm(&tm);
	if (second < 60 && tm.tm_mday != day)
		return false; /* the 30th of February has become the 2nd of March */
	*ret_ms = ((int64_t)t - offset) * 1000 + ms;
	return true;
}

bool instant_parse(struct slice text, int64_t *ret_ms)
{
	char copy[TEXT_MAX + 1] = "";
	if (text.len == 0 || text.len > TEXT_MAX || memchr(text.ptr, '\0', text.len))
		return false;
	memcpy(copy, text.ptr, text.len);
	return parse(copy, ret_ms);
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Goes from days since 1970-01-01 to a civil date, in the proleptic Gregorian calendar; years that
 * start in March make the leap day the last one (Hinnant's days_from_civil, read backwards).
 * gmtime_r would look at TZ in the environment. */
static struct instant_text text_of(int64_t s, int ms)
{
	struct instant_text t;
	s = s < FIRST_SECOND ? FIRST_SECOND : s > LAST_SECOND ? LAST_SECOND : s;
	int64_t days = s / 86400 - (s % 86400 < 0);
	int64_t left = s - days * 86400;
	int64_t z = days + 719468;
	int64_t era = (z >= 0 ? z : z - 146096) / 146097;
	int64_t doe = z - era * 146097;
	int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	int64_t mp = (5 * doy + 2) / 153;
	int64_t day = doy - (153 * mp + 2) / 5 + 1;
	int64_t month = mp < 10 ? mp + 3 : mp - 9;
	int64_t year = yoe + era * 400 + (month <= 2);
	int len = snprintf(t.s, sizeof(t.s), "%04d-%02d-%02dT%02d:%02d:%02d", (int)year, (int)month,
		(int)day, (int)(left / 3600), (int)(left / 60 % 60), (int)(left % 60));
	if (ms >= 0)
		len += snprintf(t.s + len, sizeof(t.s) - (size_t)len, ".%03d", ms);
	strcpy(t.s + len, "Z");
	return t;
}

static int64_t second_of(int64_t ms)
{
	return ms / 1000 - (ms % 1000 < 0);
}

struct instant_text instant_seconds(int64_t ms)
{
	return text_of(second_of(ms), -1);
}

struct instant_text instant_exact(int64_t ms)
{
	return text_of(second_of(ms), (int)(ms % 1000 + (ms % 1000 < 0 ? 1000 : 0)));
}

struct instant_text instant_shortest(int64_t ms)
{
	return ms % 1000 ? instant_exact(ms) : instant_seconds(ms);
}

static bool is_known(int64_t ms)
{
	return ms > 0 && ms < INT64_MAX;
}

void instant_put(struct json_writer *w, const char *key, int64_t ms)
{
	if (is_known(ms))
		jw_text(w, key, instant_seconds(ms).s);
}

void instant_put_shortest(struct json_writer *w, const char *key, int64_t ms)
{
	if (is_known(ms))
		jw_text(w, key, instant_shortest(ms).s);
}
