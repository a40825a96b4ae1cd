#include "queue/core/admit/pass.h"

#include <stdlib.h>

#include "base/mem.h"
#include "queue/core/admit/assign.h"
#include "queue/core/admit/growth.h"
#include "queue/core/admit/backfill.h"
#include "queue/core/admit/backfill_heads.h"
#include "queue/core/model/shrink.h"
#include "queue/core/preempt/pods_first.h"
#include "queue/core/preempt/preemption.h"
#include "queue/core/admit/nominate.h"
#include "queue/core/model/reservation.h"
#include "queue/core/model/victim_index.h"
#include "sluice/quantity.h"

/* Quota that is kept for a StrictFIFO head: it could reclaim it from its Cohort. */
struct reserve {
	struct quota_row *row;
	int64_t amount;
};

struct pass {
	struct queue *q;
	struct cohort_tree *cohort_tree;
	struct scan *scan;
	struct nominee *nominee; /* of the round */
	size_t nscans, nnominees;
	struct reserve *reserve; /* of the round */
	size_t nreserves, reserves_room;
	struct decision *out;
	size_t n, cap;
	size_t displacements; /* of the look */
	bool full;	      /* a Job could start, but out is full */
};

/* A look goes through all ClusterQueues. After a preemption, or a start that borrows, there is
 * another one, up to this. */
#define LOOKS_MAX 64

/* Heads may take each other's promises back in turn. They are asked again so often in one look. */
#define DISPLACEMENTS_MAX 64

/* ---- What is kept, for a moment not, and again ---- */

static void reserves_give(const struct pass *p)
{
	for (size_t i = 0; i < p->nreserves; i++)
		quota_give(p->reserve[i].row, QUOTA_THEN, p->reserve[i].amount);
}

static void reserves_take(const struct pass *p)
{
	for (size_t i = 0; i < p->nreserves; i++)
		quota_take(p->reserve[i].row, QUOTA_THEN, p->reserve[i].amount);
}

/* ---- Turns ---- */

static void start(struct pass *p, struct workload *w)
{
	w->reservation->cq->counts.started_total++;
	p->out[p->n++] = (struct decision){
		.kind = DECISION_START, .uid = w->key.uid, .pods = w->reservation->pods};
}

/* The reservation first: it reads the claim, which is freed with the group's last member. */
static void start_nominee(struct pass *p, const struct nominee *e)
{
	backfill_started(p->q, e->cq, e->group, &e->choice);
	reservation_start(p->q, e->w, e->cq, &e->group->claim, &e->choice);
	workload_unplace(p->q, e->w);
	workload_place(p->q, e->w);
	start(p, e->w);
}

/* The victims that run. The others are promises, which are gone at once. */
static struct uid *givers_of(const struct victim *v, size_t n, size_t *ret_n)
{
	size_t runs = 0;
	struct uid *all = n ? mem_array(n, sizeof(*all)) : NULL;
	for (size_t i = 0; i < n; i++)
		if (v[i].reservation->state != RESERVATION_PROMISED)
			all[runs++] = v[i].reservation->w->key.uid;
	*ret_n = runs;
	return all;
}

static void make_room(struct pass *p, const struct nominee *e, const struct victim *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (v[i].keeps > 0)
			giving_begin(p->q, v[i].reservation, v[i].keeps, e->w, v[i].reason);
		else
			reservation_displace(p->q, v[i].reservation, e->w, v[i].reason);
	}
}

static void promise_nominee(
	struct pass *p, const struct nominee *e, const struct victim *v, size_t n)
{
	size_t ngivers;
	struct uid *giver = givers_of(v, n, &ngivers);
	make_room(p, e, v, n);
	p->displacements += n > 0;
	backfill_started(p->q, e->cq, e->group, &e->choice);
	struct reservation *r =
		reservation_promise(p->q, e->w, e->cq, &e->group->claim, &e->choice);
	r->giver = giver;
	r->ngivers = ngivers;
	workload_unplace(p->q, e->w);
	workload_place(p->q, e->w);
}

static bool is_free(const struct demand *d, enum quota_when when)
{
	for (size_t i = 0; i < d->nlines; i++)
		if (!quota_has(d->line[i].row, when, d->line[i].amount))
			return false;
	return true;
}

