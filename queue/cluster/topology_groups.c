#include "queue/cluster/topology_groups.h"

#include <stdlib.h>

#include "base/mem.h"

struct topology_group {
	struct spot **heap; /* the best first */
	size_t n;
};

/* The group of each spot, while they are parted. */
struct split {
	uint32_t *topology_group; /* by spot */
	uint32_t nlots;
};

/* ---- Parting them ---------------------------------------------------------------------------- */

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

/* ---- The best of a group --------------------------------------------------------------------- */

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

/* Its first spot that is open; NULL: it has none now. */
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

void topology_groups_place(struct pod_affinity *c, struct spot *spots, size_t n, int32_t pods)
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
