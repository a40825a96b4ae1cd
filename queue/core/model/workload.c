#include "queue/core/model/workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "queue/core/model/kept_start.h"
#include "queue/core/model/state.h"
#include "queue/core/model/feature.h"
#include "queue/core/model/backfill_slot.h"
#include "queue/core/model/duration.h"
#include "queue/core/model/victim_index.h"
#include "queue/core/model/nice.h"
#include "queue/core/model/overflow.h"
#include "queue/core/model/precedence.h"
#include "queue/core/model/reservation.h"
#include "queue/core/model/run.h"
#include "queue/core/model/user.h"
#include "queue/core/model/runs.h"

int order_cmp(const struct order_key *a, const struct order_key *b)
{
	if (a->priority != b->priority)
		return a->priority > b->priority ? -1 : 1;
	if (a->due_ms != b->due_ms) {
		if (a->due_ms == 0 || b->due_ms == 0)
			return a->due_ms != 0 ? -1 : 1;
		return a->due_ms < b->due_ms ? -1 : 1;
	}
	if (a->queued_ms != b->queued_ms)
		return a->queued_ms < b->queued_ms ? -1 : 1;
	if (a->arrival != b->arrival)
		return a->arrival < b->arrival ? -1 : 1;
	return uid_cmp(&a->uid, &b->uid);
}

int workload_back_off_order(const struct tree_node *a, const struct tree_node *b)
{
	const struct workload *x = container_of_const(a, struct workload, in_order);
	const struct workload *y = container_of_const(b, struct workload, in_order);
	if (x->not_before_ms != y->not_before_ms)
		return x->not_before_ms < y->not_before_ms ? -1 : 1;
	return order_cmp(&x->key, &y->key);
}

/* Creation times have whole seconds; within one, Jobs are ordered by resourceVersion. On the watch
 * that is the version of the Job's creation. In a list, as after a restart, it is that of the last
 * write. The order is nearly the same, because the writers to new Jobs (the Job controller, our
 * notices) take them in order of arrival. But a Job that ran was written to since, and stands
 * behind the others of its second. */
static uint64_t arrival_of(struct queue *q, const struct job *j)
{
	return j->version > 0 ? (uint64_t)j->version : ++q->counters.arrivals;
}

static size_t workload_size(const struct workload *w)
{
	return sizeof(*w) + strlen(w->name) + 1;
}

size_t workload_slots(const struct workload *w)
{
	size_t bytes = w->hold ? strlen(w->hold) : 0;
	each_feature(f, ALL_FEATURES, job_bytes)
		bytes += f->job_bytes(w);
	return w->shape->slots + bytes / SHAPE_SLOT_BYTES;
}

struct workload *workload_new(struct queue *q, const struct job *j)
{
	size_t n = strlen(j->name) + 1;
	struct workload *w = mem_alloc(sizeof(*w) + n);
	memcpy(w->name, j->name, n);
	w->key.queued_ms = job_queued_ms(j);
	w->key.arrival = arrival_of(q, j);
	w->key.uid = j->uid;
	map_put(&q->workloads, uid_hash(&j->uid), w);
	q->workload_bytes += workload_size(w);
	return w;
}

void workload_edited(struct queue *q, struct workload *w)
{
	w->edited = ++q->counters.edits;
}

/* The ClusterQueue by which its priority counts. */
static const struct clusterqueue *cq_that_counts(const struct workload *w)
{
	return w->reservation && w->reservation->cq ? w->reservation->cq : w->lq->cq;
}

int32_t workload_claims(const struct workload *w)
{
	bool kept = w->priority_source == PRIORITY_KEPT || w->priority_source == PRIORITY_RECALLED;
	return kept ? w->key.priority : w->class->value;
}

/* The class of a Job that is adopted unread is not known. */
static void note_priority_source(struct workload *w)
{
	if (w->class->exists)
		w->priority_source = w->unread ? PRIORITY_UNKNOWN : PRIORITY_OF_CLASS;
	else if (!w->reservation)
		w->priority_source = PRIORITY_UNKNOWN;
	else if (w->priority_source == PRIORITY_OF_CLASS)
		w->priority_source = PRIORITY_KEPT;
}

/* Returns the priority that a workload claims, capped by its ClusterQueue. */
static int32_t priority_that_counts(const struct workload *w)
{
	const struct clusterqueue *cq = cq_that_counts(w);
	int32_t claims = workload_claims(w);
	return cq && cq->spec.has_max_priority && claims > cq->spec.max_priority
		       ? cq->spec.max_priority
		       : claims;
}

