/*
 * A time as people write it on a command line, and the instant that it means.
 *
 *     09:00                        the next 09:00
 *     Mon 09:00 Europe/Berlin      the next Monday's, in that zone
 *     today 21:00, tomorrow 09:00
 *     2026-11-30 09:00             without a zone: by the basis' clock
 *     2026-11-30T09:00:00+01:00    RFC 3339
 *     now
 *
 * Always true: a local time means one instant, and the person is told where it could have meant another.
 * One that a change of the clocks skips is refused. One that comes twice is taken the first time, and a note
 * says so.
 *
 * Pure, but for zones that a text names: those are read from the system's database.
 */
#ifndef SLUICE_CLI_RESERVE_MOMENT_H
#define SLUICE_CLI_RESERVE_MOMENT_H

#include <stdint.h>

#include "base/err.h"
#include "queue/calendar/zone.h"

enum { MOMENT_NOTE_SIZE = 256, MOMENT_TEXT_SIZE = 40 };

struct moment_basis {
	int64_t after_ms;	 /* "next" is behind it; "now", "today" and "tomorrow" are of it */
	const struct zone *zone; /* of a text that names none */
};

struct moment {
	int64_t at_ms;
	struct zone *zone;	     /* the text's, else the basis' */
	char note[MOMENT_NOTE_SIZE]; /* a sentence to be shown; "" in most cases */
};

/* ERR_INVALID: it is none, or there is no such time. */
int moment_read(const char *text, const struct moment_basis *b, struct moment *ret, struct err *e);
void moment_done(struct moment *m); /* all zero is fine */

/* "2026-11-30T09:00:00+01:00", by its zone. Returns ret_text. */
const char *moment_write(const struct moment *m, char ret_text[MOMENT_TEXT_SIZE]);

#endif
