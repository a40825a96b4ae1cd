#include "queue/features/money/booked_start.h"

#include <stdlib.h>

#include "base/mem.h"
#include "queue/core/model/state.h"
#include "queue/core/model/reservation.h"
#include "queue/core/admit/combinations.h"
#include "queue/features/money/terms.h"
#include "sluice/quantity.h"
#include "queue/features/money/plan.h"

struct booking *booked_start_of(const struct workload *w)
{
	return w->terms ? w->terms->booking : NULL;
}

static void drop(struct queue *q, struct workload *w)
{
	quota_plan_unbook(&q->quota_plan, w->terms->booking);
	w->terms->booking = NULL;
}

void booked_start_over(struct queue *q, struct workload *w)
{
	if (w->terms)
		drop(q, w);
}

/* Jobs that it kept from starting are asked again. */
void booked_start_drop(struct queue *q, struct workload *w)
{
	const struct booking *b = booked_start_of(w);
	if (!b)
		return;
	if (q->kept_starts.count > 0 && b->root && b->root->cohort_tree)
		queue_touch_tree(q, b->root->cohort_tree);
	drop(q, w);
}

static bool may_book(struct queue *q, const struct workload *w)
{
	struct clusterqueue *cq = w->lq->cq;
	return w->terms->asked.cheapest && w->expected_ms > 0 && plan_of(q, cq) &&
	       clusterqueue_active(cq);
}

/* ---- Booking ---- */

/* The best so far, of all flavors. */
struct bargain {
	bool found;
	int64_t at_ms;
	struct charge cost;
	size_t n;
	struct booking_line line[QUEUE_LINES_MAX];
};

static struct hourly_price price_of(
	struct queue *q, const struct workload *w, struct booking_lines lines)
{
	struct quota_line priced[QUEUE_LINES_MAX];
	for (size_t i = 0; i < lines.n; i++) {
		const struct quota_row *row = lines.line[i].row;
		priced[i] =
			(struct quota_line){"", row->flavor, row->resource, lines.line[i].amount};
	}
	return plan_hourly_price(plan_of(q, w->lq->cq), priced, lines.n);
}

/* lines: what it would hold. */
static void look(struct queue *q, const struct workload *w, struct booking_lines lines,
	struct start_search s, struct bargain *best)
{
	struct found_start f = terms_find_start(q, w, &s);
	if (f.at_ms == INT64_MAX)
		return;
	struct charge cost = charge_of(price_of(q, w, lines), f.weight);
	bool cheaper = best->found && charge_cmp(cost, best->cost) < 0;
	bool better = !best->found || (s.at_all ? f.at_ms < best->at_ms : cheaper);
	if (!better)
		return;
	*best = (struct bargain){true, f.at_ms, cost, .n = lines.n};
	for (size_t i = 0; i < lines.n; i++)
		best->line[i] = lines.line[i];
}

struct bargains {
	struct bargain booked, alone; /* with what others booked; if it were alone */
};

/* Finds the Job's best starts in time, or at all. */
static void find(
	struct queue *q, const struct workload *w, struct start_search s, struct bargains *ret)
{
	struct claim claim;
	struct combination k;
	struct booking_line line[QUEUE_LINES_MAX];
	struct clusterqueue *cq = w->lq->cq;
	ret->booked.found = ret->alone.found = false;
	claim_init(&claim, q, cq, w->shape);
	bool more = !claim.uncovered && !claim.nowhere &&
		    combination_first_bookable(&k, cq, &claim, false);
	for (int i = 0; more && i < COMBINATIONS_BOOKABLE; i++) {
		size_t n = combination_lines(&k, false, line);
		struct booking_lines lines = {line, n};
		s.lines = lines;
		look(q, w, lines, s, &ret->booked);
		s.lines = (struct booking_lines){NULL, 0};
		look(q, w, lines, s, &ret->alone);
		more = combination_next(&k);
	}
	claim_done(&claim);
}

static void keep(
	struct queue *q, struct workload *w, const struct bargain *b, bool late, bool dearer)
{
	struct terms *t = w->terms;
	t->booked_late = late;
	t->booked_dearer = dearer;
	t->booked_for_ms = b->at_ms;
	t->booked_cost = b->cost;
	t->booked_as_of = q->counters.terms_edits;
	t->booking = quota_plan_book(&q->quota_plan, BOOKING_CHEAPEST, &w->key.uid,
		(struct booking_lines){b->line, b->n}, b->at_ms,
		quantity_add(b->at_ms, w->expected_ms));
}

/* ---- As an earlier leader told it ---- */

void booked_start_told(struct queue *q, struct workload *w, int64_t at_ms)
{
	struct terms *t = w->terms;
	if (!t || t->told_is_over || !t->asked.cheapest)
		return;
	t->told_ms = at_ms;
	/* Before those that were told nothing, which are asked at now_ms. */
	if (at_ms > 0 && !q->deciding && list_in(&t->of_clusterqueue) && !t->booking)
		alarm_set(&q->alarms, &t->alarm, q->now_ms - 1);
}

