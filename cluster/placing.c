/*
 * Placing one pod after the other, where what a pod finds depends on those before it.
 *
 * As a scheduler would: the least crowded domain first, there the node with most room left. Another
 * order may find room for more, or for fewer; this one is fair to what schedulers do.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cluster/survey.h"

struct spot {
	const struct node *node;
	int32_t left, placed;
};

static size_t spots_of(const struct survey *s, const struct nodes *n,
	struct repellent *const *repels, size_t nrepels, struct spot *ret)
{
	size_t count = 0;
	for (size_t i = 0; i < s->nslots; i++)
		if (s->outlook[i].room > 0 && !s->outlook[i].now &&
			!repelled(repels, nrepels, n->slot[i]))
			ret[count++] = (struct spot){n->slot[i], s->outlook[i].room, 0};
	return count;
}

static bool better(const struct company *c, const struct spot *a, const struct spot *b)
{
	int64_t ca = company_crowd(c, a->node->slot), cb = company_crowd(c, b->node->slot);
	if (ca != cb)
		return ca < cb;
	if (a->left != b->left)
		return a->left > b->left;
	return strcmp(a->node->name, b->node->name) < 0;
}

static struct spot *best(struct company *c, struct spot *all, size_t n)
{
	struct spot *best = NULL;
	for (size_t i = 0; i < n; i++)
		if (all[i].left > 0 && (!best || better(c, &all[i], best)) &&
			company_obstacle(c, all[i].node->slot) == OBSTACLES)
			best = &all[i];
	return best;
}

static int32_t place(struct survey *s, const struct nodes *n, struct repellent *const *repels,
	size_t nrepels, int32_t enough)
{
	struct spot *all = mem_array(s->nslots + 1, sizeof(*all)), *spot;
	size_t count = spots_of(s, n, repels, nrepels, all);
	int32_t placed = 0;
	while (placed < enough && (spot = best(s->company, all, count))) {
		company_place(s->company, spot->node->slot, 1);
		spot->left--;
		spot->placed++;
		placed++;
	}
	for (size_t i = 0; i < count; i++)
		company_place(s->company, all[i].node->slot, -all[i].placed);
	free(all);
	return placed;
}

int32_t survey_place_all(struct survey *s, const struct nodes *n, struct repellent *const *repels,
	size_t nrepels, int32_t enough)
{
	if (nrepels > 0)
		return place(s, n, repels, nrepels, enough);
	if (s->last_room_version != n->version || s->last_enough != enough) {
		s->last_room = place(s, n, repels, nrepels, enough);
		s->last_room_version = n->version;
		s->last_enough = enough;
	}
	return s->last_room;
}
