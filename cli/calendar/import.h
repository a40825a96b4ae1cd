/* `sluice calendar import`: holidays of an iCalendar text as an exception of a Calendar, or as a
 * list of dates for a ConfigMap. */
#ifndef SLUICE_CLI_CALENDAR_IMPORT_H
#define SLUICE_CLI_CALENDAR_IMPORT_H

#include "base/buf.h"
#include "queue/calendar/ics.h"

/* Write at least one holiday as an exception, or as dates: a Calendar takes no empty list of
 * dates. */
void import_yaml(const struct ics *i, const char *name, const char *treat_as, struct buf *out);
void import_dates(const struct ics *i, struct buf *out);

#endif
