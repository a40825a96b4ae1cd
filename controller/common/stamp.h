/*
 * Times of day, for people and for the wire: milliseconds since the epoch as RFC 3339 in UTC.
 */
#ifndef SLUICE_CONTROLLER_COMMON_STAMP_H
#define SLUICE_CONTROLLER_COMMON_STAMP_H

#include <stdint.h>

struct json_writer;

#define STAMP_TEXT_SIZE 32

/* 2026-11-21T10:00:00.123Z; a time outside the years 1 to 9999 becomes "-". Returns ret_text. */
const char *stamp_format(int64_t ms, char ret_text[STAMP_TEXT_SIZE]);
/* The same in whole seconds, as metav1.Time wants it. */
const char *stamp_format_seconds(int64_t ms, char ret_text[STAMP_TEXT_SIZE]);

/* Put the time as a member (base/json_writer.h), as the two above have it; nothing where it is not known: 0 or
 * less, and INT64_MAX. */
void stamp_put(struct json_writer *w, const char *key, int64_t ms); /* in whole seconds */
void stamp_put_exact(struct json_writer *w, const char *key, int64_t ms);

#endif
