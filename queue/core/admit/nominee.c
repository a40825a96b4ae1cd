#include "queue/core/admit/nominee.h"

#include <stdlib.h>

#include "base/mem.h"
#include "queue/core/model/group.h"
#include "queue/core/model/nice.h"
#include "queue/core/model/share.h"
#include "queue/core/preempt/victims.h"
#include "queue/core/model/feature.h"

/* ---- Can it start? ---- */

bool nominee_demand(const struct nominee *e, struct demand *ret)
{
	demand_init(ret, e->w, e->cq, &e->group->claim, &e->choice);
	return ret->nlines > 0;
}

/* Jobs were stopped for it in vain, and would be again. */
static bool is_in_vain(struct queue *q, const struct nominee *e)
{
	return workload_displaced_in_vain(e->w, e->cq->cohort_tree) && features_in_vain(q, e);
}

size_t nominee_victims(struct queue *q, const struct nominee *e, const struct victim **ret)
{
	struct demand d;
	return nominee_demand(e, &d) && !is_in_vain(q, e) ? victims_find(q, &d, ret) : 0;
}

/* In the flavors behind `after` (NULL: in all): does it fit with so many pods, or are there
 * victims, or can it start with fewer? */
static bool can_start_after(
	struct queue *q, struct nominee *e, int32_t pods, const struct choice *after)
{
	const struct victim *victim;
	const struct claim *claim = &e->group->claim;
	e->verdict = assign_flavors(q, e->cq, claim, e->w, pods, after, &e->choice);
	if (e->verdict == ASSIGN_FITS ||
		(e->verdict == ASSIGN_PREEMPTS && nominee_victims(q, e, &victim) > 0))
		return true;
	struct choice choice;
	enum assign_verdict fewer = partial_find(q, e->cq, claim, e->w, pods, after, &choice);
	if (fewer < ASSIGN_PREEMPTS)
		return false;
	e->verdict = fewer;
	e->choice = choice;
	return true;
}

/* In the flavors behind those of *e, which failed. */
static bool can_start_further_on(struct queue *q, struct nominee *e, int32_t pods)
{
	struct nominee next = *e;
	while (next.verdict == ASSIGN_PREEMPTS && choice_goes_on(e->cq, &next.choice)) {
		struct choice after = next.choice;
		if (can_start_after(q, &next, pods, &after)) {
			*e = next;
			return true;
		}
	}
	return false;
}

/* In a flavor that fits, but was skipped for one in which it would preempt and found no victims. */
static bool fits_where_passed_over(struct queue *q, struct nominee *e, int32_t pods)
{
	struct choice choice;
	if (assign_beside(q, e->cq, &e->group->claim, e->w, pods, &choice) != ASSIGN_FITS)
		return false;
	e->verdict = ASSIGN_FITS;
	e->choice = choice;
	return true;
}

bool nominee_can_start(struct queue *q, struct nominee *e, int32_t pods)
{
	if (can_start_after(q, e, pods, NULL))
		return true;
	return e->verdict == ASSIGN_PREEMPTS &&
	       (can_start_further_on(q, e, pods) || fits_where_passed_over(q, e, pods));
}

/* ---- Do the rules let it start as it chose? ---- */

/* *ret_places: if refused, with how many pods rules might let it start. */
static bool choice_may(struct queue *q, const struct nominee *e, int32_t *ret_places)
{
	struct proposal a = {.nominee = e};
	if (e->verdict == ASSIGN_PREEMPTS && features_look_at_victims(q, e))
		a.nvictims = nominee_victims(q, e, &a.victim);
	if (features_choice_may(q, &a))
		return true;
	*ret_places = e->choice.pods > e->w->shape->min_pods ? features_choice_pods(q, &a)
							     : e->choice.pods;
	return false;
}

/* Goes on to the next flavor behind those that failed in which it fits, or would by displacing others.
 * False: there is none. */
static bool try_next_flavor(struct queue *q, struct nominee *e)
{
	const struct victim *victim;
	do {
		struct choice last = e->choice;
		if (!choice_goes_on(e->cq, &last))
			return false;
		e->verdict = assign_flavors(
			q, e->cq, &e->group->claim, e->w, last.pods, &last, &e->choice);
		if (e->verdict < ASSIGN_PREEMPTS)
			return false;
	} while (e->verdict == ASSIGN_PREEMPTS && nominee_victims(q, e, &victim) == 0);
	return true;
}

/* The nominee can start by quota. Is there a flavor in which the rules let it start? *ret_places:
 * if not, the most pods, fewer than it chose, with which they might in one of these. */
static bool is_let_on_some(struct queue *q, struct nominee *e, int32_t *ret_places)
{
	int32_t places;
	*ret_places = 0;
	while (!choice_may(q, e, &places)) {
		if (places < e->choice.pods && places > *ret_places)
			*ret_places = places;
		if (!try_next_flavor(q, e))
			return false;
	}
	return true;
}

/* With fewer pods there may be fewer victims, and then fewer places on nodes. After so many numbers
 * of pods the Job waits. */
#define NUMBERS_MAX 8

bool nominee_is_let(struct queue *q, struct nominee *e)
{
	int32_t places, least = e->w->shape->min_pods;
	bool let = is_let_on_some(q, e, &places);
	struct nominee smaller = *e;
	for (int i = 1; !let && i < NUMBERS_MAX && places > 0 && places >= least; i++) {
		if (!nominee_can_start(q, &smaller, places))
			return false;
		let = is_let_on_some(q, &smaller, &places);
		if (let)
			*e = smaller;
	}
	return let;
}

/* ---- The order: classic ---- */

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

/* ---- The order: fair, the tournament ---- */

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
