/*
 * Classic victims (Kueue's KEP-83 and KEP-1337): first runs that borrow quota to which the
 * demand has the better right, then other borrowers, then its own ClusterQueue.
 */
#include "queue/core/preempt/preemption.h"
#include "queue/core/preempt/victims.h"

/* ---- Candidate sources ---- */

/* The rest of the demand that is left for the nodes above, from one node to the next. */
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

/* All borrowers below a node, but not below `seen`. The recursion is as deep as the tree. */
static void ask_below(struct preemption *x, const struct quota_node *node,
	const struct quota_node *shared, const struct quota_node *seen, enum candidate_kind kind)
{
	list_each_entry(&node->children, const struct quota_node, child, of_parent) {
		if (child == seen || child == x->d->cq->node || !borrows_contested(x, child))
			continue;
		if (child->owner)
			candidate_source_add(x, child->owner, kind, shared);
		else
			ask_below(x, child, shared, seen, kind);
	}
}

/* If the demand fits in the quota of a node, it has a better right to that quota than borrowers
 * from outside of the node, whatever their priority. With reclaimWithinCohort Never only gap
 * fillers are candidates, by priority. */
static void ask_others(struct preemption *x)
{
	struct climb climb;
	const struct quota_node *seen = NULL;
	bool gaps_only = x->d->cq->spec.preemption.reclaim_within_cohort == PREEMPT_NEVER;
	climb_init(&climb, x->d);
	bool better = climb_step(&climb, x->d);
	for (const struct quota_node *n = x->d->cq->node->parent; n; n = n->parent) {
		ask_below(x, n, n, seen,
			better && !gaps_only ? CANDIDATE_HIERARCHY : CANDIDATE_PRIORITY);
		better = climb_step(&climb, x->d) || better;
		seen = n;
	}
}

/* ---- Which candidates go ---- */

/* Returns whether the candidate may go only if the nominee's ClusterQueue does not borrow in the
 * end. So it is without borrowWithinCohort, or if the candidate's priority is too high for that. */
static bool forbids_borrowing(
	const struct preemption *x, const struct candidate_source *o, const struct reservation *r)
{
	const struct preemption_spec *p = &x->d->cq->spec.preemption;
	int32_t theirs = r->w->key.priority;
	if (o->kind != CANDIDATE_PRIORITY)
		return false;
	return !p->borrow_within_cohort || theirs >= x->d->w->key.priority ||
	       (p->has_max_priority && theirs > p->max_priority);
}

/* A ClusterQueue that borrows no more gives back no more, and neither does any in a Cohort that
 * borrows no more. */
static bool still_borrows(const struct preemption *x, const struct candidate_source *o)
{
	for (const struct quota_node *n = o->cq->node; n != o->shared; n = n->parent)
		if (!borrows_contested(x, n))
			return false;
	return true;
}

bool classic_may_give(const struct preemption *x, const struct candidate_source *o,
	const struct reservation *r, bool may_borrow)
{
	if (o->kind == CANDIDATE_OWN)
		return true;
	return !(may_borrow && forbids_borrowing(x, o, r)) && still_borrows(x, o);
}

/* Free ones first, then by kind, then by reservation_cmp(). */
static bool goes_before(const struct candidate_source *a, const struct candidate_source *b)
{
	if (costs_nothing(a->next) != costs_nothing(b->next))
		return costs_nothing(a->next);
	if (a->kind != b->kind)
		return a->kind < b->kind;
	return reservation_cmp(a->next, b->next) < 0;
}

static struct candidate_source *best_source(struct preemption *x)
{
	struct candidate_source *best = NULL;
	for (size_t i = 0; i < x->nsources; i++) {
		struct candidate_source *o = &x->source[i];
		if (o->next && !o->dropped && (!best || goes_before(o, best)))
			best = o;
	}
	return best;
}

static enum preemption_reason reason_of(
	const struct preemption *x, const struct candidate_source *o)
{
	if (o->kind == CANDIDATE_OWN)
		return PREEMPTION_IN_CLUSTERQUEUE;
	if (o->kind == CANDIDATE_HIERARCHY || forbids_borrowing(x, o, o->next))
		return PREEMPTION_IN_COHORT_RECLAMATION;
	return PREEMPTION_IN_COHORT_RECLAIM_WHILE_BORROWING;
}

/* A candidate that may not be taken now may not be taken later in this attempt, because use only
 * falls. Neither may all behind it, which are no less important. But a free one may be important
 * and stand before runs that are not. */
static void pass_over(struct preemption *x, struct candidate_source *o)
{
	if (costs_nothing(o->next))
		candidate_source_take(x, o);
	else
		o->dropped = true;
}

static void take(struct preemption *x, struct candidate_source *o)
{
	struct candidate c = {.source = o, .reason = reason_of(x, o)};
	c.reservation = candidate_source_take(x, o);
	victim_add(x, c.reservation, c.reason);
	if (x->lenient)
		candidates_add(&x->candidates, &c);
}

