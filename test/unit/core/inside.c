#include "inside.h"

#include "queue/core/model/state.h"

uint64_t inside_placed(const struct queue *q)
{
	return q->counters.placed;
}

size_t inside_groups(const struct queue *q)
{
	return q->groups.map.count;
}

size_t inside_shapes(const struct queue *q)
{
	return q->shapes.shapes.count;
}

size_t inside_kept_starts(const struct queue *q)
{
	return q->kept_starts.count;
}

size_t inside_job_bytes(const struct queue *q)
{
	return q->workload_bytes;
}

struct workload *inside_workload(const struct queue *q, const struct uid *uid)
{
	return queue_find_workload(q, uid);
}

struct clusterqueue *inside_clusterqueue(const struct queue *q, const char *name)
{
	return clusterqueue_find(&q->clusterqueues, name);
}

struct localqueue *inside_localqueue(const struct queue *q, const char *ns, const char *name)
{
	return localqueue_find(&q->localqueues, ns, name);
}

const struct clusterqueues *inside_clusterqueues(const struct queue *q)
{
	return &q->clusterqueues;
}

const struct nices *inside_nices(const struct queue *q)
{
	return &q->nices;
}

const struct predecessors *inside_predecessors(const struct queue *q)
{
	return q->predecessors;
}

struct advance_reservations *inside_advance_reservations(struct queue *q)
{
	return q->advance_reservations;
}

struct overflow *inside_overflow(struct queue *q)
{
	return &q->overflow;
}

struct quota *inside_quota(struct queue *q)
{
	return &q->quota;
}

struct quota_plan *inside_plan(struct queue *q)
{
	return &q->quota_plan;
}
