/*
 * Skim: finds a few values in a JSON text without making a tree of it. It serves
 * - lists, whose items are read one by one so that a bad one costs itself alone;
 * - objects that json_parse() does not take (too deep, too large, cut at a ceiling, garbage), of
 *   which at least the name is wanted.
 *
 * The text need not be right and may stop anywhere. What is found is then no better than the text,
 * but nothing outside of it is read and nothing is kept. No recursion: any depth will do.
 */
#ifndef SLUICE_CONTROLLER_KUBE_SKIM_H
#define SLUICE_CONTROLLER_KUBE_SKIM_H

#include <stdbool.h>

#include "base/slice.h"

/* Finds the value under key in the text of an object, the first of several. In a text that was cut,
 * the value may be cut as well. */
bool skim_member(struct slice object, const char *key, struct slice *ret_value);

/* Takes the next item off an array: *array is its text at first, and then what is left of it.
 * Returns 1 and the item, 0 at the end of the array, ERR_INVALID when the text is no array or ends
 * before it. */
int skim_item(struct slice *array, struct slice *ret_item);

/* Copies the string under key, if it is a plain one (not empty, no escape, no control character)
 * and fits with its NUL. Otherwise ret is "" and the result false. */
bool skim_text(struct slice object, const char *key, char *ret, size_t size);

enum { SKIM_NAME_SIZE = 254, SKIM_UID_SIZE = 64, SKIM_VERSION_SIZE = 128 };

/* What the metadata of an object say; "" where they do not. */
struct skim_identity {
	char ns[SKIM_NAME_SIZE], name[SKIM_NAME_SIZE];
	char uid[SKIM_UID_SIZE];
	char version[SKIM_VERSION_SIZE]; /* resourceVersion */
};
void skim_identity(struct slice object, struct skim_identity *ret);

#endif
