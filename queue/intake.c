/*
 * Intake: a Job that runs already, and holds nothing, comes into a queue (docs/adopt.md).
 *
 * It is not decided whether it starts, for it has. So quota, order, nodes and preemption are not
 * asked: what it holds is counted as used, over quota if it must be, and nothing more starts there
 * until enough has ended. But it comes in only where it would not be stopped at once for it: its
 * LocalQueue and ClusterQueue are there and not stopped, and its window is open. And it never holds
 * more than its queue could give to a start: pods that wait for nodes cost their owner nothing,
 * whatever they ask for.
 *
 * Which flavor, in each resource group: of those that suit its pods as they are and could give so
 * much, the first with so much free; else the first. Its pods cannot be changed any more, so a flavor of idle resources,
 * which has them ask under other names, is none for it.
 */
#include "queue/core.h"
#include "queue/explain/explain_intake.h"
#include "queue/model/reservation.h"
#include "sluice/quantity.h"

static bool may_have(const struct claim *c, const struct resource_group *g, size_t group, size_t f)
{
	/* That no node suits now says nothing: its pods have nodes. */
	bool suits = claim_suits(c, group, f) || (c->never[group] >> f & 1);
	return suits && g->flavors[f]->exists && g->flavors[f]->lending == LENDING_NONE;
}

static bool is_free(
	const struct resource_group *g, size_t f, const struct need *need, size_t n, int32_t pods)
{
	for (size_t i = 0; i < n; i++)
		if (!quota_has(g->row[f * g->nresources + need[i].resource], QUOTA_THEN,
			    need_amount(&need[i], pods)))
			return false;
	return true;
}

/* Could it give so much to a start, were nothing used? */
static bool could_give(
	const struct resource_group *g, size_t f, const struct need *need, size_t n, int32_t pods)
{
	for (size_t i = 0; i < n; i++) {
		int64_t amount = need_amount(&need[i], pods);
		const struct quota_row *row = g->row[f * g->nresources + need[i].resource];
		if (amount == INT64_MAX || !quota_fits(amount, quota_potential(row)))
			return false;
	}
	return true;
}

/* Index of the flavor in g; g->nflavors when there is none, and then *ret_suits says whether only for its
 * quota. */
static size_t flavor_for(const struct claim *c, const struct resource_group *g, size_t group,
	int32_t pods, bool *ret_suits)
{
	size_t n, first = g->nflavors;
	const struct need *need = claim_needs(c, group, &n);
	*ret_suits = false;
	for (size_t f = 0; f < g->nflavors; f++) {
		if (!may_have(c, g, group, f))
			continue;
		*ret_suits = true;
		if (!could_give(g, f, need, n, pods))
			continue;
		if (is_free(g, f, need, n, pods))
			return f;
		if (first == g->nflavors)
			first = f;
	}
	return first;
}

static void add_lines(const struct resource_group *g, size_t flavor, const struct need *need,
	size_t n, int32_t pods, struct intake *ret)
{
	for (size_t i = 0; i < n && ret->nlines < QUEUE_LINES_MAX; i++) {
		const struct quota_row *row = g->row[flavor * g->nresources + need[i].resource];
		ret->line[ret->nlines++] = (struct quota_line){
			row->node->name, row->flavor, row->resource, need_amount(&need[i], pods)};
	}
}

/* False: no flavor of a group of which it needs something is for it. */
static bool choose_lines(const struct clusterqueue *cq, const struct claim *c, int32_t pods,
	struct text *t, struct intake *ret)
{
	for (size_t group = 0; group < cq->spec.ngroups; group++) {
		const struct resource_group *g = &cq->spec.groups[group];
		size_t n;
		const struct need *need = claim_needs(c, group, &n);
		bool suits;
		size_t flavor = n > 0 ? flavor_for(c, g, group, pods, &suits) : 0;
		if (n > 0 && flavor == g->nflavors) {
			text_add(t,
				suits ? "its pods ask for more than ClusterQueue %s could ever give"
				      : "no flavor of ClusterQueue %s suits its pods as they run (node selector, node affinity, tolerations), or only one of idle resources does",
				cq->name);
			return false;
		}
		if (n > 0)
			add_lines(g, flavor, need, n, pods, ret);
	}
	return true;
}

bool queue_intake(
	struct queue *q, const struct uid *uid, int32_t pods, int64_t now_ms, struct intake *ret)
{
	const struct workload *w = queue_find_workload(q, uid);
	struct text t = text_over(ret->why_not, sizeof(ret->why_not));
	struct claim claim = {0};
	ret->nlines = 0;
	if (!w) {
		text_add(&t, "it is not known yet");
		return false;
	}
	const struct clusterqueue *cq = w->lq->cq && w->lq->cq->exists ? w->lq->cq : NULL;
	if (cq)
		claim_init(&claim, &q->node_suitability, cq, w->shape);
	if (pods < w->shape->pods)
		pods = w->shape->pods;
	bool in = !explain_intake(q, w, &claim, now_ms, &t) && cq &&
		  choose_lines(cq, &claim, pods, &t, ret);
	claim_done(&claim);
	return in;
}

bool queue_job_excess(
	const struct queue *q, const struct uid *uid, char ret_words[QUEUE_INTAKE_SIZE])
{
	const struct workload *w = queue_find_workload(q, uid);
	const struct reservation *r = w ? w->reservation : NULL;
	struct text t = text_over(ret_words, QUEUE_INTAKE_SIZE);
	bool any = false;
	for (size_t i = 0; r && r->cq && i < r->nlines; i++) {
		const struct quota_row *row = r->line[i].row;
		__int128 free = quota_free(row, QUOTA_THEN);
		if (r->line[i].amount == 0 || free >= 0)
			continue;
		if (any)
			text_add(&t, ", ");
		else
			text_add(&t, "ClusterQueue %s uses ", r->cq->name);
		text_add_amount(&t, quota_shown(-free), row->resource);
		text_add(&t, " in flavor %s", row->flavor);
		any = true;
	}
	if (any)
		text_add(&t, " more than there is");
	return any;
}
