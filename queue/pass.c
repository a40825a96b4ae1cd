#include "queue/pass.h"

#include <stdlib.h>

#include "base/mem.h"
#include "queue/assign.h"
#include "queue/backfill.h"
#include "queue/contest.h"
#include "queue/partial.h"
#include "queue/precedence.h"
#include "queue/room.h"
#include "queue/victims.h"

/* More fresh groups than this are cheaper to find by a search. */
#define FRESH_MAX 64

/* Where one ClusterQueue stands in the pass. */
struct walk {
	struct clusterqueue *cq;
	bool over;   /* nothing of it can start any more in this pass */
	bool walked; /* ... behind this place: */
	struct group behind;
	int64_t free[KEYS_MAX], potential[KEYS_MAX]; /* of each key */
	int64_t displaces_from;			     /* victims_from() */

	/* Backfill: who is first and cannot start, so that others have to let it pass. */
	struct group *blocked;
	int64_t spare[KEYS_MAX];

	struct entry offer;
};

/* What a StrictFIFO head could take back from its Cohort: nobody else is to have it meanwhile. */
struct reserve {
	struct quota_row *row;
	int64_t amount;
};

struct pass {
	struct queue *q;
	struct realm *realm;
	struct walk *walk;
	struct entry *entry; /* of the round */
	size_t nwalks, nentries;
	struct reserve *reserve; /* of the round */
	size_t nreserves, reserves_room;
	struct decision *out;
	size_t n, cap;
	bool full; /* somebody could start, but out is full */
};

/* Looks again, within one pass, at who was over: each time somebody was displaced. */
#define LOOKS_MAX 64

/* ---- One ClusterQueue's offer ---- */

struct look {
	struct pass *pass;
	struct walk *walk;
};

static bool demand_of(const struct entry *e, struct demand *ret)
{
	demand_init(ret, e->w, e->cq, &e->group->claim, &e->choice);
	return ret->nlines > 0;
}

static size_t find_victims(struct queue *q, const struct entry *e, const struct victim **ret)
{
	struct demand d;
	return demand_of(e, &d) ? victims_find(q, &d, ret) : 0;
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
		(e->verdict == ASSIGN_PREEMPTS && find_victims(q, e, &victim) > 0))
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

/* Who wants so much and is expected to take so long: could it pass the one who is blocked? */
static bool may_pass(const struct look *l, const int64_t *want, int64_t expected_ms)
{
	const struct walk *w = l->walk;
	return !w->blocked ||
	       (expected_ms != INT64_MAX && backfill_end_ms(expected_ms, l->pass->q->now_ms) <=
						    w->cq->reservation->at_ms) ||
	       keys_may_fit(w->cq, want, w->spare);
}

