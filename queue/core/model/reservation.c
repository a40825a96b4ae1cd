#include "queue/core/model/reservation.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "base/order.h"
#include "queue/core/model/victim_index.h"
#include "queue/core/model/feature.h"
#include "queue/requests/lending.h"
#include "queue/core/model/runs.h"
#include "queue/core/model/shrink.h"
#include "queue/core/model/run.h"
#include "queue/core/model/user.h"

static size_t reservation_size(const struct reservation *r)
{
	return sizeof(*r) + r->nlines * sizeof(r->line[0]);
}

void reservations_init(struct queue *q)
{
	for (size_t n = 0; n <= RESERVATION_SLABS; n++)
		slab_init(&q->reservations[n],
			sizeof(struct reservation) + n * sizeof(struct reservation_line));
}

void reservations_done(struct queue *q)
{
	for (size_t n = 0; n <= RESERVATION_SLABS; n++)
		slab_done(&q->reservations[n]);
}

/* Nearly all have few lines; one with more has its own allocation. */
static struct reservation *take_memory(struct queue *q, size_t nlines)
{
	return nlines <= RESERVATION_SLABS ? slab_take(&q->reservations[nlines])
					   : mem_alloc(sizeof(struct reservation) +
						       nlines * sizeof(struct reservation_line));
}

static void give_memory(struct queue *q, struct reservation *r)
{
	if (r->nlines <= RESERVATION_SLABS)
		slab_give(&q->reservations[r->nlines], r);
	else
		free(r);
}

static struct reservation *reservation_new(struct queue *q, struct workload *w, size_t nlines)
{
	must(w->place == PLACE_NOWHERE || w->place == PLACE_READY);
	struct reservation *r = take_memory(q, nlines);
	r->w = w;
	r->nlines = nlines;
	r->serial = ++q->counters.reservations;
	r->reserved_ms = q->now_ms;
	r->shape = shape_keep(w->shape);
	r->lq = w->lq;
	r->lq->refs++;
	r->user = w->user;
	r->user->refs++;
	q->workload_bytes += reservation_size(r);
	return r;
}

static void reservation_join(struct reservation *r, struct clusterqueue *cq)
{
	r->cq = cq;
	if (cq)
		cq->refs++;
}

/* From here on its workload holds quota. */
static void reservation_hold(struct queue *q, struct reservation *r)
{
	must(!r->w->reservation);
	r->w->reservation = r;
	r->w->not_before_ms = 0;
	r->state = RESERVATION_HELD;
	r->expected_ms = r->w->expected_ms;
	r->lq->nreserving++;
	r->user->nreserving++;
	list_add(&r->lq->reservations, &r->of_localqueue);
	if (r->cq) {
		r->cq->counts.reserving++;
		list_add(&r->cq->reservations, &r->of_clusterqueue);
	}
	runs_after(q, r, RUN_RESERVED);
}

/* The part of base that `pods` of `base_pods` hold, rounded up. */
static int64_t part_of(int64_t base, int32_t pods, int32_t base_pods)
{
	int64_t each = base / base_pods, rest = base % base_pods;
	return each * pods + (rest * pods + base_pods - 1) / base_pods;
}

int64_t reservation_line_left(const struct reservation *r, const struct reservation_line *l)
{
	if (r->state == RESERVATION_LEAVING)
		return 0;
	if (!reservation_gives(r))
		return l->amount;
	return least(part_of(l->base, r->sizing->giving.keeps, r->base_pods), l->amount);
}

struct sizing *reservation_sizing(struct queue *q, struct reservation *r)
{
	if (!r->sizing) {
		r->sizing = mem_alloc(sizeof(*r->sizing));
		r->sizing->giving.keeps = r->sizing->reclaim.keeps = INT32_MAX;
		q->workload_bytes += sizeof(*r->sizing);
	}
	return r->sizing;
}

static void lines_take(struct reservation *r, enum quota_when when)
{
	for (size_t i = 0; i < r->nlines; i++)
		quota_take(r->line[i].row, when, r->line[i].amount);
}

/* Counts the lines as held by the reservation's user, promised or not. */
static void lines_count(struct queue *q, struct reservation *r)
{
	for (size_t i = 0; i < r->nlines; i++)
		user_hold(q, r->user, r->line[i].row->resource, r->line[i].amount);
}

static void lines_uncount(struct queue *q, struct reservation *r)
{
	for (size_t i = 0; i < r->nlines; i++)
		user_hold(q, r->user, r->line[i].row->resource, -r->line[i].amount);
}

