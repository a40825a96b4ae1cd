#include "queue/explain/explain_size.h"

#include "queue/admit/growth.h"
#include "queue/explain/explain_others.h"
#include "queue/explain/explain_time.h"
#include "queue/model/giving.h"

static void explain_giving(const struct queue *q, const struct reservation *r, struct text *t)
{
	const struct giving *g = &r->sizing->giving;
	const struct workload *by = queue_find_workload(q, &g->by);
	text_add(t, "; goes on with %d of %d pods: ", g->keeps, r->pods);
	if (g->quota) {
		explain_smaller_quota(q, g->quota, t);
		return;
	}
	text_add(t, "the others make room for ");
	if (by && g->preemption != PREEMPTION_NONE)
		explain_other(r->w, by, t);
	else
		text_add(t, "%s",
			g->preemption == PREEMPTION_NONE
				? "the owner of the quota that it borrows, whose window opens soon"
				: "another Job");
}

static void explain_wish(const struct reservation *r, const struct growth_view *v, struct text *t)
{
	text_add(t, "; runs with %d of %d pods; grows when there is room", r->pods, r->w->wants);
	if (v->refused)
		text_add(t, ": %s", v->refused);
	if (v->rests_until_ms > 0) {
		text_add(t, "%s", v->refused ? "; it asks again at " : ", at ");
		text_add_time(t, v->rests_until_ms);
		text_add(t, "%s", v->refused ? "" : " at the earliest");
	}
	if (v->row) {
		text_add(t, ": another pod needs ");
		text_add_amount(t, v->lacks, v->row->resource);
		text_add(t, " in flavor %s", v->row->flavor);
	}
}

void explain_size(const struct queue *q, const struct reservation *r, struct text *t)
{
	struct growth_view v;
	if (r->stop_given || !r->confirmed || r->state != RESERVATION_HELD)
		return;
	if (reservation_keeps(r) > 0)
		explain_giving(q, r, t);
	else if (reservation_grows(r))
		text_add(t, "; grows to %d pods", r->pods);
	else if (growth_view(r, &v))
		explain_wish(r, &v, t);
	else if (r->w->wants > r->pods && !growth_asked_for(r))
		text_add(t,
			"; runs with %d of %d pods, and does not grow: annotation sluice.dev/grow: \"true\" lets it take more when there is room",
			r->pods, r->w->wants);
}
