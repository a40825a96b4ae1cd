/*
 * Intake: a Job that runs already, and holds nothing, comes into a queue (docs/migrate.md).
 *
 * It is not decided whether it starts, for it has. So quota, order, nodes and preemption are not
 * asked: what it holds is counted as used, over quota if it must be, and nothing more starts there
 * until enough has ended. But it comes in only where it would not be stopped at once for it: its
 * LocalQueue and ClusterQueue are there and not stopped, and its window is open. And it never holds
 * more than its queue could give to a start: pods that wait for nodes cost their owner nothing,
 * whatever they ask for.
 *
 * Which flavor, in each resource group: that of the nodes on which most of its pods are. The labels and
 * taints of a node tell its flavor, and of several the one that says most of it. Whether the pods ask
 * for such nodes is not looked at, for they are there: their owner could write a node's name into them,
 * and ask for a cheaper kind of node.
 *
 * Where that names several flavors, or none (no pod has a node yet, or no flavor is like it): of
 * those, or of all that suit its pods as they are, the first that could give so much and has it free,
 * else the first that could give it. Its pods cannot be changed any more, so a flavor of idle
 * resources, which has them ask under other names, is none for it.
 *
 * While more pods are on nodes than the Job asks for, their nodes tell nothing: its owner may have
 * made some by hand, to choose a cheap flavor, and the Job controller deletes them. Of a work queue
 * of which a pod has succeeded it deletes none, so there they all count.
 */
#include "sluice/intake.h"
#include "queue/cluster/nodes.h"
#include "queue/core/model/state.h"
#include "queue/explain/explain.h"
#include "queue/core/model/reservation.h"
#include "queue/features/nodes/node_suitability.h"

/* A Job that runs. */
struct entrant {
	const struct nodes *nodes;
	const char *const *node; /* a name for each pod that has one */
	size_t nnodes;
	int32_t pods;
};

static bool is_for_runs(const struct flavor *f)
{
	return f->exists && f->lending == LENDING_NONE;
}

static uint64_t flavors_that_suit(
	const struct claim *c, const struct resource_group *g, size_t group)
{
	/* A flavor of which no node suits now counts, too: the Job's pods have nodes. */
	uint64_t suits = c->suits[group] | c->never[group], all = 0;
	for (size_t f = 0; f < g->nflavors; f++)
		if (is_for_runs(g->flavors[f]))
			all |= (suits >> f & 1) << f;
	return all;
}

/* Returns the flavors of the group, a bit each, that name the most labels and taints of the node. */
static uint64_t flavors_of_node(
	const struct nodes *nodes, const char *node, const struct resource_group *g)
{
	uint64_t all = 0;
	int best = -1;
	for (size_t f = 0; f < g->nflavors; f++) {
		int like = is_for_runs(g->flavors[f])
				   ? node_likeness(nodes, node, &g->flavors[f]->nodes)
				   : -1;
		if (like < 0 || like < best)
			continue;
		all = (like > best ? 0 : all) | (uint64_t)1 << f;
		best = like;
	}
	return all;
}

/* Returns the flavors on whose nodes most pods of the Job are, a bit each; 0: that is not known. */
static uint64_t flavors_of_pods(const struct entrant *e, const struct resource_group *g)
{
	size_t pods[CQ_FLAVORS_MAX] = {0}, most = 1;
	uint64_t all = 0;
	for (size_t i = 0; i < e->nnodes; i++) {
		uint64_t like = flavors_of_node(e->nodes, e->node[i], g);
		for (size_t f = 0; f < g->nflavors; f++)
			pods[f] += like >> f & 1;
	}
	for (size_t f = 0; f < g->nflavors; f++) {
		if (pods[f] < most)
			continue;
		all = (pods[f] > most ? 0 : all) | (uint64_t)1 << f;
		most = pods[f];
	}
	return all;
}

static bool is_free(
	const struct resource_group *g, size_t f, const struct need *need, size_t n, int32_t pods)
{
	for (size_t i = 0; i < n; i++)
		if (!quota_has(group_row(g, f, need[i].resource), QUOTA_THEN,
			    need_amount(&need[i], pods)))
			return false;
	return true;
}

