/*
 * Why a Job waits. Nothing is remembered from the pass that turned it down: the answer is worked
 * out from the facts when it is asked for, so it is never stale and waiting costs no memory for it.
 *
 * The first reason that applies is the answer. They are asked in the order of explain_waiting(),
 * then of explain_by_quota(), which asks features in their order (features/features.c). That is the
 * order of enum wait_reason, with these exceptions: a promise (PREEMPTED) is asked before
 * EXCEEDS_MAX; what singletons wait for (DEPENDENCY) after NAMESPACE_QUOTA; what rules say of
 * bookings (RESERVED, BEHIND) before BACK_OFF; and NODES_FULL after QUOTA.
 */
#include <inttypes.h>
#include <string.h>

#include "base/instant.h"
#include "base/must.h"
#include "base/span.h"
#include "queue/core/model/state.h"
#include "queue/core/model/disruption.h"
#include "queue/explain/ahead.h"
#include "queue/explain/explain.h"
#include "queue/features/dependencies/explain_dependencies.h"
#include "queue/features/money/explain_money.h"
#include "queue/features/windows/explain_windows.h"
#include "queue/features/windows/window_state.h"
#include "queue/core/admit/nominate.h"
#include "queue/core/model/precedence.h"
#include "queue/core/model/reservation.h"
#include "queue/core/model/run.h"
#include "queue/job/stop_rate.h"
#include "queue/job/text.h"
#include "sluice/quantity.h"

static void explain_class(const struct priority_class *c, struct text *t)
{
	bool is_label = c->kind == PRIORITY_WORKLOAD;
	if (c->exists)
		text_add(t,
			"%s %s has value %d, above %d: higher ones are for system pods; lower it or correct %s",
			is_label ? "WorkloadPriorityClass" : "PriorityClass", c->name, c->value,
			PRIORITY_HIGHEST,
			is_label ? "the label sluice.dev/priority-class"
				 : "spec.template.spec.priorityClassName");
	else if (is_label)
		text_add(t,
			"WorkloadPriorityClass %s does not exist; create it or correct the label sluice.dev/priority-class",
			c->name);
	else
		text_add(t,
			"PriorityClass %s does not exist; create it or correct spec.template.spec.priorityClassName",
			c->name);
}

/* Of a run whose class is not there. */
static void explain_kept_priority(const struct workload *w, struct text *t)
{
	static const char recalled[] = ", recorded in its annotation sluice.dev/admission";
	if (w->priority_source == PRIORITY_UNKNOWN)
		text_add(t, "; its priority counts as %d, because the earlier one is not known: ",
			w->key.priority);
	else
		text_add(t, "; keeps its priority %d%s: ", w->key.priority,
			w->priority_source == PRIORITY_RECALLED ? recalled : "");
	explain_class(w->class, t);
}

static void explain_reservation(const struct queue *q, const struct reservation *r, struct text *t)
{
	const struct workload *w = r->w;
	explain_run(q, r, t);
	if (!w->class->exists)
		explain_kept_priority(w, t);
}

static void explain_no_localqueue(const struct localqueue *lq, struct text *t)
{
	if (lq->invalid)
		text_add(t, "its LocalQueue never had a valid spec: %s", lq->invalid);
	else if (*lq->name)
		text_add(t,
			"LocalQueue %s/%s does not exist; create it or correct the label sluice.dev/queue-name",
			lq->ns->name, lq->name);
	else
		text_add(t, "has no label sluice.dev/queue-name; add it to queue the Job");
}

static void explain_no_clusterqueue(const struct localqueue *lq, struct text *t)
{
	if (lq->cq->invalid)
		text_add(t, "ClusterQueue %s has no valid spec: %s", lq->cq->name, lq->cq->invalid);
	else
		text_add(t,
			"ClusterQueue %s of LocalQueue %s/%s does not exist; create it, or name another LocalQueue in the label sluice.dev/queue-name",
			lq->cq->name, lq->ns->name, lq->name);
}

void explain_not_selected(const struct localqueue *lq, struct text *t)
{
	const char *cq = lq->cq->name, *ns = lq->ns->name;
	if (!lq->cq->spec.has_namespace_selector)
		text_add(t,
			"ClusterQueue %s has no spec.namespaceSelector, which selects nothing; set it ({} selects every namespace)",
			cq);
	else if (!lq->ns->exists)
		text_add(t,
			"namespace %s has not been read yet, so ClusterQueue %s cannot select it",
			ns, cq);
	else
		text_add(t,
			"namespace %s doesn't match the namespaceSelector of ClusterQueue %s; label the namespace or change spec.namespaceSelector",
			ns, cq);
}

