/*
 * The system's zone database, read through the C library: the one module of calendar/ that touches
 * the world. It sets the process's TZ while it reads and puts it back, so no other thread may ask
 * for local times meanwhile; everybody else works with the tables (zone.h).
 *
 * Not a parser of zone files: what a zone means is asked of localtime_r(), every few days from
 * 1970 to 2100, and where two answers differ the instant between them is searched for. That a file
 * of that name exists is checked here, because the C library silently takes UTC when it does not
 * (and so would a calendar). TZDIR is honoured, as the C library does.
 */
#ifndef SLUICE_QUEUE_CALENDAR_TZDATA_H
#define SLUICE_QUEUE_CALENDAR_TZDATA_H

#include "base/err.h"
#include "queue/calendar/zone.h"

#define TZDATA_VERSION_SIZE 32

/* name: as in the IANA database, Europe/Berlin. "UTC" needs no database. About 10 ms.
 * ERR_INVALID: the sentence begins with the name and says what to write instead. ERR_GONE: this
 * machine has no zone database at all. */
int tzdata_load(const char *name, struct zone **ret_zone, struct err *e);

/* "2026f", as the database says of itself; "unknown" when it does not. Returns ret_text. */
const char *tzdata_version(char ret_text[TZDATA_VERSION_SIZE]);

#endif