void reservation_take_away(const struct reservation *r)
{
	for (size_t i = 0; i < r->nlines; i++)
		quota_give(r->line[i].row, QUOTA_THEN, reservation_line_then(r, &r->line[i]));
}

void reservation_put_back(const struct reservation *r)
{
	for (size_t i = 0; i < r->nlines; i++)
		quota_take(r->line[i].row, QUOTA_THEN, reservation_line_then(r, &r->line[i]));
}

static bool line_borrows(const struct reservation_line *l)
{
	bool borrows = false;
	for (const struct quota_row *row = l->row; row->up && l->amount > 0; row = row->up)
		borrows = borrows || quota_borrows(row, QUOTA_THEN);
	return borrows;
}

bool reservation_borrows_more(struct reservation *r)
{
	bool borrows = false;
	for (size_t i = 0; r->cq && i < r->nlines; i++)
		borrows = borrows || line_borrows(&r->line[i]);
	if (borrows)
		r->cq->borrows_more = r->cq->cohort_tree->borrows_more = true;
	return borrows;
}

static struct reservation *reservation_chosen(struct queue *q, struct workload *w,
	struct clusterqueue *cq, const struct claim *claim, const struct choice *choice)
{
	struct reservation *r = reservation_new(q, w, claim->nneeds);
	reservation_join(r, cq);
	r->pods = r->base_pods = choice->pods;
	for (size_t i = 0; i < claim->nneeds; i++) {
		const struct need *n = &claim->need[i];
		struct quota_row *row = need_row(cq, n, choice->flavor[n->group]);
		int64_t amount = need_amount(n, choice->pods);
		r->line[i] =
			(struct reservation_line){.row = row, .amount = amount, .base = amount};
	}
	return r;
}

struct reservation *reservation_start(struct queue *q, struct workload *w, struct clusterqueue *cq,
	const struct claim *claim, const struct choice *choice)
{
	struct reservation *r = reservation_chosen(q, w, cq, claim, choice);
	lines_take(r, QUOTA_NOW);
	lines_take(r, QUOTA_THEN);
	lines_count(q, r);
	reservation_borrows_more(r);
	reservation_hold(q, r);
	return r;
}

struct reservation *reservation_promise(struct queue *q, struct workload *w,
	struct clusterqueue *cq, const struct claim *claim, const struct choice *choice)
{
	must(!w->promise);
	struct reservation *r = reservation_chosen(q, w, cq, claim, choice);
	r->state = RESERVATION_PROMISED;
	r->lq->npromised++;
	r->user->npromised++;
	lines_take(r, QUOTA_THEN);
	lines_count(q, r);
	reservation_borrows_more(r);
	list_add(&cq->promised, &r->of_clusterqueue);
	w->promise = r;
	r->expected_ms = w->expected_ms;
	runs_after(q, r, RUN_PROMISED);
	return r;
}

bool reservation_fits_now(const struct reservation *r)
{
	for (size_t i = 0; i < r->nlines; i++)
		if (!quota_has(r->line[i].row, QUOTA_NOW, r->line[i].amount))
			return false;
	return true;
}

void reservation_keep_promise(struct queue *q, struct reservation *r)
{
	must(r->state == RESERVATION_PROMISED);
	workload_unplace(q, r->w);
	list_leave(&r->of_clusterqueue);
	r->lq->npromised--;
	r->user->npromised--;
	r->w->promise = NULL;
	r->reserved_ms = q->now_ms;
	free(r->giver);
	r->giver = NULL;
	r->ngivers = 0;
	lines_take(r, QUOTA_NOW);
	reservation_hold(q, r);
	runs_after(q, r, RUN_KEPT);
	workload_place(q, r->w);
}

const struct reservation *reservation_younger_promise(const struct reservation *r)
{
	const struct link *next = r->of_clusterqueue.next;
	return next == &r->cq->promised
		       ? NULL
		       : container_of_const(next, struct reservation, of_clusterqueue);
}

static void reservation_free(struct queue *q, struct reservation *r)
{
	if (r->cq)
		clusterqueue_put(&q->clusterqueues, r->cq);
	user_put(q, r->user);
	localqueue_put(&q->localqueues, r->lq);
	shape_put(&q->shapes, r->shape);
	q->workload_bytes -= reservation_size(r);
	runs_after(q, r, RUN_FORGOTTEN);
	if (r->sizing)
		q->workload_bytes -= sizeof(*r->sizing);
	free(r->sizing);
	free(r->giver);
	give_memory(q, r);
}

