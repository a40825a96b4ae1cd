#include "queue/offer.h"

#include <stdlib.h>

#include "queue/backfill.h"
#include "queue/partial.h"
#include "queue/precedence.h"

/* More fresh groups than this are cheaper to find by a search. */
#define FRESH_MAX 64

struct look {
	struct queue *q;
	struct walk *walk;
};

/* ---- Can it start? ---- */

bool entry_demand(const struct entry *e, struct demand *ret)
{
	demand_init(ret, e->w, e->cq, &e->group->claim, &e->choice);
	return ret->nlines > 0;
}

size_t entry_victims(struct queue *q, const struct entry *e, const struct victim **ret)
{
	struct demand d;
	return entry_demand(e, &d) ? victims_find(q, &d, ret) : 0;
}

/* With the flavors behind `after` (NULL: from the first): fits, or somebody can be displaced for
 * it, or it would do with fewer pods. */
static bool can_start_after(struct queue *q, struct entry *e, const struct choice *after)
{
	const struct victim *victim;
	const struct claim *claim = &e->group->claim;
	e->verdict =
		assign_flavors(q, e->cq, claim, e->w, e->group->shape->pods, after, &e->choice);
	if (e->verdict == ASSIGN_FITS ||
		(e->verdict == ASSIGN_PREEMPTS && entry_victims(q, e, &victim) > 0))
		return true;
	struct choice choice;
	enum assign_verdict fewer = partial_find(q, e->cq, claim, e->w, after, &choice);
	if (fewer < ASSIGN_PREEMPTS)
		return false;
	e->verdict = fewer;
	e->choice = choice;
	return true;
}

/* The flavors are tried on as long as nothing comes of those before. False: *e is as for the first
 * of them. */
static bool can_start(struct queue *q, struct entry *e)
{
	if (can_start_after(q, e, NULL))
		return true;
	if (e->verdict != ASSIGN_PREEMPTS || !choice_goes_on(e->cq, &e->choice))
		return false;
	struct entry next = *e;
	do {
		struct choice after = next.choice;
		if (can_start_after(q, &next, &after)) {
			*e = next;
			return true;
		}
	} while (next.verdict == ASSIGN_PREEMPTS && choice_goes_on(e->cq, &next.choice));
	return false;
}

/* ---- Backfill: may it pass? ---- */

/* Who wants so much and is expected to take so long: could it pass the one who is blocked? */
static bool may_pass(const struct look *l, const int64_t *want, int64_t expected_ms)
{
	const struct walk *w = l->walk;
	return !w->blocked ||
	       (expected_ms != INT64_MAX &&
		       backfill_end_ms(expected_ms, l->q->now_ms) <= w->cq->reservation->at_ms) ||
	       keys_may_fit(w->cq, want, w->spare);
}

/* The offer can start; now it must not delay the one who is blocked, on whatever flavor. */
static bool passes(struct look *l)
{
	struct entry *e = &l->walk->offer;
	struct queue *q = l->q;
	const struct claim *claim = &e->group->claim;
	while (l->walk->blocked &&
		!backfill_lets(e->cq, e->group, &e->choice, e->verdict != ASSIGN_FITS, q->now_ms)) {
		struct choice last = e->choice;
		if (e->verdict != ASSIGN_FITS || !choice_goes_on(e->cq, &last))
			return false;
		e->verdict = assign_flavors(
			q, e->cq, claim, e->w, e->group->shape->pods, &last, &e->choice);
		if (e->verdict != ASSIGN_FITS)
			return false;
	}
	return true;
}

/* ---- May it be paid for? ---- */

/* The offer can start; what it is expected to cost must be left in all Budgets, on whatever flavor.
 */
static bool is_affordable(struct look *l)
{
	struct entry *e = &l->walk->offer;
	struct queue *q = l->q;
	while (!budget_lets(q, e, NULL)) {
		struct choice last = e->choice;
		if (e->verdict != ASSIGN_FITS || !choice_goes_on(e->cq, &last))
			return false;
		e->verdict = assign_flavors(
			q, e->cq, &e->group->claim, e->w, e->group->shape->pods, &last, &e->choice);
		if (e->verdict != ASSIGN_FITS)
			return false;
	}
	return true;
}

