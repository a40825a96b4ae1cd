#include "cli/simulate/time_axis.h"

#include <time.h>

#include "queue/calendar/zone.h"

enum { DAY_S = 86400, WEEK_S = 7 * DAY_S, MONDAY_S = 4 * DAY_S /* 1970-01-05 */, SPANS_MAX = 10 };

static int64_t step_of(int64_t span_s)
{
	static const int64_t steps_s[] = {1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 2 * 3600,
		3 * 3600, 6 * 3600, 12 * 3600, DAY_S, 2 * DAY_S, WEEK_S, 2 * WEEK_S, 4 * WEEK_S,
		13 * WEEK_S, 52 * WEEK_S};
	size_t n = sizeof(steps_s) / sizeof(*steps_s), i = 0;
	while (i + 1 < n && span_s / steps_s[i] >= SPANS_MAX)
		i++;
	int64_t step_s = steps_s[i];
	while (span_s / step_s >= SPANS_MAX) /* for spans of more than a decade */
		step_s *= 2;
	return step_s;
}

/* Returns the first tick at or after local_s; ticks are multiples of step_s from Monday
 * 1970-01-05. */
static int64_t round_up(int64_t local_s, int64_t step_s)
{
	int64_t rest = (local_s - MONDAY_S) % step_s;
	if (rest < 0)
		rest += step_s;
	return rest == 0 ? local_s : local_s + step_s - rest;
}

static void format(int64_t local_s, int64_t step_s, char ret[TIME_AXIS_TEXT])
{
	time_t t = (time_t)local_s;
	struct tm tm;
	gmtime_r(&t, &tm);
	if (step_s >= 4 * WEEK_S)
		strftime(ret, TIME_AXIS_TEXT, "%d %b %Y", &tm);
	else if (local_s % DAY_S == 0)
		strftime(ret, TIME_AXIS_TEXT, "%a %d %b", &tm);
	else
		strftime(ret, TIME_AXIS_TEXT, step_s < 60 ? "%H:%M:%S" : "%H:%M", &tm);
}

size_t time_axis(const struct zone *z, int64_t first_ms, int64_t last_ms,
	struct time_tick ret[TIME_AXIS_TICKS])
{
	int64_t step_s = step_of((last_ms - first_ms) / 1000);
	int64_t local_s = round_up(zone_local_s(z, (first_ms + 999) / 1000), step_s);
	size_t n = 0;
	for (; n < TIME_AXIS_TICKS; local_s += step_s) {
		int64_t at_ms = zone_instant_s(z, local_s) * 1000;
		if (at_ms > last_ms)
			break;
		if (at_ms < first_ms ||
			(n > 0 &&
				ret[n - 1].at_ms ==
					at_ms)) /* two local times, one instant: clocks went forward */
			continue;
		ret[n].at_ms = at_ms;
		/* In a gap the clocks show a later time than local_s. */
		format(step_s < DAY_S ? zone_local_s(z, at_ms / 1000) : local_s, step_s,
			ret[n++].text);
	}
	return n;
}
