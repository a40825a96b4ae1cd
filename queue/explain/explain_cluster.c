#include "queue/explain/explain.h"

#include "base/must.h"
#include "queue/core/model/plain_fit.h"
#include "queue/features/nodes/node_fit.h"
#include "queue/features/nodes/nodes_to_come.h"
#include "queue/features/nodes/node_suitability.h"

/* The most ways to choose flavors that are told; of the rest is only said that there are more. */
#define WAYS_TOLD 2
/* Bytes for what the scheduler would say, of all of them together. */
#define ANSWERS_SIZE 200

struct way {
	const struct flavor *flavor[CQ_GROUPS_MAX];
	size_t n;
};

static void add_flavors(struct text *t, const struct way *way)
{
	text_add(t, way->n > 1 ? "in flavors " : "in flavor ");
	for (size_t i = 0; i < way->n; i++)
		text_add(t, "%s%s",
			i == 0		 ? ""
			: i + 1 < way->n ? ", "
					 : " and ",
			way->flavor[i]->name);
}

/* Adds only as much of what the scheduler would say as has room beside the cure. Returns whether
 * taints are among it. */
static bool add_answer(const struct queue *q, const struct shape *shape, const struct way *way,
	size_t size, struct text *t)
{
	char words[ANSWERS_SIZE];
	struct fit_answer answer;
	struct text cut = text_over(words, size);
	node_suitability_answer(q->node_suitability, shape->template, way->flavor, way->n, &answer);
	text_add(&cut, "%s", answer.sentence);
	text_add(t, "%s", words);
	return answer.has_taints;
}

/* Returns the most of a resource that one node of these flavors has. */
static int64_t largest_of(
	const struct queue *q, const struct way *way, size_t n, const char *resource)
{
	int64_t most = 0, all, largest;
	for (size_t i = 0; i < n; i++)
		for (size_t f = 0; f < way[i].n; f++) {
			const struct node_group *g = &way[i].flavor[f]->nodes;
			nodes_sum(q->node_suitability->nodes, g->labels, g->nlabels, resource, &all,
				&largest);
			most = largest > most ? largest : most;
		}
	return most;
}

static bool any_lends(const struct way *way, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t f = 0; f < way[i].n; f++)
			if (way[i].flavor[f]->lending != LENDING_NONE)
				return true;
	return false;
}

/* Adds of which resource a pod asks for more than any node has. Of what no node has the scheduler's
 * words say enough. */
static void add_too_large(const struct queue *q, const struct shape *shape, const struct way *way,
	size_t n, struct text *t)
{
	for (size_t i = 0; i < shape->nrequests && !any_lends(way, n); i++) {
		const struct resource *r = &shape->request[i];
		int64_t largest = largest_of(q, way, n, r->name);
		if (largest == 0 || r->amount <= largest)
			continue;
		text_add(t, "each asks for %s, and the largest node has %s; ",
			amount_words(r->amount, r->name).s, amount_words(largest, r->name).s);
		return;
	}
}

/* With clusterFit Now: nothing is asked of an autoscaler, where one could help. */
static bool add_to_come(const struct queue *q, const struct clusterqueue *cq,
	const struct shape *shape, const struct way *way, struct text *t)
{
	const struct flavor *f = NULL;
	if (cq->spec.cluster_fit != CLUSTER_FIT_NOW ||
		!nodes_to_come_for(shape->template, way->flavor, way->n))
		return false;
	for (size_t i = 0; i < way->n && !f; i++)
		f = nodes_to_come_of(way->flavor[i]) ? way->flavor[i] : NULL;
	must(f);
	if (f->at_zero) {
		text_add(t, "no node of flavor %s is up", f->name);
	} else {
		text_add(t, "no node of flavor %s that is up could run its pods: ", f->name);
		add_answer(q, shape, way, ANSWERS_SIZE, t);
	}
	text_add(t,
		"; one can be made%s%s for pods that wait, but with clusterFit: Now ClusterQueue %s starts a Job only where there is room: set clusterFit: Possible there, or add a node",
		f->maker ? " by " : "", f->maker ? f->maker : "", cq->name);
	return true;
}

