/* Facts about Jobs: from the first sight to the release of their quota. */
#include "base/must.h"
#include "base/order.h"
#include "queue/core/admit/growth.h"
#include "queue/core/model/state.h"
#include "queue/core/model/feature.h"
#include "queue/core/model/duration.h"
#include "queue/core/model/reservation.h"
#include "queue/core/model/run.h"
#include "queue/core/model/shrink.h"
#include "queue/core/model/user.h"
#include "sluice/quantity.h"
#include "queue/core/model/tell.h"

/* In a StrictFIFO queue a preempted run blocks the Jobs behind it, as long as it will return. That
 * may be over now. */
static void wake_behind_leaving(struct queue *q, const struct workload *w)
{
	const struct reservation *r = w->reservation;
	if (r && r->state == RESERVATION_LEAVING && r->cq->spec.strategy == STRICT_FIFO)
		queue_touch_tree_of(q, r->cq);
}

static void take_job(
	struct queue *q, struct workload *w, const struct job *j, const struct account *account)
{
	if (!w) {
		w = workload_new(q, j);
		past_recall(q, w, &j->admission.history);
	}
	workload_edited(q, w);
	workload_unplace(q, w);
	past_queued(w, j);
	w->unread = false;
	workload_take(q, w, j, account);
	workload_place(q, w);
	if (w->reservation)
		reservation_heed(q, w->reservation);
	wake_behind_leaving(q, w);
	if (w->reservation && w->hold)
		reservation_suspect(q, w->reservation);
	if (w->reservation) {
		run_arm(q, w->reservation);
		growth_heed(q, w->reservation);
	}
	q->counters.version++;
}

static void set_job(struct queue *q, const struct job *j)
{
	struct workload *w = queue_find_workload(q, &j->uid);
	struct account account;
	features_asked_for(q, j);
	account_open(&account, &q->accounting, &q->config, j);
	if (!w)
		overflow_forget(q, &j->uid);
	if (!w || workload_differs(q, w, j, &account))
		take_job(q, w, j, &account);
	account_done(&account);
	w = queue_find_workload(q, &j->uid);
	struct progress was = w->progress;
	w->progress = progress_of(j);
	each_feature(f, q->features_awake, job_seen)
		f->job_seen(q, w, j, &was);
	disruption_see(q, w, j);
}

static bool asks_for_label(const struct queue *q, const char *key)
{
	each_feature(f, ALL_FEATURES, asks_for_label)
		if (f->asks_for_label(q, key))
			return true;
	return false;
}

/* Of its labels those that are looked at: the others are nobody's business. */
static struct job job_told(const struct queue *q, const struct job *j, struct arena *a)
{
	struct label *labels = arena_take(a, j->nlabels, sizeof(*labels));
	struct job told = *j;
	told.nlabels = 0;
	for (size_t i = 0; i < j->nlabels; i++)
		if (asks_for_label(q, j->labels[i].key))
			labels[told.nlabels++] = j->labels[i];
	told.labels = told.nlabels > 0 ? labels : NULL;
	return told;
}

void queue_set_job(struct queue *q, const struct job *j)
{
	struct arena scratch = {0};
	struct job told;
	if (q->listener.hear)
		told = job_told(q, j, &scratch);
	queue_tell(q, SET_JOB, .job = &told);
	arena_done(&scratch);
	set_job(q, j);
}

void queue_drop_job(struct queue *q, const struct uid *uid)
{
	queue_tell(q, DROP_JOB, .uid = *uid);
	struct workload *w = queue_find_workload(q, uid);
	if (w)
		queue_forget_workload(q, w);
}

static bool take_in(struct queue *q, const struct uid *uid, const struct quota_line *lines,
	size_t n, int64_t now_ms)
{
	struct workload *w = queue_find_workload(q, uid);
	if (!w)
		return false;
	workload_unplace(q, w);
	reservation_forget_promise(q, w);
	if (w->reservation)
		reservation_end(q, w);
	w->priority_source = PRIORITY_UNKNOWN;
	reservation_adopt(q, w, lines, n, now_ms);
	workload_place(q, w);
	q->counters.version++;
	return true;
}

