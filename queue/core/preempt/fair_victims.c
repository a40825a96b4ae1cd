/*
 * Victims with fair sharing (Kueue's KEP-1714). The next victim is of the ClusterQueue with the
 * largest share: from the root down, in each Cohort the child with the largest share is taken,
 * until that is a ClusterQueue. After each victim it begins again, because shares have changed. The
 * demand counts as used meanwhile.
 *
 * ClusterQueues with candidates, and the Cohorts above them, each have a seat in this tree. A seat
 * is left when it can give no more victims.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "queue/core/preempt/preemption.h"
#include "queue/core/model/share.h"

struct seat {
	const struct quota_node *node;
	struct candidate_source *source; /* NULL: a Cohort */
	struct reservation *refused;	 /* the first candidate that the first strategy refused */
	size_t first, next; /* child and sibling: indexes, 0 for none (the root is neither) */
	bool above_preemptor;
	bool left;
};

struct fair {
	struct preemption *x;
	struct seat *seat; /* [0] is the root */
	size_t nseats, capacity;
	bool second; /* the second strategy: each seat's candidate is its `refused` */
};

/* ---- Seats ---- */

static size_t seat_add(struct fair *f, const struct quota_node *node)
{
	f->seat = mem_room(f->seat, f->nseats, &f->capacity, 16, sizeof(*f->seat));
	f->seat[f->nseats] = (struct seat){.node = node};
	return f->nseats++;
}

static size_t seat_below(struct fair *f, size_t parent, const struct quota_node *node)
{
	for (size_t i = f->seat[parent].first; i; i = f->seat[i].next)
		if (f->seat[i].node == node)
			return i;
	size_t i = seat_add(f, node);
	f->seat[i].next = f->seat[parent].first;
	f->seat[parent].first = i;
	return i;
}

/* The seat of a node, and those above it. */
static size_t seat_of(struct fair *f, const struct quota_node *node)
{
	return node->parent ? seat_below(f, seat_of(f, node->parent), node) : 0;
}

static void take_seats(struct fair *f)
{
	const struct quota_node *mine = f->x->d->cq->node;
	seat_add(f, quota_root((struct quota_node *)(uintptr_t)mine));
	for (size_t i = 0; i < f->x->nsources; i++) {
		size_t seat = seat_of(f, f->x->source[i].cq->node);
		f->seat[seat].source = &f->x->source[i];
	}
	for (size_t i = 0; i < f->nseats; i++)
		for (const struct quota_node *n = mine; n; n = n->parent)
			f->seat[i].above_preemptor =
				f->seat[i].above_preemptor || f->seat[i].node == n;
}

/* The next candidate of a seat. */
static struct reservation *seat_reservation(const struct fair *f, const struct seat *s)
{
	return f->second ? s->refused : s->source->next;
}

/* ---- The next ClusterQueue ---- */

struct pick {
	struct seat *seat; /* NULL: none yet */
	struct share share;
};

/* Equal shares: ClusterQueues by their next candidates (free ones first, the nominee's own last),
 * Cohorts by name, and a Cohort before a ClusterQueue, because in it the most unfair one can be
 * chosen. */
static bool wins_tie(const struct fair *f, const struct seat *a, const struct seat *b)
{
	if (!a->source != !b->source)
		return !a->source;
	if (!a->source)
		return strcmp(a->node->name, b->node->name) < 0;
	const struct reservation *x = seat_reservation(f, a), *y = seat_reservation(f, b);
	if (costs_nothing(x) != costs_nothing(y))
		return costs_nothing(x);
	if (a->above_preemptor != b->above_preemptor)
		return b->above_preemptor;
	return reservation_cmp(x, y) < 0;
}

static bool seat_is_over(const struct fair *f, const struct seat *s, const struct share *share)
{
	if (s->source && !seat_reservation(f, s))
		return true;
	return !share->borrows && !s->above_preemptor;
}

