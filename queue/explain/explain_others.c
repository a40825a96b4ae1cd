#include "queue/explain/explain_others.h"

#include <inttypes.h>

#include "queue/admit/spared.h"
#include "queue/model/reservation.h"

void explain_other(const struct workload *w, const struct workload *other, struct text *t)
{
	if (other->lq->ns == w->lq->ns)
		text_add_name(t, other->lq->ns->name, other->name);
	else
		text_add(t, "a Job of another namespace");
}

void explain_fills_gaps(const struct clusterqueue *cq, const struct workload *w, struct text *t)
{
	if (workload_fills_gaps(w))
		text_add(t,
			"; it fills gaps (priority %" PRId32 " is below %" PRId32
			"): it displaces no Job",
			w->key.priority, cq->spec.gap_fillers_below);
}

void explain_spared(struct queue *q, struct clusterqueue *cq, const struct workload *w,
	const struct claim *claim, int64_t now_ms, struct text *t)
{
	const struct reservation *last;
	int64_t until_ms = spared_until(q, w, cq, claim, now_ms, &last);
	if (until_ms == INT64_MAX)
		return;
	text_add(t, "; it waits until ");
	text_add_time(t, until_ms);
	text_add(t, ", when ");
	explain_other(w, last->w, t);
	text_add(t, " has run its minimum of ");
	text_add_span(t, last->cq->spec.preemption.min_run_ms);
	text_add(t, " (preemption.minRun of ClusterQueue %s)", last->cq->name);
}