bool queue_take_in(struct queue *q, const struct uid *uid, const struct quota_line *lines, size_t n,
	int64_t now_ms)
{
	queue_tell(q, TAKE_IN, .uid = *uid, .lines = lines, .nlines = n, .now_ms = now_ms);
	return take_in(q, uid, lines, n, now_ms);
}

static bool adopt(struct queue *q, const struct uid *uid, const struct quota_line *lines, size_t n,
	int64_t reserved_ms)
{
	if (!take_in(q, uid, lines, n, reserved_ms))
		return false;
	runs_after(q, queue_find_workload(q, uid)->reservation, RUN_ADOPTED);
	return true;
}

bool queue_adopt_job(struct queue *q, const struct uid *uid, const struct quota_line *lines,
	size_t n, int64_t reserved_ms)
{
	queue_tell(
		q, ADOPT_JOB, .uid = *uid, .lines = lines, .nlines = n, .reserved_ms = reserved_ms);
	return adopt(q, uid, lines, n, reserved_ms);
}

void queue_adopt_unread(struct queue *q, const struct job *unread, const struct quota_line *lines,
	size_t n, int64_t reserved_ms)
{
	queue_tell(q, ADOPT_UNREAD, .job = unread, .lines = lines, .nlines = n,
		.reserved_ms = reserved_ms);
	const struct workload *seen = queue_find_workload(q, &unread->uid);
	struct shape *shape = seen ? shape_keep(seen->shape) : NULL;
	int32_t pods = seen ? reservation_pods_of(seen, lines, n) : 0;
	set_job(q, unread);
	queue_find_workload(q, &unread->uid)->unread = true;
	must(adopt(q, &unread->uid, lines, n, reserved_ms));
	if (shape)
		reservation_expect_as_seen(
			q, queue_find_workload(q, &unread->uid)->reservation, shape, pods);
}

bool queue_job_flavors_exist(const struct queue *q, const struct uid *uid)
{
	const struct reservation *r = queue_find_reservation(q, uid);
	for (size_t i = 0; r && i < r->nlines; i++) {
		const struct flavor *f = flavor_find(&q->flavors, r->line[i].row->flavor);
		if (!f || !f->exists)
			return false;
	}
	return true;
}

bool queue_job_provisioning(const struct queue *q, const struct uid *uid, struct provisioning *ret)
{
	const struct reservation *r = queue_find_reservation(q, uid);
	for (size_t i = 0; r && i < r->nlines; i++) {
		const struct flavor *f = flavor_find(&q->flavors, r->line[i].row->flavor);
		if (!f || !f->provisioning.class_name)
			continue;
		const struct provisioning_spec *p = &f->provisioning;
		*ret = (struct provisioning){
			f->name, p->class_name, p->parameters, p->nparameters, p->timeout_ms};
		return true;
	}
	return false;
}

void queue_confirm_job(struct queue *q, const struct uid *uid, int64_t now_ms)
{
	queue_tell(q, CONFIRM_JOB, .uid = *uid, .now_ms = now_ms);
	struct reservation *r = queue_find_reservation(q, uid);
	if (!r)
		return;
	reservation_confirm(q, r, now_ms);
	q->counters.version++;
}

void queue_ready_job(struct queue *q, const struct uid *uid, bool ready, int64_t now_ms)
{
	queue_tell(q, READY_JOB, .uid = *uid, .flag = ready, .now_ms = now_ms);
	struct reservation *r = queue_find_reservation(q, uid);
	if (r)
		run_ready(q, r, ready, now_ms);
}

static void recall(struct queue *q, const struct uid *uid, const struct job_history *h,
	void (*take)(struct queue *q, struct workload *w, const struct job_history *h))
{
	struct workload *w = queue_find_workload(q, uid);
	if (!w)
		return;
	workload_edited(q, w);
	workload_unplace(q, w);
	take(q, w, h);
	workload_place(q, w);
	q->counters.version++;
}