static bool book_told(struct queue *q, struct workload *w)
{
	struct bargains told, all;
	if (w->terms->told_ms <= 0)
		return false;
	find(q, w, (struct start_search){.only_ms = w->terms->told_ms}, &told);
	if (!told.booked.found)
		return false;
	find(q, w, (struct start_search){.at_all = false}, &all);
	keep(q, w, &told.booked, false,
		all.alone.found && charge_cmp(all.alone.cost, told.booked.cost) < 0);
	return w->terms->booking != NULL;
}

/* ---- Anew ---- */

/* *ret_cheapest: it could not be cheaper, were it alone, or would have no start then either. False:
 * there is no start in time. */
static bool book_in_time(struct queue *q, struct workload *w, bool *ret_cheapest)
{
	struct bargains all;
	find(q, w, (struct start_search){.at_all = false}, &all);
	*ret_cheapest = all.booked.found == all.alone.found &&
			(!all.booked.found || charge_cmp(all.booked.cost, all.alone.cost) <= 0);
	if (all.booked.found)
		keep(q, w, &all.booked, false, !*ret_cheapest);
	return all.booked.found;
}

/* As early as possible, unless its owner would rather not start then, or not at that price. */
static void book_late(struct queue *q, struct workload *w)
{
	struct bargains all;
	if (w->terms->asked.hold_when_missed || w->terms->asked.has_max_price)
		return;
	find(q, w, (struct start_search){.at_all = true}, &all);
	if (all.booked.found)
		keep(q, w, &all.booked, true, true);
}

/* Some start may be had that is better than the booked one. */
static void booked_starts_may_improve(struct queue *q, struct cohort_tree *tree)
{
	if (list_in(&tree->improvable))
		return;
	list_add(&q->improvable, &tree->improvable);
	if (tree->improve.serial == 0)
		alarm_init(&tree->improve, ALARM_IMPROVE, ++q->counters.alarms, NULL);
}

static void book(struct queue *q, struct workload *w)
{
	bool cheapest;
	if (!book_in_time(q, w, &cheapest))
		book_late(q, w);
	if (!cheapest)
		booked_starts_may_improve(q, w->lq->cq->cohort_tree);
}

/* Returns whether the booked start is still worth keeping. One whose time has come is as long as it
 * could start now. */
static bool stands(struct queue *q, const struct workload *w)
{
	struct booking *b = w->terms->booking;
	if (b->until_ms - b->from_ms != w->expected_ms ||
		w->terms->booked_as_of != q->counters.terms_edits ||
		(b->nlines > 0 && b->line[0].row->node != w->lq->cq->node))
		return false;
	if (b->from_ms <= q->now_ms)
		quota_plan_move(
			&q->quota_plan, b, q->now_ms, quantity_add(q->now_ms, w->expected_ms));
	return quota_plan_stands(&q->quota_plan, b);
}

void booked_start_ask(struct queue *q, struct workload *w)
{
	if (!may_book(q, w)) {
		booked_start_drop(q, w);
		return;
	}
	booked_runs_begin(q, w->lq->cq);
	if (!w->terms->booking || !stands(q, w)) {
		booked_start_drop(q, w);
		if (!quota_plan_full(w->lq->cq->node) && !book_told(q, w))
			book(q, w);
	}
	w->terms->told_is_over = !q->paused;
	if (w->terms->told_is_over)
		w->terms->told_ms = 0;
}

/* ---- All again, the widest first ---- */

/* A Job that waits for its booked start, and what it has booked. */
struct movable {
	struct workload *w;
	struct booking *booking;
	bool late, dearer;
	int64_t for_ms;
	struct charge cost;
	struct hourly_price price; /* how wide it is */
};

struct movables {
	struct movable *all;
	size_t n;
	size_t late;	    /* bookings that are */
	struct charge cost; /* of all */
	__int128 start_ms;  /* ... the sum */
};

static bool waits_for_its_time(const struct queue *q, const struct workload *w)
{
	const struct booking *b = w->terms->booking;
	return b && !w->reservation && !w->promise && w->lq && b->from_ms >= q->now_ms;
}

static void gather_one(struct queue *q, struct movables *m, struct workload *w)
{
	const struct terms *t = w->terms;
	struct movable one = {w, t->booking, t->booked_late, t->booked_dearer, t->booked_for_ms,
		t->booked_cost,
		price_of(q, w, (struct booking_lines){t->booking->line, t->booking->nlines})};
	if (m->n > BOOKED_IMPROVE_MAX)
		return;
	m->all[m->n++] = one;
	m->late += one.late;
	m->cost = charge_add(m->cost, one.cost);
	m->start_ms += one.booking->from_ms;
}

