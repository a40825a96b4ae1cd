/* What `sluice calendar show` and `test` print. */
#ifndef SLUICE_CLI_CALENDAR_REPORT_H
#define SLUICE_CLI_CALENDAR_REPORT_H

#include <stdint.h>

#include "base/buf.h"
#include "cli/moment.h"
#include "cli/simulate/calendar_specs.h"
#include "cli/table.h"

enum { REPORT_CHANGES = 5 };

/* Write what a Calendar means now and next (show), or at one moment (test). zone: that of the
 * times. */
void report_show(const struct calendar_specs_calendar *c, const struct zone *zone, int64_t at_ms,
	const char *tzdata, const struct style *style, struct buf *out);
void report_test(const struct calendar_specs_calendar *c, const struct zone *zone,
	const struct moment *at, struct buf *out);
void report_json(const struct calendar_specs_calendar *c, const struct zone *zone,
	const struct moment *at, const char *tzdata, struct buf *out);

#endif
