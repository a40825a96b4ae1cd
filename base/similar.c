#include "base/similar.h"

#include <string.h>
#include <strings.h>

enum { DISTANCE_MAX = 3 };

void similar_begin(struct similar *s, const char *written)
{
	*s = (struct similar){.written = written, .distance = DISTANCE_MAX + 1};
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Fills in a row of the table of distances: of the first i letters of a to all starts of b. */
static void next_row(
	const char *a, size_t i, const char *b, size_t nb, size_t (*row)[SIMILAR_MAX + 1])
{
	size_t *two_up = row[(i + 1) % 3], *up = row[(i + 2) % 3], *here = row[i % 3];
	here[0] = i;
	for (size_t k = 1; k <= nb; k++) {
		size_t changed = up[k - 1] + (a[i - 1] != b[k - 1]);
		here[k] = least(changed, least(up[k], here[k - 1]) + 1);
		if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
			here[k] = least(here[k], two_up[k - 2] + 1);
	}
}

/* Counts the letters that are changed, missing, too many, or exchanged with the next. */
static size_t distance_between(const char *a, size_t na, const char *b, size_t nb)
{
	size_t row[3][SIMILAR_MAX + 1];
	for (size_t k = 0; k <= nb; k++)
		row[0][k] = k;
	for (size_t i = 1; i <= na; i++)
		next_row(a, i, b, nb, row);
	return row[na % 3][nb];
}

static const char *behind_slash(const char *name)
{
	const char *slash = strrchr(name, '/');
	return slash ? slash + 1 : name;
}

/* Returns how far two names are apart; more than DISTANCE_MAX: they are not alike. */
static size_t distance_of(const char *written, const char *name)
{
	size_t nw = strlen(written), nn = strlen(name);
	if (nw == 0 || nw > SIMILAR_MAX || nn == 0 || nn > SIMILAR_MAX)
		return DISTANCE_MAX + 1;
	if (strcasecmp(written, name) == 0 || strcasecmp(written, behind_slash(name)) == 0 ||
		strcasecmp(behind_slash(written), name) == 0)
		return 0;
	size_t allowed = least(DISTANCE_MAX, least(nw, nn) / 3);
	if ((nw > nn ? nw - nn : nn - nw) > allowed)
		return DISTANCE_MAX + 1;
	size_t distance = distance_between(written, nw, name, nn);
	return distance <= allowed ? distance : DISTANCE_MAX + 1;
}

bool similar_is_full(const struct similar *s)
{
	return s->offers >= SIMILAR_OFFERS;
}

void similar_offer(struct similar *s, const char *name)
{
	if (similar_is_full(s))
		return;
	s->offers++;
	size_t distance = distance_of(s->written, name);
	bool tie = distance == s->distance && strcmp(name, s->best) < 0;
	if (distance > DISTANCE_MAX || (distance >= s->distance && !tie))
		return;
	s->distance = distance;
	strcpy(s->best, name);
}

const char *similar_best(const struct similar *s)
{
	return *s->best ? s->best : NULL;
}
