/*
 * Placing: where equal pods would go.
 *
 * As by a scheduler: the least crowded domain first, and in it the node with most room left.
 * Another order might find room for more or for fewer. If a pod's place does not depend on the pods
 * placed before, all are placed at once. Else they are placed one by one, without a look at all
 * nodes for each (topology_groups.h).
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "queue/cluster/topology_groups.h"

static size_t spots_of(const struct fit_cache *s, const struct nodes *n,
	struct anti_affinity *const *repels, size_t nrepels, struct spot *ret)
{
	size_t count = 0;
	for (size_t i = 0; i < s->nslots; i++)
		if (s->outlook[i].room > 0 && !s->outlook[i].now &&
			!repelled(repels, nrepels, n->slot[i]))
			ret[count++] = (struct spot){n->slot[i], s->outlook[i].room, 0};
	return count;
}

bool spot_is_better(const struct pod_affinity *c, const struct spot *a, const struct spot *b)
{
	int64_t ca = pod_affinity_crowd(c, a->node->slot),
		cb = pod_affinity_crowd(c, b->node->slot);
	if (ca != cb)
		return ca < cb;
	if (a->left != b->left)
		return a->left > b->left;
	return strcmp(a->node->name, b->node->name) < 0;
}

static struct spot *best(struct pod_affinity *c, struct spot *all, size_t n)
{
	struct spot *best = NULL;
	for (size_t i = 0; i < n; i++)
		if (all[i].left > 0 && (!best || spot_is_better(c, &all[i], best)) &&
			pod_affinity_obstacle(c, all[i].node->slot) == OBSTACLES)
			best = &all[i];
	return best;
}

/* The first pod decides where affinity lets the others go. Fewer than this need no groups. */
#define WORTH_TOPOLOGY_GROUPS 4

static void place_with_pod_affinity(
	struct pod_affinity *c, struct spot *all, size_t n, int32_t pods)
{
	struct spot *spot;
	int32_t placed = 0, alone = pods < WORTH_TOPOLOGY_GROUPS ? pods : 1;
	for (; placed < alone && (spot = best(c, all, n)); placed++) {
		pod_affinity_place(c, spot->node->slot, 1);
		spot->left--;
		spot->placed++;
	}
	if (placed == alone)
		topology_groups_place(c, all, n, pods - placed);
	for (size_t i = 0; i < n; i++)
		if (all[i].placed > 0)
			pod_affinity_place(c, all[i].node->slot, -all[i].placed);
}

/* How many pods must be placed so that no node has room for more than `level` more. */
static int64_t above(const struct spot *all, size_t n, int32_t level)
{
	int64_t sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += all[i].left > level ? all[i].left - level : 0;
	return sum;
}

/* Placing each pod where most room is left leads to a level, which is found by bisection. The rest
 * goes to nodes at that level, the first ones first. */
static void place_level(struct spot *all, size_t n, int32_t pods)
{
	int32_t low = 0, high = 0;
	for (size_t i = 0; i < n; i++)
		high = all[i].left > high ? all[i].left : high;
	while (low < high) {
		int32_t mid = low + (high - low) / 2;
		if (above(all, n, mid) <= pods)
			high = mid;
		else
			low = mid + 1;
	}
	int64_t rest = pods - above(all, n, low);
	for (size_t i = 0; i < n; i++) {
		bool one_more = rest > 0 && low > 0 && all[i].left >= low;
		all[i].placed = (all[i].left > low ? all[i].left - low : 0) + one_more;
		all[i].left -= all[i].placed;
		rest -= one_more;
	}
}

/* So few pods are placed one by one, where most room is left. The result is the same, without a
 * look at all nodes. */
#define FEW 32

static struct spot *spot_of(struct spot *all, size_t *n, struct node *node)
{
	for (size_t i = 0; i < *n; i++)
		if (all[i].node == node)
			return &all[i];
	all[*n] = (struct spot){.node = node};
	return &all[(*n)++];
}

static void place_few(
	struct fit_cache *s, const struct nodes *n, struct spot *all, int32_t pods, size_t *ret_n)
{
	struct ranking *ranking = fit_cache_ranking(s);
	*ret_n = 0;
	for (int32_t i = 0; i < pods; i++) {
		int32_t room;
		size_t slot = ranking_first(ranking, &room);
		if (room == 0)
			break;
		struct spot *spot = spot_of(all, ret_n, n->slot[slot]);
		spot->left = room - 1;
		spot->placed++;
		ranking_set(ranking, slot, room - 1);
	}
	for (size_t i = 0; i < *ret_n; i++)
		ranking_set(ranking, all[i].node->slot, all[i].left + all[i].placed);
}

/* For a pod that names its node, affinity to pods is not checked. */
struct spot *fit_cache_place(struct fit_cache *s, const struct nodes *n,
	struct anti_affinity *const *repels, size_t nrepels, int32_t pods, size_t *ret_n)
{
	bool named = *s->pod.node_name;
	if (pods <= FEW && (named || (!s->pod_affinity && nrepels == 0))) {
		struct spot *few = mem_array(FEW, sizeof(*few));
		place_few(s, n, few, pods, ret_n);
		return few;
	}
	struct spot *all = mem_array(s->nslots + 1, sizeof(*all));
	*ret_n = spots_of(s, n, repels, named ? 0 : nrepels, all);
	if (s->pod_affinity && !named)
		place_with_pod_affinity(s->pod_affinity, all, *ret_n, pods);
	else
		place_level(all, *ret_n, pods);
	return all;
}

static int32_t place(struct fit_cache *s, const struct nodes *n,
	struct anti_affinity *const *repels, size_t nrepels, int32_t enough)
{
	size_t count;
	int32_t placed = 0;
	struct spot *all = fit_cache_place(s, n, repels, nrepels, enough, &count);
	for (size_t i = 0; i < count; i++)
		placed += all[i].placed;
	free(all);
	return placed;
}

int32_t fit_cache_place_all(struct fit_cache *s, const struct nodes *n,
	struct anti_affinity *const *repels, size_t nrepels, int32_t enough)
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
