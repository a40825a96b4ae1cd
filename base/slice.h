/*
 * A slice: borrowed bytes, for reading. Passed by value, not promised to end with NUL, valid as
 * long as its owner says.
 */
#ifndef SLUICE_BASE_SLICE_H
#define SLUICE_BASE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct slice {
	const char *ptr;
	size_t len;
};

static inline struct slice slice_of(const char *s)
{
	return (struct slice){s, s ? strlen(s) : 0};
}

bool slice_eq(struct slice a, struct slice b);
bool slice_is(struct slice a, const char *s);
bool slice_starts(struct slice a, const char *prefix);
bool slice_ends(struct slice a, const char *suffix);

/* Tells whether the bytes are well-formed UTF-8 (no overlong forms, no surrogates). */
bool slice_utf8(struct slice a);

/* Counts the bytes of the first character of a, which is not empty; 0: not well-formed UTF-8. */
size_t slice_utf8_character(struct slice a);

/* Counts the bytes of the first character of a, which is not empty; a byte that is not UTF-8 is
 * one. *ret_clean: it may be printed, for it is UTF-8 and no terminal obeys it. */
size_t slice_character(struct slice a, bool *ret_clean);

/* Counts the bytes of a text to keep so that they are at most max and end with a whole
 * character. */
size_t slice_cut(const char *text, size_t max);

/* Writes bytes as they may stand in a sentence: quoted, at most 40 of them, ? for each character
 * that is not clean. Returns ret. */
#define SLICE_SHOWN_SIZE 64
const char *slice_show(struct slice a, char ret[SLICE_SHOWN_SIZE]);

#endif
