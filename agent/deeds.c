#include "agent/deeds.h"

#include <stdio.h>
#include <string.h>

static void drop_first(struct deeds *d, size_t n)
{
	memmove(d->deed, d->deed + n, (d->count - n) * sizeof(*d->deed));
	d->count -= n;
}

void deeds_note(struct deeds *d, enum deed_kind kind, const struct uid *uid, const char *file,
	int64_t value)
{
	if (d->count == SAMPLE_DEEDS_MAX) {
		drop_first(d, 1);
		d->lost++;
	}
	struct deed *deed = &d->deed[d->count++];
	*deed = (struct deed){.number = ++d->last, .kind = kind, .uid = *uid, .value = value};
	snprintf(deed->file, sizeof(deed->file), "%s", file ? file : "");
}

void deeds_forget(struct deeds *d, int64_t number)
{
	size_t n = 0;
	while (n < d->count && d->deed[n].number <= number)
		n++;
	drop_first(d, n);
}
