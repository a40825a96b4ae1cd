#include "base/instant.h"

#include <time.h>

#define TEXT_MAX 63

/* n digits at *p, which moves past them. */
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

/* ".123456" to ms, rounded down. */
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
