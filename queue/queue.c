#include "sluice/queue.h"

#include <stdlib.h>

#include "base/mem.h"
#include "queue/features/windows/runpolicy.h"
#include "queue/core/model/state.h"
#include "queue/features/windows/lead.h"
#include "queue/features/windows/smaller_quota.h"
#include "queue/core/admit/growth.h"
#include "queue/features/dependencies/dependency_wait.h"
#include "queue/features/bookings/advance_clear.h"
#include "queue/core/model/booked_runs.h"
#include "queue/core/model/kept_start.h"
#include "queue/features/money/booked_start.h"
#include "queue/core/model/reservation.h"
#include "queue/features/nodes/node_fit.h"
#include "queue/features/dependencies/explain_dependencies.h"
#include "queue/explain/view.h"
#include "queue/core/model/tell.h"
#include "queue/features/bookings/advance_reservation.h"
#include "queue/features/money/budget.h"
#include "queue/features/money/plan.h"
#include "queue/features/nodes/nodes_to_come.h"
#include "queue/features/namespace/namespace_quota.h"
#include "queue/features/nodes/node_suitability.h"
#include "queue/core/core.h"

/* A queue, and what its features keep. */
struct whole {
	struct queue queue;
	struct namespace_quotas namespace_quotas;
	struct node_suitability node_suitability;
	struct autoscalers autoscalers;
	struct plans plans;
	struct budgets budgets;
	struct advance_reservations advance_reservations;
	struct predecessors predecessors;
	struct named_objects calendar_refs;
	struct runpolicies runpolicies;
};

static struct queue *make_room(void)
{
	struct whole *w = mem_alloc(sizeof(*w));
	w->queue.namespace_quotas = &w->namespace_quotas;
	w->queue.node_suitability = &w->node_suitability;
	w->queue.autoscalers = &w->autoscalers;
	w->queue.plans = &w->plans;
	w->queue.budgets = &w->budgets;
	w->queue.advance_reservations = &w->advance_reservations;
	w->queue.predecessors = &w->predecessors;
	w->queue.calendar_refs = &w->calendar_refs;
	w->queue.runpolicies = &w->runpolicies;
	return &w->queue;
}

struct queue *queue_new(void)
{
	struct queue *q = make_room();
	core_init(q);
	namespace_quotas_init(q->namespace_quotas);
	node_suitability_init(q->node_suitability);
	autoscalers_init(q->autoscalers);
	plans_init(q->plans);
	budgets_init(q->budgets);
	advance_reservations_init(q->advance_reservations);
	predecessors_init(q->predecessors);
	named_objects_init(q->calendar_refs);
	runpolicies_init(q->runpolicies);
	list_init(&q->improvable);
	list_init(&q->leading);
	list_init(&q->owing);
	buf_init(&q->bill_text, 64 * 1024);
	q->scratch = scratch_new();
	return q;
}

/* Frees Jobs first, then what features keep that refers to the core, then the core, then the rest. */
void queue_free(struct queue *q)
{
	if (!q)
		return;
	core_drop_jobs(q);
	predecessors_done(q);
	plans_done(q);
	budgets_done(q);
	advance_reservations_done(q);
	namespace_quotas_done(q);
	core_done(q);
	autoscalers_done(q->autoscalers);
	node_suitability_done(q->node_suitability);
	runpolicies_done(q);
	calendar_refs_done(q->calendar_refs);
	buf_done(&q->bill_text);
	free(q->advance_uses);
	scratch_free(q->scratch);
	free(q);
}

void queue_listen(struct queue *q, struct queue_listener listener)
{
	q->listener = listener;
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
			budget_ring(q, a->owner);
			break;
		case ALARM_IMPROVE:
			break; /* step 2.8 of the decision, after all alarms */
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
			queue_touch_tree_of(q, a->owner);
			break;
		case ALARM_GROWTH:
			growth_wake(q, a->owner);
			break;
		case ALARM_ADVANCE:
			advance_reservation_ring(q, a->owner);
			break;
		case ALARM_LEAD:
			lead_ring(q, a->owner);
			break;
		}
	}
}

/* Writes a hold or a delete for each Job that waits in vain; returns how many. */
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

