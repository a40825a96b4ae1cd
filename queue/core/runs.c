#include "queue/core/model/runs.h"

#include "queue/core/admit/growth.h"
#include "queue/core/model/kept_start.h"
#include "queue/core/model/state.h"
#include "queue/core/model/feature.h"
#include "queue/core/model/shrink.h"
#include "queue/core/model/reservation.h"
#include "queue/core/model/run.h"
#include "queue/core/model/run_ends.h"
#include "queue/core/model/victim_index.h"

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

/* Replaces what the Job booked before it got its quota by the booking of the run. */
static void bookings_begin(struct queue *q, struct reservation *r)
{
	kept_start_drop(q, r->w);
	booked_run_enter(q, r);
}

static void end_booked(struct queue *q, struct reservation *r)
{
	if (r->booking)
		booked_run_enter(q, r);
}

/* ---- The tables ---- */

#define OBSERVERS_MAX 5 /* with the NULL behind the last */

enum moment { BEFORE, AFTER, MOMENTS };

typedef run_observer *const observers[RUN_EVENTS][MOMENTS][OBSERVERS_MAX];

static observers FIRST = {
	[RUN_RESERVED][AFTER] = {disruption_enter, usage_hears, index_gains, run_ends_expect},
	[RUN_CONFIRMED][AFTER] = {run_ends_expect},
	[RUN_EXPECTED][AFTER] = {run_ends_expect},
	[RUN_RESIZED][BEFORE] = {index_loses},
	[RUN_RESIZED][AFTER] = {index_gains},
	[RUN_GIVES][BEFORE] = {index_loses, growth_forget},
	[RUN_GIVES][AFTER] = {index_gains},
	[RUN_GOES_ON][AFTER] = {growth_heed},
	[RUN_LEAVING][BEFORE] = {index_loses, run_ends_forget, growth_forget},
	[RUN_ENDED][BEFORE] = {index_loses, run_ends_forget, growth_forget},
	[RUN_ENDED][AFTER] = {run_disarm},
	[RUN_FORGOTTEN][AFTER] = {reclaim_done, disruption_leave},
};

static observers LAST = {
	[RUN_CONFIRMED][AFTER] = {run_arm, growth_heed},
	[RUN_RESIZED][AFTER] = {growth_heed},
};

/* Told once some Cohort tree plans ahead. */
static observers PLAN = {
	[RUN_PROMISED][AFTER] = {bookings_begin},
	[RUN_UNPROMISED][BEFORE] = {booked_run_over},
	[RUN_RESERVED][AFTER] = {bookings_begin},
	[RUN_RESHAPED][AFTER] = {booked_run_enter},
	[RUN_EXPECTED][AFTER] = {end_booked},
	[RUN_CONFIRMED][AFTER] = {booked_run_enter},
	[RUN_RESIZED][AFTER] = {booked_run_enter},
	[RUN_GIVES][AFTER] = {booked_run_enter},
	[RUN_LEAVING][BEFORE] = {booked_run_over},
	[RUN_ENDED][BEFORE] = {booked_run_over},
	[RUN_FORGOTTEN][AFTER] = {booked_run_over},
};

static void tell(run_observer *const *all, struct queue *q, struct reservation *r)
{
	for (; *all; all++)
		(*all)(q, r);
}

static void tell_last(
	struct queue *q, struct reservation *r, enum run_event event, enum moment when)
{
	tell(LAST[event][when], q, r);
	if (q->quota_plan.used)
		tell(PLAN[event][when], q, r);
}

void runs_before(struct queue *q, struct reservation *r, enum run_event event)
{
	tell(FIRST[event][BEFORE], q, r);
	each_feature(f, q->features_awake, before[event])
		f->before[event](q, r);
	tell_last(q, r, event, BEFORE);
}

void runs_after(struct queue *q, struct reservation *r, enum run_event event)
{
	/* A run that is adopted, or goes on as it is, may owe pods to a window that is told later. */
	bool all = event == RUN_ADOPTED || event == RUN_GOES_ON;
	tell(FIRST[event][AFTER], q, r);
	each_feature(f, all ? ALL_FEATURES : q->features_awake, after[event])
		f->after[event](q, r);
	tell_last(q, r, event, AFTER);
}
