#include "base/span.h"

#include <stdio.h>
#include <string.h>

enum { MINUTE_S = 60, HOUR_S = 60 * MINUTE_S, DAY_S = 24 * HOUR_S };
enum { DAYS, HOURS, MINUTES, SECONDS, UNITS };

static const struct {
	int64_t s;
	char name;
} units[UNITS] = {{DAY_S, 'd'}, {HOUR_S, 'h'}, {MINUTE_S, 'm'}, {1, 's'}};

/* Writes s in the largest of the units from `largest` on, and what is left in the smaller ones. */
static struct span_text in_units(int64_t s, size_t largest)
{
	struct span_text t = {"0s"};
	int len = 0;
	for (size_t i = largest; i < UNITS; s %= units[i++].s)
		if (s >= units[i].s)
			len += snprintf(t.s + len, sizeof(t.s) - (size_t)len, "%lld%c",
				(long long)(s / units[i].s), units[i].name);
	return t;
}

struct span_text span_short(int64_t ms)
{
	int64_t s = ms > 0 ? ms / 1000 : 0;
	int64_t told_s = s < 10 * MINUTE_S ? 1
			 : s < DAY_S	   ? MINUTE_S
			 : s < 10 * DAY_S  ? HOUR_S
					   : DAY_S;
	return in_units(s - s % told_s, DAYS);
}

struct span_text span_about(int64_t ms)
{
	const int64_t minute_ms = MINUTE_S * 1000, hour_ms = HOUR_S * 1000;
	int64_t step_ms = ms < minute_ms ? 1000 : ms < hour_ms ? minute_ms : 5 * minute_ms;
	bool is_rounded = ms >= minute_ms && ms < INT64_MAX - step_ms;
	return span_short(is_rounded ? (ms + step_ms / 2) / step_ms * step_ms : ms);
}

struct span_text span_of_seconds(double seconds)
{
	return span_short(seconds > 0 ? (int64_t)(seconds < 1e15 ? seconds * 1000 : 1e18) : 0);
}

struct span_text span_exact(int64_t ms)
{
	return in_units(ms > 0 ? ms / 1000 + (ms % 1000 > 0) : 0, HOURS);
}

/* ---- reading --------------------------------------------------------------------------------- */

#define MAX_NS INT64_C(3153600000000000000) /* 100 years of 365 days */
#define SECOND_NS INT64_C(1000000000)

static const struct unit {
	const char *name;
	int64_t ns;
} read_units[] = {
	/* Longer names first: "ms" is not "m". Both letters for micro that Go takes. */
	{"ns", 1},
	{"us", 1000},
	{"\xC2\xB5s", 1000},
	{"\xCE\xBCs", 1000},
	{"ms", 1000000},
	{"s", SECOND_NS},
	{"m", MINUTE_S *SECOND_NS},
	{"h", HOUR_S *SECOND_NS},
	/* From here on of long spans alone. */
	{"d", DAY_S *SECOND_NS},
	{"w", 7 * DAY_S *SECOND_NS},
};

enum { READ_UNITS = sizeof(read_units) / sizeof(*read_units), LONG_UNITS = 2 };

static int64_t take_unit(const char **p, size_t nunits)
{
	for (size_t i = 0; i < nunits; i++) {
		size_t len = strlen(read_units[i].name);
		if (strncmp(*p, read_units[i].name, len) == 0) {
			*p += len;
			return read_units[i].ns;
		}
	}
	return 0;
}

static bool take_digit(const char **p, int *ret)
{
	if (**p < '0' || **p > '9')
		return false;
	*ret = *(*p)++ - '0';
	return true;
}

/* Adds one "1.5h" to *sum_ns. Six digits behind the point count. */
static bool take_part(const char **p, size_t nunits, int64_t *sum_ns)
{
	int64_t whole = 0, part = 0, scale = 1, product;
	int digit, digits = 0;
	for (; take_digit(p, &digit); digits++) {
		if (whole > MAX_NS / 10)
			return false;
		whole = whole * 10 + digit;
	}
	if (**p == '.') {
		for ((*p)++; take_digit(p, &digit); digits++) {
			if (scale == 1000000)
				continue;
			part = part * 10 + digit;
			scale *= 10;
		}
	}
	int64_t unit = digits > 0 ? take_unit(p, nunits) : 0;
	if (unit == 0 || __builtin_mul_overflow(whole, unit, &product) ||
		product > MAX_NS - *sum_ns)
		return false;
	*sum_ns += product + (int64_t)((__int128)part * unit / scale);
	return *sum_ns <= MAX_NS;
}

static bool parse(const char *text, size_t nunits, int64_t *ret_ms)
{
	int64_t ns = 0;
	for (const char *p = text; *p || p == text;)
		if (!take_part(&p, nunits, &ns))
			return false;
	*ret_ms = (ns + 999999) / 1000000;
	return true;
}

bool span_parse(const char *text, int64_t *ret_ms)
{
	return parse(text, READ_UNITS - LONG_UNITS, ret_ms);
}

bool span_parse_long(const char *text, int64_t *ret_ms)
{
	return parse(text, READ_UNITS, ret_ms);
}

bool span_parse_seconds(const char *text, int64_t *ret_ms)
{
	char with_unit[32];
	size_t len = strlen(text);
	bool plain = len > 0 && len < sizeof(with_unit) - 1 && strspn(text, "0123456789") == len;
	snprintf(with_unit, sizeof(with_unit), "%ss", plain ? text : "");
	return span_parse(plain ? with_unit : text, ret_ms) && *ret_ms > 0;
}
