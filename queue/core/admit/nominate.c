#include "queue/core/admit/nominate.h"

#include <stdlib.h>

#include "queue/core/admit/backfill.h"
#include "queue/core/model/precedence.h"
#include "queue/core/admit/backfill_heads.h"
#include "queue/core/admit/kept_start.h"

/* More fresh groups than this are cheaper to find by a search. */
#define FRESH_MAX 64

struct look {
	struct queue *q;
	struct scan *scan;
};

/* ---- Backfill: may it pass? ---- */

/* A bound: could a Job with such wants and such a duration pass the blocked head? */
static bool may_pass(const struct look *l, const int64_t *want, int64_t expected_ms)
{
	const struct scan *w = l->scan;
	return !w->blocked || features_keep_some(l->q, w->cq) ||
	       (expected_ms != INT64_MAX &&
		       backfill_end_ms(expected_ms, l->q->now_ms) <= w->cq->backfill_slot->at_ms) ||
	       keys_may_fit(w->cq, want, w->spare);
}

/* The nominee can start. Is there a flavor in which it does not delay the blocked head? */
static bool passes(struct look *l)
{
	struct nominee *e = &l->scan->nominee;
	struct queue *q = l->q;
	if (backfill_heads_of(e->cq))
		return e->verdict == ASSIGN_FITS || !backfill_heads_before(e->w);
	const struct claim *claim = &e->group->claim;
	if (features_keep_for(q, e))
		return true;
	if (l->scan->reserved_only)
		return false;
	while (l->scan->blocked &&
		!backfill_lets(e->cq, e->group, &e->choice, e->verdict != ASSIGN_FITS, q->now_ms)) {
		struct choice last = e->choice;
		if (e->verdict != ASSIGN_FITS || !choice_goes_on(e->cq, &last))
			return false;
		e->verdict = assign_flavors(q, e->cq, claim, e->w, last.pods, &last, &e->choice);
		if (e->verdict != ASSIGN_FITS)
			return false;
	}
	return true;
}

/* ---- Which group is first? ---- */

static bool judge(struct look *l, struct group *g)
{
	l->scan->nominee = (struct nominee){.cq = l->scan->cq, .group = g, .w = group_head(g)};
	int32_t pods = features_group_may(l->q, g).pods, all = g->shape->pods;
	pods = pods < all ? pods : all;
	return nominee_can_start(l->q, &l->scan->nominee, pods) &&
	       nominee_is_let(l->q, &l->scan->nominee) && passes(l);
}

static bool subtree_may(const struct tree_node *n, void *ctx)
{
	const struct scan *w = ((const struct look *)ctx)->scan;
	const struct group *g = container_of_const(n, struct group, node);
	const int64_t *least = g->claim.least;
	if (w->takes_back && (w->left == 0 || !keys_may_fit(w->cq, least, w->potential)))
		return false;
	if (!features_subtree_may(((const struct look *)ctx)->q, g))
		return false;
	return (keys_may_fit(w->cq, least, w->free) &&
		       may_pass((const struct look *)ctx, least, g->least_expected_ms)) ||
	       (w->displaces_from <= INT32_MAX && keys_may_fit(w->cq, least, w->potential));
}

static bool quota_may(struct look *l, struct group *g)
{
	if (!keys_may_fit(l->scan->cq, g->claim.want, l->scan->free) &&
		(!g->displaces || g->key.priority < l->scan->displaces_from ||
			!keys_may_fit(l->scan->cq, g->claim.want, l->scan->potential)))
		return false;
	return judge(l, g);
}

/* In a StrictFIFO queue only gap fillers before the head are searched for. */
static bool is_held_up(const struct look *l, const struct group *g)
{
	const struct scan *w = l->scan;
	if (w->cq->spec.strategy != STRICT_FIFO || w->reserved_only)
		return false;
	if (!workload_fills_gaps(group_head(g)))
		return true;
	return w->head && features_group_may(l->q, w->head).answer == w->stage &&
	       precedence_before(l->q, w->head, g);
}

