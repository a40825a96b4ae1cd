#include "queue/core/admit/growth.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/order.h"
#include "queue/job/stop_rate.h"
#include "queue/core/model/reservation.h"
#include "queue/core/model/run.h"
#include "queue/core/model/shrink.h"
#include "queue/core/admit/backfill.h"
#include "sluice/quantity.h"

struct grow_wish {
	struct tree_node node; /* in clusterqueue.resting or quota_row.wishes */
	struct reservation *r;
	struct order_key key;  /* its Job's, as it stood when it took its place */
	int64_t next_ms;       /* rests until then */
	struct quota_row *row; /* asks there; NULL: it rests */
	int64_t each, least;   /* of one pod more in that row; the least in the subtree */
	const char *refused;   /* what refused it last, if it was not quota; or NULL */
	int refusals;	       /* ... in a row */
};

static struct grow_wish *wish_of(const struct tree_node *n)
{
	return container_of((struct tree_node *)(uintptr_t)n, struct grow_wish, node);
}

/* ---- Places ---- */

static int by_key(const struct tree_node *a, const struct tree_node *b)
{
	return order_cmp(&wish_of(a)->key, &wish_of(b)->key);
}

static int by_time(const struct tree_node *a, const struct tree_node *b)
{
	int64_t x = wish_of(a)->next_ms, y = wish_of(b)->next_ms;
	return x != y ? (x < y ? -1 : 1) : by_key(a, b);
}

static bool least_update(struct tree_node *n)
{
	struct grow_wish *w = wish_of(n);
	int64_t old = w->least;
	w->least = w->each;
	if (n->left && wish_of(n->left)->least < w->least)
		w->least = wish_of(n->left)->least;
	if (n->right && wish_of(n->right)->least < w->least)
		w->least = wish_of(n->right)->least;
	return w->least != old;
}

static void growth_arm(struct queue *q, struct clusterqueue *cq, int64_t at_most_ms)
{
	const struct tree_node *first = tree_first(&cq->resting);
	int64_t at_ms = first && wish_of(first)->next_ms < at_most_ms ? wish_of(first)->next_ms
								      : at_most_ms;
	alarm_init(&cq->growth, ALARM_GROWTH, cq->serial, cq);
	alarm_set(&q->alarms, &cq->growth, cq->exists ? at_ms : INT64_MAX);
}

static void wish_leave(struct grow_wish *w)
{
	struct clusterqueue *cq = w->r->cq;
	if (!tree_in(&w->node))
		return;
	cq->nasking -= w->row != NULL;
	tree_remove(w->row ? &w->row->wishes : &cq->resting, &w->node);
	w->row = NULL;
}

static void wish_stand(struct grow_wish *w)
{
	struct tree *t = w->row ? &w->row->wishes : &w->r->cq->resting;
	if (!t->cmp)
		tree_init(t, w->row ? by_key : by_time, w->row ? least_update : NULL);
	w->key = w->r->w->key;
	tree_insert(t, &w->node, w->r->serial);
	w->r->cq->nasking += w->row != NULL;
}

static void wish_rest(struct queue *q, struct grow_wish *w, int64_t until_ms)
{
	wish_leave(w);
	w->next_ms = until_ms;
	wish_stand(w);
	growth_arm(q, w->r->cq, INT64_MAX);
}

static int64_t interval_ms(const struct clusterqueue *cq)
{
	return cq->spec.grow_interval_ms > 0 ? cq->spec.grow_interval_ms : GROW_INTERVAL_MS;
}

/* Something else than quota refused it. It rests twice as long each time, so that those behind it in
 * the order are asked, too. */
static void wish_refused(struct queue *q, struct grow_wish *w, const char *why)
{
	int64_t interval = interval_ms(w->r->cq), rests = interval;
	for (int i = 0; i < w->refusals && rests < GROWTH_REST_MAX_MS; i++)
		rests = quantity_times(rests, 2);
	w->refused = why;
	w->refusals++;
	wish_rest(
		q, w, quantity_add(q->now_ms, greater(interval, least(rests, GROWTH_REST_MAX_MS))));
}

/* In the row of this line, which lacks `each` for one pod more. */
static void wish_ask(struct grow_wish *w, size_t line)
{
	wish_leave(w);
	w->row = w->r->line[line].row;
	w->refused = NULL;
	w->each = reservation_more(w->r, line, 1);
	wish_stand(w);
}

