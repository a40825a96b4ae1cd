/* Times and durations as people and the API server write them; integers throughout. */
#include <string.h>
#include <time.h>

#include "controller/wire/decode_text.h"

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

bool text_time(const char *text, int64_t *ret_ms)
{
	int year, month, day, hour, minute, second, offset;
	int64_t ms;
	const char *p = text;
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

bool text_number(const char *text, int64_t max, int64_t *ret)
{
	int64_t value = 0;
	if (*text == '\0')
		return false;
	for (const char *p = text; *p; p++) {
		if (*p < '0' || *p > '9' || value > (max - (*p - '0')) / 10)
			return false;
		value = value * 10 + (*p - '0');
	}
	*ret = value;
	return true;
}

#define DURATION_MAX_NS INT64_C(3153600000000000000) /* 100 years of 365 days */

static int64_t take_duration_unit(const char **p)
{
	/* Longer names first: "ms" is not "m". Both letters for micro that Go takes. */
	static const struct {
		const char *name;
		int64_t ns;
	} units[] = {
		{"ns", 1},
		{"us", 1000},
		{"\xC2\xB5s", 1000},
		{"\xCE\xBCs", 1000},
		{"ms", 1000000},
		{"s", 1000000000},
		{"m", INT64_C(60000000000)},
		{"h", INT64_C(3600000000000)},
	};
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		size_t n = strlen(units[i].name);
		if (strncmp(*p, units[i].name, n) == 0) {
			*p += n;
			return units[i].ns;
		}
	}
	return 0;
}

/* One "1.5h" of a duration, added to *sum. Six digits behind the point count. */
static bool take_duration_part(const char **p, int64_t *sum_ns)
{
	int64_t whole = 0, part = 0, scale = 1, product;
	int digit, digits = 0;
	for (; take_digits(p, 1, &digit); digits++) {
		if (whole > DURATION_MAX_NS / 10)
			return false;
		whole = whole * 10 + digit;
	}
	if (take_char(p, ".")) {
		for (; take_digits(p, 1, &digit); digits++) {
			if (scale == 1000000)
				continue;
			part = part * 10 + digit;
			scale *= 10;
		}
	}
	int64_t unit = digits > 0 ? take_duration_unit(p) : 0;
	if (unit == 0 || __builtin_mul_overflow(whole, unit, &product) ||
		product > DURATION_MAX_NS - *sum_ns)
		return false;
	*sum_ns += product + part * unit / scale;
	return true;
}

bool text_duration(const char *text, int64_t *ret_ms)
{
	int64_t sum_ns = 0, seconds;
	if (text_number(text, DURATION_MAX_NS / 1000000000, &seconds)) {
		*ret_ms = seconds * 1000;
		return seconds > 0;
	}
	for (const char *p = text; *p || p == text;)
		if (!take_duration_part(&p, &sum_ns) || sum_ns > DURATION_MAX_NS)
			return false;
	*ret_ms = (sum_ns + 999999) / 1000000;
	return sum_ns > 0;
}