/* Behind one whose priority is too low all are. */
static bool may_take_back(struct scan *w, const struct group *g)
{
	if (w->left == 0)
		return false;
	if (g->key.priority < w->displaces_from)
		w->left = 0;
	else
		w->left--;
	return g->key.priority >= w->displaces_from && g->displaces;
}

static bool group_may(const struct tree_node *n, void *ctx)
{
	struct look *l = ctx;
	struct group *g = (struct group *)container_of_const(n, struct group, node);
	if (l->scan->takes_back && !may_take_back(l->scan, g))
		return false;
	return features_group_may(l->q, g).answer == l->scan->stage && !is_held_up(l, g) &&
	       quota_may(l, g);
}

/* Has the scan gone past it? */
static bool was_passed(const struct scan *w, const struct group *g)
{
	bool scanned = g->lq ? g->lq->scanned : w->scanned;
	return scanned && order_cmp(&g->key, g->lq ? &g->lq->behind : &w->behind.key) <= 0;
}

/* At most FRESH_MAX, in the order of the queue. */
static size_t fresh_in_order(struct look *l, struct group *ret[FRESH_MAX])
{
	size_t n = 0;
	list_each_entry(&l->scan->cq->fresh, struct group, g, fresh) {
		size_t at = n++;
		for (; at > 0 && precedence_before(l->q, g, ret[at - 1]); at--)
			ret[at] = ret[at - 1];
		ret[at] = g;
	}
	return n;
}

/* Groups before the one that is found could not start, and are fresh no longer. Groups behind it
 * are asked after its turn, as in a search. Groups that a rule puts last are asked in the second
 * scan. */
static bool nominate_fresh(struct look *l)
{
	struct group *fresh[FRESH_MAX];
	size_t n = fresh_in_order(l, fresh);
	for (size_t i = 0; i < n; i++) {
		if (!was_passed(l->scan, fresh[i]) && group_may(&fresh[i]->node, l))
			return true;
		if (features_group_may(l->q, fresh[i]).answer != ANSWER_LAST ||
			l->scan->stage == ANSWER_LAST)
			group_judged(fresh[i]);
	}
	l->scan->nominee = (struct nominee){0};
	return false;
}

static bool nominate_by_search(struct look *l)
{
	struct tree_search search = {subtree_may, group_may, l};
	return tree_seek(&l->scan->cq->groups_waiting,
		       l->scan->scanned ? &l->scan->behind.node : NULL, &search) != NULL;
}

static bool seek_line(struct look *l, const struct localqueue *lq)
{
	struct tree_search search = {subtree_may, group_may, l};
	struct group behind = {.key = lq->behind};
	return tree_seek(&lq->groups_waiting, lq->scanned ? &behind.node : NULL, &search) != NULL;
}

/* From the LocalQueue that used least. Of several with equal usage, the first in order. */
static bool nominate_by_usage(struct look *l)
{
	size_t n, found = 0;
	struct nominee best = {0};
	struct precedence *line = precedence_lines(l->q, l->scan->cq, &n);
	for (size_t i = 0; i < n; i++) {
		if (best.group && line[i].usage > line[found].usage)
			break;
		if (!seek_line(l, line[i].lq) ||
			(best.group &&
				order_cmp(&best.group->key, &l->scan->nominee.group->key) < 0))
			continue;
		best = l->scan->nominee;
		found = i;
	}
	free(line);
	l->scan->nominee = best;
	return best.group != NULL;
}

/* Its pods did not get ready in time, preempted or not: it waits after a pause, from then on. */
static bool loses_its_place(const struct reservation *r)
{
	return r->run.stop == STOP_REASON_PODS_READY_TIMEOUT;
}

static bool comes_before(const struct workload *w, const struct order_key *key)
{
	struct order_key own = nice_own_key(w);
	return order_cmp(&own, key) < 0;
}