/* After the earlier turns, does it still fit THEN? *ret_now: does it fit NOW? */
static bool nominee_fits(const struct nominee *e, bool *ret_now)
{
	struct demand d;
	nominee_demand(e, &d);
	*ret_now = is_free(&d, QUOTA_NOW);
	return is_free(&d, QUOTA_THEN);
}

/* Returns whether the nominee's ClusterQueue would use no more than its own quota, once the victims
 * are gone. */
static bool stays_within_nominal(const struct nominee *e, const struct proposal *a)
{
	struct demand d;
	bool within = true;
	nominee_demand(e, &d);
	for (size_t i = 0; i < a->nvictims; i++)
		reservation_take_away(a->victim[i].reservation);
	for (size_t i = 0; i < d.nlines; i++)
		within = within && !quota_borrows_with(d.line[i].row, QUOTA_THEN, d.line[i].amount);
	for (size_t i = 0; i < a->nvictims; i++)
		reservation_put_back(a->victim[i].reservation);
	return within;
}

/* What StrictFIFO heads keep adds no victims: a Job that takes back what is its ClusterQueue's own
 * is judged as if nothing were kept. True: it is one. *ret_fits: it needs no victims by now. */
static bool takes_back_its_own(
	struct pass *p, struct proposal *a, bool *ret_fits, bool *ret_fits_now)
{
	bool now, fits;
	if (p->nreserves == 0)
		return false;
	reserves_give(p);
	fits = nominee_fits(a->nominee, &now);
	a->nvictims = fits ? 0 : nominee_victims(p->q, a->nominee, &a->victim);
	bool own = (fits || a->nvictims > 0) && stays_within_nominal(a->nominee, a);
	reserves_take(p);
	if (own) {
		*ret_fits = fits;
		*ret_fits_now = now;
	}
	return own;
}

/* Which of its victims can give pods instead? */
static void ask_for_pods_first(struct pass *p, struct proposal *a, bool own)
{
	struct demand d;
	if (a->nvictims == 0 || features_look_at_victims(p->q, a->nominee) ||
		!nominee_demand(a->nominee, &d))
		return;
	if (own)
		reserves_give(p);
	a->nvictims = pods_first(p->q, &d, own, &a->victim, a->nvictims);
	if (own)
		reserves_take(p);
}

/* An earlier turn may have taken quota or freed some by its victims, so this looks again. True: it
 * starts, or has a promise. */
static bool turn(struct pass *p, const struct nominee *e)
{
	struct proposal a = {.nominee = e};
	bool now, fits = nominee_fits(e, &now), own = false;
	if (!fits && e->verdict == ASSIGN_PREEMPTS) {
		own = takes_back_its_own(p, &a, &fits, &now);
		if (!own)
			a.nvictims = nominee_victims(p->q, e, &a.victim);
	}
	if ((!fits && a.nvictims == 0) || !features_choice_may(p->q, &a))
		return false;
	if (!fits) {
		ask_for_pods_first(p, &a, own);
		promise_nominee(p, e, a.victim, a.nvictims);
		return true;
	}
	if (now && p->n == p->cap) {
		p->full = true;
		return false;
	}
	if (!now && workload_fills_gaps(e->w))
		return false;
	if (now)
		start_nominee(p, e);
	else
		promise_nominee(p, e, NULL, 0);
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
	p->reserve = mem_room(p->reserve, p->nreserves, &p->reserves_room, 16, sizeof(*p->reserve));
	p->reserve[p->nreserves++] = (struct reserve){l->row, amount};
	quota_take(l->row, QUOTA_THEN, amount);
}

/* The turn of a StrictFIFO head that may preempt but has no victims. */
static void reserve_head(struct pass *p, const struct nominee *e)
{
	struct demand d;
	if (e->cq->spec.preemption.reclaim_within_cohort == PREEMPT_ANY || !nominee_demand(e, &d))
		return;
	for (size_t i = 0; i < d.nlines; i++)
		reserve_line(p, &d.line[i], e->choice.level > 0);
}

static void reserves_end(struct pass *p)
{
	reserves_give(p);
	p->nreserves = 0;
}

/* ---- Rounds ---- */

