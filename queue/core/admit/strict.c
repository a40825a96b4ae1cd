/*
 * Strategy StrictFIFO: the head of the ClusterQueue, or no Job. While the head cannot start, its quota
 * is kept (pass.h), and other Jobs start only where that takes nothing from it: gap fillers that stand
 * before it, and Jobs for which an AdvanceReservation keeps what they ask for.
 */
#include "queue/core/admit/scan.h"
#include "queue/core/model/precedence.h"

/* ---- What a preempted run leaves ---- */

/* Returns whether the run's pods did not get ready in time, preempted or not: its Job then waits
 * after a pause. */
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

/* ---- The head ---- */

/* Judged even if it plainly cannot start, because its choice says what quota is kept for it. */
static bool nominate_head(struct look *l)
{
	struct clusterqueue *cq = l->scan->cq;
	struct group *g = l->scan->strict.head;
	if (scan_judges(l, g))
		return true;
	scan_watches_fit(l->q, cq, g);
	return false;
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
	struct scan *scan = l->scan;
	struct nominee head = scan->nominee;
	if (!features_keep_some(l->q, scan->cq))
		return false;
	scan->strict.reserved_only = true;
	bool found = scan_searches(l);
	scan->strict.reserved_only = false;
	if (!found)
		scan->nominee = head;
	return found;
}

/* Gap fillers mostly stand last, so they are searched for only where no head is before them. What a
 * returning run leaves is not for the groups behind it. */
bool strict_nominates(struct look *l)
{
	struct scan *scan = l->scan;
	struct order_key first_gap_filler = first_to_fill_gaps(scan->cq);
	struct group *head = scan->strict.head = precedence_head(l->q, scan->cq);
	if (workload_returning_before(
		    scan->cq, head ? &head->key : &first_gap_filler, l->q->now_ms))
		return false;
	bool gaps_first = !head || scan->cq->spec.orders_by_usage ||
			  features_group_may(l->q, head).answer == ANSWER_LAST;
	if (gaps_first && scan_searches(l))
		return true;
	scan->nominee = (struct nominee){0};
	return head && (nominate_head(l) || nominate_reserved(l));
}
