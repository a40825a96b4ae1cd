/* Instants as RFC 3339 writes them, and ms since the epoch. */
#ifndef SLUICE_BASE_INSTANT_H
#define SLUICE_BASE_INSTANT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"

/* "2026-11-21T09:58:30Z", also with a fraction (rounded down to ms) and an offset, "+01:00". False
 * for anything else, blanks around it included. */
bool instant_parse(struct slice text, int64_t *ret_ms);

#endif