/* ---- Which runs want to ---- */

bool growth_asked_for(const struct reservation *r)
{
	const struct workload *w = r->w;
	return r->cq &&
	       (w->grow == GROW_YES || (w->grow == GROW_AS_QUEUE && r->cq->spec.grow_by_default));
}

/* Returns whether the run's lines are its ClusterQueue's. Those of an adopted run may be of
 * others. */
static bool stands_in_its_queue(const struct reservation *r)
{
	bool stands = r->nlines > 0;
	for (size_t i = 0; i < r->nlines; i++)
		stands = stands && r->line[i].row->node == r->cq->node;
	return stands;
}

static bool wishes(const struct reservation *r)
{
	return r->w->wants > r->pods && growth_asked_for(r) && r->pods > 0 && r->confirmed &&
	       r->state == RESERVATION_HELD && !r->guessed && !reservation_grows(r) &&
	       !reservation_gives(r) && stands_in_its_queue(r);
}

/* A run whose stop is under way or announced, or which its owner's edits moved to other queues, stays
 * as it is for now. So does one of which pods are still awaited. */
static bool may_now(const struct queue *q, const struct reservation *r)
{
	const struct workload *w = r->w;
	bool awaited = q->config.pods_ready_timeout_ms > 0 && !r->run.ready;
	return !r->stop_given && !r->lingers && !r->gives_back && !w->hold && !w->invalid &&
	       !awaited && r->run.noticed_ms == 0 && reclaim_keeps(r) >= r->pods &&
	       w->lq == r->lq && w->lq->cq == r->cq && w->lq->gate == GATE_OPEN;
}

void growth_forget(struct queue *q, struct reservation *r)
{
	(void)q;
	struct grow_wish *w = r->sizing ? r->sizing->wish : NULL;
	if (!w)
		return;
	wish_leave(w);
	free(w);
	r->sizing->wish = NULL;
}

/* Returns until when the run does not grow. */
static int64_t rested_ms(const struct queue *q, const struct reservation *r)
{
	const struct sizing *s = r->sizing;
	int64_t changed_ms = s->changed_ms > 0 ? s->changed_ms : r->reserved_ms;
	bool ahead = s->changed_ms == 0 && changed_ms > q->now_ms && q->now_ms > 0;
	if (ahead) /* adopted from a leader whose clock is faster */
		changed_ms = q->now_ms;
	return greater(quantity_add(changed_ms, interval_ms(r->cq)),
		stop_rate_returns(s->reclaims_paid_ms, s->changed_ms));
}

/* A wish that it has rests, too. */
static void rest_anew(struct queue *q, struct reservation *r)
{
	growth_heed(q, r);
	if (r->sizing && r->sizing->wish)
		wish_rest(q, r->sizing->wish, rested_ms(q, r));
}

void growth_shrank(struct queue *q, struct reservation *r, int64_t now_ms)
{
	reservation_sizing(q, r)->changed_ms = now_ms;
	rest_anew(q, r);
}

void growth_reclaimed(struct queue *q, struct reservation *r, int64_t now_ms)
{
	struct sizing *s = reservation_sizing(q, r);
	s->reclaims_paid_ms = stop_rate_pay(s->reclaims_paid_ms, now_ms);
	growth_shrank(q, r, now_ms);
}

void growth_heed(struct queue *q, struct reservation *r)
{
	if (!wishes(r)) {
		growth_forget(q, r);
		return;
	}
	struct sizing *s = reservation_sizing(q, r);
	if (s->wish)
		return;
	s->wish = mem_alloc(sizeof(*s->wish));
	s->wish->r = r;
	wish_rest(q, s->wish, rested_ms(q, r));
}

void growth_heed_all(struct queue *q, struct clusterqueue *cq)
{
	list_each_entry(&cq->reservations, struct reservation, r, of_clusterqueue)
		rest_anew(q, r);
	growth_arm(q, cq, INT64_MAX);
}

static void shorten_rests(struct queue *q, struct clusterqueue *cq)
{
	int64_t last_ms = quantity_add(q->now_ms, interval_ms(cq));
	for (size_t n; (n = tree_count(&cq->resting)) > 0;) {
		struct grow_wish *w = wish_of(tree_at(&cq->resting, n - 1));
		if (w->next_ms <= last_ms)
			return;
		wish_rest(q, w, last_ms);
	}
}

