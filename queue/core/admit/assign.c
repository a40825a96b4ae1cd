#include "queue/core/admit/assign.h"

#include "queue/core/model/state.h"
#include "queue/core/model/workload.h"
#include "queue/core/preempt/preemption.h"
#include "queue/core/preempt/victims.h"
#include "queue/requests/shape.h"

/* The search may go round for ever: it gives up after so many tries. */
#define TRIES_MAX 64

/* How a flavor can be had, worst first. */
enum way {
	WAY_NEVER,    /* more than it could ever give */
	WAY_BUSY,     /* not now, and it may not preempt for it */
	WAY_NOBODY,   /* it may preempt, but there are no victims */
	WAY_DISPLACE, /* by preempting, also in its own ClusterQueue */
	WAY_RECLAIM,  /* by preempting only in other ClusterQueues */
	WAY_AWAIT,    /* as soon as victims of earlier decisions are gone */
	WAY_FIT,
};

struct chance {
	enum way way;	/* the worst of its resources */
	uint32_t level; /* how far it would borrow: the largest of its resources */
	bool from_gaps; /* it stops runs that only the rule for gap fillers gives it */
};

struct asker {
	struct queue *q;
	struct clusterqueue *cq;
	const struct claim *claim;
	const struct workload *w;
	int32_t pods;
	bool displaces;
};

/* ---- One resource of one flavor ---- */

static bool may_displace_while_borrowing(const struct asker *a)
{
	const struct preemption_spec *p = &a->cq->spec.preemption;
	return p->borrow_within_cohort ||
	       (a->q->config.fair_sharing && p->reclaim_within_cohort != PREEMPT_NEVER);
}

/* reclaimWithinCohort is Never: nothing else allows to stop a run of another ClusterQueue. */
static bool is_from_gaps(const struct asker *a, const struct victim *v)
{
	return v->reservation->cq != a->cq &&
	       a->cq->spec.preemption.reclaim_within_cohort == PREEMPT_NEVER;
}

/* Looks for victims as if nothing else were asked for. */
static struct chance chance_to_displace(
	const struct asker *a, struct quota_row *row, int64_t amount, uint32_t level)
{
	const struct victim *victim;
	struct demand d = {.w = a->w, .cq = a->cq, .nlines = 1, .line = {{row, amount, true}}};
	size_t n = victims_plain(a->q, &d, &victim);
	if (n == 0)
		return (struct chance){WAY_NOBODY, level, false};

	struct chance c = {WAY_RECLAIM, 0, false};
	for (size_t i = 0; i < n; i++) {
		if (victim[i].reservation->cq == a->cq)
			c.way = WAY_DISPLACE;
		c.from_gaps = c.from_gaps || is_from_gaps(a, &victim[i]);
		reservation_take_away(victim[i].reservation);
	}
	bool inside;
	c.level = quota_borrow_level(row, QUOTA_THEN, amount, &inside);
	for (size_t i = 0; i < n; i++)
		reservation_put_back(victim[i].reservation);
	return c;
}

/* A gap filler does not wait for victims to leave. */
static enum way way_to_free(const struct workload *w, const struct quota_row *row, int64_t amount)
{
	if (quota_has(row, QUOTA_NOW, amount))
		return WAY_FIT;
	return workload_fills_gaps(w) ? WAY_BUSY : WAY_AWAIT;
}

static struct chance chance_of(const struct asker *a, struct quota_row *row, const struct need *n)
{
	bool inside;
	int64_t amount = need_amount(n, a->pods);
	if (!quota_fits(amount, quota_potential(row)) || need_too_large(row, n))
		return (struct chance){WAY_NEVER, 0, false};
	uint32_t level = quota_borrow_level(row, QUOTA_THEN, amount, &inside);
	if (quota_has(row, QUOTA_THEN, amount))
		return (struct chance){way_to_free(a->w, row, amount), level, false};
	if (!a->displaces)
		return (struct chance){WAY_BUSY, level, false};
	if (amount <= row->nominal || inside || may_displace_while_borrowing(a))
		return chance_to_displace(a, row, amount, level);
	return (struct chance){WAY_BUSY, level, false};
}

/* ---- One flavor against another ---- */

/* 0: no; 1: in principle, but not now; 2: yes. Compared first. */
static int viable(enum way way)
{
	return way <= WAY_BUSY ? 0 : way == WAY_NOBODY ? 1 : 2;
}

/* By gap fillers: behind every flavor that fits, however far that borrows. */
static uint32_t level_as_judged(struct chance c)
{
	return c.from_gaps ? UINT32_MAX : c.level;
}

static bool is_better(const struct fungibility_spec *f, struct chance a, struct chance b)
{
	uint32_t mine = level_as_judged(a), other = level_as_judged(b);
	if (viable(a.way) != viable(b.way))
		return viable(a.way) > viable(b.way);
	if (viable(a.way) == 0)
		return a.way > b.way;
	if (f->prefer_preemption && mine != other)
		return mine < other;
	return a.way != b.way ? a.way > b.way : mine < other;
}

static bool tries_next(const struct fungibility_spec *f, struct chance c)
{
	if (viable(c.way) < 2 || c.from_gaps)
		return true;
	if (c.way < WAY_FIT && !f->stop_when_preempting)
		return true;
	return c.level > 0 && f->next_when_borrowing;
}

/* ---- One resource group ---- */

struct tried {
	struct chance chance;
	uint8_t flavor;
	uint64_t contested;
};

static void add_resource(struct chance *all, struct chance c)
{
	all->way = c.way < all->way ? c.way : all->way;
	all->level = c.level > all->level ? c.level : all->level;
	all->from_gaps = all->from_gaps || c.from_gaps;
}

