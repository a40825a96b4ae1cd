#include "test/sim/cut_short.h"

#include "test/sim/sim.h"

static bool has_succeeded(const struct job *j)
{
	return !j->has_completions && j->status.succeeded > 0 && !j->status.complete &&
	       !j->status.failed;
}

void cut_short_show(struct sim *s, size_t replica, uint64_t life, struct job *j)
{
	struct model_job *of = model_api_by_uid(&s->api, &j->uid);
	if (of)
		of->succeeded[replica] = has_succeeded(j) ? life : 0;
	if (s->o.bug == BUG_SUCCESS_UNREAD && has_succeeded(j))
		j->status.succeeded = 0;
}

/* A lender's own quota is no choice where no other run suffices. The reason "while borrowing" says what a victim of
 * its priority allows, as Kueue's does, also where the nominee then borrows nothing (reason_of()). */
static bool is_a_choice(const struct decision *d)
{
	enum stop_reason r = d->reason;
	if (r == STOP_REASON_PREEMPTED)
		return d->preemption != PREEMPTION_IN_COHORT_RECLAMATION &&
		       d->preemption != PREEMPTION_IN_COHORT_RECLAIM_WHILE_BORROWING;
	return r == STOP_REASON_WINDOW_OPENING || r == STOP_REASON_PODS_READY_TIMEOUT ||
	       r == STOP_REASON_REQUEUE_LIMIT;
}

void cut_short_check(struct sim *s, const struct replica *r, const struct decision *d)
{
	const struct model_job *j = model_api_by_uid(&s->api, &d->uid);
	if (d->kind != DECISION_STOP || !j || j->succeeded[r->index] != r->life)
		return;
	if (!is_a_choice(d))
		sim_reach(s, PATH_CUT_SHORT);
	else
		sim_break(s, "P19",
			"%s stops %s (%s), of which a pod has succeeded: it would end as Complete",
			r->identity, j->now->job.name, stop_reason_name(d->reason));
}