void queue_recall_history(struct queue *q, const struct uid *uid, const struct job_history *h)
{
	queue_tell(q, RECALL_HISTORY, .uid = *uid, .history = h);
	recall(q, uid, h, past_recall);
}

void queue_recall_past(struct queue *q, const struct uid *uid, const struct job_history *h)
{
	queue_tell(q, RECALL_PAST, .uid = *uid, .history = h);
	recall(q, uid, h, past_recall_before);
}

void queue_recall_priority(struct queue *q, const struct uid *uid, int32_t priority)
{
	queue_tell(q, RECALL_PRIORITY, .uid = *uid, .counted = priority);
	struct workload *w = queue_find_workload(q, uid);
	if (w && workload_recall_priority(q, w, priority))
		q->counters.version++;
}

enum priority_source queue_job_priority(const struct queue *q, const struct uid *uid, int32_t *ret)
{
	const struct workload *w = queue_find_workload(q, uid);
	*ret = w ? w->key.priority : 0;
	return w && w->reservation ? w->priority_source : PRIORITY_UNKNOWN;
}

void queue_job_history(
	const struct queue *q, const struct uid *uid, int64_t now_ms, struct job_history *ret)
{
	const struct workload *w = queue_find_workload(q, uid);
	*ret = w ? past_history(q, w, now_ms) : (struct job_history){0};
}

bool queue_shrink_job(struct queue *q, const struct uid *uid, int32_t pods, int64_t now_ms)
{
	queue_tell(q, SHRINK_JOB, .uid = *uid, .pods = pods, .now_ms = now_ms);
	struct reservation *r = queue_find_reservation(q, uid);
	if (!r)
		return false;
	bool gave = reservation_gives(r);
	bool reclaimed = reclaim_done_by(r, pods);
	each_feature(f, ALL_FEATURES, run_settle)
		f->run_settle(q, r, now_ms);
	bool freed = reservation_shrink(q, r, pods);
	if (reclaimed)
		growth_reclaimed(q, r, now_ms);
	else if (gave && !reservation_gives(r))
		growth_shrank(q, r, now_ms);
	q->counters.version += freed;
	return freed;
}

void queue_keep_pods(struct queue *q, const struct uid *uid)
{
	queue_tell(q, KEEP_PODS, .uid = *uid);
	struct reservation *r = queue_find_reservation(q, uid);
	if (!r)
		return;
	giving_cancel(q, r);
	q->counters.version++;
}

void queue_clock_stepped(struct queue *q, int64_t step_ms)
{
	queue_tell(q, CLOCK_STEPPED, .step_ms = step_ms);
	struct clusterqueue *cq;
	if (step_ms > 0)
		step_ms = least(step_ms, q->set_back_ms);
	if (step_ms == 0)
		return;
	q->set_back_ms -= step_ms;
	map_each(&q->clusterqueues.map, i, cq)
		list_each_entry(&cq->reservations, struct reservation, r, of_clusterqueue)
			run_clock_stepped(q, r, step_ms);
}

void queue_grew_job(struct queue *q, const struct uid *uid, int64_t now_ms)
{
	queue_tell(q, GREW_JOB, .uid = *uid, .now_ms = now_ms);
	struct reservation *r = queue_find_reservation(q, uid);
	if (!r || !reservation_grows(r))
		return;
	r->sizing->grows = false;
	r->sizing->changed_ms = now_ms;
	run_has_grown(q, r, now_ms);
	growth_heed(q, r);
	if (r->sizing->reclaim.untold || r->sizing->giving.untold)
		reservation_suspect(q, r);
}

int64_t queue_job_grown_due_ms(const struct queue *q, const struct uid *uid)
{
	const struct reservation *r = queue_find_reservation(q, uid);
	return r ? run_grown_due_ms(q, r) : 0;
}

bool queue_job_outgrows(const struct queue *q, const struct uid *uid, int32_t pods)
{
	const struct reservation *r = queue_find_reservation(q, uid);
	for (size_t i = 0; r && i < r->nlines; i++) {
		int64_t each = shape_amount(r->w->shape, r->line[i].row->resource);
		if (quantity_times(each, pods) > r->line[i].amount)
			return true;
	}
	return false;
}

