/*
 * Times as the user's own clock shows them (TZ, else the machine's zone). Texts of the controller
 * have instants in RFC 3339, most of them in UTC, and times of a Calendar in the Calendar's zone.
 * In one answer all are shown in one zone:
 *
 *     2026-11-27T01:00:00Z             2026-11-27 02:00 CET
 *     2026-11-27T01:00:07.5+00:00      2026-11-27 02:00:07
 *     Fri 2026-11-27 01:00 UTC         Fri 2026-11-27 02:00
 *
 * The zone is written with the first time of an answer, and again where it changes, as in summer. A
 * Calendar's time whose abbreviation has several meanings (CST, IST, PST) is left as it is, unless
 * it is the user's.
 *
 * Text in "quotes" is never touched: it is what somebody wrote, or an example of what to write.
 * JSON stays as it comes.
 */
#ifndef SLUICE_CLI_LOCAL_TIMES_H
#define SLUICE_CLI_LOCAL_TIMES_H

#include "base/buf.h"
#include "cli/table.h"

/* The state of one answer; all zero at its beginning. */
struct local_times {
	char zone[16]; /* the zone that was written last */
};

/* Appends text, with each time in it as the user's clock shows it. */
void local_times_add(struct local_times *l, const char *text, struct buf *out);
/* Appends text as local_times_add() does, on one line and without what a terminal would obey:
 * text_render() of table.h. */
void local_times_render(struct local_times *l, const char *text, struct buf *out);
/* Puts text into a cell, with each time in it as the user's clock shows it. */
void local_times_cell(struct local_times *l, struct table *t, enum colour colour, const char *text);

#endif
