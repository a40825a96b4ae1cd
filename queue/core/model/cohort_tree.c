#include "queue/core/model/cohort_tree.h"

#include <stdlib.h>

#include "base/mem.h"
#include "queue/core/model/state.h"
#include "queue/core/model/reservation.h"

static struct cohort_tree *cohort_tree_of(struct quota_node *root)
{
	if (!root->cohort_tree) {
		root->cohort_tree = mem_alloc(sizeof(*root->cohort_tree));
		list_init(&root->cohort_tree->members);
	}
	return root->cohort_tree;
}

bool cohort_tree_join(struct clusterqueue *cq)
{
	struct cohort_tree *cohort_tree = cohort_tree_of(quota_root(cq->node));
	if (cq->cohort_tree == cohort_tree)
		return false;
	list_leave(&cq->of_cohort_tree);
	list_add(&cohort_tree->members, &cq->of_cohort_tree);
	cq->cohort_tree = cohort_tree;
	return true;
}

static struct clusterqueue *first_clusterqueue(const struct queue *q)
{
	struct tree_node *n = tree_first(&q->clusterqueues.shown);
	return n ? container_of(n, struct clusterqueue, by_name) : NULL;
}

static struct clusterqueue *next_clusterqueue(const struct clusterqueue *cq)
{
	struct tree_node *n = tree_next(&cq->by_name);
	return n ? container_of(n, struct clusterqueue, by_name) : NULL;
}

/* The victims were chosen for other quotas. They go on leaving, and the head of the queue takes the
 * quota that they free. */
static void take_promises_back(struct queue *q, struct clusterqueue *cq)
{
	while (!list_empty(&cq->promised)) {
		struct reservation *r =
			container_of(cq->promised.next, struct reservation, of_clusterqueue);
		reservation_break_promise(q, r);
	}
}

static bool is_stale(const struct reservation *r)
{
	for (size_t i = 0; i < r->nlines; i++)
		if (list_in(&r->line[i].row->flavor_pool->stale))
			return true;
	return false;
}

struct clusterqueue *cohort_tree_take_stale_back(struct queue *q, struct cohort_tree *cohort_tree)
{
	struct clusterqueue *any = NULL;
	list_each_entry(&cohort_tree->members, struct clusterqueue, cq, of_cohort_tree) {
		any = cq;
		for (struct link *l = cq->promised.next, *next; l != &cq->promised; l = next) {
			struct reservation *r =
				container_of(l, struct reservation, of_clusterqueue);
			next = l->next;
			if (is_stale(r))
				reservation_break_promise(q, r);
		}
	}
	return any;
}

static void settle_cohorts(struct queue *q)
{
	struct named_object *o = named_object_at(&q->cohorts.all, 0);
	for (; o; o = named_object_next(o)) {
		struct cohort *c = container_of(o, struct cohort, object);
		if (!c->node->parent)
			quota_settle(&q->quota, c->node);
	}
}

void cohort_trees_form(struct queue *q)
{
	struct clusterqueue *cq;
	/* All promises before anything moves: quota must be given back along the path on which it
	 * was taken. */
	for (cq = first_clusterqueue(q); cq; cq = next_clusterqueue(cq))
		take_promises_back(q, cq);
	cohorts_link(&q->cohorts);
	for (cq = first_clusterqueue(q); cq; cq = next_clusterqueue(cq))
		quota_move(&q->quota, cq->node, cq->cohort ? cq->cohort->node : NULL);
	settle_cohorts(q);
	for (cq = first_clusterqueue(q); cq; cq = next_clusterqueue(cq)) {
		if (!cq->node->parent)
			quota_settle(&q->quota, cq->node);
		cohort_tree_join(cq);
		queue_touch(q, cq);
	}
	booked_runs_form(q);
}

void cohort_tree_settle(struct queue *q, struct clusterqueue *cq)
{
	list_each_entry(&cq->cohort_tree->members, struct clusterqueue, member, of_cohort_tree)
		take_promises_back(q, member);
	quota_settle(&q->quota, quota_root(cq->node));
	queue_touch(q, cq);
}

/* ---- Displacements ---- */

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
