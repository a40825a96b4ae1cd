/* What a play of the future has to know of each Job. */
#include "queue/core.h"
#include "queue/model/duration.h"
#include "queue/model/reservation.h"
#include "queue/model/user.h"

static struct job_outline outline_of(const struct workload *w)
{
	const struct reservation *r = w->reservation;
	const struct localqueue *lq = r ? r->lq : w->lq;
	const struct clusterqueue *cq = r ? r->cq : w->lq->cq;
	const struct shape *shape = r ? r->shape : w->shape;
	return (struct job_outline){
		.uid = w->key.uid,
		.ns = lq->ns->name,
		.name = w->name,
		.localqueue = lq->name,
		.clusterqueue = cq ? cq->name : "",
		.family = family_name(w),
		.user = w->user ? w->user->name : "",
		.priority = w->key.priority,
		.holds_quota = r,
		.confirmed = r && r->confirmed,
		.ends = r && r->stop_given,
		.returns = r && r->stop_given && r->run.stop != STOP_REASON_NONE,
		.since_ms = r ? r->since_ms : 0,
		.grace_ms = r ? r->pods_facts.grace_ms : 0,
		.pods = r ? r->pods : w->shape->pods,
		.full_pods = shape->min_pods < shape->pods ? shape->pods : 0,
		.expected_ms = w->expected_ms,
		.expected_from = w->expected_from,
	};
}

void queue_each_job(
	const struct queue *q, void (*each)(const struct job_outline *o, void *ctx), void *ctx)
{
	const struct workload *w;
	map_each(&q->workloads, i, w) {
		struct job_outline o = outline_of(w);
		each(&o, ctx);
	}
}

bool queue_outline_job(const struct queue *q, const struct uid *uid, struct job_outline *ret)
{
	const struct workload *w = queue_find_workload(q, uid);
	if (!w)
		return false;
	*ret = outline_of(w);
	return true;
}
