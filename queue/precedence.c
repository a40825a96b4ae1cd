#include "queue/precedence.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "queue/usage.h"

struct tree *precedence_line(const struct group *g)
{
	return g->lq ? &g->lq->groups_waiting : &g->cq->groups_waiting;
}

static int by_usage(const void *va, const void *vb)
{
	const struct precedence *a = va, *b = vb;
	if (a->usage != b->usage)
		return a->usage < b->usage ? -1 : 1;
	int order = strcmp(a->lq->ns->name, b->lq->ns->name);
	return order ? order : strcmp(a->lq->name, b->lq->name);
}

struct precedence *precedence_lines(
	const struct queue *q, const struct clusterqueue *cq, size_t *ret_n)
{
	size_t n = 0, most = 0;
	list_each(&cq->localqueues, l) most++;
	struct precedence *all = mem_array(most, sizeof(*all));
	list_each(&cq->localqueues, l)
	{
		struct localqueue *lq = container_of(l, struct localqueue, of_clusterqueue);
		if (tree_count(&lq->groups_waiting) > 0)
			all[n++] = (struct precedence){lq, usage_of(q, lq, q->now_ms)};
	}
	if (n > 1)
		qsort(all, n, sizeof(*all), by_usage);
	*ret_n = n;
	return all;
}

bool precedence_before(const struct queue *q, const struct group *a, const struct group *b)
{
	if (a->lq && b->lq && a->lq != b->lq) {
		double x = usage_of(q, a->lq, q->now_ms), y = usage_of(q, b->lq, q->now_ms);
		if (x != y)
			return x < y;
	}
	return order_cmp(&a->key, &b->key) < 0;
}

struct group *precedence_first(const struct queue *q, const struct clusterqueue *cq)
{
	struct tree_node *n = tree_first(&cq->groups_waiting);
	if (!cq->orders_by_usage)
		return n ? container_of(n, struct group, node) : NULL;
	struct group *best = NULL;
	list_each(&cq->localqueues, l)
	{
		n = tree_first(
			&container_of(l, struct localqueue, of_clusterqueue)->groups_waiting);
		if (n && (!best || precedence_before(q, container_of(n, struct group, node), best)))
			best = container_of(n, struct group, node);
	}
	return best;
}

size_t precedence_rank(const struct queue *q, const struct workload *w)
{
	size_t rank = tree_rank(&w->in_order);
	const struct clusterqueue *cq = w->group->cq;
	if (!cq->orders_by_usage)
		return rank;
	double mine = usage_of(q, w->lq, q->now_ms);
	list_each(&cq->localqueues, l)
	{
		const struct localqueue *lq = container_of(l, struct localqueue, of_clusterqueue);
		double theirs = usage_of(q, lq, q->now_ms);
		if (lq == w->lq)
			continue;
		if (theirs < mine)
			rank += tree_count(&lq->order);
		else if (theirs == mine)
			rank += tree_before(&lq->order, &w->in_order);
	}
	return rank;
}