/* ---- Who is first? ---- */

static bool judge(struct look *l, struct group *g)
{
	l->walk->offer = (struct entry){.cq = l->walk->cq, .group = g, .w = group_head(g)};
	return can_start(l->q, &l->walk->offer) && is_affordable(l) && passes(l);
}

static bool subtree_may(const struct tree_node *n, void *ctx)
{
	const struct walk *w = ((const struct look *)ctx)->walk;
	const struct group *g = container_of_const(n, struct group, node);
	const int64_t *least = g->claim.least;
	return (keys_may_fit(w->cq, least, w->free) &&
		       may_pass((const struct look *)ctx, least, g->least_expected_ms)) ||
	       (w->displaces_from <= INT32_MAX && keys_may_fit(w->cq, least, w->potential));
}

static bool group_may(const struct tree_node *n, void *ctx)
{
	struct look *l = ctx;
	struct group *g = (struct group *)container_of_const(n, struct group, node);
	if (!keys_may_fit(l->walk->cq, g->claim.want, l->walk->free) &&
		(g->key.priority < l->walk->displaces_from ||
			!keys_may_fit(l->walk->cq, g->claim.want, l->walk->potential)))
		return false;
	return judge(l, g);
}

/* It had its turn, or others have to be asked first. */
static bool was_passed(const struct walk *w, const struct group *g)
{
	bool walked = g->lq ? g->lq->walked : w->walked;
	return walked && order_cmp(&g->key, g->lq ? &g->lq->behind : &w->behind.key) <= 0;
}

/* At most FRESH_MAX, in the order of the queue. */
static size_t fresh_in_order(struct look *l, struct group *ret[FRESH_MAX])
{
	size_t n = 0;
	list_each(&l->walk->cq->fresh, f)
	{
		struct group *g = container_of(f, struct group, fresh);
		size_t at = n++;
		for (; at > 0 && precedence_before(l->q, g, ret[at - 1]); at--)
			ret[at] = ret[at - 1];
		ret[at] = g;
	}
	return n;
}

/* Those before the one that is found could not start, and are fresh no longer; those behind it are
 * asked after its turn, as in a search. */
static bool offer_fresh(struct look *l)
{
	struct group *fresh[FRESH_MAX];
	size_t n = fresh_in_order(l, fresh);
	for (size_t i = 0; i < n; i++) {
		if (!was_passed(l->walk, fresh[i]) && group_may(&fresh[i]->node, l))
			return true;
		group_judged(fresh[i]);
	}
	l->walk->offer = (struct entry){0};
	return false;
}

static bool offer_by_search(struct look *l)
{
	struct tree_search search = {subtree_may, group_may, l};
	return tree_seek(&l->walk->cq->groups_waiting,
		       l->walk->walked ? &l->walk->behind.node : NULL, &search) != NULL;
}

static bool seek_line(struct look *l, const struct localqueue *lq)
{
	struct tree_search search = {subtree_may, group_may, l};
	struct group behind = {.key = lq->behind};
	return tree_seek(&lq->groups_waiting, lq->walked ? &behind.node : NULL, &search) != NULL;
}

/* Of the LocalQueue that used least, or of those that used as little, the first in order. */
static bool offer_by_usage(struct look *l)
{
	size_t n, found = 0;
	struct entry best = {0};
	struct precedence *line = precedence_lines(l->q, l->walk->cq, &n);
	for (size_t i = 0; i < n; i++) {
		if (best.group && line[i].usage > line[found].usage)
			break;
		if (!seek_line(l, line[i].lq) ||
			(best.group && order_cmp(&best.group->key, &l->walk->offer.group->key) < 0))
			continue;
		best = l->walk->offer;
		found = i;
	}
	free(line);
	l->walk->offer = best;
	return best.group != NULL;
}

