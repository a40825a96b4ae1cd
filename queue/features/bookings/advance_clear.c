#include "queue/features/bookings/advance_clear.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/symbol.h"
#include "queue/core/model/state.h"
#include "queue/core/model/reservation.h"
#include "queue/core/preempt/preemption.h"
#include "queue/features/bookings/advance_plan.h"

struct clearing {
	struct queue *q;
	struct advance_reservation *a;
	int64_t *kept; /* of each row, now */
	struct reservation **candidate;
	size_t ncandidates, room;
};

/* ---- Candidates ---- */

static bool may_use_another(const struct clearing *c, const struct reservation *r)
{
	list_each_entry(&r->cq->reserved, const struct advance_reservation, other, of_clusterqueue)
		if (other != c->a && other->open && advance_usable_by(other, r->lq, r->user))
			return true;
	return false;
}

/* Returns whether the object reserves of the row's flavor and resource. */
static bool is_asked_for(const struct clearing *c, const struct quota_row *row)
{
	for (size_t i = 0; i < c->a->nrows; i++)
		if (c->a->row[i].row->flavor == row->flavor &&
			c->a->row[i].row->resource == row->resource)
			return true;
	return false;
}

/* How much more of a row would that one keep, if the run ended? */
static int64_t keeps_of(const struct clearing *c, struct reservation *r, struct advance_row *x,
	const struct advance_reservation *older)
{
	int64_t until_ms = INT64_MAX;
	int64_t before = advance_used(older, x, x->left, c->q->now_ms, &until_ms);
	advance_users_count(r, -1, c->q->now_ms);
	int64_t after = advance_used(older, x, x->left, c->q->now_ms, &until_ms);
	advance_users_count(r, 1, c->q->now_ms);
	return before - after;
}

/* Would all that its end gives be kept by that one? */
static bool gives_nothing_beyond(
	const struct clearing *c, struct reservation *r, const struct advance_reservation *older)
{
	for (size_t i = 0; i < r->nlines; i++) {
		int64_t kept = 0;
		if (!is_asked_for(c, r->line[i].row))
			continue;
		for (size_t k = 0; k < older->nrows; k++)
			if (older->row[k].row == r->line[i].row)
				kept = keeps_of(c, r, &older->row[k], older);
		if (reservation_line_then(r, &r->line[i]) > kept)
			return false;
	}
	return true;
}

/* Returns whether the run uses what an older reservation keeps. So where quota is left for one of
 * two, they do not stop each other's runs in turn. */
static bool uses_an_older(const struct clearing *c, struct reservation *r)
{
	list_each_entry(&r->cq->reserved, const struct advance_reservation, other, of_clusterqueue)
		if (other != c->a && other->open && advance_reservation_cmp(other, c->a) < 0 &&
			advance_usable_by(other, r->lq, r->user) &&
			gives_nothing_beyond(c, r, other))
			return true;
	return false;
}

static void add(struct clearing *c, struct reservation *r, bool users, bool ends)
{
	bool own = r->cq == c->a->cq && advance_usable_by(c->a, r->lq, r->user);
	if (own || r->state == RESERVATION_LEAVING || r->lingers ||
		reservation_goes_last(r) != ends || may_use_another(c, r) != users ||
		(users && uses_an_older(c, r)))
		return;
	c->candidate =
		mem_room(c->candidate, c->ncandidates, &c->room, 64, sizeof(struct reservation *));
	c->candidate[c->ncandidates++] = r;
}

static int going_order(const void *a, const void *b)
{
	return reservation_cmp(*(struct reservation *const *)a, *(struct reservation *const *)b);
}

/* Of the whole tree; `users`: those that may use another one that is open; `ends`: those that a
 * stop would end as Complete. */
static void gather(struct clearing *c, const struct cohort_tree *tree, bool users, bool ends)
{
	c->ncandidates = 0;
	list_each_entry(&tree->members, struct clusterqueue, cq, of_cohort_tree) {
		list_each_entry(&cq->reservations, struct reservation, r, of_clusterqueue)
			add(c, r, users, ends);
		list_each_entry(&cq->promised, struct reservation, r, of_clusterqueue)
			add(c, r, users, ends);
	}
	if (c->ncandidates > 1)
		qsort(c->candidate, c->ncandidates, sizeof(struct reservation *), going_order);
}

/* ---- Which go ---- */

