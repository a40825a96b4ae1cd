#include "queue/core/preempt/victims.h"

#include <stdlib.h>

#include "base/mem.h"
#include "queue/core/preempt/preemption.h"
#include "queue/core/model/victim_index.h"
#include "sluice/quantity.h"

void demand_init(struct demand *d, const struct workload *w, struct clusterqueue *cq,
	const struct claim *c, const struct choice *choice)
{
	d->w = w;
	d->cq = cq;
	d->nlines = 0;
	for (size_t i = 0; i < c->nneeds && d->nlines < QUEUE_LINES_MAX; i++) {
		const struct need *n = &c->need[i];
		d->line[d->nlines++] = (struct demand_line){
			need_row(cq, n, choice->flavor[n->group]), need_amount(n, choice->pods),
			(choice->contested[n->group] >> n->resource & 1) != 0};
	}
}

static struct preemption *preemption_of(struct queue *q, const struct demand *d)
{
	if (!q->preemption)
		q->preemption = mem_alloc(sizeof(*q->preemption));
	struct preemption *x = q->preemption;
	x->q = q;
	x->d = d;
	x->at_ms = q->now_ms;
	x->asks_only = !q->deciding;
	x->last_resort = x->leaves_out = false;
	x->ncontested = x->nsources = x->nvictims = x->nthrough = 0;
	for (size_t i = 0; i < d->nlines; i++)
		if (d->line[i].contested)
			x->contested[x->ncontested++] = d->line[i].row;
	return x;
}

/* If all candidates went, would the demand fit in this row? Sums answer it, not runs: a nominee
 * that asks in vain asks again whenever a run ends, and must not look at all runs each time. */
static bool could_do(const struct preemption *x, size_t i)
{
	const struct clusterqueue *mine = x->d->cq;
	int64_t lacks = 0;
	for (size_t k = 0; k < x->d->nlines; k++)
		if (x->d->line[k].row == x->contested[i])
			lacks = x->d->line[k].amount;
	__int128 free = quota_free(x->contested[i], QUOTA_THEN);
	list_each_entry(&mine->cohort_tree->members, struct clusterqueue, cq, of_cohort_tree) {
		if (free >= lacks)
			return true;
		if (cq == mine || (cq->node && borrows_contested(x, cq->node)))
			free += candidate_source_most(x, cq, i);
	}
	return free >= lacks;
}

static bool could_be_enough(const struct preemption *x)
{
	bool could = true;
	for (size_t i = 0; could && i < x->ncontested; i++)
		could = could_do(x, i);
	return could;
}

static void search(struct preemption *x)
{
	if (x->ncontested == 0 || !workload_displaces(x->d->w) || !could_be_enough(x))
		return;
	if (x->q->config.fair_sharing)
		find_fair(x);
	else
		find_classic(x);
}

/* Searches again, also among runs that a stop would end as Complete: of these the nominee takes its
 * nominal quota back. Else a tenant whose Job has one pod that sleeps would keep it for ever. */
static void search_again(struct preemption *x)
{
	if (!x->leaves_out || x->d->cq->spec.preemption.reclaim_within_cohort == PREEMPT_NEVER)
		return;
	x->last_resort = true;
	x->lenient = false; /* a cheaper set may have more of these */
	x->nsources = x->nvictims = 0;
	search(x);
}

static size_t find(struct queue *q, const struct demand *d, bool lenient, const struct victim **ret)
{
	struct preemption *x = preemption_of(q, d);
	x->lenient = lenient && !q->config.victims_as_kueue;
	search(x);
	if (x->nvictims == 0)
		search_again(x);
	*ret = x->victim;
	return x->nvictims;
}

size_t victims_find(struct queue *q, const struct demand *d, const struct victim **ret)
{
	return find(q, d, true, ret);
}

size_t victims_plain(struct queue *q, const struct demand *d, const struct victim **ret)
{
	return find(q, d, false, ret);
}

/* ---- Those that minRun spares ---- */

