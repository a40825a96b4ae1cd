#include "queue/core/core.h"

#include "queue/core/admit/pass.h"
#include "queue/core/model/feature.h"
#include "queue/core/model/reservation.h"
#include "queue/core/model/run.h"
#include "queue/core/model/shrink.h"
#include "queue/job/stop_rate.h"
#include "sluice/quantity.h"

static struct workload *first_back_off(const struct queue *q)
{
	struct tree_node *n = tree_first(&q->back_off);
	return n ? container_of(n, struct workload, in_order) : NULL;
}

void decide_back_offs_end(struct queue *q)
{
	struct workload *w;
	while ((w = first_back_off(q)) && w->not_before_ms <= q->now_ms)
		workload_replace(q, w);
}

#define OTHER_PAUSE_MAX_MS STOP_RATE_MS /* longer than those of the gate after a refusal */

/* A back-off is kept as the moment of its end. If the clock was set back, or that of an earlier
 * leader was fast, it would last too long. So it is limited to the longest possible pause. */
void decide_back_offs_shorten(struct queue *q)
{
	const struct queue_config *c = &q->config;
	bool doubles = c->pods_ready_timeout_ms > 0 && c->back_off_max_ms > OTHER_PAUSE_MAX_MS;
	int64_t longest = doubles ? c->back_off_max_ms : OTHER_PAUSE_MAX_MS;
	int64_t last_ms = quantity_add(q->now_ms, longest);
	for (size_t n; (n = tree_count(&q->back_off)) > 0;) {
		struct workload *w =
			container_of(tree_at(&q->back_off, n - 1), struct workload, in_order);
		if (w->not_before_ms <= last_ms)
			return;
		w->not_before_ms = last_ms;
		workload_replace(q, w);
	}
}

static bool gives_notice(struct queue *q, struct reservation *r, struct decision *ret)
{
	each_feature(f, q->features_awake, gives_notice)
		if (f->gives_notice(q, r, ret))
			return true;
	return false;
}

/* Why a run shall stop: the first of these that is true of it. That another Job was promised its
 * quota comes first, for that Job's wait names the preemption. Then what people said, then for whom
 * its quota is kept, then its own deadlines, then what its nodes need back, and last what features
 * say. */
static enum stop_reason why_it_stops(
	struct queue *q, struct reservation *r, const char **ret_policy)
{
	if (r->preemption != PREEMPTION_NONE)
		return STOP_REASON_PREEMPTED;
	if (r->w->hold)
		return STOP_REASON_HELD;
	if (r->cq && r->cq->spec.stop_policy == STOP_HOLD_AND_DRAIN)
		return STOP_REASON_CLUSTERQUEUE_STOPPED;
	if (r->lq->stop_policy == STOP_HOLD_AND_DRAIN)
		return STOP_REASON_LOCALQUEUE_STOPPED;
	if (r->cleared_for) {
		*ret_policy = r->cleared_for;
		return STOP_REASON_RESERVED;
	}
	if (r->gives_back) {
		*ret_policy = features_recalled_by(q, r->cq);
		return STOP_REASON_WINDOW_OPENING;
	}
	enum stop_reason passed = run_stop_reason(q, r);
	if (passed != STOP_REASON_NONE)
		return passed;
	if (reclaim_keeps(r) == 0 && !r->stop_given)
		return STOP_REASON_IDLE_RECLAIMED;
	return features_stop(q, r, ret_policy);
}

size_t decide_stops(struct queue *q, struct decision *out, size_t cap)
{
	size_t n = 0;
	while (n < cap && !list_empty(&q->suspects)) {
		struct reservation *r = container_of(q->suspects.next, struct reservation, suspect);
		list_leave(&r->suspect);
		if (r->lingers)
			continue; /* it is judged when it does not any more: reservation_heed() */
		run_taken_over(q, r);
		const char *policy = NULL;
		enum stop_reason reason = why_it_stops(q, r, &policy);
		if (reason == STOP_REASON_NONE && shrink_tell(q, r, out + n)) {
			n++;
			reservation_suspect(q, r); /* there may be a notice to give, too */
			continue;
		}
		if (reason == STOP_REASON_NONE) {
			n += gives_notice(q, r, out + n);
			run_arm(q, r);
			continue;
		}
		disruption_spend(q, r);
		reservation_note_end(r);
		run_stopping(q, r, reason);
		out[n++] = (struct decision){.kind = DECISION_STOP,
			.uid = r->w->key.uid,
			.reason = reason,
			.by = r->by,
			.policy = policy,
			.preemption = r->preemption,
			.why = reason == STOP_REASON_IDLE_RECLAIMED ? r->sizing->reclaim.why
								    : NULL};
	}
	return n;
}

size_t decide_starts(struct queue *q, struct decision *out, size_t cap)
{
	size_t n = 0;
	bool done = !q->paused;
	while (done && !list_empty(&q->dirty)) {
		struct cohort_tree *cohort_tree =
			container_of(q->dirty.next, struct cohort_tree, dirty);
		n += pass_run(q, cohort_tree, out + n, cap - n, &done);
		if (done)
			list_leave(&cohort_tree->dirty);
	}
	return n;
}

int64_t decide_next_ms(const struct queue *q)
{
	const struct workload *w = first_back_off(q);
	int64_t next_ms = alarms_next(&q->alarms);
	return w && w->not_before_ms < next_ms ? w->not_before_ms : next_ms;
}
