/* Nodes as reports show them: what they have, and what their bound pods ask for. Pods that are only
 * expected (queue/cluster/nodes.h) do not count. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "queue/cluster/nodes_priv.h"
#include "queue/core/model/flavor.h"
#include "queue/core/model/state.h"
#include "queue/features/nodes/node_suitability.h"
#include "sluice/quantity.h"

enum followed_pods queue_followed_pods(const struct queue *q)
{
	if (!queue_wants_pods(q))
		return PODS_UNWANTED;
	return q->node_suitability->pods_known ? PODS_FOLLOWED : PODS_AWAITED;
}

/* What is worked out for one node at a time. */
struct node_table {
	const struct queue *queue;
	const struct nodes *nodes;
	const struct flavor **flavor; /* those that exist, as flavor_order() has it */
	size_t nflavors;
	const char **has;		 /* flavors of the node */
	int64_t *requested, *of_jobs;	 /* by number of the resource */
	struct node_amount_view *amount; /* room for one of each resource */
};

/* ---- flavors ---------------------------------------------------------------------------------- */

/* Orders flavors: those of idle resources last, then those with the most labels first, by name. */
static int flavor_order(const void *a, const void *b)
{
	const struct flavor *x = *(const struct flavor *const *)a;
	const struct flavor *y = *(const struct flavor *const *)b;
	bool lends_x = x->lending != LENDING_NONE, lends_y = y->lending != LENDING_NONE;
	if (lends_x != lends_y)
		return lends_x ? 1 : -1;
	if (x->nodes.nlabels != y->nodes.nlabels)
		return x->nodes.nlabels > y->nodes.nlabels ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void take_flavors(struct node_table *t)
{
	const struct flavor *f;
	t->flavor = mem_array(t->queue->flavors.count + 1, sizeof(*t->flavor));
	map_each(&t->queue->flavors, i, f)
		if (f->exists)
			t->flavor[t->nflavors++] = f;
	qsort(t->flavor, t->nflavors, sizeof(*t->flavor), flavor_order);
	t->has = mem_array(t->nflavors + 1, sizeof(*t->has));
}

static void find_flavors(struct node_table *t, const struct node *node, struct node_view *ret)
{
	ret->flavors = t->has;
	for (size_t i = 0; i < t->nflavors; i++)
		if (labels_have(node->labels, node->nlabels, t->flavor[i]->nodes.labels,
			    t->flavor[i]->nodes.nlabels))
			t->has[ret->nflavors++] = t->flavor[i]->name;
}

/* ---- amounts ---------------------------------------------------------------------------------- */

/* Adds one pod, of which there is one. */
static void add(const struct node_table *t, const struct node_pod *pod, int64_t *sums)
{
	int32_t pods = node_classes_resource(&t->nodes->node_classes, "pods");
	if (pods >= 0)
		sums[pods]++;
	for (size_t i = 0; i < pod->requests.count; i++) {
		int32_t r =
			node_classes_resource(&t->nodes->node_classes, pod->requests.item[i].name);
		if (r >= 0)
			sums[r] = quantity_add(sums[r], pod->requests.item[i].amount);
	}
}

static bool is_of_queued_job(const struct node_table *t, const struct node_pod *pod)
{
	return pod->owner && queue_find_workload(t->queue, &pod->owner->uid);
}

static void count_pods(struct node_table *t, const struct node *node, struct node_view *ret)
{
	size_t bytes = t->nodes->node_classes.nresources * sizeof(*t->requested);
	memset(t->requested, 0, bytes);
	memset(t->of_jobs, 0, bytes);
	for (const struct node_pod *pod = node->node_pods; pod; pod = pod->next) {
		if (pod->expected)
			continue;
		ret->pods++;
		add(t, pod, t->requested);
		if (is_of_queued_job(t, pod))
			add(t, pod, t->of_jobs);
	}
}

static void take_amounts(struct node_table *t, const struct node *node, struct node_view *ret)
{
	const struct resource_list *has = &node->shape->allocatable;
	ret->amounts = t->amount;
	for (size_t i = 0; i < has->count; i++) {
		int32_t r = node_classes_resource(&t->nodes->node_classes, has->item[i].name);
		t->amount[ret->namounts++] =
			(struct node_amount_view){has->item[i].name, has->item[i].amount,
				r >= 0 ? t->requested[r] : 0, r >= 0 ? t->of_jobs[r] : 0};
	}
}

/* ---- all of them ------------------------------------------------------------------------------ */

static void see(struct node_table *t, const struct node *node, queue_node_fn *fn, void *ctx)
{
	const struct site *site = &node->shape->site;
	struct node_view v = {.name = node->name,
		.cordoned = site->unschedulable,
		.taints = site->taints,
		.ntaints = site->ntaints};
	t->amount = mem_grow(t->amount, node->shape->allocatable.count + 1, sizeof(*t->amount));
	find_flavors(t, node, &v);
	count_pods(t, node, &v);
	take_amounts(t, node, &v);
	fn(&v, ctx);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(
		(*(const struct node *const *)a)->name, (*(const struct node *const *)b)->name);
}

void queue_each_node(const struct queue *q, queue_node_fn *fn, void *ctx)
{
	const struct nodes *nodes = q->node_suitability->nodes;
	size_t n = 0, resources = nodes->node_classes.nresources;
	const struct node **node = mem_array(nodes->nslots + 1, sizeof(*node));
	struct node_table t = {.queue = q,
		.nodes = nodes,
		.requested = mem_array(resources + 1, sizeof(*t.requested)),
		.of_jobs = mem_array(resources + 1, sizeof(*t.of_jobs))};
	for (size_t i = 0; i < nodes->nslots; i++)
		if (nodes->slot[i] && nodes->slot[i]->known)
			node[n++] = nodes->slot[i];
	qsort(node, n, sizeof(*node), by_name);
	take_flavors(&t);
	for (size_t i = 0; i < n; i++)
		see(&t, node[i], fn, ctx);
	free(t.flavor);
	free(t.has);
	free(t.requested);
	free(t.of_jobs);
	free(t.amount);
	free(node);
}