static void set_fills_gaps(struct queue *q, struct workload *w, bool fills)
{
	q->gap_fillers += (size_t)fills - (size_t)w->fills_gaps;
	w->fills_gaps = fills;
}

static void set_wants(struct queue *q, struct workload *w, int32_t wants)
{
	q->moldable += (size_t)(wants > 0) - (size_t)(w->wants > 0);
	w->wants = wants;
}

/* Sets the priority that counts. A run's place among the candidates follows, and one that falls may
 * be below what waits now. */
static void set_priority(struct queue *q, struct workload *w, int32_t priority)
{
	const struct clusterqueue *cq = cq_that_counts(w);
	set_fills_gaps(q, w, priority < (cq ? cq->spec.gap_fillers_below : 0));
	if (w->key.priority == priority)
		return;
	bool falls = priority < w->key.priority;
	if (w->reservation)
		victim_index_leave(w->reservation);
	w->key.priority = priority;
	if (!w->reservation)
		return;
	victim_index_join(w->reservation);
	if (falls && q->nwaiting > 0)
		queue_touch_tree_of(q, w->reservation->cq);
}

bool workload_displaces(const struct workload *w)
{
	return !workload_fills_gaps(w) && !w->class->never_preempts;
}

static void forget_queue(struct queue *q, struct workload *w)
{
	if (!w->lq)
		return;
	if (w->nice)
		nice_leave_user(w);
	list_leave(&w->of_user);
	user_put(q, w->user);
	w->user = NULL;
	list_leave(&w->of_localqueue);
	localqueue_put(&q->localqueues, w->lq);
	w->lq = NULL;
}

static void forget_class(struct queue *q, struct workload *w)
{
	list_leave(&w->of_class);
	priority_tidy(&q->priorities, w->class);
	w->class = NULL;
}

void workload_keep_text(struct queue *q, char **kept, const char *text)
{
	q->workload_bytes -= *kept ? strlen(*kept) + 1 : 0;
	free(*kept);
	*kept = mem_strdup(text);
	q->workload_bytes += text ? strlen(text) + 1 : 0;
}

void workload_free(struct queue *q, struct workload *w)
{
	must(w->place == PLACE_NOWHERE && !w->reservation && !w->promise && !w->group);
	must(map_take(&q->workloads, uid_hash(&w->key.uid), &w->key.uid) == w);
	set_fills_gaps(q, w, false);
	set_wants(q, w, 0);
	overflow_count_out(w);
	forget_queue(q, w);
	forget_class(q, w);
	workload_keep_text(q, &w->invalid, NULL);
	workload_keep_text(q, &w->hold, NULL);
	if (w->nice)
		nice_forget(q, w);
	past_forget(q, w);
	family_leave(q, w);
	each_feature(f, q->features_awake, job_forgotten)
		f->job_forgotten(q, w);
	disruption_forget(q, w);
	shape_put(&q->shapes, w->shape);
	q->workload_bytes -= workload_size(w);
	free(w);
}

static bool text_same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static const char *fault_of(const struct queue *q, const struct job *j,
	const struct account *account, const char *shape_fault)
{
	const char *system = priority_system_fault(j->pod_priority_class);
	if (j->invalid)
		return j->invalid;
	if (system)
		return system;
	if (*account->fault)
		return account->fault;
	if (*shape_fault)
		return shape_fault;
	each_feature(f, q->features_awake, job_fault) {
		const char *fault = f->job_fault(j);
		if (fault)
			return fault;
	}
	return NULL;
}

/* A run that was scaled down may hold quota for the parallelism that its owner wrote. Where its
 * owner has lowered parallelism, completions bounds how many pods it had. */
static int32_t most_pods(const struct job *j)
{
	int32_t most = j->admission.owner_parallelism > j->parallelism
			       ? j->admission.owner_parallelism
			       : j->parallelism;
	return j->has_completions && j->completions > most ? j->completions : most;
}

static bool hold_differs(const struct workload *w, const char *hold)
{
	return !w->hold != !hold || (hold && strncmp(w->hold, hold, HOLD_SHOWN) != 0);
}