void reservation_forget_promise(struct queue *q, struct workload *w)
{
	struct reservation *r = w->promise;
	if (!r)
		return;
	must(r->state == RESERVATION_PROMISED && w->place == PLACE_NOWHERE);
	list_leave(&r->of_clusterqueue);
	w->promise = NULL;
	runs_before(q, r, RUN_UNPROMISED);
	reservation_take_away(r);
	lines_uncount(q, r);
	r->lq->npromised--;
	r->user->npromised--;
	queue_touch_tree_of(q, r->cq);
	reservation_free(q, r);
}

void reservation_break_promise(struct queue *q, struct reservation *r)
{
	struct workload *w = r->w;
	workload_unplace(q, w);
	reservation_forget_promise(q, w);
	workload_place(q, w);
}

void reservation_leave(struct queue *q, struct reservation *r)
{
	if (r->state != RESERVATION_HELD)
		return;
	runs_before(q, r, RUN_LEAVING);
	reservation_take_away(r);
	r->state = RESERVATION_LEAVING;
	giving_end(q, r);
	if (r->cq)
		r->cq->nleaving++;
	queue_touch_tree_of(q, r->cq);
}

void reservation_displace(struct queue *q, struct reservation *r, const struct workload *w,
	enum preemption_reason why)
{
	struct cohort_tree *tree = r->cq->cohort_tree;
	workload_note_yield(r->w, tree);
	if (q->config.fair_sharing)
		displacements_enter(&tree->displacements, tree->news, &w->key.uid, &r->w->key.uid);
	if (r->state == RESERVATION_PROMISED) {
		reservation_break_promise(q, r);
		return;
	}
	must(r->state == RESERVATION_HELD);
	disruption_spend(q, r);
	r->preemption = why;
	r->by = w->key.uid;
	if (r->cq)
		r->cq->counts.preempted_total++;
	reservation_suspect(q, r);
	reservation_leave(q, r);
}

/* How many pods the lines are for; 0: unknown. The Job is no proof: it may have shrunk since the
 * ledger was told, or its owner may have changed parallelism. So the lines say it, where they all
 * agree and the Job could have had so many pods. */
static int32_t pods_adopted(const struct workload *w, const struct quota_line *lines, size_t n)
{
	int64_t pods = 0;
	for (size_t i = 0; i < n; i++) {
		int64_t each = shape_amount(w->shape, lines[i].resource);
		if (each <= 0)
			continue;
		if (lines[i].amount % each != 0 || (pods && lines[i].amount / each != pods))
			return 0;
		pods = lines[i].amount / each;
	}
	return pods <= w->most_pods ? (int32_t)pods : 0;
}

int32_t reservation_pods_of(const struct workload *w, const struct quota_line *lines, size_t n)
{
	int32_t pods = pods_adopted(w, lines, n);
	return pods > 0 ? pods : w->shape->pods;
}

/* Works out anew for how many pods the lines of an adopted run are, now that its Job is read.
 * Returns whether it is another number. */
static bool recount(struct reservation *r)
{
	struct quota_line lines[QUEUE_LINES_MAX];
	size_t n = 0;
	for (size_t i = 0; i < r->nlines && n < QUEUE_LINES_MAX; i++)
		lines[n++] = (struct quota_line){
			.resource = r->line[i].row->resource, .amount = r->line[i].base};
	int32_t pods = pods_adopted(r->w, lines, n);
	r->guessed = pods == 0;
	if (r->guessed)
		pods = r->base_pods > 0 && !r->as_seen ? r->base_pods : r->w->shape->pods;
	if (pods == r->base_pods)
		return false;
	r->base_pods = r->pods = pods;
	return true;
}

static void take_shape(struct queue *q, struct reservation *r, struct shape *shape)
{
	shape_put(&q->shapes, r->shape);
	r->shape = shape;
}

/* Takes over the Job's shape, if the reservation has one from before its Job was read, or one
 * without a pod template. Returns whether it did. */
static bool learn_shape(struct queue *q, struct reservation *r)
{
	if (!r->as_seen && (r->shape->template || !r->w->shape->template))
		return false;
	r->as_seen = false;
	take_shape(q, r, shape_keep(r->w->shape));
	return true;
}

void reservation_heed(struct queue *q, struct reservation *r)
{
	bool another = r->guessed && r->pods == r->base_pods && recount(r);
	if (learn_shape(q, r) || another)
		runs_after(q, r, RUN_RESHAPED);
	bool lingers = r->w->deleting, ends = r->w->ends_when_stopped;
	if (r->lingers == lingers && r->ends_when_stopped == ends)
		return;
	victim_index_leave(r);
	r->lingers = lingers;
	r->ends_when_stopped = ends;
	victim_index_join(r);
	reservation_suspect(q, r);
}

