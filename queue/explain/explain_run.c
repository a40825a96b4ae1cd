#include "queue/explain/explain.h"

#include <stdlib.h>

#include "base/instant.h"
#include "base/mem.h"
#include "queue/core/admit/growth.h"
#include "queue/features/windows/explain_windows.h"
#include "queue/core/model/shrink.h"
#include "queue/core/model/directives.h"
#include "queue/features/nodes/node_suitability.h"

static void explain_giving(const struct queue *q, const struct reservation *r, struct text *t)
{
	const struct giving *g = &r->sizing->giving;
	const struct workload *by = queue_find_workload(q, &g->by);
	text_add(t, "; goes on with %d of %d pods: ", g->keeps, r->pods);
	if (g->quota)
		explain_smaller_quota(q, g->quota, t);
	else if (g->preemption == PREEMPTION_NONE)
		text_add(t,
			"the other pods give way to the owner of the borrowed quota, whose window opens soon");
	else
		text_add(t, "the other pods give way to %s",
			by ? other_words(r->w, by).s : "another Job");
}

static void explain_wish(const struct reservation *r, const struct growth_view *v, struct text *t)
{
	text_add(t, "; runs with %d of %d pods; grows when there is room", r->pods, r->w->wants);
	if (v->refused)
		text_add(t, ": %s", v->refused);
	if (v->rests_until_ms > 0)
		text_add(t, v->refused ? "; the next try is at %s" : ", at %s at the earliest",
			instant_seconds(v->rests_until_ms).s);
	if (v->row)
		text_add(t, ": another pod needs %s in flavor %s",
			amount_words(v->lacks, v->row->resource).s, v->row->flavor);
}

/* Why the run has fewer pods than its owner asked for, or will have. */
static void explain_size(const struct queue *q, const struct reservation *r, struct text *t)
{
	struct growth_view v;
	if (r->stop_given || !r->confirmed || r->state != RESERVATION_HELD)
		return;
	if (reservation_gives(r))
		explain_giving(q, r, t);
	else if (reservation_grows(r))
		text_add(t, "; grows to %d pods", r->pods);
	else if (growth_view(r, &v))
		explain_wish(r, &v, t);
	else if (r->w->wants > r->pods && !growth_asked_for(r))
		text_add(t,
			"; runs with %d of %d pods, and does not grow: annotation sluice.dev/grow: \"true\" lets it take more when there is room",
			r->pods, r->w->wants);
}

/* Adds that the run's ClusterQueue is gone, or goes. The Job runs on, but its owner has to know
 * where it would wait if it were stopped. */
static void explain_end_of_queue(const struct clusterqueue *cq, struct text *t)
{
	if (!cq || (cq->exists && !cq->deleting) || cq->invalid)
		return;
	if (cq->exists)
		text_add(t,
			"; ClusterQueue %s is being deleted and is gone when its Jobs have ended",
			cq->name);
	else
		text_add(t,
			"; ClusterQueue %s does not exist any more: the Job runs to its end; after a stop it starts again only when that ClusterQueue is created",
			cq->name);
}

/* Adds of which flavors of the run no node is up, so that its pods have none yet. */
static void explain_pools(const struct queue *q, const struct reservation *r, struct text *t)
{
	if (!q->node_suitability->asks || r->stop_given || !r->shape->template)
		return;
	const struct flavor **flavors = mem_array(r->nlines, sizeof(const struct flavor *));
	size_t n = directives_flavors(q, r, flavors);
	for (size_t i = 0; i < n; i++)
		explain_pool(flavors[i], t);
	free(flavors);
}

void explain_run(const struct queue *q, const struct reservation *r, struct text *t)
{
	const struct reclaim *c = r->sizing ? &r->sizing->reclaim : NULL;
	if (c && c->why && (c->keeps == 0 || c->keeps < r->pods)) {
		text_add(t, "it runs on idle resources that its nodes need back (%s); ", c->why);
		if (c->keeps > 0 && !r->stop_given)
			text_add(t, "goes on with %d of %d pods; ", c->keeps, r->pods);
	}
	if (r->stop_given)
		text_add(t, "is being stopped: holds ");
	else if (!r->confirmed)
		text_add(t, "is being started: holds ");
	else
		text_add(t, "runs since %s: holds ", instant_seconds(r->since_ms).s);
	if (r->nlines == 0)
		text_add(t, "no quota");
	for (size_t i = 0; i < r->nlines; i++) {
		const struct quota_row *row = r->line[i].row;
		text_add(
			t, "%s%s", i ? ", " : "", amount_words(r->line[i].amount, row->resource).s);
		if (i + 1 == r->nlines || r->line[i + 1].row->flavor != row->flavor)
			text_add(t, " in flavor %s", row->flavor);
	}
	explain_size(q, r, t);
	explain_pools(q, r, t);
	explain_end_of_queue(r->cq, t);
}
