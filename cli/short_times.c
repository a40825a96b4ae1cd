#include "cli/short_times.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#define WEEKDAYS_MS (INT64_C(6) * 24 * 3600 * 1000) /* within it a day's name is clear */

static struct tm local_of(int64_t ms)
{
	time_t at = (time_t)(ms / 1000);
	struct tm ret;
	localtime_r(&at, &ret);
	return ret;
}

static void format_time(
	const struct short_times *t, int64_t at_ms, const struct tm *at, char text[64])
{
	struct tm day = local_of(t->day_ms);
	if (at->tm_yday == day.tm_yday && at->tm_year == day.tm_year)
		strftime(text, 64, "%H:%M", at);
	else if (at_ms > t->now_ms && at_ms - t->now_ms < WEEKDAYS_MS)
		strftime(text, 64, "%a %H:%M", at);
	else
		strftime(text, 64, "%Y-%m-%d %H:%M", at);
}

void short_times_put(struct short_times *t, int64_t at_ms, struct buf *out)
{
	struct tm at = local_of(at_ms);
	char text[64], zone[sizeof(t->named->zone)];
	format_time(t, at_ms, &at, text);
	buf_puts(out, text);
	if (strftime(zone, sizeof(zone), "%Z", &at) > 0 && strcmp(zone, t->named->zone) != 0) {
		buf_printf(out, " %s", zone);
		memcpy(t->named->zone, zone, sizeof(zone));
	}
	t->day_ms = at_ms;
}