const struct workload *workload_returning_before(
	const struct clusterqueue *cq, const struct order_key *key, int64_t now_ms)
{
	if (cq->nleaving == 0)
		return NULL;
	list_each_entry(&cq->reservations, const struct reservation, r, of_clusterqueue)
		if (r->state == RESERVATION_LEAVING && r->preemption != PREEMPTION_NONE &&
			!loses_its_place(r) && !workload_fills_gaps(r->w) &&
			comes_before(r->w, key) && workload_returns(r->w, cq, now_ms))
			return r->w;
	return NULL;
}

/* The head cannot start now, and keeps quota from other groups. When it does not fit its window any
 * more, another group is first. Of several heads the first for which that comes is watched. */
static void fit_watch(struct queue *q, struct clusterqueue *cq, const struct group *g)
{
	int64_t until = features_group_may(q, g).until_ms;
	if (backfill_heads_of(cq) && until >= alarm_at(&cq->fit))
		return;
	alarm_init(&cq->fit, ALARM_FIT, cq->serial, cq);
	alarm_set(&q->alarms, &cq->fit, until == INT64_MAX ? INT64_MAX : until + 1);
}

/* Judged even if it plainly cannot start, because its choice says what quota is kept for it. */
static bool nominate_head(struct look *l)
{
	struct clusterqueue *cq = l->scan->cq;
	struct group *g = l->scan->head;
	if (judge(l, g))
		return true;
	fit_watch(l->q, cq, g);
	return false;
}

static bool subtree_possible(const struct group *root, void *ctx)
{
	const struct scan *w = ((const struct look *)ctx)->scan;
	return keys_may_fit(w->cq, root->claim.least, w->potential);
}

static bool group_possible(const struct group *g, void *ctx)
{
	return backfill_possible(((const struct look *)ctx)->scan->cq, g);
}

/* The first group that could run at some time. */
static struct group *first_possible(struct look *l)
{
	const struct clusterqueue *cq = l->scan->cq;
	struct precedence_search s = {ANSWER_YES, subtree_possible, group_possible, l};
	struct group *g = precedence_seek(l->q, cq, &s);
	if (g || !features_put_last(l->q, cq))
		return g;
	s.answer = ANSWER_LAST;
	return precedence_seek(l->q, cq, &s);
}

static void scan_restart(struct scan *w, enum answer stage)
{
	w->stage = stage;
	w->scanned = false;
	list_each_entry(&w->cq->localqueues, struct localqueue, lq, of_clusterqueue)
		lq->scanned = false;
}

/* ---- Backfill with several heads ---- */

static bool walk_enters(const struct tree_node *n, void *ctx)
{
	(void)n;
	return ((const struct look *)ctx)->scan->looked < BACKFILL_WALK_MAX;
}

/* Could it be a head? */
static bool walk_stops_at(const struct tree_node *n, void *ctx)
{
	const struct look *l = ctx;
	const struct workload *w = container_of_const(n, struct workload, in_order);
	if (l->scan->looked++ >= BACKFILL_WALK_MAX)
		return false;
	return !workload_fills_gaps(w) && !backfill_heads_walked(l->q, w) &&
	       features_group_may(l->q, w->group).answer == ANSWER_YES &&
	       backfill_possible(w->group->cq, w->group);
}

/* The next one in a line behind the place where the walk stands. */
static struct workload *walk_on(struct look *l, const struct tree *line)
{
	struct tree_search search = {walk_enters, walk_stops_at, l};
	const struct workload behind = {.key = l->scan->walked_key};
	struct tree_node *n = tree_seek(line, l->scan->walked ? &behind.in_order : NULL, &search);
	return n ? container_of(n, struct workload, in_order) : NULL;
}

/* Where usage orders: of the LocalQueue that used least, then of the next one. */
static struct workload *walk_lines(struct look *l)
{
	size_t n, i = 0;
	struct scan *s = l->scan;
	struct workload *found = NULL;
	struct precedence *line = precedence_lines(l->q, s->cq, &n);
	while (i < n && line[i].lq != s->walked_line)
		i++;
	if (i == n) {
		i = 0;
		s->walked = false;
	}
	for (; !found && i < n; i++) {
		s->walked_line = line[i].lq;
		found = walk_on(l, &line[i].lq->order);
		if (!found)
			s->walked = false;
	}
	free(line);
	return found;
}