static bool is_misconfigured(const struct question *a)
{
	const struct workload *w = a->w;
	if (w->invalid) {
		text_add(a->text, "%s", w->invalid);
	} else if (w->deleting) {
		text_add(a->text, "the Job is being deleted, so it does not start any more");
	} else if (w->lq->gate == GATE_MISSING) {
		explain_no_localqueue(w->lq, a->text);
	} else if (w->lq->gate == GATE_CLUSTERQUEUE_MISSING) {
		explain_no_clusterqueue(w->lq, a->text);
	} else if (!priority_usable(w->class)) {
		explain_class(w->class, a->text);
	} else if (w->lq->gate == GATE_NOT_SELECTED) {
		explain_not_selected(w->lq, a->text);
	} else if (a->cq && a->claim->uncovered) {
		const char *name = a->claim->uncovered;
		int64_t amount = quantity_times(shape_amount(w->shape, name), w->shape->pods);
		text_add(a->text,
			"resource %.100s unavailable in ClusterQueue %s: the Job asks for %s; add it to coveredResources of the ClusterQueue or remove the request",
			name, a->cq->name, amount_words(amount, name).s);
	} else {
		return false;
	}
	return true;
}

/* Adds "; that may take up to 30s from 12:00:05 on". */
static void add_stopping(const struct stopping *s, struct text *t)
{
	if (s->n == 0 || s->grace_ms == 0)
		return;
	text_add(t, "; that may take up to %s from %s on", span_exact(s->grace_ms).s,
		instant_seconds(s->since_ms).s);
}

/* All Jobs that leave free what is promised, whatever they are stopped for. When none leaves any
 * more it is their pods that are still on the nodes. */
static void explain_promise(const struct reservation *r, struct text *t)
{
	struct stopping s = stopping_in(r->cq->cohort_tree);
	text_add(t, "starts");
	for (size_t i = 0; i < r->nlines; i++) {
		const struct quota_row *row = r->line[i].row;
		text_add(t, "%s%s in flavor %s", i ? ", " : " with ",
			amount_words(r->line[i].amount, row->resource).s, row->flavor);
	}
	if (s.leaving > 0)
		text_add(t, " when the pods of %zu %s being stopped%s are gone", s.leaving,
			s.leaving == 1 ? "Job that is" : "Jobs that are",
			s.giving > 0 ? ", and the pods that other runs give up," : "");
	else if (s.giving > 0)
		text_add(t, " when the pods that %zu %s are gone", s.giving,
			s.giving == 1 ? "run gives up" : "runs give up");
	else
		text_add(t, " when the pods of stopped Jobs are gone from the nodes");
	add_stopping(&s, t);
}

static const char *policy_name(enum stop_policy p)
{
	return p == STOP_HOLD_AND_DRAIN ? "HoldAndDrain" : "Hold";
}

static void explain_missing_flavor(
	const struct clusterqueue *cq, const struct flavor *missing, struct text *t)
{
	if (missing->invalid)
		text_add(t, "ClusterQueue %s is inactive: flavor %s was refused: %s", cq->name,
			missing->name, missing->invalid);
	else
		text_add(t,
			"ClusterQueue %s is inactive: flavor %s not found; create the ResourceFlavor or remove it from spec.resourceGroups",
			cq->name, missing->name);
}

/* Of a ClusterQueue that exists. */
static void explain_inactive(
	const struct clusterqueue *cq, enum clusterqueue_state state, struct text *t)
{
	const struct flavor *misplaced;
	size_t group;
	switch (state) {
	case CLUSTERQUEUE_DELETING:
		text_add(t,
			"ClusterQueue %s is being deleted, so nothing starts in it; name a LocalQueue of another ClusterQueue in the label sluice.dev/queue-name",
			cq->name);
		break;
	case CLUSTERQUEUE_STOPPED:
		text_add(t,
			"ClusterQueue %s is stopped (spec.stopPolicy %s); its Jobs start when an admin sets spec.stopPolicy to None",
			cq->name, policy_name(cq->spec.stop_policy));
		break;
	case CLUSTERQUEUE_CYCLIC:
		text_add(t,
			"ClusterQueue %s is inactive: the parents of Cohort %s form a cycle; correct spec.parentName of one of them",
			cq->name, cq->cohort->object.name);
		break;
	case CLUSTERQUEUE_FLAVOR_MISSING:
		explain_missing_flavor(cq, clusterqueue_missing_flavor(cq), t);
		break;
	case CLUSTERQUEUE_FLAVOR_MISPLACED:
		misplaced = clusterqueue_misplaced_flavor(cq, &group);
		text_add(t,
			"ClusterQueue %s is inactive: flavor %s has spec.idlePool, which covers exactly cpu and memory, but spec.resourceGroups[%zu] covers other resources or only one of them; move the flavor to a group of cpu and memory",
			cq->name, misplaced->name, group);
		break;
	case CLUSTERQUEUE_ABSENT:
	case CLUSTERQUEUE_ACTIVE:
		break;
	}
}

