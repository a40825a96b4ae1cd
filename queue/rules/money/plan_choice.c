/* Which PricePlan holds for a ClusterQueue: plan.h has the order. */
#include <string.h>

#include "queue/core.h"
#include "queue/rules/windows/runpolicy.h"

static enum plan_claim claim_by(const char *glob, const char *clusterqueue)
{
	if (strcmp(glob, clusterqueue) == 0)
		return PLAN_NAMES_IT;
	return runpolicy_glob(glob, clusterqueue) ? PLAN_NAMES_BY_GLOB : PLAN_NAMES_NOT;
}

enum plan_claim plan_claim_of(const struct plan *p, const char *clusterqueue)
{
	if (!p->spec.name || p->spec.deleting)
		return PLAN_NAMES_NOT;
	enum plan_claim closest = p->spec.nqueues == 0 ? PLAN_NAMES_ALL : PLAN_NAMES_NOT;
	for (size_t i = 0; i < p->spec.nqueues && closest < PLAN_NAMES_IT; i++) {
		enum plan_claim claim = claim_by(p->spec.queues[i], clusterqueue);
		closest = claim > closest ? claim : closest;
	}
	return closest;
}

/* Budgets of LocalQueues are not asked: whoever may point a LocalQueue to another ClusterQueue would decide
 * by which plan others are charged. */
const struct budget *plan_stranger_to(const struct plan *p, const struct clusterqueue *cq)
{
	list_each(&cq->budgets, l) {
		const struct budget *b = container_of(l, struct budget, of_owner);
		if (*b->spec.currency && strcmp(b->spec.currency, p->spec.currency) != 0)
			return b;
	}
	return NULL;
}

bool plan_precedes(const struct plan *a, const struct plan *b, const struct clusterqueue *cq)
{
	enum plan_claim of_a = plan_claim_of(a, cq->name), of_b = plan_claim_of(b, cq->name);
	return of_a != of_b ? of_a > of_b : strcmp(a->name, b->name) < 0;
}

static bool is_better(const struct plan *a, const struct plan *b, const struct clusterqueue *cq)
{
	bool strange_a = plan_stranger_to(a, cq), strange_b = plan_stranger_to(b, cq);
	return strange_a != strange_b ? strange_b : plan_precedes(a, b, cq);
}

/* Looked up on demand, because records of ClusterQueues come and go in many ways. */
struct plan *plan_of(struct queue *q, struct clusterqueue *cq)
{
	if (!cq || cq->plan_version == q->plans.version)
		return cq ? cq->plan : NULL;
	struct plan *p;
	cq->plan = NULL;
	for (size_t i = 0; (p = plans_at(q, i)); i++) {
		bool named = plan_claim_of(p, cq->name) != PLAN_NAMES_NOT;
		if (named && (!cq->plan || is_better(p, cq->plan, cq)))
			cq->plan = p;
	}
	cq->plan_version = q->plans.version;
	return cq->plan;
}

bool plan_holds(struct queue *q, struct clusterqueue *cq)
{
	const struct plan *p = plan_of(q, cq);
	return p && p->spec.hold_when_stale && plan_stale(p, q->now_ms, NULL);
}