/* ---- One decision ----------------------------------------------------------------------------
 *
 * queue_decide() is told the time and works off what time and facts have changed, in five parts:
 * the clock jumped, changes arrive, who stops, who starts, when next. Each step says why it stands
 * where it stands: which step reads what it writes. A step that may stand anywhere in its part says
 * so, too.
 */

/* Part 1, of the first decision and of one after the clock was set back: works out for this time
 * what was worked out for another one, or for none. Before part 2, which asks Jobs and rings
 * alarms. */
static void clock_jumped(struct queue *q, bool back, bool first)
{
	if (back) {
		/* 1.1 Questions about predecessors rest no longer than usual. Anywhere, also in
		 * part 2: none of them is asked now. */
		wanteds_set_back(q);
		/* 1.2 Calendars, and 1.3 prices. In either order: each asks the Jobs that go by
		 * it anew, so the last answer knows both. */
		calendar_refs_set_back(q);
		plans_set_back(q);
		/* 1.4 Budgets. After 1.3: what runs cost is counted by the prices. Before 3.4:
		 * runs of a Budget that is used up become suspects. */
		budgets_set_back(q);
		/* 1.5 AdvanceReservations are marked. Before 2.9, which looks at those. */
		advance_reservations_set_back(q);
	}
	/* 1.6 Prices had no time yet. Before 2.7, where all Jobs with terms are asked. */
	if (first)
		plans_begin(q);
	/* 1.7 No run begins later than now. Before 1.8, which books runs from when they began. */
	reservations_begin_by_now(q);
	/* 1.8 Nor does the booking of a run. Before 2.7, which asks what is free at which time.
	 * (1.2 and 1.3 ask it too early, by the old bookings. Nothing needs that order, and a start
	 * that a Job booked by it is looked at again when it comes.) */
	booked_runs_begin_by_now(q);
	/* 1.9 Runs rest no longer than usual before they grow. Anywhere, as 1.1. */
	growth_shorten_rests(q);
}

/* Part 2: first what facts left to be done once the time is known, then what time changes. After it
 * the quotas are those of now, Cohort trees in which something may start are touched, and runs that
 * may have to stop are suspects. Parts 3 and 4 go by these three. */
static void changes_arrive(struct queue *q)
{
	/* 2.1 Brings the usage of LocalQueues to now. Before part 4, which orders Jobs by it. */
	usages_decide(q);
	/* 2.2 Which nodes can take which pods. Before 2.7: Jobs book starts in flavors that
	 * suit. */
	node_suitability_refresh(q);
	/* 2.3 Space on nodes. After 2.2: promises that it breaks give space back. */
	node_fit_refresh(q);
	/* 2.4 Back-offs end. Before 3.1 and part 4, which go through the Jobs in line. (A Job that
	 * books by it asks before 2.6, by ends that 2.6 puts off. Nothing needs that order.) */
	decide_back_offs_end(q);
	/* 2.5 Back-offs that last too long are shortened. In either order with 2.4: none of these
	 * ends now. */
	decide_back_offs_shorten(q);
	/* 2.6 Runs that should have ended by now are booked for longer. Before 2.7 to 2.10, which
	 * ask what is free at which time. */
	booked_runs_put_off(q);
	/* 2.7 All that is due: windows and leads change quotas, Jobs are asked anew, runs become
	 * suspects. Before 2.9 and 2.10, which look whether quotas changed. */
	heed_alarms(q);
	/* 2.8 Booked starts of a Cohort tree, all at once. After 2.7, in which they were booked one
	 * by one. Jobs for which that found other starts have alarms that are due now. */
	if (booked_starts_improve(q))
		heed_alarms(q);
	/* 2.9 AdvanceReservations are judged, begin, give back and end. After 2.7, which marks
	 * them. Before 2.10, 3.2 and part 4, which go by what they keep. */
	advance_reservations_decide(q);
	/* 2.10 Kept starts for which quotas are too small now are dropped. After 2.9: they have to
	 * fit beside what that books. Before part 4: Jobs that they held up may start. */
	kept_starts_heed_quotas(q);
	/* 2.11 What is left in namespaces. Before 3.1: a lead asks how many pods its Jobs may have,
	 * and looks only at Cohort trees that were touched: this step touches some. */
	namespace_quotas_refresh(q);
}

