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

/* ---- The classic way: who is asked ---- */

/* What of the demand is left for the nodes above, from one node to the next. */
struct climb {
	const struct quota_row *row[QUEUE_LINES_MAX];
	__int128 rest[QUEUE_LINES_MAX];
};

static void climb_init(struct climb *c, const struct demand *d)
{
	for (size_t i = 0; i < d->nlines; i++) {
		c->row[i] = d->line[i].row;
		c->rest[i] = d->line[i].amount;
	}
}

/* Does the rest fit in this node's own quota? Goes on to the parent. */
static bool climb_step(struct climb *c, const struct demand *d)
{
	bool fits = true;
	for (size_t i = 0; i < d->nlines; i++) {
		fits = fits && !quota_borrows_with(c->row[i], QUOTA_THEN, c->rest[i]);
		__int128 local = quota_local_free(c->row[i], QUOTA_THEN);
		c->rest[i] = c->rest[i] > local ? c->rest[i] - local : 0;
		c->row[i] = c->row[i]->up;
	}
	return fits;
}

/* All that borrow below a node, but for what was looked at before. The recursion is as deep as the
 * tree. */
static void ask_below(struct displacement *x, const struct quota_node *node,
	const struct quota_node *shared, const struct quota_node *seen, enum offer_kind kind)
{
	list_each(&node->children, l)
	{
		const struct quota_node *child = container_of(l, struct quota_node, of_parent);
		if (child == seen || child == x->d->cq->node || !borrows_contested(x, child))
			continue;
		if (child->owner)
			offer_add(x, child->owner, kind, shared);
		else
			ask_below(x, child, shared, seen, kind);
	}
}

/* From a node in whose quota the demand fits upwards it has the better right than those who borrow
 * that quota, whatever their priority. Who may take back from gap fillers only may as far as its
 * own ClusterQueue's quota goes. */
static void ask_others(struct displacement *x)
{
	struct climb climb;
	const struct quota_node *seen = NULL;
	bool gaps_only = x->d->cq->preemption.reclaim_within_cohort == PREEMPT_NEVER;
	climb_init(&climb, x->d);
	bool better = climb_step(&climb, x->d);
	for (const struct quota_node *n = x->d->cq->node->parent; n; n = n->parent) {
		ask_below(x, n, n, seen, better && !gaps_only ? OFFER_HIERARCHY : OFFER_PRIORITY);
		better = climb_step(&climb, x->d) || better;
		seen = n;
	}
}

/* ---- The classic way: who goes ---- */

/* Only if its own ClusterQueue does not borrow in the end: without borrowWithinCohort, and towards
 * those that are too important for it. */
static bool forbids_borrowing(const struct displacement *x, const struct offer *o)
{
	const struct preemption_spec *p = &x->d->cq->preemption;
	int32_t theirs = o->next->w->key.priority;
	if (o->kind != OFFER_PRIORITY)
		return false;
	return !p->borrow_within_cohort || theirs >= x->d->w->key.priority ||
	       (p->has_max_priority && theirs > p->max_priority);
}

/* Who does not use more than its own quota any more keeps the rest, and so do all in a Cohort that
 * does not. */
static bool still_borrows(const struct displacement *x, const struct offer *o)
{
	for (const struct quota_node *n = o->cq->node; n != o->shared; n = n->parent)
		if (!borrows_contested(x, n))
			return false;
	return true;
}

static bool may_take(const struct displacement *x, const struct offer *o, bool may_borrow)
{
	if (o->kind == OFFER_OWN)
		return true;
	return !(may_borrow && forbids_borrowing(x, o)) && still_borrows(x, o);
}

/* What costs nothing before the rest, then by kind, then as rooms go. */
static bool goes_before(const struct offer *a, const struct offer *b)
{
	if (room_is_free(a->next) != room_is_free(b->next))
		return room_is_free(a->next);
	if (a->kind != b->kind)
		return a->kind < b->kind;
	return room_cmp(a->next, b->next) < 0;
}

static struct offer *best_offer(struct displacement *x)
{
	struct offer *best = NULL;
	for (size_t i = 0; i < x->noffers; i++) {
		struct offer *o = &x->offer[i];
		if (o->next && !o->dropped && (!best || goes_before(o, best)))
			best = o;
	}
	return best;
}

static enum preemption_reason reason_of(const struct displacement *x, const struct offer *o)
{
	if (o->kind == OFFER_OWN)
		return PREEMPTION_IN_CLUSTERQUEUE;
	if (o->kind == OFFER_HIERARCHY || forbids_borrowing(x, o))
		return PREEMPTION_IN_COHORT_RECLAMATION;
	return PREEMPTION_IN_COHORT_RECLAIM_WHILE_BORROWING;
}

/* Who may not be taken is passed over; it stays so in this attempt, because use only falls, and so
 * it is for all behind it, who are no less important. But an important one that is free may stand
 * before one who runs and is not. */
static void pass_over(struct displacement *x, struct offer *o)
{
	if (room_is_free(o->next))
		offer_take(x, o);
	else
		o->dropped = true;
}

static bool attempt(struct displacement *x, bool may_borrow)
{
	struct offer *o;
	x->nvictims = 0;
	for (size_t i = 0; i < x->noffers; i++)
		offer_rewind(x, &x->offer[i]);
	while ((o = best_offer(x))) {
		if (!may_take(x, o, may_borrow)) {
			pass_over(x, o);
			continue;
		}
		enum preemption_reason reason = reason_of(x, o);
		victim_add(x, offer_take(x, o), reason);
		if (!demand_fits(x->d, may_borrow))
			continue;
		victims_spare(x, may_borrow);
		victims_put_back(x);
		return true;
	}
	victims_put_back(x);
	x->nvictims = 0;
	return false;
}

static bool uses_less_than_nominal(const struct displacement *x)
{
	for (size_t i = 0; i < x->ncontested; i++)
		if (x->contested[i]->use[QUOTA_THEN] >= x->contested[i]->nominal)
			return false;
	return true;
}

static size_t count_kind(const struct displacement *x, enum offer_kind kind)
{
	size_t n = 0;
	for (size_t i = 0; i < x->noffers; i++)
		n += x->offer[i].kind == kind;
	return n;
}

/* Some may go only if nobody borrows in the end, others only help if one may. So it is tried both
 * ways, in Kueue's order, but where only borrowing can come to anything. */
static void find_classic(struct displacement *x)
{
	if (x->d->cq->node->parent)
		ask_others(x);
	bool others = x->noffers > 0, hierarchy = count_kind(x, OFFER_HIERARCHY) > 0;
	offer_add(x, x->d->cq, OFFER_OWN, NULL);

	bool forbidden = !x->d->cq->preemption.borrow_within_cohort;
	if (!others || (forbidden && !uses_less_than_nominal(x)))
		attempt(x, true);
	else if (forbidden && !hierarchy)
		(void)(attempt(x, false) || attempt(x, true));
	else
		(void)(attempt(x, true) || attempt(x, false));
}

/* ---- Both ways ---- */

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

size_t victims_find(struct queue *q, const struct demand *d, const struct victim **ret)
{
	struct displacement *x = displacement_of(q, d);
	if (x->ncontested > 0 && workload_displaces(d->w)) {
		if (q->config.fair_sharing)
			find_fair(x);
		else
			find_classic(x);
	}
	*ret = x->victim;
	return x->nvictims;
}

void victims_done(struct queue *q)
{
	if (!q->displacement)
		return;
	free(q->displacement->offer);
	free(q->displacement->cursor);
	free(q->displacement->victim);
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
