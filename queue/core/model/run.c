#include "queue/core/model/run.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/must.h"
#include "base/order.h"
#include "queue/job/stop_rate.h"
#include "queue/core/model/victim_index.h"
#include "queue/core/model/shrink.h"
#include "sluice/quantity.h"

/* ---- The past ---- */

static struct past *past_of(struct queue *q, struct workload *w)
{
	if (!w->past) {
		w->past = mem_alloc(sizeof(*w->past));
		w->past->queued_ms = w->key.queued_ms;
		q->workload_bytes += sizeof(*w->past);
	}
	return w->past;
}

void past_forget(struct queue *q, struct workload *w)
{
	if (!w->past)
		return;
	q->workload_bytes -= sizeof(*w->past);
	free(w->past);
	w->past = NULL;
}

bool past_deactivated(const struct workload *w)
{
	return w->past && w->past->deactivated != STOP_REASON_NONE;
}

static void past_take(struct queue *q, struct workload *w, const struct job_history *h)
{
	bool empty = h->requeues == 0 && h->ran_ms == 0 && h->evicted_ms == 0 &&
		     h->suspensions == 0 && h->reclaims_paid_ms == 0;
	if (!w->past && empty)
		return;
	struct past *p = past_of(q, w);
	p->requeues = h->requeues;
	p->ran_ms = h->ran_ms;
	p->evicted_ms = h->evicted_ms;
	p->suspensions = h->suspensions;
	p->reclaims_paid_ms = h->reclaims_paid_ms;
	bool moves = p->evicted_ms > 0 && !q->config.requeue_at_creation;
	w->key.queued_ms = moves ? p->evicted_ms : p->queued_ms;
	if (empty && !past_deactivated(w))
		past_forget(q, w);
}

void past_recall(struct queue *q, struct workload *w, const struct job_history *h)
{
	if (w->reservation) {
		w->reservation->has_left = true;
		w->reservation->left = *h;
		return;
	}
	past_take(q, w, h);
	w->not_before_ms = h->not_before_ms;
}

void past_recall_before(struct queue *q, struct workload *w, const struct job_history *h)
{
	if (w->reservation)
		victim_index_leave(w->reservation); /* its place is about to be another one */
	past_take(q, w, h);
	if (!w->reservation)
		return;
	victim_index_join(w->reservation);
	run_arm(q, w->reservation);
}

void past_queued(struct workload *w, const struct job *j)
{
	int64_t queued_ms = job_queued_ms(j), stands_ms = w->key.queued_ms;
	if (w->past && (w->past->queued_ms == 0 || j->queued_at_ms > w->past->queued_ms))
		w->past->queued_ms = queued_ms;
	if (queued_ms <= 0 || (stands_ms > 0 && j->queued_at_ms <= stands_ms))
		return;
	if (w->reservation)
		victim_index_leave(w->reservation);
	w->key.queued_ms = queued_ms;
	if (j->version > 0)
		w->key.arrival = (uint64_t)j->version;
	if (w->reservation)
		victim_index_join(w->reservation);
}

void past_reactivate(struct queue *q, struct workload *w)
{
	if (!past_deactivated(w))
		return;
	w->past->deactivated = STOP_REASON_NONE;
	past_take(q, w, &(struct job_history){0});
}

void past_keep_active(struct queue *q, struct workload *w)
{
	if (!past_deactivated(w))
		return;
	w->past->deactivated = STOP_REASON_NONE;
	if (w->reservation)
		w->reservation->run.stop = STOP_REASON_NONE;
	q->counters.version++;
}

/* ---- Deadlines ---- */

/* 0: no limit. */
static int64_t max_run_ms(const struct reservation *r)
{
	if (r->w->max_run_ms > 0)
		return r->w->max_run_ms;
	return r->cq ? r->cq->spec.default_max_run_ms : 0;
}

int64_t run_began_ms(const struct reservation *r)
{
	return r->run.began_ms > 0 ? r->run.began_ms : r->since_ms;
}

static int64_t max_run_at(const struct reservation *r)
{
	int64_t max = max_run_ms(r), ran = r->w->past ? r->w->past->ran_ms : 0;
	return max > 0 ? quantity_add(run_began_ms(r), max > ran ? max - ran : 0) : INT64_MAX;
}

/* Pods that it may have more since a growth are awaited until then; 0: there are none. */
static int64_t new_pods_ready_at(const struct queue *q, const struct reservation *r)
{
	int64_t grew_ms = r->sizing ? r->sizing->grew_ms : 0;
	if (r->w->wants > 0 && !r->run.was_ready)
		grew_ms = greater(grew_ms, r->run.adopted_ms);
	int64_t timeout = greater(q->config.pods_ready_timeout_ms, q->config.recovery_timeout_ms);
	return grew_ms > 0 ? quantity_add(grew_ms, timeout) : 0;
}