bool workload_differs(struct queue *q, const struct workload *w, const struct job *j,
	const struct account *account)
{
	char fault[SHAPE_FAULT_SIZE];
	bool cut;
	size_t most = overflow_shape_bytes(q, w, j);
	struct shape *shape = shape_of(&q->shapes, j, account, most, &cut, fault);
	bool same_shape = shape == w->shape && cut == w->cut;
	shape_put(&q->shapes, shape);

	const char *invalid = fault_of(q, j, account, fault);
	struct priority_class *class =
		priority_of(&q->priorities, j->priority_class, j->pod_priority_class);
	bool same_class = class == w->class;
	priority_tidy(&q->priorities, class);
	enum duration_source from;
	int64_t expected_ms = duration_expected(j, w->family, &from);
	each_feature(f, q->features_awake, job_differs)
		if (f->job_differs(w, j))
			return true;
	return !same_shape || !same_class || hold_differs(w, j->hold) ||
	       w->deleting != j->deleting || w->ends_when_stopped != job_ends_when_stopped(j) ||
	       w->most_pods != most_pods(j) || w->wants != job_pods_wanted(j) ||
	       w->grow != j->grow || nice_of(w) != j->nice ||
	       w->max_run_ms != j->durations.max_run_ms ||
	       !text_same(family_name(w), j->family ? j->family : "") ||
	       w->expected_ms != expected_ms || w->expected_from != from ||
	       strcmp(w->user->name, j->submitted_by ? j->submitted_by : "") != 0 ||
	       strcmp(w->lq->name, j->queue) != 0 || strcmp(w->lq->ns->name, j->ns) != 0 ||
	       !text_same(w->invalid, invalid);
}

/* Of a long text as much as is shown. */
static void keep_hold(struct queue *q, struct workload *w, const char *hold)
{
	char shown[HOLD_SHOWN + 1];
	snprintf(shown, sizeof(shown), "%s", hold ? hold : "");
	workload_keep_text(q, &w->hold, hold ? shown : NULL);
}

static void set_expected(struct queue *q, struct workload *w, int64_t expected_ms)
{
	if (w->expected_ms == expected_ms)
		return;
	w->expected_ms = expected_ms;
	if (w->reservation)
		runs_after(q, w->reservation, RUN_EXPECTED);
}

/* Terminating pods count as ended: they are not in `active`, and mostly in `failed` at once, and
 * others are made for them. But not for those of a Job that is suspended: they are the last. */
struct progress progress_of(const struct job *j)
{
	const struct job_status *s = &j->status;
	int32_t last = s->suspended ? s->terminating : 0;
	struct progress p = {.version = j->version, .active = s->active + last, .left = -1};
	int32_t well = s->succeeded + s->uncounted;
	p.ended = well + s->failed_pods + s->uncounted_failed;
	if (j->indexed && s->indexes_done > s->succeeded)
		well = s->indexes_done;
	if (job_finished(j))
		p.left = 0;
	else if (j->has_completions && !j->completions_follow)
		p.left = j->completions > well ? j->completions - well : 0;
	return p;
}

void workload_take(
	struct queue *q, struct workload *w, const struct job *j, const struct account *account)
{
	char fault[SHAPE_FAULT_SIZE];
	size_t most = overflow_shape_bytes(q, w, j);
	struct shape *shape = shape_of(&q->shapes, j, account, most, &w->cut, fault);
	if (w->lq)
		overflow_count_out(w);
	if (shape != w->shape)
		w->in_vain = 0;
	shape_put(&q->shapes, w->shape);
	w->shape = shape;
	bool was_invalid = w->invalid != NULL;
	workload_keep_text(q, &w->invalid, fault_of(q, j, account, fault));
	each_feature(f, q->features_awake, job_read)
		f->job_read(q, w, j);
	bool released = w->hold && !j->hold;
	keep_hold(q, w, j->hold);

	struct localqueue *lq = localqueue_keep(&q->localqueues, j->ns, j->queue);
	struct user *user = user_keep(q, lq, j->submitted_by);
	bool is_new = !w->lq;
	forget_queue(q, w);
	w->lq = lq;
	w->user = user;
	list_add(&lq->members, &w->of_localqueue);
	list_add(&user->members, &w->of_user);
	if (w->nice)
		nice_join_user(q, w);
	if (is_new && q->nices.ngiven > 0)
		nice_recall(q, w);
	if (nice_of(w) != j->nice)
		nice_take(q, w, j->nice);
	overflow_count_in(w);

	struct priority_class *class =
		priority_of(&q->priorities, j->priority_class, j->pod_priority_class);
	if (class != w->class) {
		forget_class(q, w);
		w->class = class;
		list_add(&class->members, &w->of_class);
	}
	if (released)
		past_reactivate(q, w);
	if (released || (was_invalid && !w->invalid))
		each_feature(f, q->features_awake, job_released)
			f->job_released(q, w);
	w->max_run_ms = j->durations.max_run_ms;
	if (!text_same(family_name(w), j->family ? j->family : "")) {
		family_leave(q, w);
		family_join(q, w, j->ns, j->family);
	}
	set_expected(q, w, duration_expected(j, w->family, &w->expected_from));
	w->deleting = j->deleting;
	w->ends_when_stopped = job_ends_when_stopped(j);
	w->most_pods = most_pods(j);
	set_wants(q, w, job_pods_wanted(j));
	w->grow = j->grow;
	w->progress = progress_of(j);
}

