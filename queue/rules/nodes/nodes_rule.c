/*
 * The rule of nodes: some node must be able to take the pods at all (terrain.h), and with
 * clusterFit Now have room for them now (vacancy.h).
 *
 * Nodes without room are a shortage like one of quota: explain.c says so in that place.
 */
#include "queue/admit/nominee_order.h"
#include "queue/core.h"
#include "queue/model/reservation.h"
#include "queue/rules/nodes/vacancy.h"
#include "queue/rules/rule.h"

/* Also where clusterFit is Ignore: what only fills gaps starts where nodes have room. */
static bool nodes_concern(struct queue *q, struct clusterqueue *cq)
{
	(void)cq;
	return q->terrain.asks;
}

static struct ruling nodes_group_may(const struct queue *q, const struct group *g)
{
	(void)q;
	return g->claim.nowhere ? RULING_NO : RULING_YES;
}

static bool nodes_choice_may(struct queue *q, const struct attempt *a)
{
	return terrain_lets(q, a->nominee, a->victim, a->nvictims);
}

static bool nodes_look_at_victims(const struct queue *q, const struct nominee *e)
{
	return vacancy_asks(q, e->cq, e->w);
}

static int32_t nodes_choice_pods(struct queue *q, const struct attempt *a)
{
	return vacancy_pods(q, a->nominee, a->victim, a->nvictims);
}

/* They have no more room than when it was so. */
static bool nodes_in_vain(struct queue *q, const struct nominee *e)
{
	return !vacancy_lets(q, e, NULL, 0);
}

/* One that no Job is leaving for any more was promised too much: others went for it in vain. */
static enum room nodes_promise_room(struct queue *q, const struct reservation *r)
{
	enum vacancy vacancy = vacancy_for_promise(q, r);
	if (vacancy == VACANCY_NONE && r->ngivers > 0 && q->terrain.pods_known)
		workload_displaces_in_vain(r->w, r->cq->cohort_tree);
	switch (vacancy) {
	case VACANCY_NONE:
		return ROOM_NONE;
	case VACANCY_SOON:
		return ROOM_SOON;
	case VACANCY_NOW:
		return ROOM_NOW;
	}
	return ROOM_NONE;
}

const struct rule nodes_rule = {
	.name = "nodes",
	.concerns = nodes_concern,
	.group_may = nodes_group_may,
	.choice_may = nodes_choice_may,
	.looks_at_victims = nodes_look_at_victims,
	.choice_pods = nodes_choice_pods,
	.is_in_vain = nodes_in_vain,
	.promise_room = nodes_promise_room,
	.promise_may_choose = vacancy_elsewhere,
};
