/*
 * The lines of an iCalendar text (RFC 5545, 3.1): a property with parameters and a value, folded
 * over several lines of the file when it is long. Names are in any case, values are as written.
 */
#ifndef SLUICE_QUEUE_CALENDAR_ICS_LINE_H
#define SLUICE_QUEUE_CALENDAR_ICS_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/slice.h"

#define ICS_LINE_MAX 8192 /* bytes kept of one; the rest is read and dropped */

struct ics_lines {
	struct slice rest;
	size_t line; /* of the file, where the present one begins; from 1 */
	size_t next_line;
	struct buf text;		      /* the present line, unfolded */
	bool cut;			      /* it was longer */
	struct slice name, parameters, value; /* within text; parameters from the first ; on */
};

void ics_lines_init(struct ics_lines *l, struct slice text); /* text must live as long */
void ics_lines_done(struct ics_lines *l);

/* The next line that is not empty; false at the end. A line without a colon is all name. */
bool ics_lines_next(struct ics_lines *l);

bool ics_line_is(const struct ics_lines *l, const char *name);
/* The value of a parameter, without quotes; empty when there is none. */
struct slice ics_line_parameter(const struct ics_lines *l, const char *name);

/* A TEXT value as it may be shown: unescaped, without control characters, at most size - 1 bytes of
 * whole characters; what is not UTF-8 becomes '?'. */
void ics_text(struct slice value, char *ret, size_t size);

/* a == b, in any case */
bool ics_same(struct slice a, const char *b);

#endif
