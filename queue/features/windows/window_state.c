#include "queue/features/windows/window_state.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "queue/core/model/effective_quota.h"
#include "queue/core/model/state.h"
#include "queue/core/model/clusterqueue.h"
#include "queue/core/model/localqueue.h"
#include "queue/core/model/reservation.h"
#include "queue/core/admit/backfill.h"
#include "queue/features/money/terms.h"
#include "queue/features/windows/lead.h"
#include "queue/features/windows/smaller_quota.h"
#include "sluice/quantity.h"

#define YEAR_MS (INT64_C(366) * 24 * 3600 * 1000)
#define LOOKS_MAX 4000 /* for Calendars that are never open at the same time */

const struct window_state WINDOW_STATE_ALWAYS = {
	.open = true,
	.opens_ms = 0,
	.closes_ms = CALENDAR_NEVER,
	.require_ms = CALENDAR_NEVER,
	.prefer_ms = CALENDAR_NEVER,
};

struct window_state *window_state_new(uint64_t hash)
{
	struct window_state *r = mem_alloc(sizeof(*r));
	*r = WINDOW_STATE_ALWAYS;
	r->hash = hash;
	return r;
}

void window_state_free(struct window_state *r)
{
	if (!r)
		return;
	free(r->policy);
	free(r);
}

const struct window_state *window_state_of(const struct localqueue *lq)
{
	if (lq->window_state)
		return lq->window_state;
	return lq->cq ? lq->cq->window_state : &WINDOW_STATE_ALWAYS;
}

/* ---- Fit ---- */

int64_t window_state_lasts_ms(const struct window_state *r, int64_t expected_ms)
{
	int64_t thousandths = quantity_times(expected_ms, 1000 + (int64_t)r->margin_permille);
	return thousandths == INT64_MAX ? INT64_MAX : (thousandths + 999) / 1000;
}

enum window_fit window_fit(const struct window_state *r, int64_t expected_ms, int64_t now_ms)
{
	if (!r->open)
		return WINDOW_DOES_NOT_FIT;
	if (!r->times_fit)
		return WINDOW_FITS;
	if (expected_ms <= 0)
		return r->hold_unknown ? WINDOW_DOES_NOT_FIT : WINDOW_FITS;
	int64_t end_ms = quantity_add(now_ms, window_state_lasts_ms(r, expected_ms));
	if (end_ms > r->require_ms)
		return WINDOW_DOES_NOT_FIT;
	return end_ms > r->prefer_ms ? WINDOW_PREFERS_LATER : WINDOW_FITS;
}

int64_t window_fit_until_ms(const struct window_state *r, int64_t expected_ms, int64_t now_ms)
{
	enum window_fit fit = window_fit(r, expected_ms, now_ms);
	if (fit == WINDOW_DOES_NOT_FIT || expected_ms <= 0 || !r->times_fit)
		return CALENDAR_NEVER;
	int64_t by_ms = r->require_ms;
	if (fit == WINDOW_FITS && r->prefer_ms < by_ms)
		by_ms = r->prefer_ms;
	return by_ms == CALENDAR_NEVER ? by_ms : by_ms - window_state_lasts_ms(r, expected_ms);
}

/* ---- What the Calendars say ---- */

static bool understood(const struct runpolicy *p)
{
	return p->calendar_ref && p->calendar_ref->calendar;
}

/* The first moment from at_ms on at which all are open; CALENDAR_NEVER: none before limit_ms. */
static int64_t opens_at(const struct window_state *r, int64_t at_ms, int64_t limit_ms)
{
	size_t open = 0;
	for (size_t i = 0; i < r->npolicies; i++)
		if (!understood(r->policy[i]))
			return CALENDAR_NEVER;
	for (size_t i = 0, looks = 0; open < r->npolicies; i = (i + 1) % r->npolicies) {
		struct calendar *c = r->policy[i]->calendar_ref->calendar;
		if (calendar_at(c, at_ms).open) {
			open++;
			continue;
		}
		at_ms = calendar_next_change(c, at_ms);
		open = 1;
		if (at_ms > limit_ms || ++looks > LOOKS_MAX)
			return CALENDAR_NEVER;
	}
	return at_ms;
}

/* While all are open: the first close among the policies with a fit that counts. */
static int64_t closes_at(
	const struct window_state *r, int64_t at_ms, bool (*counts)(enum start_fit f))
{
	int64_t first = CALENDAR_NEVER;
	for (size_t i = 0; i < r->npolicies; i++) {
		const struct runpolicy *p = r->policy[i];
		int64_t closes = counts(p->spec.fit)
					 ? calendar_next_change(p->calendar_ref->calendar, at_ms)
					 : CALENDAR_NEVER;
		first = closes < first ? closes : first;
	}
	return first;
}

static bool any_fit(enum start_fit f)
{
	(void)f;
	return true;
}

static bool is_require(enum start_fit f)
{
	return f == FIT_REQUIRE;
}

static bool is_prefer(enum start_fit f)
{
	return f == FIT_PREFER;
}

static void compute_open(struct window_state *r, int64_t now_ms)
{
	r->opens_ms = now_ms;
	r->closes_ms = closes_at(r, now_ms, any_fit);
	r->require_ms = closes_at(r, now_ms, is_require);
	r->prefer_ms = closes_at(r, now_ms, is_prefer);
	for (size_t i = 0; i < r->npolicies; i++) {
		const struct runpolicy *p = r->policy[i];
		bool closes =
			p->spec.fit != FIT_IGNORE && p->spec.hold_unknown &&
			calendar_next_change(p->calendar_ref->calendar, now_ms) != CALENDAR_NEVER;
		r->hold_unknown = r->hold_unknown || closes;
	}
}