/* Writes the nominee. Of a group only the first is asked: if it cannot start, none can. */
static bool walked_may(struct look *l, const struct workload *w)
{
	const struct scan *s = l->scan;
	bool booked = kept_start_of(l->q, w) != NULL;
	if (!booked)
		backfill_heads_drop_rest(l->q, s->cq);
	return group_head(w->group) == w && s->passed != w->group && !(booked && s->walks_still) &&
	       quota_may(l, w->group);
}

static void walk_past(struct look *l, struct workload *w)
{
	struct scan *s = l->scan;
	s->walked = true;
	s->walked_key = *workload_standing(w);
	bool keeps = s->walks_still && backfill_heads_keep(l->q, w);
	if (keeps || backfill_heads_book(l->q, w)) {
		s->heads++;
		fit_watch(l->q, s->cq, w->group);
	}
}

/* Walks along the Jobs until one can start, or there are as many heads as there may be. */
static bool nominate_before_heads(struct look *l)
{
	struct scan *s = l->scan;
	struct clusterqueue *cq = s->cq;
	keys_available(cq, KEYS_POTENTIAL, s->potential);
	if (!s->walks) {
		s->walks = true;
		s->walks_still = !cq->search && !cq->woken;
		backfill_heads_begin(l->q, cq, !s->walks_still);
	}
	while (s->heads < (size_t)cq->spec.backfill_reservations) {
		struct workload *w =
			cq->spec.orders_by_usage ? walk_lines(l) : walk_on(l, &cq->order);
		if (!w)
			break;
		if (walked_may(l, w))
			return true;
		walk_past(l, w);
	}
	backfill_heads_drop_rest(l->q, cq);
	backfill_watch(l->q, cq);
	if (!s->walk_over) /* bookings have moved since heads were asked */
		scan_restart(s, s->stage);
	s->walk_over = true;
	s->nominee = (struct nominee){0};
	return false;
}

/* Backfill: the head starts, or gets a slot. In a Cohort the slot is made anew each time, because
 * other ClusterQueues take part. */
static bool nominate_first(struct look *l)
{
	struct scan *w = l->scan;
	if (backfill_heads_of(w->cq))
		return nominate_before_heads(l);
	keys_available(w->cq, KEYS_POTENTIAL, w->potential);
	struct group *head = w->blocked ? w->blocked : first_possible(l);
	if (!head) {
		backfill_end(l->q, w->cq);
		return false;
	}
	if (!w->blocked && quota_may(l, head))
		return true;
	if (!w->blocked && !backfill_is_head(w->cq, group_head(head)))
		w->cq->search = true;
	if (!w->blocked || w->cq->node->parent)
		backfill_reserve(l->q, w->cq, head);
	w->blocked = head;
	fit_watch(l->q, w->cq, head);
	backfill_keys(w->cq, w->spare);
	return false;
}

static bool nominate_rest(struct look *l)
{
	const struct clusterqueue *cq = l->scan->cq;
	if (!cq->search && !cq->woken && cq->nfresh <= FRESH_MAX &&
		cq->spec.strategy != STRICT_FIFO)
		return nominate_fresh(l);
	return cq->spec.orders_by_usage ? nominate_by_usage(l) : nominate_by_search(l);
}

/* Groups that a rule puts last are asked in a second scan. */
static bool nominate_in_time(struct look *l)
{
	struct scan *w = l->scan;
	if (nominate_rest(l))
		return true;
	if (w->stage != ANSWER_YES || w->head || !features_put_last(l->q, w->cq))
		return false;
	scan_restart(w, ANSWER_LAST);
	return nominate_rest(l);
}

static struct order_key first_to_fill_gaps(const struct clusterqueue *cq)
{
	int32_t below = cq->spec.gap_fillers_below;
	return (struct order_key){.priority = below > INT32_MIN ? below - 1 : INT32_MIN};
}

