/* Which policies bind which queue, and what follows when one of their Calendars turns. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "queue/rules/backfill.h"
#include "queue/core.h"
#include "queue/rules/windows/lead.h"
#include "queue/rules/windows/smaller_quota.h"
#include "queue/admit/effective_quota.h"
#include "queue/rules/windows/window_state.h"
#include "queue/model/reservation.h"
#include "queue/rules/money/terms.h"

/* ---- Which policies bind which queue ---- */

/* The policies of a ClusterQueue and, with `lq`, those that name the LocalQueue, in name order. The
 * caller frees the array. *ret_own: some name the LocalQueue. */
static struct runpolicy **policies_of(const struct queue *q, const struct clusterqueue *cq,
	const struct localqueue *lq, size_t *ret_n, bool *ret_own)
{
	size_t n = 0;
	struct runpolicy **all = NULL;
	*ret_own = false;
	for (struct runpolicy *p = runpolicy_first(q); p; p = runpolicy_next(p)) {
		bool own = lq && runpolicy_names_localqueue(p, lq->ns->name, lq->name);
		*ret_own = *ret_own || own;
		if (!own && !(cq->exists && runpolicy_names_clusterqueue(p, cq->name)))
			continue;
		all = mem_grow(all, n + 1, sizeof(struct runpolicy *));
		all[n++] = p;
	}
	*ret_n = n;
	return all;
}

static bool times_fit(struct runpolicy *const *policy, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (policy[i]->spec.fit != FIT_IGNORE)
			return true;
	return false;
}

/* Moves its Jobs that stand at `from`: takes them out, or places them. Returns how many. */
static size_t members_move(struct queue *q, struct localqueue *lq, enum workload_place from,
	void (*move)(struct queue *q, struct workload *w))
{
	size_t n = 0;
	list_each(&lq->members, l) {
		struct workload *w = container_of(l, struct workload, of_localqueue);
		if (w->place != from)
			continue;
		move(q, w);
		n++;
	}
	return n;
}

static void take_policies(struct window_state *r, struct runpolicy **policy, size_t n)
{
	free(r->policy);
	r->policy = policy;
	r->npolicies = n;
}

/* A group has one window state, and one duration where fits are timed. Jobs for which that changes
 * move to other groups. Only an edit does that, never a window that opens or closes. */
static void localqueue_form(struct queue *q, struct clusterqueue *cq, struct localqueue *lq)
{
	size_t n;
	bool own, was = window_state_of(lq)->times_fit;
	struct runpolicy **policy = policies_of(q, cq, lq, &n, &own);
	bool moves = own != (lq->window_state != NULL) || (own && was != times_fit(policy, n));
	/* If none moved, the caller has taken them all out and puts them back. */
	moves = moves && members_move(q, lq, PLACE_READY, workload_unplace) > 0;
	if (own && !lq->window_state)
		lq->window_state = window_state_new(
			map_hash_string(lq->ns->name) * 31 + map_hash_string(lq->name));
	if (own) {
		take_policies(lq->window_state, policy, n);
		window_state_compute(lq->window_state, q->now_ms);
	} else {
		free(policy);
		window_state_free(lq->window_state);
		lq->window_state = NULL;
	}
	rules_edited(q);
	q->counters.terms_edits++;
	if (moves)
		members_move(q, lq, PLACE_NOWHERE, workload_place);
}

/* The same for all LocalQueues with the ClusterQueue's window state. */
static void followers_move(struct queue *q, struct clusterqueue *cq, enum workload_place from,
	void (*move)(struct queue *q, struct workload *w))
{
	list_each(&cq->localqueues, l) {
		struct localqueue *lq = container_of(l, struct localqueue, of_clusterqueue);
		if (!lq->window_state)
			members_move(q, lq, from, move);
	}
}

static void clusterqueue_form(struct queue *q, struct clusterqueue *cq)
{
	size_t n;
	bool own;
	struct runpolicy **policy = policies_of(q, cq, NULL, &n, &own);
	bool moves = cq->window_state->times_fit != times_fit(policy, n);
	if (moves)
		followers_move(q, cq, PLACE_READY, workload_unplace);
	take_policies(cq->window_state, policy, n);
	rules_edited(q);
	q->counters.terms_edits++;
	window_state_compute(cq->window_state, q->now_ms);
	if (moves)
		followers_move(q, cq, PLACE_NOWHERE, workload_place);
}

