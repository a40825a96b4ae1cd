#include "queue/admit/nominee_order.h"

#include <stdlib.h>

#include "base/mem.h"
#include "queue/model/group.h"
#include "queue/model/nice.h"
#include "queue/admit/share.h"
#include "queue/preempt/victims.h"

/* ---- Classic ---- */

/* The lower borrow level, then the order of all waiting Jobs. */
static bool goes_before(const struct nominee *a, const struct nominee *b)
{
	if (a->choice.level != b->choice.level)
		return a->choice.level < b->choice.level;
	return order_cmp(workload_standing(a->w), workload_standing(b->w)) < 0;
}

static size_t next_classic(const struct nominee *nominee, size_t n)
{
	size_t best = n;
	for (size_t i = 0; i < n; i++)
		if (!nominee[i].done && (best == n || goes_before(&nominee[i], &nominee[best])))
			best = i;
	return best;
}

/* ---- Fair: the tournament ---- */

/* A nominee that is still in the tournament. */
struct contender {
	const struct nominee *nominee;
	size_t index, depth;
	const struct quota_node *at; /* its ClusterQueue, or the highest Cohort that it has won */
	struct share share;	     /* of that node, with the nominee's demand */
	bool borrows;		     /* that node, of a row of the demand */
};

static size_t depth_of(const struct quota_node *n)
{
	size_t depth = 0;
	for (; n->parent; n = n->parent)
		depth++;
	return depth;
}

static const struct quota_row *row_at(const struct quota_row *row, const struct quota_node *node)
{
	while (row->node != node)
		row = row->up;
	return row;
}

/* Writes the share and `borrows`, with its demand as if it were used. */
static void weigh(struct contender *c)
{
	struct demand d;
	demand_init(
		&d, c->nominee->w, c->nominee->cq, &c->nominee->group->claim, &c->nominee->choice);
	for (size_t i = 0; i < d.nlines; i++)
		quota_take(d.line[i].row, QUOTA_THEN, d.line[i].amount);
	c->share = share_of(c->at);
	c->borrows = false;
	for (size_t i = 0; i < d.nlines; i++)
		if (quota_borrows(row_at(d.line[i].row, c->at), QUOTA_THEN))
			c->borrows = true;
	for (size_t i = 0; i < d.nlines; i++)
		quota_give(d.line[i].row, QUOTA_THEN, d.line[i].amount);
}

/* First a branch that does not borrow for its demand, then the smaller share, then the order of all
 * waiting Jobs. */
static bool beats(const struct contender *a, const struct contender *b)
{
	if (a->borrows != b->borrows)
		return b->borrows;
	int order = share_cmp(&a->share, &b->share);
	if (order)
		return order < 0;
	return order_cmp(workload_standing(a->nominee->w), workload_standing(b->nominee->w)) < 0;
}

/* Deepest first, and children of one parent next to each other. */
static int by_parent(const void *a, const void *b)
{
	const struct contender *x = a, *y = b;
	if (x->depth != y->depth)
		return x->depth > y->depth ? -1 : 1;
	if (x->at->parent != y->at->parent)
		return x->at->parent < y->at->parent ? -1 : 1; /* only to bring them together */
	return x->index < y->index ? -1 : x->index > y->index;
}

/* One round: of the contenders at the greatest depth one for each parent wins and goes up. Returns
 * how many are left. */
static size_t fight(struct contender *c, size_t n)
{
	size_t left = 0;
	qsort(c, n, sizeof(*c), by_parent);
	size_t depth = c[0].depth;
	for (size_t i = 0; i < n;) {
		struct contender best = c[i];
		const struct quota_node *parent = c[i].at->parent;
		size_t k = i + 1;
		for (; best.depth == depth && k < n && c[k].depth == depth &&
			c[k].at->parent == parent;
			k++)
			if (beats(&c[k], &best))
				best = c[k];
		if (best.depth == depth) {
			best.at = parent;
			best.depth--;
			if (parent->parent)
				weigh(&best);
		}
		c[left++] = best;
		i = k;
	}
	return left;
}

static size_t next_fair(const struct nominee *nominee, size_t n)
{
	size_t left = 0;
	struct contender *c = mem_array(n, sizeof(*c));
	for (size_t i = 0; i < n; i++) {
		if (nominee[i].done)
			continue;
		c[left] = (struct contender){.nominee = &nominee[i], .index = i};
		c[left].at = nominee[i].cq->node;
		c[left].depth = depth_of(c[left].at);
		weigh(&c[left++]);
	}
	while (left > 0 && (left > 1 || c[0].depth > 0))
		left = fight(c, left);
	size_t winner = left > 0 ? c[0].index : n;
	free(c);
	return winner;
}

size_t nominee_order_next(struct queue *q, const struct nominee *nominee, size_t n)
{
	return q->config.fair_sharing ? next_fair(nominee, n) : next_classic(nominee, n);
}
