#include "queue/features/windows/lead.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "queue/core/model/state.h"
#include "queue/core/model/shrink.h"
#include "queue/core/preempt/pods_first.h"
#include "queue/core/preempt/preemption.h"
#include "queue/core/model/victim_index.h"
#include "queue/core/model/effective_quota.h"
#include "queue/features/windows/window_state.h"
#include "queue/core/model/reservation.h"
#include "sluice/quantity.h"
#include "queue/features/namespace/namespace_quota.h"

bool lead_is_on(const struct clusterqueue *cq)
{
	return cq->lead && cq->lead->on;
}

void lead_free(struct clusterqueue *cq)
{
	if (cq->lead)
		list_leave(&cq->lead->leading);
	free(cq->lead);
	cq->lead = NULL;
}

static int64_t lead_ms(const struct clusterqueue *cq)
{
	int64_t longest = 0;
	for (size_t i = 0; i < cq->window_state->npolicies; i++)
		longest = greater(longest, cq->window_state->policy[i]->spec.lead_ms);
	return longest;
}

static void lead_enter(struct queue *q, struct lead *l, bool on)
{
	l->on = on;
	if (on && !list_in(&l->leading))
		list_add(&q->leading, &l->leading);
	else if (!on)
		list_leave(&l->leading);
}

/* A lead that is on when its window opens stays on until lead_end(). */
void lead_plan(struct queue *q, struct clusterqueue *cq)
{
	int64_t ms = lead_ms(cq);
	bool opens =
		!cq->window_state->open && cq->window_state->opens_ms != CALENDAR_NEVER && ms > 0;
	if (!cq->lead && !opens)
		return;
	if (!cq->lead)
		cq->lead = mem_alloc(sizeof(*cq->lead));
	struct lead *l = cq->lead;
	int64_t at_ms = opens ? cq->window_state->opens_ms - ms : INT64_MAX;
	bool opened = l->on && cq->window_state->open && ms > 0;
	alarm_init(&l->alarm, ALARM_LEAD, cq->serial, cq);
	alarm_set(&q->alarms, &l->alarm, at_ms > q->now_ms ? at_ms : INT64_MAX);
	lead_enter(q, l, opened || at_ms <= q->now_ms);
}

void lead_ring(struct queue *q, struct clusterqueue *cq)
{
	lead_plan(q, cq);
	if (effective_quota_apply(q, cq->node))
		cohort_tree_settle(q, cq);
	effective_quota_divide(q);
	queue_touch_tree_of(q, cq);
}

/* ---- What it will need ---- */

struct wish {
	struct clusterqueue *cq;
	struct demand d; /* a line for each wanted row */
};

static int64_t *line_amount(struct wish *x, struct quota_row *row)
{
	for (size_t i = 0; i < x->d.nlines; i++)
		if (x->d.line[i].row == row)
			return &x->d.line[i].amount;
	if (x->d.nlines == QUEUE_LINES_MAX)
		return NULL;
	x->d.line[x->d.nlines] = (struct demand_line){.row = row};
	return &x->d.line[x->d.nlines++].amount;
}

/* The row's own quota, less what its own Jobs hold. */
static int64_t own_left(const struct quota_row *row)
{
	__int128 left = row->nominal - row->use[QUOTA_THEN];
	return left > 0 ? (int64_t)left : 0;
}

/* Adds an amount of a resource to the flavors that suit, in their order. */
static void wish_for(struct wish *x, const struct group *g, const struct need *n, int64_t amount)
{
	const struct resource_group *rg = &x->cq->spec.groups[n->group];
	for (size_t f = 0; f < rg->nflavors && amount > 0; f++) {
		struct quota_row *row = group_row(rg, f, n->resource);
		int64_t *wanted = claim_suits(&g->claim, n->group, f) ? line_amount(x, row) : NULL;
		int64_t more = wanted ? own_left(row) - *wanted : 0;
		if (more <= 0)
			continue;
		more = least(more, amount);
		*wanted += more;
		amount -= more;
	}
}

static void wish_of_line(const struct queue *q, struct wish *x, const struct tree *line)
{
	for (struct tree_node *n = tree_first(line); n; n = tree_next(n)) {
		const struct group *g = container_of(n, struct group, node);
		const struct window_state *s = window_state_of(g->head->lq);
		if (!s->open && s->opens_ms > x->cq->window_state->opens_ms)
			continue;
		if (namespace_quota_pods(q, g->cq, &g->claim, g->head) < g->shape->min_pods)
			continue;
		for (size_t i = 0; i < g->claim.nneeds; i++)
			wish_for(x, g, &g->claim.need[i],
				quantity_times(
					g->claim.need[i].amount, (int64_t)tree_count(&g->waiting)));
	}
}

static void wish_make(const struct queue *q, struct wish *x, struct clusterqueue *cq)
{
	*x = (struct wish){.cq = cq, .d = {.cq = cq}};
	wish_of_line(q, x, &cq->groups_waiting);
	list_each_entry(&cq->localqueues, const struct localqueue, lq, of_clusterqueue)
		wish_of_line(q, x, &lq->groups_waiting);
}

/* ---- Which runs give it back ---- */

static bool is_above(const struct quota_node *above, const struct quota_node *n)
{
	while (n && n != above)
		n = n->parent;
	return n != NULL;
}

/* The borrower's row, if it borrows from the owner: each node up to where the two meet uses more
 * than its own quota. Else NULL. */