/* The head cannot start. Jobs behind it start where an AdvanceReservation keeps for them what they
 * ask for. Else the nominee is the head, as before. */
static bool nominate_reserved(struct look *l)
{
	struct scan *w = l->scan;
	struct nominee head = w->nominee;
	if (!features_keep_some(l->q, w->cq))
		return false;
	w->reserved_only = true;
	bool found = nominate_in_time(l);
	w->reserved_only = false;
	if (!found)
		w->nominee = head;
	return found;
}

/* StrictFIFO: the head, or gap fillers before it. Those mostly stand last, so only where there is
 * no head. What a returning run leaves behind is not for the groups behind it. */
static bool nominate_strictly(struct look *l)
{
	struct scan *w = l->scan;
	struct order_key first_gap_filler = first_to_fill_gaps(w->cq);
	struct group *head = w->head = precedence_head(l->q, w->cq);
	if (workload_returning_before(w->cq, head ? &head->key : &first_gap_filler, l->q->now_ms))
		return false;
	bool gaps_first = !head || w->cq->spec.orders_by_usage ||
			  features_group_may(l->q, head).answer == ANSWER_LAST;
	if (gaps_first && nominate_in_time(l))
		return true;
	w->nominee = (struct nominee){0};
	return head && (nominate_head(l) || nominate_reserved(l));
}

/* No group of it was added, and nothing changed for those that wait. */
static bool is_quiet(const struct clusterqueue *cq)
{
	return !cq->search && !cq->woken && cq->nfresh == 0 &&
	       cq->spec.strategy == BEST_EFFORT_FIFO;
}

/* StrictFIFO and Backfill judge their heads again, and those are few. By usage no group is behind
 * all others. */
static bool takes_back_only(const struct clusterqueue *cq)
{
	return cq->woken && !cq->search && cq->nfresh == 0 &&
	       cq->spec.strategy == BEST_EFFORT_FIFO && !cq->spec.orders_by_usage;
}

/* Of all that wait in it the first has the highest. */
static int64_t first_priority(const struct clusterqueue *cq)
{
	const struct tree_node *first = tree_first(&cq->order);
	return first ? container_of_const(first, struct workload, in_order)->key.priority
		     : INT64_MIN;
}

bool scan_nominates(struct queue *q, struct scan *w, struct victims_survey *s)
{
	struct look look = {q, w};
	if (w->over)
		return false;
	w->nominee = (struct nominee){0};
	if (is_quiet(w->cq))
		return false;
	keys_available(w->cq, KEYS_FREE, w->free);
	w->displaces_from = tree_count(&w->cq->order) ? victims_from(q, w->cq, s) : INT64_MAX;
	w->takes_back = takes_back_only(w->cq);
	w->left = SCAN_TAKES_BACK_MAX;
	if (w->takes_back &&
		(first_priority(w->cq) < w->displaces_from || !victims_may_take_back(q, w->cq)))
		return false;
	if (w->takes_back)
		victims_reach(q, w->cq, s, w->potential);
	else if (w->displaces_from <= INT32_MAX)
		keys_available(w->cq, KEYS_POTENTIAL, w->potential);
	if (w->cq->spec.strategy == STRICT_FIFO)
		return nominate_strictly(&look);
	if (w->cq->spec.strategy == BACKFILL && nominate_first(&look))
		return true;
	return nominate_in_time(&look);
}

void scan_begin(struct queue *q, struct scan *w, struct clusterqueue *cq)
{
	if (cq->nfresh > FRESH_MAX)
		cq->search = true;
	*w = (struct scan){
		.cq = cq, .over = !clusterqueue_active(cq) || !features_queue_may(q, cq)};
	scan_restart(w, ANSWER_YES);
	alarm_clear(&q->alarms, &cq->fit);
}

void scan_on(struct scan *w, struct localqueue *lq, const struct order_key *key)
{
	if (lq) {
		lq->scanned = true;
		lq->behind = *key;
		return;
	}
	w->scanned = true;
	w->behind.key = *key;
}
