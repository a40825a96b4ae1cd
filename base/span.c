#include "base/span.h"

#include <stdio.h>

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

struct span_text span_of_seconds(double seconds)
{
	return span_short(seconds > 0 ? (int64_t)(seconds < 1e15 ? seconds * 1000 : 1e18) : 0);
}

struct span_text span_exact(int64_t ms)
{
	return in_units(ms > 0 ? ms / 1000 + (ms % 1000 > 0) : 0, HOURS);
}