/* 0: its pods are not watched. Those that it has more since a growth are, as those of a start,
 * where a recovery is not. */
static int64_t pods_timeout_ms(const struct queue *q, const struct reservation *r)
{
	const struct queue_config *c = &q->config;
	bool grew = r->sizing && r->sizing->grew_ms > 0 && !r->sizing->grows;
	bool recovers = r->run.was_ready && (c->recovery_timeout_ms > 0 || !grew);
	return recovers ? c->recovery_timeout_ms : c->pods_ready_timeout_ms;
}

static int64_t pods_ready_at(const struct queue *q, const struct reservation *r)
{
	int64_t timeout = pods_timeout_ms(q, r);
	if (r->run.ready || timeout <= 0)
		return INT64_MAX;
	int64_t at_ms =
		quantity_add(r->run.was_ready ? r->run.unready_ms : run_began_ms(r), timeout);
	return greater(at_ms, new_pods_ready_at(q, r));
}

/* A Job that is being deleted ends by itself. A Job that the gate adopted and has not read yet is
 * reported as deleting, too: its past is not known. */
static bool is_watched(const struct reservation *r)
{
	return r->confirmed && !r->stop_given && r->state == RESERVATION_HELD && !r->w->deleting;
}

void run_arm(struct queue *q, struct reservation *r)
{
	int64_t at_ms = INT64_MAX;
	if (is_watched(r)) {
		int64_t run = max_run_at(r), ready = pods_ready_at(q, r);
		int64_t rules = features_next_ms(q, r);
		at_ms = run < ready ? run : ready;
		at_ms = rules < at_ms ? rules : at_ms;
	}
	alarm_init(&r->run.alarm, ALARM_RUN, r->serial, NULL);
	alarm_set(&q->alarms, &r->run.alarm, at_ms);
}

void run_disarm(struct queue *q, struct reservation *r)
{
	alarm_clear(&q->alarms, &r->run.alarm);
}

/* 0 is no moment. */
static int64_t moved(int64_t at_ms, int64_t by_ms, int64_t last_ms)
{
	return at_ms > 0 ? least(greater(quantity_add(at_ms, by_ms), 1), last_ms) : at_ms;
}

/* All moments that its deadlines go by: by so much, and not beyond last_ms. */
static void move(struct queue *q, struct reservation *r, int64_t by_ms, int64_t last_ms)
{
	struct sizing *s = r->sizing;
	if (r->confirmed)
		r->run.began_ms = moved(run_began_ms(r), by_ms, last_ms);
	r->run.unready_ms = moved(r->run.unready_ms, by_ms, last_ms);
	r->run.adopted_ms = moved(r->run.adopted_ms, by_ms, last_ms);
	if (s) {
		s->grew_ms = moved(s->grew_ms, by_ms, last_ms);
		s->changed_ms = moved(s->changed_ms, by_ms, last_ms);
	}
	run_arm(q, r);
}

void run_clock_stepped(struct queue *q, struct reservation *r, int64_t step_ms)
{
	move(q, r, step_ms, INT64_MAX);
}

void run_begins_by_now(struct queue *q, struct reservation *r)
{
	move(q, r, 0, q->now_ms);
}

void run_grew(struct queue *q, struct reservation *r, int64_t now_ms)
{
	reservation_sizing(q, r)->grew_ms = now_ms;
	run_arm(q, r);
}

void run_has_grown(struct queue *q, struct reservation *r, int64_t now_ms)
{
	if (r->sizing->grew_ms > 0) /* and they were not ready meanwhile */
		run_grew(q, r, r->run.ready ? 0 : now_ms);
}

int64_t run_grown_due_ms(const struct queue *q, const struct reservation *r)
{
	const struct sizing *s = r->sizing;
	bool grew = s && s->grew_ms > 0 && !s->grows;
	int64_t due_ms = grew && is_watched(r) ? pods_ready_at(q, r) : INT64_MAX;
	return due_ms < INT64_MAX ? due_ms : 0;
}

void run_taken_over(struct queue *q, struct reservation *r)
{
	if (r->run.adopted && r->run.adopted_ms == 0)
		r->run.adopted_ms = q->now_ms;
}

void run_ready(struct queue *q, struct reservation *r, bool ready, int64_t now_ms)
{
	if (ready == r->run.ready)
		return;
	r->run.ready = ready;
	r->run.was_ready = r->run.was_ready || ready;
	if (!ready)
		r->run.unready_ms = now_ms;
	else if (r->sizing)
		r->sizing->grew_ms = 0;
	run_arm(q, r);
}

