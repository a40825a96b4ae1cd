#include "queue/admit/spared.h"

#include "queue/requests/shape.h"

static bool spares_any(const struct cohort_tree *tree)
{
	list_each(&tree->members, l) {
		if (container_of(l, struct clusterqueue, of_cohort_tree)
				->spec.preemption.min_run_ms > 0)
			return true;
	}
	return false;
}

int64_t spared_until(struct queue *q, const struct workload *w, struct clusterqueue *cq,
	const struct claim *c, int64_t now_ms, const struct reservation **ret_last)
{
	struct choice choice, after;
	int64_t until_ms = INT64_MAX;
	if (!spares_any(cq->cohort_tree) || !workload_displaces(w))
		return INT64_MAX;
	bool more = true;
	for (const struct choice *behind = NULL; more; behind = &after) {
		struct demand d;
		const struct reservation *last = NULL;
		if (assign_flavors(q, cq, c, w, w->shape->min_pods, behind, &choice) !=
			ASSIGN_PREEMPTS)
			break;
		demand_init(&d, w, cq, c, &choice);
		int64_t at_ms = victims_grown(q, &d, &last);
		if (at_ms < until_ms) {
			until_ms = at_ms;
			*ret_last = last;
		}
		after = choice;
		more = choice_goes_on(cq, &choice);
	}
	return until_ms > now_ms ? until_ms : INT64_MAX;
}
