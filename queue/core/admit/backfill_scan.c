/*
 * Strategy Backfill: the first Job that cannot start keeps its slot (backfill.h), or the first few have
 * bookings (backfill_heads.h), and Jobs behind them start if they delay none of these. Here heads are
 * found: the others are searched for as in BestEffortFIFO.
 */
#include "queue/core/admit/backfill.h"

#include <stdlib.h>

#include "queue/core/admit/backfill_heads.h"
#include "queue/core/model/kept_start.h"
#include "queue/core/admit/scan.h"
#include "queue/core/model/run_ends.h"
#include "queue/core/model/precedence.h"

/* ---- Which Jobs may pass ---- */

bool backfill_may_pass(const struct look *l, const int64_t *want, int64_t expected_ms)
{
	const struct scan *scan = l->scan;
	return !scan->slot.blocked || features_keep_some(l->q, scan->cq) ||
	       (expected_ms != INT64_MAX &&
		       run_ends_at(expected_ms, l->q->now_ms) <= scan->cq->backfill_slot->at_ms) ||
	       keys_may_fit(scan->cq, want, scan->slot.spare);
}

bool backfill_passes(struct look *l)
{
	struct nominee *e = &l->scan->nominee;
	struct queue *q = l->q;
	const struct claim *claim = &e->group->claim;
	if (backfills_several_heads(e->cq))
		return e->verdict == ASSIGN_FITS || !backfill_heads_before(e->w);
	while (l->scan->slot.blocked &&
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

/* ---- One head ---- */

static bool subtree_possible(const struct group *root, void *ctx)
{
	const struct scan *scan = ((const struct look *)ctx)->scan;
	return keys_may_fit(scan->cq, root->claim.least, scan->potential);
}

static bool group_possible(const struct group *g, void *ctx)
{
	return plain_fit_possible(((const struct look *)ctx)->scan->cq, &g->claim);
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

/* The head starts, or gets a slot. In a Cohort the slot is made anew each time, because
 * other ClusterQueues take part. */
static bool nominate_one_head(struct look *l)
{
	struct scan *scan = l->scan;
	keys_available(scan->cq, KEYS_POTENTIAL, scan->potential);
	struct group *head = scan->slot.blocked ? scan->slot.blocked : first_possible(l);
	if (!head) {
		backfill_end(l->q, scan->cq);
		return false;
	}
	if (!scan->slot.blocked && scan_asks(l, head))
		return true;
	if (!scan->slot.blocked && !backfill_is_head(scan->cq, group_head(head)))
		scan->cq->search = true;
	if (!scan->slot.blocked || scan->cq->node->parent)
		backfill_reserve(l->q, scan->cq, head);
	scan->slot.blocked = head;
	scan_watches_fit(l->q, scan->cq, head);
	backfill_keys(scan->cq, scan->slot.spare);
	return false;
}

/* ---- Several heads ---- */

static bool walk_enters(const struct tree_node *n, void *ctx)
{
	(void)n;
	return ((const struct look *)ctx)->scan->walk.looked < BACKFILL_WALK_MAX;
}

/* Returns whether the Job could be a head. */
static bool walk_stops_at(const struct tree_node *n, void *ctx)
{
	const struct look *l = ctx;
	const struct workload *w = container_of_const(n, struct workload, in_order);
	if (l->scan->walk.looked++ >= BACKFILL_WALK_MAX)
		return false;
	return !workload_fills_gaps(w) && !backfill_heads_walked(l->q, w) &&
	       features_group_may(l->q, w->group).answer == ANSWER_YES &&
	       plain_fit_possible(w->group->cq, &w->group->claim);
}

/* The next one in a line behind the place where the walk stands. */
static struct workload *walk_on(struct look *l, const struct tree *line)
{
	struct tree_search search = {walk_enters, walk_stops_at, l};
	const struct workload behind = {.key = l->scan->walk.at};
	struct tree_node *n =
		tree_seek(line, l->scan->walk.moved ? &behind.in_order : NULL, &search);
	return n ? container_of(n, struct workload, in_order) : NULL;
}

/* Where usage orders: of the LocalQueue that used least, then of the next one. */
static struct workload *walk_lines(struct look *l)
{
	size_t n, i = 0;
	struct scan *scan = l->scan;
	struct workload *found = NULL;
	struct precedence *line = precedence_lines(l->q, scan->cq, &n);
	while (i < n && line[i].lq != scan->walk.line)
		i++;
	if (i == n) {
		i = 0;
		scan->walk.moved = false;
	}
	for (; !found && i < n; i++) {
		scan->walk.line = line[i].lq;
		found = walk_on(l, &line[i].lq->order);
		if (!found)
			scan->walk.moved = false;
	}
	free(line);
	return found;
}

/* Writes the nominee. Of a group only the first is asked: if it cannot start, none can. */
static bool walked_may(struct look *l, const struct workload *w)
{
	const struct scan *scan = l->scan;
	bool booked = kept_start_of(l->q, w) != NULL;
	if (!booked)
		backfill_heads_drop_rest(l->q, scan->cq);
	return group_head(w->group) == w && scan->walk.passed != w->group &&
	       !(booked && scan->walk.still) && scan_asks(l, w->group);
}

static void walk_past(struct look *l, struct workload *w)
{
	struct scan *scan = l->scan;
	scan->walk.moved = true;
	scan->walk.at = *workload_standing(w);
	bool keeps = scan->walk.still && backfill_heads_keep(l->q, w);
	if (keeps || backfill_heads_book(l->q, w)) {
		scan->walk.heads++;
		scan_watches_fit(l->q, scan->cq, w->group);
	}
}

/* Walks along the Jobs until one can start, or there are as many heads as there may be. */
static bool nominate_before_heads(struct look *l)
{
	struct scan *scan = l->scan;
	struct clusterqueue *cq = scan->cq;
	keys_available(cq, KEYS_POTENTIAL, scan->potential);
	if (!scan->walk.begun) {
		scan->walk.begun = true;
		scan->walk.still = !cq->search && !cq->woken;
		backfill_heads_begin(l->q, cq, !scan->walk.still);
	}
	while (scan->walk.heads < (size_t)cq->spec.backfill_reservations) {
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
	if (!scan->walk.over) /* bookings have moved since heads were asked */
		scan_restart(scan, scan->stage);
	scan->walk.over = true;
	scan->nominee = (struct nominee){0};
	return false;
}

bool backfill_nominates_head(struct look *l)
{
	return backfills_several_heads(l->scan->cq) ? nominate_before_heads(l)
						    : nominate_one_head(l);
}