static void consider(const struct fair *f, struct pick *best, struct seat *s)
{
	if (s->left)
		return;
	struct share share = share_of(s->node);
	if (seat_is_over(f, s, &share)) {
		s->left = true;
		return;
	}
	int order = best->seat ? share_cmp(&share, &best->share) : 1;
	if (order > 0 || (order == 0 && wins_tie(f, s, best->seat)))
		*best = (struct pick){s, share};
}

/* The ClusterQueue of the next victim; NULL: none. */
static struct seat *seat_next(struct fair *f)
{
	while (!f->seat[0].left) {
		struct seat *s = &f->seat[0];
		while (!s->source && !s->left) {
			struct pick best = {NULL, {0}};
			for (size_t i = s->first; i; i = f->seat[i].next)
				consider(f, &best, &f->seat[i]);
			if (!best.seat)
				s->left = true; /* and again from the root */
			else
				s = best.seat;
		}
		if (s->source && !s->left && seat_reservation(f, s))
			return s;
		s->left = true;
	}
	return NULL;
}

/* ---- Shares ---- */

/* Replaces two nodes by their ancestors that are children of the lowest node above both. */
static void below_shared(const struct quota_node **a, const struct quota_node **b)
{
	for (const struct quota_node *n = *b;; n = n->parent) {
		must(n->parent);
		for (const struct quota_node *m = *a; m->parent; m = m->parent) {
			if (m->parent == n->parent) {
				*a = m;
				*b = n;
				return;
			}
		}
	}
}

struct shares {
	const struct quota_node *theirs;
	struct share mine_now, theirs_now;
};

static struct shares shares_with(const struct fair *f, const struct seat *s)
{
	const struct quota_node *mine = f->x->d->cq->node, *theirs = s->node;
	below_shared(&mine, &theirs);
	return (struct shares){theirs, share_of(mine), share_of(theirs)};
}

static struct share share_without(const struct quota_node *node, const struct reservation *r)
{
	reservation_take_away(r);
	struct share s = share_of(node);
	reservation_put_back(r);
	return s;
}

static bool strategy_allows(
	enum fair_strategy strategy, const struct shares *s, const struct reservation *r)
{
	struct share after;
	switch (strategy) {
	case FAIR_LESS_THAN_OR_EQUAL_TO_FINAL_SHARE:
		after = share_without(s->theirs, r);
		return share_cmp(&s->mine_now, &after) <= 0;
	case FAIR_LESS_THAN_INITIAL_SHARE:
		return share_cmp(&s->mine_now, &s->theirs_now) < 0;
	}
	return false;
}

/* ---- Which candidates go ---- */

static void demand_take(const struct demand *d)
{
	for (size_t i = 0; i < d->nlines; i++)
		quota_take(d->line[i].row, QUOTA_THEN, d->line[i].amount);
}

static void demand_give(const struct demand *d)
{
	for (size_t i = 0; i < d->nlines; i++)
		quota_give(d->line[i].row, QUOTA_THEN, d->line[i].amount);
}

/* True when the demand fits now. */
static bool displace(struct fair *f, struct reservation *r, enum preemption_reason reason)
{
	victim_add(f->x, r, reason);
	demand_give(f->x->d);
	bool fits = demand_fits(f->x->d, true);
	demand_take(f->x->d);
	return fits;
}

/* The first candidate that the strategy allows; the ones before it are refused. A share only falls
 * when a run goes, so if theirs is smaller than ours already, none is allowed. */
static struct reservation *take_allowed(struct fair *f, struct seat *s, enum fair_strategy strategy)
{
	struct shares shares = shares_with(f, s);
	if (share_cmp(&shares.mine_now, &shares.theirs_now) > 0) {
		s->refused = s->refused ? s->refused : s->source->next;
		s->source->next = NULL;
		return NULL;
	}
	while (s->source->next) {
		struct reservation *r = candidate_source_take(f->x, s->source);
		if (strategy_allows(strategy, &shares, r))
			return r;
		s->refused = s->refused ? s->refused : r;
	}
	return NULL;
}

/* Returns whether the nominee's ClusterQueue stays within its quota on all contested rows, with the
 * demand. Then it only takes back what is its own. */
