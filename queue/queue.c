#include "sluice/queue.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/must.h"
#include "queue/rules/windows/window_close.h"
#include "queue/core.h"
#include "queue/job/stop_rate.h"
#include "queue/rules/windows/lead.h"
#include "queue/rules/windows/smaller_quota.h"
#include "queue/admit/growth.h"
#include "queue/admit/pass.h"
#include "queue/rules/dependencies/dependency_wait.h"
#include "queue/rules/bookings/advance_clear.h"
#include "queue/plan/booked_runs.h"
#include "queue/rules/bookings/kept_start.h"
#include "queue/rules/money/booked_start.h"
#include "queue/rules/reclaim.h"
#include "queue/model/giving.h"
#include "queue/model/reservation.h"
#include "queue/model/run.h"
#include "queue/model/user_line.h"
#include "queue/rules/nodes/node_fit.h"
#include "base/symbol.h"
#include "queue/preempt/victims.h"
#include "queue/explain/explain_dependencies.h"
#include "queue/explain/view.h"
#include "sluice/quantity.h"
#include "queue/tell.h"

static bool workload_is(const void *value, const void *key)
{
	return uid_cmp(&((const struct workload *)value)->key.uid, key) == 0;
}

struct queue *queue_new(void)
{
	struct queue *q = mem_alloc(sizeof(*q));
	symbols_init(&q->symbols);
	quota_init(&q->quota, &q->symbols);
	quota_plan_init(&q->quota_plan, &q->quota);
	kept_starts_init(&q->kept_starts);
	flavors_init(&q->flavors);
	cohorts_init(&q->cohorts, &q->quota);
	clusterqueues_init(&q->clusterqueues, &q->quota, &q->cohorts, &q->flavors);
	queue_config_default(&q->config);
	accounting_init(&q->accounting);
	localqueues_init(&q->localqueues);
	overflow_init(&q->overflow);
	unread_init(&q->unread);
	namespace_quotas_init(&q->namespace_quotas);
	priorities_init(&q->priorities);
	shapes_init(&q->shapes);
	node_suitability_init(&q->node_suitability);
	autoscalers_init(&q->autoscalers);
	groups_init(&q->groups, &q->node_suitability);
	families_init(&q->families);
	plans_init(&q->plans);
	budgets_init(&q->budgets);
	advance_reservations_init(&q->advance_reservations);
	disruptions_init(&q->disruptions);
	predecessors_init(&q->predecessors);
	buf_init(&q->bill_text, 64 * 1024);
	map_init(&q->workloads, workload_is);
	tree_init(&q->back_off, workload_back_off_order, NULL);
	nices_init(&q->nices);
	alarms_init(&q->alarms);
	reservations_init(q);
	usages_init(&q->usages);
	calendar_refs_init(&q->calendar_refs);
	runpolicies_init(&q->runpolicies);
	list_init(&q->improvable);
	list_init(&q->leading);
	list_init(&q->owing);
	list_init(&q->dirty);
	list_init(&q->come_starts);
	list_init(&q->suspects);
	list_init(&q->unsettled_lines);
	q->scratch = scratch_new();
	q->counters.rules_edits = 1;
	return q;
}

static void drop_all_jobs(struct queue *q)
{
	size_t n = 0;
	struct workload *w;
	struct uid *all = mem_array(q->workloads.count, sizeof(*all));
	map_each(&q->workloads, i, w)
		all[n++] = w->key.uid;
	for (size_t i = 0; i < n; i++)
		if ((w = queue_find_workload(q, &all[i])))
			queue_forget_workload(q, w);
	free(all);
}

void queue_free(struct queue *q)
{
	if (!q)
		return;
	drop_all_jobs(q);
	overflow_done(q);
	unread_done(&q->unread);
	predecessors_done(q);
	arena_done(&q->sentences);
	must(q->nwaiting == 0 && q->workload_bytes == 0);
	plans_done(q);
	budgets_done(q);
	advance_reservations_done(q);
	disruptions_done(&q->disruptions);
	buf_done(&q->bill_text);
	free(q->advance_uses);
	while (alarms_take(&q->alarms, INT64_MAX - 1))
		; /* alarms of ClusterQueues and Calendars */
	map_done(&q->workloads);
	reservations_done(q);
	families_done(&q->families);
	groups_done(&q->groups);
	shapes_done(&q->shapes);
	autoscalers_done(&q->autoscalers);
	node_suitability_done(&q->node_suitability);
	priorities_done(&q->priorities);
	namespace_quotas_done(q);
	localqueues_done(&q->localqueues);
	clusterqueues_done(&q->clusterqueues);
	cohorts_done(&q->cohorts);
	flavors_done(&q->flavors);
	runpolicies_done(q);
	calendar_refs_done(&q->calendar_refs);
	map_done(&q->kept_starts);
	quota_plan_done(&q->quota_plan);
	quota_done(&q->quota);
	symbols_done(&q->symbols);
	accounting_done(&q->accounting);
	usages_done(&q->usages);
	arena_done(&q->config_memory);
	scratch_free(q->scratch);
	victims_done(q);
	free(q);
}

