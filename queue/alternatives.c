#include "sluice/alternatives.h"

#include <string.h>

#include "queue/core/model/state.h"
#include "queue/core/model/flavor.h"
#include "queue/features/money/terms.h"
#include "queue/features/windows/window_state.h"

/* ---- flavors --------------------------------------------------------------------------------- */

static bool asks(const struct shape *s, const char *resource)
{
	for (size_t i = 0; i < s->nrequests; i++)
		if (strcmp(s->request[i].name, resource) == 0)
			return true;
	return strcmp(resource, "pods") == 0;
}

static bool asks_any(const struct shape *s, const struct resource_group *g)
{
	for (size_t r = 0; r < g->nresources; r++)
		if (asks(s, g->resources[r]))
			return true;
	return false;
}

static void add_flavors(const struct resource_group *g, struct alternatives *ret)
{
	for (size_t f = 0; f < g->nflavors && ret->nflavors < ALTERNATIVES_MAX; f++)
		if (g->flavors[f]->exists)
			ret->flavor[ret->nflavors++] = (struct alternative_flavor){
				g->flavors[f]->name, &g->flavors[f]->nodes};
}

/* ---- LocalQueues ----------------------------------------------------------------------------- */

static bool is_better_queue(
	const struct localqueue *a, const struct localqueue *b, const struct clusterqueue *own)
{
	if ((a->cq == own) != (b->cq == own))
		return b->cq == own;
	return strcmp(a->name, b->name) < 0;
}

/* Adds the best LocalQueues, of which a namespace may have any number. */
static void add_localqueues(const struct workload *w, struct alternatives *ret)
{
	const struct localqueue *kept[ALTERNATIVES_MAX];
	size_t n = 0;
	list_each_entry(&w->lq->ns->localqueues, const struct localqueue, lq, of_namespace) {
		if (lq == w->lq || !lq->exists || lq->gate != GATE_OPEN ||
			!clusterqueue_active(lq->cq))
			continue;
		size_t at = n;
		while (at > 0 && is_better_queue(lq, kept[at - 1], w->lq->cq))
			at--;
		if (at == ALTERNATIVES_MAX)
			continue;
		n += n < ALTERNATIVES_MAX;
		memmove(&kept[at + 1], &kept[at], (n - 1 - at) * sizeof(kept[0]));
		kept[at] = lq;
	}
	for (size_t i = 0; i < n; i++)
		ret->localqueue[i] = kept[i]->name;
	ret->nlocalqueues = n;
}

/* ---- classes --------------------------------------------------------------------------------- */

static int32_t counted(const struct clusterqueue *cq, int32_t value)
{
	return cq->spec.has_max_priority && value > cq->spec.max_priority ? cq->spec.max_priority
									  : value;
}

static void add_classes(const struct queue *q, const struct workload *w, struct alternatives *ret)
{
	const struct priority_class *c, *lowest = NULL, *highest = NULL;
	map_each(&q->priorities.classes, i, c) {
		if (c->kind != PRIORITY_WORKLOAD || !priority_usable(c) ||
			c->value <= w->class->value)
			continue;
		if (counted(w->lq->cq, c->value) <= w->key.priority) {
			ret->capped = true;
			continue;
		}
		if (!lowest || priority_is_lower(c, lowest))
			lowest = c;
		if (!highest || priority_is_lower(highest, c))
			highest = c;
	}
	ret->priority = w->key.priority;
	ret->next_class = lowest ? lowest->name : NULL;
	ret->next_priority = lowest ? counted(w->lq->cq, lowest->value) : 0;
	ret->highest_class = highest != lowest ? highest->name : NULL;
	ret->highest_priority = highest ? counted(w->lq->cq, highest->value) : 0;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static bool length_matters(const struct workload *w)
{
	const struct clusterqueue *cq = w->lq->cq;
	return cq->spec.strategy == BACKFILL || window_state_of(w->lq)->times_fit ||
	       !list_empty(&cq->budgets) || !list_empty(&w->lq->budgets) || w->terms;
}

bool queue_alternatives(const struct queue *q, const struct uid *uid, struct alternatives *ret)
{
	const struct workload *w = queue_find_workload(q, uid);
	*ret = (struct alternatives){0};
	if (!w || w->reservation || !w->lq->cq)
		return false;
	for (size_t g = 0; g < w->lq->cq->spec.ngroups; g++)
		if (asks_any(w->shape, &w->lq->cq->spec.groups[g]))
			add_flavors(&w->lq->cq->spec.groups[g], ret);
	add_localqueues(w, ret);
	add_classes(q, w, ret);
	ret->length_matters = length_matters(w);
	return true;
}
