#include "queue/core/model/feature.h"

#include "base/must.h"
#include "queue/core/admit/nominee.h"
#include "queue/core/model/state.h"
#include "queue/core/model/reservation.h"

/* ---- What they concern ---- */

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

/* ---- Awake ---- */

uint32_t features_without_sleep(void)
{
	uint32_t mask = 0;
	for (unsigned i = 0; i < FEATURE_COUNT; i++)
		if (!FEATURE[i]->sleeps)
			mask |= UINT32_C(1) << i;
	return mask;
}

void feature_wakes(struct queue *q, const struct feature *f)
{
	for (unsigned i = 0; i < FEATURE_COUNT; i++)
		if (FEATURE[i] == f)
			q->features_awake |= UINT32_C(1) << i;
}

void features_asked_for(struct queue *q, const struct job *j)
{
	each_feature(f, ALL_FEATURES & ~q->features_awake, asked_for)
		if (f->asked_for(j))
			feature_wakes(q, f);
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

bool features_choice_may(struct queue *q, const struct proposal *a)
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

/* ---- Victims and pods ---- */

bool features_look_at_victims(const struct queue *q, const struct nominee *e)
{
	each_feature(f, features_of(q, e->cq), looks_at_victims)
		if (f->looks_at_victims(q, e))
			return true;
	return false;
}

int32_t features_choice_pods(struct queue *q, const struct proposal *a)
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

enum stop_reason features_stop(struct queue *q, struct reservation *r, const char **ret_policy)
{
	each_feature(f, q->features_awake, stops) {
		enum stop_reason reason = f->stops(q, r, ret_policy);
		if (reason != STOP_REASON_NONE)
			return reason;
	}
	return STOP_REASON_NONE;
}

int64_t features_next_ms(struct queue *q, const struct reservation *r)
{
	int64_t first_ms = INT64_MAX;
	each_feature(f, q->features_awake, next_ms) {
		int64_t next_ms = f->next_ms(q, r);
		first_ms = next_ms < first_ms ? next_ms : first_ms;
	}
	return first_ms;
}

const char *features_recalled_by(const struct queue *q, const struct clusterqueue *borrower)
{
	each_feature(f, ALL_FEATURES, recalled_by)
		return f->recalled_by(q, borrower);
	return NULL;
}

enum wait_reason features_explain(struct question *a)
{
	each_feature(f, a->q->features_awake, explain) {
		enum wait_reason reason = f->explain(a);
		if (reason != WAIT_NOT)
			return reason;
	}
	return WAIT_NOT;
}

/* ---- What is kept ---- */

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
