#include "queue/victims.h"

#include <stdlib.h>

#include "base/mem.h"
#include "queue/displacement.h"
#include "queue/holders.h"

void demand_init(struct demand *d, const struct workload *w, struct clusterqueue *cq,
	const struct claim *c, const struct choice *choice)
{
	d->w = w;
	d->cq = cq;
	d->nlines = 0;
	for (size_t i = 0; i < c->nneeds && d->nlines < QUEUE_LINES_MAX; i++) {
		const struct need *n = &c->need[i];
		const struct resource_group *g = &cq->groups[n->group];
		size_t pair = choice->flavor[n->group] * g->nresources + n->resource;
		d->line[d->nlines++] =
			(struct demand_line){g->row[pair], need_amount(n, choice->pods),
				(choice->contested[n->group] >> n->resource & 1) != 0};
	}
}

static struct displacement *displacement_of(struct queue *q, const struct demand *d)
{
	if (!q->displacement)
		q->displacement = mem_alloc(sizeof(*q->displacement));
	struct displacement *x = q->displacement;
	x->q = q;
	x->d = d;
	x->ncontested = x->noffers = x->nvictims = 0;
	for (size_t i = 0; i < d->nlines; i++)
		if (d->line[i].contested)
			x->contested[x->ncontested++] = d->line[i].row;
	return x;
}

static size_t find(struct queue *q, const struct demand *d, bool lenient, const struct victim **ret)
{
	struct displacement *x = displacement_of(q, d);
	x->lenient = lenient && !q->config.victims_as_kueue;
	if (x->ncontested > 0 && workload_displaces(d->w)) {
		if (q->config.fair_sharing)
			find_fair(x);
		else
			find_classic(x);
	}
	*ret = x->victim;
	return x->nvictims;
}

size_t victims_find(struct queue *q, const struct demand *d, const struct victim **ret)
{
	return find(q, d, true, ret);
}

size_t victims_plain(struct queue *q, const struct demand *d, const struct victim **ret)
{
	return find(q, d, false, ret);
}

void victims_done(struct queue *q)
{
	if (!q->displacement)
		return;
	free(q->displacement->offer);
	free(q->displacement->cursor);
	free(q->displacement->victim);
	lineup_done(&q->displacement->lineup);
	free(q->displacement);
}

/* ---- The quick look ---- */

/* The lowest priority from which on this one could be displaced. */
static int64_t from_room(const struct room *r, enum preemption_policy policy)
{
	int64_t theirs = r->w->key.priority;
	if (policy == PREEMPT_ANY || theirs < 0)
		return 0;
	if (policy == PREEMPT_NEVER)
		return INT64_MAX;
	return policy == PREEMPT_LOWER_OR_NEWER_EQUAL_PRIORITY ? theirs : theirs + 1;
}

/* Of those who run the first is the least important. */
static int64_t from_holders(const struct tree_node *n, enum preemption_policy policy)
{
	int64_t least = INT64_MAX;
	for (bool more = true; n && more; n = tree_next(n)) {
		int64_t from = from_room(holder_room(n), policy);
		least = from < least ? from : least;
		more = room_is_free(holder_room(n));
	}
	return least;
}

static int64_t from_clusterqueue(
	struct clusterqueue *cq, enum preemption_policy policy, bool if_borrows)
{
	int64_t least = INT64_MAX;
	for (size_t i = 0; i < cq->node->nrows; i++) {
		struct quota_row *row = cq->node->row[i];
		if (if_borrows && !quota_borrows(row, QUOTA_THEN))
			continue;
		int64_t from = from_holders(holders_first(cq, row), policy);
		least = from < least ? from : least;
	}
	list_each(&cq->promised, l)
	{
		int64_t from = from_room(container_of(l, struct room, of_clusterqueue), policy);
		least = from < least ? from : least;
	}
	return least;
}

int64_t victims_from(const struct queue *q, const struct clusterqueue *cq)
{
	const struct preemption_spec *p = &cq->preemption;
	bool others = cq->node->parent &&
		      (p->reclaim_within_cohort != PREEMPT_NEVER || q->gap_fillers > 0);
	bool own = p->within_clusterqueue != PREEMPT_NEVER;
	int64_t least = INT64_MAX;
	if (!others && !own)
		return least;
	list_each(&cq->realm->members, l)
	{
		struct clusterqueue *member = container_of(l, struct clusterqueue, of_realm);
		enum preemption_policy policy =
			member == cq ? p->within_clusterqueue : p->reclaim_within_cohort;
		if (!(member == cq ? own : others) || !clusterqueue_active(member))
			continue;
		int64_t from = from_clusterqueue(member, policy, member != cq);
		least = from < least ? from : least;
	}
	return least;
}