static bool within_nominal(const struct preemption *x)
{
	for (size_t i = 0; i < x->ncontested; i++)
		if (quota_borrows(x->contested[i], QUOTA_THEN))
			return false;
	return true;
}

static bool run_first(struct fair *f, enum fair_strategy strategy)
{
	struct seat *s;
	bool entitled = within_nominal(f->x);
	while ((s = seat_next(f))) {
		struct reservation *r;
		enum preemption_reason reason = PREEMPTION_IN_COHORT_FAIR_SHARING;
		if (s->source->kind == CANDIDATE_OWN || entitled) {
			reason = s->source->kind == CANDIDATE_OWN
					 ? PREEMPTION_IN_CLUSTERQUEUE
					 : PREEMPTION_IN_COHORT_RECLAMATION;
			r = candidate_source_take(f->x, s->source);
		} else {
			r = take_allowed(f, s, strategy);
		}
		if (r && displace(f, r, reason))
			return true;
	}
	return false;
}

/* Each ClusterQueue is asked once, for its first refused candidate. */
static bool run_second(struct fair *f)
{
	struct seat *s;
	f->second = true;
	for (size_t i = 0; i < f->nseats; i++)
		f->seat[i].left = false;
	while ((s = seat_next(f))) {
		struct shares shares = shares_with(f, s);
		struct reservation *r = s->refused;
		s->refused = NULL;
		if (strategy_allows(FAIR_LESS_THAN_INITIAL_SHARE, &shares, r) &&
			displace(f, r, PREEMPTION_IN_COHORT_FAIR_SHARING))
			return true;
	}
	return false;
}

bool fair_may_give(const struct preemption *x, const struct clusterqueue *cq)
{
	const struct quota_node *mine = x->d->cq->node, *theirs = cq->node;
	if (cq == x->d->cq || x->takes_back)
		return true;
	demand_take(x->d);
	below_shared(&mine, &theirs);
	struct share a = share_of(mine), b = share_of(theirs);
	demand_give(x->d);
	int order = share_cmp(&a, &b);
	for (size_t i = 0; order == 0 && i < x->q->config.nfair_strategies; i++)
		order -= x->q->config.fair_strategy[i] == FAIR_LESS_THAN_OR_EQUAL_TO_FINAL_SHARE;
	return order < 0;
}

bool fair_still_borrows(const struct preemption *x, const struct clusterqueue *cq)
{
	return cq == x->d->cq || !x->takes_back || share_of(cq->node).borrows;
}

/* ---- Cheaper candidates instead ---- */

/* A kind is the candidates of one ClusterQueue that hold the same. Of each kind as many go as the
 * strategies chose, so all shares stay as they were. */
struct likes {
	size_t *away, *wanted; /* of each kind */
	size_t n, short_of;    /* kinds; kinds with too few away */
};

static void world_take(void *world, size_t i)
{
	const struct preemption *x = world;
	struct likes *l = x->likes;
	size_t k = x->candidates.who[i].likeness;
	l->short_of -= ++l->away[k] == l->wanted[k];
}

static void world_put_back(void *world, size_t i)
{
	const struct preemption *x = world;
	struct likes *l = x->likes;
	size_t k = x->candidates.who[i].likeness;
	l->short_of += l->away[k]-- == l->wanted[k];
}

static bool world_enough(void *world)
{
	return ((struct preemption *)world)->likes->short_of == 0;
}

/* A listed candidate of the same ClusterQueue that holds the same; NULL: there is none. */
static const struct candidate *like(const struct candidates *l, const struct reservation *r)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->who[i].reservation->cq == r->cq &&
			reservations_alike(l->who[i].reservation, r))
			return &l->who[i];
	return NULL;
}

