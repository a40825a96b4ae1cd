#include "queue/core/preempt/pods_first.h"

#include <stdlib.h>

#include "queue/core/model/shrink.h"
#include "queue/core/preempt/giver.h"
#include "queue/core/preempt/preemption.h"

struct candidate_giver {
	struct giver giver;
	enum preemption_reason reason;
	const struct candidate_source *source; /* NULL: unknown */
};

struct pods_first {
	struct preemption *x;
	bool may_borrow;
	bool fair; /* victims were weighed against shares */
	struct candidate_giver who[2 * PODS_FIRST_MAX];
	size_t n;
};

static bool fits(const struct pods_first *p)
{
	return demand_fits(p->x->d, p->may_borrow);
}

/* ---- Who gives ---- */

static void add(struct pods_first *p, struct reservation *r, enum preemption_reason reason,
	const struct candidate_source *source)
{
	p->who[p->n++] = (struct candidate_giver){giver_of(r), reason, source};
}

/* The most important victim of a ClusterQueue, but for free ones; NULL: it has none. */
static const struct victim *most_important_of(
	const struct preemption *x, const struct clusterqueue *cq)
{
	const struct victim *most = NULL;
	for (size_t i = 0; i < x->nvictims; i++) {
		const struct victim *v = &x->victim[i];
		if (v->reservation->cq == cq && !costs_nothing(v->reservation) &&
			(!most || v->reservation->w->key.priority >
					  most->reservation->w->key.priority))
			most = v;
	}
	return most;
}

/* Shares are weighed of one ClusterQueue only: what stays of a victim counts against the next one. */
static bool is_of_one_queue(const struct preemption *x)
{
	const struct clusterqueue *cq = NULL;
	for (size_t i = 0; i < x->nvictims; i++) {
		const struct reservation *r = x->victim[i].reservation;
		if (costs_nothing(r))
			continue;
		if (cq && r->cq != cq)
			return false;
		cq = r->cq;
	}
	return true;
}

/* Other runs of the rank of a victim that can give pods. One that a PodDisruptionBudget guards gives
 * none to spare another. */
static void add_rank(struct pods_first *p, struct candidate_source *o)
{
	struct preemption *x = p->x;
	const struct victim *top = most_important_of(x, o->cq);
	if (!top)
		return;
	candidate_source_rewind(x, o);
	for (size_t asked = 0; o->next && asked < PODS_FIRST_MAX && p->n < 2 * PODS_FIRST_MAX;
		asked++) {
		struct reservation *r = candidate_source_take(x, o);
		int32_t least;
		if (costs_nothing(r) || victims_have(x, r) || !giving_may(r, &least) ||
			disruption_guards(x->q, r))
			continue;
		if (r->w->key.priority > top->reservation->w->key.priority)
			return;
		if (p->fair || classic_may_give(x, o, r, p->may_borrow))
			add(p, r, top->reason, o);
	}
}

/* The most important first. */
static int by_importance(const void *a, const void *b)
{
	const struct candidate_giver *x = a, *y = b;
	return reservation_cmp(y->giver.r, x->giver.r);
}

static bool any_can(const struct pods_first *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->who[i].giver.least > 0)
			return true;
	return false;
}

/* The victims first. False: there is nothing to choose, or too much. */
static bool gather(struct pods_first *p)
{
	struct preemption *x = p->x;
	if (p->fair && !is_of_one_queue(x))
		return false;
	for (size_t i = 0; i < x->nvictims; i++) {
		struct reservation *r = x->victim[i].reservation;
		if (costs_nothing(r))
			continue;
		if (p->n == PODS_FIRST_MAX)
			return false;
		add(p, r, x->victim[i].reason, candidate_source_of(x, r->cq));
	}
	for (size_t i = 0; i < x->nsources; i++)
		add_rank(p, &x->source[i]);
	return any_can(p);
}

/* ---- How many pods each keeps ---- */

static void stay_if_can(const struct pods_first *p, struct giver *g)
{
	giver_keep(g, g->least > 0 ? g->least : g->most);
	if (!fits(p))
		giver_keep(g, 0);
}

static bool fits_with(const void *search, const struct giver *g)
{
	(void)g;
	return fits(search);
}

