#include "queue/core/preempt/pods_first.h"

#include <stdlib.h>

#include "queue/core/model/shrink.h"
#include "queue/core/preempt/preemption.h"

struct giver {
	struct reservation *r;
	enum preemption_reason reason;
	const struct candidate_source *source; /* NULL: unknown */
	int32_t least;			       /* it can do with so few; 0: it can only stop */
	int32_t most;			       /* that it has THEN */
	int32_t keeps;			       /* 0: it stops */
};

struct pods_first {
	struct preemption *x;
	bool may_borrow;
	bool fair; /* victims were weighed against shares */
	struct giver giver[2 * PODS_FIRST_MAX];
	size_t n;
};

/* ---- What a giver takes of quota ---- */

static void keep(struct giver *g, int32_t keeps)
{
	for (size_t i = 0; i < g->r->nlines; i++) {
		struct quota_row *row = g->r->line[i].row;
		int64_t was = reservation_then(g->r, i, g->keeps);
		int64_t is = reservation_then(g->r, i, keeps);
		if (is > was)
			quota_take(row, QUOTA_THEN, is - was);
		else
			quota_give(row, QUOTA_THEN, was - is);
	}
	g->keeps = keeps;
}

static void keep_all(struct pods_first *p)
{
	for (size_t i = 0; i < p->n; i++)
		keep(&p->giver[i], p->giver[i].most);
}

static bool fits(const struct pods_first *p)
{
	return demand_fits(p->x->d, p->may_borrow);
}

/* ---- Who gives ---- */

static void giver_add(struct pods_first *p, struct reservation *r, enum preemption_reason reason,
	const struct candidate_source *source)
{
	struct giver *g = &p->giver[p->n++];
	*g = (struct giver){.r = r, .reason = reason, .source = source};
	g->keeps = g->most = reservation_pods_then(r);
	if (!giving_may(r, &g->least))
		g->least = 0;
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
			giver_add(p, r, top->reason, o);
	}
}

static const struct candidate_source *source_of(
	const struct preemption *x, const struct reservation *r)
{
	for (size_t i = 0; i < x->nsources; i++)
		if (x->source[i].cq == r->cq)
			return &x->source[i];
	return NULL;
}

static int by_importance(const void *a, const void *b)
{
	return reservation_cmp(((const struct giver *)b)->r, ((const struct giver *)a)->r);
}

static bool any_can(const struct pods_first *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->giver[i].least > 0)
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
		giver_add(p, r, x->victim[i].reason, source_of(x, r));
	}
	for (size_t i = 0; i < x->nsources; i++)
		add_rank(p, &x->source[i]);
	return any_can(p);
}

/* ---- How many pods each keeps ---- */

static void stay_if_can(struct pods_first *p, struct giver *g)
{
	int32_t with = g->least > 0 ? g->least : g->most;
	keep(g, with);
	if (!fits(p))
		keep(g, 0);
}

static void keep_most(struct pods_first *p, struct giver *g)
{
	int32_t low = g->keeps, high = g->most;
	while (low < high) {
		int32_t pods = low + (high - low + 1) / 2;
		keep(g, pods);
		if (fits(p))
			low = pods;
		else
			high = pods - 1;
	}
	keep(g, low);
}

/* All others have given: may this one? */
static bool may_give(const struct pods_first *p, const struct giver *g)
{
	if (!g->source)
		return true; /* for a window: all may */
	return p->fair ? fair_still_borrows(p->x, g->source->cq)
		       : classic_may_give(p->x, g->source, g->r, p->may_borrow);
}

/* Is there an order in which all may give what they give? Each is tried as the last one. */
static bool is_legal(struct pods_first *p)
{
	int32_t keeps[2 * PODS_FIRST_MAX];
	size_t left = 0;
	bool more = true;
	for (size_t i = 0; i < p->n; i++) {
		keeps[i] = p->giver[i].keeps;
		left += keeps[i] < p->giver[i].most;
	}
	while (more && left > 0) {
		more = false;
		for (size_t i = 0; i < p->n; i++) {
			struct giver *g = &p->giver[i];
			int32_t gives = g->keeps;
			if (gives == g->most)
				continue;
			keep(g, g->most);
			if (!may_give(p, g)) {
				keep(g, gives);
				continue;
			}
			more = true;
			left--;
		}
	}
	for (size_t i = 0; i < p->n; i++)
		keep(&p->giver[i], keeps[i]);
	return left == 0;
}

/* All victims are away, but for those that are givers. False: all are as before. */
static bool choose(struct pods_first *p, size_t nvictims)
{
	for (size_t i = 0; i < p->n; i++)
		keep(&p->giver[i], i < nvictims ? 0 : p->giver[i].least);
	qsort(p->giver, p->n, sizeof(p->giver[0]), by_importance);
	if (!fits(p))
		return false;
	for (size_t i = 0; i < p->n; i++)
		if (p->giver[i].keeps == 0)
			stay_if_can(p, &p->giver[i]);
	for (size_t i = 0; i < p->n; i++)
		if (p->giver[i].keeps > 0)
			keep_most(p, &p->giver[i]);
	return (!p->fair || fair_may_give(p->x, p->giver[0].r->cq)) && is_legal(p);
}

/* ---- The victims ---- */

/* Free ones stand before the others, and stay. */
static void replace(struct pods_first *p)
{
	struct preemption *x = p->x;
	size_t free = 0;
	for (size_t i = 0; i < x->nvictims; i++)
		if (costs_nothing(x->victim[i].reservation))
			x->victim[free++] = x->victim[i];
	x->nvictims = free;
	for (size_t i = p->n; i-- > 0;) {
		struct giver *g = &p->giver[i];
		if (g->keeps == g->most)
			continue;
		victim_add(x, g->r, g->reason);
		x->victim[x->nvictims - 1].keeps = g->keeps;
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
	bool better = choose(&p, givers);
	struct pods_first found = p;
	keep_all(&p);
	for (size_t i = 0; i < x->nvictims; i++)
		if (costs_nothing(x->victim[i].reservation))
			reservation_put_back(x->victim[i].reservation);
	if (better)
		replace(&found);
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