void growth_shorten_rests(struct queue *q)
{
	struct clusterqueue *cq;
	map_each(&q->clusterqueues.map, i, cq)
		shorten_rests(q, cq);
}

static void wake_due(struct queue *q, struct clusterqueue *cq)
{
	for (struct tree_node *n; (n = tree_first(&cq->resting));) {
		if (wish_of(n)->next_ms > q->now_ms)
			break;
		wish_ask(wish_of(n), 0);
	}
}

void growth_wake(struct queue *q, struct clusterqueue *cq)
{
	wake_due(q, cq);
	growth_arm(q, cq, INT64_MAX);
	if (cq->nasking > 0)
		queue_touch_fresh(q, cq);
}

bool growth_view(const struct reservation *r, struct growth_view *ret)
{
	const struct grow_wish *w = r->sizing ? r->sizing->wish : NULL;
	*ret = (struct growth_view){0};
	if (!w)
		return false;
	*ret = (struct growth_view){w->row ? 0 : w->next_ms, w->refused, NULL, 0};
	if (w->row && (w->each > quota_free(w->row, QUOTA_NOW) ||
			      w->each > quota_free(w->row, QUOTA_THEN))) {
		ret->row = w->row;
		ret->lacks = w->each;
	}
	return true;
}

/* ---- How many pods more ---- */

struct growth {
	struct queue *q;
	const struct scan *scan;
	size_t nscans;
	struct reservation *grown[GROWTH_ASKED_MAX];
	int32_t had[GROWTH_ASKED_MAX]; /* pods, each of them */
	size_t ngrown, asked;
	/* ClusterQueues in which a Job waits that could take back what others borrow; one of them. */
	const struct clusterqueue *taker;
	size_t ntakers;
};

/* Is there quota for so many pods more? *ret_line: the first that has none. */
static bool has_quota(const struct reservation *r, int32_t more, size_t *ret_line)
{
	for (size_t i = 0; i < r->nlines; i++) {
		const struct quota_row *row = r->line[i].row;
		int64_t amount = reservation_more(r, i, more);
		if (amount == INT64_MAX || !quota_has(row, QUOTA_NOW, amount) ||
			!quota_has(row, QUOTA_THEN, amount)) {
			*ret_line = i;
			return false;
		}
	}
	return true;
}

/* Of a flavor that nodes lend, no node may lend as much as a pod asks for any more. */
static bool too_large(const struct reservation *r)
{
	for (size_t i = 0; i < r->nlines; i++) {
		const struct flavor_pool *pool = r->line[i].row->flavor_pool;
		if (pool->lent && reservation_more(r, i, 1) > pool->most)
			return true;
	}
	return false;
}

struct startable {
	struct queue *q;
	const struct clusterqueue *cq;
	int64_t potential[KEYS_MAX];
};

static bool any_startable(const struct tree_node *subtree, void *ctx)
{
	const struct startable *s = ctx;
	const struct group *g = container_of_const(subtree, struct group, node);
	return keys_may_fit(s->cq, g->claim.least, s->potential) && features_subtree_may(s->q, g);
}

static bool is_startable(const struct tree_node *n, void *ctx)
{
	const struct startable *s = ctx;
	const struct group *g = container_of_const(n, struct group, node);
	return keys_may_fit(s->cq, g->claim.want, s->potential) &&
	       features_group_may(s->q, g).answer != ANSWER_NO;
}

/* Does a Job wait in cq that could take back what others borrow? One that is larger than all that
 * it could ever have cannot, nor one that a rule refuses now. */
static bool may_take_back(struct queue *q, const struct clusterqueue *cq)
{
	struct startable s = {.q = q, .cq = cq};
	struct tree_search search = {any_startable, is_startable, &s};
	bool may = cq->spec.preemption.reclaim_within_cohort != PREEMPT_NEVER || q->gap_fillers > 0;
	if (!may || tree_count(&cq->order) == 0 || !clusterqueue_active(cq))
		return false;
	keys_available(cq, KEYS_POTENTIAL, s.potential);
	return tree_seek(&cq->groups_waiting, NULL, &search) != NULL;
}

static void find_takers(struct growth *g)
{
	for (size_t i = 0; i < g->nscans; i++) {
		if (!may_take_back(g->q, g->scan[i].cq))
			continue;
		g->taker = g->scan[i].cq;
		g->ntakers++;
	}
}