static bool is_suspended(const struct question *a)
{
	const struct localqueue *lq = a->w->lq;
	enum clusterqueue_state state = clusterqueue_state(a->cq);
	if (lq->deleting)
		text_add(a->text,
			"LocalQueue %s/%s is being deleted; name another LocalQueue in the label sluice.dev/queue-name",
			lq->ns->name, lq->name);
	else if (lq->stop_policy != STOP_NONE)
		text_add(a->text,
			"LocalQueue %s/%s is stopped (spec.stopPolicy %s); its Jobs start when an admin sets spec.stopPolicy to None",
			lq->ns->name, lq->name, policy_name(lq->stop_policy));
	else if (state != CLUSTERQUEUE_ACTIVE)
		explain_inactive(a->cq, state, a->text);
	else
		return false;
	return true;
}

static void add_ahead(const struct question *a)
{
	size_t n = a->ahead;
	if (a->w->place != PLACE_READY || a->aside)
		return;
	if (n == 0)
		text_add(a->text, "; it is first in ClusterQueue %s", a->cq->name);
	else
		text_add(a->text, "; %s %s ahead of it in ClusterQueue %s", count_words(n, "Job").s,
			n == 1 ? "is" : "are", a->cq->name);
}

static bool is_stopped_too_often(const struct workload *w)
{
	return w->past && w->past->reclaims_paid_ms - STOP_RATE_MS == w->not_before_ms;
}

static bool is_backing_off(const struct question *a)
{
	if (a->w->not_before_ms <= a->now_ms)
		return false;
	if (is_stopped_too_often(a->w))
		text_add(a->text,
			"idle resources were reclaimed from it more than once in five minutes");
	else if (a->w->past && a->w->past->evicted_ms > 0)
		text_add(a->text, "its pods were not ready in time, %s so far",
			count_words((size_t)a->w->past->requeues, "time").s);
	else
		text_add(a->text, "its start was cancelled or it was stopped");
	text_add(a->text, "; the next try is at %s", instant_seconds(a->w->not_before_ms).s);
	return true;
}

static enum wait_reason explain_waiting(struct question *a);

static bool is_behind_one_that_returns(const struct question *a)
{
	const struct workload *w =
		workload_returning_before(a->cq, workload_standing(a->w), a->now_ms);
	if (!w)
		return false;
	text_add(a->text,
		"waiting behind %s, which is being preempted and comes before it in ClusterQueue %s (StrictFIFO)",
		other_words(a->w, w).s, a->cq->name);
	return true;
}

/* Gap fillers that stand before the head, as where usage orders, are not behind it. */
static bool stands_before(const struct question *a, const struct workload *head)
{
	return workload_fills_gaps(a->w) && precedence_before(a->q, a->w->group, head->group);
}

/* Quota is free, but the nodes are full. */
static bool is_full(const struct question *a, const struct workload *w, const struct claim *claim,
	struct text *t)
{
	struct clusterqueue *cq = (struct clusterqueue *)(uintptr_t)a->cq; /* only read */
	return explain_full(a->q, cq, w, claim, t);
}

static bool has_room(const struct question *a, const struct workload *w)
{
	char words[512];
	struct text t = text_over(words, sizeof(words));
	return !is_full(a, w, &w->group->claim, &t);
}

/* Why a Job of another namespace waits, in a word: the sentence names what is that namespace's. */
static void add_reason(struct question *a)
{
	char words[sizeof(((struct explanation *)0)->sentence)];
	struct text *out = a->text, unused = text_over(words, sizeof(words));
	a->text = &unused;
	enum wait_reason reason = explain_waiting(a);
	a->text = out;
	text_add(out, "%s", wait_reason_name(reason));
}

