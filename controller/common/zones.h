/*
 * Zones by name, from the system's database: each is loaded once, when first asked for, for a
 * load takes 10 ms. Calendars, Budgets and Jobs' annotations share them.
 *
 * The database may be replaced while the program runs. A new edition is believed when it was seen
 * by two looks in a row, for the files of an upgrade come one after the other; then all zones are
 * forgotten, and what was made of one is made anew.
 */
#ifndef SLUICE_CONTROLLER_COMMON_ZONES_H
#define SLUICE_CONTROLLER_COMMON_ZONES_H

#include <stdbool.h>

#include "base/err.h"
#include "queue/calendar/zone.h"

struct zones;

struct zones *zones_new(void);
void zones_free(struct zones *z);

/* Until the next zones_look() that says so. NULL: there is no such zone, *e says what to write. */
const struct zone *zones_get(struct zones *z, const char *name, struct err *e);
/* The same as struct job_context wants it, with the zones as ctx. */
const struct zone *zones_find(const char *name, void *ctx);

/* Now and then, every half a minute say: true when the database has become another one, and nothing
 * that zones_get() gave is any more. */
bool zones_look(struct zones *z);

const char *zones_edition(const struct zones *z); /* "2026f" */

#endif