static const struct quota_row *loan(
	const struct queue *q, const struct clusterqueue *borrower, const struct quota_row *owner)
{
	const struct quota_row *own = quota_row_like(&q->quota, borrower->node, owner);
	for (const struct quota_row *r = own; r; r = r->up) {
		if (is_above(r->node, owner->node))
			return own;
		if (!quota_borrows(r, QUOTA_THEN))
			return NULL;
	}
	return NULL;
}

/* A ClusterQueue that may borrow, and its next run to go. For each run that goes each borrower is
 * looked at once, so that ten thousand may go. */
struct borrower {
	const struct clusterqueue *cq;
	const struct tree_node *next;
};

/* Skips runs that were chosen already: they are away in THEN, but still in the victim index. And
 * those that a stop would end as Complete. */
static const struct tree_node *first_left(const struct tree_node *n)
{
	while (n && (victim_index_reservation(n)->gives_back ||
			    reservation_goes_last(victim_index_reservation(n))))
		n = tree_next(n);
	return n;
}

/* All borrowers of the row; the caller frees the array. Use only falls, so none is added later. */
static struct borrower *borrowers_of(
	const struct preemption *x, const struct quota_row *row, size_t *ret_n)
{
	const struct link *members = &x->d->cq->cohort_tree->members;
	size_t n = 0;
	struct borrower *all = mem_array(list_count(members), sizeof(*all));
	list_each_entry(members, struct clusterqueue, cq, of_cohort_tree) {
		const struct quota_row *lent = cq == x->d->cq ? NULL : loan(x->q, cq, row);
		if (lent)
			all[n++] = (struct borrower){
				cq, first_left(victim_index_first(
					    cq, (struct quota_row *)(uintptr_t)lent))};
	}
	*ret_n = n;
	return all;
}

static struct reservation *first_reservation(
	const struct preemption *x, const struct quota_row *row, struct borrower *all, size_t n)
{
	struct borrower *best = NULL;
	for (size_t i = 0; i < n; i++)
		if (all[i].next && loan(x->q, all[i].cq, row) &&
			(!best || reservation_cmp(victim_index_reservation(all[i].next),
					  victim_index_reservation(best->next)) < 0))
			best = &all[i];
	if (!best)
		return NULL;
	struct reservation *r = victim_index_reservation(best->next);
	r->gives_back = true;
	best->next = first_left(best->next);
	return r;
}

/* Gathers as much as can be had. The line is lowered to that. */
static void gather(struct preemption *x, struct demand_line *line)
{
	struct reservation *r;
	size_t n;
	if (quota_free(line->row, QUOTA_THEN) >= line->amount)
		return;
	struct borrower *all = borrowers_of(x, line->row, &n);
	while (quota_free(line->row, QUOTA_THEN) < line->amount &&
		(r = first_reservation(x, line->row, all, n)))
		victim_add(x, r, PREEMPTION_NONE);
	free(all);
	__int128 free_now = quota_free(line->row, QUOTA_THEN);
	if (free_now < line->amount)
		line->amount = free_now > 0 ? (int64_t)free_now : 0;
}

static void give_back(struct queue *q, const struct victim *v)
{
	struct reservation *r = v->reservation;
	if (v->keeps > 0) {
		giving_begin(q, r, v->keeps, NULL, PREEMPTION_NONE);
		return;
	}
	r->gives_back = true;
	reservation_suspect(q, r);
	reservation_leave(q, r);
}

static void recall(struct queue *q, struct clusterqueue *cq)
{
	struct wish wish;
	wish_make(q, &wish, cq);
	struct preemption x = {.q = q, .d = &wish.d};
	for (size_t i = 0; i < wish.d.nlines; i++)
		gather(&x, &wish.d.line[i]);
	for (size_t i = 0; i < x.nvictims; i++)
		x.victim[i].reservation->gives_back = false;
	victims_spare(&x, true);
	victims_put_back(&x);
	pods_first_for_window(&x);
	for (size_t i = 0; i < x.nvictims; i++)
		give_back(q, &x.victim[i]);
	free(x.victim);
}

void lead_recall(struct queue *q)
{
	list_each_entry(&q->leading, struct lead, lead, leading) {
		struct clusterqueue *cq = lead->alarm.owner;
		if (!cq->window_state->open && list_in(&cq->cohort_tree->dirty))
			recall(q, cq);
	}
}

const char *lead_policy(const struct queue *q, const struct clusterqueue *borrower)
{
	const struct runpolicy *by = NULL;
	list_each_entry(&q->leading, const struct lead, lead, leading) {
		const struct clusterqueue *cq = lead->alarm.owner;
		for (size_t i = 0;
			cq->cohort_tree == borrower->cohort_tree && i < cq->window_state->npolicies;
			i++) {
			const struct runpolicy *p = cq->window_state->policy[i];
			if (p->spec.lead_ms > (by ? by->spec.lead_ms : 0))
				by = p;
		}
	}
	return by ? by->object.name : NULL;
}

/* No promise is taken back, because this only makes more quota available. */
bool lead_end(struct queue *q)
{
	bool ended = false;
	for (struct link *l = q->leading.next, *next; l != &q->leading; l = next) {
		struct clusterqueue *cq =
			((struct lead *)container_of(l, struct lead, leading))->alarm.owner;
		next = l->next;
		if (!cq->window_state->open || list_in(&cq->cohort_tree->dirty))
			continue;
		lead_enter(q, cq->lead, false);
		if (effective_quota_apply(q, cq->node))
			quota_settle(&q->quota, quota_root(cq->node));
		effective_quota_divide(q);
		queue_touch(q, cq);
		ended = true;
	}
	return ended;
}