void queue_listen(struct queue *q, struct queue_listener listener)
{
	q->listener = listener;
}

static struct workload *first_back_off(const struct queue *q)
{
	struct tree_node *n = tree_first(&q->back_off);
	return n ? container_of(n, struct workload, in_order) : NULL;
}

static void end_back_offs(struct queue *q)
{
	struct workload *w;
	while ((w = first_back_off(q)) && w->not_before_ms <= q->now_ms)
		workload_replace(q, w);
}

#define OTHER_PAUSE_MAX_MS STOP_RATE_MS /* longer than those of the gate after a refusal */

/* A back-off is kept as the moment of its end. If the clock was set back, or that of an earlier
 * leader was fast, it would last too long. So it is limited to the longest possible pause. */
static void shorten_back_offs(struct queue *q)
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

static void heed_alarms(struct queue *q)
{
	for (struct alarm *a; (a = alarms_take(&q->alarms, q->now_ms));) {
		switch (a->kind) {
		case ALARM_RUN:
			reservation_suspect(q, container_of(a, struct reservation, run.alarm));
			break;
		case ALARM_BACKFILL:
			queue_touch_queue(q, a->owner);
			break;
		case ALARM_PLAN:
			plan_ring(q, a->owner);
			break;
		case ALARM_BUDGET:
			budget_turn(q, a->owner);
			break;
		case ALARM_IMPROVE:
			break; /* it is done after all alarms */
		case ALARM_KEPT_START:
			kept_start_ring(q, a->owner);
			break;
		case ALARM_TERMS:
			workload_replace(q, a->owner);
			break;
		case ALARM_DEPENDENCY:
			dependencies_ring(q, a->owner);
			break;
		case ALARM_WANTED:
			wanted_ring(q, a->owner);
			break;
		case ALARM_CALENDAR:
			calendar_ref_turn(q, a->owner);
			break;
		case ALARM_FIT:
		case ALARM_GROWN:
			queue_touch_reservation(q, a->owner);
			break;
		case ALARM_GROWTH:
			growth_wake(q, a->owner);
			break;
		case ALARM_ADVANCE:
			advance_reservation_ring(q, a->owner);
			break;
		case ALARM_LEAD:
			lead_turn(q, a->owner);
			break;
		}
	}
}

/* Gives notice of a stop by a window, once for each stop. */
static size_t give_notice(struct queue *q, struct reservation *r, struct decision *out)
{
	int64_t stop_ms;
	struct runpolicy *by = NULL;
	if (r->stop_given || window_close_notice_ms(q, r, &stop_ms) > q->now_ms)
		return 0;
	r->run.noticed_ms = stop_ms;
	window_close_stop_ms(q, r, &by);
	*out = (struct decision){.kind = DECISION_NOTICE,
		.uid = r->w->key.uid,
		.reason = STOP_REASON_WINDOW_CLOSED,
		.stop_ms = stop_ms,
		.policy = by ? by->name : NULL};
	return 1;
}

static size_t give_stops(struct queue *q, struct decision *out, size_t cap)
{
	size_t n = 0;
	while (n < cap && !list_empty(&q->suspects)) {
		struct reservation *r = container_of(q->suspects.next, struct reservation, suspect);
		list_leave(&r->suspect);
		if (r->lingers)
			continue; /* it is judged when it does not any more: reservation_heed() */
		run_taken_over(q, r);
		enum stop_reason reason = reservation_stop_reason(q, r);
		if (reason == STOP_REASON_NONE &&
			(reclaim_tell(r, out + n) || giving_tell(q, r, out + n))) {
			n++;
			reservation_suspect(q, r); /* there may be a notice to give, too */
			continue;
		}
		if (reason == STOP_REASON_NONE) {
			n += give_notice(q, r, out + n);
			run_arm(q, r);
			continue;
		}
		disruption_spend(q, r);
		reservation_ends(r);
		run_stopping(q, r, reason);
		out[n++] = (struct decision){.kind = DECISION_STOP,
			.uid = r->w->key.uid,
			.reason = reason,
			.by = r->by,
			.policy = r->stop_policy,
			.preemption = r->preemption,
			.why = reason == STOP_REASON_IDLE_RECLAIMED ? r->reclaim.why : NULL};
	}
	return n;
}

