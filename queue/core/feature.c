#include "queue/core/feature.h"

#include "base/must.h"
#include "queue/core/admit/nominee.h"
#include "queue/core/core.h"
#include "queue/core/model/reservation.h"

/* Each feature among those of the mask that has the function. */
#define each_feature(r, mask, function)                                                            \
	for (uint32_t bits_##r = (mask); bits_##r; bits_##r &= bits_##r - 1)                       \
		for (const struct feature *r = FEATURE[__builtin_ctz(bits_##r)]; r && r->function; \
			r = NULL)

/* ---- What they concern ---- */

#define ALL_FEATURES ((uint32_t)((UINT64_C(1) << FEATURE_COUNT) - 1))

static uint32_t concerning(struct queue *q, struct clusterqueue *cq)
{
	uint32_t mask = 0;
	for (unsigned i = 0; i < FEATURE_COUNT; i++)
		if (!FEATURE[i]->concerns || FEATURE[i]->concerns(q, cq))
			mask |= UINT32_C(1) << i;
	return mask;
}

/* A bit for each feature that concerns cq. With SLUICE_CHECK_FEATURES it is checked each time. */
static inline uint32_t features_of(const struct queue *asked, const struct clusterqueue *asked_of)
{
	struct queue *q = (struct queue *)(uintptr_t)asked; /* only to keep the answer */
	struct clusterqueue *cq = (struct clusterqueue *)(uintptr_t)asked_of;
	if (cq->features_as_of != q->counters.features_edits) {
		cq->features = concerning(q, cq);
		cq->features_as_of = q->counters.features_edits;
	}
#ifdef SLUICE_CHECK_FEATURES
	must(cq->features == concerning(q, cq));
#endif
	return cq->features;
}

void features_edited(struct queue *q)
{
	q->counters.features_edits++;
}

/* ---- Starts ---- */

bool features_queue_may(struct queue *q, struct clusterqueue *cq)
{
	each_feature(f, features_of(q, cq), queue_may)
		if (!f->queue_may(q, cq))
			return false;
	return true;
}

/* The worst answer, the fewest pods, the shortest time. */
static struct ruling both(struct ruling a, struct ruling b)
{
	return (struct ruling){
		a.answer > b.answer ? a.answer : b.answer,
		a.pods < b.pods ? a.pods : b.pods,
		a.until_ms < b.until_ms ? a.until_ms : b.until_ms,
	};
}

struct ruling features_group_may(const struct queue *q, const struct group *g)
{
	struct ruling all = RULING_YES;
	each_feature(f, features_of(q, g->cq), group_may) {
		all = both(all, f->group_may(q, g));
		if (all.answer == ANSWER_NO || all.pods < g->shape->min_pods)
			return RULING_NO;
	}
	return all;
}

bool features_choice_may(struct queue *q, const struct attempt *a)
{
	each_feature(f, features_of(q, a->nominee->cq), choice_may)
		if (!f->choice_may(q, a))
			return false;
	return true;
}

/* ---- Searches ---- */

bool features_subtree_may(const struct queue *q, const struct group *root)
{
	each_feature(f, features_of(q, root->cq), subtree_may)
		if (!f->subtree_may(q, root))
			return false;
	return true;
}

bool features_put_last(const struct queue *q, const struct clusterqueue *cq)
{
	each_feature(f, features_of(q, cq), puts_last)
		if (f->puts_last(cq))
			return true;
	return false;
}

void features_part(const struct workload *w, struct parting *p)
{
	each_feature(f, ALL_FEATURES, parts)
		f->parts(w, p);
}

bool features_part_otherwise(const struct localqueue *lq, const struct localqueue_limits *limits,
	const struct pod_metadata *metadata)
{
	each_feature(f, ALL_FEATURES, parts_otherwise)
		if (f->parts_otherwise(lq, limits, metadata))
			return true;
	return false;
}

bool features_look_at_duration(const struct localqueue *lq)
{
	each_feature(f, ALL_FEATURES, looks_at_duration)
		if (f->looks_at_duration(lq))
			return true;
	return false;
}

/* ---- Victims and pods ---- */

bool features_look_at_victims(const struct queue *q, const struct nominee *e)
{
	each_feature(f, features_of(q, e->cq), looks_at_victims)
		if (f->looks_at_victims(q, e))
			return true;
	return false;
}

int32_t features_choice_pods(struct queue *q, const struct attempt *a)
{
	int32_t least = a->nominee->choice.pods;
	each_feature(f, features_of(q, a->nominee->cq), choice_pods) {
		int32_t pods = f->choice_pods(q, a);
		least = pods < least ? pods : least;
	}
	return least;
}

bool features_in_vain(struct queue *q, const struct nominee *e)
{
	each_feature(f, features_of(q, e->cq), is_in_vain)
		if (f->is_in_vain(q, e))
			return true;
	return false;
}

/* ---- Promises ---- */

bool features_promise_may(struct queue *q, struct reservation *r)
{
	each_feature(f, features_of(q, r->cq), promise_may)
		if (!f->promise_may(q, r))
			return false;
	return true;
}

enum room features_promise_room(struct queue *q, const struct reservation *r)
{
	enum room worst = ROOM_NOW;
	each_feature(f, features_of(q, r->cq), promise_room) {
		enum room room = f->promise_room(q, r);
		worst = room < worst ? room : worst;
	}
	return worst;
}

bool features_promise_may_choose(const struct queue *q, const struct reservation *r,
	const struct claim *claim, const struct choice *choice)
{
	each_feature(f, features_of(q, r->cq), promise_may_choose)
		if (!f->promise_may_choose(q, r, claim, choice))
			return false;
	return true;
}

bool features_may_return(const struct workload *w, int64_t now_ms)
{
	each_feature(f, ALL_FEATURES, may_return)
		if (!f->may_return(w, now_ms))
			return false;
	return true;
}

/* ---- Runs ---- */

int32_t features_growth_pods(
	struct queue *q, const struct reservation *r, int32_t more, const char **ret_why)
{
	int32_t least = more;
	each_feature(f, features_of(q, r->cq), growth_pods) {
		int32_t pods = least > 0 ? f->growth_pods(q, r, least) : 0;
		if (pods < least)
			*ret_why = f->growth_refused;
		least = pods < least ? pods : least;
	}
	return least;
}

enum stop_reason features_stop(struct queue *q, struct reservation *r)
{
	each_feature(f, ALL_FEATURES, stops) {
		enum stop_reason reason = f->stops(q, r);
		if (reason != STOP_REASON_NONE)
			return reason;
	}
	return STOP_REASON_NONE;
}

int64_t features_next_ms(struct queue *q, const struct reservation *r)
{
	int64_t first_ms = INT64_MAX;
	each_feature(f, ALL_FEATURES, next_ms) {
		int64_t next_ms = f->next_ms(q, r);
		first_ms = next_ms < first_ms ? next_ms : first_ms;
	}
	return first_ms;
}

void features_before_run(struct queue *q, struct reservation *r, enum run_event event)
{
	each_feature(f, ALL_FEATURES, before[event])
		f->before[event](q, r);
}

void features_after_run(struct queue *q, struct reservation *r, enum run_event event)
{
	each_feature(f, ALL_FEATURES, after[event])
		f->after[event](q, r);
}

enum wait_reason features_explain(struct question *a)
{
	each_feature(f, ALL_FEATURES, explain) {
		enum wait_reason reason = f->explain(a);
		if (reason != WAIT_NOT)
			return reason;
	}
	return WAIT_NOT;
}

void features_run_settle(struct queue *q, struct reservation *r, int64_t now_ms)
{
	each_feature(f, ALL_FEATURES, run_settle)
		f->run_settle(q, r, now_ms);
}

void features_run_settled(struct queue *q, struct reservation *r, int64_t now_ms)
{
	each_feature(f, ALL_FEATURES, run_settled)
		f->run_settled(q, r, now_ms);
}

bool features_give_notice(struct queue *q, struct reservation *r, struct decision *ret)
{
	each_feature(f, ALL_FEATURES, gives_notice)
		if (f->gives_notice(q, r, ret))
			return true;
	return false;
}

const char *features_recalled_by(const struct queue *q, const struct clusterqueue *borrower)
{
	each_feature(f, ALL_FEATURES, recalled_by)
		return f->recalled_by(q, borrower);
	return NULL;
}

void features_lowered_by(struct queue *q, const struct quota_row *row, struct decision *ret)
{
	each_feature(f, ALL_FEATURES, lowered_by)
		f->lowered_by(q, row, ret);
}

/* ---- Jobs ---- */

const char *features_job_fault(const struct job *j)
{
	each_feature(f, ALL_FEATURES, job_fault) {
		const char *fault = f->job_fault(j);
		if (fault)
			return fault;
	}
	return NULL;
}

bool features_job_differs(const struct workload *w, const struct job *j)
{
	each_feature(f, ALL_FEATURES, job_differs)
		if (f->job_differs(w, j))
			return true;
	return false;
}

void features_job_read(struct queue *q, struct workload *w, const struct job *j)
{
	each_feature(f, ALL_FEATURES, job_read)
		f->job_read(q, w, j);
}

void features_job_seen(struct queue *q, struct workload *w, const struct job *j)
{
	each_feature(f, ALL_FEATURES, job_seen)
		f->job_seen(q, w, j);
}

bool features_ask_for_label(const struct queue *q, const char *key)
{
	each_feature(f, ALL_FEATURES, asks_for_label)
		if (f->asks_for_label(q, key))
			return true;
	return false;
}

size_t features_job_bytes(const struct workload *w)
{
	size_t bytes = 0;
	each_feature(f, ALL_FEATURES, job_bytes)
		bytes += f->job_bytes(w);
	return bytes;
}

bool features_job_may_wait(const struct workload *w)
{
	each_feature(f, ALL_FEATURES, job_may_wait)
		if (!f->job_may_wait(w))
			return false;
	return true;
}

bool features_job_may_stand(struct queue *q, struct workload *w)
{
	each_feature(f, ALL_FEATURES, job_may_stand)
		if (!f->job_may_stand(q, w))
			return false;
	return true;
}

#define TELL_JOB(event)                                                                            \
	void features_##event(struct queue *q, struct workload *w)                                 \
	{                                                                                          \
		each_feature(f, ALL_FEATURES, event)                                               \
			f->event(q, w);                                                            \
	}
TELL_JOB(job_aside)
TELL_JOB(job_released)
TELL_JOB(job_freed)
TELL_JOB(job_stands)
TELL_JOB(job_leaves)
TELL_JOB(job_forgotten)
TELL_JOB(family_joined)
TELL_JOB(family_leaves)
#undef TELL_JOB

/* ---- Queues, claims and the plan ---- */

void features_queue_made(struct clusterqueue *cq)
{
	each_feature(f, ALL_FEATURES, queue_made)
		f->queue_made(cq);
}

void features_queue_freed(struct clusterqueue *cq)
{
	each_feature(f, ALL_FEATURES, queue_freed)
		f->queue_freed(cq);
}

void features_queue_edited(
	struct queue *q, const struct clusterqueue *cq, const struct clusterqueue_spec *next)
{
	each_feature(f, ALL_FEATURES, queue_edited)
		f->queue_edited(q, cq, next);
}

void features_queue_formed(struct queue *q, struct clusterqueue *cq)
{
	each_feature(f, ALL_FEATURES, queue_formed)
		f->queue_formed(q, cq);
}

void features_line_formed(struct queue *q, struct localqueue *lq)
{
	each_feature(f, ALL_FEATURES, line_formed)
		f->line_formed(q, lq);
}

void features_flavor_edited(struct queue *q, struct flavor *flavor)
{
	each_feature(f, ALL_FEATURES, flavor_edited)
		f->flavor_edited(q, flavor);
}

void features_priorities_changed(struct queue *q)
{
	each_feature(f, ALL_FEATURES, priorities_changed)
		f->priorities_changed(q);
}

void features_namespace_edited(struct queue *q, const char *name, const struct namespace_spec *s)
{
	each_feature(f, ALL_FEATURES, namespace_edited)
		f->namespace_edited(q, name, s);
}

void features_runtime_class_edited(
	struct queue *q, const char *name, const struct runtime_class_spec *s)
{
	each_feature(f, ALL_FEATURES, runtime_class_edited)
		f->runtime_class_edited(q, name, s);
}

void features_line_freed(struct localqueue *lq)
{
	each_feature(f, ALL_FEATURES, line_freed)
		f->line_freed(lq);
}

void features_quota_timed(
	const struct clusterqueue *cq, const struct quota_row *row, struct quota_limits *limits)
{
	each_feature(f, ALL_FEATURES, quota_timed)
		f->quota_timed(cq, row, limits);
}

void features_quota_due(const struct clusterqueue *cq, struct quota_limits *limits)
{
	each_feature(f, ALL_FEATURES, quota_due)
		f->quota_due(cq, limits);
}

void features_claim_narrow(const struct queue *q, const struct clusterqueue *cq,
	const struct shape *shape, struct claim *c)
{
	each_feature(f, ALL_FEATURES, claim_narrow)
		f->claim_narrow(q, cq, shape, c);
}

void features_plan_asked(struct queue *q)
{
	each_feature(f, ALL_FEATURES, plan_asked)
		f->plan_asked(q);
}

bool features_keep_some(const struct queue *q, const struct clusterqueue *cq)
{
	each_feature(f, features_of(q, cq), keeps_some)
		if (f->keeps_some(cq))
			return true;
	return false;
}

bool features_keep_for(struct queue *q, const struct nominee *e)
{
	each_feature(f, features_of(q, e->cq), keeps_for)
		if (f->keeps_for(q, e))
			return true;
	return false;
}
