/*
 * Feature singleton: a Job with `singleton` in sluice.dev/after starts when no other Job of its family
 * runs, singleton or not. A family is a CronJob, or a generateName (duration.h).
 *
 * A run counts from when it gets its quota until that is given back. A promise of quota counts as
 * well, so that of several singletons one is promised quota and the others wait for it. Of two
 * promises of one family the older one stands: were both taken back, the two could take turns for
 * ever. A singleton that is preempted still counts until its quota is given back; then it waits
 * with the others, in the order of its queue.
 *
 * The feature never sleeps: Jobs that run before the first singleton comes count for it, too.
 */
#include "queue/core/admit/nominee.h"
#include "queue/core/model/feature.h"
#include "queue/core/model/reservation.h"
#include "queue/core/model/state.h"
#include "queue/features/dependencies/dependency_wait.h"
#include "queue/features/dependencies/predecessors.h"

static void singleton_promised(struct queue *q, struct reservation *r)
{
	(void)q;
	if (r->w->family)
		list_add(family_promises(r->w->family), &r->of_family);
}

static void singleton_runs(struct queue *q, struct reservation *r)
{
	(void)q;
	list_leave(&r->of_family);
	if (r->w->family)
		list_add(family_runs(r->w->family), &r->of_family);
}

/* Returns the family's first run, else its first promise; NULL: there is neither. */
static const struct reservation *first_of(const struct family *asked)
{
	struct family *f = (struct family *)(uintptr_t)asked; /* only read */
	struct link *of = list_empty(family_runs(f)) ? family_promises(f) : family_runs(f);
	return list_empty(of) ? NULL : container_of_const(of->next, struct reservation, of_family);
}

/* Takes a run or a promise off its family. If it was the last, singletons of the family may start,
 * in any ClusterQueue. */
static void singleton_over(struct queue *q, struct reservation *r)
{
	struct family *f = r->w->family;
	list_leave(&r->of_family);
	if (!f || first_of(f))
		return;
	list_each_entry(family_singletons(f), const struct dependency_wait, x, of_family) {
		const struct workload *w = x->w;
		if (w->place == PLACE_READY)
			queue_touch_queue(q, w->lq->cq);
	}
}

static bool singleton_concerns(struct queue *q, struct clusterqueue *cq)
{
	(void)cq;
	return q->predecessors->singletons > 0;
}

static struct ruling singleton_group_may(const struct queue *q, const struct group *g)
{
	(void)q;
	return workload_is_singleton(g->head) && first_of(g->head->family) ? RULING_NO : RULING_YES;
}

/* Another of its family may have started earlier in this pass, in another ClusterQueue. */
static bool singleton_choice_may(struct queue *q, const struct proposal *a)
{
	const struct workload *w = a->nominee->w;
	(void)q;
	return !workload_is_singleton(w) || !w->family || !first_of(w->family);
}

static bool singleton_promise_may(struct queue *q, struct reservation *r)
{
	(void)q;
	return !workload_is_singleton(r->w) || !r->w->family || first_of(r->w->family) == r;
}

static enum wait_reason singleton_explain(struct question *a)
{
	const struct workload *w = a->w;
	const struct reservation *r =
		workload_is_singleton(w) && w->family ? first_of(w->family) : NULL;
	if (!r || r->w == w)
		return WAIT_NOT;
	text_add(a->text,
		r == r->w->promise
			? "singleton: runs are being stopped for %.100s of %.100s, which is to start; this Job starts when that one has ended"
			: "singleton: %.100s of %.100s runs; this Job starts when that one has ended",
		r->w->name, family_name(w));
	return WAIT_DEPENDENCY;
}

static void singleton_family_joined(struct queue *q, struct workload *w)
{
	(void)q;
	if (w->reservation)
		list_add(family_runs(w->family), &w->reservation->of_family);
	if (w->promise)
		list_add(family_promises(w->family), &w->promise->of_family);
	if (workload_is_singleton(w))
		list_add(family_singletons(w->family), &w->after->of_family);
}

static void singleton_family_leaves(struct queue *q, struct workload *w)
{
	if (w->reservation)
		singleton_over(q, w->reservation);
	if (w->promise)
		singleton_over(q, w->promise);
	if (w->after)
		list_leave(&w->after->of_family);
}

const struct feature singleton_feature = {
	.concerns = singleton_concerns,
	.group_may = singleton_group_may,
	.choice_may = singleton_choice_may,
	.promise_may = singleton_promise_may,
	.explain = singleton_explain,
	.before = {[RUN_UNPROMISED] = singleton_over, [RUN_ENDED] = singleton_over},
	.after = {[RUN_PROMISED] = singleton_promised, [RUN_RESERVED] = singleton_runs},
	.family_joined = singleton_family_joined,
	.family_leaves = singleton_family_leaves,
};
