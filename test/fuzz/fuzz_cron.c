/* Any bytes as a cron schedule: what is taken fires at minutes that match, and never in between. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "queue/calendar/civil.h"
#include "queue/calendar/cron.h"
#include "test/fuzz/outcome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool fires_at(const struct cron *c, const struct zone *z, int64_t at_s)
{
	int64_t local_s = zone_local_s(z, at_s);
	int32_t day = civil_day_of(local_s);
	int minute = civil_second_of(local_s) / 60;
	return cron_on(c, day, civil_weekday(day)) && cron_minute_from(c, minute) == minute &&
	       cron_minute_until(c, minute) == minute;
}

/* A zone whose clock goes back by half an hour at 1,000,000,200 and forward by an hour a week
 * later. */
static struct zone *make_zone(void)
{
	static const struct zone_span spans[] = {
		{0, 3600, "A", 0}, {1000000200, 1800, "B", 0}, {1000605000, 5400, "C", 0}};
	return zone_new("Test", spans, 3);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cron c;
	struct err e = {""};
	char *text = mem_strndup((const char *)data, size);
	struct zone *z = make_zone();
	text[strcspn(text, "\n")] = '\0';
	if (cron_parse(text, &c, &e) < 0) {
		must(*e.text);
		check_text(e.text);
	} else {
		int64_t at_ms = INT64_C(999997200000);
		for (int i = 0; i < 200 && at_ms != INT64_MAX; i++) {
			int64_t next_ms = cron_next_ms(&c, z, at_ms, INT64_MAX);
			must(next_ms > at_ms);
			must(next_ms == INT64_MAX || fires_at(&c, z, next_ms / 1000));
			for (int64_t s = at_ms / 1000 + 60;
				s < next_ms / 1000 && s < at_ms / 1000 + 36000; s += 60)
				must(!fires_at(&c, z, s));
			at_ms = next_ms;
		}
	}
	zone_free(z);
	free(text);
	return 0;
}