static void line_up_victims(struct preemption *x, struct likes *likes)
{
	candidates_clear(&x->candidates);
	for (size_t i = 0; i < x->nvictims; i++) {
		struct candidate c = {
			.reservation = x->victim[i].reservation, .reason = x->victim[i].reason};
		c.source = candidate_source_of(x, c.reservation->cq);
		const struct candidate *one =
			costs_nothing(c.reservation) ? NULL : like(&x->candidates, c.reservation);
		c.likeness = one ? one->likeness : likes->n;
		likes->n += !one && !costs_nothing(c.reservation);
		likes->wanted[c.likeness] += !costs_nothing(c.reservation);
		candidates_add(&x->candidates, &c);
	}
	candidates_mark(x);
}

/* Adds candidates of one ClusterQueue that are like one of its victims. */
static void look_beyond(struct preemption *x, struct candidate_source *o, size_t most)
{
	candidate_source_rewind(x, o);
	while (o->next && most > 0) {
		struct candidate c = {.source = o, .reservation = candidate_source_take(x, o)};
		const struct candidate *one;
		if (costs_nothing(c.reservation) || victims_have(x, c.reservation))
			continue;
		most--;
		if (!(one = like(&x->candidates, c.reservation)))
			continue;
		c.reason = one->reason;
		c.likeness = one->likeness;
		candidates_add(&x->candidates, &c);
	}
}

static bool gives(const struct preemption *x, const struct candidate_source *o)
{
	for (size_t i = 0; i < x->candidates.n; i++)
		if (x->candidates.who[i].source == o)
			return true;
	return false;
}

/* The victims are away, and so are the cheaper ones that replace them. */
static void ease(struct preemption *x)
{
	struct likes likes = {.away = mem_array(x->nvictims, sizeof(*likes.away)),
		.wanted = mem_array(x->nvictims, sizeof(*likes.wanted))};
	struct victim_search victim_search = {
		.take = world_take, .put_back = world_put_back, .enough = world_enough};
	line_up_victims(x, &likes);
	for (size_t i = 0; i < x->nsources; i++)
		if (gives(x, &x->source[i]))
			look_beyond(x, &x->source[i], candidates_beyond_each(x->nsources));
	likes.short_of = likes.n;
	x->likes = &likes;
	if (!candidates_is_alike(x)) {
		victims_put_back(x);
		candidates_ease(x, &victim_search);
		candidates_displace(x);
	}
	x->likes = NULL;
	free(likes.away);
	free(likes.wanted);
}

/* ---- The search ---- */

/* Returns whether the nominee may ask other ClusterQueues. If it was displaced itself, then not for
 * the Jobs through which it was. */
static bool asks_others(struct preemption *x)
{
	const struct cohort_tree *cohort_tree = x->d->cq->cohort_tree;
	if (x->d->cq->spec.preemption.reclaim_within_cohort == PREEMPT_NEVER && !within_nominal(x))
		return false;
	return !workload_has_yielded(x->d->w, cohort_tree) ||
	       displacements_through(&cohort_tree->displacements, cohort_tree->news,
		       &x->d->w->key.uid, x->through, &x->nthrough);
}

static void ask_all(struct preemption *x)
{
	const struct cohort_tree *cohort_tree = x->d->cq->cohort_tree;
	bool others = asks_others(x);
	list_each_entry(&cohort_tree->members, struct clusterqueue, cq, of_cohort_tree) {
		if (cq == x->d->cq)
			candidate_source_add(x, cq, CANDIDATE_OWN, NULL);
		else if (others && cq->node && borrows_contested(x, cq->node))
			candidate_source_add(x, cq, CANDIDATE_PRIORITY, NULL);
	}
}

void find_fair(struct preemption *x)
{
	struct fair f = {.x = x};
	const struct queue_config *c = &x->q->config;
	demand_take(x->d);
	x->takes_back = within_nominal(x);
	ask_all(x);
	if (x->nsources == 0) {
		demand_give(x->d);
		return;
	}
	take_seats(&f);
	bool found = run_first(&f, c->fair_strategy[0]);
	if (!found && c->nfair_strategies > 1)
		found = run_second(&f);
	demand_give(x->d);
	if (found)
		victims_spare(x, true);
	if (found && x->lenient)
		ease(x);
	victims_put_back(x);
	if (!found)
		x->nvictims = 0;
	free(f.seat);
}
