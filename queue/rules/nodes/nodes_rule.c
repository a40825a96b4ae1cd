/*
 * The rule of nodes: some node must be able to take the pods at all (node_suitability.h), and with
 * clusterFit Now have room for them now (node_fit.h).
 *
 * Nodes without room are a shortage like one of quota: explain.c says so in that place.
 */
#include "queue/admit/nominee_order.h"
#include "queue/cluster/pod.h"
#include "queue/core.h"
#include "queue/model/reservation.h"
#include "queue/rules/nodes/node_fit.h"
#include "queue/rules/rule.h"

/* Also where clusterFit is Ignore: gap fillers start only where nodes have space. */
static bool nodes_concern(struct queue *q, struct clusterqueue *cq)
{
	(void)cq;
	return q->node_suitability.asks;
}

static struct ruling nodes_group_may(const struct queue *q, const struct group *g)
{
	(void)q;
	return g->claim.nowhere ? RULING_NO : RULING_YES;
}

/* Labels that a LocalQueue adds may decide where pods go that look at each other (node_fit.h), so
 * its Jobs do not speak for those of others. */
static uint64_t nodes_parts(const struct workload *w, struct parting *ret)
{
	const struct pod_template *t = w->shape->template;
	if (w->lq->metadata.nlabels == 0 || !t || !pod_is_sociable(t->pod))
		return 0;
	ret->alone = w->lq;
	return map_hash_string(w->lq->name) * 0xA24BAED4963EE407u;
}

static bool nodes_choice_may(struct queue *q, const struct attempt *a)
{
	return node_suitability_lets(q, a->nominee, a->victim, a->nvictims);
}

static bool nodes_look_at_victims(const struct queue *q, const struct nominee *e)
{
	return node_fit_asks(q, e->cq, e->w);
}

static int32_t nodes_choice_pods(struct queue *q, const struct attempt *a)
{
	return node_fit_pods(q, a->nominee, a->victim, a->nvictims);
}

/* Nodes still have no space for it. */
static bool nodes_in_vain(struct queue *q, const struct nominee *e)
{
	return !node_fit_lets(q, e, NULL, 0);
}

/* If its pods do not fit once all its victims are gone, they were preempted in vain. */
static enum room nodes_promise_room(struct queue *q, const struct reservation *r)
{
	enum node_fit node_fit = node_fit_for_promise(q, r);
	if (node_fit == NODE_FIT_NONE && r->ngivers > 0 && q->node_suitability.pods_known)
		workload_displaces_in_vain(r->w, r->cq->cohort_tree);
	switch (node_fit) {
	case NODE_FIT_NONE:
		return ROOM_NONE;
	case NODE_FIT_SOON:
		return ROOM_SOON;
	case NODE_FIT_NOW:
		return ROOM_NOW;
	}
	return ROOM_NONE;
}

static int32_t nodes_growth_pods(struct queue *q, const struct reservation *r, int32_t more)
{
	return node_fit_growth(q, r, more);
}

const struct rule nodes_rule = {
	.name = "nodes",
	.concerns = nodes_concern,
	.group_may = nodes_group_may,
	.choice_may = nodes_choice_may,
	.parts = nodes_parts,
	.looks_at_victims = nodes_look_at_victims,
	.choice_pods = nodes_choice_pods,
	.is_in_vain = nodes_in_vain,
	.promise_room = nodes_promise_room,
	.promise_may_choose = node_fit_elsewhere,
	.growth_pods = nodes_growth_pods,
	.growth_refused = "no node has room for another pod",
};