/* A preemption may have freed more than was asked for. Then groups that are not fresh could start,
 * too (cohort_tree.search). */
static void collect_nominees(struct pass *p)
{
	struct victims_survey survey = {.made = {false}};
	p->nnominees = 0;
	for (size_t i = 0; i < p->nscans; i++) {
		struct scan *s = &p->scan[i];
		s->cq->search = s->cq->search || p->cohort_tree->search;
		s->over = s->over || !scan_nominates(p->q, s, &survey);
		bool keeps = s->over && s->cq->spec.strategy == STRICT_FIFO && s->nominee.group &&
			     s->nominee.verdict == ASSIGN_PREEMPTS;
		s->nominee.keeps = keeps;
		if (!s->over || keeps)
			p->nominee[p->nnominees++] = s->nominee;
	}
}

static struct scan *scan_of(struct pass *p, const struct clusterqueue *cq)
{
	struct scan *s = p->scan;
	while (s->cq != cq)
		s++;
	return s;
}

/* Returns how many turns brought a start or a promise. */
static size_t take_turns(struct pass *p)
{
	size_t came = 0;
	for (size_t i; (i = nominee_order_next(p->q, p->nominee, p->nnominees)) < p->nnominees;) {
		struct nominee *e = &p->nominee[i];
		struct order_key key = e->group->key; /* the group may go with its head */
		struct localqueue *lq = e->group->lq;
		struct clusterqueue *cq = e->cq;
		struct scan *s = scan_of(p, cq);
		e->done = true;
		if (s->slot.blocked == e->group)
			s->slot.blocked = NULL;
		if (e->keeps) {
			reserve_head(p, e);
		} else if (turn(p, e)) {
			e->group = NULL;
			scan_on(s, lq, &key);
			came++;
		}
	}
	return came;
}

/* A nominee could not start only because of what StrictFIFO heads keep. The groups behind it are
 * asked, but behind a StrictFIFO head none is, and the head of a Backfill queue blocks. A gap
 * filler does neither. */
static void let_others_pass(struct pass *p, const struct nominee *e)
{
	struct scan *s = scan_of(p, e->cq);
	scan_on(s, e->group->lq, &e->group->key);
	if (workload_fills_gaps(e->w))
		return;
	if (backfills_several_heads(e->cq))
		s->walk.passed = e->group;
	else if (e->cq->spec.strategy == BACKFILL && !s->slot.blocked)
		s->slot.blocked = e->group;
	if (e->cq->spec.strategy == STRICT_FIFO) {
		s->over = true;
		s->nominee = (struct nominee){0};
	}
}

/* With fair sharing a start may take a ClusterQueue over its share, so that its runs become
 * candidates. So the StrictFIFO heads are asked again in the next round. Without fair sharing they
 * are in the next look. */
static void ask_heads_again(struct pass *p)
{
	if (!p->q->config.fair_sharing || p->displacements > DISPLACEMENTS_MAX)
		return;
	for (size_t i = 0; i < p->nscans; i++)
		if (p->scan[i].cq->spec.strategy == STRICT_FIFO)
			p->scan[i].over = !clusterqueue_active(p->scan[i].cq);
}

/* True when there may be more. */
static bool run_round(struct pass *p)
{
	collect_nominees(p);
	size_t came = take_turns(p);
	if (came > 0)
		ask_heads_again(p);
	bool more = came > 0;
	for (size_t i = 0; came == 0 && p->nreserves > 0 && i < p->nnominees; i++) {
		if (p->nominee[i].keeps)
			continue;
		let_others_pass(p, &p->nominee[i]);
		more = true;
	}
	reserves_end(p);
	return more && !p->full;
}

static int promise_order(const void *a, const void *b)
{
	const struct reservation *x = *(struct reservation *const *)a,
				 *y = *(struct reservation *const *)b;
	return x->serial < y->serial ? -1 : x->serial > y->serial;
}

/* All promises of the Cohort tree, oldest first; the caller frees the array. */
static struct reservation **promises_of(const struct pass *p, size_t *ret_n)
{
	size_t n = 0, capacity = 0;
	struct reservation **all = NULL;
	for (size_t i = 0; i < p->nscans; i++) {
		list_each_entry(&p->scan[i].cq->promised, struct reservation, r, of_clusterqueue) {
			all = mem_room(all, n, &capacity, 16, sizeof(*all));
			all[n++] = r;
		}
	}
	if (n > 1)
		qsort(all, n, sizeof(*all), promise_order);
	*ret_n = n;
	return all;
}

