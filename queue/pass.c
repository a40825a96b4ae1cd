#include "queue/pass.h"

#include "queue/assign.h"
#include "queue/room.h"

/* More fresh groups than this are cheaper to find by a search. */
#define FRESH_MAX 64

struct pass {
	struct clusterqueue *cq;
	int64_t available[KEYS_MAX]; /* of each key */
	struct choice choice;	     /* of the group that was found */
};

static bool subtree_may(const struct tree_node *n, void *ctx)
{
	const struct pass *p = ctx;
	return keys_may_fit(
		p->cq, container_of_const(n, struct group, node)->claim.least, p->available);
}

static bool group_fits(const struct tree_node *n, void *ctx)
{
	struct pass *p = ctx;
	const struct claim *claim = &container_of_const(n, struct group, node)->claim;
	return keys_may_fit(p->cq, claim->want, p->available) &&
	       assign_flavors(p->cq, claim, &p->choice) == ASSIGN_FITS;
}

static struct group *next_strict(struct pass *p)
{
	struct tree_node *n = tree_first(&p->cq->groups_waiting);
	return n && group_fits(n, p) ? container_of(n, struct group, node) : NULL;
}

static struct group *next_by_search(struct pass *p, const struct group *after)
{
	struct tree_search search = {subtree_may, group_fits, p};
	struct tree_node *n =
		tree_seek(&p->cq->groups_waiting, after ? &after->node : NULL, &search);
	return n ? container_of(n, struct group, node) : NULL;
}

/* The first in order of the fresh groups that fits. Who does not is fresh no longer. */
static struct group *next_fresh(struct pass *p)
{
	struct group *best = NULL;
	struct choice choice;
	for (struct link *l = p->cq->fresh.next, *next; l != &p->cq->fresh; l = next) {
		next = l->next;
		struct group *g = container_of(l, struct group, fresh);
		if (!group_fits(&g->node, p)) {
			group_judged(g);
		} else if (!best || order_cmp(&g->key, &best->key) < 0) {
			best = g;
			choice = p->choice;
		}
	}
	if (best)
		p->choice = choice;
	return best;
}

/* The next group to start from, behind `after` (NULL: from the beginning). */
static struct group *pass_next(struct pass *p, const struct group *after)
{
	keys_available(p->cq, p->available);
	if (p->cq->strategy == STRICT_FIFO)
		return next_strict(p);
	return p->cq->search ? next_by_search(p, after) : next_fresh(p);
}

static struct decision start_head(struct queue *q, const struct pass *p, struct group *g)
{
	struct workload *w = group_head(g);
	g->cq->started_total++;
	/* Room first: it reads the claim, which goes with the group when its last member leaves. */
	room_start(q, w, g->cq, &g->claim, &p->choice);
	workload_unplace(q, w);
	workload_place(q, w);
	return (struct decision){
		.kind = DECISION_START, .uid = w->key.uid, .pods = w->room->pods};
}

/* Everybody was judged. */
static void pass_end(struct clusterqueue *cq)
{
	cq->search = false;
	while (!list_empty(&cq->fresh))
		group_judged(container_of(cq->fresh.next, struct group, fresh));
}

size_t pass_run(
	struct queue *q, struct clusterqueue *cq, struct decision *out, size_t cap, bool *ret_done)
{
	struct pass p = {.cq = cq};
	struct group behind = {0}, *g = NULL;
	size_t n = 0;
	*ret_done = true;
	if (cq->nfresh > FRESH_MAX)
		cq->search = true;
	while (clusterqueue_active(cq) && (g = pass_next(&p, n ? &behind : NULL))) {
		*ret_done = n < cap;
		if (n == cap)
			break;
		behind.key = g->key;
		out[n++] = start_head(q, &p, g);
	}
	if (*ret_done)
		pass_end(cq);
	return n;
}
