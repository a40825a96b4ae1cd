#include "queue/core/model/reclaim.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "queue/requests/shape.h"

static void why_set(struct queue *q, struct reservation *r, const char *why)
{
	if (r->reclaim.why)
		q->workload_bytes -= strlen(r->reclaim.why) + 1;
	free(r->reclaim.why);
	r->reclaim.why = mem_strdup(why);
	if (r->reclaim.why)
		q->workload_bytes += strlen(r->reclaim.why) + 1;
}

/* By its min-parallelism. A start that is not confirmed has no pods to spare, and is called off. */
static bool may_shrink(const struct reservation *r, int32_t pods)
{
	const struct shape *now = r->w->shape;
	return r->confirmed && pods > 0 && pods >= now->min_pods &&
	       pods < reservation_pods_at_once(r);
}

bool reclaim_ask(struct queue *q, struct reservation *r, int32_t pods, const char *why)
{
	int32_t runs = reservation_pods_at_once(r);
	runs = r->reclaim.pods < runs ? r->reclaim.pods : runs;
	pods = pods > 0 ? pods : 0;
	if (r->stop_given || r->state != RESERVATION_HELD || pods >= runs)
		return false;
	r->reclaim.pods = may_shrink(r, pods) ? pods : 0;
	r->reclaim.untold = true;
	why_set(q, r, why);
	reservation_suspect(q, r);
	return true;
}

bool reclaim_stops(const struct reservation *r)
{
	return r->reclaim.pods == 0 && !r->stop_given;
}

/* It may have been told to give more. */
static int32_t pods_told(const struct reservation *r)
{
	int32_t keeps = reservation_keeps(r);
	return keeps > 0 && keeps < r->reclaim.pods ? keeps : r->reclaim.pods;
}

bool reclaim_done_by(const struct reservation *r, int32_t pods)
{
	int32_t to = r->reclaim.pods;
	return to > 0 && !r->reclaim.untold && pods > 0 && pods <= to && r->pods > to;
}

bool reclaim_tell(struct reservation *r, struct decision *ret)
{
	bool tells = r->reclaim.untold && !r->stop_given && r->state == RESERVATION_HELD;
	if (tells && reservation_grows(r))
		return false; /* later: queue_grew_job() */
	r->reclaim.untold = false;
	if (!tells)
		return false;
	*ret = (struct decision){.kind = DECISION_SHRINK,
		.uid = r->w->key.uid,
		.pods = pods_told(r),
		.reason = STOP_REASON_IDLE_RECLAIMED,
		.why = r->reclaim.why};
	return true;
}

bool reclaim_ended(const struct reservation *r)
{
	if (r->run.stop == STOP_REASON_NONE)
		return r->reclaim.pods < reservation_pods_at_once(r);
	return r->run.stop == STOP_REASON_IDLE_RECLAIMED;
}

void reclaim_done(struct queue *q, struct reservation *r)
{
	why_set(q, r, NULL);
}
