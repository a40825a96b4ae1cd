#include "controller/overcommit/lent_pod.h"

#include <string.h>

enum { SPARED_MS = 60000 }; /* how long a refused eviction is not asked for again */

static bool within(int64_t since_ms, int64_t now_ms, int64_t span_ms)
{
	return since_ms != 0 && since_ms <= now_ms && now_ms - since_ms < span_ms;
}

bool lent_pod_is_ours(const struct queue *q, const struct inventory_pod *p)
{
	const struct inventory_lent *l = p->lent;
	if (!l || !l->queued || !l->has_owner_job)
		return false;
	const char *ns = queue_job_namespace(q, &l->owner_job);
	size_t len = ns ? strlen(ns) : 0;
	return len > 0 && strncmp(p->name, ns, len) == 0 && p->name[len] == '/';
}

bool lent_pod_is_leaving(const struct inventory_pod *p, int64_t now_ms)
{
	return p->deleting || within(p->lent->told_ms, now_ms, LENT_POD_LEAVING_MS);
}

struct reclaim_pod lent_pod_row(const struct queue *q, const struct inventory_node *n,
	const struct inventory_pod *p, int64_t now_ms)
{
	const struct inventory_lent *l = p->lent;
	struct reclaim_pod row = {.name = p->name,
		.has_used = node_state_counts_sample(n, p),
		.used = p->used,
		.priority = p->priority,
		.leaving = p->deleting};
	if (!l)
		return row;
	row.asked = load_add(l->batch, l->gocran);
	row.eviction_priority = l->eviction_priority;
	row.started_ms = l->started_ms;
	row.leaving = lent_pod_is_leaving(p, now_ms);
	row.movable = lent_pod_is_ours(q, p) && !within(l->spared_ms, now_ms, SPARED_MS);
	row.borrows = row.movable && queue_job_borrows(q, &l->owner_job);
	row.ends_when_stopped = row.movable && queue_job_ends_when_stopped(q, &l->owner_job);
	return row;
}

struct lent_sum lent_sum_of(const struct inventory_node *n)
{
	struct lent_sum sum = {0};
	for (const struct inventory_pod *p = n->pods; p; p = p->next) {
		const struct inventory_lent *l = p->lent;
		if (!l)
			continue;
		struct load asked = load_add(l->batch, l->gocran);
		sum.pods++;
		sum.held += l->quota_milli >= 0 && l->quota_milli < asked.cpu_milli;
		sum.over += l->over;
		sum.asked = load_add(sum.asked, asked);
		if (node_state_counts_sample(n, p))
			sum.used = load_add(sum.used, p->used);
	}
	return sum;
}
