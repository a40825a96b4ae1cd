#include "queue/admit/partial.h"

#include "queue/requests/shape.h"
#include "queue/preempt/victims.h"
#include "queue/model/workload.h"

static enum assign_verdict with_pods(struct queue *q, struct clusterqueue *cq,
	const struct claim *c, const struct workload *w, int32_t pods, const struct choice *after,
	struct choice *ret)
{
	struct demand d;
	const struct victim *victim;
	enum assign_verdict v = assign_flavors(q, cq, c, w, pods, after, ret);
	if (v != ASSIGN_PREEMPTS)
		return v;
	demand_init(&d, w, cq, c, ret);
	if (victims_plain(q, &d, &victim) > 0)
		return v;
	if (choice_goes_on(cq, ret))
		return ASSIGN_BUSY;
	/* A flavor that fits may have been skipped. */
	v = assign_beside(q, cq, c, w, pods, ret);
	return v == ASSIGN_FITS ? v : ASSIGN_BUSY;
}

enum assign_verdict partial_find(struct queue *q, struct clusterqueue *cq, const struct claim *c,
	const struct workload *w, int32_t most, const struct choice *after,
	struct choice *ret_choice)
{
	enum assign_verdict found = ASSIGN_BUSY;
	int32_t none = most - w->shape->min_pods + 1, least = 0;
	if (w->shape->min_pods >= most)
		return found;
	while (least < none) { /* how many fewer */
		struct choice choice;
		int32_t fewer = least + (none - least) / 2;
		enum assign_verdict v = with_pods(q, cq, c, w, most - fewer, after, &choice);
		if (v >= ASSIGN_PREEMPTS) {
			found = v;
			*ret_choice = choice;
			none = fewer;
		} else {
			least = fewer + 1;
		}
	}
	return found;
}