static struct tried try_flavor(const struct asker *a, size_t group, size_t flavor)
{
	const struct resource_group *g = &a->cq->spec.groups[group];
	size_t n;
	const struct need *need = claim_needs(a->claim, group, &n);
	struct tried t = {{WAY_FIT, 0, false}, (uint8_t)flavor, 0};
	for (size_t i = 0; i < n && viable(t.chance.way) > 0; i++) {
		struct quota_row *row = group_row(g, flavor, need[i].resource);
		struct chance c = chance_of(a, row, &need[i]);
		add_resource(&t.chance, c);
		if (c.way < WAY_AWAIT)
			t.contested |= (uint64_t)1 << need[i].resource;
	}
	return t;
}

static enum assign_verdict verdict_of(enum way way)
{
	switch (way) {
	case WAY_NEVER:
		return ASSIGN_EXCEEDS;
	case WAY_BUSY:
		return ASSIGN_BUSY;
	case WAY_NOBODY:
	case WAY_DISPLACE:
	case WAY_RECLAIM:
		return ASSIGN_PREEMPTS;
	case WAY_AWAIT:
	case WAY_FIT:
		return ASSIGN_FITS;
	}
	return ASSIGN_BUSY;
}

/* Tries the flavors from `from` on. */
static enum assign_verdict choose_group(
	const struct asker *a, size_t group, size_t from, struct choice *choice)
{
	const struct resource_group *g = &a->cq->spec.groups[group];
	struct tried best = {.chance = {WAY_NEVER, UINT32_MAX, false}};
	bool any = false, stop = false;
	size_t f = from;
	for (; f < g->nflavors && !stop; f++) {
		if (!claim_suits(a->claim, group, f))
			continue;
		struct tried t = try_flavor(a, group, f);
		stop = !tries_next(&a->cq->spec.fungibility, t.chance);
		if (!any || stop || is_better(&a->cq->spec.fungibility, t.chance, best.chance))
			best = t;
		any = true;
	}
	if (!any)
		return plain_fit_untried(g);
	choice->flavor[group] = best.flavor;
	choice->contested[group] = best.contested;
	choice->next[group] = (uint8_t)(f < g->nflavors ? f : 0);
	if (best.chance.level > choice->level)
		choice->level = best.chance.level;
	return verdict_of(best.chance.way);
}

bool choice_goes_on(const struct clusterqueue *cq, const struct choice *c)
{
	for (size_t g = 0; g < cq->spec.ngroups; g++)
		if (c->next[g] > 0)
			return c->tries < TRIES_MAX;
	return false;
}

static enum assign_verdict choose_all(
	const struct asker *a, const struct choice *after, struct choice *ret_choice)
{
	enum assign_verdict worst = ASSIGN_FITS;
	struct choice choice = {.pods = a->pods, .tries = after ? after->tries + 1 : 1};
	if (a->claim->uncovered)
		return ASSIGN_UNCOVERED;
	for (size_t g = 0; g < a->cq->spec.ngroups; g++) {
		size_t needs;
		claim_needs(a->claim, g, &needs);
		if (needs == 0)
			continue;
		enum assign_verdict v = choose_group(a, g, after ? after->next[g] : 0, &choice);
		if (v < worst)
			worst = v;
	}
	*ret_choice = choice;
	return worst;
}

enum assign_verdict assign_flavors(struct queue *q, struct clusterqueue *cq, const struct claim *c,
	const struct workload *w, int32_t pods, const struct choice *after,
	struct choice *ret_choice)
{
	struct asker a = {q, cq, c, w, pods, workload_displaces(w)};
	return choose_all(&a, after, ret_choice);
}

enum assign_verdict assign_beside(struct queue *q, struct clusterqueue *cq, const struct claim *c,
	const struct workload *w, int32_t pods, struct choice *ret_choice)
{
	struct asker a = {q, cq, c, w, pods, false};
	return choose_all(&a, NULL, ret_choice);
}

/* ---- With fewer pods ---- */

static enum assign_verdict with_pods(struct queue *q, struct clusterqueue *cq,
	const struct claim *c, const struct workload *w, int32_t pods, const struct choice *after,
	struct choice *ret)
{
	struct demand d;
	const struct victim *victim;
	enum assign_verdict v = assign_flavors(q, cq, c, w, pods, after, ret);
	if (v != ASSIGN_PREEMPTS)
		return v;
	demand_init(&d, w, cq, c, ret);
	if (victims_plain(q, &d, &victim) > 0)
		return v;
	if (choice_goes_on(cq, ret))
		return ASSIGN_BUSY;
	/* A flavor that fits may have been skipped. */
	v = assign_beside(q, cq, c, w, pods, ret);
	return v == ASSIGN_FITS ? v : ASSIGN_BUSY;
}

enum assign_verdict partial_find(struct queue *q, struct clusterqueue *cq, const struct claim *c,
	const struct workload *w, int32_t most, const struct choice *after,
	struct choice *ret_choice)
{
	enum assign_verdict found = ASSIGN_BUSY;
	int32_t none = most - w->shape->min_pods + 1, least = 0;
	if (w->shape->min_pods >= most)
		return found;
	while (least < none) { /* how many fewer */
		struct choice choice;
		int32_t fewer = least + (none - least) / 2;
		enum assign_verdict v = with_pods(q, cq, c, w, most - fewer, after, &choice);
		if (v >= ASSIGN_PREEMPTS) {
			found = v;
			*ret_choice = choice;
			none = fewer;
		} else {
			least = fewer + 1;
		}
	}
	return found;
}
