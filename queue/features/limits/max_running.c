/*
 * Feature max_running: limits how many Jobs of a LocalQueue run at once (spec.maxRunning).
 *
 * A Job counts from when it gets its quota until that is given back. A promise of quota counts,
 * too. A Job beyond the limit is passed over: it blocks nothing and preempts nothing, not even Jobs
 * of its own LocalQueue. When the limit is lowered, runs go on, and the youngest promises are taken
 * back.
 */
#include "queue/core/model/state.h"
#include "queue/core/model/reservation.h"
#include "queue/core/model/feature.h"

extern const struct feature max_running_feature;

static bool max_running_concerns(struct queue *q, struct clusterqueue *cq)
{
	(void)q;
	list_each_entry(&cq->localqueues, const struct localqueue, lq, of_clusterqueue)
		if (lq->limits.max_running > 0)
			return true;
	return false;
}

/* Counts its runs, and the promises of starts to come. */
static size_t taken(const struct localqueue *lq)
{
	return lq->nreserving + lq->npromised;
}

static bool is_full(const struct localqueue *lq)
{
	return lq->limits.max_running > 0 && taken(lq) >= (size_t)lq->limits.max_running;
}

/* Counts the promises of its LocalQueue that are younger than r. */
static size_t younger(const struct reservation *r)
{
	size_t n = 0;
	for (const struct reservation *p = reservation_younger_promise(r); p;
		p = reservation_younger_promise(p))
		n += p->lq == r->lq;
	return n;
}

static struct ruling max_running_group_may(const struct queue *q, const struct group *g)
{
	(void)q;
	return is_full(g->head->lq) ? RULING_NO : RULING_YES;
}

static void max_running_parts(const struct workload *w, struct parting *p)
{
	if (w->lq->limits.max_running > 0)
		parting_add(p, w->lq, w->lq->name);
}

static bool max_running_promise_may(struct queue *q, struct reservation *r)
{
	int32_t most = r->lq->limits.max_running;
	(void)q;
	return most <= 0 || taken(r->lq) - younger(r) <= (size_t)most;
}

static enum wait_reason max_running_explain(struct question *a)
{
	const struct localqueue *lq = a->w->lq;
	if (!is_full(lq))
		return WAIT_NOT;
	size_t n = taken(lq);
	text_add(a->text,
		"%s of LocalQueue %s/%s %s%s, and its spec.maxRunning is %d: this Job starts when fewer do; to allow more, ask an admin to raise spec.maxRunning",
		count_words(n, "Job").s, lq->ns->name, lq->name, n == 1 ? "runs" : "run",
		lq->npromised > 0 ? " or will when pods of stopped Jobs have ended" : "",
		lq->limits.max_running);
	return WAIT_MAX_RUNNING;
}

/* Has Jobs of the ClusterQueue asked: one that waited for the limit may need none of the quota that came
 * free, so that nothing else asks it. */
static void max_running_ended(struct queue *q, struct reservation *r)
{
	if (r->lq->limits.max_running > 0 && r->lq->cq)
		queue_touch_queue(q, r->lq->cq);
}

static bool max_running_parts_otherwise(const struct localqueue *lq,
	const struct localqueue_limits *limits, const struct pod_metadata *metadata)
{
	(void)metadata;
	return (lq->limits.max_running > 0) != (limits->max_running > 0);
}

static void max_running_localqueue_edited(struct queue *q, const struct localqueue *lq)
{
	if (lq->limits.max_running > 0)
		feature_wakes(q, &max_running_feature);
}

const struct feature max_running_feature = {
	.sleeps = true,
	.concerns = max_running_concerns,
	.group_may = max_running_group_may,
	.parts = max_running_parts,
	.promise_may = max_running_promise_may,
	.after = {[RUN_ENDED] = max_running_ended},
	.explain = max_running_explain,
	.parts_otherwise = max_running_parts_otherwise,
	.localqueue_edited = max_running_localqueue_edited,
};
