#include "queue/core/model/state.h"

#include "queue/core/model/reservation.h"

struct workload *queue_find_workload(const struct queue *q, const struct uid *uid)
{
	return map_get(&q->workloads, uid_hash(uid), uid);
}

void queue_forget_workload(struct queue *q, struct workload *w)
{
	workload_unplace(q, w);
	reservation_forget_promise(q, w);
	if (w->reservation)
		reservation_end(q, w);
	workload_free(q, w);
	q->counters.version++;
}
