#include "queue/core/model/shrink.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/must.h"
#include "queue/core/model/feature.h"
#include "queue/core/model/runs.h"
#include "queue/requests/shape.h"

/* ---- Giving ---- */

bool giving_may(const struct reservation *r, int32_t *ret_least)
{
	const struct shape *now = r->w->shape;
	bool may = r->w->wants > 0 && now->min_pods < reservation_pods_then(r) && r->confirmed &&
		   r->state == RESERVATION_HELD && r->base_pods > 0 && !r->guessed &&
		   r->w->lq->name[0] != '\0' && /* else it is its owner's */
		   !r->stop_given && !r->lingers && !(r->sizing && r->sizing->cannot_give);
	*ret_least = now->min_pods;
	return may && now->min_pods > 0;
}

/* The caller says why; the rest is filled in. */
static void begin(struct queue *q, struct reservation *r, int32_t keeps, struct giving why)
{
	must(r->state == RESERVATION_HELD && keeps > 0 && keeps < reservation_pods_then(r));
	struct sizing *s = reservation_sizing(q, r);
	disruption_spend_pods(q, r, reservation_pods_then(r) - keeps);
	runs_before(q, r, RUN_GIVES);
	reservation_take_away(r);
	if (r->cq && !reservation_gives(r))
		r->cq->nleaving++;
	s->giving = why;
	s->giving.keeps = keeps;
	s->giving.untold = true;
	reservation_put_back(r);
	runs_after(q, r, RUN_GIVES);
	queue_touch_tree_of(q, r->cq);
	reservation_suspect(q, r);
}

void giving_begin(struct queue *q, struct reservation *r, int32_t keeps, const struct workload *by,
	enum preemption_reason why)
{
	struct giving g = {.preemption = why};
	if (by)
		g.by = by->key.uid;
	begin(q, r, keeps, g);
}

/* Others may have been promised some of it: where it cannot give, it is stopped for them. */
void giving_begin_for_quota(
	struct queue *q, struct reservation *r, int32_t keeps, const struct quota_row *quota)
{
	bool for_others = reservation_gives(r) && !r->sizing->giving.quota;
	begin(q, r, keeps, for_others ? r->sizing->giving : (struct giving){.quota = quota});
}

void giving_cancel(struct queue *q, struct reservation *r)
{
	if (r->state != RESERVATION_HELD || !reservation_gives(r) ||
		(!r->sizing->giving.quota && !r->ends_when_stopped))
		return;
	runs_before(q, r, RUN_GIVES);
	reservation_take_away(r);
	giving_end(q, r);
	r->sizing->cannot_give = true;
	reservation_put_back(r);
	runs_after(q, r, RUN_GIVES);
	runs_after(q, r, RUN_GOES_ON);
	queue_touch_tree_of(q, r->cq);
}

void giving_end(struct queue *q, struct reservation *r)
{
	if (!reservation_gives(r))
		return;
	if (r->cq)
		r->cq->nleaving--;
	r->sizing->giving = (struct giving){.keeps = INT32_MAX};
	r->sizing->changed_ms = q->now_ms;
}

/* ---- Reclaim ---- */

static void why_set(struct queue *q, struct reclaim *c, const char *why)
{
	if (c->why)
		q->workload_bytes -= strlen(c->why) + 1;
	free(c->why);
	c->why = mem_strdup(why);
	if (c->why)
		q->workload_bytes += strlen(c->why) + 1;
}

/* By its min-parallelism. A start that is not confirmed has no pods to spare, and is called off. */
static bool may_shrink(const struct reservation *r, int32_t pods)
{
	const struct shape *now = r->w->shape;
	return r->confirmed && pods > 0 && pods >= now->min_pods &&
	       pods < reservation_pods_at_once(r);
}

int32_t reclaim_keeps(const struct reservation *r)
{
	return r->sizing ? r->sizing->reclaim.keeps : INT32_MAX;
}

bool reclaim_ask(struct queue *q, struct reservation *r, int32_t pods, const char *why)
{
	pods = pods > 0 ? pods : 0;
	if (r->stop_given || r->state != RESERVATION_HELD || pods >= reclaim_keeps(r) ||
		pods >= reservation_pods_at_once(r))
		return false;
	struct reclaim *c = &reservation_sizing(q, r)->reclaim;
	c->keeps = may_shrink(r, pods) ? pods : 0;
	c->untold = true;
	why_set(q, c, why);
	reservation_suspect(q, r);
	return true;
}

bool reclaim_done_by(const struct reservation *r, int32_t pods)
{
	int32_t to = reclaim_keeps(r);
	return to > 0 && pods > 0 && pods <= to && to < r->pods && !r->sizing->reclaim.untold;
}

bool reclaim_ended(const struct reservation *r)
{
	if (r->run.stop == STOP_REASON_NONE)
		return r->sizing && r->sizing->reclaim.keeps < reservation_pods_at_once(r);
	return r->run.stop == STOP_REASON_IDLE_RECLAIMED;
}

void reclaim_done(struct queue *q, struct reservation *r)
{
	if (r->sizing)
		why_set(q, &r->sizing->reclaim, NULL);
}

/* ---- The gate is told ---- */

/* Returns whether a number is to be told now. Each is told once, but of a run that grows later:
 * queue_grew_job(). */
static bool is_told(const struct reservation *r, bool *untold)
{
	bool tells = *untold && !r->stop_given && r->state == RESERVATION_HELD;
	if (tells && reservation_grows(r))
		return false;
	*untold = false;
	return tells;
}

static void tell_giving(struct queue *q, const struct reservation *r, struct decision *ret)
{
	const struct giving *g = &r->sizing->giving;
	bool opens = g->preemption == PREEMPTION_NONE && !g->quota;
	ret->reason = g->quota ? STOP_REASON_WINDOW_QUOTA
		      : opens  ? STOP_REASON_WINDOW_OPENING
			       : STOP_REASON_PREEMPTED;
	ret->by = g->by;
	ret->policy = opens ? features_recalled_by(q, r->cq) : NULL;
	ret->preemption = g->preemption;
	if (g->quota)
		each_feature(f, q->features_awake, lowered_by)
			f->lowered_by(q, g->quota, ret);
}

bool shrink_tell(struct queue *q, struct reservation *r, struct decision *ret)
{
	struct sizing *s = r->sizing;
	if (!s)
		return false;
	bool reclaim_has_fewer = s->reclaim.keeps <= s->giving.keeps;
	struct decision d = {.kind = DECISION_SHRINK,
		.uid = r->w->key.uid,
		.pods = reclaim_has_fewer ? s->reclaim.keeps : s->giving.keeps};
	if (is_told(r, &s->reclaim.untold)) {
		d.reason = STOP_REASON_IDLE_RECLAIMED;
		d.why = s->reclaim.why;
	} else if (is_told(r, &s->giving.untold) && !(s->giving.quota && reclaim_has_fewer)) {
		tell_giving(q, r, &d);
	} else {
		return false;
	}
	*ret = d;
	return true;
}
