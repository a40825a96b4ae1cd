/*
 * Placing: where equal pods would go.
 *
 * As by a scheduler: the least crowded domain first, and in it the node with most room left.
 * Another order might find room for more or for fewer. If a pod's place does not depend on the pods
 * placed before, all are placed at once. Else they are placed one by one, without a look at all
 * nodes for each: by topology groups.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "queue/cluster/fit_cache.h"

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

/* Less crowded, more room left, the first by name. */
static bool spot_is_better(const struct pod_affinity *c, const struct spot *a, const struct spot *b)
{
	int64_t ca = pod_affinity_crowd(c, a->node->slot),
		cb = pod_affinity_crowd(c, b->node->slot);
	if (ca != cb)
		return ca < cb;
	if (a->left != b->left)
		return a->left > b->left;
	return strcmp(a->node->name, b->node->name) < 0;
}

/* ---- topology groups -------------------------------------------------------------------------- */

/*
 * Topology groups: nodes of the same domains, for placing many pods with pod affinity or spread.
 *
 * A domain of one node (mostly a hostname) parts no groups: a pod placed in it concerns that node
 * alone. The nodes of a group are ordered: least crowded first, then most room left. Only the node
 * on which a pod is placed changes its place. So for each pod only the first node of each group is
 * looked at: three for zones, not 5,000.
 *
 * It is exact, because placing equal pods only closes nodes. Anti-affinity closes them, and
 * affinity from the first pod on; those leave their group for good. Spread constraints close nodes
 * and open them again, but in a group no closed node is before an open one. With several
 * constraints on hostnames that is not so, and each node is a group.
 */
struct topology_group {
	struct spot **heap; /* the best first */
	size_t n;
};

/* The group of each spot, while they are parted. */
struct split {
	uint32_t *topology_group; /* by spot */
	uint32_t nlots;
};

static const struct domain *domain_of(const struct bond *b, const struct spot *s)
{
	return b->stay[s->node->slot].domain;
}

/* Is each spot in another domain? */
static bool is_own(const struct bond *b, const struct spot *spots, size_t n)
{
	bool own = true, *taken = mem_array(b->ndomains, sizeof(*taken));
	for (size_t i = 0; i < n && own; i++) {
		const struct domain *d = domain_of(b, &spots[i]);
		own = !d || !taken[d->place];
		if (d)
			taken[d->place] = true;
	}
	free(taken);
	return own;
}

struct mark {
	uint32_t topology_group, spot;
	size_t domain;
};

static int by_topology_group_and_domain(const void *a, const void *b)
{
	const struct mark *x = a, *y = b;
	if (x->topology_group != y->topology_group)
		return x->topology_group < y->topology_group ? -1 : 1;
	return x->domain < y->domain ? -1 : x->domain > y->domain;
}

/* Spots of different domains are in different groups. */
static void tell_apart(
	struct split *split, const struct bond *b, const struct spot *spots, size_t n)
{
	struct mark *mark = mem_array(n, sizeof(*mark));
	for (size_t i = 0; i < n; i++) {
		const struct domain *d = domain_of(b, &spots[i]);
		mark[i] =
			(struct mark){split->topology_group[i], (uint32_t)i, d ? d->place + 1 : 0};
	}
	qsort(mark, n, sizeof(*mark), by_topology_group_and_domain);
	uint32_t topology_group = 0;
	for (size_t i = 0; i < n; i++) {
		topology_group +=
			i > 0 && by_topology_group_and_domain(&mark[i - 1], &mark[i]) != 0;
		split->topology_group[mark[i].spot] = topology_group;
	}
	split->nlots = n > 0 ? topology_group + 1 : 0;
	free(mark);
}

