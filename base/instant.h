/*
 * Instants as RFC 3339 writes them, in UTC, and ms since the epoch.
 */
#ifndef SLUICE_BASE_INSTANT_H
#define SLUICE_BASE_INSTANT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slice.h"

/* Reads "2026-11-21T09:58:30Z", also with a fraction (rounded down to ms) and an offset, "+01:00".
 * False for anything else, blanks around it included. */
bool instant_parse(struct slice text, int64_t *ret_ms);

/* An instant within a sentence: buf_printf(out, "since %s", instant_seconds(ms).s). It lives until
 * the end of the expression in which it is made, and no pointer to it is kept. */
struct instant_text {
	char s[32];
};

/* Write the nearest instant within the years 1 to 9999; a part of a second that is not shown is cut
 * off. */
struct instant_text instant_seconds(int64_t ms);  /* "2026-11-21T09:58:30Z" */
struct instant_text instant_exact(int64_t ms);	  /* "2026-11-21T09:58:30.000Z" */
struct instant_text instant_shortest(int64_t ms); /* exact where there are ms, else in seconds */

struct json_writer;
/* Put the instant as a member, or nothing where it is not known: 0 or less, and INT64_MAX. */
void instant_put(struct json_writer *w, const char *key, int64_t ms); /* in seconds */
void instant_put_shortest(struct json_writer *w, const char *key, int64_t ms);

#endif
