#include "queue/contest.h"

#include "queue/group.h"

/* Borrows less far, then the order of all waiting Jobs. */
static bool goes_before(const struct entry *a, const struct entry *b)
{
	if (a->choice.level != b->choice.level)
		return a->choice.level < b->choice.level;
	return order_cmp(&a->w->key, &b->w->key) < 0;
}

size_t contest_next(struct queue *q, const struct entry *entry, size_t n)
{
	size_t best = n;
	(void)q;
	for (size_t i = 0; i < n; i++)
		if (!entry[i].done && (best == n || goes_before(&entry[i], &entry[best])))
			best = i;
	return best;
}