/* StrictFIFO: the head of the order cannot start, so none behind it may. */
static bool is_behind(const struct question *a)
{
	const struct group *first = precedence_head(a->q, a->cq);
	const struct workload *head = first ? group_head(first) : NULL;
	if (a->cq->spec.strategy != STRICT_FIFO || a->w->place != PLACE_READY)
		return false;
	if (is_behind_one_that_returns(a))
		return true;
	if (!head || head == a->w || stands_before(a, head) ||
		(plain_fit(a->cq, &head->group->claim) == ASSIGN_FITS && has_room(a, head)))
		return false;
	struct question about = {
		a->q, head, a->cq, &head->group->claim, a->now_ms, a->text, true, 0, 0};
	text_add(a->text,
		"waiting behind %s, which is first in ClusterQueue %s (StrictFIFO) and cannot start: ",
		other_words(a->w, head).s, a->cq->name);
	if (head->lq->ns == a->w->lq->ns)
		explain_waiting(&about);
	else
		add_reason(&about);
	return true;
}

/* Says that the Job fits, but was looked at and not taken: the first of a StrictFIFO queue that
 * shares quota with it could take that back as others leave, and it is not lent further
 * meanwhile. */
static bool explain_lent_no_further(const struct question *a)
{
	const struct cohort_tree *cohort_tree = a->cq->cohort_tree;
	if (a->w->place != PLACE_READY || list_in(&cohort_tree->dirty))
		return false;
	list_each_entry(&cohort_tree->members, struct clusterqueue, cq, of_cohort_tree) {
		const struct group *g =
			cq->spec.strategy == STRICT_FIFO ? precedence_head(a->q, cq) : NULL;
		if (!g || cq == a->cq || plain_fit(cq, &g->claim) != ASSIGN_BUSY)
			continue;
		const struct workload *head = group_head(g);
		text_add(a->text,
			"the Job fits, but the free quota is kept for %s, which is first in ClusterQueue %s (StrictFIFO)",
			other_words(a->w, head).s, cq->name);
		return true;
	}
	return false;
}

/* Says that a gap filler fits when others have gone. It does not wait for these as other Jobs
 * do. */
static bool explain_gap_filler(const struct question *a)
{
	if (!workload_fills_gaps(a->w) || plain_fit_now(a->cq, a->claim) == ASSIGN_FITS)
		return false;
	struct stopping s = stopping_in(a->cq->cohort_tree);
	text_add(a->text,
		"the quota that the Job asks for is held by %s still stopping; the Job only fills gaps (priority %" PRId32
		" is below %" PRId32
		", spec.gapFillers), so no quota is kept for it, and another Job may start first",
		s.leaving == 1 ? "a Job that is" : "Jobs that are", a->w->key.priority,
		a->cq->spec.gap_fillers_below);
	return true;
}

/* Adds why the Job waits though its ClusterQueue uses less than its own, and may take that back. */
static void add_preemption(const struct question *a)
{
	struct queue *q = (struct queue *)(uintptr_t)a->q; /* keeps what it worked out */
	struct clusterqueue *cq = (struct clusterqueue *)(uintptr_t)a->cq; /* only read */
	explain_fills_gaps(cq, a->w, a->text);
	explain_spared(q, cq, a->w, a->claim, a->now_ms, a->text);
}

/* Says what the Job's owner asks of time, if the Job waits for that. */
static bool is_kept_by_terms(const struct question *a, enum wait_reason tier)
{
	struct queue *q = (struct queue *)(uintptr_t)a->q; /* keeps what it worked out */
	return explain_terms(q, a->w, a->cq, a->claim, a->now_ms, tier, a->text);
}

/* A quota that is too small now may be another one in the window it waits for. */
static bool exceeds(const struct question *a)
{
	if (!ahead_exceeds(a->cq, a->claim, window_state_of(a->w->lq)->open))
		return false;
	shortage_add_excess(a->text, a->cq, a->claim);
	if (explain_has_window_quotas(a->cq))
		text_add(a->text, " (its RunPolicies set other quotas in windows)");
	return true;
}

/* Why w waits, for one that waits for it. */
static void explain_aside(struct question *a, const struct workload *w)
{
	struct claim own = {0};
	const struct clusterqueue *cq = w->lq->cq;
	a->w = w;
	a->cq = cq && cq->exists ? cq : NULL;
	a->claim = w->group ? &w->group->claim : &own;
	if (!w->group && a->cq)
		claim_init(&own, a->q, a->cq, w->shape);
	explain_waiting(a);
	claim_done(&own);
}