/* Part 3: runs that stop or give pods, Jobs that come into line, and Jobs that wait in vain. Before
 * part 4: what these runs leave is for the Jobs that start. */
static size_t stop_runs(struct queue *q, struct decision *out, size_t cap)
{
	/* 3.1 Leads take back what is lent. Before 3.2: it looks at quota alone, and would count
	 * what 3.2 clears, which is kept for the AdvanceReservation. */
	lead_recall(q);
	/* 3.2 AdvanceReservations that have begun are cleared. Before 3.4: both it and 3.1 make
	 * suspects. */
	advance_clear(q);
	/* 3.3 As many Jobs of each user stand in line as may. After 2.7, which moves Jobs. Before
	 * part 4, which goes through lines. */
	user_lines_settle(q);
	/* 3.4 Suspects are judged: a run stops, gives pods, or gets notice of a stop. Before 3.5:
	 * where cap is small, stops come first. Before 3.6, which asks no run that stops anyway. */
	size_t n = decide_stops(q, out, cap);
	/* 3.5 Jobs that wait in vain are held or deleted. Anywhere after 3.4: such a Job is set
	 * aside, so that no pass starts it. */
	n += give_up(q, out + n, cap - n);
	/* 3.6 Runs are asked for pods where a window made quota smaller, once no suspect is left and
	 * while Jobs may start. Before 4.4, which tells them. */
	smaller_quota_ask(q);
	return n;
}

/* Part 4: passes, until no Job can start any more or `out` is full (none while starts are paused),
 * and the stops that they chose. */
static size_t start_jobs(struct queue *q, struct decision *out, size_t cap)
{
	size_t n = 0;
	do {
		/* 4.1 The order that users gave their Jobs, with those that came into line. Before
		 * 4.2, which starts Jobs in that order. */
		nices_deal(q);
		/* 4.2 A pass of each Cohort tree that was touched. */
		n += decide_starts(q, out + n, cap - n);
		/* 4.3 What may start after these: first Jobs that take the places in line of those
		 * that started; when there are none, Jobs that borrow what leads kept for Jobs of
		 * their own; when no tree is left, Jobs that a kept start held up in vain. */
	} while (user_lines_settle(q) || lead_end(q) || kept_starts_expire(q));
	/* 4.4 Runs stop or give pods: those that 4.2 chose for the Jobs that it promised quota,
	 * and those that 3.6 asked. */
	return n + decide_stops(q, out + n, cap - n);
}

/* Part 5: when to ask again, if no fact comes before. After all others, which set alarms. */
static int64_t next_decision_ms(struct queue *q)
{
	/* 5.1 When Budgets will be used up by the runs of now. Before 5.2: it sets alarms. */
	budgets_arm(q);
	/* 5.2 The next alarm, or the next end of a back-off. */
	int64_t next_ms = decide_next_ms(q);
	/* 5.3 At once, where cap left something undone. */
	bool starts = !list_empty(&q->dirty) && !q->paused;
	bool tells = !list_empty(&q->predecessors->due) && !q->paused;
	bool left = starts || tells || !list_empty(&q->suspects) || !list_empty(&q->nices.dirty);
	return left ? q->now_ms : next_ms;
}

size_t queue_decide(
	struct queue *q, int64_t now_ms, struct decision *out, size_t cap, int64_t *ret_next_ms)
{
	bool back = now_ms < q->now_ms, first = q->now_ms == 0;
	q->now_ms = now_ms;
	q->deciding = true;
	arena_done(&q->sentences); /* of the last decision's `out` */
	if (back || first)
		clock_jumped(q, back, first);
	changes_arrive(q);
	size_t n = stop_runs(q, out, cap);
	n += start_jobs(q, out + n, cap - n);
	if (n > 0)
		q->counters.version++;
	*ret_next_ms = next_decision_ms(q);
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
	       disruptions_bytes(&q->disruptions) + overflow_bytes(q) + q->predecessors->bytes;
}