/* Is there a Job in another ClusterQueue that could take back what r borrows? */
static bool may_be_taken_back(const struct growth *g, const struct reservation *r)
{
	return g->ntakers > 1 || (g->ntakers == 1 && g->taker != r->cq);
}

/* Returns whether the run would borrow with so many pods more. */
static bool borrows_with(const struct reservation *r, int32_t more)
{
	bool borrows = false;
	for (size_t i = 0; i < r->nlines; i++)
		quota_take(r->line[i].row, QUOTA_THEN, reservation_more(r, i, more));
	for (size_t i = 0; i < r->nlines; i++)
		for (const struct quota_row *row = r->line[i].row; row->up; row = row->up)
			borrows = borrows || (reservation_more(r, i, more) > 0 &&
						     quota_borrows(row, QUOTA_THEN));
	for (size_t i = 0; i < r->nlines; i++)
		quota_give(r->line[i].row, QUOTA_THEN, reservation_more(r, i, more));
	return borrows;
}

static bool may_borrow(const struct growth *g, const struct reservation *r, int32_t more)
{
	return !borrows_with(r, more) || !may_be_taken_back(g, r);
}

static bool has_room(const struct growth *g, const struct reservation *r, int32_t more)
{
	size_t line;
	return has_quota(r, more, &line) && !too_large(r) && may_borrow(g, r, more) &&
	       backfill_lets_grow(r, more);
}

/* The most up to `most` for which there is room. */
static int32_t room_for(const struct growth *g, const struct reservation *r, int32_t most)
{
	int32_t low = 0, high = most;
	while (low < high) {
		int32_t more = low + (high - low + 1) / 2;
		if (has_room(g, r, more))
			low = more;
		else
			high = more - 1;
	}
	return low;
}

/* The most up to `most` for which there is room, and that all rules let it have. *ret_line: if not
 * even one, the line without quota; SIZE_MAX: it was not quota, but *ret_why, the end of a sentence.
 */
static int32_t pods_more(const struct growth *g, const struct reservation *r, int32_t most,
	size_t *ret_line, const char **ret_why)
{
	int32_t room = room_for(g, r, most);
	*ret_line = SIZE_MAX;
	if (room > 0)
		return features_growth_pods(g->q, r, room, ret_why);
	if (!has_quota(r, 1, ret_line))
		return 0;
	if (too_large(r))
		*ret_why = "no node lends as much as a pod of it asks for";
	else if (!may_borrow(g, r, 1))
		*ret_why =
			"it would borrow quota that a Job waiting in another ClusterQueue could take back";
	else
		*ret_why = "it would delay the first Job of its queue (Backfill)";
	return 0;
}

/* ---- Turns ---- */

static bool may(const struct tree_node *subtree, void *ctx)
{
	return wish_of(subtree)->least <= *(const int64_t *)ctx;
}

static bool is(const struct tree_node *n, void *ctx)
{
	return wish_of(n)->each <= *(const int64_t *)ctx;
}

static int64_t room_in(const struct quota_row *row)
{
	__int128 now = quota_free(row, QUOTA_NOW), then = quota_free(row, QUOTA_THEN);
	__int128 least = now < then ? now : then;
	return least < 0 ? 0 : least > INT64_MAX ? INT64_MAX : (int64_t)least;
}

/* The first wish of cq whose row has room; NULL: there is none. */
static struct grow_wish *first_with_room(const struct clusterqueue *cq)
{
	struct grow_wish *first = NULL;
	for (size_t i = 0; i < cq->node->nrows; i++) {
		const struct quota_row *row = cq->node->row[i];
		int64_t room = room_in(row);
		struct tree_search search = {may, is, &room};
		const struct tree_node *n =
			tree_count(&row->wishes) ? tree_seek(&row->wishes, NULL, &search) : NULL;
		if (n && (!first || order_cmp(&wish_of(n)->key, &first->key) < 0))
			first = wish_of(n);
	}
	return first;
}

/* A Job that waits at the head of a StrictFIFO queue, or will when its pods are gone, passes none. */
static bool is_held_up(struct queue *q, const struct scan *s)
{
	static const struct order_key last = {.priority = INT32_MIN};
	return s->cq->spec.strategy == STRICT_FIFO &&
	       (s->strict.head || workload_returning_before(s->cq, &last, q->now_ms));
}