/* When it may go; INT64_MIN: at once. */
static int64_t grown_ms(const struct preemption *x, const struct victim *v)
{
	const struct reservation *r = v->reservation;
	bool any = x->d->cq->spec.preemption.reclaim_within_cohort == PREEMPT_ANY &&
		   v->reason == PREEMPTION_IN_COHORT_RECLAMATION;
	int64_t min_run_ms = r->cq->spec.preemption.min_run_ms;
	return any || min_run_ms == 0 || costs_nothing(r)
		       ? INT64_MIN
		       : quantity_add(r->reserved_ms, min_run_ms);
}

/* Sets of candidates are looked for, each before the last one's time. */
#define SETS_MAX 16

int64_t victims_grown(struct queue *q, const struct demand *d, const struct reservation **ret)
{
	struct preemption *x = preemption_of(q, d);
	int64_t at_ms = INT64_MAX;
	x->lenient = false;
	x->asks_only = true;
	for (int sets = 0; sets < SETS_MAX; sets++) {
		int64_t last_ms = INT64_MIN;
		const struct reservation *last = NULL;
		x->at_ms = at_ms - 1;
		x->nsources = x->nvictims = x->nthrough = 0;
		search(x);
		for (size_t i = 0; i < x->nvictims; i++)
			if (grown_ms(x, &x->victim[i]) > last_ms) {
				last = x->victim[i].reservation;
				last_ms = grown_ms(x, &x->victim[i]);
			}
		if (x->nvictims > 0 && !last)
			return INT64_MAX;
		if (!last || last_ms >= at_ms)
			break;
		at_ms = last_ms;
		*ret = last;
	}
	return at_ms;
}

void victims_done(struct queue *q)
{
	if (!q->preemption)
		return;
	free(q->preemption->source);
	free(q->preemption->cursor);
	free(q->preemption->victim);
	candidates_done(&q->preemption->candidates);
	free(q->preemption);
}

/* ---- The quick look ---- */

/* The lowest priority with which this one could be preempted. */
static int64_t from_reservation(const struct reservation *r, enum preemption_policy policy)
{
	int64_t theirs = r->w->key.priority;
	if (policy == PREEMPT_ANY)
		return INT32_MIN;
	if (policy == PREEMPT_NEVER && !workload_fills_gaps(r->w))
		return INT64_MAX;
	return policy == PREEMPT_LOWER_OR_NEWER_EQUAL_PRIORITY ? theirs : theirs + 1;
}

/* Of the runs the first is the least important. */
static int64_t from_index(const struct tree_node *n, enum preemption_policy policy)
{
	int64_t least = INT64_MAX;
	for (bool more = true; n && more; n = tree_next(n)) {
		int64_t from = from_reservation(victim_index_reservation(n), policy);
		least = from < least ? from : least;
		more = costs_nothing(victim_index_reservation(n));
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
		int64_t from = from_index(victim_index_first(cq, row), policy);
		least = from < least ? from : least;
	}
	list_each_entry(&cq->promised, const struct reservation, r, of_clusterqueue) {
		int64_t from = from_reservation(r, policy);
		least = from < least ? from : least;
	}
	return least;
}

static void survey(
	struct victims_survey *s, struct cohort_tree *cohort_tree, enum preemption_policy policy)
{
	s->made[policy] = true;
	s->least[policy] = s->second[policy] = INT64_MAX;
	list_each_entry(&cohort_tree->members, struct clusterqueue, member, of_cohort_tree) {
		int64_t from = clusterqueue_active(member) ? from_clusterqueue(member, policy, true)
							   : INT64_MAX;
		if (from < s->least[policy]) {
			s->second[policy] = s->least[policy];
			s->least[policy] = from;
			s->least_of[policy] = member;
		} else if (from < s->second[policy]) {
			s->second[policy] = from;
		}
	}
}

int64_t victims_from(const struct queue *q, const struct clusterqueue *cq, struct victims_survey *s)
{
	enum preemption_policy within = cq->spec.preemption.within_clusterqueue,
			       reclaim = cq->spec.preemption.reclaim_within_cohort;
	int64_t least = INT64_MAX;
	if (within != PREEMPT_NEVER && clusterqueue_active(cq))
		least = from_clusterqueue((struct clusterqueue *)(uintptr_t)cq, within, false);
	if (!cq->node->parent || (reclaim == PREEMPT_NEVER && q->gap_fillers == 0))
		return least;
	if (!s->made[reclaim])
		survey(s, cq->cohort_tree, reclaim);
	int64_t from = s->least_of[reclaim] == cq ? s->second[reclaim] : s->least[reclaim];
	return from < least ? from : least;
}

