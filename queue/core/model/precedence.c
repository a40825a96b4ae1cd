#include "queue/core/model/precedence.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "queue/core/model/usage.h"

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
	list_each(&cq->localqueues, l)
		most++;
	struct precedence *all = mem_array(most, sizeof(*all));
	list_each_entry(&cq->localqueues, struct localqueue, lq, of_clusterqueue) {
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

struct seek {
	const struct precedence_search *s;
	const struct queue *q;
};

static bool seek_may(const struct tree_node *n, void *ctx)
{
	const struct seek *x = ctx;
	const struct group *root = container_of_const(n, struct group, node);
	return features_subtree_may(x->q, root) && (!x->s->may || x->s->may(root, x->s->ctx));
}

static bool seek_is(const struct tree_node *n, void *ctx)
{
	const struct seek *x = ctx;
	const struct group *g = container_of_const(n, struct group, node);
	return features_group_may(x->q, g).answer == x->s->answer &&
	       (!x->s->is || x->s->is(g, x->s->ctx));
}

static struct group *seek_line(
	const struct tree *line, const struct precedence_search *s, const struct queue *q)
{
	struct seek x = {s, q};
	struct tree_search search = {seek_may, seek_is, &x};
	struct tree_node *n = tree_seek(line, NULL, &search);
	struct group *g = n ? container_of(n, struct group, node) : NULL;
	return g && !workload_fills_gaps(group_head(g)) ? g : NULL; /* gap fillers stand last */
}

struct group *precedence_seek(
	const struct queue *q, const struct clusterqueue *cq, const struct precedence_search *s)
{
	struct group *best = seek_line(&cq->groups_waiting, s, q);
	if (!cq->spec.orders_by_usage)
		return best;
	list_each_entry(&cq->localqueues, const struct localqueue, lq, of_clusterqueue) {
		struct group *g = seek_line(&lq->groups_waiting, s, q);
		if (g && (!best || precedence_before(q, g, best)))
			best = g;
	}
	return best;
}

struct group *precedence_head(const struct queue *q, const struct clusterqueue *cq)
{
	struct precedence_search s = {.answer = ANSWER_YES};
	struct group *g = precedence_seek(q, cq, &s);
	if (g || !features_put_last(q, cq))
		return g;
	s.answer = ANSWER_LAST;
	return precedence_seek(q, cq, &s);
}

size_t precedence_rank(const struct queue *q, const struct workload *w)
{
	size_t rank = tree_rank(&w->in_order);
	const struct clusterqueue *cq = w->group->cq;
	if (!cq->spec.orders_by_usage)
		return rank;
	double mine = usage_of(q, w->lq, q->now_ms);
	list_each_entry(&cq->localqueues, const struct localqueue, lq, of_clusterqueue) {
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