/* Tells whether a flavor could give so much to a start, were nothing used. */
static bool could_give(
	const struct resource_group *g, size_t f, const struct need *need, size_t n, int32_t pods)
{
	for (size_t i = 0; i < n; i++) {
		int64_t amount = need_amount(&need[i], pods);
		const struct quota_row *row = group_row(g, f, need[i].resource);
		if (amount == INT64_MAX || !quota_fits(amount, quota_potential(row)))
			return false;
	}
	return true;
}

/* Finds the flavor of g, among those of a set; g->nflavors: none of these could ever give so
 * much. */
static size_t flavor_of(const struct resource_group *g, uint64_t set, const struct need *need,
	size_t n, int32_t pods)
{
	size_t first = g->nflavors;
	for (size_t f = 0; f < g->nflavors; f++) {
		if (!(set >> f & 1) || !could_give(g, f, need, n, pods))
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
		const struct quota_row *row = group_row(g, flavor, need[i].resource);
		ret->line[ret->nlines++] = (struct quota_line){
			row->node->name, row->flavor, row->resource, need_amount(&need[i], pods)};
	}
}

static void say_no_flavor(struct text *t, const struct clusterqueue *cq,
	const struct resource_group *g, uint64_t there, uint64_t set)
{
	if (set == 0) {
		text_add(t,
			"no flavor of ClusterQueue %s suits its pods as they run (node selector, node affinity, tolerations), or only one of idle resources does",
			cq->name);
		return;
	}
	text_add(t, "its pods ask for more than ClusterQueue %s could ever give", cq->name);
	if (there)
		text_add(t, " in flavor %s, on whose nodes they are",
			g->flavors[__builtin_ctzll(there)]->name);
}

/* Refuses a Job with more pods than it asks for, unless they stay. */
static bool refuse_surplus(const struct workload *w, size_t nnodes, struct text *t)
{
	if (w->ends_when_stopped || nnodes <= (size_t)w->shape->pods)
		return false;
	text_add(t,
		"more pods of it are on nodes than it asks for, so their nodes do not tell its flavor; the Job controller deletes those that are too many");
	return true;
}

/* Chooses what a Job would hold. False: no flavor of a group that it needs is for it. */
static bool choose_lines(const struct clusterqueue *cq, const struct claim *c,
	const struct entrant *e, struct text *t, struct intake *ret)
{
	for (size_t group = 0; group < cq->spec.ngroups; group++) {
		const struct resource_group *g = &cq->spec.groups[group];
		size_t n;
		const struct need *need = claim_needs(c, group, &n);
		if (n == 0)
			continue;
		uint64_t there = flavors_of_pods(e, g);
		uint64_t set = there ? there : flavors_that_suit(c, g, group);
		size_t flavor = flavor_of(g, set, need, n, e->pods);
		if (flavor == g->nflavors) {
			say_no_flavor(t, cq, g, there, set);
			return false;
		}
		add_lines(g, flavor, need, n, e->pods, ret);
	}
	return true;
}

bool queue_intake(
	struct queue *q, const struct uid *uid, int32_t pods, int64_t now_ms, struct intake *ret)
{
	return queue_intake_on(q, uid, pods, NULL, 0, now_ms, ret);
}

bool queue_intake_on(struct queue *q, const struct uid *uid, int32_t pods, const char *const *node,
	size_t nnodes, int64_t now_ms, struct intake *ret)
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
		claim_init(&claim, q, cq, w->shape);
	struct entrant entrant = {q->node_suitability->nodes, node, nnodes,
		pods < w->shape->pods ? w->shape->pods : pods};
	bool in = !explain_intake(q, w, &claim, now_ms, &t) && cq &&
		  !refuse_surplus(w, nnodes, &t) && choose_lines(cq, &claim, &entrant, &t, ret);
	claim_done(&claim);
	return in;
}

bool queue_job_excess(
	const struct queue *q, const struct uid *uid, char ret_words[QUEUE_INTAKE_SIZE])
{
	const struct reservation *r = queue_find_reservation(q, uid);
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
		text_add(&t, "%s in flavor %s", amount_words(quota_shown(-free), row->resource).s,
			row->flavor);
		any = true;
	}
	if (any)
		text_add(&t, " more than there is");
	return any;
}
