/*
 * Durations as text. A program that reads them gets milliseconds or seconds, as a number; people
 * get one of two forms, and both are read here.
 *
 *     short    42s  9m3s  47m  3h20m  2d4h  12d   how long something took or will take: at most two
 *                                                 units; from ten minutes on no seconds, from ten
 *                                                 days on no hours
 *     exact    45s  1h30m  48h  1h0m5s            what a setting says: all of it, and no days, as
 *                                                 settings take none
 */
#ifndef SLUICE_BASE_SPAN_H
#define SLUICE_BASE_SPAN_H

#include <stdbool.h>
#include <stdint.h>

/* A duration within a sentence: buf_printf(out, "for %s", span_short(ms).s). It lives until the end
 * of the expression in which it is made, and no pointer to it is kept. */
struct span_text {
	char s[32];
};

/* Writes the short form. A rest below the last unit is cut off, as in an age; below 0 is as 0. */
struct span_text span_short(int64_t ms);
/* Writes a guess in the short form: in whole minutes from a minute on, in steps of five minutes from
 * an hour on, to the nearest. */
struct span_text span_about(int64_t ms);
/* Writes the short form of seconds, as JSON has them. */
struct span_text span_of_seconds(double seconds);

/* Reads "1h30m", "1.5h", "90s", "500ms" or "0s" into ms, rounded up; at most 100 years. False for
 * anything else, a number without its unit included. */
bool span_parse(const char *text, int64_t *ret_ms);
/* Reads what span_parse() does, and days and weeks: "400d", "57w", "2d4h". */
bool span_parse_long(const char *text, int64_t *ret_ms);
/* Reads what span_parse() does, and plain seconds, but nothing that is 0. */
bool span_parse_seconds(const char *text, int64_t *ret_ms);
/* Writes the exact form. A part of a second counts as a whole one; below 0 is as 0. */
struct span_text span_exact(int64_t ms);

#endif
