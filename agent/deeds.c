#include "agent/deeds.h"

#include <stdio.h>
#include <string.h>

static void drop(struct deeds *d, size_t at, size_t n)
{
	d->count -= n;
	memmove(d->deed + at, d->deed + at + n, (d->count - at) * sizeof(*d->deed));
}

/* Makes room for one: the oldest goes that is no pod's end, for that a Job waits. */
static void lose_one(struct deeds *d)
{
	size_t i = 0;
	while (i < d->count - 1 && d->deed[i].kind == DEED_ENDED)
		i++;
	drop(d, d->deed[i].kind == DEED_ENDED ? 0 : i, 1);
	d->lost++;
}

void deeds_note(struct deeds *d, enum deed_kind kind, const struct uid *uid, const char *file,
	int64_t value)
{
	if (d->count == SAMPLE_DEEDS_MAX)
		lose_one(d);
	struct deed *deed = &d->deed[d->count++];
	*deed = (struct deed){.number = ++d->last, .kind = kind, .uid = *uid, .value = value};
	snprintf(deed->file, sizeof(deed->file), "%s", file ? file : "");
}

void deeds_forget(struct deeds *d, int64_t number)
{
	size_t n = 0;
	while (n < d->count && d->deed[n].number <= number)
		n++;
	drop(d, 0, n);
}
