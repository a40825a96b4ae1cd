#include "queue/model/giving.h"

#include "base/must.h"
#include "queue/rules/runs.h"
#include "queue/rules/windows/lead.h"

bool giving_may(const struct reservation *r, int32_t *ret_least)
{
	const struct shape *now = r->w->shape;
	bool may = r->w->wants > 0 && now->min_pods < giving_pods_then(r) && r->confirmed &&
		   r->state == RESERVATION_HELD && r->base_pods > 0 && !r->guessed && !r->grows &&
		   !r->stop_given && !r->lingers;
	*ret_least = now->min_pods;
	return may && now->min_pods > 0;
}

static void lines_give(struct reservation *r, int32_t keeps)
{
	for (size_t i = 0; i < r->nlines; i++) {
		struct reservation_line *l = &r->line[i];
		int64_t then = reservation_part(r, i, keeps);
		if (then >= l->then)
			continue;
		quota_give(l->row, QUOTA_THEN, l->then - then);
		l->then = then;
	}
}

void giving_begin(struct queue *q, struct reservation *r, int32_t keeps, const struct workload *by,
	enum preemption_reason why)
{
	must(r->state == RESERVATION_HELD && keeps > 0 && keeps < giving_pods_then(r));
	runs_before(q, r, RUN_GIVES);
	lines_give(r, keeps);
	if (r->cq && r->giving.keeps == 0)
		r->cq->nleaving++;
	r->giving = (struct giving){.keeps = keeps, .untold = true, .preemption = why};
	if (by)
		r->giving.by = by->key.uid;
	runs_after(q, r, RUN_GIVES);
	queue_touch_reservation(q, r->cq);
	reservation_suspect(q, r);
}

void giving_end(struct queue *q, struct reservation *r)
{
	if (r->giving.keeps == 0)
		return;
	if (r->cq)
		r->cq->nleaving--;
	r->giving = (struct giving){0};
	r->sized_ms = q->now_ms;
}

bool giving_tell(struct queue *q, struct reservation *r, struct decision *ret)
{
	struct giving *g = &r->giving;
	bool tells = g->untold && !r->stop_given && r->state == RESERVATION_HELD;
	bool opens = g->preemption == PREEMPTION_NONE;
	g->untold = false;
	if (!tells)
		return false;
	*ret = (struct decision){.kind = DECISION_SHRINK,
		.uid = r->w->key.uid,
		.pods = g->keeps < r->reclaim.pods ? g->keeps : r->reclaim.pods,
		.reason = opens ? STOP_REASON_WINDOW_OPENING : STOP_REASON_PREEMPTED,
		.by = g->by,
		.policy = opens ? lead_policy(q, r->cq) : NULL,
		.preemption = g->preemption};
	return true;
}
