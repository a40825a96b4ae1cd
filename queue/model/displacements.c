#include "queue/model/displacements.h"

#include <stdlib.h>

#include "base/mem.h"

void displacements_done(struct displacements *d)
{
	free(d->all);
}

static bool is_entered(
	const struct displacements *d, const struct uid *by, const struct uid *victim)
{
	for (size_t i = 0; i < d->n; i++)
		if (uid_cmp(&d->all[i].by, by) == 0 && uid_cmp(&d->all[i].victim, victim) == 0)
			return true;
	return false;
}

void displacements_enter(
	struct displacements *d, uint32_t news, const struct uid *by, const struct uid *victim)
{
	if (d->news != news) {
		d->news = news;
		d->n = 0;
		d->full = false;
	}
	if (!d->all)
		d->all = mem_array(DISPLACEMENTS_KEPT, sizeof(*d->all));
	if (is_entered(d, by, victim))
		return;
	if (d->n == DISPLACEMENTS_KEPT)
		d->full = true;
	else
		d->all[d->n++] = (struct displacement){*by, *victim};
}

static void add(struct uid *all, size_t *n, const struct uid *uid)
{
	size_t i = 0;
	while (i < *n && uid_cmp(&all[i], uid) != 0)
		i++;
	if (i == *n)
		all[(*n)++] = *uid;
}

/* Each of them is `by` of an entry, so there are no more than entries. */
bool displacements_through(const struct displacements *d, uint32_t news, const struct uid *victim,
	struct uid ret[DISPLACEMENTS_KEPT], size_t *ret_n)
{
	*ret_n = 0;
	if (d->news != news)
		return true;
	if (d->full)
		return false;
	const struct uid *of = victim;
	for (size_t next = 0; of; of = next < *ret_n ? &ret[next++] : NULL)
		for (size_t i = 0; i < d->n; i++)
			if (uid_cmp(&d->all[i].victim, of) == 0)
				add(ret, ret_n, &d->all[i].by);
	return true;
}