/* Costs of two PricePlans cannot be added: those of the first plan that is met. */
static void gather(struct queue *q, const struct cohort_tree *tree, struct movables *ret)
{
	const struct plan *plan = NULL;
	*ret = (struct movables){.all = mem_array(BOOKED_IMPROVE_MAX + 1, sizeof(*ret->all))};
	list_each_entry(&tree->members, struct clusterqueue, cq, of_cohort_tree) {
		if (!plan)
			plan = plan_of(q, cq);
		if (!plan || plan_of(q, cq) != plan)
			continue;
		list_each_entry(&cq->timed, const struct terms, t, of_clusterqueue) {
			struct workload *w = t->w;
			if (waits_for_its_time(q, w))
				gather_one(q, ret, w);
		}
	}
}

static int widest_first(const void *a, const void *b)
{
	const struct movable *x = a, *y = b;
	if (hourly_price_cmp(x->price, y->price) != 0)
		return -hourly_price_cmp(x->price, y->price);
	if (x->w->expected_ms != y->w->expected_ms)
		return x->w->expected_ms > y->w->expected_ms ? -1 : 1;
	return order_cmp(&x->w->key, &y->w->key);
}

/* Books all anew, at last those for which nothing in time is left: so these are in no other's
 * way. */
static void book_all(struct queue *q, const struct movables *m)
{
	bool cheapest;
	for (size_t i = 0; i < m->n; i++) {
		quota_plan_set_aside(&q->quota_plan, m->all[i].booking);
		m->all[i].w->terms->booking = NULL;
	}
	for (size_t i = 0; i < m->n; i++)
		book_in_time(q, m->all[i].w, &cheapest);
	for (size_t i = 0; i < m->n; i++)
		if (!m->all[i].w->terms->booking)
			book_late(q, m->all[i].w);
}

/* None has lost its booking. Fewer Jobs miss their deadline, or as many, and all costs less, or as
 * much, and they start earlier. */
static bool is_better(const struct movables *m)
{
	size_t late = 0;
	struct charge cost = {0};
	__int128 start_ms = 0;
	for (size_t i = 0; i < m->n; i++) {
		const struct terms *t = m->all[i].w->terms;
		if (!t->booking)
			return false;
		late += t->booked_late;
		cost = charge_add(cost, t->booked_cost);
		start_ms += t->booking->from_ms;
	}
	if (late != m->late)
		return late < m->late;
	if (charge_cmp(cost, m->cost) != 0)
		return charge_cmp(cost, m->cost) < 0;
	return start_ms < m->start_ms;
}

static void take_over(struct queue *q, struct cohort_tree *tree, const struct movables *m)
{
	for (size_t i = 0; i < m->n; i++) {
		quota_plan_unbook(&q->quota_plan, m->all[i].booking);
		alarm_set(&q->alarms, &m->all[i].w->terms->alarm, q->now_ms);
	}
	if (q->kept_starts.count > 0)
		queue_touch_tree(q, tree);
}

static void go_back(struct queue *q, const struct movables *m)
{
	for (size_t i = 0; i < m->n; i++)
		drop(q, m->all[i].w);
	for (size_t i = 0; i < m->n; i++) {
		struct terms *t = m->all[i].w->terms;
		quota_plan_put_back(&q->quota_plan, m->all[i].booking);
		t->booking = m->all[i].booking;
		t->booked_late = m->all[i].late;
		t->booked_dearer = m->all[i].dearer;
		t->booked_for_ms = m->all[i].for_ms;
		t->booked_cost = m->all[i].cost;
	}
}

static bool improve(struct queue *q, struct cohort_tree *tree)
{
	struct movables m;
	bool better = false;
	gather(q, tree, &m);
	if (m.n > 0 && m.n <= BOOKED_IMPROVE_MAX) {
		qsort(m.all, m.n, sizeof(*m.all), widest_first);
		book_all(q, &m);
		better = is_better(&m);
		if (better)
			take_over(q, tree, &m);
		else
			go_back(q, &m);
	}
	free(m.all);
	return better;
}

static bool was_lately(const struct queue *q, const struct cohort_tree *tree)
{
	return tree->improved_ms > 0 && tree->improved_ms <= q->now_ms &&
	       q->now_ms - tree->improved_ms < BOOKED_IMPROVE_MS;
}

bool booked_starts_improve(struct queue *q)
{
	bool moved = false;
	for (struct link *l = q->improvable.next, *next; l != &q->improvable; l = next) {
		struct cohort_tree *tree = container_of(l, struct cohort_tree, improvable);
		next = l->next;
		if (was_lately(q, tree)) {
			alarm_set(
				&q->alarms, &tree->improve, tree->improved_ms + BOOKED_IMPROVE_MS);
			continue;
		}
		list_leave(l);
		tree->improved_ms = q->now_ms;
		moved = improve(q, tree) || moved;
	}
	return moved;
}

void booked_starts_gain(struct queue *q, struct reservation *r)
{
	if (r->booking && r->booking->until_ms > q->now_ms && r->booking->root &&
		r->booking->root->bookings > 0)
		booked_starts_may_improve(q, r->cq->cohort_tree);
}
