/* The state of the queues as their status shows it. */
#include "queue/view.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "queue/core.h"
#include "queue/text.h"

struct scratch {
	struct usage_view *usage;
	size_t nusage, room;
};

struct scratch *scratch_new(void)
{
	return mem_alloc(sizeof(struct scratch));
}

void scratch_free(struct scratch *s)
{
	free(s->usage);
	free(s);
}

static void usage_add(struct scratch *s, const struct quota_row *row)
{
	if (s->nusage == s->room) {
		s->room = s->room ? s->room * 2 : 16;
		s->usage = mem_grow(s->usage, s->room, sizeof(*s->usage));
	}
	s->usage[s->nusage++] = (struct usage_view){.flavor = row->flavor,
		.resource = row->resource,
		.nominal = row->nominal,
		.borrowing_limit = QUOTA_UNLIMITED,
		.lending_limit = QUOTA_UNLIMITED,
		.subtree = row->nominal,
		.reserved = quota_shown(row->reserved),
		.used = quota_shown(row->used)};
}

static int usage_order(const void *a, const void *b)
{
	const struct usage_view *x = a, *y = b;
	int order = strcmp(x->flavor, y->flavor);
	return order ? order : strcmp(x->resource, y->resource);
}

/* The rows of the spec in its order, then those that only running Jobs still hold, by name. */
static void usage_fill(struct scratch *s, const struct clusterqueue *cq)
{
	s->nusage = 0;
	for (size_t g = 0; g < cq->ngroups; g++)
		for (size_t i = 0; i < cq->groups[g].nflavors * cq->groups[g].nresources; i++)
			usage_add(s, cq->groups[g].row[i]);
	size_t listed = s->nusage;
	for (size_t i = 0; cq->node && i < cq->node->nrows; i++) {
		const struct quota_row *row = cq->node->row[i];
		if (!row->in_spec && row->reserved > 0)
			usage_add(s, row);
	}
	if (s->nusage > listed + 1)
		qsort(s->usage + listed, s->nusage - listed, sizeof(*s->usage), usage_order);
}

/* Why nothing can start, in Kueue's words and order; "Ready" when it can. */
static const char *inactive_reason(const struct clusterqueue *cq, struct text *message)
{
	const struct flavor *missing = clusterqueue_missing_flavor(cq);
	if (!cq->exists) {
		text_add(message, "Can't admit new workloads: no valid spec was ever seen.");
		return "InvalidSpec";
	}
	if (cq->deleting) {
		text_add(message, "Can't admit new workloads; clusterQueue is terminating.");
		return "Terminating";
	}
	if (cq->stop_policy != STOP_NONE) {
		text_add(message, "Can't admit new workloads: is stopped.");
		return "Stopped";
	}
	if (missing) {
		text_add(message,
			"Can't admit new workloads: references missing ResourceFlavor %s.",
			missing->name);
		if (missing->invalid)
			text_add(message, " It was refused: %s", missing->invalid);
		return "FlavorNotFound";
	}
	text_add(message, "Can admit new workloads");
	return "Ready";
}

static size_t count_waiting(const struct clusterqueue *cq)
{
	size_t n = 0;
	list_each(&cq->localqueues, l) n +=
		container_of(l, struct localqueue, of_clusterqueue)->nwaiting;
	return n;
}

bool queue_view_clusterqueue(const struct queue *q, size_t index, struct clusterqueue_view *ret)
{
	struct tree_node *n = tree_at(&q->clusterqueues.shown, index);
	if (!n)
		return false;
	const struct clusterqueue *cq = container_of(n, struct clusterqueue, by_name);
	struct text message = text_over(ret->message, sizeof(ret->message));
	ret->reason = inactive_reason(cq, &message);
	ret->active = clusterqueue_active(cq);
	ret->name = cq->name;
	ret->generation = cq->generation;
	ret->invalid = cq->invalid;
	ret->strategy = cq->strategy;
	ret->cohort = cq->cohort;
	ret->pending = count_waiting(cq);
	ret->reserving = cq->nreserving;
	ret->admitted = cq->nadmitted;
	ret->started_total = cq->started_total;
	usage_fill(q->scratch, cq);
	ret->usage = q->scratch->usage;
	ret->nusage = q->scratch->nusage;
	return true;
}

static const char *closed_reason(const struct localqueue *lq, struct text *message)
{
	if (lq->deleting) {
		text_add(message, "LocalQueue is terminating");
		return "Terminating";
	}
	if (lq->stop_policy != STOP_NONE) {
		text_add(message, "LocalQueue is stopped");
		return "Stopped";
	}
	if (!lq->cq->exists) {
		text_add(message, "Can't submit new workloads to clusterQueue: %s does not exist",
			lq->cq->name);
		return "ClusterQueueDoesNotExist";
	}
	if (!clusterqueue_active(lq->cq)) {
		text_add(message, "Can't submit new workloads to clusterQueue: %s is inactive",
			lq->cq->name);
		return "ClusterQueueIsInactive";
	}
	text_add(message, "Can submit new workloads to localQueue");
	return "Ready";
}

bool queue_view_localqueue(const struct queue *q, size_t index, struct localqueue_view *ret)
{
	struct tree_node *n = tree_at(&q->localqueues.shown, index);
	if (!n)
		return false;
	const struct localqueue *lq = container_of(n, struct localqueue, by_name);
	struct text message = text_over(ret->message, sizeof(ret->message));
	ret->reason = closed_reason(lq, &message);
	ret->active = strcmp(ret->reason, "Ready") == 0;
	ret->ns = lq->ns->name;
	ret->name = lq->name;
	ret->clusterqueue = lq->cq->name;
	ret->generation = lq->generation;
	ret->pending = lq->nwaiting;
	ret->reserving = lq->nreserving;
	ret->admitted = lq->nadmitted;
	return true;
}
