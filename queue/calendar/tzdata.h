/*
 * The system's zone database, read through the C library: the one module of calendar/ that is not
 * pure. It sets the process's TZ while it reads and puts it back, so no other thread may ask for
 * local times meanwhile. All other modules work with the tables (zone.h).
 *
 * It does not parse zone files. It asks localtime_r() every few days from 1970 to 2100, and
 * searches for the instant between two answers that differ. It checks that the zone's file exists,
 * because the C library silently takes UTC when it does not. TZDIR counts, as for the C library.
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

/* The zone of this process' clock: of TZ, else of the machine. Its name is that of TZ, where it has
 * one of the database, else "local time". */
struct zone *tzdata_local(void);

/* "2026f", from the database; "unknown" when it does not say. Returns ret_text. */
const char *tzdata_version(char ret_text[TZDATA_VERSION_SIZE]);

#endif
