#include "queue/pass.h"

#include "queue/assign.h"
#include "queue/room.h"

struct pass {
	const struct clusterqueue *cq;
	int64_t available[CQ_KEYS_MAX]; /* of each key; without by_pair the best flavor's */
	struct choice choice;		/* of the group that was found */
};

static void note_available(struct pass *p, const struct resource_group *g, size_t flavor, size_t r)
{
	const struct clusterqueue *cq = p->cq;
	int64_t free = quota_available(g->row[flavor * g->nresources + r]);
	size_t key = g->first_key + (cq->by_pair ? flavor * g->nresources + r : r);
	if (key < cq->nkeys && free > p->available[key])
		p->available[key] = free;
}

static void pass_look(struct pass *p)
{
	const struct clusterqueue *cq = p->cq;
	for (size_t k = 0; k < cq->nkeys; k++)
		p->available[k] = 0;
	for (size_t i = 0; i < cq->ngroups; i++)
		for (size_t f = 0; f < cq->groups[i].nflavors; f++)
			for (size_t r = 0; r < cq->groups[i].nresources; r++)
				note_available(p, &cq->groups[i], f, r);
}

static bool flavor_may(
	const struct pass *p, const struct resource_group *g, size_t flavor, const int64_t *least)
{
	size_t key = g->first_key + flavor * g->nresources;
	for (size_t r = 0; r < g->nresources; r++)
		if (!quota_fits(least[key + r], p->available[key + r]))
			return false;
	return true;
}

static bool resource_group_may(
	const struct pass *p, const struct resource_group *g, const int64_t *least)
{
	for (size_t f = 0; f < g->nflavors; f++)
		if (flavor_may(p, g, f, least))
			return true;
	return false;
}

/* Could any group of this subtree fit? Says yes too often, never no. */
static bool subtree_may(const struct tree_node *n, void *ctx)
{
	const struct pass *p = ctx;
	const int64_t *least = container_of_const(n, struct group, node)->claim.least;
	if (p->cq->by_pair) {
		for (size_t i = 0; i < p->cq->ngroups; i++)
			if (!resource_group_may(p, &p->cq->groups[i], least))
				return false;
		return true;
	}
	for (size_t k = 0; k < p->cq->nkeys; k++)
		if (!quota_fits(least[k], p->available[k]))
			return false;
	return true;
}

static bool group_fits(const struct tree_node *n, void *ctx)
{
	struct pass *p = ctx;
	const struct claim *claim = &container_of_const(n, struct group, node)->claim;
	return assign_flavors(p->cq, claim, &p->choice) == ASSIGN_FITS;
}

/* The next group to start from, behind `after` (NULL: from the beginning). */
static struct group *pass_next(struct pass *p, const struct group *after)
{
	struct tree_node *n;
	if (p->cq->strategy == STRICT_FIFO) {
		n = tree_first(&p->cq->groups_waiting);
		n = n && group_fits(n, p) ? n : NULL;
	} else {
		struct tree_search search = {subtree_may, group_fits, p};
		pass_look(p);
		n = tree_seek(&p->cq->groups_waiting, after ? &after->node : NULL, &search);
	}
	return n ? container_of(n, struct group, node) : NULL;
}

static struct decision start_head(struct queue *q, const struct pass *p, struct group *g)
{
	struct workload *w = group_head(g);
	g->cq->started_total++;
	/* Room first: it reads the claim, which goes with the group when its last member leaves. */
	room_start(q, w, g->cq, &g->claim, &p->choice);
	workload_unplace(q, w);
	workload_place(q, w);
	return (struct decision){DECISION_START, w->key.uid, STOP_REASON_NONE};
}

size_t pass_run(
	struct queue *q, struct clusterqueue *cq, struct decision *out, size_t cap, bool *ret_done)
{
	struct pass p = {.cq = cq};
	struct group behind = {0}, *g = NULL;
	size_t n = 0;
	*ret_done = true;
	if (!clusterqueue_active(cq))
		return 0;
	while ((g = pass_next(&p, n ? &behind : NULL))) {
		*ret_done = n < cap;
		if (n == cap)
			break;
		behind.key = g->key;
		out[n++] = start_head(q, &p, g);
	}
	return n;
}