/* Of Jobs that wait in vain. */
static size_t give_up(struct queue *q, struct decision *out, size_t cap)
{
	size_t n = 0;
	for (struct dependency_wait *x; n < cap && (x = dependencies_take_due(q)); n++) {
		char words[600];
		struct text text = text_over(words, sizeof(words));
		bool deletes = x->on_failure == DEPENDENCY_FAILURE_DELETE;
		explain_failed_dependency(x, &text);
		out[n] = (struct decision){
			.kind = deletes ? DECISION_DELETE : DECISION_HOLD,
			.uid = x->w->key.uid,
			.why = arena_string(&q->sentences, words),
		};
	}
	return n;
}

static size_t give_starts(struct queue *q, struct decision *out, size_t cap)
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

size_t queue_decide(
	struct queue *q, int64_t now_ms, struct decision *out, size_t cap, int64_t *ret_next_ms)
{
	bool back = now_ms < q->now_ms, first = q->now_ms == 0;
	q->now_ms = now_ms;
	q->deciding = true;
	arena_done(&q->sentences);
	if (back) {
		wanteds_set_back(q);
		calendar_refs_turn(q);
		plans_turn(q);
		budgets_turn(q);
		advance_reservations_turn(q);
	}
	if (first)
		plans_begin(q);
	if (back || first) {
		reservations_begin_by_now(q);
		booked_runs_begin_by_now(q);
		growth_turn(q);
	}
	usages_decide(q);
	node_suitability_refresh(q);
	node_fit_refresh(q);
	end_back_offs(q);
	shorten_back_offs(q);
	booked_runs_put_off(q);
	heed_alarms(q);
	if (booked_starts_improve(q))
		heed_alarms(q);
	advance_reservations_decide(q);
	kept_starts_heed_quotas(q);
	namespace_quotas_refresh(q);
	lead_recall(q);
	advance_clear(q);
	user_lines_settle(q);
	nices_deal(q);
	size_t n = give_stops(q, out, cap);
	n += give_up(q, out + n, cap - n);
	smaller_quota_ask(q);
	do {
		nices_deal(q); /* to those that came into line */
		n += give_starts(q, out + n, cap - n);
	} while (user_lines_settle(q) || lead_end(q) || kept_starts_expire(q));
	n += give_stops(q, out + n, cap - n); /* of the victims, and of runs that give pods */
	if (n > 0)
		q->counters.version++;

	budgets_arm(q);
	const struct workload *w = first_back_off(q);
	*ret_next_ms = alarms_next(&q->alarms);
	if (w && w->not_before_ms < *ret_next_ms)
		*ret_next_ms = w->not_before_ms;
	bool starts = !list_empty(&q->dirty) && !q->paused;
	bool tells = !list_empty(&q->predecessors.due) && !q->paused;
	if (starts || tells || !list_empty(&q->suspects) || !list_empty(&q->nices.dirty))
		*ret_next_ms = now_ms;
	q->deciding = false;
	queue_tell(q, DECIDE, .now_ms = now_ms, .cap = cap, .decisions = out, .ndecisions = n,
		.next_ms = *ret_next_ms);
	return n;
}

void queue_pause_starts(struct queue *q, bool paused)
{
	if (paused != q->paused)
		queue_tell(q, PAUSE_STARTS, .flag = paused);
	q->paused = paused;
}

bool queue_take_ceiling(struct queue *q, struct ceiling *ret)
{
	bool looked = !list_empty(&q->quota.changed);
	const struct quota_row *row = quota_take_changed(&q->quota);
	if (!row && looked)
		queue_tell(q, TAKE_CEILING); /* it took out what was no news */
	if (!row)
		return false;
	const struct quota_node *parent = row->node->parent;
	*ret = (struct ceiling){row->node->name, row->flavor, row->resource, quota_ceiling(row),
		parent ? parent->name : "", row->local};
	queue_tell(q, TAKE_CEILING, .gave = true, .ceiling = ret);
	return true;
}

void queue_retake_ceilings(struct queue *q)
{
	queue_tell(q, RETAKE_CEILINGS);
	quota_retake(&q->quota);
}

uint64_t queue_version(const struct queue *q)
{
	return q->counters.version;
}

size_t queue_waiting(const struct queue *q)
{
	return q->nwaiting;
}

static size_t table_bytes(const struct map *m)
{
	return m->slot ? (m->mask + 1) * sizeof(*m->slot) : 0;
}

size_t queue_memory_bytes(const struct queue *q)
{
	return q->workload_bytes + shapes_bytes(&q->shapes) + q->groups.bytes +
	       table_bytes(&q->workloads) + table_bytes(&q->groups.map) +
	       disruptions_bytes(&q->disruptions) + overflow_bytes(q) + q->predecessors.bytes;
}