static enum wait_reason explain_by_quota(struct question *a, enum assign_verdict verdict)
{
	bool lent = verdict == ASSIGN_EXCEEDS && shortage_may_end(a->cq, a->claim);
	if (exceeds(a))
		return WAIT_EXCEEDS_MAX;
	if (is_kept_by_terms(a, WAIT_START_AFTER))
		return WAIT_START_AFTER;
	enum wait_reason after = explain_dependencies(a, explain_aside);
	if (after != WAIT_NOT)
		return after;
	enum wait_reason rule = features_explain(a);
	if (rule != WAIT_NOT)
		return rule;
	if (is_backing_off(a))
		return WAIT_BACK_OFF;
	if (verdict == ASSIGN_BUSY || lent) {
		shortage_add_busy(a->text, a->cq, a->claim, verdict);
		add_preemption(a);
		explain_expected_start(a);
		add_ahead(a);
		return WAIT_QUOTA;
	}
	if (explain_gap_filler(a) || explain_parted(a->q, a->cq, a->w->shape, a->claim, a->text))
		return WAIT_QUOTA;
	if (is_full(a, a->w, a->claim, a->text)) {
		add_ahead(a);
		return WAIT_NODES_FULL;
	}
	if (is_behind(a) || explain_delay(a) || explain_lent_no_further(a))
		return WAIT_BEHIND;
	text_add(a->text, "the Job fits, and is considered in the next scheduling pass");
	add_ahead(a);
	return WAIT_PENDING_EVALUATION;
}

static void add_release(const struct workload *w, struct text *t)
{
	text_add(t, "; to queue it again: kubectl annotate -n %s job/%s sluice.dev/hold-",
		w->lq->ns->name, w->name);
}

#define NEXT_RUN_LIMITED                                                                           \
	"; its next run has the same limit: if the Job needs longer, raise that first"

static void explain_deactivated(const struct workload *w, struct text *t)
{
	const struct past *p = w->past;
	if (p->deactivated == STOP_REASON_MAX_RUN)
		text_add(t, "Stopped at its time limit of %s (%s)%s" NEXT_RUN_LIMITED,
			span_exact(p->max_run_ms).s,
			w->max_run_ms > 0 ? "sluice.dev/max-run-seconds"
					  : "spec.defaultMaxRunSeconds of its ClusterQueue",
			w->hold ? " and put on hold" : "");
	else
		text_add(t, "Stopped for good: its pods were not ready in time, even after %s",
			count_words((size_t)p->requeues, "requeue").s);
	if (w->hold)
		add_release(w, t);
	else
		text_add(t, "; to queue it again, set and then remove annotation sluice.dev/hold");
}

/* "true" and "yes" say only that there is a hold. */
static const char *hold_words(const struct workload *w)
{
	bool says =
		w->hold && *w->hold && strcmp(w->hold, "true") != 0 && strcmp(w->hold, "yes") != 0;
	return says ? w->hold : NULL;
}

const char *queue_job_hold(const struct queue *q, const struct uid *uid)
{
	const struct workload *w = queue_find_workload(q, uid);
	return w ? hold_words(w) : NULL;
}

static void explain_hold(const struct workload *w, struct text *t)
{
	const char *words = hold_words(w);
	text_add(t, words ? "on hold: \"" : "on hold: annotation sluice.dev/hold is set");
	text_add_cut(t, words ? words : "", HOLD_SHOWN - 1);
	text_add(t, words ? "\"" : "");
	add_release(w, t);
}

static enum wait_reason explain_waiting(struct question *a)
{
	if (past_deactivated(a->w)) {
		explain_deactivated(a->w, a->text);
		return WAIT_DEACTIVATED;
	}
	if (is_kept_by_terms(a, WAIT_DEACTIVATED))
		return WAIT_DEACTIVATED;
	if (a->w->blocked) {
		text_add(a->text, "%s", a->w->blocked);
		return WAIT_HELD;
	}
	if (a->w->hold) {
		explain_hold(a->w, a->text);
		return WAIT_HELD;
	}
	if (is_misconfigured(a))
		return WAIT_MISCONFIGURED;