static void queue_suspect_reservations(struct queue *q, struct clusterqueue *cq)
{
	list_each(&cq->reservations, l)
		reservation_suspect(q, container_of(l, struct reservation, of_clusterqueue));
}

/* The window state may have changed: for waiting Jobs, for runs, and for the effective quota. */
static void queue_turned(struct queue *q, struct clusterqueue *cq)
{
	if (!cq->window_state->open)
		backfill_end(q, cq);
	terms_ask_again(q, cq);
	lead_plan(q, cq);
	if (effective_quota_apply(q, cq->node))
		cohort_tree_settle(q, cq);
	effective_quota_divide(q);
	if (q->deciding && cq->quota_fell) /* by time; else by an edit */
		smaller_quota_begins(q, cq->cohort_tree);
	cq->cohort_tree->news++;
	queue_touch_reservation(q, cq);
	queue_suspect_reservations(q, cq);
}

void window_states_form_queue(struct queue *q, struct clusterqueue *cq)
{
	bool unbound = !runpolicy_first(q) && cq->window_state->npolicies == 0;
	if (unbound)
		return;
	clusterqueue_form(q, cq);
	list_each(&cq->localqueues, l)
		localqueue_form(q, cq, container_of(l, struct localqueue, of_clusterqueue));
	queue_turned(q, cq);
}

static struct clusterqueue *of_node(struct tree_node *n)
{
	return container_of(n, struct clusterqueue, by_name);
}

void window_states_form_localqueue(struct queue *q, struct localqueue *lq)
{
	list_each(&lq->reservations, l)
		reservation_suspect(q, container_of(l, struct reservation, of_localqueue));
	if (lq->cq) {
		localqueue_form(q, lq->cq, lq);
		return;
	}
	window_state_free(lq->window_state);
	lq->window_state = NULL;
}

/* LocalQueues of ClusterQueues without an object. Nothing starts from them, but they must not keep
 * pointers to policies that are gone. */
static void form_named(struct queue *q)
{
	struct clusterqueue *cq;
	map_each(&q->clusterqueues.map, i, cq) {
		if (tree_in(&cq->by_name))
			continue;
		list_each(&cq->localqueues, l)
			localqueue_form(q, cq, container_of(l, struct localqueue, of_clusterqueue));
	}
}

void window_states_form(struct queue *q)
{
	form_named(q);
	for (struct tree_node *n = tree_first(&q->clusterqueues.shown); n; n = tree_next(n)) {
		struct clusterqueue *cq = of_node(n);
		clusterqueue_form(q, cq);
		list_each(&cq->localqueues, l)
			localqueue_form(q, cq, container_of(l, struct localqueue, of_clusterqueue));
		queue_turned(q, cq);
	}
}

/* ---- A Calendar turned ---- */

static bool goes_by(const struct window_state *r, const struct calendar_ref *t)
{
	for (size_t i = 0; i < r->npolicies; i++)
		if (r->policy[i]->calendar_ref == t)
			return true;
	return false;
}

static bool window_state_turn(struct queue *q, struct window_state *r, const struct calendar_ref *t)
{
	if (!r || !goes_by(r, t))
		return false;
	window_state_compute(r, q->now_ms);
	return true;
}

void window_states_turn(struct queue *q, struct calendar_ref *t)
{
	if (list_empty(&t->policies))
		return;
	for (struct tree_node *n = tree_first(&q->clusterqueues.shown); n; n = tree_next(n)) {
		struct clusterqueue *cq = of_node(n);
		bool turned = window_state_turn(q, cq->window_state, t);
		list_each(&cq->localqueues, l) {
			struct localqueue *lq = container_of(l, struct localqueue, of_clusterqueue);
			turned = window_state_turn(q, lq->window_state, t) || turned;
		}
		if (turned)
			queue_turned(q, cq);
	}
}