/* The ClusterQueue that the first line names, known yet or not; without lines, its LocalQueue's. Or
 * NULL. With a reference for the caller. */
static struct clusterqueue *cq_adopting(
	struct queue *q, const struct workload *w, const struct quota_line *lines, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strncmp(lines[i].node, "cq/", 3) == 0)
			return clusterqueue_keep(&q->clusterqueues, lines[i].node + 3);
	if (w->lq->cq)
		w->lq->cq->refs++;
	return w->lq->cq;
}

void reservation_adopt(struct queue *q, struct workload *w, const struct quota_line *lines,
	size_t n, int64_t reserved_ms)
{
	struct reservation *r = reservation_new(q, w, n);
	struct clusterqueue *cq = cq_adopting(q, w, lines, n);
	reservation_join(r, cq);
	if (cq)
		clusterqueue_put(&q->clusterqueues, cq);
	r->base_pods = pods_adopted(w, lines, n);
	r->guessed = r->base_pods == 0;
	if (r->guessed)
		r->base_pods = w->shape->pods;
	r->pods = r->base_pods;
	r->lingers = w->deleting;
	r->ends_when_stopped = w->ends_when_stopped;
	r->reserved_ms = reserved_ms;
	r->run.noticed_ms = w->stopping_at_ms;
	r->run.adopted = true;
	for (size_t i = 0; i < n; i++) {
		struct quota_node *node = quota_node_of(&q->quota, lines[i].node);
		struct quota_row *row =
			quota_row_of(&q->quota, node, lines[i].flavor, lines[i].resource);
		int64_t amount = lines[i].amount > 0 ? lines[i].amount : 0;
		r->line[i] =
			(struct reservation_line){.row = row, .amount = amount, .base = amount};
	}
	lines_take(r, QUOTA_NOW);
	lines_take(r, QUOTA_THEN);
	lines_count(q, r);
	if (reservation_borrows_more(r))
		queue_touch_fresh(q, r->cq);
	reservation_hold(q, r);
	reservation_suspect(q, r);
}

void reservation_expect_as_seen(
	struct queue *q, struct reservation *r, struct shape *shape, int32_t pods)
{
	take_shape(q, r, shape);
	r->pods = r->base_pods = pods;
	r->guessed = r->as_seen = true;
	runs_after(q, r, RUN_RESHAPED);
}

static void line_lower(
	struct queue *q, struct reservation *r, struct reservation_line *l, int64_t amount)
{
	int64_t less = l->amount - amount, then = reservation_line_then(r, l);
	l->amount = amount;
	user_hold(q, r->user, l->row->resource, -less);
	if (less > 0 && r->run.end_ms > 0)
		usage_change(q, r->lq, l->row->resource, -less, r->run.end_ms);
	else if (less > 0)
		usage_change_next(q, r->lq, l->row->resource, -less);
	quota_give(l->row, QUOTA_NOW, less);
	int64_t given = then - reservation_line_then(r, l);
	quota_give(l->row, QUOTA_THEN, given);
	if (r->confirmed)
		l->row->used -= less;
	must(l->row->use[QUOTA_NOW] >= l->row->used && l->row->used >= 0);
	if (r->preemption == PREEMPTION_NONE && (!reservation_gives(r) || given > 0))
		queue_touch(q, l->row->node->owner);
	else
		queue_touch_tree_of(q, l->row->node->owner);
}

void reservation_end(struct queue *q, struct workload *w)
{
	must(w->reservation && w->place == PLACE_NOWHERE);
	struct reservation *r = w->reservation;
	runs_before(q, r, RUN_ENDED);
	for (size_t i = 0; i < r->nlines; i++)
		line_lower(q, r, &r->line[i], 0);
	giving_end(q, r);
	r->lq->nreserving--;
	r->user->nreserving--;
	r->lq->nadmitted -= r->confirmed;
	if (r->cq) {
		r->cq->counts.reserving--;
		r->cq->counts.admitted -= r->confirmed;
		r->cq->nleaving -= r->state == RESERVATION_LEAVING;
		list_leave(&r->of_clusterqueue);
	}
	list_leave(&r->of_localqueue);
	list_leave(&r->suspect);
	runs_after(q, r, RUN_ENDED);
	w->reservation = NULL;
	reservation_free(q, r);
}

void reservation_note_end(struct reservation *r)
{
	victim_index_leave(r);
	r->stop_given = true;
	victim_index_join(r);
}