/* Returns whether the workload may wait for quota, as far as terms and time are not asked. */
static bool may_wait(const struct workload *w)
{
	if (past_deactivated(w) || w->hold || w->blocked || w->deleting || w->invalid ||
		!priority_usable(w->class) || w->lq->gate != GATE_OPEN)
		return false;
	each_feature(f, ALL_FEATURES, job_may_wait)
		if (!f->job_may_wait(w))
			return false;
	return true;
}

bool workload_returns(const struct workload *w, const struct clusterqueue *cq, int64_t now_ms)
{
	if (w->ends_when_stopped || !w->lq || !w->class || !may_wait(w) || w->lq->cq != cq)
		return false;
	each_feature(f, ALL_FEATURES, may_return)
		if (!f->may_return(w, now_ms))
			return false;
	return true;
}

static enum workload_place place_for(struct queue *q, struct workload *w)
{
	if (w->reservation)
		return PLACE_RESERVATION;
	w->key.due_ms = 0;
	if (!may_wait(w)) {
		each_feature(f, q->features_awake, job_aside)
			f->job_aside(q, w);
		return PLACE_ASIDE;
	}
	if (w->promise)
		return PLACE_PROMISED;
	each_feature(f, q->features_awake, job_may_stand)
		if (!f->job_may_stand(q, w))
			return PLACE_ASIDE;
	if (!user_line_enter(q, w))
		return PLACE_ASIDE;
	return w->not_before_ms > q->now_ms ? PLACE_BACK_OFF : PLACE_READY;
}

/* Does the promise still match what the workload asks for, and where? */
static bool promise_stands(const struct workload *w)
{
	const struct reservation *r = w->promise;
	return may_wait(w) && !workload_fills_gaps(w) && r->cq == w->lq->cq && r->user == w->user &&
	       r->shape == w->shape;
}

static bool is_active(const struct workload *w)
{
	return w->place == PLACE_READY || w->place == PLACE_PROMISED;
}

static bool is_head(const struct queue *q, const struct workload *w)
{
	return precedence_head(q, w->group->cq) == w->group && group_head(w->group) == w;
}

/* A new head of a StrictFIFO queue changes what quota of the Cohort is kept for it. */
void workload_join_line(struct queue *q, struct workload *w)
{
	struct clusterqueue *cq = w->lq->cq;
	group_join(&q->groups, cq, w);
	if (cq->spec.strategy == STRICT_FIFO && is_head(q, w) && tree_count(&cq->order) > 1)
		queue_touch_tree_of(q, cq);
	else
		queue_touch_fresh(q, cq);
}

void workload_place(struct queue *q, struct workload *w)
{
	must(w->place == PLACE_NOWHERE);
	q->counters.placed++;
	note_priority_source(w);
	set_priority(q, w, priority_that_counts(w));
	if (w->promise && !promise_stands(w))
		reservation_forget_promise(q, w);
	each_feature(f, q->features_awake, job_stands)
		f->job_stands(q, w);
	w->place = place_for(q, w);
	if (w->place == PLACE_ASIDE && !user_line_waits(w))
		user_line_leave(q, w);
	if (w->place != PLACE_RESERVATION) {
		w->lq->nwaiting++;
		w->user->nwaiting++;
		w->lq->waiting_slots += workload_slots(w);
		w->lq->nactive += is_active(w);
		q->nwaiting++;
	}
	switch (w->place) {
	case PLACE_BACK_OFF:
		tree_insert(&q->back_off, &w->in_order, w->key.arrival);
		break;
	case PLACE_READY:
		if (w->user->nnice > 0)
			nice_enter(q, w);
		workload_join_line(q, w);
		break;
	case PLACE_NOWHERE:
	case PLACE_ASIDE:
	case PLACE_PROMISED:
	case PLACE_RESERVATION:
		break;
	}
}

/* When a head leaves, Jobs that it blocked may start. A backfill head kept a slot in its queue, or a
 * booking in its tree. A StrictFIFO head blocked the Jobs behind it and, by the quota kept for it,
 * others in its Cohort; a pass that starts it goes on with those anyway. Elsewhere a Job that leaves
 * changes nothing for others. */