static bool may_grow_in(struct queue *q, const struct scan *s)
{
	return s->cq->nasking > 0 && clusterqueue_active(s->cq) && features_queue_may(q, s->cq) &&
	       !is_held_up(q, s);
}

/* Takes up to `most` pods more. Returns how many. */
static int32_t take(struct growth *g, struct reservation *r, int32_t most)
{
	size_t line;
	const char *why = NULL;
	int32_t left = r->w->wants - r->pods;
	int32_t more = pods_more(g, r, most < left ? most : left, &line, &why);
	if (more > 0) {
		backfill_grew(r, more);
		r->sizing->grows = true;
		run_grew(g->q, r, g->q->now_ms);
		reservation_grow(g->q, r, r->pods + more);
		reservation_borrows_more(r);
	} else if (r->sizing->wish && line != SIZE_MAX) {
		r->sizing->wish->refusals = 0;
		wish_ask(r->sizing->wish, line);
	} else if (r->sizing->wish) {
		wish_refused(g->q, r->sizing->wish, why);
	}
	return more;
}

/* Asks the next wish of a ClusterQueue, for one pod. False: it has none that may be asked. */
static bool ask_next(struct growth *g, const struct scan *s)
{
	struct grow_wish *w = may_grow_in(g->q, s) ? first_with_room(s->cq) : NULL;
	if (!w)
		return false;
	struct reservation *r = w->r;
	g->had[g->ngrown] = r->pods;
	g->asked++;
	if (!may_now(g->q, r))
		wish_refused(g->q, w, NULL);
	else if (take(g, r, 1) > 0)
		g->grown[g->ngrown++] = r;
	return true;
}

/* ClusterQueues take turns. True: there may be more to ask. */
static bool ask_in_turn(struct growth *g, size_t most)
{
	for (bool more = true; more;) {
		more = false;
		for (size_t i = 0; i < g->nscans; i++) {
			if (g->asked == most)
				return true;
			more = ask_next(g, &g->scan[i]) || more;
		}
	}
	return false;
}

/* What r takes in a round: `step`, but where there is not enough room for all that come after it, an
 * equal part. */
static int32_t fair_part(
	const struct growth *g, const struct reservation *r, int32_t step, size_t among)
{
	int64_t all = (int64_t)step * (int64_t)among;
	int32_t most = all < INT32_MAX - r->pods ? (int32_t)all : INT32_MAX - r->pods;
	int32_t part = room_for(g, r, most) / (int32_t)among;
	return part < 1 ? 1 : part < step ? part : step;
}

/* Shares what is left among the runs that have one pod more. */
static void share_rest(struct growth *g)
{
	bool done[GROWTH_ASKED_MAX] = {false};
	size_t left = g->ngrown;
	for (int32_t step = 1; left > 0; step = step > INT32_MAX / 2 ? INT32_MAX : step * 2) {
		size_t among = left;
		for (size_t i = 0; i < g->ngrown; i++) {
			if (done[i])
				continue;
			int32_t part = fair_part(g, g->grown[i], step, among--);
			done[i] = take(g, g->grown[i], part) < part;
			left -= done[i];
		}
	}
}

static size_t tell(const struct growth *g, struct decision *out)
{
	for (size_t i = 0; i < g->ngrown; i++)
		out[i] = (struct decision){.kind = DECISION_GROW,
			.uid = g->grown[i]->w->key.uid,
			.pods = g->grown[i]->pods,
			.had = g->had[i]};
	return g->ngrown;
}

static bool any_asks(const struct scan *scan, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (scan[i].cq->nasking > 0)
			return true;
	return false;
}

size_t growth_run(struct queue *q, const struct scan *scan, size_t nscans, struct decision *out,
	size_t cap, bool *ret_full)
{
	struct growth g = {.q = q, .scan = scan, .nscans = nscans};
	size_t most = cap < GROWTH_ASKED_MAX ? cap : GROWTH_ASKED_MAX;
	*ret_full = false;
	if (!any_asks(scan, nscans))
		return 0;
	find_takers(&g);
	bool more = ask_in_turn(&g, most);
	share_rest(&g);
	*ret_full = more && most == cap;
	for (size_t i = 0; i < nscans; i++)
		if (scan[i].cq->nasking > 0)
			growth_arm(q, scan[i].cq,
				more ? quantity_add(q->now_ms, GROWTH_PAUSE_MS) : INT64_MAX);
	return tell(&g, out);
}
