/* What `sluice calendar show` and `test` print. */
#ifndef SLUICE_CLI_CALENDAR_REPORT_H
#define SLUICE_CLI_CALENDAR_REPORT_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "cli/simulate/calendar_specs.h"
#include "cli/table.h"

enum { REPORT_CHANGES = 5 };

/* An instant as it was asked for. */
struct report_time {
	int64_t at_ms;
	char note[200]; /* that the clocks skip or repeat it; "" when there is nothing to say */
};

/* "2026-03-29T02:30Z" and other RFC 3339; or local: "2026-03-29T02:30", "2026-03-29" (00:00). */
int report_time_parse(
	const char *text, const struct zone *zone, struct report_time *ret, struct err *e);

/* zone: in which times are shown. */
void report_show(const struct calendar_specs_calendar *c, const struct zone *zone, int64_t at_ms,
	const char *tzdata, const struct style *style, struct buf *out);
void report_test(const struct calendar_specs_calendar *c, const struct zone *zone,
	const struct report_time *at, struct buf *out);
void report_json(const struct calendar_specs_calendar *c, const struct zone *zone,
	const struct report_time *at, const char *tzdata, struct buf *out);

#endif