/* ---- How far victims could take it ---- */

/* The largest amount with which it would fit in the quota of its ClusterQueue, or of a Cohort below
 * the root. */
static __int128 entitled(const struct quota_row *row)
{
	__int128 most = 0, below = 0;
	for (; row->up; row = row->up) {
		__int128 fits = below + row->subtree - row->use[QUOTA_THEN];
		most = fits > most ? fits : most;
		below += quota_local_free(row, QUOTA_THEN);
	}
	return most;
}

bool victims_may_take_back(const struct queue *q, const struct clusterqueue *cq)
{
	bool may = q->config.fair_sharing || cq->spec.preemption.borrow_within_cohort;
	for (size_t g = 0; g < cq->spec.ngroups; g++) {
		const struct resource_group *of = &cq->spec.groups[g];
		for (size_t i = 0; !may && i < of->nflavors * of->nresources; i++)
			may = entitled(of->row[i]) > 0;
	}
	return may;
}

static bool borrows_anything(const struct quota_node *node)
{
	for (size_t i = 0; i < node->nrows; i++)
		if (quota_borrows(node->row[i], QUOTA_THEN))
			return true;
	return false;
}

static int64_t lent_to(
	const struct preemption *x, struct clusterqueue *cq, const struct quota_row *like)
{
	return cq->node && borrows_anything(cq->node) ? candidate_source_lent(x, cq, like) : 0;
}

static __int128 lent_to_all(
	const struct preemption *x, struct victims_survey *s, const struct quota_row *like)
{
	struct victims_lent sum = {like->flavor_pool,
		x->d->cq->spec.preemption.reclaim_within_cohort, x->d->w->key.priority, 0};
	for (size_t i = 0; i < s->nlent; i++)
		if (s->lent[i].flavor_pool == sum.flavor_pool && s->lent[i].policy == sum.policy &&
			s->lent[i].priority == sum.priority)
			return s->lent[i].most;
	list_each_entry(&x->d->cq->cohort_tree->members, struct clusterqueue, cq, of_cohort_tree)
		sum.most += lent_to(x, cq, like);
	if (s->nlent < VICTIMS_LENT_MAX)
		s->lent[s->nlent++] = sum;
	return sum.most;
}

struct reach {
	const struct preemption *x;
	struct victims_survey *s;
};

static int64_t reach_of(const struct quota_row *row, void *ctx)
{
	struct reach *r = ctx;
	const struct preemption *x = r->x;
	struct clusterqueue *mine = x->d->cq;
	__int128 free = quota_free(row, QUOTA_THEN);
	size_t i = 0;
	while (x->contested[i] != row)
		i++;
	int64_t own = candidate_source_most(x, mine, i);
	__int128 others = lent_to_all(x, r->s, row) - lent_to(x, mine, row);
	__int128 reach = (free > 0 ? free : 0) + own + others;
	bool borrows = x->q->config.fair_sharing || mine->spec.preemption.borrow_within_cohort;
	if (!borrows && entitled(row) + own < reach)
		reach = entitled(row) + own;
	return quota_shown(reach);
}

/* As if its first Job, which has the highest priority, asked for all rows. */
void victims_reach(struct queue *q, struct clusterqueue *cq, struct victims_survey *s,
	int64_t ret_reach[KEYS_MAX])
{
	struct tree_node *first = tree_first(&cq->order);
	struct demand d = {.cq = cq};
	for (size_t g = 0; g < cq->spec.ngroups; g++) {
		const struct resource_group *of = &cq->spec.groups[g];
		size_t rows = of->nflavors * of->nresources;
		for (size_t i = 0; i < rows && d.nlines < QUEUE_LINES_MAX; i++)
			d.line[d.nlines++] = (struct demand_line){of->row[i], 0, true};
		if (d.nlines == QUEUE_LINES_MAX || !first) {
			keys_available(cq, KEYS_POTENTIAL, ret_reach);
			return;
		}
	}
	d.w = container_of(first, struct workload, in_order);
	struct reach reach = {preemption_of(q, &d), s};
	keys_by_row(cq, reach_of, &reach, ret_reach);
}