int32_t reservation_pods_at_once(const struct reservation *r)
{
	int32_t asked = r->as_seen ? r->pods : r->w->shape->pods;
	return asked < r->pods && !reservation_grows(r) ? asked : r->pods;
}

const struct flavor *reservation_lender(const struct queue *q, const struct reservation *r)
{
	for (size_t i = 0; i < r->nlines; i++) {
		const struct quota_row *row = r->line[i].row;
		const struct flavor *f = flavor_find(&q->flavors, row->flavor);
		if (f && is_lendable(row->resource) && f->lending != LENDING_NONE)
			return f;
	}
	return NULL;
}

enum lending reservation_lending(const struct queue *q, const struct reservation *r)
{
	const struct flavor *f = reservation_lender(q, r);
	return f ? f->lending : LENDING_NONE;
}

void reservation_confirm(struct queue *q, struct reservation *r, int64_t now_ms)
{
	if (r->confirmed)
		return;
	r->confirmed = true;
	r->since_ms = now_ms;
	r->lq->nadmitted++;
	if (r->cq)
		r->cq->counts.admitted++;
	for (size_t i = 0; i < r->nlines; i++)
		r->line[i].row->used += r->line[i].amount;
	runs_after(q, r, RUN_CONFIRMED);
}

int64_t reservation_then(const struct reservation *r, size_t line, int32_t pods)
{
	int64_t then = reservation_line_then(r, &r->line[line]);
	if (pods >= reservation_pods_then(r))
		return then;
	int64_t part = pods > 0 ? part_of(r->line[line].base, pods, r->base_pods) : 0;
	return part < then ? part : then;
}

int64_t reservation_more(const struct reservation *r, size_t line, int32_t more)
{
	const struct reservation_line *l = &r->line[line];
	int64_t pods = (int64_t)r->pods + more;
	if (pods > INT32_MAX || l->base / r->base_pods > INT64_MAX / 2 / pods)
		return INT64_MAX;
	int64_t amount = part_of(l->base, (int32_t)pods, r->base_pods);
	return amount > l->amount ? amount - l->amount : 0;
}

static void line_raise(struct queue *q, struct reservation *r, size_t line, int64_t more)
{
	struct reservation_line *l = &r->line[line];
	l->amount += more;
	user_hold(q, r->user, l->row->resource, more);
	usage_change(q, r->lq, l->row->resource, more, q->now_ms);
	quota_take(l->row, QUOTA_NOW, more);
	quota_take(l->row, QUOTA_THEN, more);
	if (r->confirmed)
		l->row->used += more;
}

void reservation_grow(struct queue *q, struct reservation *r, int32_t pods)
{
	must(r->state == RESERVATION_HELD && pods > r->pods && r->base_pods > 0);
	each_feature(f, ALL_FEATURES, run_settle)
		f->run_settle(q, r, q->now_ms);
	runs_before(q, r, RUN_RESIZED);
	for (size_t i = 0; i < r->nlines; i++)
		line_raise(q, r, i, reservation_more(r, i, pods - r->pods));
	r->pods = pods;
	if (r->sizing)
		r->sizing->reclaim.keeps = INT32_MAX;
	runs_after(q, r, RUN_RESIZED);
}

bool reservation_shrink(struct queue *q, struct reservation *r, int32_t pods)
{
	if (pods < 0)
		pods = 0;
	if (pods >= r->pods || r->base_pods <= 0)
		return false;
	bool freed = false;
	r->pods = pods;
	runs_before(q, r, RUN_RESIZED);
	for (size_t i = 0; i < r->nlines; i++) {
		int64_t amount = part_of(r->line[i].base, pods, r->base_pods);
		freed = freed || amount < r->line[i].amount;
		line_lower(q, r, &r->line[i], amount);
	}
	if (pods <= reservation_pods_then(r))
		giving_end(q, r);
	runs_after(q, r, RUN_RESIZED);
	if (freed && r->lq->cq != r->cq)
		queue_touch_tree_of(q, r->lq->cq); /* there its user may have more */
	return freed;
}

void reservation_suspect(struct queue *q, struct reservation *r)
{
	if (!list_in(&r->suspect) && !r->stop_given)
		list_add(&q->suspects, &r->suspect);
}

void reservations_begin_by_now(struct queue *q)
{
	struct clusterqueue *cq;
	map_each(&q->clusterqueues.map, i, cq)
		list_each_entry(&cq->reservations, struct reservation, r, of_clusterqueue) {
			run_begins_by_now(q, r);
			if (r->reserved_ms <= q->now_ms)
				continue;
			victim_index_leave(r);
			r->reserved_ms = q->now_ms;
			victim_index_join(r);
		}
}