void explain_pool(const struct flavor *f, struct text *t)
{
	if (f->at_zero)
		text_add(t, "; no node of flavor %s is up%s%s%s", f->name,
			nodes_to_come_of(f) ? "; one can be made" : "", f->maker ? " by " : "",
			f->maker ? f->maker : "");
}

void explain_nowhere(const struct queue *q, const struct clusterqueue *cq,
	const struct shape *shape, const struct claim *claim, struct text *t)
{
	struct way way[WAYS_TOLD + 1];
	size_t n = 0;
	bool has_taints = false;
	while (n <= WAYS_TOLD && node_suitability_way(cq, claim, n, way[n].flavor, &way[n].n))
		n++;
	size_t told = n < WAYS_TOLD ? n : WAYS_TOLD;
	for (size_t i = 0; i < told; i++)
		if (add_to_come(q, cq, shape, &way[i], t))
			return;
	text_add(t, "no node of this cluster can ever run its pods: ");
	if (n == told)
		add_too_large(q, shape, way, n, t);
	for (size_t i = 0; i < told; i++) {
		text_add(t, i ? "; " : "");
		if (n > 1) {
			add_flavors(t, &way[i]);
			text_add(t, ": ");
		}
		has_taints |= add_answer(
			q, shape, &way[i], n > 1 ? ANSWERS_SIZE / WAYS_TOLD : ANSWERS_SIZE, t);
	}
	text_add(t, n > told ? "; nor in any other flavor" : "");
	bool one = n == 1 && way[0].n == 1;
	const char *flavor = one ? "ResourceFlavor " : "the ResourceFlavor";
	const char *name = one ? way[0].flavor[0]->name : "";
	text_add(t, "; ");
	if (has_taints)
		text_add(t, "tolerate the taint in spec.tolerations of %s%s or in the pods, ",
			flavor, name);
	text_add(t,
		"change the template or the nodes, or set nodes: Autoscaled in %s%s if an autoscaler brings such nodes",
		flavor, name);
}

bool explain_parted(const struct queue *q, const struct clusterqueue *cq, const struct shape *shape,
	const struct claim *claim, struct text *t)
{
	struct way way = {.n = 0};
	for (size_t g = 0; g < cq->spec.ngroups; g++) {
		size_t needs;
		uint8_t flavor;
		claim_needs(claim, g, &needs);
		if (needs == 0)
			continue;
		if (plain_fit_group(cq, claim, g, &flavor) != ASSIGN_FITS)
			return false;
		way.flavor[way.n++] = cq->spec.groups[g].flavors[flavor];
	}
	if (way.n < 2 || !node_suitability_asks(q->node_suitability, cq, shape) ||
		!node_suitability_never(
			q->node_suitability, cq, shape->template, way.flavor, way.n))
		return false;
	text_add(t, "quota is left ");
	add_flavors(t, &way);
	text_add(t, ", but no node could run its pods in all of these: ");
	add_answer(q, shape, &way, ANSWERS_SIZE, t);
	text_add(t, "; waiting for quota in flavors that go together");
	return true;
}

bool explain_full(const struct queue *q, struct clusterqueue *cq, const struct workload *w,
	const struct claim *claim, struct text *t)
{
	struct fit_answer answer;
	int32_t places = node_fit_shortage(q, cq, w, claim, &answer);
	if (places < 0)
		return false;
	if (!q->node_suitability->pods_known) {
		text_add(t,
			"waits until the controller has read all pods; it starts only where nodes have room now");
		return true;
	}
	if (places == 0)
		text_add(t,
			"no node has room for its %s now: ", w->shape->pods == 1 ? "pod" : "pods");
	else if (w->shape->min_pods < w->shape->pods)
		text_add(t,
			"it needs room for at least %d pods at once, and the nodes have room for %d now; for one more: ",
			(int)w->shape->min_pods, (int)places);
	else
		text_add(t,
			"its %d pods need room at once, and the nodes have room for %d now; for one more: ",
			(int)w->shape->pods, (int)places);
	text_add(t, "%.280s", answer.sentence);
	return true;
}
