#include "controller/past/steps.h"

#include <stddef.h>

#define MINUTE_MS INT64_C(60000)
#define DAY_MS (24 * 60 * MINUTE_MS)

static int64_t divide_up(int64_t n, int64_t by)
{
	return n / by + (n % by > 0);
}

/* What divides a day, so that steps begin at the same times each day; else whole days. */
static int64_t step_of(int64_t span_ms)
{
	static const int64_t minutes[] = {1, 2, 5, 10, 15, 30, 60, 120, 180, 240, 360, 480, 720};
	for (size_t i = 0; i < sizeof(minutes) / sizeof(*minutes); i++)
		if (span_ms <= PAST_STEPS_MAX * minutes[i] * MINUTE_MS)
			return minutes[i] * MINUTE_MS;
	return divide_up(span_ms, PAST_STEPS_MAX * DAY_MS) * DAY_MS;
}

int64_t past_steps_divide(int64_t *from_ms, int64_t to_ms)
{
	int64_t step_ms = step_of(to_ms - *from_ms);
	int64_t unit_ms = step_ms < DAY_MS ? step_ms : DAY_MS;
	int64_t first_ms = divide_up(*from_ms, unit_ms) * unit_ms;
	if (first_ms < to_ms)
		*from_ms = first_ms;
	return step_ms;
}
