#include "queue/core/model/giving.h"

#include "base/must.h"
#include "queue/core/runs.h"
#include "queue/core/feature.h"

bool giving_may(const struct reservation *r, int32_t *ret_least)
{
	const struct shape *now = r->w->shape;
	bool may = r->w->wants > 0 && now->min_pods < giving_pods_then(r) && r->confirmed &&
		   r->state == RESERVATION_HELD && r->base_pods > 0 && !r->guessed &&
		   r->w->lq->name[0] != '\0' && /* else it is its owner's */
		   !r->stop_given && !r->lingers && !(r->sizing && r->sizing->cannot_give);
	*ret_least = now->min_pods;
	return may && now->min_pods > 0;
}

void giving_begin(struct queue *q, struct reservation *r, int32_t keeps, const struct workload *by,
	enum preemption_reason why)
{
	must(r->state == RESERVATION_HELD && keeps > 0 && keeps < giving_pods_then(r));
	struct sizing *s = reservation_sizing(q, r);
	disruption_spend_pods(q, r, giving_pods_then(r) - keeps);
	runs_before(q, r, RUN_GIVES);
	reservation_take_away(r);
	if (r->cq && s->giving.keeps == 0)
		r->cq->nleaving++;
	s->giving = (struct giving){.keeps = keeps, .untold = true, .preemption = why};
	if (by)
		s->giving.by = by->key.uid;
	reservation_put_back(r);
	runs_after(q, r, RUN_GIVES);
	queue_touch_reservation(q, r->cq);
	reservation_suspect(q, r);
}

void giving_begin_for_quota(
	struct queue *q, struct reservation *r, int32_t keeps, const struct quota_row *quota)
{
	struct giving before = r->sizing ? r->sizing->giving : (struct giving){0};
	giving_begin(q, r, keeps, NULL, PREEMPTION_NONE);
	struct giving *g = &r->sizing->giving;
	if (before.keeps == 0 || before.quota) {
		g->quota = quota;
		return;
	}
	/* Others were promised some of it: where it cannot give, it is stopped for them. */
	g->preemption = before.preemption;
	g->by = before.by;
}

void giving_cancel(struct queue *q, struct reservation *r)
{
	if (r->state != RESERVATION_HELD || reservation_keeps(r) == 0 ||
		(!r->sizing->giving.quota && !r->ends_when_stopped))
		return;
	runs_before(q, r, RUN_GIVES);
	reservation_take_away(r);
	giving_end(q, r);
	r->sizing->cannot_give = true;
	reservation_put_back(r);
	runs_after(q, r, RUN_GIVES);
	runs_after(q, r, RUN_GOES_ON);
	queue_touch_reservation(q, r->cq);
}

void giving_end(struct queue *q, struct reservation *r)
{
	if (reservation_keeps(r) == 0)
		return;
	if (r->cq)
		r->cq->nleaving--;
	r->sizing->giving = (struct giving){0};
	r->sizing->changed_ms = q->now_ms;
}

bool giving_tell(struct queue *q, struct reservation *r, struct decision *ret)
{
	if (reservation_keeps(r) == 0)
		return false;
	struct giving *g = &r->sizing->giving;
	bool tells = g->untold && !r->stop_given && r->state == RESERVATION_HELD;
	if (tells && reservation_grows(r))
		return false; /* later: queue_grew_job() */
	bool quota = g->quota, opens = g->preemption == PREEMPTION_NONE && !quota;
	g->untold = false;
	if (!tells || (quota && r->reclaim.pods <= g->keeps)) /* reclaim.h tells of fewer */
		return false;
	*ret = (struct decision){.kind = DECISION_SHRINK,
		.uid = r->w->key.uid,
		.pods = g->keeps < r->reclaim.pods ? g->keeps : r->reclaim.pods,
		.reason = quota	  ? STOP_REASON_WINDOW_QUOTA
			  : opens ? STOP_REASON_WINDOW_OPENING
				  : STOP_REASON_PREEMPTED,
		.by = g->by,
		.policy = opens ? features_recalled_by(q, r->cq) : NULL,
		.preemption = g->preemption};
	each_feature(f, quota ? q->features_awake : 0, lowered_by)
		f->lowered_by(q, g->quota, ret);
	return true;
}
