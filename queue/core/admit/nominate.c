#include "queue/core/admit/nominate.h"

#include <stdlib.h>

#include "queue/core/admit/backfill_heads.h"
#include "queue/core/model/precedence.h"

/* More fresh groups than this are cheaper to find by a search. */
#define FRESH_MAX 64

/* ---- How far it has come ---- */

void scan_restart(struct scan *scan, enum answer stage)
{
	scan->stage = stage;
	scan->scanned = false;
	list_each_entry(&scan->cq->localqueues, struct localqueue, lq, of_clusterqueue)
		lq->scanned = false;
}

void scan_on(struct scan *scan, struct localqueue *lq, const struct order_key *key)
{
	if (lq) {
		lq->scanned = true;
		lq->behind = *key;
		return;
	}
	scan->scanned = true;
	scan->behind.key = *key;
}

/* Has the scan gone past it? */
static bool was_passed(const struct scan *scan, const struct group *g)
{
	bool scanned = g->lq ? g->lq->scanned : scan->scanned;
	return scanned && order_cmp(&g->key, g->lq ? &g->lq->behind : &scan->behind.key) <= 0;
}

/* ---- May a group start? ---- */

/* The nominee can start. May it, beside what is kept for others? */
static bool passes(struct look *l)
{
	bool heads = backfills_several_heads(l->scan->cq);
	if (!heads && features_keep_for(l->q, &l->scan->nominee))
		return true;
	return !l->scan->strict.reserved_only && backfill_passes(l);
}

bool scan_judges(struct look *l, struct group *g)
{
	l->scan->nominee = (struct nominee){.cq = l->scan->cq, .group = g, .w = group_head(g)};
	int32_t pods = features_group_may(l->q, g).pods, all = g->shape->pods;
	pods = pods < all ? pods : all;
	return nominee_can_start(l->q, &l->scan->nominee, pods) &&
	       nominee_is_let(l->q, &l->scan->nominee) && passes(l);
}

static bool subtree_may(const struct tree_node *n, void *ctx)
{
	const struct scan *scan = ((const struct look *)ctx)->scan;
	const struct group *g = container_of_const(n, struct group, node);
	const int64_t *least = g->claim.least;
	if (scan->takes_back &&
		(scan->left == 0 || !keys_may_fit(scan->cq, least, scan->potential)))
		return false;
	if (!features_subtree_may(((const struct look *)ctx)->q, g))
		return false;
	return (keys_may_fit(scan->cq, least, scan->free) &&
		       backfill_may_pass((const struct look *)ctx, least, g->least_expected_ms)) ||
	       (scan->displaces_from <= INT32_MAX &&
		       keys_may_fit(scan->cq, least, scan->potential));
}

bool scan_asks(struct look *l, struct group *g)
{
	if (!keys_may_fit(l->scan->cq, g->claim.want, l->scan->free) &&
		(!g->displaces || g->key.priority < l->scan->displaces_from ||
			!keys_may_fit(l->scan->cq, g->claim.want, l->scan->potential)))
		return false;
	return scan_judges(l, g);
}

/* In a StrictFIFO queue only gap fillers before the head are searched for. */
static bool is_held_up(const struct look *l, const struct group *g)
{
	const struct scan *scan = l->scan;
	if (scan->cq->spec.strategy != STRICT_FIFO || scan->strict.reserved_only)
		return false;
	if (!workload_fills_gaps(group_head(g)))
		return true;
	return scan->strict.head &&
	       features_group_may(l->q, scan->strict.head).answer == scan->stage &&
	       precedence_before(l->q, scan->strict.head, g);
}

/* Behind one whose priority is too low all are. */
static bool may_take_back(struct scan *scan, const struct group *g)
{
	if (scan->left == 0)
		return false;
	if (g->key.priority < scan->displaces_from)
		scan->left = 0;
	else
		scan->left--;
	return g->key.priority >= scan->displaces_from && g->displaces;
}

static bool group_may(const struct tree_node *n, void *ctx)
{
	struct look *l = ctx;
	struct group *g = (struct group *)container_of_const(n, struct group, node);
	if (l->scan->takes_back && !may_take_back(l->scan, g))
		return false;
	return features_group_may(l->q, g).answer == l->scan->stage && !is_held_up(l, g) &&
	       scan_asks(l, g);
}

/* ---- The search ---- */

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
static bool search_fresh(struct look *l)
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

static bool search_all(struct look *l)
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
static bool search_by_usage(struct look *l)
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

static bool search_on(struct look *l)
{
	const struct clusterqueue *cq = l->scan->cq;
	if (!cq->search && !cq->woken && cq->nfresh <= FRESH_MAX &&
		cq->spec.strategy != STRICT_FIFO)
		return search_fresh(l);
	return cq->spec.orders_by_usage ? search_by_usage(l) : search_all(l);
}

/* Groups that a rule puts last are asked in a second scan. */
bool scan_searches(struct look *l)
{
	struct scan *scan = l->scan;
	if (search_on(l))
		return true;
	if (scan->stage != ANSWER_YES || scan->strict.head || !features_put_last(l->q, scan->cq))
		return false;
	scan_restart(scan, ANSWER_LAST);
	return search_on(l);
}

void scan_watches_fit(struct queue *q, struct clusterqueue *cq, const struct group *g)
{
	int64_t until = features_group_may(q, g).until_ms;
	if (backfills_several_heads(cq) && until >= alarm_at(&cq->fit))
		return;
	alarm_init(&cq->fit, ALARM_FIT, cq->serial, cq);
	alarm_set(&q->alarms, &cq->fit, until == INT64_MAX ? INT64_MAX : until + 1);
}

/* ---- A turn ---- */

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

bool scan_nominates(struct queue *q, struct scan *scan, struct victims_survey *s)
{
	struct look look = {q, scan};
	if (scan->over)
		return false;
	scan->nominee = (struct nominee){0};
	if (is_quiet(scan->cq))
		return false;
	keys_available(scan->cq, KEYS_FREE, scan->free);
	scan->displaces_from =
		tree_count(&scan->cq->order) ? victims_from(q, scan->cq, s) : INT64_MAX;
	scan->takes_back = takes_back_only(scan->cq);
	scan->left = SCAN_TAKES_BACK_MAX;
	if (scan->takes_back && (first_priority(scan->cq) < scan->displaces_from ||
					!victims_may_take_back(q, scan->cq)))
		return false;
	if (scan->takes_back)
		victims_reach(q, scan->cq, s, scan->potential);
	else if (scan->displaces_from <= INT32_MAX)
		keys_available(scan->cq, KEYS_POTENTIAL, scan->potential);
	switch (scan->cq->spec.strategy) {
	case STRICT_FIFO:
		return strict_nominates(&look);
	case BACKFILL:
		return backfill_nominates_head(&look) || scan_searches(&look);
	case BEST_EFFORT_FIFO:
		return scan_searches(&look);
	}
	return false;
}

void scan_begin(struct queue *q, struct scan *scan, struct clusterqueue *cq)
{
	if (cq->nfresh > FRESH_MAX)
		cq->search = true;
	*scan = (struct scan){
		.cq = cq, .over = !clusterqueue_active(cq) || !features_queue_may(q, cq)};
	scan_restart(scan, ANSWER_YES);
	alarm_clear(&q->alarms, &cq->fit);
}