/* One constraint on domains of single nodes needs no groups; a second one does. */
static void split_spots(
	struct split *split, const struct pod_affinity *c, const struct spot *spots, size_t n)
{
	bool spread_own = false;
	split->topology_group = mem_array(n, sizeof(*split->topology_group));
	split->nlots = n > 0;
	for (size_t i = 0; i < c->nbonds; i++) {
		const struct bond *b = &c->bond[i];
		bool own = is_own(b, spots, n), spread = b->kind == BOND_SPREAD;
		if (!own || (spread && spread_own))
			tell_apart(split, b, spots, n);
		spread_own |= own && spread;
	}
}

static void sift_down(const struct pod_affinity *c, struct topology_group *l, size_t at)
{
	for (size_t child; (child = 2 * at + 1) < l->n; at = child) {
		struct spot *spot = l->heap[at];
		if (child + 1 < l->n && spot_is_better(c, l->heap[child + 1], l->heap[child]))
			child++;
		if (!spot_is_better(c, l->heap[child], spot))
			return;
		l->heap[at] = l->heap[child];
		l->heap[child] = spot;
	}
}

static void drop_first(const struct pod_affinity *c, struct topology_group *l)
{
	l->heap[0] = l->heap[--l->n];
	sift_down(c, l, 0);
}

static struct topology_group *topology_groups_of(const struct pod_affinity *c, struct spot *spots,
	size_t n, struct spot **heap, size_t *ret_n)
{
	struct split split;
	split_spots(&split, c, spots, n);
	struct topology_group *topology_groups = mem_array(split.nlots, sizeof(*topology_groups));
	for (size_t i = 0; i < n; i++)
		topology_groups[split.topology_group[i]].n++;
	for (size_t l = 0, at = 0; l < split.nlots; l++) {
		topology_groups[l].heap = heap + at;
		at += topology_groups[l].n;
		topology_groups[l].n = 0;
	}
	for (size_t i = 0; i < n; i++) {
		struct topology_group *l = &topology_groups[split.topology_group[i]];
		l->heap[l->n++] = &spots[i];
	}
	for (size_t l = 0; l < split.nlots; l++)
		for (size_t i = topology_groups[l].n / 2; i-- > 0;)
			sift_down(c, &topology_groups[l], i);
	*ret_n = split.nlots;
	free(split.topology_group);
	return topology_groups;
}

/* Returns the group's first spot that is open; NULL: it has none now. */
static struct spot *first_of(struct pod_affinity *c, struct topology_group *l)
{
	while (l->n > 0) {
		enum obstacle o = l->heap[0]->left > 0
					  ? pod_affinity_obstacle(c, l->heap[0]->node->slot)
					  : OBSTACLE_PODS;
		if (o == OBSTACLES)
			return l->heap[0];
		if (o == OBSTACLE_SPREAD)
			return NULL;
		drop_first(c, l);
	}
	return NULL;
}

static struct topology_group *best_topology_group(
	struct pod_affinity *c, struct topology_group *topology_groups, size_t nlots)
{
	struct topology_group *best = NULL;
	for (size_t i = 0; i < nlots; i++) {
		struct spot *first = first_of(c, &topology_groups[i]);
		if (first && (!best || spot_is_better(c, first, best->heap[0])))
			best = &topology_groups[i];
	}
	return best;
}

/* Places so many pods onto the spots. The first has been placed already. */
static void topology_groups_place(
	struct pod_affinity *c, struct spot *spots, size_t n, int32_t pods)
{
	size_t nlots;
	struct topology_group *topology_group;
	struct spot **heap = mem_array(n, sizeof(struct spot *));
	struct topology_group *topology_groups = topology_groups_of(c, spots, n, heap, &nlots);
	for (; pods > 0 && (topology_group = best_topology_group(c, topology_groups, nlots));
		pods--) {
		struct spot *spot = topology_group->heap[0];
		pod_affinity_place(c, spot->node->slot, 1);
		spot->left--;
		spot->placed++;
		sift_down(c, topology_group, 0);
	}
	free(topology_groups);
	free(heap);
}

/* ---- one by one, and all at once ------------------------------------------------------------- */

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

/* The most pods that are placed one by one, where most room is left. The result is the same,
 * without a look at all nodes. */
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
