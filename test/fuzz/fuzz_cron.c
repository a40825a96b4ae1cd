/* A first line as a schedule, a second as its zone: refused with a sentence, or times that come one
 * after the other, each a whole minute. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "cli/simulate/cron.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fire(const struct cron *c)
{
	const int64_t from_ms = INT64_C(1774659600000); /* the night the clocks go forward, 2026 */
	const int64_t last_ms = from_ms + INT64_C(40) * 86400000;
	int64_t t = from_ms;
	for (int i = 0; i < 100; i++) {
		int64_t next = cron_next_ms(c, t, last_ms);
		if (next == INT64_MAX)
			return;
		must(next > t && next <= last_ms && next % 60000 == 0);
		t = next;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cron c;
	struct err e = {""};
	char *schedule = mem_strndup((const char *)data, size), *zone = strchr(schedule, '\n');
	if (zone)
		*zone++ = '\0';
	if (cron_parse(schedule, zone ? zone : "", &c, &e) == 0)
		fire(&c);
	else
		must(e.text[0] != '\0');
	free(schedule);
	return 0;
}