/* How much is lacking, of all rows. */
static __int128 shortage(const struct demand *d)
{
	__int128 lacks = 0;
	for (size_t i = 0; i < d->nlines; i++) {
		__int128 lack = d->line[i].amount - quota_free(d->line[i].row, QUOTA_THEN);
		lacks += lack > 0 ? lack : 0;
	}
	return lacks;
}

/* Takes it away, if something that is short becomes more. */
static void try_one(struct preemption *x, struct reservation *r)
{
	__int128 before = shortage(x->d);
	victim_add(x, r, PREEMPTION_NONE);
	if (shortage(x->d) < before)
		return;
	reservation_put_back(r);
	x->nvictims--;
}

static void try_all(struct clearing *c, struct preemption *x, const struct cohort_tree *tree)
{
	for (int pass = 0; pass < 4 && !demand_fits(x->d, true); pass++) {
		gather(c, tree, pass & 1, pass & 2);
		for (size_t i = 0; i < c->ncandidates && !demand_fits(x->d, true); i++)
			try_one(x, c->candidate[i]);
	}
}

static void stop(struct clearing *c, struct reservation *r)
{
	if (r->state == RESERVATION_PROMISED) {
		reservation_break_promise(c->q, r);
		return;
	}
	r->cleared_for = symbol_of(&c->q->symbols, c->a->object.name);
	c->a->stopped_total++;
	reservation_suspect(c->q, r);
	reservation_leave(c->q, r);
}

/* The rows of one node, from i on; returns the row behind them. What is kept is taken THEN
 * afterwards, so that the next one does not count on it. */
static size_t clear_node(struct clearing *c, size_t i)
{
	struct demand d = {.nlines = 0};
	const struct advance_reservation *a = c->a;
	struct quota_node *node = a->row[i].row->node;
	for (; i < a->nrows && a->row[i].row->node == node; i++)
		if (c->kept[i] > 0 && d.nlines < QUEUE_LINES_MAX)
			d.line[d.nlines++] =
				(struct demand_line){.row = a->row[i].row, .amount = c->kept[i]};
	const struct cohort_tree *tree = quota_root(node)->cohort_tree;
	struct preemption x = {.q = c->q, .d = &d};
	if (tree)
		try_all(c, &x, tree);
	victims_spare(&x, true);
	victims_put_back(&x);
	for (size_t v = 0; v < x.nvictims; v++)
		stop(c, x.victim[v].reservation);
	free(x.victim);
	return i;
}

static void give_kept(const struct clearing *c)
{
	for (size_t i = 0; i < c->a->nrows; i++)
		quota_give(c->a->row[i].row, QUOTA_THEN, c->kept[i]);
}

/* Nodes of one reservation follow each other: what the first keeps is taken when the next is asked. */
static void clear_one(struct clearing *c)
{
	for (size_t i = 0; i < c->a->nrows;) {
		size_t first = i;
		i = clear_node(c, i);
		for (size_t k = first; k < i; k++)
			quota_take(c->a->row[k].row, QUOTA_THEN, c->kept[k]);
	}
}

/* For all that are open: one that opens takes over runs that counted for another. */
void advance_clear(struct queue *q)
{
	size_t n = 0;
	if (!q->advance_reservations->clears)
		return;
	q->advance_reservations->clears = false;
	advance_refresh(q);
	struct clearing *all =
		mem_array(tree_count(&q->advance_reservations->all.by_name), sizeof(*all));
	struct advance_reservation *a = advance_reservation_first(q);
	for (; a; a = advance_reservation_next(a)) {
		int64_t until_ms;
		if (!a->booked || !a->open || a->nwindows == 0 || a->settled_ms > q->now_ms)
			continue;
		struct clearing *c = &all[n++];
		*c = (struct clearing){
			.q = q, .a = a, .kept = mem_array(a->nrows, sizeof(int64_t))};
		advance_kept(a, &a->window[0], q->now_ms, c->kept, &until_ms);
		clear_one(c);
		free(c->candidate);
	}
	for (size_t i = 0; i < n; i++) {
		give_kept(&all[i]);
		free(all[i].kept);
	}
	free(all);
}

size_t advance_still_leaving(const struct queue *q, const struct advance_reservation *a)
{
	size_t n = 0;
	for (struct tree_node *t = tree_first(&q->clusterqueues.shown); t; t = tree_next(t)) {
		const struct clusterqueue *cq = container_of(t, struct clusterqueue, by_name);
		if (cq->nleaving == 0)
			continue;
		list_each_entry(&cq->reservations, const struct reservation, r, of_clusterqueue)
			n += r->cleared_for && strcmp(r->cleared_for, a->object.name) == 0;
	}
	return n;
}
