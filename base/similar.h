/*
 * The name that somebody meant: of the names that there are, the one most like what was written.
 *
 * Two names are alike
 *   - where few letters are changed, missing, too many or exchanged with the next: a third of the
 *     shorter name's, at most three;
 *   - where they differ by large letters alone;
 *   - where one is the other's end behind a slash ("gpu", "nvidia.com/gpu").
 *
 * A question costs little, whatever is asked: only the first SIMILAR_OFFERS names count, and none
 * that is longer than SIMILAR_MAX.
 */
#ifndef SLUICE_BASE_SIMILAR_H
#define SLUICE_BASE_SIMILAR_H

#include <stdbool.h>
#include <stddef.h>

enum { SIMILAR_MAX = 63, SIMILAR_OFFERS = 200 };

struct similar {
	const char *written; /* borrowed */
	size_t offers, distance;
	char best[SIMILAR_MAX + 1]; /* "": none yet */
};

void similar_begin(struct similar *s, const char *written);
void similar_offer(struct similar *s, const char *name);
/* Tells whether SIMILAR_OFFERS names were offered: no other is looked at. */
bool similar_is_full(const struct similar *s);
/* Returns the best name so far; of equal ones the first by name. NULL: none is alike. */
const char *similar_best(const struct similar *s);

#endif