	enum assign_verdict verdict = plain_fit(a->cq, a->claim);
	if (verdict == ASSIGN_NO_FLAVOR && !a->claim->nowhere) {
		shortage_add_mismatch(a->text, a->cq, a->claim, a->w->shape->directives);
		return WAIT_NO_MATCHING_FLAVOR;
	}
	if (is_suspended(a))
		return WAIT_SUSPENDED;
	if (a->claim->nowhere) {
		explain_nowhere(a->q, a->cq, a->w->shape, a->claim, a->text);
		return WAIT_NEVER_FITS;
	}
	if (a->w->promise) {
		explain_promise(a->w->promise, a->text);
		return WAIT_PREEMPTED;
	}
	return explain_by_quota(a, verdict);
}

/* A deadline that the Jobs that it waits for do not leave time for. */
static void explain_chain(const struct question *a, struct explanation *ret)
{
	if (ret->reason != WAIT_DEPENDENCY || ret->deadline_ms == 0 || ret->unreachable)
		return;
	int64_t start_ms = explain_chain_ms(a->q, a->w, a->now_ms);
	ret->unreachable = quantity_add(start_ms, a->w->expected_ms) > ret->deadline_ms;
	if (!ret->unreachable)
		return;
	text_add(a->text,
		"; by their expected durations the Jobs that it waits for end %s at the earliest",
		instant_seconds(start_ms).s);
}

static const struct clusterqueue *cq_of(const struct workload *w)
{
	return w->reservation ? w->reservation->cq : w->lq->cq;
}

static struct job_place place_of(const struct queue *q, const struct workload *w)
{
	const struct clusterqueue *cq = cq_of(w);
	return (struct job_place){
		.localqueue = w->reservation ? w->reservation->lq->name : w->lq->name,
		.clusterqueue = cq ? cq->name : "",
		.holds_quota = w->reservation,
		.in_line = w->place == PLACE_READY,
		.rank = w->place == PLACE_READY ? precedence_rank(q, w) : 0,
		.queued_ms = w->key.queued_ms};
}

bool queue_place_of(const struct queue *q, const struct uid *uid, struct job_place *ret)
{
	const struct workload *w = queue_find_workload(q, uid);
	if (!w)
		return overflow_place_of(q, uid, ret);
	*ret = place_of(q, w);
	return true;
}

bool queue_explain(
	const struct queue *q, const struct uid *uid, int64_t now_ms, struct explanation *ret)
{
	const struct workload *w = queue_find_workload(q, uid);
	if (!w)
		return false;
	const struct clusterqueue *cq = cq_of(w);
	struct job_place place = place_of(q, w);
	struct text text = text_over(ret->sentence, sizeof(ret->sentence));
	ret->localqueue = place.localqueue;
	ret->clusterqueue = place.clusterqueue;
	ret->priority = w->key.priority;
	ret->claimed_priority = workload_claims(w);
	ret->queued_ms = place.queued_ms;
	ret->in_line = place.in_line;
	ret->rank = place.rank;
	ret->ahead = ahead_of(q, w, place.rank);
	ret->not_before_ms = w->not_before_ms;
	ret->stop_ms = 0;
	explain_times((struct queue *)(uintptr_t)q, w, now_ms, ret);
	if (w->reservation) {
		explain_reservation(q, w->reservation, &text);
		ret->stop_ms = explain_stop(q, w->reservation, &text);
		ret->reason = WAIT_NOT;
		explain_unreachable(ret, &text);
		return true;
	}
	struct claim own = {0};
	struct question about = {.q = q,
		.w = w,
		.cq = cq && cq->exists ? cq : NULL,
		.claim = &own,
		.now_ms = now_ms,
		.text = &text,
		.ahead = ret->ahead};
	if (w->group)
		about.claim = &w->group->claim;
	else if (about.cq)
		claim_init(&own, q, cq, w->shape);
	ret->reason = explain_waiting(&about);
	explain_nice(w, &text);
	explain_chain(&about, ret);
	if (about.not_before_ms > ret->not_before_ms)
		ret->not_before_ms = about.not_before_ms;
	explain_unreachable(ret, &text);
	claim_done(&own);
	return true;
}

bool explain_intake(const struct queue *q, const struct workload *w, const struct claim *claim,
	int64_t now_ms, struct text *t)
{
	const struct clusterqueue *cq = w->lq->cq;
	struct question about = {q, w, cq && cq->exists ? cq : NULL, claim, now_ms, t, false, 0, 0};
	int64_t opens_ms;
	if (is_misconfigured(&about))
		return true;
	must(about.cq);
	if (is_suspended(&about))
		return true;
	/* Open, it may not fit what is left of it; that keeps no run out. */
	return !window_state_of(w->lq)->open &&
	       explain_window(q, w, now_ms, t, &opens_ms) != WAIT_NOT;
}