bool queue_job_beyond_quota(const struct queue *q, const struct uid *uid)
{
	const struct reservation *r = queue_find_reservation(q, uid);
	for (size_t i = 0; r && i < r->nlines; i++)
		if (r->line[i].amount > 0 && quota_free(r->line[i].row, QUOTA_THEN) < 0)
			return true;
	return false;
}

void queue_leaving_job(struct queue *q, const struct uid *uid)
{
	queue_tell(q, LEAVING_JOB, .uid = *uid);
	struct reservation *r = queue_find_reservation(q, uid);
	if (r)
		reservation_leave(q, r);
}

int32_t queue_job_pods(const struct queue *q, const struct uid *uid)
{
	const struct reservation *r = queue_find_reservation(q, uid);
	return r ? r->pods : 0;
}

bool queue_reclaim_job(struct queue *q, const struct uid *uid, int32_t pods, const char *why)
{
	queue_tell(q, RECLAIM_JOB, .uid = *uid, .pods = pods, .why = why);
	struct reservation *r = queue_find_reservation(q, uid);
	if (!r || !reclaim_ask(q, r, pods, why))
		return false;
	q->counters.version++;
	return true;
}

int32_t queue_job_keeps(const struct queue *q, const struct uid *uid)
{
	const struct reservation *r = queue_find_reservation(q, uid);
	return r ? reclaim_keeps(r) : 0;
}

const char *queue_job_namespace(const struct queue *q, const struct uid *uid)
{
	const struct workload *w = queue_find_workload(q, uid);
	return w && w->lq ? w->lq->ns->name : NULL;
}

bool queue_job_borrows(const struct queue *q, const struct uid *uid)
{
	const struct reservation *r = queue_find_reservation(q, uid);
	for (size_t i = 0; r && i < r->nlines; i++)
		if (r->line[i].amount > 0 && quota_borrows(r->line[i].row, QUOTA_NOW))
			return true;
	return false;
}

bool queue_job_ends_when_stopped(const struct queue *q, const struct uid *uid)
{
	const struct workload *w = queue_find_workload(q, uid);
	return w && w->ends_when_stopped;
}

enum lending queue_job_lending(const struct queue *q, const struct uid *uid)
{
	const struct reservation *r = queue_find_reservation(q, uid);
	return r ? reservation_lending(q, r) : LENDING_NONE;
}

bool queue_job_has_kubelet_limits(const struct queue *q, const struct uid *uid)
{
	const struct reservation *r = queue_find_reservation(q, uid);
	const struct flavor *f = r ? reservation_lender(q, r) : NULL;
	return f && f->kubelet_limits;
}

const char *queue_job_resources(const struct queue *q, const struct uid *uid)
{
	const struct workload *w = queue_find_workload(q, uid);
	if (!w)
		return NULL;
	return (w->reservation ? w->reservation->shape : w->shape)->directives->resources;
}

void queue_block_job(struct queue *q, const struct uid *uid, const char *why)
{
	struct workload *w = queue_find_workload(q, uid);
	if (!w || w->blocked == why)
		return;
	queue_tell(q, BLOCK_JOB, .uid = *uid, .why = why);
	w->blocked = why;
	workload_edited(q, w);
	workload_replace(q, w);
	wake_behind_leaving(q, w);
	q->counters.version++;
}

void queue_keep_active(struct queue *q, const struct uid *uid)
{
	queue_tell(q, KEEP_ACTIVE, .uid = *uid);
	struct workload *w = queue_find_workload(q, uid);
	if (w)
		past_keep_active(q, w);
}

void queue_ending_job(struct queue *q, const struct uid *uid)
{
	queue_tell(q, ENDING_JOB, .uid = *uid);
	struct reservation *r = queue_find_reservation(q, uid);
	if (!r)
		return;
	reservation_note_end(r);
	run_disarm(q, r);
}

static void release(struct queue *q, struct workload *w, int64_t now_ms)
{
	run_end(q, w->reservation, now_ms);
	each_feature(f, q->features_awake, run_settled)
		f->run_settled(q, w->reservation, now_ms);
	reservation_end(q, w);
}

