/* Durations as people and the API server write them; integers throughout. */
#include <string.h>

#include "base/instant.h"
#include "controller/wire/decode_text.h"

bool text_time(const char *text, int64_t *ret_ms)
{
	return instant_parse(slice_of(text), ret_ms);
}

static bool take_digit(const char **p, int *ret)
{
	if (**p < '0' || **p > '9')
		return false;
	*ret = *(*p)++ - '0';
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
	for (; take_digit(p, &digit); digits++) {
		if (whole > DURATION_MAX_NS / 10)
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
	int64_t unit = digits > 0 ? take_duration_unit(p) : 0;
	if (unit == 0 || __builtin_mul_overflow(whole, unit, &product) ||
		product > DURATION_MAX_NS - *sum_ns)
		return false;
	*sum_ns += product + part * unit / scale;
	return true;
}

static bool take_duration(const char *text, int64_t *ret_ns)
{
	*ret_ns = 0;
	for (const char *p = text; *p || p == text;)
		if (!take_duration_part(&p, ret_ns) || *ret_ns > DURATION_MAX_NS)
			return false;
	return true;
}

bool text_span(const char *text, int64_t *ret_ms)
{
	int64_t ns;
	if (!take_duration(text, &ns))
		return false;
	*ret_ms = (ns + 999999) / 1000000;
	return true;
}

#define DAY_MS INT64_C(86400000)
#define LONG_SPAN_MAX_DAYS INT64_C(36525)

bool text_long_span(const char *text, int64_t *ret_ms)
{
	int64_t n;
	char digits[16];
	size_t len = strspn(text, "0123456789");
	bool weeks = strcmp(text + len, "w") == 0;
	if (strcmp(text + len, "d") != 0 && !weeks)
		return text_span(text, ret_ms);
	if (len == 0 || len >= sizeof(digits))
		return false;
	memcpy(digits, text, len);
	digits[len] = '\0';
	if (!text_number(digits, LONG_SPAN_MAX_DAYS / (weeks ? 7 : 1), &n))
		return false;
	*ret_ms = n * (weeks ? 7 : 1) * DAY_MS;
	return true;
}

bool text_duration(const char *text, int64_t *ret_ms)
{
	int64_t seconds;
	if (!text_number(text, DURATION_MAX_NS / 1000000000, &seconds))
		return text_span(text, ret_ms) && *ret_ms > 0;
	*ret_ms = seconds * 1000;
	return seconds > 0;
}