/* The offer can start; now it must not delay the one who is blocked, on whatever flavor. */
static bool passes(struct look *l)
{
	struct entry *e = &l->walk->offer;
	struct queue *q = l->pass->q;
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

static bool judge(struct look *l, struct group *g)
{
	l->walk->offer = (struct entry){.cq = l->walk->cq, .group = g, .w = group_head(g)};
	return can_start(l->pass->q, &l->walk->offer) && passes(l);
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
		for (; at > 0 && precedence_before(l->pass->q, g, ret[at - 1]); at--)
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
	struct precedence *line = precedence_lines(l->pass->q, l->walk->cq, &n);
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

/* Judged though it may be plain that it cannot start: what it would take says what is kept for it.
 */
static bool offer_head(struct look *l)
{
	struct group *g = precedence_first(l->pass->q, l->walk->cq);
	return g && judge(l, g);
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
		if (g && (!best || precedence_before(l->pass->q, g, best)))
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
		backfill_end(l->pass->q, w->cq);
		return false;
	}
	if (!w->blocked && group_may(&head->node, l))
		return true;
	if (!w->blocked && !backfill_is_head(w->cq, group_head(head)))
		w->cq->search = true;
	if (!w->blocked || w->cq->node->parent)
		backfill_reserve(l->pass->q, w->cq, head);
	w->blocked = head;
	backfill_keys(w->cq, w->spare);
	return false;
}

/* What a ClusterQueue has to offer next; false: nothing any more. */
static bool walk_offers(struct pass *p, struct walk *w)
{
	struct look look = {p, w};
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

/* ---- Turns ---- */

static void start(struct pass *p, struct workload *w)
{
	w->room->cq->started_total++;
	p->out[p->n++] =
		(struct decision){.kind = DECISION_START, .uid = w->key.uid, .pods = w->room->pods};
}

/* Room first: it reads the claim, which goes with the group when its last member leaves. */
static void start_entry(struct pass *p, const struct entry *e)
{
	backfill_started(p->q, e->cq, e->group, &e->choice);
	room_start(p->q, e->w, e->cq, &e->group->claim, &e->choice);
	workload_unplace(p->q, e->w);
	workload_place(p->q, e->w);
	start(p, e->w);
}

static void promise_entry(struct pass *p, const struct entry *e, const struct victim *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		room_displace(p->q, v[i].room, e->w, v[i].reason);
	backfill_started(p->q, e->cq, e->group, &e->choice);
	room_promise(p->q, e->w, e->cq, &e->group->claim, &e->choice);
	workload_unplace(p->q, e->w);
	workload_place(p->q, e->w);
}

/* Does it still fit in THEN, beside those who had their turn before? *ret_now: and NOW. */
static bool entry_fits(const struct entry *e, bool *ret_now)
{
	struct demand d;
	*ret_now = true;
	demand_of(e, &d);
	for (size_t i = 0; i < d.nlines; i++) {
		if (d.line[i].amount > quota_free(d.line[i].row, QUOTA_THEN))
			return false;
		*ret_now = *ret_now && d.line[i].amount <= quota_free(d.line[i].row, QUOTA_NOW);
	}
	return true;
}

/* What the offer counted on may have been taken by somebody before it, or have become free through
 * somebody else's victims: it looks again, at what is the case now. True: it starts, or will. */
static bool turn(struct pass *p, const struct entry *e)
{
	const struct victim *victim = NULL;
	bool now;
	if (!entry_fits(e, &now)) {
		size_t n = e->verdict == ASSIGN_PREEMPTS ? find_victims(p->q, e, &victim) : 0;
		if (n > 0)
			promise_entry(p, e, victim, n);
		return n > 0;
	}
	if (now && p->n == p->cap) {
		p->full = true;
		return false;
	}
	if (now)
		start_entry(p, e);
	else
		promise_entry(p, e, NULL, 0);
	return true;
}

/* ---- What a StrictFIFO head keeps ---- */

static void reserve_line(struct pass *p, const struct demand_line *l, bool borrows)
{
	__int128 most = l->row->nominal - l->row->use[QUOTA_THEN];
	if (borrows)
		most = l->row->borrowing_limit == QUOTA_UNLIMITED ? l->amount
								  : most + l->row->borrowing_limit;
	int64_t amount = most > l->amount ? l->amount : most > 0 ? (int64_t)most : 0;
	if (p->nreserves == p->reserves_room) {
		p->reserves_room = p->reserves_room ? p->reserves_room * 2 : 16;
		p->reserve = mem_grow(p->reserve, p->reserves_room, sizeof(*p->reserve));
	}
	p->reserve[p->nreserves++] = (struct reserve){l->row, amount};
	quota_take(l->row, QUOTA_THEN, amount);
}

/* The turn of a StrictFIFO head that cannot start though it might if others were displaced. */
static void reserve_head(struct pass *p, const struct entry *e)
{
	struct demand d;
	if (e->cq->preemption.reclaim_within_cohort == PREEMPT_ANY || !demand_of(e, &d))
		return;
	for (size_t i = 0; i < d.nlines; i++)
		reserve_line(p, &d.line[i], e->choice.level > 0);
}

static void reserves_end(struct pass *p)
{
	while (p->nreserves > 0) {
		const struct reserve *r = &p->reserve[--p->nreserves];
		quota_give(r->row, QUOTA_THEN, r->amount);
	}
}

/* ---- Rounds ---- */

/* Who was displaced meanwhile may have left more than was asked for: then those who are fresh are
 * not all who could start. */
static void collect_offers(struct pass *p)
{
	p->nentries = 0;
	for (size_t i = 0; i < p->nwalks; i++) {
		struct walk *w = &p->walk[i];
		w->cq->search = w->cq->search || p->realm->search;
		w->over = w->over || !walk_offers(p, w);
		bool keeps = w->over && w->cq->strategy == STRICT_FIFO && w->offer.group &&
			     w->offer.verdict == ASSIGN_PREEMPTS;
		w->offer.keeps = keeps;
		if (!w->over || keeps)
			p->entry[p->nentries++] = w->offer;
	}
}

static struct walk *walk_of(struct pass *p, const struct clusterqueue *cq)
{
	struct walk *w = p->walk;
	while (w->cq != cq)
		w++;
	return w;
}

/* lq: where usage orders, whose group it was. */
static void walk_on(
	struct pass *p, const struct entry *e, struct localqueue *lq, const struct order_key *key)
{
	struct walk *w = walk_of(p, e->cq);
	if (lq) {
		lq->walked = true;
		lq->behind = *key;
		return;
	}
	w->walked = true;
	w->behind.key = *key;
}

/* How many turns came to something. */
static size_t take_turns(struct pass *p)
{
	size_t came = 0;
	for (size_t i; (i = contest_next(p->q, p->entry, p->nentries)) < p->nentries;) {
		struct entry *e = &p->entry[i];
		struct order_key key = e->group->key; /* the group may go with its head */
		struct localqueue *lq = e->group->lq;
		e->done = true;
		if (e->keeps) {
			reserve_head(p, e);
		} else if (turn(p, e)) {
			e->group = NULL;
			walk_on(p, e, lq, &key);
			came++;
		}
	}
	return came;
}

/* Nothing came of it only because of what StrictFIFO heads keep: those behind it are asked. Behind
 * a StrictFIFO head nobody is. */
static void let_others_pass(struct pass *p, const struct entry *e)
{
	struct walk *w = walk_of(p, e->cq);
	walk_on(p, e, e->group->lq, &e->group->key);
	if (e->cq->strategy == STRICT_FIFO) {
		w->over = true;
		w->offer = (struct entry){0};
	}
}

/* True when there may be more. */
static bool run_round(struct pass *p)
{
	collect_offers(p);
	size_t came = take_turns(p);
	bool more = came > 0;
	for (size_t i = 0; came == 0 && p->nreserves > 0 && i < p->nentries; i++) {
		if (p->entry[i].keeps)
			continue;
		let_others_pass(p, &p->entry[i]);
		more = true;
	}
	reserves_end(p);
	return more && !p->full;
}

static int promise_order(const void *a, const void *b)
{
	const struct room *x = *(struct room *const *)a, *y = *(struct room *const *)b;
	return x->serial < y->serial ? -1 : x->serial > y->serial;
}

/* All promises of the realm, oldest first; to be freed. */
static struct room **promises_of(const struct pass *p, size_t *ret_n)
{
	size_t n = 0, room = 0;
	struct room **all = NULL;
	for (size_t i = 0; i < p->nwalks; i++) {
		list_each(&p->walk[i].cq->promised, l)
		{
			if (n == room)
				all = mem_grow(all, room = room ? room * 2 : 16, sizeof(*all));
			all[n++] = container_of(l, struct room, of_clusterqueue);
		}
	}
	if (n > 1)
		qsort(all, n, sizeof(*all), promise_order);
	*ret_n = n;
	return all;
}

static bool anybody_leaves(const struct pass *p)
{
	for (size_t i = 0; i < p->nwalks; i++)
		if (p->walk[i].cq->nleaving > 0)
			return true;
	return false;
}

/* Promised rooms that fit NOW start. One that nobody is leaving for any more was promised too
 * much. */
static void keep_promises(struct pass *p)
{
	size_t n;
	struct room **all = promises_of(p, &n);
	for (size_t i = 0; i < n && !p->full; i++) {
		bool now = room_fits_now(all[i]);
		if (!clusterqueue_active(all[i]->cq) || (!now && !anybody_leaves(p))) {
			room_break_promise(p->q, all[i]);
		} else if (now && p->n == p->cap) {
			p->full = true;
		} else if (now) {
			room_keep_promise(p->q, all[i]);
			start(p, all[i]->w);
		}
	}
	free(all);
}

/* ---- The pass ---- */

static void pass_make(struct pass *p, const struct realm *realm)
{
	size_t members = 0;
	list_each(&realm->members, l) members++;
	p->walk = mem_array(members, sizeof(*p->walk));
	p->entry = mem_array(members, sizeof(*p->entry));
	list_each(&realm->members, l) p->walk[p->nwalks++].cq =
		container_of(l, struct clusterqueue, of_realm);
}

static void look_begin(struct pass *p, struct realm *realm)
{
	for (size_t i = 0; i < p->nwalks; i++) {
		struct clusterqueue *cq = p->walk[i].cq;
		if (realm->search || cq->nfresh > FRESH_MAX)
			cq->search = true;
		p->walk[i] = (struct walk){.cq = cq, .over = !clusterqueue_active(cq)};
		list_each(&cq->localqueues, l) container_of(l, struct localqueue, of_clusterqueue)
			->walked = false;
	}
	realm->search = false;
}

/* Everybody was judged. */
static void look_end(struct pass *p)
{
	for (size_t i = 0; i < p->nwalks; i++) {
		struct clusterqueue *cq = p->walk[i].cq;
		cq->search = false;
		while (!list_empty(&cq->fresh))
			group_judged(container_of(cq->fresh.next, struct group, fresh));
	}
}

size_t pass_run(
	struct queue *q, struct realm *realm, struct decision *out, size_t cap, bool *ret_done)
{
	struct pass p = {.q = q, .realm = realm, .out = out, .cap = cap};
	int looks = 0;
	pass_make(&p, realm);
	keep_promises(&p);
	do {
		look_begin(&p, realm);
		while (!p.full && run_round(&p))
			;
		if (!p.full)
			look_end(&p);
	} while (!p.full && realm->search && ++looks < LOOKS_MAX);
	*ret_done = !p.full;
	free(p.walk);
	free(p.entry);
	free(p.reserve);
	return p.n;
}