/* ---- Cheaper candidates instead ---- */

static void world_take(void *world, size_t i)
{
	reservation_take_away(((struct preemption *)world)->candidates.who[i].reservation);
}

static void world_put_back(void *world, size_t i)
{
	reservation_put_back(((struct preemption *)world)->candidates.who[i].reservation);
}

static bool world_enough(void *world)
{
	struct preemption *x = world;
	return demand_fits(x->d, x->candidates.may_borrow);
}

static bool world_may_go(void *world, size_t i)
{
	const struct preemption *x = world;
	const struct candidate *c = &x->candidates.who[i];
	return classic_may_give(x, c->source, c->reservation, x->candidates.may_borrow);
}

/* Adds the candidates that would have come next, of the kinds that the order had to go to. Free
 * ones are victims already. */
static void look_beyond(struct preemption *x, bool may_borrow, enum candidate_kind reach)
{
	struct candidate_source *o;
	struct candidates *l = &x->candidates;
	size_t most = l->n + CANDIDATES_BEYOND, each = candidates_beyond_each(x->nsources);
	for (size_t i = 0; i < x->nsources; i++) {
		x->source[i].dropped = x->source[i].kind > reach;
		x->source[i].beyond = 0;
	}
	while (l->n < most && (o = best_source(x))) {
		bool forbidden =
			o->kind != CANDIDATE_OWN && may_borrow && forbids_borrowing(x, o, o->next);
		struct candidate c = {.source = o, .reason = reason_of(x, o)};
		c.reservation = candidate_source_take(x, o);
		if (costs_nothing(c.reservation))
			continue;
		if (!forbidden)
			candidates_add(l, &c);
		o->dropped = forbidden || ++o->beyond == each;
	}
}

static bool anybody_lends(const struct candidates *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->who[i].source->kind != CANDIDATE_OWN)
			return true;
	return false;
}

/* The victims suffice and are away. So are the cheaper ones that replace them. */
static void ease(struct preemption *x, bool may_borrow, enum candidate_kind reach)
{
	if (candidates_is_settled(x))
		return;
	candidates_mark(x);
	look_beyond(x, may_borrow, reach);
	if (candidates_is_alike(x))
		return;
	x->candidates.may_borrow = may_borrow;
	struct victim_search victim_search = {.take = world_take,
		.put_back = world_put_back,
		.enough = world_enough,
		.may_go = anybody_lends(&x->candidates) ? world_may_go : NULL};
	victims_put_back(x);
	candidates_ease(x, &victim_search);
	candidates_displace(x);
	victims_spare(x, may_borrow);
}

/* ---- Attempts ---- */

static bool attempt(struct preemption *x, bool may_borrow)
{
	struct candidate_source *o;
	x->nvictims = 0;
	x->takes_back = !may_borrow;
	candidates_clear(&x->candidates);
	for (size_t i = 0; i < x->nsources; i++)
		candidate_source_rewind(x, &x->source[i]);
	while ((o = best_source(x))) {
		if (!classic_may_give(x, o, o->next, may_borrow)) {
			pass_over(x, o);
			continue;
		}
		take(x, o);
		if (!demand_fits(x->d, may_borrow))
			continue;
		victims_spare(x, may_borrow);
		if (x->lenient)
			ease(x, may_borrow, o->kind);
		victims_put_back(x);
		return true;
	}
	victims_put_back(x);
	x->nvictims = 0;
	return false;
}

static bool uses_less_than_nominal(const struct preemption *x)
{
	for (size_t i = 0; i < x->ncontested; i++)
		if (x->contested[i]->use[QUOTA_THEN] >= x->contested[i]->nominal)
			return false;
	return true;
}

static size_t count_kind(const struct preemption *x, enum candidate_kind kind)
{
	size_t n = 0;
	for (size_t i = 0; i < x->nsources; i++)
		n += x->source[i].kind == kind;
	return n;
}

/* Some candidates may go only if the nominee's ClusterQueue does not borrow in the end; others help
 * only if it may. So both ways are tried, in Kueue's order, unless only borrowing can succeed. A
 * Job that was preempted twice of late (workload_note_yield()) only reclaims, and does not preempt to
 * borrow: that would be reclaimed at once, for ever. */
void find_classic(struct preemption *x)
{
	x->takes_back = true;
	if (x->d->cq->node->parent)
		ask_others(x);
	bool others = x->nsources > 0, hierarchy = count_kind(x, CANDIDATE_HIERARCHY) > 0;
	candidate_source_add(x, x->d->cq, CANDIDATE_OWN, NULL);

	bool forbidden = !x->d->cq->spec.preemption.borrow_within_cohort;
	if (others && workload_yields_for_ever(x->d->w, x->d->cq->cohort_tree))
		attempt(x, false);
	else if (!others || (forbidden && !uses_less_than_nominal(x)))
		attempt(x, true);
	else if (forbidden && !hierarchy)
		(void)(attempt(x, false) || attempt(x, true));
	else
		(void)(attempt(x, true) || attempt(x, false));
}
