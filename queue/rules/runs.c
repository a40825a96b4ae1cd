#include "queue/rules/runs.h"

#include "queue/admit/growth.h"
#include "queue/core.h"
#include "queue/model/reservation.h"
#include "queue/model/run.h"
#include "queue/model/victim_index.h"
#include "queue/rules/backfill.h"
#include "queue/rules/bookings/kept_start.h"
#include "queue/rules/dependencies/dependency_wait.h"
#include "queue/rules/money/booked_start.h"
#include "queue/rules/nodes/node_fit.h"
#include "queue/rules/reclaim.h"
#include "queue/rules/rule.h"
#include "queue/rules/money/budget.h"

/* ---- Observers with other arguments ---- */

static void usage_hears(struct queue *q, struct reservation *r)
{
	for (size_t i = 0; i < r->nlines; i++) {
		const struct reservation_line *l = &r->line[i];
		usage_enter(q, r->lq, l->row->resource, l->amount, r->reserved_ms);
		usage_change(q, r->lq, l->row->resource, l->amount, r->reserved_ms);
	}
}

static void index_gains(struct queue *q, struct reservation *r)
{
	(void)q;
	if (r->cq)
		victim_index_join(r);
}

static void index_loses(struct queue *q, struct reservation *r)
{
	(void)q;
	victim_index_leave(r);
}

static void end_expected(struct queue *q, struct reservation *r)
{
	(void)q;
	if (r->cq)
		backfill_expect(r);
}

static void end_forgotten(struct queue *q, struct reservation *r)
{
	(void)q;
	backfill_forget(r);
}

static void nodes_expect_pods(struct queue *q, struct reservation *r)
{
	node_fit_expect(q, r);
}

static void nodes_forget_pods(struct queue *q, struct reservation *r)
{
	node_fit_forget(q, r);
}

static void namespace_quota_over(struct queue *q, struct reservation *r)
{
	namespace_quota_run_over(q, r);
}

/* What it booked before it got its quota goes. */
static void bookings_begin(struct queue *q, struct reservation *r)
{
	booked_start_over(q, r->w);
	kept_start_drop(q, r->w);
	booked_run_enter(q, r);
}

/* Prices or a Budget may stop it. */
static void money_suspects(struct queue *q, struct reservation *r)
{
	if (r->w->terms || budget_concerns(r))
		reservation_suspect(q, r);
}

static void bill_forgotten(struct queue *q, struct reservation *r)
{
	(void)q;
	bill_done(r);
}

/* ---- The table ---- */

typedef void observer(struct queue *q, struct reservation *r);

#define OBSERVERS_MAX 10 /* with the NULL behind the last */

enum moment { BEFORE, AFTER, MOMENTS };

static observer *const OBSERVERS[RUN_EVENTS][MOMENTS][OBSERVERS_MAX] = {
	[RUN_PROMISED][AFTER] = {namespace_quota_run, nodes_expect_pods, budget_started,
		singleton_promised, bookings_begin},
	[RUN_UNPROMISED][BEFORE] = {namespace_quota_over, nodes_forget_pods, budget_changed,
		singleton_over, booked_run_over},
	[RUN_RESERVED][AFTER] = {disruption_enter, nodes_expect_pods, usage_hears,
		namespace_quota_run, index_gains, end_expected, budget_started, singleton_runs,
		bookings_begin},
	[RUN_KEPT][AFTER] = {budget_changed},
	[RUN_RESHAPED][AFTER] = {namespace_quota_run, nodes_expect_pods, booked_run_enter},
	[RUN_CONFIRMED][AFTER] = {end_expected, bill_expect, budget_changed, money_suspects,
		run_arm, growth_heed, booked_run_enter},
	[RUN_RESIZED][BEFORE] = {index_loses},
	[RUN_RESIZED][AFTER] = {index_gains, namespace_quota_run, nodes_expect_pods, bill_expect,
		budget_changed, growth_heed, booked_run_enter},
	[RUN_GIVES][BEFORE] = {index_loses, growth_forget},
	[RUN_GIVES][AFTER] = {index_gains, booked_run_enter},
	[RUN_LEAVING][BEFORE] = {index_loses, end_forgotten, growth_forget, booked_run_over},
	[RUN_ENDED][BEFORE] = {nodes_forget_pods, index_loses, end_forgotten, budget_changed,
		growth_forget, singleton_over, booked_starts_gain, booked_run_over},
	[RUN_ENDED][AFTER] = {run_disarm, namespace_quota_over, rules_run_ended},
	[RUN_FORGOTTEN][AFTER] = {reclaim_done, disruption_leave, bill_forgotten, booked_run_over},
};

static void tell(observer *const *observers, struct queue *q, struct reservation *r)
{
	for (; *observers; observers++)
		(*observers)(q, r);
}

void runs_before(struct queue *q, struct reservation *r, enum run_event event)
{
	tell(OBSERVERS[event][BEFORE], q, r);
}

void runs_after(struct queue *q, struct reservation *r, enum run_event event)
{
	tell(OBSERVERS[event][AFTER], q, r);
}
