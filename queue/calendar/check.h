/* Checks a calendar's spec. Everything else in calendar/ relies on it. */
#ifndef SLUICE_QUEUE_CALENDAR_CHECK_H
#define SLUICE_QUEUE_CALENDAR_CHECK_H

#include "base/err.h"
#include "sluice/calendar.h"

/* ERR_INVALID, ERR_LIMIT: "spec.open[2].to: ..." with what to write instead. */
int calendar_check(const struct calendar_spec *spec, struct err *e);

#endif
