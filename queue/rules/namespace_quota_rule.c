/* The rule of ResourceQuotas: the API server would refuse pods beyond them. */
#include <string.h>

#include "queue/admit/nominee.h"
#include "queue/core.h"
#include "queue/model/reservation.h"
#include "queue/rules/rule.h"

static bool namespace_quota_concerns(struct queue *q, struct clusterqueue *cq)
{
	if (!q->namespace_quotas.known)
		return false;
	list_each(&cq->localqueues, l)
		if (container_of(l, struct localqueue, of_clusterqueue)->ns->quota)
			return true;
	return false;
}

static struct ruling namespace_quota_group_may(const struct queue *q, const struct group *g)
{
	struct ruling ruling = RULING_YES;
	ruling.pods = namespace_quota_pods(q, g->cq, &g->claim, group_head(g));
	return ruling;
}

static bool namespace_quota_choice_may(struct queue *q, const struct attempt *a)
{
	return namespace_quota_lets(q, a->nominee);
}

static uint64_t namespace_quota_parts(const struct workload *w, struct parting *ret)
{
	ret->in_all = namespace_quota_in_all(w);
	return (uint64_t)(uint32_t)ret->in_all * 0x8EBC6AF09C88C6E3u;
}

/* The API server's words about its pods, and the cure where waiting does not help. */
static enum wait_reason namespace_quota_explain(struct question *a)
{
	char words[sizeof(((struct explanation *)0)->sentence)];
	struct refusal_kind kind;
	if (!namespace_quota_refuses(a->q, a->cq, a->claim, a->w, words, sizeof(words), &kind))
		return WAIT_NOT;
	text_add(a->text, "the API server would refuse its pods: %s", words);
	if (kind.by_empty_field)
		text_add(a->text,
			"; that quota may count it for its empty spec.template.spec.resources alone (API servers before 1.37 take such pods for BestEffort): take the field out of the Job");
	else if (!kind.never)
		return WAIT_NAMESPACE_QUOTA;
	else if (strncmp(words, "exceeded quota", 14) == 0)
		text_add(a->text,
			"; that is more than the whole quota: ask for less, or ask an admin to raise it");
	else
		text_add(
			a->text, "; waiting does not help: correct the pod template, or the quota");
	return WAIT_NAMESPACE_QUOTA;
}

static int32_t namespace_quota_growth_pods(
	struct queue *q, const struct reservation *r, int32_t more)
{
	return namespace_quota_growth(q, r, more);
}

const struct rule namespace_quota_rule = {
	.name = "namespace quota",
	.concerns = namespace_quota_concerns,
	.group_may = namespace_quota_group_may,
	.choice_may = namespace_quota_choice_may,
	.parts = namespace_quota_parts,
	.promise_may = namespace_quota_keeps,
	.growth_pods = namespace_quota_growth_pods,
	.growth_refused = "the ResourceQuotas of its namespace allow no more pods",
	.explain = namespace_quota_explain,
};
