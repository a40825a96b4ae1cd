/*
 * A time on a command line, and the instant that it means. It is in RFC 3339, "now", or what
 * wall_time.h reads, with the name of a zone behind it or by the clock of the basis:
 *
 *     Mon 9:00 Europe/Berlin       the next Monday's, or the last one's
 *     today 21:00, 2026-11-30 09:00, 2026-11-30, 9:00
 *     2026-11-30T09:00:00+01:00
 *
 * Always true: a local time means one instant, and the person is told where it could have meant
 * another. A time that a change of the clocks skips is refused, or taken as that change. Of a time
 * that comes twice the first is taken, and a note says so.
 *
 * Pure, but for zones that a text names: those are read from the system's database.
 */
#ifndef SLUICE_CLI_MOMENT_H
#define SLUICE_CLI_MOMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "queue/calendar/zone.h"

enum { MOMENT_NOTE_SIZE = 256, MOMENT_TEXT_SIZE = 40 };

struct moment_basis {
	int64_t about_ms;	 /* the time that "now", "today" and "Mon" refer to */
	const struct zone *zone; /* zone of a text that names none */
	bool last;	 /* "Mon" and "9:00" are the last ones, as in questions about the past */
	bool takes_gaps; /* a skipped time is the moment of the change, with a note */
};

struct moment {
	int64_t at_ms;
	struct zone *zone;	     /* the text's, else the basis' */
	char note[MOMENT_NOTE_SIZE]; /* a sentence to be shown; "" in most cases */
};

/* Reads a time. ERR_INVALID: it is no time, or there is no such one. */
int moment_read(const char *text, const struct moment_basis *b, struct moment *ret, struct err *e);
void moment_done(struct moment *m); /* all zero is fine */

/* Writes "2026-11-30T09:00:00+01:00", by the moment's zone. Returns ret_text. */
const char *moment_write(const struct moment *m, char ret_text[MOMENT_TEXT_SIZE]);

#endif