/* Computes all but the policies for now_ms. */
static void window_state_compute(struct window_state *r, int64_t now_ms)
{
	struct window_state now = WINDOW_STATE_ALWAYS;
	now.policy = r->policy;
	now.npolicies = r->npolicies;
	now.hash = r->hash;
	for (size_t i = 0; i < r->npolicies; i++) {
		const struct runpolicy *p = r->policy[i];
		if (p->spec.fit != FIT_IGNORE) {
			now.times_fit = true;
			if (p->spec.margin_permille > now.margin_permille)
				now.margin_permille = p->spec.margin_permille;
		}
		if (!now.closed_by &&
			(!understood(p) || !calendar_at(p->calendar_ref->calendar, now_ms).open))
			now.closed_by = p;
	}
	now.open = !now.closed_by;
	if (now.open && now.npolicies > 0)
		compute_open(&now, now_ms);
	else if (!now.open)
		now.opens_ms = opens_at(&now, now_ms, quantity_add(now_ms, YEAR_MS));
	*r = now;
}

/* ---- The future ---- */

struct window_state window_state_at(const struct window_state *r, int64_t at_ms)
{
	struct window_state then = *r;
	window_state_compute(&then, at_ms);
	return then;
}

bool window_state_next_open(const struct window_state *r, int64_t duration_ms, int64_t limit_ms,
	int64_t *from_ms, int64_t *ret_to_ms)
{
	int64_t at_ms = *from_ms;
	int64_t lasts_ms = duration_ms > 0 ? window_state_lasts_ms(r, duration_ms) : 0;
	for (size_t looks = 0; looks < LOOKS_MAX && at_ms < limit_ms; looks++) {
		at_ms = opens_at(r, at_ms, limit_ms);
		if (at_ms >= limit_ms)
			return false;
		int64_t close_ms = closes_at(r, at_ms, any_fit);
		int64_t by_ms = lasts_ms > 0 ? closes_at(r, at_ms, is_require) : CALENDAR_NEVER;
		int64_t last_ms = close_ms == CALENDAR_NEVER ? CALENDAR_NEVER : close_ms - 1;
		if (by_ms != CALENDAR_NEVER && by_ms - lasts_ms < last_ms)
			last_ms = by_ms - lasts_ms;
		if (last_ms >= at_ms) {
			*from_ms = at_ms;
			*ret_to_ms = last_ms;
			return true;
		}
		at_ms = close_ms;
	}
	return false;
}

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

/* Takes the LocalQueue's Jobs that stand at `from` out, or places them. Returns how many. */
static size_t members_move(struct queue *q, struct localqueue *lq, enum workload_place from,
	void (*move)(struct queue *q, struct workload *w))
{
	size_t n = 0;
	list_each_entry(&lq->members, struct workload, w, of_localqueue) {
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
	features_edited(q);
	q->counters.terms_edits++;
	if (moves)
		members_move(q, lq, PLACE_NOWHERE, workload_place);
}

/* Moves the Jobs at `from` of all LocalQueues with the ClusterQueue's window state. */
static void followers_move(struct queue *q, struct clusterqueue *cq, enum workload_place from,
	void (*move)(struct queue *q, struct workload *w))
{
	list_each_entry(&cq->localqueues, struct localqueue, lq, of_clusterqueue)
		if (!lq->window_state)
			members_move(q, lq, from, move);
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
	features_edited(q);
	q->counters.terms_edits++;
	window_state_compute(cq->window_state, q->now_ms);
	if (moves)
		followers_move(q, cq, PLACE_NOWHERE, workload_place);
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
	queue_touch_tree_of(q, cq);
	list_each_entry(&cq->reservations, struct reservation, r, of_clusterqueue)
		reservation_suspect(q, r);
}

void window_states_form_queue(struct queue *q, struct clusterqueue *cq)
{
	bool unbound = !runpolicy_first(q) && cq->window_state->npolicies == 0;
	if (unbound)
		return;
	clusterqueue_form(q, cq);
	list_each_entry(&cq->localqueues, struct localqueue, lq, of_clusterqueue)
		localqueue_form(q, cq, lq);
	queue_turned(q, cq);
}

static struct clusterqueue *of_node(struct tree_node *n)
{
	return container_of(n, struct clusterqueue, by_name);
}

void window_states_form_localqueue(struct queue *q, struct localqueue *lq)
{
	list_each_entry(&lq->reservations, struct reservation, r, of_localqueue)
		reservation_suspect(q, r);
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
		list_each_entry(&cq->localqueues, struct localqueue, lq, of_clusterqueue)
			localqueue_form(q, cq, lq);
	}
}

void window_states_form(struct queue *q)
{
	form_named(q);
	for (struct tree_node *n = tree_first(&q->clusterqueues.shown); n; n = tree_next(n)) {
		struct clusterqueue *cq = of_node(n);
		clusterqueue_form(q, cq);
		list_each_entry(&cq->localqueues, struct localqueue, lq, of_clusterqueue)
			localqueue_form(q, cq, lq);
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
		list_each_entry(&cq->localqueues, struct localqueue, lq, of_clusterqueue)
			turned = window_state_turn(q, lq->window_state, t) || turned;
		if (turned)
			queue_turned(q, cq);
	}
}

bool queue_start_stands(const struct queue *q, const struct uid *uid)
{
	const struct workload *w = queue_find_workload(q, uid);
	return !w || !w->reservation || w->reservation->confirmed || window_state_of(w->lq)->open;
}