void workload_leave_line(struct queue *q, struct workload *w)
{
	struct clusterqueue *cq = w->group->cq;
	bool starts = w->reservation || w->promise;
	const struct kept_start *k = kept_start_get(q, w);
	if (k && list_in(&k->of_heads) && !starts)
		queue_touch_tree(q, cq->cohort_tree);
	if (backfill_is_head(cq, w))
		queue_touch_queue(q, cq);
	else if (cq->spec.strategy == STRICT_FIFO && !starts && is_head(q, w))
		queue_touch_tree_of(q, cq);
	if (group_leave(&q->groups, w))
		queue_touch_fresh(q, cq);
}

static void take_out(struct queue *q, struct workload *w)
{
	if (w->place != PLACE_RESERVATION && w->place != PLACE_NOWHERE) {
		w->lq->nwaiting--;
		w->user->nwaiting--;
		w->lq->waiting_slots -= workload_slots(w);
		w->lq->nactive -= is_active(w);
		q->nwaiting--;
	}
	switch (w->place) {
	case PLACE_BACK_OFF:
		tree_remove(&q->back_off, &w->in_order);
		break;
	case PLACE_READY:
		workload_leave_line(q, w);
		kept_start_leave(q, w);
		if (w->user->nnice > 0)
			nice_leave(q, w, w->reservation || w->promise);
		break;
	case PLACE_NOWHERE:
	case PLACE_ASIDE:
	case PLACE_PROMISED:
	case PLACE_RESERVATION:
		break;
	}
	each_feature(f, q->features_awake, job_leaves)
		f->job_leaves(q, w);
	w->place = PLACE_NOWHERE;
}

void workload_unplace(struct queue *q, struct workload *w)
{
	take_out(q, w);
	user_line_leave(q, w);
}

void workload_stand_anew(struct queue *q, struct workload *w)
{
	take_out(q, w);
	workload_place(q, w);
}

void workload_replace(struct queue *q, struct workload *w)
{
	if (w->reservation)
		return;
	workload_unplace(q, w);
	workload_place(q, w);
}

/* Moves it only where an order depends on it. */
void workload_expect(
	struct queue *q, struct workload *w, int64_t expected_ms, enum duration_source from)
{
	w->expected_from = from;
	if (w->expected_ms == expected_ms)
		return;
	bool stands = (w->terms && !w->reservation) || (w->group && group_expects(q, w->lq));
	if (stands)
		workload_unplace(q, w);
	w->expected_ms = expected_ms;
	if (stands)
		workload_place(q, w);
}

void workload_note_yield(struct workload *w, const struct cohort_tree *cohort_tree)
{
	bool again = workload_has_yielded(w, cohort_tree);
	w->yielded = cohort_tree->news;
	w->yielded_again = again;
}

bool workload_has_yielded(const struct workload *w, const struct cohort_tree *cohort_tree)
{
	return w->yielded > 0 && w->yielded == cohort_tree->news;
}

bool workload_yields_for_ever(const struct workload *w, const struct cohort_tree *cohort_tree)
{
	return w->yielded_again && workload_has_yielded(w, cohort_tree);
}

void workload_note_vain_displacement(struct workload *w, const struct cohort_tree *cohort_tree)
{
	w->in_vain = cohort_tree->news;
}

bool workload_displaced_in_vain(const struct workload *w, const struct cohort_tree *cohort_tree)
{
	return w->in_vain > 0 && w->in_vain == cohort_tree->news;
}

void workload_reprioritise(struct queue *q, struct workload *w)
{
	workload_edited(q, w);
	workload_unplace(q, w);
	workload_place(q, w);
}

bool workload_recall_priority(struct queue *q, struct workload *w, int32_t priority)
{
	if (!w->reservation || w->class->exists || w->priority_source != PRIORITY_UNKNOWN)
		return false;
	workload_edited(q, w);
	workload_unplace(q, w);
	w->priority_source = PRIORITY_RECALLED;
	set_priority(q, w, priority);
	workload_place(q, w); /* its ClusterQueue caps that, too */
	return true;
}

void workload_regate(struct queue *q, struct localqueue *lq)
{
	enum localqueue_gate gate = localqueue_gate_now(lq);
	if (gate == lq->gate)
		return;
	bool matters = gate == GATE_OPEN || lq->gate == GATE_OPEN;
	lq->gate = gate;
	if (!matters)
		return;
	lq->edited = ++q->counters.edits;
	list_each_entry(&lq->members, struct workload, w, of_localqueue)
		workload_replace(q, w);
}