static bool anybody_leaves(const struct pass *p)
{
	for (size_t i = 0; i < p->nscans; i++)
		if (p->scan[i].cq->nleaving > 0)
			return true;
	return false;
}

/* Returns whether a promise would fit NOW in other flavors, and rules would let it start. Then it
 * need not wait for its victims. */
static bool fits_elsewhere(struct queue *q, const struct reservation *r)
{
	struct claim claim;
	struct demand d;
	struct choice choice;
	claim_init(&claim, q, r->cq, r->w->shape);
	reservation_take_away(r);
	bool fits = assign_flavors(q, r->cq, &claim, r->w, r->w->shape->pods, NULL, &choice) ==
		    ASSIGN_FITS;
	if (fits) {
		demand_init(&d, r->w, r->cq, &claim, &choice);
		fits = is_free(&d, QUOTA_NOW) && features_promise_may_choose(q, r, &claim, &choice);
	}
	reservation_put_back(r);
	claim_done(&claim);
	return fits;
}

/* Is quota still to come free, and is there none now in another flavor? */
static bool quota_comes(const struct pass *p, const struct reservation *r)
{
	return !reservation_fits_now(r) && anybody_leaves(p) && !fits_elsewhere(p->q, r);
}

/* Promises that fit NOW start, if the rules have room. Quota may be back before its pods are gone;
 * then the promise is kept until they are. A promise is taken back when nothing is leaving any more
 * or when it fits in another flavor now: its Job takes its turn with the others. */
static void keep_promises(struct pass *p)
{
	size_t n;
	struct reservation **all = promises_of(p, &n);
	for (size_t i = 0; i < n && !p->full; i++) {
		bool fits = reservation_fits_now(all[i]);
		enum room room = fits ? features_promise_room(p->q, all[i]) : ROOM_NONE;
		if (!clusterqueue_active(all[i]->cq) || !features_promise_may(p->q, all[i]) ||
			(room == ROOM_NONE && !quota_comes(p, all[i]))) {
			reservation_break_promise(p->q, all[i]);
		} else if (room != ROOM_NOW) {
			continue;
		} else if (p->n == p->cap) {
			p->full = true;
		} else {
			reservation_keep_promise(p->q, all[i]);
			start(p, all[i]->w);
		}
	}
	free(all);
}

/* ---- The pass ---- */

static void pass_make(struct pass *p, const struct cohort_tree *cohort_tree)
{
	size_t members = 0;
	list_each(&cohort_tree->members, l)
		members++;
	p->scan = mem_array(members, sizeof(*p->scan));
	p->nominee = mem_array(members, sizeof(*p->nominee));
	list_each_entry(&cohort_tree->members, struct clusterqueue, member, of_cohort_tree)
		p->scan[p->nscans++].cq = member;
}

/* May a Job of cq take back what another ClusterQueue borrows? */
static bool may_take_back(const struct pass *p, const struct clusterqueue *cq)
{
	return (cq->spec.preemption.reclaim_within_cohort != PREEMPT_NEVER ||
		       p->q->gap_fillers > 0) &&
	       tree_count(&cq->order) > 0;
}

/* The ClusterQueues that borrow more than at the last look: how many, and the last of them. */
struct borrowers {
	size_t n;
	const struct clusterqueue *last;
};

static struct borrowers borrowers_of(const struct pass *p)
{
	struct borrowers b = {0, NULL};
	for (size_t i = 0; p->cohort_tree->borrows_more && i < p->nscans; i++)
		if (p->scan[i].cq->borrows_more)
			b = (struct borrowers){b.n + 1, p->scan[i].cq};
	return b;
}

/* Is a Job of cq enabled by starts? A start takes quota, and may enable a Job all the same: what
 * the borrower borrows by it can be taken back, with other runs of the borrower. */
static bool is_enabled(
	const struct pass *p, const struct borrowers *b, const struct clusterqueue *cq)
{
	bool by_another = b->n > 1 || (b->n == 1 && b->last != cq);
	return by_another && may_take_back(p, cq);
}