const struct workload *offer_returns_before(
	const struct clusterqueue *cq, const struct order_key *key)
{
	if (cq->nleaving == 0)
		return NULL;
	list_each(&cq->rooms, l)
	{
		const struct room *r = container_of(l, struct room, of_clusterqueue);
		if (r->state == ROOM_LEAVING && r->preemption != PREEMPTION_NONE &&
			order_cmp(&r->w->key, key) < 0 && workload_returns(r->w, cq))
			return r->w;
	}
	return NULL;
}

/* Judged though it may be plain that it cannot start: what it would take says what is kept for it.
 * What one that returns leaves behind is nothing for those behind it. */
static bool offer_head(struct look *l)
{
	struct group *g = precedence_first(l->q, l->walk->cq);
	return g && !offer_returns_before(l->walk->cq, &g->key) && judge(l, g);
}

static bool subtree_possible(const struct tree_node *n, void *ctx)
{
	const struct walk *w = ((const struct look *)ctx)->walk;
	return keys_may_fit(
		w->cq, container_of_const(n, struct group, node)->claim.least, w->potential);
}

static bool group_possible(const struct tree_node *n, void *ctx)
{
	const struct walk *w = ((const struct look *)ctx)->walk;
	return backfill_possible(w->cq, container_of_const(n, struct group, node));
}

/* The first in order that could run at some time. */
static struct group *first_possible(struct look *l)
{
	const struct clusterqueue *cq = l->walk->cq;
	struct tree_search search = {subtree_possible, group_possible, l};
	struct tree_node *n = tree_seek(&cq->groups_waiting, NULL, &search);
	struct group *best = n ? container_of(n, struct group, node) : NULL;
	list_each(&cq->localqueues, f)
	{
		n = tree_seek(&container_of(f, struct localqueue, of_clusterqueue)->groups_waiting,
			NULL, &search);
		struct group *g = n ? container_of(n, struct group, node) : NULL;
		if (g && (!best || precedence_before(l->q, g, best)))
			best = g;
	}
	return best;
}

/* Backfill: the first in order starts, or gets a reservation. In a Cohort that is made anew each
 * time, because others take part. */
static bool offer_first(struct look *l)
{
	struct walk *w = l->walk;
	keys_available(w->cq, KEYS_POTENTIAL, w->potential);
	struct group *head = w->blocked ? w->blocked : first_possible(l);
	if (!head) {
		backfill_end(l->q, w->cq);
		return false;
	}
	if (!w->blocked && group_may(&head->node, l))
		return true;
	if (!w->blocked && !backfill_is_head(w->cq, group_head(head)))
		w->cq->search = true;
	if (!w->blocked || w->cq->node->parent)
		backfill_reserve(l->q, w->cq, head);
	w->blocked = head;
	backfill_keys(w->cq, w->spare);
	return false;
}

bool walk_offers(struct queue *q, struct walk *w)
{
	struct look look = {q, w};
	if (w->over)
		return false;
	w->offer = (struct entry){0};
	keys_available(w->cq, KEYS_FREE, w->free);
	w->displaces_from = victims_from(w->cq);
	if (w->displaces_from <= INT32_MAX)
		keys_available(w->cq, KEYS_POTENTIAL, w->potential);
	if (w->cq->strategy == STRICT_FIFO)
		return offer_head(&look);
	if (w->cq->strategy == BACKFILL && offer_first(&look))
		return true;
	if (!w->cq->search && w->cq->nfresh <= FRESH_MAX)
		return offer_fresh(&look);
	return w->cq->orders_by_usage ? offer_by_usage(&look) : offer_by_search(&look);
}

void walk_begin(struct queue *q, struct walk *w, struct clusterqueue *cq)
{
	if (cq->nfresh > FRESH_MAX)
		cq->search = true;
	*w = (struct walk){.cq = cq,
		.over = !clusterqueue_active(cq) || plan_holds(q, cq) || budget_holds_all(q, cq)};
	list_each(&cq->localqueues, l) container_of(l, struct localqueue, of_clusterqueue)->walked =
		false;
}

void walk_on(struct walk *w, struct localqueue *lq, const struct order_key *key)
{
	if (lq) {
		lq->walked = true;
		lq->behind = *key;
		return;
	}
	w->walked = true;
	w->behind.key = *key;
}
