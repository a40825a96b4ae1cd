/*
 * Zones by name, from the system's database: each is loaded once, when first asked for, for a load
 * takes 10 ms. Calendars, Budgets and Jobs' annotations share them.
 *
 * The database may be replaced while the program runs. A new edition counts when two looks in a row
 * saw it, for the files of an upgrade come one after the other. Then all zones are forgotten, and
 * what was made of one is made anew.
 */
#ifndef SLUICE_CONTROLLER_COMMON_ZONES_H
#define SLUICE_CONTROLLER_COMMON_ZONES_H

#include <stdbool.h>

#include "base/err.h"
#include "queue/calendar/zone.h"

struct zones;

struct zones *zones_new(void);
void zones_free(struct zones *z);

/* Finds a zone, valid until zones_look() is true. NULL: there is no such zone, *e says what to
 * write. */
const struct zone *zones_get(struct zones *z, const char *name, struct err *e);
/* Finds a zone as struct job_context wants it, with the zones as ctx. */
const struct zone *zones_find(const char *name, void *ctx);

/* Looks at the database, about every half a minute: true when it is another one, and all that
 * zones_get() gave is gone. */
bool zones_look(struct zones *z);

const char *zones_edition(const struct zones *z); /* "2026f" */

#endif