/* Is a Job of any ClusterQueue enabled by what starts borrowed? */
static bool borrowing_enables(const struct pass *p)
{
	struct borrowers b = borrowers_of(p);
	for (size_t i = 0; b.n > 0 && i < p->nscans; i++)
		if (is_enabled(p, &b, p->scan[i].cq))
			return true;
	return false;
}

/* Marks the ClusterQueues with Jobs that are enabled by what starts borrowed, and forgets who
 * borrowed. */
static void wake_enabled(struct pass *p)
{
	struct borrowers b = borrowers_of(p);
	for (size_t i = 0; b.n > 0 && i < p->nscans; i++) {
		struct clusterqueue *cq = p->scan[i].cq;
		cq->woken = cq->woken || is_enabled(p, &b, cq);
	}
	p->cohort_tree->borrows_more = false;
	for (size_t i = 0; i < p->nscans; i++)
		p->scan[i].cq->borrows_more = false;
}

static bool looks_again(const struct pass *p)
{
	return !p->full && (p->cohort_tree->search || borrowing_enables(p));
}

static void look_begin(struct pass *p, struct cohort_tree *cohort_tree)
{
	wake_enabled(p);
	for (size_t i = 0; i < p->nscans; i++) {
		struct clusterqueue *cq = p->scan[i].cq;
		cq->search = cq->search || cohort_tree->search;
		scan_begin(p->q, &p->scan[i], cq);
	}
	cohort_tree->search = false;
	p->displacements = 0;
}

/* All groups were judged. */
static void look_end(struct pass *p)
{
	for (size_t i = 0; i < p->nscans; i++) {
		struct clusterqueue *cq = p->scan[i].cq;
		cq->search = cq->woken = false;
		while (!list_empty(&cq->fresh))
			group_judged(container_of(cq->fresh.next, struct group, fresh));
	}
}

/* When the next run of cq is spared no more. */
static int64_t grows_ms(const struct queue *q, const struct clusterqueue *cq)
{
	int64_t first_ms = INT64_MAX, min_run_ms = cq->spec.preemption.min_run_ms;
	for (size_t i = 0; i < cq->node->nrows; i++) {
		int64_t start_ms =
			victim_index_next_start(cq->node->row[i], q->now_ms - min_run_ms);
		first_ms = start_ms < first_ms ? start_ms : first_ms;
	}
	return first_ms == INT64_MAX ? INT64_MAX : quantity_add(first_ms, min_run_ms);
}

static void watch_spared(const struct pass *p)
{
	for (size_t i = 0; i < p->nscans; i++) {
		struct clusterqueue *cq = p->scan[i].cq;
		if (!cq->spared)
			continue;
		cq->spared = false;
		alarm_init(&cq->grown, ALARM_GROWN, cq->serial, cq);
		alarm_set(&p->q->alarms, &cq->grown, grows_ms(p->q, cq));
	}
}

/* What is left, and what no StrictFIFO head keeps, is for runs that want more pods. */
static void let_grow(struct pass *p)
{
	for (size_t i = 0; i < p->nscans; i++)
		if (p->scan[i].nominee.group && p->scan[i].nominee.keeps)
			reserve_head(p, &p->scan[i].nominee);
	p->n += growth_run(p->q, p->scan, p->nscans, p->out + p->n, p->cap - p->n, &p->full);
	reserves_end(p);
}

size_t pass_run(struct queue *q, struct cohort_tree *cohort_tree, struct decision *out, size_t cap,
	bool *ret_done)
{
	struct pass p = {.q = q, .cohort_tree = cohort_tree, .out = out, .cap = cap};
	int looks = 0;
	pass_make(&p, cohort_tree);
	keep_promises(&p);
	do {
		look_begin(&p, cohort_tree);
		while (!p.full && run_round(&p))
			;
		if (!p.full)
			look_end(&p);
		if (!p.full && !looks_again(&p))
			let_grow(&p);
	} while (looks_again(&p) && ++looks < LOOKS_MAX);
	watch_spared(&p);
	*ret_done = !p.full;
	free(p.scan);
	free(p.nominee);
	free(p.reserve);
	return p.n;
}