/* All others have given: may this one? */
static bool may_give(const struct pods_first *p, const struct candidate_giver *c)
{
	if (!c->source)
		return true; /* for a window: all may */
	return p->fair ? fair_still_borrows(p->x, c->source->cq)
		       : classic_may_give(p->x, c->source, c->giver.r, p->may_borrow);
}

/* Is there an order in which all may give what they give? Each is tried as the last one. */
static bool is_legal(struct pods_first *p)
{
	int32_t keeps[2 * PODS_FIRST_MAX];
	size_t left = 0;
	bool more = true;
	for (size_t i = 0; i < p->n; i++) {
		keeps[i] = p->who[i].giver.keeps;
		left += keeps[i] < p->who[i].giver.most;
	}
	while (more && left > 0) {
		more = false;
		for (size_t i = 0; i < p->n; i++) {
			struct giver *g = &p->who[i].giver;
			if (g->keeps == g->most)
				continue;
			giver_keep(g, g->most);
			if (!may_give(p, &p->who[i])) {
				giver_keep(g, keeps[i]);
				continue;
			}
			more = true;
			left--;
		}
	}
	for (size_t i = 0; i < p->n; i++)
		giver_keep(&p->who[i].giver, keeps[i]);
	return left == 0;
}

/* All victims are away, but for those that are givers. False: there is no better set. */
static bool choose(struct pods_first *p, size_t nvictims)
{
	for (size_t i = 0; i < p->n; i++)
		giver_keep(&p->who[i].giver, i < nvictims ? 0 : p->who[i].giver.least);
	qsort(p->who, p->n, sizeof(p->who[0]), by_importance);
	if (!fits(p))
		return false;
	for (size_t i = 0; i < p->n; i++)
		if (p->who[i].giver.keeps == 0)
			stay_if_can(p, &p->who[i].giver);
	for (size_t i = 0; i < p->n; i++)
		if (p->who[i].giver.keeps > 0)
			giver_keep_most(&p->who[i].giver, p->who[i].giver.keeps, fits_with, p);
	return (!p->fair || fair_may_give(p->x, p->who[0].giver.r->cq)) && is_legal(p);
}

/* ---- The victims ---- */

/* Makes those that give the victims. Free ones stand before the others, and stay. */
static void replace(struct pods_first *p)
{
	struct preemption *x = p->x;
	size_t free = 0;
	for (size_t i = 0; i < x->nvictims; i++)
		if (costs_nothing(x->victim[i].reservation))
			x->victim[free++] = x->victim[i];
	x->nvictims = free;
	for (size_t i = p->n; i-- > 0;) {
		struct giver *g = &p->who[i].giver;
		int32_t keeps = g->keeps;
		if (keeps == g->most)
			continue;
		giver_keep(g, g->most);
		victim_add(x, g->r, p->who[i].reason);
		x->victim[x->nvictims - 1].keeps = keeps;
		reservation_put_back(g->r);
	}
}

static void lessen(struct preemption *x, bool may_borrow, bool fair)
{
	struct pods_first p = {.x = x, .may_borrow = may_borrow, .fair = fair};
	if (!gather(&p))
		return;
	size_t givers = 0;
	for (size_t i = 0; i < x->nvictims; i++) {
		if (costs_nothing(x->victim[i].reservation))
			reservation_take_away(x->victim[i].reservation);
		else
			givers++;
	}
	if (choose(&p, givers))
		replace(&p);
	for (size_t i = 0; i < p.n; i++)
		giver_keep(&p.who[i].giver, p.who[i].giver.most);
	for (size_t i = 0; i < x->nvictims; i++)
		if (costs_nothing(x->victim[i].reservation))
			reservation_put_back(x->victim[i].reservation);
}

size_t pods_first(struct queue *q, const struct demand *d, bool takes_back,
	const struct victim **ret, size_t n)
{
	struct preemption *x = q->preemption;
	if (q->moldable == 0 || q->config.victims_as_kueue || n == 0)
		return n;
	x->d = d;
	bool fair = q->config.fair_sharing;
	lessen(x, !takes_back && (fair || !x->takes_back), fair);
	*ret = x->victim;
	return x->nvictims;
}

void pods_first_for_window(struct preemption *x)
{
	if (x->q->moldable > 0)
		lessen(x, true, false);
}
