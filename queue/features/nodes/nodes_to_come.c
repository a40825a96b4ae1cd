#include "queue/features/nodes/nodes_to_come.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "queue/core/model/state.h"
#include "queue/job/placement.h"
#include "queue/job/specs.h"
#include "queue/core/model/directives.h"
#include "queue/core/model/tell.h"
#include "queue/features/nodes/node_suitability.h"

void nodes_to_come_judge(struct nodes *n, struct flavor *f)
{
	bool at_zero = f->exists && f->nodes.nlabels > 0 &&
		       !nodes_have(n, f->nodes.labels, f->nodes.nlabels);
	f->pool_moved = at_zero != f->at_zero;
	f->at_zero = at_zero;
}

void nodes_to_come_judge_all(struct nodes *n, const struct map *flavors)
{
	struct flavor *f;
	map_each(flavors, i, f)
		nodes_to_come_judge(n, f);
}

bool nodes_to_come_of(const struct flavor *f)
{
	if (f->lending != LENDING_NONE)
		return false;
	switch (f->pool) {
	case NODE_POOL_UNSAID:
		return f->at_zero || f->maker || f->provisioning.class_name;
	case NODE_POOL_FIXED:
		return false;
	case NODE_POOL_AUTOSCALED:
		return true;
	}
	return false;
}

/* No node has two values of one label. */
static bool labels_contradict(const struct node_group *a, const struct node_group *b)
{
	for (size_t i = 0; i < a->nlabels; i++)
		for (size_t k = 0; k < b->nlabels; k++)
			if (strcmp(a->labels[i].key, b->labels[k].key) == 0 &&
				strcmp(a->labels[i].value, b->labels[k].value) != 0)
				return true;
	return false;
}

static bool go_together(
	const struct pod_template *template, const struct flavor *const *flavors, size_t n)
{
	const struct pod *p = template->pod;
	struct arena scratch = {0};
	struct placement joined, own = {.node_selector = p->node_selector,
					 .nnode_selector = p->nnode_selector,
					 .terms = p->terms,
					 .nterms = p->nterms};
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++)
			if (labels_contradict(&flavors[i]->nodes, &flavors[k]->nodes))
				return false;
	bool whole =
		directives_join(&scratch, &own, flavors, n, &joined, NULL) == NODE_AFFINITY_JOINED;
	arena_done(&scratch);
	return whole;
}

bool nodes_to_come_for(
	const struct pod_template *template, const struct flavor *const *flavors, size_t n)
{
	bool any = false;
	for (size_t i = 0; i < n; i++)
		any = any || nodes_to_come_of(flavors[i]);
	return any && !*template->pod->node_name && go_together(template, flavors, n);
}

/* ---- Autoscalers ---- */

struct made_nodes {
	struct link of_all;
	struct made_nodes_spec spec;
	struct arena memory;
};

void autoscalers_init(struct autoscalers *a)
{
	list_init(&a->pools);
}

static void made_nodes_free(struct made_nodes *m)
{
	list_leave(&m->of_all);
	arena_done(&m->memory);
	free(m);
}

void autoscalers_done(struct autoscalers *a)
{
	while (!list_empty(&a->pools))
		made_nodes_free(container_of(a->pools.next, struct made_nodes, of_all));
}

/* A cloud gives each node such a label, with whatever value its machine has. */
static bool comes_by_itself(const char *key)
{
	static const char *const prefix[] = {"kubernetes.io/arch", "kubernetes.io/os",
		"node.kubernetes.io/", "topology.kubernetes.io/", "karpenter.sh/capacity-type",
		"karpenter.k8s.", "karpenter.azure.com/"};
	for (size_t i = 0; i < sizeof(prefix) / sizeof(prefix[0]); i++)
		if (strncmp(key, prefix[i], strlen(prefix[i])) == 0)
			return true;
	return false;
}

/* What requirements say of the key: nothing, or whether all of them admit the value. */
static bool is_required(const struct made_nodes_spec *s, const struct label *l, bool *ret_admits)
{
	bool named = false;
	*ret_admits = true;
	for (size_t i = 0; i < s->requirements.nrequirements; i++) {
		const struct selector_term one = {&s->requirements.requirements[i], 1};
		if (strcmp(one.requirements->key, l->key) != 0)
			continue;
		named = true;
		*ret_admits = *ret_admits && labels_match(l, 1, &one);
	}
	return named;
}