bool stop_reason_deactivates(enum stop_reason r)
{
	return r == STOP_REASON_REQUEUE_LIMIT || r == STOP_REASON_MAX_RUN;
}

enum stop_reason run_stop_reason(const struct queue *q, const struct reservation *r)
{
	int32_t limit = q->config.back_off_limit, requeues = r->w->past ? r->w->past->requeues : 0;
	if (!is_watched(r))
		return STOP_REASON_NONE;
	if (max_run_at(r) <= q->now_ms)
		return STOP_REASON_MAX_RUN;
	if (pods_ready_at(q, r) > q->now_ms)
		return STOP_REASON_NONE;
	return limit >= 0 && requeues >= limit ? STOP_REASON_REQUEUE_LIMIT
					       : STOP_REASON_PODS_READY_TIMEOUT;
}

void run_stopping(struct queue *q, struct reservation *r, enum stop_reason reason)
{
	r->run.stop = reason;
	r->run.stop_ms = q->now_ms;
	run_disarm(q, r);
	if (!stop_reason_deactivates(reason))
		return;
	struct past *p = past_of(q, r->w);
	p->deactivated = reason;
	p->max_run_ms = max_run_ms(r);
}

/* ---- The end ---- */

static int64_t back_off_ms(const struct queue_config *c, int32_t requeues)
{
	int64_t wait = c->back_off_base_ms;
	for (int32_t i = 1; i < requeues && wait < c->back_off_max_ms; i++)
		wait = quantity_times(wait, 2);
	return wait < c->back_off_max_ms ? wait : c->back_off_max_ms;
}

static struct job_history history_after(
	const struct queue *q, const struct reservation *r, int64_t now_ms)
{
	const struct past *p = r->w->past;
	struct job_history h = {0};
	if (stop_reason_deactivates(r->run.stop))
		return h;
	if (r->has_left)
		return r->left;
	if (p) {
		h.requeues = p->requeues;
		h.ran_ms = p->ran_ms;
		h.suspensions = p->suspensions;
		h.reclaims_paid_ms = p->reclaims_paid_ms;
		/* If the attempt never ran, the Job keeps its place. */
		h.evicted_ms = r->confirmed ? 0 : p->evicted_ms;
	}
	if (r->run.stop == STOP_REASON_WINDOW_CLOSED || r->run.stop == STOP_REASON_PRICE)
		h.suspensions += h.suspensions < INT32_MAX;
	/* Run time ends at the stop. How long its pods take to go does not count: the story that
	 * was written with the stop could not know it. */
	int64_t until_ms = r->stop_given && r->run.stop_ms > 0 ? r->run.stop_ms : now_ms;
	if (r->confirmed && until_ms > r->since_ms)
		h.ran_ms = quantity_add(h.ran_ms, until_ms - r->since_ms);
	if (reclaim_ended(r)) {
		int64_t stop_ms = r->run.stop_ms > 0 ? r->run.stop_ms : now_ms;
		h.reclaims_paid_ms = stop_rate_pay(h.reclaims_paid_ms, stop_ms);
		h.not_before_ms = stop_rate_returns(h.reclaims_paid_ms, stop_ms);
	}
	if (r->run.stop == STOP_REASON_PODS_READY_TIMEOUT) {
		h.requeues += h.requeues < INT32_MAX;
		h.evicted_ms = r->run.stop_ms;
		h.not_before_ms = quantity_add(r->run.stop_ms, back_off_ms(&q->config, h.requeues));
	}
	return h;
}

struct job_history past_history(const struct queue *q, const struct workload *w, int64_t now_ms)
{
	const struct past *p = w->past;
	if (w->reservation)
		return history_after(q, w->reservation, now_ms);
	struct job_history h = {.not_before_ms = w->not_before_ms};
	if (p && p->deactivated == STOP_REASON_NONE) {
		h.requeues = p->requeues;
		h.ran_ms = p->ran_ms;
		h.evicted_ms = p->evicted_ms;
		h.suspensions = p->suspensions;
		h.reclaims_paid_ms = p->reclaims_paid_ms;
	}
	return h;
}

/* A deactivated Job keeps its history until it is active again, for `sluice explain`. */
void run_end(struct queue *q, struct reservation *r, int64_t now_ms)
{
	struct workload *w = r->w;
	must(w->place == PLACE_NOWHERE);
	r->run.end_ms = now_ms;
	if (past_deactivated(w))
		return;
	struct job_history h = history_after(q, r, now_ms);
	past_take(q, w, &h);
	if (h.not_before_ms > w->not_before_ms)
		w->not_before_ms = h.not_before_ms;
}