void queue_release_job(
	struct queue *q, const struct uid *uid, int64_t now_ms, int64_t not_before_ms)
{
	queue_tell(q, RELEASE_JOB, .uid = *uid, .now_ms = now_ms, .not_before_ms = not_before_ms);
	struct workload *w = queue_find_workload(q, uid);
	if (!w || !w->reservation)
		return;
	workload_edited(q, w);
	workload_unplace(q, w);
	w->not_before_ms = not_before_ms;
	release(q, w, now_ms);
	workload_place(q, w);
	each_feature(f, q->features_awake, job_freed)
		f->job_freed(q, w);
	q->counters.version++;
}

void queue_end_job(struct queue *q, const struct uid *uid, int64_t now_ms)
{
	queue_tell(q, END_JOB, .uid = *uid, .now_ms = now_ms);
	struct workload *w = queue_find_workload(q, uid);
	if (!w || !w->reservation)
		return;
	workload_unplace(q, w);
	release(q, w, now_ms);
	workload_free(q, w);
	q->counters.version++;
}

size_t queue_job_asks(const struct queue *q, const struct uid *uid, int32_t *ret_pods,
	struct resource ret[QUEUE_LINES_MAX])
{
	const struct workload *w = queue_find_workload(q, uid);
	*ret_pods = w ? w->shape->pods : 0;
	size_t n = w ? w->shape->nrequests : 0;
	must(n <= QUEUE_LINES_MAX);
	for (size_t i = 0; i < n; i++) {
		ret[i] = w->shape->request[i];
		ret[i].amount = quantity_times(ret[i].amount, w->shape->pods);
	}
	return n;
}

size_t queue_job_lines(
	const struct queue *q, const struct uid *uid, struct quota_line ret_lines[QUEUE_LINES_MAX])
{
	const struct reservation *r = queue_find_reservation(q, uid);
	size_t n = !r ? 0 : r->nlines < QUEUE_LINES_MAX ? r->nlines : QUEUE_LINES_MAX;
	for (size_t i = 0; i < n; i++) {
		const struct reservation_line *l = &r->line[i];
		ret_lines[i] = (struct quota_line){
			l->row->node->name, l->row->flavor, l->row->resource, l->amount};
	}
	return n;
}

/* ---- What a play of the future has to know of each Job --------------------------------------- */

static struct job_outline outline_of(const struct workload *w)
{
	const struct reservation *r = w->reservation;
	const struct localqueue *lq = r ? r->lq : w->lq;
	const struct clusterqueue *cq = r ? r->cq : w->lq->cq;
	const struct shape *shape = r ? r->shape : w->shape;
	return (struct job_outline){
		.uid = w->key.uid,
		.ns = lq->ns->name,
		.name = w->name,
		.localqueue = lq->name,
		.clusterqueue = cq ? cq->name : "",
		.family = family_name(w),
		.user = w->user ? w->user->name : "",
		.priority = w->key.priority,
		.holds_quota = r,
		.confirmed = r && r->confirmed,
		.ends = r && r->stop_given,
		.returns = r && r->stop_given && r->run.stop != STOP_REASON_NONE,
		.since_ms = r ? r->since_ms : 0,
		.grace_ms = r ? r->pods_facts.grace_ms : 0,
		.pods = r ? r->pods : w->shape->pods,
		.full_pods = shape->min_pods < shape->pods ? shape->pods : 0,
		.expected_ms = w->expected_ms,
		.expected_from = w->expected_from,
	};
}

void queue_each_job(
	const struct queue *q, void (*each)(const struct job_outline *o, void *ctx), void *ctx)
{
	const struct workload *w;
	map_each(&q->workloads, i, w) {
		struct job_outline o = outline_of(w);
		each(&o, ctx);
	}
}

bool queue_outline_job(const struct queue *q, const struct uid *uid, struct job_outline *ret)
{
	const struct workload *w = queue_find_workload(q, uid);
	if (!w)
		return false;
	*ret = outline_of(w);
	return true;
}