static bool can_have(const struct made_nodes_spec *s, const struct label *l)
{
	bool admits;
	for (size_t i = 0; i < s->nlabels; i++)
		if (strcmp(s->labels[i].key, l->key) == 0)
			return strcmp(s->labels[i].value, l->value) == 0;
	if (strcmp(l->key, "karpenter.sh/nodepool") == 0)
		return strcmp(l->value, s->name) == 0;
	return is_required(s, l, &admits) ? admits : comes_by_itself(l->key);
}

static bool makes(const struct made_nodes_spec *s, const struct node_group *nodes)
{
	for (size_t i = 0; i < nodes->nlabels; i++)
		if (!can_have(s, &nodes->labels[i]))
			return false;
	return true;
}

/* NULL: none. The caller's. */
static char *find_maker(const struct autoscalers *a, const struct flavor *f)
{
	if (!f->exists || f->pool != NODE_POOL_UNSAID || f->lending != LENDING_NONE)
		return NULL;
	list_each_entry(&a->pools, const struct made_nodes, m, of_all) {
		if (!makes(&m->spec, &f->nodes))
			continue;
		struct buf text;
		buf_init(&text, SIZE_MAX / 4);
		buf_printf(&text, "NodePool %s of Karpenter", m->spec.name);
		return buf_take(&text);
	}
	return a->cluster_autoscaler ? mem_strdup("cluster-autoscaler") : NULL;
}

bool autoscalers_judge(const struct autoscalers *a, struct flavor *f)
{
	char *maker = find_maker(a, f);
	bool same = maker && f->maker ? strcmp(maker, f->maker) == 0 : maker == f->maker;
	free(f->maker);
	f->maker = maker;
	return !same;
}

/* Judges all flavors anew after an autoscaler came or went, which is seldom: all ClusterQueues look
 * again, in their order. */
static void judge_all(struct queue *q)
{
	struct flavor *f;
	bool any = false;
	map_each(&q->flavors, i, f)
		if (autoscalers_judge(q->autoscalers, f)) {
			node_suitability_forget_flavor(q, f);
			any = true;
		}
	if (!any)
		return;
	struct tree_node *n = tree_first(&q->clusterqueues.shown);
	for (; n; n = tree_next(n)) {
		struct clusterqueue *cq = container_of(n, struct clusterqueue, by_name);
		groups_rederive(&q->groups, cq);
		queue_touch(q, cq);
	}
	q->counters.version++;
}

/* The place of the name: that of the pool itself, or the first behind it. */
static struct link *find_place(struct autoscalers *a, const char *name)
{
	struct link *l = a->pools.next;
	while (l != &a->pools &&
		strcmp(container_of(l, struct made_nodes, of_all)->spec.name, name) < 0)
		l = l->next;
	return l;
}

static struct made_nodes *find_pool(struct autoscalers *a, const char *name)
{
	struct link *l = find_place(a, name);
	if (l == &a->pools)
		return NULL;
	struct made_nodes *m = container_of(l, struct made_nodes, of_all);
	return strcmp(m->spec.name, name) == 0 ? m : NULL;
}

static struct made_nodes *pool_new(const struct made_nodes_spec *s)
{
	struct made_nodes *m = mem_alloc(sizeof(*m));
	m->spec = made_nodes_spec_copy(&m->memory, s);
	return m;
}

void queue_set_made_nodes(struct queue *q, const struct made_nodes_spec *s)
{
	queue_tell(q, SET_MADE_NODES, .made_nodes = s);
	struct made_nodes *old = find_pool(q->autoscalers, s->name);
	if (old)
		made_nodes_free(old);
	list_add(find_place(q->autoscalers, s->name), &pool_new(s)->of_all);
	judge_all(q);
}

void queue_drop_made_nodes(struct queue *q, const char *name)
{
	queue_tell(q, DROP_MADE_NODES, .name = name);
	struct made_nodes *m = find_pool(q->autoscalers, name);
	if (!m)
		return;
	made_nodes_free(m);
	judge_all(q);
}

void queue_set_cluster_autoscaler(struct queue *q, bool works)
{
	if (q->autoscalers->cluster_autoscaler == works)
		return;
	queue_tell(q, SET_CLUSTER_AUTOSCALER, .flag = works);
	q->autoscalers->cluster_autoscaler = works;
	judge_all(q);
}

const char *queue_flavor_maker(const struct queue *q, const char *name)
{
	const struct flavor *f = flavor_find(&q->flavors, name);
	return f ? f->maker : NULL;
}
